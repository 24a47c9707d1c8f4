"""The page of a comparison of measures."""

from __future__ import annotations

from simstudy.experiments.measures.results import MeasureResults
from simstudy.experiments.models_page import ModelsPage
from simstudy.experiments.page import Section
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.phrases import MAX_NAMED, listed
from simstudy.results.results import Results
from simstudy.study.study import Study
from simstudy.texts import counted


class MeasuresPage(ModelsPage):
    """Which measure finds the better of two learners, and from how many test rows."""

    def asks(self, study: Study, info: MeasureInfo) -> str:
        """Ask which measure finds the better learner."""
        labels, sizes = study.labels, study.doses
        which = listed(labels) if len(labels) <= MAX_NAMED + 1 else f"{len(labels)} measures"
        rows = f"{sizes[0]:,} to {sizes[-1]:,}" if len(sizes) > 1 else f"{sizes[0]:,}"
        return (
            f"which of {which} finds the better of two learners, judged by {info.label}, from "
            f"{rows} test rows?"
        )

    def aims(self, study: Study) -> str:
        """Return what is compared, and by what."""
        several = len(study.doses) > 1
        more = ", and to see how that changes with the number of test rows" * several
        return (
            f"To compare {counted(len(study.labels), 'measure')} by how often each prefers the "
            f"truly better of two learners fitted to the same rows{more}."
        )

    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return the shares of right choices and the losses."""
        unit = f" ({info.unit})" if info.unit else ""
        return (
            f"For every measure and test size: the mean, over the models of the family, of its "
            f"{info.label}{unit}: over all pairs of learners and {study.data.repeats} test sets, "
            "the share in which it prefers the learner that is better by the target, where a tie "
            "of the measure counts half and pairs that the target ties are left out. The loss is "
            "the mean of what the learner that it prefers lacks in the target. For every two "
            "measures and test size: the mean paired difference of the two."
        )

    def evaluated(self, study: Study) -> str:
        """Return the test sets."""
        doses = ", ".join(f"{size:,}" for size in study.doses)
        return f"{study.data.repeats} test sets of {doses} rows each; targets exact"

    def test_data(self, study: Study) -> str:
        """Return how test sets are drawn."""
        sizes = ", ".join(f"{size:,}" for size in study.doses)
        return (
            f"From every model {study.data.repeats} sets of each size ({sizes} rows), the same for "
            "all measures; each is the first rows of the next larger one. Targets are exact: "
            "expectations over all configurations of the variables."
        )

    def own_sections(self, results: Results) -> list[Section]:
        """Return how many rows measures need, and what they contradict."""
        from simstudy.experiments.measures.tables import choice_tables

        assert isinstance(results, MeasureResults)
        return [Section("choices", "Choices between learners", choice_tables(results), "tables")]
