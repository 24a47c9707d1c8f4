"""The base class of estimators."""

from __future__ import annotations

from abc import ABC, abstractmethod

from simstudy.data.resampling import Scheme
from simstudy.estimators.bench import Bench, Judge
from simstudy.estimators.estimate import Estimate


class Splitting(ABC):
    """What splits rows by a scheme, which refuses impossible parameters."""

    def __post_init__(self) -> None:
        _ = self.scheme

    @property
    @abstractmethod
    def scheme(self) -> Scheme:
        """The splits."""


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
