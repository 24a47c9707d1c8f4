"""Statistical and MML equivalence classes of DAGs, as in CaMML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray
from simstudy.learners.camml.network import divergences
from simstudy.learners.network import EstimatedNetwork, members

# Only the most probable classes are joined: at most this many, or this much of the posterior.
MAX_CLASSES = 30
ENOUGH_POSTERIOR = 0.999
# A sampled posterior may be spread over hundreds of thousands of classes.
MAX_LISTED = 10_000


@dataclass(frozen=True)
class StatisticalClass:
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
    classes = [
        StatisticalClass(
            posterior=float(posterior[index]),
            parents=tuple(dags[first[index]].tolist()),
            dag_posterior=float(mass[first[index]]),
            dags=int(counts[index]),
        )
        for index in listed.tolist()
    ]
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
    chosen = _most_probable(classes)
    joined = [MMLClass(c.posterior, c, [c]) for c in chosen]
    if len(joined) < 2:
        return joined
    networks = [network(c.parents) for c in chosen]
    divergence = divergences(networks) * rows
    arcs = np.array([c.arcs for c in chosen])
    costs = np.array([n.data_cost for n in networks])
    posterior = np.array([c.posterior for c in chosen])
    gains: Callable[[FloatArray, FloatArray], FloatArray]
    add: Callable[[float, float], float]
    if arithmetic == "stable":
        r, gains, add = costs + np.log(posterior), _log_gains, np.logaddexp
    else:
        with np.errstate(over="ignore", under="ignore"):
            r = np.exp(costs - costs[0]) * posterior / posterior[0]
        gains, add = _plain_gains, np.add
    allowed = (arcs[:, None] <= arcs) & ~np.eye(len(chosen), dtype=bool)
    while True:
        gain = np.where(allowed, gains(r, divergence), -np.inf)
        i, j = np.unravel_index(gain.argmax(), gain.shape)
        if gain[i, j] == -np.inf:
            break
        joined[i].posterior += joined[j].posterior
        joined[i].members += joined[j].members
        r[i] = add(r[i], r[j])
        allowed[j] = allowed[:, j] = False
        joined[j].members = []
    return sorted((c for c in joined if c.members), key=lambda c: -c.posterior)


def _log_gains(log_r: FloatArray, divergence: FloatArray) -> FloatArray:
    """Return the logarithms of the gains of joining j into i, −∞ where there is none.

    With t = ln(r_i/r_j) the gain is r_j [e^t ln(1 + e^−t) + ln(1 + e^t) − N·KL]: r may span
    hundreds of orders of magnitude, where differences of r ln r lose all precision (as in the
    original). A common factor of all r has no effect.
    """
    t = log_r[:, None] - log_r
    # e^t ln(1 + e^−t) tends to 1 as t grows and to 0 as it falls.
    small = np.exp(-np.abs(t))
    first = np.where(
        t > 0, np.log1p(small) / np.maximum(small, 1e-300), small * (np.logaddexp(0, -t))
    )
    first = np.where(small < 1e-16, np.where(t > 0, 1.0, 0.0), first)
    bracket = first + np.logaddexp(0, t) - divergence.T
    with np.errstate(divide="ignore"):
        return np.where(bracket > 0, np.log(np.maximum(bracket, 0)) + log_r, -np.inf)


def _plain_gains(r: FloatArray, divergence: FloatArray) -> FloatArray:
    """Return the gains of joining j into i as in the public program, −∞ where there is none.

    The order of operations is the program's, since rounding decides where r differ by many orders
    of magnitude. If r overflows, or underflows to 0, the gain is NaN and the classes are not
    joined.
    """
    with np.errstate(all="ignore"):
        own, both = r * np.log(r), r[:, None] + r
        apart = -(own[:, None] + own)
        joined = -(both * np.log(both)) + r * divergence.T
        gain = apart - joined
        return np.where(gain > 0, gain, -np.inf)


def _most_probable(classes: Sequence[StatisticalClass]) -> list[StatisticalClass]:
    """Return the most probable classes, up to the limits on posterior and number."""
    chosen: list[StatisticalClass] = []
    total = 0.0
    for c in classes[:MAX_CLASSES]:
        chosen.append(c)
        total += c.posterior
        if total > ENOUGH_POSTERIOR:
            break
    return chosen
