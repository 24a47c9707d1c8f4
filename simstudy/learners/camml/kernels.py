"""Compiled steps of the sampler over totally ordered models (see `sampling`)."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math

import numba
import numpy as np
from numba import types
from numba.typed import Dict

from simstudy.learners.camml.costs import MAX_CELLS, MAX_PARENTS, PARAMETER_COST

# Maximum number of distinct DAGs stored; the weight of others counts in the total only.
_MAX_DAGS = 2**18
_SIXTH = 1 / 6  # move probabilities: swap 2, toggle 2, toggle two 1, exchange 1


def no_costs() -> Dict:
    """Return an empty cache of (message cost, −log maximum likelihood) by (child, parents)."""
    return Dict.empty(types.UniTuple(types.int64, 2), types.UniTuple(types.float64, 2))


@numba.njit(cache=True)
def _append(place, column, card):
    """Turn places in a table into those in a table with one more variable, which is last."""
    for r in range(len(place)):
        place[r] = place[r] * card + column[r]


@numba.njit(cache=True)
def node_costs(columns, weights, cards, known, child, parents):
    """Return message cost and −log maximum likelihood of a child given its parents, cached."""
    key = (np.int64(child), np.int64(parents))
    if key in known:
        return known[key]
    configurations, count = 1, 0
    for u in range(len(cards)):
        if parents >> u & 1:
            configurations *= cards[u]
            count += 1
            if configurations > MAX_CELLS:
                break
    k = cards[child]
    if count > MAX_PARENTS or configurations * k > MAX_CELLS:
        result = (np.inf, np.inf)
        known[key] = result
        return result
    place = np.zeros(len(weights), dtype=np.int32)
    for u in range(len(cards)):
        if parents >> u & 1:
            _append(place, columns[u], cards[u])
    _append(place, columns[child], k)
    cells = np.zeros(configurations * k)
    for r in range(len(weights)):
        cells[place[r]] += weights[r]
    table = cells.reshape(configurations, k)
    message = configurations * (k - 1) * PARAMETER_COST
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
    result = (message, likelihood)
    known[key] = result
    return result


@numba.njit(cache=True)
def _propose(order, parents, rng):
    """Propose a random move: positions to swap (or −1), and up to two children with new parents.

    ``other`` is the only variable by which the new parents of the first child differ, or −1; those
    of the second child differ by the first.
    """
    variables = len(order)
    swap, first, first_parents, second, second_parents, other = -1, -1, 0, -1, 0, -1
    draw = rng.random()
    if draw < 2 * _SIXTH:
        swap = int(rng.random() * (variables - 1))
        u, v = order[swap], order[swap + 1]
        if parents[v] >> u & 1:  # the arc between them is reversed
            first, first_parents, other = v, parents[v] ^ (1 << u), u
            second, second_parents = u, parents[u] | (1 << v)
    elif draw < 4 * _SIXTH or variables < 3:
        # All pairs of variables are equally likely.
        one, two = int(rng.random() * variables), int(rng.random() * (variables - 1))
        if two >= one:
            two += 1
        first, other = order[max(one, two)], order[min(one, two)]
        first_parents = parents[first] ^ (1 << other)
    else:
        place = 2 + int(rng.random() * (variables - 2))
        first = order[place]
        one, two = int(rng.random() * place), int(rng.random() * (place - 1))
        if two >= one:
            two += 1
        u, v = order[one], order[two]
        both = (1 << u) | (1 << v)
        first_parents = parents[first] ^ both
        has_u, has_v = parents[first] >> u & 1, parents[first] >> v & 1
        if draw >= 5 * _SIXTH and has_u == has_v:
            first_parents = parents[first]  # an exchange needs a parent and a non-parent
    return swap, first, first_parents, second, second_parents, other


@numba.njit(cache=True)
def _change(columns, weights, cards, known, near, parents, price, child, new, other):
    """Return the change in cost when a child gets new parents.

    ``near`` holds the costs of each child if another variable joins or leaves its present parents,
    and on the diagonal those of the present parents: most moves need no look at the long list of
    known costs. NaN if not needed before.
    """
    arcs, changed = 0, parents[child] ^ new
    while changed:
        arcs += 1 if new & changed & -changed else -1
        changed &= changed - 1
    if math.isnan(near[child, child]):
        near[child, child] = node_costs(columns, weights, cards, known, child, parents[child])[0]
    after = np.nan if other < 0 else near[child, other]
    if math.isnan(after):
        after = node_costs(columns, weights, cards, known, child, new)[0]
        if other >= 0:
            near[child, other] = after
    return after - near[child, child] + arcs * price


@numba.njit(cache=True)
def _total(columns, weights, cards, known, parents, price):
    """Return the cost of a TOM, relative to no arcs."""
    cost = 0.0
    for v in range(len(cards)):
        cost += node_costs(columns, weights, cards, known, v, parents[v])[0]
        for u in range(len(cards)):
            cost += (parents[v] >> u & 1) * price
    return cost


@numba.njit(cache=True)
def anneal(columns, weights, cards, known, order, parents, price, steps, rng):
    """Search for the best TOM while the temperature falls from 10 to 0.1."""
    order, parents = order.copy(), parents.copy()
    near = np.full((len(cards), len(cards)), np.nan)
    cost = _total(columns, weights, cards, known, parents, price)
    best_order, best_parents, best = order.copy(), parents.copy(), cost
    for step in range(steps if len(order) > 1 else 0):
        temperature = 10.0 * 0.01 ** (step / steps)
        swap, first, first_new, second, second_new, other = _propose(order, parents, rng)
        change = 0.0
        if first >= 0:
            change += _change(
                columns, weights, cards, known, near, parents, price, first, first_new, other
            )
        if second >= 0:
            change += _change(
                columns, weights, cards, known, near, parents, price, second, second_new, first
            )
        if change <= 0 or rng.random() < math.exp(-change / temperature):
            if swap >= 0:
                order[swap], order[swap + 1] = order[swap + 1], order[swap]
            if first >= 0:
                parents[first] = first_new
                near[first] = np.nan
            if second >= 0:
                parents[second] = second_new
                near[second] = np.nan
            cost += change
            if cost < best - 1e-9:
                best_order, best_parents, best = order.copy(), parents.copy(), cost
    return best_order, best_parents, best


@numba.njit(cache=True)
def clean_node(columns, weights, cards, known, child, parents, price):
    """Return the parents whose arcs pay for their cost, in one pass from the highest index."""
    cost = node_costs(columns, weights, cards, known, child, parents)[0]
    for u in range(len(cards) - 1, -1, -1):
        if parents >> u & 1:
            without = node_costs(columns, weights, cards, known, child, parents ^ (1 << u))[0]
            if without <= cost + price:
                parents, cost = parents ^ (1 << u), without
    return parents


@numba.njit(cache=True)
def _mixed(child, parents):
    """Return the hash of a child and its parents; the hash of a DAG is their sum."""
    x = np.uint64(parents) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(child + 1) * np.uint64(
        0xD1B54A32D192ED03
    )
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@numba.njit(cache=True)
def metropolis(columns, weights, cards, known, order, parents, price, steps, temperature, rng):
    """Sample TOMs starting from ``parents``, and accumulate weights of clean DAGs and arcs."""
    variables = len(cards)
    order, parents = order.copy(), parents.copy()
    near = np.full((len(cards), len(cards)), np.nan)
    cost = _total(columns, weights, cards, known, parents, price)
    reference, best, best_parents = cost, cost, parents.copy()
    clean = np.zeros(variables, dtype=np.int64)
    name = np.uint64(0)
    for v in range(variables):
        clean[v] = clean_node(columns, weights, cards, known, v, parents[v], price)
        name += _mixed(v, clean[v])
    places = Dict.empty(types.uint64, types.int64)
    dags = np.zeros((1024, variables), dtype=np.int64)
    mass = np.zeros(1024)
    arcs = np.zeros((variables, variables))
    since = np.zeros(variables)  # the total when a child last changed its parents
    total, place = 0.0, -1
    for step in range(max(steps, 1)):
        if step > 0 and len(order) > 1:
            swap, first, first_new, second, second_new, other = _propose(order, parents, rng)
            change = 0.0
            if first >= 0:
                change += _change(
                    columns, weights, cards, known, near, parents, price, first, first_new, other
                )
            if second >= 0:
                change += _change(
                    columns, weights, cards, known, near, parents, price, second, second_new, first
                )
            if change <= 0 or rng.random() < math.exp(-change / temperature):
                if swap >= 0:
                    order[swap], order[swap + 1] = order[swap + 1], order[swap]
                for child, new in ((first, first_new), (second, second_new)):
                    if child >= 0 and parents[child] != new:
                        _add_arcs(arcs, parents[child], child, total - since[child])
                        since[child] = total
                        parents[child] = new
                        near[child] = np.nan
                        tidy = clean_node(columns, weights, cards, known, child, new, price)
                        if tidy != clean[child]:
                            name += _mixed(child, tidy) - _mixed(child, clean[child])
                            clean[child] = tidy
                            place = -1
                cost += change
                if cost < best - 1e-9:
                    best, best_parents = cost, parents.copy()
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
    return dags[: len(places)], mass[: len(places)], arcs, total, best_parents, best


@numba.njit(cache=True)
def _add_arcs(arcs, parents, child, weight):
    for u in range(len(arcs)):
        if parents >> u & 1:
            arcs[u, child] += weight
