"""What a comparison of estimators found."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import NamedTuple

import pandas as pd

from simstudy.analysis.models.estimates import coverage, quality
from simstudy.analysis.models.findings import Mean
from simstudy.analysis.tests.intervals import clopper_pearson
from simstudy.experiments.estimators import SQUARED
from simstudy.results.read.model_analyses import ModelResults


class Errors(NamedTuple):
    """Bias, RMSE and coverage of estimators of one value, by estimator, the least RMSE first.

    The intervals are those of the mean error and, after its root, of the mean squared error;
    those of the coverages are adjusted for their number at all sizes, `m`, and those that lie below
    the confidence are `short`.
    """

    size: int
    measure: str
    learner: str
    bias: dict[str, Mean]
    rmse: dict[str, Mean]
    coverage: pd.DataFrame

    @property
    def biased(self) -> list[Mean]:
        """The biases whose intervals exclude 0."""
        return [mean for mean in self.bias.values() if mean.lower > 0 or mean.upper < 0]


class EstimatorResults(ModelResults):
    """How near estimates of performance come to the truth; see `ModelResults`."""

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """All estimates: one row per model, size, estimator, learner and measure.

        With the `exact` value of the classifier trained on these rows, the `mean` over training
        sets of this size, its standard error `mean_error`, and the bounds of every interval.
        """
        from simstudy.experiments.estimators.scoring import COLUMNS

        name = self.study.experiment.keeps
        table = self._as_written(name)
        if [*table] != [*COLUMNS]:
            raise self._damaged(name)
        return table

    def estimator_quality(self, target: str = "exact") -> pd.DataFrame:
        """Bias, standard deviation, RMSE and correlation with the truth of every estimator.

        Parameters
        ----------
        target : {"exact", "mean"}
            The truth: of the classifier trained on the rows available, or the mean over training
            sets of as many rows. See `analysis.estimates.quality`.
        """
        return quality(self.estimates, target)

    def interval_quality(self, target: str = "exact") -> pd.DataFrame:
        """Coverage and width of every interval of every estimator.

        Parameters
        ----------
        target : {"exact", "mean"}
            As in `estimator_quality`. See `analysis.estimates.coverage`.
        """
        return coverage(self.estimates, target, self.study.analysis.confidence)

    @cached_property
    def _coverages(self) -> dict[str, pd.DataFrame]:
        return {target: self.interval_quality(target) for _, target in SQUARED.values()}

    @cached_property
    def _errors(self) -> dict[str, Errors]:
        return {}

    def errors(self, name: str) -> Errors:
        """What estimators are worth with the fewest rows, by a column of squared errors."""
        if name not in self._errors:
            self._errors[name] = self._errors_of(name)
        return self._errors[name]

    def _errors_of(self, name: str) -> Errors:
        columns = [self.column(each) for each in self.measures]
        kind, size = self.column(name).test, self.doses[0]
        place = [each.name for each in columns if each.test == kind].index(name)
        error, target = SQUARED[kind]
        bias = [each.name for each in columns if each.test == error][place]
        means = [
            {mean.learner: mean for mean in self.findings(column).means if mean.size == size}
            for column in (bias, name)
        ]
        scored = [mean for mean in means[1].values() if mean.has_interval]
        roots = {
            mean.learner: replace(
                mean, mean=root(mean.mean), lower=root(mean.lower), upper=root(mean.upper)
            )
            for mean in sorted(scored, key=attrgetter("mean"))
        }
        every = self._coverages[target]
        measure, learner = divmod(place, len(self.learners))
        labels = self.study.measured[measure].label, self.learners[learner]
        own = every[(every["measure"] == labels[0]) & (every["learner"] == labels[1])]
        confidence, adjustment = self.study.analysis.confidence, self.study.analysis.adjustment
        m = 1 if adjustment == "none" else max(len(own), 1)
        counts = (own["coverage"] * own["n"]).round()
        low, high = clopper_pearson(counts, own["n"], confidence, m)
        own = own.assign(coverage_lower=low, coverage_upper=high, m=m, short=high < confidence)
        own = own[(own["size"] == size) & own["estimator"].isin([*roots])]
        return Errors(int(size), *labels, {key: means[0][key] for key in roots}, roots, own)


def root(squared: float) -> float:
    """The root of a mean squared error; a limit below 0 is that of 0."""
    return math.sqrt(max(squared, 0.0))
