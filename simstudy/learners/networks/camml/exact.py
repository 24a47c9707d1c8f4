"""The exact posterior over totally ordered models, by dynamic programming over subsets.

A totally ordered model (TOM) is an order of the variables and a DAG consistent with it. A sum over
all orders, and over all parent sets among the predecessors, factorises along the lattice of subsets
(Koivisto & Sood 2004).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.learners.networks.camml.costs import NodeCosts, arc_estimate, arc_price, popcount

# Minimum posterior probability of a clean DAG to be listed.
SMALLEST_MASS = 1e-7
# If too many exceed it, only the most probable are followed: time and memory are bounded by the
# number of DAGs in progress times the size of the lattice.
_MAX_ELEMENTS = 2**23
_ALWAYS_LISTED = 512
# Number of elements per chunk, which fits in a processor's cache.
_AT_ONCE = 2**17


class SubsetLayer(NamedTuple):
    """The sets of one size, with the sets one element smaller and larger."""

    sets: IntArray
    members: IntArray
    below: IntArray  # below[i, j] is sets[i] without members[i, j]
    absent: IntArray
    above: IntArray  # above[i, j] is sets[i] with absent[i, j]


@lru_cache(maxsize=16)
def layers(variables: int) -> tuple[SubsetLayer, ...]:
    """Return the lattice of subsets, from the empty set up."""
    masks = np.arange(2**variables)
    bits = masks[:, None] >> np.arange(variables) & 1
    result = []
    for size in range(variables + 1):
        sets = masks[popcount(masks) == size]
        members = np.nonzero(bits[sets])[1].reshape(len(sets), size)
        absent = np.nonzero(bits[sets] == 0)[1].reshape(len(sets), variables - size)
        below, above = sets[:, None] ^ 1 << members, sets[:, None] | 1 << absent
        result.append(SubsetLayer(sets, members, below, absent, above))
    return tuple(result)


def over_subsets(table: FloatArray, combine: np.ufunc, supersets: bool = False) -> FloatArray:
    """Combine the table over all subsets, or supersets, of every set (sets on the last axis)."""
    result, into = table.copy(), 0 if supersets else 1
    for v in range(result.shape[-1].bit_length() - 1):
        halves = result.reshape(*result.shape[:-1], -1, 2, 1 << v)
        combine(halves[..., into, :], halves[..., 1 - into, :], out=halves[..., into, :])
    return result


def log_weights(costs: NodeCosts, arc_probability: float) -> FloatArray:
    """Return −(node cost + arc costs) of every variable and parent set, relative to no arcs."""
    arcs = popcount(np.arange(costs.message.shape[1]))
    return arcs * math.log(arc_probability / (1 - arc_probability)) - costs.message


def best_tom(costs: NodeCosts, arc_probability: float) -> tuple[list[int], float]:
    """Return the parent sets of the totally ordered model of minimum cost, and its cost."""
    weights = log_weights(costs, arc_probability)
    variables, sets = weights.shape
    best = over_subsets(weights, np.maximum)
    total = np.zeros(sets)
    last = np.zeros(sets, dtype=np.intp)
    for layer in layers(variables)[1:]:
        options = total[layer.below] + best[layer.members, layer.below]
        choice = options.argmax(axis=1)[:, None]
        total[layer.sets] = np.take_along_axis(options, choice, 1)[:, 0]
        last[layer.sets] = np.take_along_axis(layer.members, choice, 1)[:, 0]
    parents = [0] * variables
    masks = np.arange(sets)
    predecessors = sets - 1
    while predecessors:
        v = int(last[predecessors])
        predecessors ^= 1 << v
        inside = masks[masks & ~predecessors == 0]
        parents[v] = int(inside[weights[v, inside].argmax()])
    pairs = variables * (variables - 1) / 2
    return parents, -float(total[-1]) - pairs * math.log1p(-arc_probability)


def fit_arc_probability(costs: NodeCosts) -> tuple[float, list[int], float]:
    """Return the arc probability at its fixed point from ½, the best TOM there, and its cost.

    p = (arcs of the best TOM + ½)/(pairs of variables + 1), until it repeats.
    """
    variables = len(costs.message)
    pairs = variables * (variables - 1) / 2
    probability = 0.5
    seen: dict[float, tuple[list[int], float]] = {}
    while probability not in seen:
        seen[probability] = best_tom(costs, probability)
        arcs = sum(mask.bit_count() for mask in seen[probability][0])
        probability = arc_estimate(arcs, pairs)
    return probability, *seen[probability]


class TomPosterior:
    """The posterior over totally ordered models for a given arc probability.

    The last axis of every array indexes sets of variables.

    Attributes
    ----------
    weights : array of shape (variables, sets)
        The log weight of every parent set.
    within : array of the same shape
        ``within[v, S]``: the total log weight of the parent sets of v within S.
    log_normaliser : float
        The total log weight of all totally ordered models.
    """

    def __init__(self, costs: NodeCosts, arc_probability: float) -> None:
        self.costs = costs
        self.arc_probability = arc_probability
        self.weights = log_weights(costs, arc_probability)
        self.variables, self.sets = self.weights.shape
        self.within = over_subsets(self.weights, np.logaddexp)
        # The total log weight of the orders and parent sets of a set, and of its complement.
        self._before = np.zeros(self.sets)
        for layer in layers(self.variables)[1:]:
            steps = self._before[layer.below] + self.within[layer.members, layer.below]
            self._before[layer.sets] = np.logaddexp.reduce(steps, axis=1)
        self._after = np.zeros(self.sets)
        for layer in reversed(layers(self.variables)[:-1]):
            steps = self._after[layer.above] + self.within[layer.absent, layer.sets[:, None]]
            self._after[layer.sets] = np.logaddexp.reduce(steps, axis=1)
        self.log_normaliser = float(self._before[-1])

    @cached_property
    def steps(self) -> FloatArray:
        """``steps[v, S]``: the probability that v follows the set S."""
        steps = np.zeros((self.variables, self.sets))
        for layer in layers(self.variables)[:-1]:
            sets = layer.sets[:, None]
            logs = self.within[layer.absent, sets] + self._after[layer.above] - self._after[sets]
            steps[layer.absent, sets] = np.exp(logs)
        return steps

    @cached_property
    def predecessors(self) -> FloatArray:
        """``predecessors[v, S]``: the probability that S is the set of predecessors of v."""
        prefix: FloatArray = np.exp(self._before + self._after - self.log_normaliser)
        return prefix * self.steps

    @cached_property
    def parent_sets(self) -> FloatArray:
        """``parent_sets[v, P]``: the probability that v's parents are P."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.log(self.predecessors) - self.within
        share[self.predecessors == 0] = -np.inf
        return np.exp(self.weights + over_subsets(share, np.logaddexp, supersets=True))

    @cached_property
    def arcs(self) -> FloatArray:
        """``arcs[u, v]``: the probability of an arc from u to v."""
        holds = np.arange(self.sets)[:, None] >> np.arange(self.variables) & 1
        return np.array([(self.parent_sets * held).sum(axis=1) for held in holds.T])

    @cached_property
    def clean(self) -> IntArray:
        """``clean[v, P]``: P without the parents of v whose arcs do not pay for their cost.

        One pass over the parents from the highest index: a parent is removed if that does not
        increase the sum of node cost and arc cost.
        """
        message, price = self.costs.message, arc_price(self.arc_probability)
        current = np.tile(np.arange(self.sets), (self.variables, 1))
        rows = np.arange(self.variables)[:, None]
        for u in range(self.variables - 1, -1, -1):
            without = current & ~(1 << u)
            dropped = message[rows, without] <= message[rows, current] + price
            current = np.where(dropped, without, current)
        return current

    @cached_property
    def clean_dags(self) -> tuple[IntArray, FloatArray]:
        """The clean DAGs, most probable first, and their posterior probabilities."""
        return self.list_clean_dags(SMALLEST_MASS)

    def list_clean_dags(self, smallest: float) -> tuple[IntArray, FloatArray]:
        """Return all clean DAGs of at least ``smallest`` posterior probability, and their masses.

        A clean DAG represents all DAGs that cleaning maps to it. None is missed, unless the
        posterior is spread over too many: then only the most probable are followed.
        """
        most = max(_MAX_ELEMENTS // (self.variables * self.sets), _ALWAYS_LISTED)
        shares = [self._clean_shares(v, smallest) for v in range(self.variables)]
        return heaviest_dags(self.steps, shares, smallest, most)

    def _clean_shares(self, v: int, smallest: float) -> tuple[IntArray, FloatArray]:
        """Return the clean parent sets of v, with their probabilities given v's predecessors."""
        total = np.bincount(self.clean[v], self.parent_sets[v], minlength=self.sets)
        candidates = np.flatnonzero(total >= smallest)
        weights = np.where(self.clean[v] == candidates[:, None], self.weights[v], -np.inf)
        with np.errstate(invalid="ignore"):
            share = np.exp(over_subsets(weights, np.logaddexp) - self.within[v])
        share[:, np.isneginf(self.within[v])] = 0.0
        return candidates, share


class ExactPosterior(TomPosterior):
    """The posterior given a sample, at the fixed point of the arc probability.

    Attributes
    ----------
    best_parents, best_cost
        The totally ordered model of minimum cost, and its cost.
    """

    def __init__(self, sample: Sample) -> None:
        costs = NodeCosts(sample)
        probability, self.best_parents, self.best_cost = fit_arc_probability(costs)
        super().__init__(costs, probability)

    def message(self, child: int, parents: int) -> float:
        """Return the cost of a variable given a set of parents."""
        return float(self.costs.message[child, parents])

    def likelihood(self, child: int, parents: int) -> float:
        """Return the −log maximum likelihood of a variable given a set of parents."""
        return float(self.costs.likelihood[child, parents])


class _Walk(NamedTuple):
    """The lattice of subsets of the other variables, in order of size.

    Attributes
    ----------
    without : array of int
        The sets, as masks of all variables; ``without[-1 - i]`` is the complement of
        ``without[i]``, used in the traversal from the other end.
    below : list of arrays
        For every size from 1 up, the sets one smaller than each set, as indices into ``without``.
    steps : list of (variable, places, sets before, sets after)
        The steps of each other variable: their indices and the sets from which they start.
    """

    without: IntArray
    below: list[IntArray]
    steps: list[tuple[int, IntArray, IntArray, IntArray]]


@lru_cache(maxsize=64)
def _walk(variables: int, v: int) -> _Walk:
    lattice = layers(variables - 1)
    # Complements are at mirrored positions, as the sets of every size are in order of masks.
    masks = np.concatenate([layer.sets for layer in lattice])
    place = np.argsort(masks)
    without = (masks >> v << v + 1) | (masks & (1 << v) - 1)
    member = np.concatenate([layer.members.ravel() for layer in lattice])
    target = np.concatenate([layer.sets.repeat(layer.members.shape[1]) for layer in lattice])
    steps = []
    for i in range(variables - 1):
        places = np.flatnonzero(member == i)
        before = without[place[target[places] ^ 1 << i]]
        after = without[place[masks[-1] ^ target[places]]] | 1 << v
        steps.append((i + (i >= v), places, before, after))
    return _Walk(without, [place[layer.below] for layer in lattice[1:]], steps)


def heaviest_dags(
    steps: FloatArray, shares: Sequence[tuple[IntArray, FloatArray]], smallest: float, most: int
) -> tuple[IntArray, FloatArray]:
    """Return the DAGs of probability at least ``smallest``, and their probabilities.

    The parents of one variable after another are fixed. The mass of a partial DAG is a sum over
    all orders, that is, over all paths through the lattice of subsets. The masses of the parent
    sets of one more variable v need only a sum over the sets before v, which lack v, and one over
    the sets after it, which contain v: two lattices with one variable less, traversed together
    for many DAGs at once.

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
    steps = sum(len(places) for _, places, _, _ in walk.steps)
    width = min(max(_AT_ONCE // max(steps, 1), 16), number)
    flow = np.empty((steps, 2, width))
    sums = np.empty((len(walk.without), 2, width))
    sums[0] = 1.0
    sides = []
    for u, places, *ends in walk.steps:
        for side, sets in enumerate(ends):
            table = np.ascontiguousarray(tables[u][:, sets].T)
            if table.shape[1] == 1:
                flow[places, side] = table
            else:
                sides.append((table, u, places, side))
    weights = np.ascontiguousarray(candidates[:, walk.without])
    masses = np.empty((number, len(weights)))
    for start in range(0, number, width):
        now = min(width, number - start)
        for table, u, places, side in sides:
            flow[places, side, :now] = table.take(chosen[u, start : start + now], axis=1)
        first, step = 1, 0
        for below in walk.below:
            taken = sums.take(below, axis=0)
            taken *= flow[step : step + below.size].reshape(taken.shape)
            taken.sum(axis=1, out=sums[first : first + len(below)])
            first, step = first + len(below), step + below.size
        through = sums[:, 0, :now] * sums[::-1, 1, :now]
        masses[start : start + now] = (weights @ through).T
    return masses
