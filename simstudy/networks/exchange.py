"""Conversion of Bayesian networks to pgmpy and XMLBIF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simstudy.arrays import FloatArray

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork


def to_pgmpy(
    parents: Sequence[Sequence[int]],
    cpts: Sequence[FloatArray],
    cards: Sequence[int],
    names: Sequence[str],
) -> DiscreteBayesianNetwork:
    """Return a pgmpy network with its CPDs; the states of every variable are named 0, 1, 2, …

    Parameters
    ----------
    parents : sequence of sequences of int
        The parents of each variable.
    cpts : sequence of arrays
        The probabilities of each variable, one axis per parent and the last for itself.
    cards, names : sequences
        Number of values and name of each variable.
    """
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    network = DiscreteBayesianNetwork()
    network.add_nodes_from(names)
    states = {
        name: [str(value) for value in range(card)] for name, card in zip(names, cards, strict=True)
    }
    for v, cpt in enumerate(cpts):
        evidence = [names[p] for p in parents[v]]
        network.add_edges_from((name, names[v]) for name in evidence)
        network.add_cpds(
            TabularCPD(
                names[v],
                cards[v],
                cpt.reshape(-1, cards[v]).T,
                evidence=evidence or None,
                evidence_card=[cards[p] for p in parents[v]] or None,
                state_names={name: states[name] for name in (names[v], *evidence)},
            )
        )
    return network


def write_xmlbif(network: DiscreteBayesianNetwork, path: Path, title: str) -> None:
    """Write a pgmpy network as XMLBIF 0.3 with full precision."""
    from pgmpy.readwrite import XMLBIFWriter

    network.name = title
    XMLBIFWriter(network).write(str(path))
