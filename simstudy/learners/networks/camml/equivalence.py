"""Statistical and MML equivalence classes of DAGs, as in CaMML; divergences between networks."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray
from simstudy.learners.networks.estimated import EstimatedNetwork
from simstudy.networks.elimination import TooLargeError, members
from simstudy.networks.evaluation import on_all_axes

Networks: TypeAlias = Sequence[EstimatedNetwork]

# Only the most probable classes are joined: at most this many, or this much of the posterior.
MAX_CLASSES = 30
ENOUGH_POSTERIOR = 0.999
# A sampled posterior may be spread over hundreds of thousands of classes.
MAX_LISTED = 10_000
# Joint distributions are tabulated up to _FEW_CELLS cells over all networks, and never beyond
# _MAX_CELLS.
_FEW_CELLS = 2**16
_MAX_CELLS = 2**24
# One elimination takes about as long as tabulating _CELLS_A_CASE cells; its own tables have at most
# 1/_MUCH_LESS of the cells of its variables.
_CELLS_A_CASE, _MUCH_LESS = 2500, 8
_DRAWN = 2**16  # rows of a network that stand for a marginal too large to be tabulated


class StatisticalClass(NamedTuple):
    """Statistical equivalence class (SEC): DAGs with the same skeleton and maximum likelihood.

    Attributes
    ----------
    posterior : float
        Total posterior probability of its DAGs.
    parents : tuple of int
        Parents in its most probable DAG.
    dag_posterior : float
        Posterior probability of that DAG.
    dags : int
        Number of DAGs found in the class.
    """

    posterior: float
    parents: tuple[int, ...]
    dag_posterior: float
    dags: int

    @property
    def arcs(self) -> int:
        """Number of arcs of its most probable DAG."""
        return sum(mask.bit_count() for mask in self.parents)


def statistical_classes(
    dags: IntArray, mass: FloatArray, likelihood: Callable[[int, int], float]
) -> list[StatisticalClass]:
    """Group the clean DAGs by skeleton and ⌊128·(−log maximum likelihood)⌋, most probable first.

    Only the 10,000 most probable classes are listed.

    Parameters
    ----------
    dags : array of shape (dags, variables)
        Parent sets as bit masks, the most probable DAG first.
    mass : array of shape (dags,)
        The posterior probability of each.
    likelihood : callable
        The −log maximum likelihood of a variable given a parent set.
    """
    costs = np.zeros(len(dags))
    for v, column in enumerate(dags.T):
        masks, inverse = np.unique(column, return_inverse=True)
        costs += np.array([likelihood(v, mask) for mask in masks.tolist()])[inverse]
    key = np.column_stack([_skeletons(dags), np.floor(128 * costs).astype(np.int64)])
    _, first, group = np.unique(_row_hash(key), return_index=True, return_inverse=True)
    posterior = np.bincount(group, mass)
    counts = np.bincount(group)
    listed = np.argsort(-posterior, kind="stable")[:MAX_LISTED]
    best = first[listed]
    columns = (posterior[listed], dags[best], mass[best], counts[listed])
    rows = zip(*(column.tolist() for column in columns), strict=True)
    classes = [StatisticalClass(total, tuple(dag), most, size) for total, dag, most, size in rows]
    return sorted(classes, key=lambda c: (-c.posterior, c.parents))


def _skeletons(dags: IntArray) -> IntArray:
    """Return the neighbours of every variable in every DAG."""
    columns = np.ascontiguousarray(dags.T)
    neighbours = columns.copy()
    for v, column in enumerate(columns):
        for u in members(int(np.bitwise_or.reduce(column))):
            neighbours[u] |= (column >> u & 1) << v
    return neighbours.T


def _row_hash(rows: IntArray) -> npt.NDArray[np.uint64]:
    """Return a 64-bit hash of each row."""
    factors = np.random.default_rng(0).integers(2**63, size=rows.shape[1], dtype=np.uint64) * 2 + 1
    mixed = rows.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    hashed: npt.NDArray[np.uint64] = (mixed * factors).sum(axis=1, dtype=np.uint64)
    return hashed


@dataclass
class MMLClass:
    """MML equivalence class (MMLEC): statistical classes that the data cannot distinguish."""

    posterior: float
    representative: StatisticalClass
    members: list[StatisticalClass]


def mml_classes(
    classes: Sequence[StatisticalClass],
    network: Callable[[Sequence[int]], EstimatedNetwork],
    rows: float,
    arithmetic: str = "stable",
) -> list[MMLClass]:
    """Join the most probable statistical classes where that shortens the message.

    With r_i = exp(dc_i − dc_0)·post_i/post_0, dc the cost of the data under a class's most
    probable DAG, the largest positive gain
    −(r_i ln r_i + r_j ln r_j) + (r_i + r_j) ln(r_i + r_j) − r_j·N·KL(P_j‖P_i)
    joins j into i, which has no more arcs and represents both. The arithmetic is "stable", in
    logarithms, or "program", in plain double precision.
    """
    totals = itertools.accumulate(c.posterior for c in classes)
    enough = sum(total <= ENOUGH_POSTERIOR for total in totals) + 1
    chosen = classes[: min(enough, MAX_CLASSES)]
    joined = [MMLClass(c.posterior, c, [c]) for c in chosen]
    if len(joined) < 2:
        return joined
    networks = [network(c.parents) for c in chosen]
    divergence = divergences(networks) * rows
    arcs = np.array([c.arcs for c in chosen])
    costs = np.array([n.data_cost for n in networks])
    posterior = np.array([c.posterior for c in chosen])
    stable = arithmetic == "stable"
    with np.errstate(over="ignore", under="ignore"):
        plain = np.exp(costs - costs[0]) * posterior / posterior[0]
    r = costs + np.log(posterior) if stable else plain
    allowed = (arcs[:, None] <= arcs) & ~np.eye(len(chosen), dtype=bool)
    gains_of = _log_gains if stable else _plain_gains
    gains = gains_of(r[:, None], r, divergence.T)
    while True:
        gain = np.where(allowed, gains, -np.inf)
        i, j = np.unravel_index(gain.argmax(), gain.shape)
        if gain[i, j] == -np.inf:
            break
        joined[i].posterior += joined[j].posterior
        joined[i].members += joined[j].members
        r[i] = np.logaddexp(r[i], r[j]) if stable else r[i] + r[j]
        gains[i], gains[:, i] = (
            gains_of(r[i], r, divergence[:, i]),
            gains_of(r, r[i], divergence[i]),
        )
        allowed[j] = allowed[:, j] = False
        joined[j].members = []
    return sorted((c for c in joined if c.members), key=lambda c: -c.posterior)


def _log_gains(log_i: FloatArray, log_j: FloatArray, divergence: FloatArray) -> FloatArray:
    """Return the logarithms of the gains of joining j into i, −∞ where there is none.

    With t = ln(r_i/r_j) the gain is r_j [e^t ln(1 + e^−t) + ln(1 + e^t) − N·KL(P_j‖P_i)]: r may
    span hundreds of orders of magnitude, where differences of r ln r lose all precision (as in the
    original). A common factor of all r has no effect.
    """
    t = log_i - log_j
    # e^t ln(1 + e^−t) tends to 1 as t grows and to 0 as it falls.
    small = np.exp(-np.abs(t))
    falling = np.log1p(small) / np.maximum(small, 1e-300)
    first = np.where(t > 0, falling, small * np.logaddexp(0, -t))
    first = np.where(small < 1e-16, np.where(t > 0, 1.0, 0.0), first)
    bracket = first + np.logaddexp(0, t) - divergence
    with np.errstate(divide="ignore"):
        return np.where(bracket > 0, np.log(np.maximum(bracket, 0)) + log_j, -np.inf)


def _plain_gains(r_i: FloatArray, r_j: FloatArray, divergence: FloatArray) -> FloatArray:
    """Return the gains of joining j into i as in the public program, −∞ where there is none.

    The order of operations is the program's, since rounding decides where r differ by many orders
    of magnitude. If r overflows, or underflows to 0, the gain is NaN and the classes are not
    joined.
    """
    with np.errstate(all="ignore"):
        both = r_i + r_j
        apart = -(r_i * np.log(r_i) + r_j * np.log(r_j))
        joined = -(both * np.log(both)) + r_j * divergence
        gain = apart - joined
        return np.where(gain > 0, gain, -np.inf)


def divergences(networks: Networks) -> FloatArray:
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
    logs = _log_densities(networks)
    densities = np.exp(logs)
    negative_entropy = (densities * logs).sum(axis=1, keepdims=True)
    return np.maximum(negative_entropy - densities @ logs.T, 0.0)


def _log_densities(networks: Networks) -> FloatArray:
    """Return log P of every joint configuration, a row for each network."""
    cards = networks[0].cards
    logs = np.zeros((len(networks), math.prod(cards)))
    for v in range(len(cards)):
        holders: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
        for i, network in enumerate(networks):
            holders[network.axes[v]].append(i)
        for axes, places in holders.items():
            table = on_all_axes(networks[places[0]].log_tables[v], axes, cards)
            flat = np.broadcast_to(table, cards).ravel()
            for i in places:
                logs[i] += flat
    return logs


class _Case(NamedTuple):
    """A variable with some parents, and the structure that determines their joint distribution."""

    variable: int
    parents: int
    ancestors: tuple[int, ...]
    parents_of_ancestors: tuple[int, ...]
    cells: int


def _cases(networks: Networks) -> dict[_Case, list[int]]:
    """Return every case that the divergences need, and the networks in which it occurs."""
    columns = zip(*(network.masks for network in networks), strict=True)
    families = [(v, mask) for v, masks in enumerate(map(set, columns)) for mask in masks]
    differing = [(v, mask) for v, mask in families if any(n.masks[v] != mask for n in networks)]
    cases: defaultdict[_Case, list[int]] = defaultdict(list)
    for j, network in enumerate(networks):
        parents, cards = network.masks, network.cards
        for v, mask in differing:
            above = network.ancestors((*members(mask), v))
            cells = math.prod([cards[u] for u in above])
            case = _Case(v, mask, above, tuple([parents[u] for u in above]), cells)
            cases[case].append(j)
    return cases


def _by_elimination(networks: Networks, cases: dict[_Case, list[int]]) -> FloatArray:
    """Return divergences from the expectation of ln P(v | parents) in each case."""
    logs = np.zeros((len(networks), len(networks)))
    holders: defaultdict[tuple[int, int], list[int]] = defaultdict(list)
    for i, network in enumerate(networks):
        for family in enumerate(network.masks):
            holders[family].append(i)
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
    divergence = np.maximum(np.diagonal(logs)[:, None] - logs, 0.0)
    differing = {family: holders[family] for family in dict.fromkeys(case[:2] for case in cases)}
    for j in sorted(too_large):
        divergence[j] = _from_rows(networks, j, differing)
    return divergence


def _from_rows(networks: Networks, j: int, holders: dict[tuple[int, int], list[int]]) -> FloatArray:
    """Return the divergences KL(P_j‖P_i) as means over rows drawn from P_j.

    The mean of ρ − 1 − ln ρ, with ρ = P_i/P_j, has the same expectation as that of −ln ρ, is never
    negative, and varies far less where the networks are alike.
    """
    rows = networks[j].sample(_DRAWN, np.random.default_rng(0)).codes
    logs = np.zeros((len(networks), _DRAWN))
    for (variable, parents), those in holders.items():
        table = networks[those[0]].log_tables[variable]
        logs[those] += table[tuple(rows[:, (*members(parents), variable)].T)]
    logs -= logs[j]
    means: FloatArray = (np.expm1(logs) - logs).mean(axis=1)
    return means
