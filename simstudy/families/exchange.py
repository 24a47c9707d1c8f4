"""Models as pgmpy networks, which also writes them as XMLBIF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pgmpy.factors.discrete import TabularCPD
from pgmpy.models import DiscreteBayesianNetwork
from pgmpy.readwrite import XMLBIFWriter

from simstudy.families.model import Component


def to_pgmpy(
    component: Component, cards: Sequence[int], names: Sequence[str]
) -> DiscreteBayesianNetwork:
    """One component as a pgmpy network; the states of every variable are named 0, 1, 2, …"""
    network = DiscreteBayesianNetwork()
    network.add_nodes_from(names)
    states = {
        name: [str(value) for value in range(card)] for name, card in zip(names, cards, strict=True)
    }
    for v, (parents, cpt) in enumerate(zip(component.parents, component.cpts, strict=True)):
        evidence = [names[p] for p in parents]
        network.add_edges_from((name, names[v]) for name in evidence)
        network.add_cpds(
            TabularCPD(
                names[v],
                cards[v],
                cpt.reshape(-1, cards[v]).T,
                evidence=evidence or None,
                evidence_card=[cards[p] for p in parents] or None,
                state_names={name: states[name] for name in (names[v], *evidence)},
            )
        )
    return network


def write_xmlbif(
    component: Component, cards: Sequence[int], names: Sequence[str], path: Path, title: str
) -> None:
    """Write one component as XMLBIF 0.3 with full precision."""
    network = to_pgmpy(component, cards, names)
    network.name = title
    XMLBIFWriter(network).write(str(path))
