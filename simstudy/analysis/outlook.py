"""What a forecast says of one measure: how learners do now, what more rows bring, who overtakes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from simstudy.analysis.forecast import Forecast, Present, Simulated
from simstudy.arrays import FloatArray
from simstudy.measures.base import MeasureInfo

SUPPORTED = 0.9  # the share of scenarios from which something is said
_TAILS = (0.025, 0.975)
_FAR, _VERY_FAR = 2.0, 4.0  # standard errors between predicted and cross-validated scores


@dataclass(frozen=True)
class IntervalEstimate:
    """A number with its interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Crossing:
    """One learner overtakes another.

    Attributes
    ----------
    ahead, behind : str
        The learner that overtakes, and the one that is overtaken.
    rows, low, high : float
        Where, with an interval: 0 is at or before the rows at hand, infinity beyond the horizon.
    share : float
        The share of scenarios in which it is ahead at the horizon.
    """

    ahead: str
    behind: str
    rows: float
    low: float
    high: float
    share: float


@dataclass(frozen=True)
class SimulationCheck:
    """Simulated scores beside cross-validated ones, with as many rows.

    Attributes
    ----------
    simulated, measured : sequence of IntervalEstimate
        By learner: over simulated truths, and over splits of the table.
    distances : array
        By learner: measured minus simulated, in standard errors of the difference.
    verdict : {"well", "partly", "poorly"}
        How well the simulated truths explain the scores of the table.
    simulated_gain, measured_gain : float
        The mean gain of learners between half the training rows and all.
    """

    simulated: tuple[IntervalEstimate, ...]
    measured: tuple[IntervalEstimate, ...]
    distances: FloatArray
    verdict: Literal["well", "partly", "poorly"]
    simulated_gain: float
    measured_gain: float

    @property
    def widest(self) -> int:
        """The learner whose simulated and measured scores are furthest apart."""
        return int(np.abs(self.distances).argmax())


