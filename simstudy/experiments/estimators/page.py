"""The page of a comparison of estimators."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from simstudy.experiments.estimators.results import EstimatorResults
from simstudy.experiments.models_page import ModelsPage
from simstudy.experiments.page import Section
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.phrases import all_sizes
from simstudy.results.results import Results
from simstudy.study.study import Study
from simstudy.texts import counted


class EstimatorsPage(ModelsPage):
    """Which estimator comes nearest to the exact value, and which intervals contain it."""

    def asks(self, study: Study, info: MeasureInfo) -> str:
        """Ask which estimator comes nearest."""
        return (
            f"which of {len(study.labels)} estimators comes nearest to the exact value with "
            f"{all_sizes(study.doses)} rows available, by {info.label}?"
        )

    def aims(self, study: Study) -> str:
        """Return what is compared, and by what."""
        return (
            f"To compare {counted(len(study.labels), 'estimator')} of a learner's performance by "
            "how near they come to its exact value, and how often their intervals contain it."
        )

    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return the errors."""
        return (
            "For every estimator and number of rows available: the mean, over the models of the "
            f"family, of the {info.label}. The exact value is that of the classifier trained on "
            "the rows available or, as the second target, the mean over "
            f"{study.data.training_sets} training sets of as many rows. For every two estimators: "
            "the mean paired difference of the two."
        )

    def shown(self, scores: Sequence[str]) -> list[int]:
        """Return the squared errors: of the others there are tables."""
        return [place for place, score in enumerate(scores) if score.startswith("squared_error")]

    def own_sections(self, results: Results) -> list[Section]:
        """Return bias, spread and coverage."""
        from simstudy.experiments.estimators.tables import estimate_tables

        assert isinstance(results, EstimatorResults)
        return [Section("choices", "Errors and coverage", estimate_tables(results), "tables")]

    def files(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return the same for files, after those of all experiments."""
        from simstudy.experiments.estimators.tables import estimate_files

        assert isinstance(results, EstimatorResults)
        return super().files(results) | estimate_files(results)
