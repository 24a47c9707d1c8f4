"""The page of a comparison of tests."""

from __future__ import annotations

from simstudy.experiments.models_page import ModelsPage
from simstudy.experiments.tests.results import TestResults
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.phrases import all_sizes
from simstudy.study.study import Study
from simstudy.texts import counted


class TestsPage(ModelsPage[TestResults]):
    """How often tests reject, with and without a difference."""

    def asks(self, study: Study, info: MeasureInfo) -> str:
        """Ask how often tests reject."""
        return (
            f"how often does each of {len(study.labels)} tests reject with "
            f"{all_sizes(study.doses)} rows available, by {info.label}?"
        )

    def aims(self, study: Study) -> str:
        """Return what is compared, and by what."""
        return (
            f"To compare {counted(len(study.labels), 'test')} of two learners by how often each "
            "rejects: without a difference (type I error), and with a known one (power)."
        )

    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return the rates of rejection."""
        return (
            "For each test and number of rows available: the share of data sets, of "
            f"{study.data.repeats} drawn from each model, on which it rejects at the 5% level. "
            "Type I error: two copies of a learner, each fitted to a random 80% of the training "
            "rows; or one classifier evaluated on the rows and on others drawn from the same "
            "classes (mirrored), so that both have the same exact performance. In neither null "
            "does a training set favour one of two learners in all splits at once, so these shares "
            "do not show that a test keeps its level between different learners. Power: two "
            "learners, where the test favours the one with the better exact value."
        )

    def evaluated(self, study: Study) -> str:
        """Return the data sets."""
        return f"{study.data.repeats} data sets of each size; differences exact"