@dataclass(frozen=True)
class Outlook:
    """The present and the forecast of one measure.

    Attributes
    ----------
    measure : str
        Its label.
    info : MeasureInfo
        What is known of it; greater is better.
    learners : sequence of str
        Their labels.
    rows : int
        The rows at hand.
    present, simulated, forecast
        Scores of splits, of simulated truths, and scenarios.
    truth : array of shape (models, sizes)
        The scores of the true class probabilities of simulated truths.
    """

    measure: str
    info: MeasureInfo
    learners: tuple[str, ...]
    rows: int
    present: Present
    simulated: Simulated
    forecast: Forecast
    truth: FloatArray

    @property
    def sizes(self) -> list[int]:
        """The sizes of the forecast from the rows at hand on."""
        return [size for size in self.forecast.sizes if size >= self.rows]

    @cached_property
    def now(self) -> tuple[IntervalEstimate, ...]:
        """The cross-validated scores with intervals by the corrected resampled t (see Present)."""
        errors, means = np.sqrt(np.diag(self.present.errors)), self.present.means
        reach = stdtrit(len(self.present.scores) - 1, _TAILS[1]) * errors
        return tuple(
            map(
                IntervalEstimate, means.tolist(), (means - reach).tolist(), (means + reach).tolist()
            )
        )

    @property
    def best_now(self) -> int:
        """The learner of the best cross-validated mean."""
        return int(self.present.means.argmax())

    def predicted(self, learner: int, size: int) -> IntervalEstimate:
        """Return the predicted score with so many rows."""
        return _estimate(self.forecast.values[:, self.forecast.sizes.index(size), learner])

    def gain(self, learner: int, size: int) -> IntervalEstimate:
        """Return what a learner gains between the rows at hand and so many."""
        return IntervalEstimate(*self.forecast.gains(size, self.rows)[:, learner].tolist())

    def best(self, size: int) -> int:
        """Return the learner of the greatest predicted score."""
        return int(self.forecast.means[self.forecast.sizes.index(size)].argmax())

    def share_best(self, size: int) -> FloatArray:
        """Return the share of scenarios in which each learner is the best."""
        values = self.forecast.values[:, self.forecast.sizes.index(size)]
        return np.bincount(values.argmax(axis=1), minlength=values.shape[1]) / len(values)

    @cached_property
    def check(self) -> SimulationCheck:
        """How well the simulated truths explain the table's own scores."""
        places = [self.simulated.sizes.index(size) for size in self.present.sizes]
        drawn = self.simulated.scores[:, places]
        at_start = drawn[:, -1]
        spread = np.sqrt(at_start.var(axis=0, ddof=1) + np.diag(self.present.errors))
        distances = (self.present.means - at_start.mean(axis=0)) / np.maximum(spread, 1e-12)
        far = np.abs(distances)
        poorly = np.median(far) > _FAR or far.max() > _VERY_FAR
        verdict: Literal["well", "partly", "poorly"] = "poorly" if poorly else "partly"
        verdict = "well" if (far <= _FAR).all() else verdict
        course = self.present.scores.mean(axis=0)
        simulated = tuple(_estimate(at_start[:, place]) for place in range(len(self.learners)))
        gains = float((drawn[:, -1] - drawn[:, -2]).mean()), float((course[-1] - course[-2]).mean())
        return SimulationCheck(simulated, self.now, distances, verdict, *gains)

    @cached_property
    def ceiling(self) -> IntervalEstimate:
        """What the best possible predictions would score, by simulated truths, levelled to now.

        The way from the best learner to the true class probabilities in each simulated truth, on
        top of the present score of the best learner.
        """
        start, best = self.simulated.sizes.index(self.simulated.start), self.best_now
        missing = self.truth[:, -1] - self.simulated.scores[:, start, best]
        level = _estimate(self.present.means[best] + missing)
        most = 1.0 if self.measure == "accuracy" else np.inf
        return IntervalEstimate(min(level.value, most), min(level.low, most), min(level.high, most))

    @property
    def below_ceiling(self) -> float:
        """How far the best learner now is below the ceiling."""
        return self.ceiling.value - self.now[self.best_now].value

    @property
    def ceiling_holds(self) -> bool:
        """Whether no learner is predicted to score above the ceiling."""
        return self.ceiling.value >= self.forecast.means[-1].max()

    @cached_property
    def crossings(self) -> list[Crossing]:
        """Who overtakes whom between the rows at hand and the horizon, as far as supported."""
        crossings = []
        means = self.forecast.means[self.forecast.sizes.index(self.rows)]
        for ahead, behind in itertools.permutations(range(len(self.learners)), 2):
            share = float(self.forecast.leads(ahead, behind)[-1])
            if means[ahead] < means[behind] and share >= SUPPORTED:
                places = crossing_rows(self.forecast, ahead, behind, self.rows)
                rows, low, high = np.quantile(places, [0.5, *_TAILS], method="lower").tolist()
                names = self.learners[ahead], self.learners[behind]
                crossings.append(Crossing(*names, rows, low, high, share))
        return sorted(crossings, key=lambda crossing: crossing.rows)


def crossing_rows(forecast: Forecast, first: int, second: int, rows: int) -> FloatArray:
    """Return from where on one learner stays ahead of another, by scenario.

    Between two sizes differences are linear in log size. 0 if it is ahead from ``rows`` on,
    infinity if it is not ahead at the largest size.
    """
    places = [place for place, size in enumerate(forecast.sizes) if size >= rows]
    logs = np.log([forecast.sizes[place] for place in places])
    lead = forecast.values[:, places, first] - forecast.values[:, places, second]
    behind = lead <= 0
    last = len(places) - 1 - np.argmax(behind[:, ::-1], axis=1)  # the last size at which behind
    inner = behind.any(axis=1) & ~behind[:, -1]
    at = last[inner]
    before, after = lead[inner, at], lead[inner, at + 1]
    crossed = np.where(behind[:, -1], np.inf, 0.0)
    crossed[inner] = np.exp(logs[at] + before / (before - after) * (logs[at + 1] - logs[at]))
    return crossed


def _estimate(values: FloatArray | Sequence[float]) -> IntervalEstimate:
    return IntervalEstimate(float(np.mean(values)), *np.quantile(values, _TAILS).tolist())
