"""The facts of advice on a table: how learners do now, what more rows bring, who overtakes whom."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from simstudy.advice.forecast import TAILS, Forecast, Present, Simulated
from simstudy.arrays import FloatArray
from simstudy.data.checks import Screening
from simstudy.measures.base import MeasureInfo

LEARNERS = {"NB": "naive_bayes", "TAN": "tan", "AODE": "aode", "C4.5": "c45", "CaMML": "camml"}
SUPPORTED = 0.9  # the share of scenarios from which a crossing is reported
_FAR, _VERY_FAR = 2.0, 4.0  # standard errors between predicted and cross-validated scores

Verdict: TypeAlias = Literal["well", "partly", "poorly"]


class IntervalEstimate(NamedTuple):
    """A number with its interval."""

    value: float
    low: float
    high: float


class Crossing(NamedTuple):
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


class SimulationCheck(NamedTuple):
    """Simulated and cross-validated scores with the same number of training rows.

    Attributes
    ----------
    simulated : sequence of IntervalEstimate
        By learner: over simulated truths.
    distances : array
        By learner: measured minus simulated, in standard errors of the difference.
    verdict : {"well", "partly", "poorly"}
        How well the simulated truths explain the scores of the table.
    simulated_gain, measured_gain : float
        The mean gain of learners between half the training rows and all.
    """

    simulated: tuple[IntervalEstimate, ...]
    distances: FloatArray
    verdict: Verdict
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
    behind : tuple of str
        Learners significantly behind the best one now, by the corrected resampled t test (Holm).
    """

    measure: str
    info: MeasureInfo
    learners: tuple[str, ...]
    rows: int
    present: Present
    simulated: Simulated
    forecast: Forecast
    truth: FloatArray
    behind: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names under which the learners are registered."""
        return tuple(LEARNERS[label] for label in self.learners)

    @property
    def is_accuracy(self) -> bool:
        """Whether the measure is accuracy, whose gains are written in points."""
        return self.measure == "accuracy"

    @property
    def sizes(self) -> list[int]:
        """The sizes of the forecast from the rows at hand on."""
        return [size for size in self.forecast.sizes if size >= self.rows]

    @cached_property
    def now(self) -> tuple[IntervalEstimate, ...]:
        """The cross-validated scores with intervals by the corrected resampled t (see Present)."""
        errors, means = np.sqrt(np.diag(self.present.errors)), self.present.means
        reach = stdtrit(len(self.present.scores) - 1, TAILS[1]) * errors
        return _estimates(means, means - reach, means + reach)

    @property
    def best_now(self) -> int:
        """The learner of the best cross-validated mean."""
        return int(self.present.means.argmax())

    def predicted(self, size: int) -> tuple[IntervalEstimate, ...]:
        """Return the predicted score of each learner with a number of rows."""
        return tuple(map(_estimate, self.forecast.at(size).T))

    def gains(self, size: int) -> tuple[IntervalEstimate, ...]:
        """Return what each learner gains between the rows at hand and another number."""
        gained = self.forecast.at(size) - self.forecast.at(self.rows)
        ends = np.quantile(gained, [(1 - 0.95) / 2, 0.975], axis=0)
        return _estimates(gained.mean(axis=0), *ends)

    def best(self, size: int) -> int:
        """Return the learner of the greatest predicted score."""
        return int(self.forecast.at(size).mean(axis=0).argmax())

    def share_best(self, size: int) -> FloatArray:
        """Return the share of scenarios in which each learner is the best."""
        values = self.forecast.at(size)
        return np.bincount(values.argmax(axis=1), minlength=values.shape[1]) / len(values)

    @cached_property
    def check(self) -> SimulationCheck:
        """How well the simulated truths explain the scores of the table."""
        places = [self.simulated.sizes.index(size) for size in self.present.sizes]
        drawn = self.simulated.scores[:, places]
        at_start = drawn[:, -1]
        spread = np.sqrt(at_start.var(axis=0, ddof=1) + np.diag(self.present.errors))
        distances = (self.present.means - at_start.mean(axis=0)) / np.maximum(spread, 1e-12)
        far = np.abs(distances)
        poorly = np.median(far) > _FAR or far.max() > _VERY_FAR
        verdict: Verdict = "poorly" if poorly else "partly"
        verdict = "well" if (far <= _FAR).all() else verdict
        course = self.present.scores.mean(axis=0)
        simulated = tuple(map(_estimate, at_start.T))
        gains = float((drawn[:, -1] - drawn[:, -2]).mean()), float((course[-1] - course[-2]).mean())
        return SimulationCheck(simulated, distances, verdict, *gains)

    @cached_property
    def ceiling(self) -> IntervalEstimate:
        """What the best possible predictions would score, by simulated truths, levelled to now.

        The way from the best learner to the true class probabilities in each simulated truth, on
        top of the present score of the best learner.
        """
        start, best = self.simulated.sizes.index(self.simulated.start), self.best_now
        missing = self.truth[:, -1] - self.simulated.scores[:, start, best]
        level = _estimate(self.present.means[best] + missing)
        greatest = 1.0 if self.is_accuracy else np.inf
        return IntervalEstimate(*(min(end, greatest) for end in level))

    @property
    def ceiling_holds(self) -> bool:
        """Whether no learner is predicted to score above the ceiling."""
        return self.ceiling.value >= self.forecast.means[-1].max()

    @cached_property
    def crossings(self) -> list[Crossing]:
        """Who overtakes whom by the horizon, where scenarios support it."""
        crossings = []
        means = self.forecast.at(self.rows).mean(axis=0)
        for ahead, behind in itertools.permutations(range(len(self.learners)), 2):
            share = float(self.forecast.leads(ahead, behind)[-1])
            if means[ahead] < means[behind] and share >= SUPPORTED:
                places = crossing_rows(self.forecast, ahead, behind, self.rows)
                rows, low, high = np.quantile(places, [0.5, *TAILS], method="lower").tolist()
                names = self.learners[ahead], self.learners[behind]
                crossings.append(Crossing(*names, rows, low, high, share))
        return sorted(crossings, key=lambda crossing: crossing.rows)


def crossing_rows(forecast: Forecast, first: int, second: int, rows: int) -> FloatArray:
    """Return from where on one learner stays ahead of another, by scenario.

    Between two sizes differences are linear in log size. 0 if it is ahead from ``rows`` on,
    infinity if it is not ahead at the largest size.
    """
    sizes = [size for size in forecast.sizes if size >= rows]
    logs = np.log(sizes)
    lead = np.column_stack([at[:, first] - at[:, second] for at in map(forecast.at, sizes)])
    behind = lead <= 0
    last = len(sizes) - 1 - np.argmax(behind[:, ::-1], axis=1)  # the last size at which behind
    inner = behind.any(axis=1) & ~behind[:, -1]
    at = last[inner]
    before, after = lead[inner, at], lead[inner, at + 1]
    crossed = np.where(behind[:, -1], np.inf, 0.0)
    crossed[inner] = np.exp(logs[at] + before / (before - after) * (logs[at + 1] - logs[at]))
    return crossed


def _estimates(*ends: FloatArray) -> tuple[IntervalEstimate, ...]:
    """Values, lower and upper limits of all learners as estimates."""
    return tuple(IntervalEstimate(*row) for row in np.column_stack(ends).tolist())


def _estimate(values: FloatArray) -> IntervalEstimate:
    return IntervalEstimate(float(np.mean(values)), *np.quantile(values, TAILS).tolist())


class DescribedTable(NamedTuple):
    """The table that the advice is about, and what was made of it.

    Attributes
    ----------
    name, target : str
        Names of the table and of the column to predict.
    all_rows, rows : int
        The rows of the file with a target, and those that were used.
    attributes, classes : int
        How many there are, without columns that were left out.
    screening : Screening
        The columns that were left out.
    unsimulated : int
        Attributes that the simulated truths lack, as there are too many.
    notes : tuple of str
        Sentences on the table.
    discretize, missing : str
        How numbers and missing values are prepared; empty if there are none.
    fitter : str
        Where the structures of simulated truths come from.
    models, folds, repeats, seed : int
        The design of the two studies.
    """

    name: str
    target: str
    all_rows: int
    rows: int
    attributes: int
    classes: int
    screening: Screening
    unsimulated: int
    notes: tuple[str, ...]
    discretize: str
    missing: str
    fitter: str
    models: int
    folds: int
    repeats: int
    seed: int


@dataclass(frozen=True)
class Advice:
    """How learners do on a table now, and what more rows would bring.

    Attributes
    ----------
    about : DescribedTable
        The table and the design.
    outlooks : tuple of Outlook
        By measure, the primary one first.
    failed : tuple of str
        Learners that are left out because they failed.
    directory : Path
        Where the page and the two studies are.
    """

    about: DescribedTable
    outlooks: tuple[Outlook, ...]
    failed: tuple[str, ...]
    directory: Path

    @property
    def page(self) -> Path:
        """The page."""
        return self.directory / "advice.html"

    @property
    def learners(self) -> tuple[str, ...]:
        """The labels of the learners."""
        return self.outlooks[0].learners

    def __repr__(self) -> str:
        return f"Advice({self.about.name!r}: {self.about.rows:,} rows; {self.page})"

    @property
    def sentences(self) -> list[str]:
        """The advice in a few sentences."""
        from simstudy.advice.prose import summary

        return summary(self)

    def _repr_html_(self) -> str:
        """What a notebook shows: the sentences."""
        from simstudy.advice.page import notebook_advice

        return notebook_advice(self)

    def now(self) -> pd.DataFrame:
        """Cross-validated scores, with 95% intervals."""
        return self._table((outlook, {}, outlook.now) for outlook in self.outlooks)

    def forecast(self) -> pd.DataFrame:
        """Predicted scores by number of rows, with 95% intervals."""
        return self._table(
            (outlook, {"rows": size}, outlook.predicted(size))
            for outlook in self.outlooks
            for size in outlook.sizes
        )

    def gains(self) -> pd.DataFrame:
        """What more rows bring, with 95% intervals."""
        return self._table(
            (outlook, {"more_rows": size - outlook.rows}, outlook.gains(size))
            for outlook in self.outlooks
            for size in outlook.sizes[1:]
        )

    def crossings(self) -> pd.DataFrame:
        """Who overtakes whom, and where."""
        rows = [(at.measure, *crossing) for at in self.outlooks for crossing in at.crossings]
        return pd.DataFrame(rows, columns=["measure", *Crossing._fields])

    def _table(
        self, parts: Iterable[tuple[Outlook, dict[str, int], Iterable[IntervalEstimate]]]
    ) -> pd.DataFrame:
        """A row for each learner in each part, with its estimate."""
        return pd.DataFrame(
            [
                {"measure": outlook.measure, **more, "learner": label, **estimate._asdict()}
                for outlook, more, estimates in parts
                for label, estimate in zip(self.learners, estimates, strict=True)
            ]
        )
