"""The analyses of comparisons of estimators."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from simstudy.errors import SimstudyError
from simstudy.results.data_analyses import DataAnalyses

if TYPE_CHECKING:
    import pandas as pd


class EstimatorAnalyses(DataAnalyses):
    """Analyses of estimates of performance; see `Results`."""

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """All estimates: one row per model, size, estimator, learner and measure.

        With the `exact` value of the classifier trained on these rows, the `mean` over training
        sets of this size, its standard error `mean_error`, and the bounds of every interval.
        """
        from simstudy.experiments.estimators.kept import COLUMNS

        if self.study.compare != "estimators":
            raise SimstudyError(
                f"{self.directory} compares {self.study.compare}, not estimators: it has no "
                "estimates"
            )
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
        from simstudy.analysis.estimates import quality

        return quality(self.estimates, target)

    def interval_quality(self, target: str = "exact") -> pd.DataFrame:
        """Coverage and width of every interval of every estimator.

        Parameters
        ----------
        target : {"exact", "mean"}
            As in `estimator_quality`. See `analysis.estimates.coverage`.
        """
        from simstudy.analysis.estimates import coverage

        return coverage(self.estimates, target, self.study.analysis.confidence)
