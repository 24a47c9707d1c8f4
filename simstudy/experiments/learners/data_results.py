"""What a comparison of learners on data sets found."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NoReturn

import numpy as np
import pandas as pd

from simstudy.analysis.datasets import per_dataset
from simstudy.analysis.datasets.findings import DataFindings, rope_of
from simstudy.analysis.datasets.two_measures import Correlations, Reversals, correlations, reversals
from simstudy.analysis.models.computing_time import total_seconds
from simstudy.analysis.tests.adjustment import alpha_of
from simstudy.data.files.named import is_named, within
from simstudy.data.sizes import size_text
from simstudy.errors import SimstudyError
from simstudy.results.read.base import AnswerResults
from simstudy.results.read.examples import with_examples
from simstudy.results.read.model_analyses import ModelResults
from simstudy.results.read.ranked_answers import DataAnswers
from simstudy.results.read.refit import Refit, refitted
from simstudy.results.read.tables import TableResults
from simstudy.study.datasets import with_tables
from simstudy.study.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DataResults(TableResults, AnswerResults):
    """What learners predict of data sets, after training on parts of their rows; see `Results`.

    The splits of a data set share rows, so that the analyses of models do not apply.
    """

    _answer_keys = ("dataset", "repeat", "fold", "size", "learner")

    @cached_property
    def _data_findings(self) -> dict[tuple[str, int, float], DataFindings]:
        return {}

    def findings(self, measure: str | None = None) -> DataFindings:
        """What the analysis says about a measure at the last training size."""
        return self.data_findings(measure)

    def data_findings(
        self, measure: str | None = None, *, size: float | None = None, rope: float | None = None
    ) -> DataFindings:
        """What the analysis says about a measure of a study of data sets; the primary by default.

        Means, winners and comparisons over data sets, as the page shows them: at one training
        size, the last one if left out, at 1 minus the study's confidence. Differences within
        ``rope``, in the unit of the measure, count as equivalent: if left out, one hundredth of a
        bit, or .01, or 1 for percentages, unless the measure says otherwise. See
        `analysis.data_findings`.
        """
        name, at = self._measure(measure), self._dose(size)
        scores, info, stated = self._of_datasets(at), self.info(name), self.study.analysis
        width = rope_of(info) if rope is None else rope
        key = (name, at, width)
        if key not in self._data_findings:
            # one family has the tests on all data sets
            adjustment = stated.adjustment.removesuffix("_all")
            learners, alpha = tuple(self.treatments), alpha_of(stated.confidence)
            sets = tuple(map(str, dict.fromkeys(scores["dataset"])))
            self._data_findings[key] = DataFindings(
                name, info, learners, sets, scores, adjustment, alpha, width, self.study.names
            )
        return self._data_findings[key]

    def dataset_means(self, measure: str | None = None) -> pd.DataFrame:
        """The mean over splits by data set, training size and learner, of a study of data sets."""
        sizes = [size_text(size) for size in self.study.doses]
        return per_dataset.dataset_means(self.scores, self._measure(measure), sizes)

    def pairwise_datasets(
        self,
        measure: str | None = None,
        test: str = "corrected_t",
        *,
        size: float | None = None,
        adjustment: str | None = None,
    ) -> pd.DataFrame:
        """Tests of each pair of learners on each data set; see `analysis.within`.

        At one training size, in rows or as a share; the last one if left out. All tests are one
        family, adjusted as the study says: by Holm's method, unless it names another.
        """
        at = self.data_findings(measure, size=size)
        better, adjustment = at.info.greater_is_better, adjustment or at.adjustment
        return per_dataset.pairwise_datasets(at.scores, at.measure, test, adjustment, better)

    pairwise = pairwise_datasets

    def __getattr__(self, name: str) -> NoReturn:
        """Point from analyses of models to those of data sets."""
        if not name.startswith("_") and hasattr(ModelResults, name):
            hint = "on data sets there are dataset_means, pairwise, winners and data_findings"
            raise AttributeError(f"{name} is an analysis of studies of models; {hint}")
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def dataset_table(
        self, measure: str | None = None, *, size: float | None = None
    ) -> pd.DataFrame:
        """Mean scores, data sets × learners, greater is better: for tests over data sets.

        Means of losses have the opposite sign. At one training size, in rows or as a share; the
        last one if left out.
        """
        return self.data_findings(measure, size=size).table.copy()

    def _of_datasets(self, dose: int) -> pd.DataFrame:
        """The scores at one training size, with the number of test rows."""
        self._check_dose(dose)
        test = np.array([part["test"] for part in self.manifest["parts"]])
        scores = self.scores.assign(test_rows=test[self.scores["model"].to_numpy()])
        return self._at(scores, dose)

    def _at(self, table: pd.DataFrame, dose: int) -> pd.DataFrame:
        """The rows of a table with a row for each cell that are of one training size."""
        places = np.arange(len(table)) // len(self.treatments) % len(self.study.doses)
        return table[places == self.study.doses.index(dose)]

    def seconds(self, *, size: float | None = None) -> dict[str, float]:
        """Seconds of each learner to fit and predict one split of every data set, medians summed.

        At one training size, the last one if left out. They differ from run to run.
        """
        return total_seconds(self._at(self.timings, self._dose(size)))

    def plot_means(self, measure: str | None = None, ax: Axes | None = None) -> Axes:
        """Draw the means of every data set, or the splits of the only one with their means."""
        from simstudy.report.charts import data, mpl
        from simstudy.results.read.model_analyses import new_axes

        findings, several = self.data_findings(measure), len(self.datasets) > 1
        chart = data.by_dataset(findings) if several else data.splits(findings, self.datasets[0])
        return mpl.draw(chart, ax or new_axes())

    def winners(
        self,
        measure: str | None = None,
        test: str | None = None,
        *,
        size: float | None = None,
        adjustment: str | None = None,
        alpha: float | None = None,
    ) -> per_dataset.Winners:
        """Who is significantly better than whom on every data set; see `analysis.winners`.

        By the 5×2cv t test for 5 repeats of 2 folds, else by the corrected resampled t test. The
        level is 1 minus the study's confidence if left out, and p is adjusted for all pairs on all
        data sets, by Holm's method unless the study names another. `winners(…).table` has a column
        for each winner, whose cells name the losers.
        """
        at = self.data_findings(measure, size=size)
        better, adjustment = at.info.greater_is_better, adjustment or at.adjustment
        level = at.alpha if alpha is None else alpha
        return per_dataset.winners(at.scores, at.measure, test, adjustment, level, better)

    def correlations(self, first: str, second: str, *, size: float | None = None) -> Correlations:
        """Correlation of two measures over splits, by data set and learner.

        Losses keep their sign. See `analysis.correlations`.
        """
        names = self._measure(first), self._measure(second)
        return correlations(self._of_datasets(self._dose(size)), *names)

    def reversals(
        self,
        first: str,
        second: str,
        test: str | None = None,
        *,
        size: float | None = None,
        adjustment: str | None = None,
        alpha: float | None = None,
        examples: bool = True,
    ) -> Reversals:
        """Data sets on which two measures name different winners; see `analysis.reversals`.

        Options as for `winners`. Where the study has kept answers, a test row shows why, unless
        ``examples`` is false. Studies with plugins have none: nothing of theirs is executed.
        """
        findings = [self.data_findings(name, size=size) for name in (first, second)]
        winners = [each.winners for each in findings]
        if test or adjustment or alpha is not None:
            winners = [
                self.winners(name, test, size=size, adjustment=adjustment, alpha=alpha)
                for name in (first, second)
            ]
        tables = findings[0].table, findings[1].table
        reversed_sets = reversals(tables, (winners[0], winners[1]))
        if not (examples and reversed_sets.cases):
            return reversed_sets
        return with_examples(self, reversed_sets, self._dose(size))

    def _tables(self) -> Study:
        """The study with its data sets read again; refused if they have changed."""
        if self.study.tables:  # as they were when the study was run in this session
            return self.study
        for section in self.study.datasets:
            path = within(self.directory, section.path)
            if not (is_named(path) or path.is_file()):  # a pipe would wait for ever
                raise SimstudyError(f"the data sets cannot be read again: no file {section.path}")
        try:
            study = with_tables(self.study, self.directory)
        except ValueError as error:
            raise SimstudyError(f"the data sets cannot be read again: {error}") from error
        recorded = dict(self.manifest["conditions"]["datasets"])
        for table in study.tables:
            if recorded.get(table.name) != table.digest:
                changed = f"{table.path} has changed since the study was run"
                raise SimstudyError(f"{changed}; run it again")
        return study

    def _ranked(self, dataset: str | None = None, over: str | None = None) -> DataAnswers:
        if over not in (None, "repeats", "folds"):
            raise SimstudyError(
                f"curves of this study are averaged over repeats or folds, not '{over}'"
            )
        return DataAnswers(self, dataset, by_fold=over == "folds")

    def refit(self, learner: str, dataset: str | None = None) -> Refit:
        """Fit a learner to all rows of a data set, prepared as in the study.

        What the study measured is the estimate that belongs to it: the mean of the primary measure
        over the splits of the data set, with the standard deviation between splits, at the largest
        training size. Results opened from a directory read the data set again, which must be that
        of the run.

        This imports and runs what the results name as the learner: use it only on results that you
        trust.

        Parameters
        ----------
        learner : str
            Its label.
        dataset : str, optional
            Its name; not needed if the study has one data set.

        Returns
        -------
        Refit
            Has ``predict_proba(frame)``, ``predict(frame)``, ``classes`` and ``estimate``.
        """
        return refitted(self, learner, dataset)
