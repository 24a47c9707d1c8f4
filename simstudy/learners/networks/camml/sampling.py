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
# Costs of each child that are cached; a later parent set takes the place of an earlier one.
_SLOTS = 2**17
_DRAWS, _MAX_DRAWS = 2**12, 5  # uniform draws kept, and needed by a step at most
_MAX_LISTED = 2**20  # rows up to which the logarithms of factorials are listed
# Beyond this many variables the walks get no longer; half of the swaps become far moves.
_WIDE = 40
_SIXTH = 1 / 6  # move probabilities: swap 2, toggle 2, toggle two 1, exchange 1


@numba.njit(cache=True)
def _append(place, column, card):
    """Turn places in a table into those in a table with one more variable, which is last."""
    for r in range(len(place)):
        place[r] = place[r] * card + column[r]


@numba.njit(cache=True)
def _counts(data, child, parents):
    """Return the counts of a child by configuration of its parents; none if they are too many."""
    columns, weights, cards, _ = data
    configurations, count, k = 1, 0, cards[child]
    for u in range(len(cards)):
        if parents >> u & 1:
            configurations *= cards[u]
            count += 1
            if count > costs.MAX_PARENTS or configurations * k > costs.MAX_CELLS:
                return np.zeros((0, k))
    place = np.zeros(len(weights), dtype=np.int32)
    for u in range(len(cards)):
        if parents >> u & 1:
            _append(place, columns[u], cards[u])
    _append(place, columns[child], k)
    cells = np.zeros(configurations * k)
    for r in range(len(weights)):
        cells[place[r]] += weights[r]
    return cells.reshape(configurations, k)


@numba.njit(cache=True)
def log_gammas(end):
    """Return ln Γ(n) of whole numbers up to an end."""
    return np.array([math.lgamma(n) for n in range(end + 1)])


@numba.njit(cache=True)
def _log_gamma(listed, x):
    return listed[int(x)] if len(listed) else math.lgamma(x)


@numba.njit(cache=True)
def message_cost(data, child, parents):
    """Return the message cost of a child given its parents."""
    listed = data[3]
    table = _counts(data, child, parents)
    configurations, k = table.shape
    if configurations == 0:
        return np.inf
    message = configurations * (k - 1) * costs.PARAMETER_COST
    for j in range(configurations):
        total = 0.0
        for value in range(k):
            n = table[j, value]
            if n > 0:
                total += n
                message -= _log_gamma(listed, n + 1)
        if total > 0:
            message += _log_gamma(listed, total + k) - _log_gamma(listed, k)
    return message


@numba.njit(cache=True)
def log_loss(data, child, parents):
    """Return the −log maximum likelihood of a child given its parents."""
    table = _counts(data, child, parents)
    loss = 0.0 if len(table) else np.inf
    for j in range(len(table)):
        total = 0.0
        for n in table[j]:
            if n > 0:
                total += n
                loss -= n * math.log(n)
        if total > 0:
            loss += total * math.log(total)
    return loss


@numba.njit(cache=True)
def _cost(data, cache, child, parents):
    """Return the message cost of a child given its parents, cached."""
    sets, messages = cache
    slot = (parents * 0x1E3779B97F4A7C15 >> 32) & (_SLOTS - 1)
    if sets[child, slot] != parents + 1:
        messages[child, slot] = message_cost(data, child, parents)
        sets[child, slot] = parents + 1
    return messages[child, slot]


@numba.njit(cache=True)
def _refill(draws, at, rng):
    """Move the draws that are left to the front, fill up, and return where to go on."""
    left = len(draws) - at
    draws[:left] = draws[at:]
    draws[left:] = rng.random(len(draws) - left)
    return 0


@numba.njit(cache=True)
def _propose(order, parents, draws, at):
    """Propose a random move: places to swap, and a child with one or two variables, or −1.

    These join or leave its parents; where neighbours in the order swap, their arc is reversed. The
    last number is how many draws were used.
    """
    variables = len(order)
    draw, second_draw, third_draw = draws[at], draws[at + 1], draws[at + 2]
    swap, v, used = -1, -1, 3
    if draw < 2 * _SIXTH:
        swap, used = int(second_draw * (variables - 1)), 2
        u, child = order[swap], order[swap + 1]
        if not parents[child] >> u & 1:
            child = -1
    elif draw < 4 * _SIXTH or variables < 3:
        i, j = int(second_draw * variables), int(third_draw * (variables - 1))
        j += j >= i  # all pairs of variables are equally likely
        child, u = order[max(i, j)], order[min(i, j)]
    else:
        place, used = 2 + int(second_draw * (variables - 2)), 4
        child = order[place]
        i, j = int(third_draw * place), int(draws[at + 3] * (place - 1))
        j += j >= i
        u, v = order[i], order[j]
        if draw >= 5 * _SIXTH and parents[child] >> u & 1 == parents[child] >> v & 1:
            child = -1  # an exchange needs a parent and a non-parent
    return swap, child, u, v, used


