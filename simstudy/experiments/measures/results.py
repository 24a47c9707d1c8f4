"""What a comparison of measures found."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd

from simstudy.analysis.models.choices import against_truth, contradictions, rows_needed
from simstudy.analysis.tests.adjustment import family_sizes
from simstudy.components.registry import MEASURES, Spec
from simstudy.measures.theory.two_level import level_names
from simstudy.results.read.model_analyses import ModelResults

REFERENCE = 100  # test rows, if the study has this size


class MeasureResults(ModelResults):
    """How measures choose between learners; see `ModelResults`.

    The columns of the scores, such as ``right_accuracy``, are its `measures`; what is compared are
    its `treatments`.
    """

    @cached_property
    def picks(self) -> pd.DataFrame:
        """The choices of all measures: one row per model, size, pair of learners and test set.

        A measure has 1 where it prefers the first learner of the pair (`learner_pairs`), −1 the
        second, 0 neither, and 2 if its cell failed; ``truth_<target>`` has which is truly better.
        """
        name = self.study.experiment.keeps
        table = self._as_written(name)
        truths = [f"truth_{target}" for target in self._targets]
        if [*table] != ["model", "size", "pair", "repeat", *truths, *self.treatments]:
            raise self._damaged(name)
        return table

    @property
    def _targets(self) -> list[str]:
        return [target.label for target in self.study.targets]

    @property
    def learner_pairs(self) -> list[tuple[str, str]]:
        """The pairs of learners between which measures choose, by number."""
        return [*itertools.combinations(self.learners, 2)]

    @cached_property
    def treatments(self) -> list[str]:
        """The labels of the measures, which are compared; if `shown`, their names."""
        return self.study.labels

    @cached_property
    def shown(self) -> MeasureResults:
        """The same results, with the names of measures on pages in place of their labels."""
        names = dict(zip(self.study.labels, written_names(self.study.measured), strict=True))
        shown, picks = replace(self), self.picks.rename(columns=names)
        for key, table in (("scores", self.scores), ("refined", self.refined)):
            vars(shown)[key] = table.assign(learner=table["learner"].map(names))
        vars(shown).update(shown=shown, treatments=[*names.values()], picks=picks)
        return shown

    @property
    def reference(self) -> int:
        """The test size to which others are compared: 100 rows, or the one in the middle."""
        sizes = self.doses
        return REFERENCE if REFERENCE in sizes else sizes[(len(sizes) - 1) // 2]

    def contradictions(self) -> pd.DataFrame:
        """How often two measures prefer different learners; see `analysis.choices`."""
        confidence = self.study.analysis.confidence
        return contradictions(self.picks, self.treatments, self.doses, confidence)

    def against_truth(self) -> pd.DataFrame:
        """How often each measure contradicts the truth by each target; see `analysis.choices`."""
        confidence = self.study.analysis.confidence
        return against_truth(self.picks, self.treatments, self._targets, self.doses, confidence)

    def rows_needed(self, measure: str | None = None, at: int | None = None) -> pd.DataFrame:
        """How many test rows each measure needs to be as good as the best one at ``at`` rows.

        Its tests are one family with those between measures, see `analysis.choices.rows_needed`.

        Parameters
        ----------
        measure : str, optional
            The column of the scores, such as ``right_accuracy``; the primary one if left out.
        at : int, optional
            A test size of the study; 100 if it has that.
        """
        at = self.reference if at is None else at
        self._check_dose(at)
        name = self._measure(measure)
        if (name, at) in self._rows_needed:
            return self._rows_needed[name, at].copy()
        better, options = self.info(name).greater_is_better, self.study.analysis
        pairs = np.full(len(self.doses), math.comb(len(self.treatments), 2))
        among = family_sizes(options.adjustment, pairs)[0]
        further = 0 if options.adjustment == "none" else int(among)
        made = rows_needed(self.scores, name, at, better, options.confidence, further)
        self._rows_needed[name, at] = made
        return made.copy()

    @cached_property
    def _rows_needed(self) -> dict[tuple[str, int], pd.DataFrame]:
        return {}


def written_names(measures: Sequence[Spec]) -> list[str]:
    """Return what measures are called on pages: labels that are none are written out."""
    written = [":".join(map(written_name, level_names(spec.name))) for spec in measures]
    each = zip(written, measures, strict=True)
    names = [name if spec.label == spec.name else spec.label for name, spec in each]
    return names if len({*names}) == len(names) else [spec.label for spec in measures]


def written_name(name: str) -> str:
    """The label of a measure; one that is not built in is not looked up."""
    return MEASURES.get(name).info.label if MEASURES.is_own(name) else name.replace("_", " ")
