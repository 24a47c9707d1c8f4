"""Networks to and from pgmpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from simstudy.networks.network import Network

if TYPE_CHECKING:
    from pgmpy.models import DiscreteBayesianNetwork


def to_pgmpy(network: Network, names: Sequence[str] | None = None) -> DiscreteBayesianNetwork:
    """Return a pgmpy network with its CPDs, under other names if they are passed."""
    from pgmpy.factors.discrete import TabularCPD
    from pgmpy.models import DiscreteBayesianNetwork

    names = network.names if names is None else names
    cards, states = network.cards, dict(zip(names, map(list, network.states), strict=True))
    made = DiscreteBayesianNetwork()
    made.add_nodes_from(names)
    for v, cpt in enumerate(network.cpts):
        evidence = [names[p] for p in network.parents[v]] or None
        sizes = [cards[p] for p in network.parents[v]] or None
        made.add_edges_from((name, names[v]) for name in evidence or ())
        table, named = cpt.reshape(-1, cards[v]).T, (names[v], *(evidence or ()))
        values = {name: states[name] for name in named}
        made.add_cpds(TabularCPD(names[v], cards[v], table, evidence, sizes, values))
    return made


def from_pgmpy(network: DiscreteBayesianNetwork) -> Network:
    """Return a network of pgmpy, its nodes in their order; names become text."""
    nodes = list(network.nodes())
    place = {node: v for v, node in enumerate(nodes)}
    parents, cpts, states = [], [], []
    for node in nodes:
        cpd = network.get_cpds(node)
        if cpd is None:
            raise ValueError(f"the node '{node}' has no CPD")
        parents.append([place[u] for u in cpd.variables[1:]])
        cpts.append(np.moveaxis(np.asarray(cpd.values, dtype=np.float64), 0, -1))
        states.append([str(value) for value in cpd.state_names[node]])
    return Network(parents, cpts, [str(node) for node in nodes], states)
