"""The page of a comparison of learners."""

from __future__ import annotations

from simstudy.experiments.models_page import ModelsPage
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.phrases import MAX_NAMED, all_sizes, listed
from simstudy.study.study import Study
from simstudy.texts import counted


class LearnersPage(ModelsPage):
    """Which learner comes nearest to the truth, and after how many rows."""

    shows_costs = True

    def asks(self, study: Study, info: MeasureInfo) -> str:
        """Ask which learner predicts best."""
        learners, sizes = study.labels, study.doses
        after = f"after {all_sizes(sizes)} rows"
        if len(sizes) > MAX_NAMED + 1:
            after = f"after {sizes[0]:,} to {sizes[-1]:,} rows ({len(sizes)} sizes)"
        if len(learners) == 1:
            return f"how well does {learners[0]} predict, by {info.label}, {after}?"
        which = listed(learners) if len(learners) <= MAX_NAMED + 1 else f"{len(learners)} learners"
        cross = ", and where do they overtake each other" if len(sizes) > 1 else ""
        return f"which of {which} predicts best, by {info.label}, {after}{cross}?"

    def aims(self, study: Study) -> str:
        """Return what is compared, and by what."""
        labels = study.labels
        learn = "they learn" if len(labels) > 1 else "it learns"
        several = len(study.doses) > 1
        more = ", and to see how that changes with the number of training rows" * several
        return (
            f"To compare {counted(len(labels), 'learner')} by how near the class probabilities "
            f"that {learn} come to the truth{more}."
        )

    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return the means, differences and thresholds."""
        unit = f" ({info.unit})" if info.unit else ""
        several = len(study.labels) > 1
        pairs = " For every two learners and training size: the mean paired difference of the two."
        change = (
            " For every two learners: the number of training rows at which that difference changes "
            "sign."
        )
        return (
            "For every learner and training size: the mean, over the models of the family, of its "
            f"{info.label}{unit} after training on a random set of that size."
            + pairs * several
            + change * (several and len(study.doses) > 1)
        )
