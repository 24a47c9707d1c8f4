"""The base class of estimators."""

from __future__ import annotations

from abc import ABC, abstractmethod

from simstudy.estimators.bench import Bench, Judge
from simstudy.estimators.estimate import Estimate


class Estimator(ABC):
    """Base class: a frozen dataclass of parameters with one method, `estimate`."""

    @abstractmethod
    def estimate(self, bench: Bench, judge: Judge, confidence: float = 0.95) -> Estimate:
        """Estimate the value of a measure for a learner fitted to all rows of the bench.

        Parameters
        ----------
        bench : Bench
            The learner and the rows available.
        judge : Judge
            The measure.
        confidence : float > 0, < 1
            The confidence of the intervals.
        """
