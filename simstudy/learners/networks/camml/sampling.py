"""The posterior over totally ordered models by sampling, where exact summation is infeasible.

The moves, temperature and weights are those of the public CaMML program: after an annealing start,
Metropolis steps at temperature 1.8 among TOMs, each adding exp((ref − cost)(1 − 1/T)) to the
current clean DAG, which corrects for the temperature. The steps are compiled.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math

import numba
import numpy as np
from numba import types
from numba.typed import Dict

from simstudy.arrays import FloatArray
from simstudy.data.codes import distinct_rows
from simstudy.data.sample import Sample
from simstudy.learners.networks.camml import costs

TEMPERATURE = 1.8

# Maximum number of distinct DAGs stored; the weight of others counts in the total only.
_MAX_DAGS = 2**18
_KEY, _COSTS = types.UniTuple(types.int64, 2), types.UniTuple(types.float64, 2)
_SIXTH = 1 / 6  # move probabilities: swap 2, toggle 2, toggle two 1, exchange 1


@numba.njit(cache=True)  # outside of compiled code, each process would compile the type anew
def no_costs():
    """Return an empty cache of (message cost, −log maximum likelihood) by (child, parents)."""
    return Dict.empty(_KEY, _COSTS)


@numba.njit(cache=True)
def _append(place, column, card):
    """Turn places in a table into those in a table with one more variable, which is last."""
    for r in range(len(place)):
        place[r] = place[r] * card + column[r]


@numba.njit(cache=True)
def node_costs(data, child, parents):
    """Return message cost and −log maximum likelihood of a child given its parents, cached."""
    columns, weights, cards, cache = data
    key = (np.int64(child), np.int64(parents))
    if key in cache:
        return cache[key]
    configurations, count = 1, 0
    for u in range(len(cards)):
        if parents >> u & 1:
            configurations *= cards[u]
            count += 1
            if configurations > costs.MAX_CELLS:
                break
    k = cards[child]
    if count > costs.MAX_PARENTS or configurations * k > costs.MAX_CELLS:
        cache[key] = (np.inf, np.inf)
        return cache[key]
    place = np.zeros(len(weights), dtype=np.int32)
    for u in range(len(cards)):
        if parents >> u & 1:
            _append(place, columns[u], cards[u])
    _append(place, columns[child], k)
    cells = np.zeros(configurations * k)
    for r in range(len(weights)):
        cells[place[r]] += weights[r]
    table = cells.reshape(configurations, k)
    message = configurations * (k - 1) * costs.PARAMETER_COST
    likelihood = 0.0
    for j in range(configurations):
        total = 0.0
        for value in range(k):
            n = table[j, value]
            if n > 0:
                total += n
                message -= math.lgamma(n + 1)
                likelihood -= n * math.log(n)
        if total > 0:
            message += math.lgamma(total + k) - math.lgamma(k)
            likelihood += total * math.log(total)
    cache[key] = (message, likelihood)
    return cache[key]


@numba.njit(cache=True)
def _propose(order, parents, rng):
    """Propose a random move: positions to swap (or −1), and up to two children with new parents.

    ``changed`` is the only variable by which the new parents of the first child differ, or −1;
    those of the second child differ by the first.
    """
    variables = len(order)
    swap, first, first_parents, second, second_parents, changed = -1, -1, 0, -1, 0, -1
    draw = rng.random()
    if draw < 2 * _SIXTH:
        swap = int(rng.random() * (variables - 1))
        u, v = order[swap], order[swap + 1]
        if parents[v] >> u & 1:  # the arc between them is reversed
            first, first_parents, changed = v, parents[v] ^ (1 << u), u
            second, second_parents = u, parents[u] | (1 << v)
    elif draw < 4 * _SIXTH or variables < 3:
        i, j = int(rng.random() * variables), int(rng.random() * (variables - 1))
        j += j >= i  # all pairs of variables are equally likely
        first, changed = order[max(i, j)], order[min(i, j)]
        first_parents = parents[first] ^ (1 << changed)
    else:
        place = 2 + int(rng.random() * (variables - 2))
        first = order[place]
        i, j = int(rng.random() * place), int(rng.random() * (place - 1))
        j += j >= i
        u, v = order[i], order[j]
        first_parents = parents[first] ^ ((1 << u) | (1 << v))
        has_u, has_v = parents[first] >> u & 1, parents[first] >> v & 1
        if draw >= 5 * _SIXTH and has_u == has_v:
            first_parents = parents[first]  # an exchange needs a parent and a non-parent
    return swap, first, first_parents, second, second_parents, changed


@numba.njit(cache=True)
def _change(data, near, parents, price, child, new, changed):
    """Return the change in cost when a child gets new parents.

    ``near`` holds the costs of each child if another variable joins or leaves its present parents,
    and on the diagonal those of the present parents: most moves need no look at the long list of
    cached costs. NaN if not needed before.
    """
    arcs, differing = 0, parents[child] ^ new
    while differing:
        arcs += 1 if new & differing & -differing else -1
        differing &= differing - 1
    if math.isnan(near[child, child]):
        near[child, child] = node_costs(data, child, parents[child])[0]
    after = np.nan if changed < 0 else near[child, changed]
    if math.isnan(after):
        after = node_costs(data, child, new)[0]
        if changed >= 0:
            near[child, changed] = after
    return after - near[child, child] + arcs * price


@numba.njit(cache=True)
def _total(data, parents, price):
    """Return the cost of a TOM, relative to no arcs."""
    cost = 0.0
    for v in range(len(parents)):
        cost += node_costs(data, v, parents[v])[0]
        for u in range(len(parents)):
            cost += (parents[v] >> u & 1) * price
    return cost


@numba.njit(cache=True)
def clean_node(data, child, parents, price):
    """Return the parents whose arcs pay for their cost, in one pass from the highest index."""
    cost = node_costs(data, child, parents)[0]
    for u in range(len(data[0]) - 1, -1, -1):
        if parents >> u & 1:
            without = node_costs(data, child, parents ^ (1 << u))[0]
            if without <= cost + price:
                parents, cost = parents ^ (1 << u), without
    return parents


@numba.njit(cache=True)
def _mixed(child, parents):
    """Return the hash of a child and its parents; the hash of a DAG is their sum."""
    x = np.uint64(parents) * np.uint64(0x9E3779B97F4A7C15)
    x += np.uint64(child + 1) * np.uint64(0xD1B54A32D192ED03)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@numba.njit(cache=True)
def walk(data, order, parents, price, steps, anneals, rng):
    """Walk among TOMs, and return the best of them.

    Annealing, the temperature falls from 10 to 0.1. Otherwise it is constant, and the weights of
    clean DAGs and arcs are accumulated.
    """
    variables, temperature = len(parents), TEMPERATURE
    order, parents = order.copy(), parents.copy()
    near = np.full((variables, variables), np.nan)
    cost = _total(data, parents, price)
    reference, best, best_order, best_parents = cost, cost, order.copy(), parents.copy()
    clean = np.zeros(variables, dtype=np.int64)
    name = np.uint64(0)
    for v in range(0 if anneals else variables):
        clean[v] = clean_node(data, v, parents[v], price)
        name += _mixed(v, clean[v])
    places = Dict.empty(types.uint64, types.int64)
    dags = np.zeros((1024, variables), dtype=np.int64)
    mass = np.zeros(1024)
    arcs = np.zeros((variables, variables))
    since = np.zeros(variables)  # the total when a child last changed its parents
    total, place = 0.0, -1
    for step in range(max(steps, 1)):
        if anneals:
            temperature = 10.0 * 0.01 ** (step / steps)
        if len(order) > 1 and (step > 0 or anneals):
            swap, first, first_new, second, second_new, changed = _propose(order, parents, rng)
            change = 0.0
            if first >= 0:
                change += _change(data, near, parents, price, first, first_new, changed)
            if second >= 0:
                change += _change(data, near, parents, price, second, second_new, first)
            if change <= 0 or rng.random() < math.exp(-change / temperature):
                if swap >= 0:
                    order[swap], order[swap + 1] = order[swap + 1], order[swap]
                for child, new in ((first, first_new), (second, second_new)):
                    if child >= 0 and parents[child] != new:
                        old, parents[child] = parents[child], new
                        near[child] = np.nan
                        if anneals:
                            continue
                        _add_arcs(arcs, old, child, total - since[child])
                        since[child] = total
                        tidy = clean_node(data, child, new, price)
                        if tidy != clean[child]:
                            name += _mixed(child, tidy) - _mixed(child, clean[child])
                            clean[child] = tidy
                            place = -1
                cost += change
                if cost < best - 1e-9:
                    best, best_order, best_parents = cost, order.copy(), parents.copy()
        if anneals:
            continue
        if place == -1:
            if name in places:
                place = places[name]
            elif len(places) < _MAX_DAGS:
                place = len(places)
                places[name] = place
                if place == len(dags):
                    dags = np.concatenate((dags, np.zeros_like(dags)))
                    mass = np.concatenate((mass, np.zeros_like(mass)))
                dags[place] = clean
            else:
                place = -2
        weight = math.exp((reference - cost) * (1 - 1 / temperature))
        total += weight
        if place >= 0:
            mass[place] += weight
    for v in range(variables):
        _add_arcs(arcs, parents[v], v, total - since[v])
    sampled = dags[: len(places)], mass[: len(places)], arcs, total
    return best_order, best_parents, best, sampled


@numba.njit(cache=True)
def _add_arcs(arcs, parents, child, weight):
    for u in range(len(arcs)):
        if parents >> u & 1:
            arcs[u, child] += weight


class SampledPosterior:
    """A sample of the posterior over totally ordered models.

    Attributes
    ----------
    arc_probability, best_parents, best_cost
        The arc probability at the fixed point reached by annealing, the best TOM found, and its
        cost.
    arcs : array of shape (variables, variables)
        ``arcs[u, v]``: the estimated probability of an arc from u to v; 0 if one of them has
        only one value.
    clean_dags : pair of arrays
        The clean DAGs found, most probable first, and their estimated probabilities.
    """

    def __init__(self, sample: Sample, rng: np.random.Generator) -> None:
        first, inverse = distinct_rows(sample.codes, sample.cards)
        weights = np.bincount(inverse, sample.weights, minlength=len(first)).astype(np.float64)
        cards = np.array(sample.cards)
        columns = np.ascontiguousarray(sample.codes[first].T, dtype=np.int32)
        self._data = (columns, weights, cards, no_costs())
        variables = len(cards)
        pairs = variables * (variables - 1) / 2
        parents = np.zeros(variables, dtype=np.int64)
        # Arcs of a variable with one value change nothing, so it has no place in the order.
        order = rng.permutation(np.flatnonzero(cards > 1))
        cube = max(len(order), 10) ** 3
        probability, seen = 0.5, set[float]()
        while probability not in seen:
            seen.add(probability)
            start = (order, parents, costs.arc_price(probability))
            order, parents, *_ = walk(self._data, *start, 20 * cube, True, rng)
            # Arcs without cost, as those of a variable with one value, must not count.
            for v, mask in enumerate(parents):
                parents[v] = clean_node(self._data, v, mask, start[2])
            probability = costs.arc_estimate(int(np.bitwise_count(parents).sum()), pairs)
        self.arc_probability = probability
        start = (order, parents, costs.arc_price(probability))
        _, best, cost, sampled = walk(self._data, *start, 200 * cube, False, rng)
        dags, mass, arc_weights, total = sampled
        self.best_parents = [int(mask) for mask in best]
        self.best_cost = float(cost) - pairs * math.log1p(-probability)
        self.arcs: FloatArray = arc_weights / total
        heaviest = np.argsort(-mass, kind="stable")
        self.clean_dags = dags[heaviest].astype(np.intp), mass[heaviest] / total

    def __getstate__(self) -> dict[str, object]:
        # The compiled cache of costs does not pickle; it is refilled on demand.
        return {**self.__dict__, "_data": self._data[:3]}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state)
        self._data = (*self._data[:3], no_costs())

    def message(self, child: int, parents: int) -> float:
        """Return the cost of a variable given a set of parents."""
        return float(node_costs(self._data, child, parents)[0])

    def likelihood(self, child: int, parents: int) -> float:
        """Return the −log maximum likelihood of a variable given a set of parents."""
        return float(node_costs(self._data, child, parents)[1])
