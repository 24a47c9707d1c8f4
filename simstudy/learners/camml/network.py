"""Several networks: what they say together, and how far apart they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.learners.network import Network

# Distributions over more cells than this are compared by elimination instead of cell by cell.
_MOST_CELLS = 2**18


class Mixture:
    """Networks of which each stands for the whole with some probability."""

    def __init__(self, networks: Sequence[Network], mass: Sequence[float]) -> None:
        self._networks = list(networks)
        self._log_mass = np.log(np.array(mass) / sum(mass))

    def log_joint(self, codes: IntArray) -> FloatArray:
        """log P(attributes, class) of rows of attribute codes, shape (rows, classes)."""
        total = np.full((len(codes), self._networks[0].cards[-1]), -np.inf)
        for log_mass, network in zip(self._log_mass, self._networks, strict=True):
            np.logaddexp(total, log_mass + network.log_joint(codes), out=total)
        return total


def divergences(networks: Sequence[Network]) -> FloatArray:
    """``divergences[j, i]``: Kullback–Leibler divergence of network i from network j, exact."""
    if math.prod(networks[0].cards) <= _MOST_CELLS:
        logs = np.array([network.log_density() for network in networks])
        densities = np.exp(logs)
        own = (densities * logs).sum(axis=1)
        return np.maximum(own[:, None] - densities @ logs.T, 0.0)
    result = np.empty((len(networks), len(networks)))
    for j, one in enumerate(networks):
        marginals: dict[tuple[int, ...], FloatArray] = {}
        for i, other in enumerate(networks):
            for axes in other.axes:
                if axes not in marginals:
                    marginals[axes] = one.marginal(axes)
            result[j, i] = -sum(
                float((marginals[axes] * table).sum())
                for axes, table in zip(other.axes, other.log_tables, strict=True)
            )
    return np.maximum(result - np.diagonal(result)[:, None], 0.0)