@numba.njit(cache=True)
def _move_far(order, parents, start, end):
    """Move a variable along the order, if no arc joins it to those that it passes."""
    moved, step = order[start], 1 if end > start else -1
    for place in range(start + step, end + step, step):
        passed = order[place]
        if (parents[moved] >> passed | parents[passed] >> moved) & 1:
            return
    for place in range(start, end, step):
        order[place] = order[place + step]
    order[end] = moved


@numba.njit(cache=True)
def _temperature(cooling):
    """Return the temperature after a part of the annealing, or if negative that of the sampler."""
    return 10.0 * 0.01**cooling if cooling >= 0 else TEMPERATURE


@numba.njit(cache=True)
def _first_costs(data, cache, parents):
    """Return the costs of each child if another variable joins or leaves its present parents.

    On the diagonal are those of the present parents, the rest is NaN until it is needed: most moves
    need no look at the many cached costs. The second array is the number of configurations of the
    present parents.
    """
    near = np.full((len(parents), len(parents)), np.nan)
    configurations = np.ones(len(parents))
    for v in range(len(parents)):
        near[v, v] = _cost(data, cache, v, parents[v])
        for u in range(len(parents)):
            if parents[v] >> u & 1:
                configurations[v] *= data[2][u]
    return near, configurations


@numba.njit(cache=True)
def _step(data, cache, cards, order, parents, near, configurations, price, cooling, draws, at):
    """Take a Metropolis step; return the change in cost, children with new parents, draws used.

    If stating the parameters alone costs too much, a move is rejected without the counts.
    """
    variables = len(order)
    if variables > _WIDE and draws[at] < _SIXTH:
        _move_far(order, parents, int(draws[at + 1] * variables), int(draws[at + 2] * variables))
        return 0.0, -1, -1, 3
    swap, child, u, v, used = _propose(order, parents, draws, at)
    change, after, after_u, cells, new, second = 0.0, 0.0, 0.0, 0.0, 0, -1
    accepted, drawn = True, False
    if child >= 0:
        present = parents[child]
        leaves, new = present >> u & 1, present ^ (1 << u)
        arcs, cells = 1 - 2 * leaves, configurations[child]
        cells = cells / cards[u] if leaves else cells * cards[u]
        after = near[child, u]
        if v >= 0:
            leaves, new = present >> v & 1, new ^ (1 << v)
            arcs, cells = arcs + 1 - 2 * leaves, cells / cards[v] if leaves else cells * cards[v]
            after = np.nan
        if math.isnan(after):
            least = cells * (cards[child] - 1) * costs.PARAMETER_COST
            least += arcs * price - near[child, child]
            if least > 0 and swap < 0:
                drawn = True
                accepted = draws[at + used] < math.exp(-least / _temperature(cooling))
            if accepted:
                after = _cost(data, cache, child, new)
                if v < 0:
                    near[child, u] = after
        if accepted:
            change = after - near[child, child] + arcs * price
            if swap >= 0:
                second, after_u = u, near[u, child]
                if math.isnan(after_u):
                    after_u = near[u, child] = _cost(data, cache, u, parents[u] | (1 << child))
                change += after_u - near[u, u] + price
            if change > 0:
                drawn = True
                accepted = draws[at + used] < math.exp(-change / _temperature(cooling))
    if accepted and swap >= 0:
        order[swap], order[swap + 1] = order[swap + 1], order[swap]
    if accepted and child >= 0:
        parents[child], configurations[child] = new, cells
        for w in range(len(parents)):
            near[child, w] = np.nan
        near[child, child] = after
        if second >= 0:
            parents[u] |= 1 << child
            configurations[u] *= cards[child]
            for w in range(len(parents)):
                near[u, w] = np.nan
            near[u, u] = after_u
    if not accepted:
        change, child, second = 0.0, -1, -1
    return change, child, second, used + drawn


@numba.njit(cache=True)
def _total(near, parents, price):
    """Return the cost of a TOM, relative to no arcs."""
    cost = 0.0
    for v in range(len(parents)):
        cost += near[v, v]
        for u in range(len(parents)):
            cost += (parents[v] >> u & 1) * price
    return cost


@numba.njit(cache=True)
def clean_node(data, cache, child, parents, price):
    """Return the parents whose arcs pay for their cost, in one pass from the highest index."""
    cost = _cost(data, cache, child, parents)
    for u in range(len(data[0]) - 1, -1, -1):
        if parents >> u & 1:
            without = _cost(data, cache, child, parents ^ (1 << u))
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
def anneal(data, cache, order, parents, price, steps, stream):
    """Walk among TOMs as the temperature falls from 10 to 0.1, and return the best of them."""
    order, parents, cards = order.copy(), parents.copy(), data[2]
    near, configurations = _first_costs(data, cache, parents)
    cost = _total(near, parents, price)
    best, best_order, best_parents = cost, order.copy(), parents.copy()
    draws, left_at, rng = stream
    at = left_at[0]
    for step in range(steps if len(order) > 1 else 0):
        if at > len(draws) - _MAX_DRAWS:
            at = _refill(draws, at, rng)
        change, _, _, used = _step(
            data, cache, cards, order, parents, near, configurations, price, step / steps, draws, at
        )
        at += used
        cost += change
        if cost < best - 1e-9:
            best = cost
            best_order[:], best_parents[:] = order, parents
    left_at[0] = at
    return best_order, best_parents


