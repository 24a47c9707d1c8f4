"""The posterior over totally ordered models by sampling, where exact summation is infeasible.

The moves, temperature and weights are those of the public CaMML program: after an annealing start,
Metropolis steps at temperature 1.8 among TOMs, each adding exp((ref − cost)(1 − 1/T)) to the
current clean DAG, which corrects for the temperature.
"""

from __future__ import annotations

import math

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.codes import distinct_rows
from simstudy.data.sample import Sample
from simstudy.learners.camml.costs import estimated_arc_probability
from simstudy.learners.camml.kernels import (
    anneal,
    clean_node,
    metropolis,
    no_costs,
    node_costs,
)

TEMPERATURE = 1.8


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
    """

    def __init__(self, sample: Sample, rng: np.random.Generator) -> None:
        first, inverse = distinct_rows(sample.codes, sample.cards)
        weights = np.bincount(inverse, sample.weights, minlength=len(first)).astype(np.float64)
        cards = np.array(sample.cards)
        columns = np.ascontiguousarray(sample.codes[first].T, dtype=np.int32)
        self._data = (columns, weights, cards)
        self._costs = no_costs()
        variables = len(cards)
        pairs = variables * (variables - 1) / 2
        parents = np.zeros(variables, dtype=np.int64)
        # Arcs of a variable with one value change nothing, so it has no place in the order.
        order = rng.permutation(np.flatnonzero(cards > 1))
        cube = max(len(order), 10) ** 3
        probability, seen = 0.5, set[float]()
        while probability not in seen:
            seen.add(probability)
            start = (order, parents, _arc_price(probability))
            order, parents, _ = anneal(*self._data, self._costs, *start, 20 * cube, rng)
            # Arcs without cost, as those of a variable with one value, must not count.
            for v, mask in enumerate(parents):
                parents[v] = clean_node(*self._data, self._costs, v, mask, start[2])
            arcs = int(np.bitwise_count(parents).sum())
            probability = estimated_arc_probability(arcs, pairs)
        self.arc_probability = probability
        start = (order, parents, _arc_price(probability))
        dags, mass, arc_weights, total, best, cost = metropolis(
            *self._data, self._costs, *start, 200 * cube, TEMPERATURE, rng
        )
        self.best_parents = [int(mask) for mask in best]
        self.best_cost = float(cost) - pairs * math.log1p(-probability)
        self.arcs: FloatArray = arc_weights / total
        heaviest = np.argsort(-mass, kind="stable")
        self._dags: IntArray = dags[heaviest].astype(np.intp)
        self._mass: FloatArray = mass[heaviest] / total

    def __getstate__(self) -> dict[str, object]:
        # The compiled cache of costs does not pickle; it is refilled on demand.
        return {key: value for key, value in self.__dict__.items() if key != "_costs"}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__dict__.update(state, _costs=no_costs())

    def clean_dags(self) -> tuple[IntArray, FloatArray]:
        """Return the clean DAGs found, most probable first, and their estimated probabilities."""
        return self._dags, self._mass

    def message(self, child: int, parents: int) -> float:
        """Return the cost of a variable given a set of parents."""
        return float(node_costs(*self._data, self._costs, child, parents)[0])

    def likelihood(self, child: int, parents: int) -> float:
        """Return the −log maximum likelihood of a variable given a set of parents."""
        return float(node_costs(*self._data, self._costs, child, parents)[1])


def _arc_price(probability: float) -> float:
    """Return the structure cost of one arc."""
    return math.log((1 - probability) / probability)
