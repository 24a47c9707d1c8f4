"""Bayesian model averaging over totally ordered models, and mixtures of some networks.

P(x, y) = Σ over TOMs of posterior · Π_v P(x_v | parents): the sum over orders and parent sets of
`exact`, with the weight of each parent set multiplied by its parameter for the row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.learners.networks.camml.exact import TomPosterior, layers
from simstudy.learners.networks.estimated import parameters
from simstudy.networks.elimination import members
from simstudy.networks.network import Network

# Parent sets of lower posterior probability are skipped. A row can favour a parent set by a factor
# of at most about 2N, so that this changes a probability by about N·1e-16.
_NEGLIGIBLE = 1e-16
_CHUNK_BYTES = 2**25


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


class ModelAverage:
    """The full Bayesian average over totally ordered models."""

    def __init__(self, sample: Sample, posterior: TomPosterior) -> None:
        self._posterior = posterior
        self._classes = sample.classes
        target = len(sample.cards) - 1
        self._factors = [_Factor(v, target, sample, posterior) for v in range(target + 1)]

    def log_joint(self, codes: IntArray) -> FloatArray:
        """Return log P(attributes, class) for rows of attribute codes, shape (rows, classes)."""
        bytes_each = 8 * self._posterior.sets * self._posterior.variables * self._classes
        rows = max(_CHUNK_BYTES // bytes_each, 1)
        parts = [codes[start : start + rows] for start in range(0, len(codes), rows)]
        return np.concatenate([np.zeros((0, self._classes)), *map(self._log_joint, parts)])

    def _log_joint(self, codes: IntArray) -> FloatArray:
        columns = [*codes.T[:, None, :], np.arange(self._classes)[:, None]]
        flow = np.stack([factor.flow(columns, len(codes)) for factor in self._factors])
        before = np.zeros(flow.shape[1:])
        before[0] = 1.0
        for layer in layers(self._posterior.variables)[1:]:
            steps = before[layer.below] * flow[layer.members, layer.below]
            before[layer.sets] = steps.sum(axis=1)
        return np.log(before[-1]).T


class _Factor:
    """Factor of one variable: the mean of P(v | parents) over parent sets, given predecessors."""

    def __init__(self, v: int, target: int, sample: Sample, posterior: TomPosterior) -> None:
        self._shape = (posterior.sets, sample.classes)
        self._free = np.flatnonzero(np.arange(posterior.sets) >> v & 1 == 0)
        chosen = np.flatnonzero(posterior.parent_sets[v] > _NEGLIGIBLE)
        with np.errstate(over="ignore", invalid="ignore"):
            share = np.exp(posterior.weights[v, chosen] - posterior.within[v, self._free, None])
        share[chosen & ~self._free[:, None] != 0] = 0.0
        # Each row is multiplied by the probability that v follows that set.
        self._share = share * posterior.steps[v, self._free, None]
        self._axes = [(*members(mask), v) for mask in chosen.tolist()]
        self._tables = [parameters(sample, axes) for axes in self._axes]
        self._of_class = np.array([target in axes for axes in self._axes])

    def flow(self, columns: list[IntArray], rows: int) -> FloatArray:
        """Return step probability × mean parameter by set of predecessors, class and row."""
        tables = zip(self._axes, self._tables, strict=True)
        values = [table[tuple(columns[u] for u in axes)] for axes, table in tables]
        total = np.zeros((len(self._free), self._shape[1], rows))
        for of_class in (True, False):
            which = np.flatnonzero(self._of_class == of_class)
            if len(which):
                shape = (self._shape[1] if of_class else 1, rows)
                stacked = np.stack([np.broadcast_to(values[i], shape) for i in which])
                mean = self._share[:, which] @ stacked.reshape(len(which), -1)
                total += mean.reshape(len(self._free), -1, rows)
        flow = np.zeros((*self._shape, rows))
        flow[self._free] = total
        return flow