@numba.njit(cache=True)
def sample_dags(data, cache, order, parents, price, steps, stream):
    """Walk among TOMs, and return the best one, its cost, and weights of clean DAGs and of arcs."""
    variables, cards = len(parents), data[2]
    order, parents = order.copy(), parents.copy()
    near, configurations = _first_costs(data, cache, parents)
    cost = _total(near, parents, price)
    reference, best, best_parents, present = cost, cost, parents.copy(), parents.copy()
    clean = np.zeros(variables, dtype=np.int64)
    name = np.uint64(0)
    for v in range(variables):
        clean[v] = clean_node(data, cache, v, parents[v], price)
        name += _mixed(v, clean[v])
    places = Dict.empty(types.uint64, types.int64)
    dags = np.zeros((1024, variables), dtype=np.int64)
    mass = np.zeros(1024)
    arcs = np.zeros((variables, variables))
    since = np.zeros(variables)  # the total when a child last changed its parents
    total, weight, place = 0.0, 1.0, -1
    draws, left_at, rng = stream
    at = left_at[0]
    for step in range(steps):
        if at > len(draws) - _MAX_DRAWS:
            at = _refill(draws, at, rng)
        change, first, second = 0.0, -1, -1
        if step > 0 and len(order) > 1:
            change, first, second, used = _step(
                data, cache, cards, order, parents, near, configurations, price, -1.0, draws, at
            )
            at += used
        if first >= 0:
            for child in (first, second):
                if child < 0:
                    continue
                _add_arcs(arcs, present[child], child, total - since[child])
                since[child], present[child] = total, parents[child]
                tidy = clean_node(data, cache, child, parents[child], price)
                if tidy != clean[child]:
                    name += _mixed(child, tidy) - _mixed(child, clean[child])
                    clean[child], place = tidy, -1
            cost += change
            weight = math.exp((reference - cost) * (1 - 1 / TEMPERATURE))
            if cost < best - 1e-9:
                best = cost
                best_parents[:] = parents
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
        total += weight
        if place >= 0:
            mass[place] += weight
    left_at[0] = at
    for v in range(variables):
        _add_arcs(arcs, parents[v], v, total - since[v])
    return best_parents, best, dags[: len(places)], mass[: len(places)], arcs, total


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
        whole = (weights == np.floor(weights)).all() and weights.sum() <= _MAX_LISTED
        listed = log_gammas(int(weights.sum()) + int(cards.max()) if whole else -1)
        self._data = (columns, weights, cards, listed)
        cache = tuple(np.zeros((len(cards), _SLOTS), kind) for kind in (np.int64, np.float64))
        variables = len(cards)
        pairs = variables * (variables - 1) / 2
        parents = np.zeros(variables, dtype=np.int64)
        # Arcs of a variable with one value change nothing, so it has no place in the order.
        order = rng.permutation(np.flatnonzero(cards > 1))
        stream = (np.zeros(_DRAWS), np.array([_DRAWS]), rng)
        cube = min(max(len(order), 10), _WIDE) ** 3
        probability, seen = 0.5, set[float]()
        while probability not in seen:
            seen.add(probability)
            start = (order, parents, costs.arc_price(probability))
            order, parents = anneal(self._data, cache, *start, 20 * cube, stream)
            # Arcs without cost, as those of a variable with one value, must not count.
            for v, mask in enumerate(parents):
                parents[v] = clean_node(self._data, cache, v, mask, start[2])
            probability = costs.arc_estimate(int(np.bitwise_count(parents).sum()), pairs)
        self.arc_probability = probability
        start = (order, parents, costs.arc_price(probability))
        sampled = sample_dags(self._data, cache, *start, 200 * cube, stream)
        best, cost, dags, mass, arc_weights, total = sampled
        self.best_parents = [int(mask) for mask in best]
        self.best_cost = float(cost) - pairs * math.log1p(-probability)
        self.arcs: FloatArray = arc_weights / total
        heaviest = np.argsort(-mass, kind="stable")
        self.clean_dags = dags[heaviest].astype(np.intp), mass[heaviest] / total

    def message(self, child: int, parents: int) -> float:
        """Return the cost of a variable given a set of parents."""
        return float(message_cost(self._data, child, parents))

    def likelihood(self, child: int, parents: int) -> float:
        """Return the −log maximum likelihood of a variable given a set of parents."""
        return float(log_loss(self._data, child, parents))
