"""Mixtures of networks, and divergences between networks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.learners.network import EstimatedNetwork, members
from simstudy.networks.elimination import TooLargeError
from simstudy.networks.network import Network

# Joint distributions are tabulated up to _FEW_CELLS cells over all networks, and never beyond
# _MAX_CELLS.
_FEW_CELLS = 2**16
_MAX_CELLS = 2**24
# One elimination takes about as long as tabulating _CELLS_A_CASE cells; its own tables have at most
# 1/_MUCH_LESS of the cells of its variables.
_CELLS_A_CASE, _MUCH_LESS = 2500, 8
_DRAWN = 2**16  # rows of a network that stand for a marginal too large to be tabulated


class Mixture:
    """A mixture of networks with given probabilities."""

    def __init__(self, networks: Sequence[Network], mass: Sequence[float]) -> None:
        self._networks = list(networks)
        self._log_mass = np.log(np.array(mass) / sum(mass))

    def __len__(self) -> int:
        return len(self._networks)

    def log_joint(self, codes: IntArray) -> FloatArray:
        """Return log P(attributes, class) for rows of attribute codes, shape (rows, classes)."""
        total = np.full((len(codes), self._networks[0].cards[-1]), -np.inf)
        for log_mass, network in zip(self._log_mass, self._networks, strict=True):
            np.logaddexp(total, log_mass + network.log_joint(codes), out=total)
        return total


def divergences(networks: Sequence[EstimatedNetwork]) -> FloatArray:
    """Return ``divergences[j, i]``, the Kullback–Leibler divergence KL(P_j‖P_i).

    KL(P_j‖P_i) = Σ_v E_j[ln P_j(v|parents in j) − ln P_i(v|parents in i)]: only variables with
    different parents contribute, and their terms depend only on their ancestors in j, which many
    networks share. They are exact unless a table would be too large, as with dozens of densely
    connected variables; then those of j are estimated from rows drawn from P_j.
    """
    cells = len(networks) * math.prod(networks[0].cards)
    if cells > _FEW_CELLS:
        cases = _cases(networks)
        work = sum(_CELLS_A_CASE + case.cells / _MUCH_LESS for case in cases)
        if cells > _MAX_CELLS or work < cells:
            return _by_elimination(networks, cases)
    logs = np.array([network.log_density() for network in networks])
    densities = np.exp(logs)
    own = (densities * logs).sum(axis=1)
    return np.maximum(own[:, None] - densities @ logs.T, 0.0)


class _Case(NamedTuple):
    """A variable with some parents, and the structure that determines their joint distribution."""

    variable: int
    parents: int
    ancestors: tuple[int, ...]
    parents_of_ancestors: tuple[int, ...]
    cells: int


def _cases(networks: Sequence[EstimatedNetwork]) -> dict[_Case, list[int]]:
    """Return every case that the divergences need, and the networks in which it occurs."""
    columns = zip(*(network.masks for network in networks), strict=True)
    families = [(v, mask) for v, masks in enumerate(map(set, columns)) for mask in masks]
    differing = [(v, mask) for v, mask in families if any(n.masks[v] != mask for n in networks)]
    cases: dict[_Case, list[int]] = {}
    for j, network in enumerate(networks):
        parents, cards = network.masks, network.cards
        for v, mask in differing:
            above = network.ancestors((*members(mask), v))
            cells = math.prod([cards[u] for u in above])
            case = _Case(v, mask, above, tuple([parents[u] for u in above]), cells)
            cases.setdefault(case, []).append(j)
    return cases


def _by_elimination(
    networks: Sequence[EstimatedNetwork], cases: dict[_Case, list[int]]
) -> FloatArray:
    """Return divergences from the expectation of ln P(v | parents) in each case."""
    logs = np.zeros((len(networks), len(networks)))
    holders: dict[tuple[int, int], list[int]] = {}
    for i, network in enumerate(networks):
        for family in enumerate(network.masks):
            holders.setdefault(family, []).append(i)
    too_large: set[int] = set()
    for case, places in cases.items():
        if too_large.issuperset(places):
            continue
        those = holders[case.variable, case.parents]
        table = networks[those[0]].log_tables[case.variable]
        axes = (*members(case.parents), case.variable)
        try:
            logs[np.ix_(places, those)] += np.vdot(networks[places[0]].marginal(axes), table)
        except TooLargeError:
            too_large.update(places)
    found = np.maximum(np.diagonal(logs)[:, None] - logs, 0.0)
    differing = {family: holders[family] for family in dict.fromkeys(case[:2] for case in cases)}
    for j in sorted(too_large):
        found[j] = _from_rows(networks, j, differing)
    return found


def _from_rows(
    networks: Sequence[EstimatedNetwork], j: int, families: dict[tuple[int, int], list[int]]
) -> FloatArray:
    """Return the divergences KL(P_j‖P_i) as means over rows drawn from P_j.

    The mean of ρ − 1 − ln ρ, with ρ = P_i/P_j, has the same expectation as that of −ln ρ, is never
    negative, and varies far less where the networks are alike.
    """
    rows = networks[j].sample(_DRAWN, np.random.default_rng(0)).codes
    logs = np.zeros((len(networks), _DRAWN))
    for (variable, parents), those in families.items():
        table = networks[those[0]].log_tables[variable]
        logs[those] += table[tuple(rows[:, (*members(parents), variable)].T)]
    logs -= logs[j]
    found: FloatArray = (np.expm1(logs) - logs).mean(axis=1)
    return found
