"""What a comparison of estimators found."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from simstudy.analysis.models.estimates import coverage, quality
from simstudy.results.read.model_analyses import ModelResults


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
