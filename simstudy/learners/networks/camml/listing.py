"""Listing of the most probable clean DAGs, by fixing the parents of one variable after another.

The mass of a partial DAG is a sum over all orders, that is, over all paths through the lattice of
subsets. The masses of the parent sets of one more variable v need only a sum over the sets before
v, which lack v, and one over the sets after it, which contain v: two lattices with one variable
less, traversed together for many DAGs at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.learners.networks.camml.costs import popcount

# Number of elements per chunk, which fits in a processor's cache.
_AT_ONCE = 2**17


@dataclass(frozen=True)
class _Steps:
    """The steps of one variable in the lattice without another: indices and starting sets."""

    variable: int
    places: IntArray
    before: IntArray
    after: IntArray


@dataclass(frozen=True)
class _Walk:
    """The lattice of subsets of the other variables, in order of size.

    Attributes
    ----------
    without : array of int
        The sets, as masks of all variables; ``without[-1 - i]`` is the complement of
        ``without[i]``, used in the traversal from the other end.
    layers : list of (first set, first step, sets below)
        For every size from 1 up; the sets below are indices into ``without``, one row per set.
    steps : list of _Steps
        One per other variable.
    """

    without: IntArray
    layers: list[tuple[int, int, IntArray]]
    steps: list[_Steps]


@lru_cache(maxsize=64)
def _walk(variables: int, v: int) -> _Walk:
    remaining = variables - 1
    masks = np.arange(2**remaining)
    # Complements are at mirrored positions if the sets of every size are in order of masks.
    masks = masks[np.lexsort((masks, popcount(masks)))]
    place = np.argsort(masks)
    without = (masks >> v << v + 1) | (masks & (1 << v) - 1)
    layers = []
    member, target = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
    first, first_step = 1, 0
    for size in range(1, remaining + 1):
        sets = masks[popcount(masks) == size]
        members = np.nonzero(sets[:, None] >> np.arange(remaining) & 1)[1].reshape(-1, size)
        layers.append((first, first_step, place[sets[:, None] ^ 1 << members]))
        member.append(members.ravel())
        target.append(np.repeat(sets, size))
        first, first_step = first + len(sets), first_step + members.size
    all_members, all_targets = np.concatenate(member), np.concatenate(target)
    steps = []
    for i in range(remaining):
        places = np.flatnonzero(all_members == i)
        reached = all_targets[places]
        before = without[place[reached ^ 1 << i]]
        after = without[place[masks[-1] ^ reached]] | 1 << v
        steps.append(_Steps(i + (i >= v), places, before, after))
    return _Walk(without, layers, steps)


def heaviest_dags(
    steps: FloatArray, shares: Sequence[tuple[IntArray, FloatArray]], smallest: float, most: int
) -> tuple[IntArray, FloatArray]:
    """Return the DAGs of probability at least ``smallest``, and their probabilities.

    The marginal probability of a partial DAG is exact at every step, so that no DAG above
    ``smallest`` is missed, unless more than ``most`` would have to be followed: then only the most
    probable are. The probabilities of the DAGs listed are exact in either case.

    Parameters
    ----------
    steps : array of shape (variables, sets)
        ``steps[v, S]``: the probability that v follows the set S.
    shares : sequence of (parent sets, array of shape (parent sets, sets))
        For every variable its possible parent sets, and their probabilities given the set of
        predecessors.
    """
    variables = len(steps)
    tables = list(steps[:, None])  # the steps of every variable with each of its parent sets
    chosen = np.zeros((variables, 1), dtype=np.intp)
    mass = np.ones(1)
    for v in sorted(range(variables), key=lambda v: len(shares[v][0])):
        masses = _weigh(v, tables, chosen, steps[v] * shares[v][1])
        least = min(smallest, float(masses.max()))
        if np.count_nonzero(masses >= least) > most:
            least = float(np.partition(masses.ravel(), -most)[-most])
        which, candidate = np.nonzero(masses >= least)
        mass = masses[which, candidate]
        chosen = chosen[:, which]
        chosen[v] = candidate
        tables[v] = steps[v] * shares[v][1]
    dags = np.array([shares[v][0][chosen[v]] for v in range(variables)])
    order = np.lexsort((*dags[::-1], -mass))
    return np.ascontiguousarray(dags.T[order]), mass[order]


def _weigh(
    v: int, tables: Sequence[FloatArray], chosen: IntArray, candidates: FloatArray
) -> FloatArray:
    """Return the probability of each partial DAG with each candidate, shape (DAGs, candidates)."""
    walk = _walk(len(tables), v)
    number = chosen.shape[1]
    steps = sum(len(each.places) for each in walk.steps)
    width = min(max(_AT_ONCE // max(steps, 1), 16), number)
    flow = np.empty((steps, 2, width))
    sums = np.empty((len(walk.without), 2, width))
    sums[0] = 1.0
    sides = []
    for each in walk.steps:
        for side, sets in enumerate((each.before, each.after)):
            table = np.ascontiguousarray(tables[each.variable][:, sets].T)
            if table.shape[1] == 1:
                flow[each.places, side] = table
            else:
                sides.append((table, each.variable, each.places, side))
    weights = np.ascontiguousarray(candidates[:, walk.without])
    masses = np.empty((number, len(weights)))
    for start in range(0, number, width):
        now = min(width, number - start)
        for table, u, places, side in sides:
            flow[places, side, :now] = table.take(chosen[u, start : start + now], axis=1)
        for first, first_step, below in walk.layers:
            taken = sums.take(below, axis=0)
            taken *= flow[first_step : first_step + below.size].reshape(taken.shape)
            taken.sum(axis=1, out=sums[first : first + len(below)])
        through = sums[:, 0, :now] * sums[::-1, 1, :now]
        masses[start : start + now] = (weights @ through).T
    return masses
