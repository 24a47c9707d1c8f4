"""What a comparison of learners on data sets found."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from simstudy.errors import SimstudyError
from simstudy.results.answers import AnswerResults
from simstudy.study.sizes import Size, size_text

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.analysis.correlations import Correlations
    from simstudy.analysis.data_findings import DataFindings
    from simstudy.analysis.reversals import Reversals
    from simstudy.analysis.winners import Winners
    from simstudy.engine.refit import Refit
    from simstudy.results.curves import Curves
    from simstudy.results.ranked_answers import DataAnswers
    from simstudy.study.study import Study


class DataResults(AnswerResults):
    """What learners predict of data sets, after training on parts of their rows; see `Results`.

    The splits of a data set share rows, so that the analyses of models do not apply.
    """

    _keys = ("dataset", "model", "repeat", "fold", "size", "learner")
    _score_keys = _keys
    _answer_keys = ("dataset", "repeat", "fold", "size", "learner")

    @property
    def datasets(self) -> list[str]:
        """The names of the data sets."""
        return [*dict.fromkeys(part["dataset"] for part in self.manifest["parts"])]

    @property
    def sizes(self) -> list[float]:
        """The training sizes: rows, or shares of the training part, 1.0 for all of it."""
        return [Size.stored(size).value for size in self.study.doses]

    @property
    def doses(self) -> list[float]:
        """The training sizes."""
        return self.sizes

    def _has_sizes(self, column: pd.Series[int]) -> bool:
        return True  # a share is of the training part of each split

    def _dose(self, size: float | None) -> int:
        """The whole number by which a training size is kept; of the last one if left out."""
        return self.study.doses[-1] if size is None else Size.of(size).number

    @cached_property
    def _data_findings(self) -> dict[tuple[str, int, float], DataFindings]:
        return {}

    def findings(self, measure: str | None = None) -> DataFindings:
        """What the analysis says about a measure at the last training size."""
        return self.data_findings(measure)

    def data_findings(
        self,
        measure: str | None = None,
        *,
        size: float | None = None,
        rope: float | None = None,
    ) -> DataFindings:
        """What the analysis says about a measure of a study of data sets; the primary by default.

        Means, winners and comparisons over data sets, as the page shows them: at one training
        size, the last one if left out, at 1 minus the study's confidence. Differences within
        ``rope``, in the unit of the measure, count as equivalent: if left out, one hundredth of a
        bit, or .01, or 1 for percentages, unless the measure says otherwise. See
        `analysis.data_findings`.
        """
        from simstudy.analysis.data_findings import DataFindings, rope_of

        name, at = self._measure(measure), self._dose(size)
        scores, info = self._of_datasets(size), self.info(name)
        width = rope_of(info) if rope is None else rope
        key = (name, at, width)
        if key not in self._data_findings:
            sets = tuple(map(str, dict.fromkeys(scores["dataset"])))
            self._data_findings[key] = DataFindings(
                name,
                info,
                tuple(self.treatments),
                sets,
                scores,
                self._adjustment,
                self._level,
                width,
            )
        return self._data_findings[key]

    @property
    def _adjustment(self) -> str:
        """How tests of pairs are adjusted, those on all data sets together."""
        stated = self.study.analysis.adjustment
        return "bonferroni" if stated == "bonferroni_all" else stated

    @property
    def _level(self) -> float:
        from simstudy.analysis.adjustment import alpha_of

        return alpha_of(self.study.analysis.confidence)

    def dataset_means(self, measure: str | None = None) -> pd.DataFrame:
        """The mean over splits by data set, training size and learner, of a study of data sets."""
        from simstudy.analysis.datasets import dataset_means

        sizes = [size_text(size) for size in self.study.doses]
        return dataset_means(self.scores, self._measure(measure), sizes)

    def pairwise_datasets(
        self,
        measure: str | None = None,
        test: str = "corrected_t",
        *,
        size: float | None = None,
        adjustment: str | None = None,
    ) -> pd.DataFrame:
        """Tests of every two learners on every data set; see `analysis.within`.

        At one training size, in rows or as a share; the last one if left out. All tests are one
        family, adjusted as the study says: by Holm's method, unless it names another.
        """
        from simstudy.analysis.within import pairwise_datasets

        name = self._measure(measure)
        scores, better = self._of_datasets(size), self.info(name).greater_is_better
        try:
            return pairwise_datasets(scores, name, test, adjustment or self._adjustment, better)
        except ValueError as error:
            raise SimstudyError(str(error)) from error

    def dataset_table(
        self, measure: str | None = None, *, size: float | None = None
    ) -> pd.DataFrame:
        """Mean scores, data sets × learners, greater is better: for `simstudy.analysis.across`.

        Means of losses have the opposite sign. At one training size, in rows or as a share; the
        last one if left out.
        """
        from simstudy.analysis.within import means_table

        name = self._measure(measure)
        return means_table(self._of_datasets(size), name, self.info(name).greater_is_better)

    def _of_datasets(self, size: float | None) -> pd.DataFrame:
        """The scores of a study of data sets at one training size, with the number of test rows."""
        import numpy as np

        sizes, scores, chosen = self.study.doses, self.scores, self._dose(size)
        self._check_dose(chosen)
        test = np.array([part["test"] for part in self.manifest["parts"]])
        places = np.arange(len(scores)) // len(self.treatments) % len(sizes)
        scores = scores.assign(test_rows=test[scores["model"].to_numpy()])
        return scores[places == sizes.index(chosen)]

    def winners(
        self,
        measure: str | None = None,
        test: str | None = None,
        *,
        size: float | None = None,
        adjustment: str | None = None,
        alpha: float | None = None,
    ) -> Winners:
        """Who is significantly better than whom on every data set; see `analysis.winners`.

        By the 5×2cv t test for 5 repeats of 2 folds, else by the corrected resampled t test. The
        level is 1 minus the study's confidence if left out, and p is adjusted for all pairs on all
        data sets, by Holm's method unless the study names another. `winners(…).table` has a column
        for each winner, whose cells name the losers.
        """
        from simstudy.analysis.winners import winners

        name = self._measure(measure)
        scores, better = self._of_datasets(size), self.info(name).greater_is_better
        level = self._level if alpha is None else alpha
        try:
            return winners(scores, name, test, adjustment or self._adjustment, level, better)
        except ValueError as error:
            raise SimstudyError(str(error)) from error

    def correlations(self, first: str, second: str, *, size: float | None = None) -> Correlations:
        """Correlation of two measures over splits, by data set and learner.

        Losses keep their sign. See `analysis.correlations`.
        """
        from simstudy.analysis.correlations import correlations

        names = self._measure(first), self._measure(second)
        return correlations(self._of_datasets(size), *names)

    def properties(self) -> pd.DataFrame:
        """Rows, attributes, classes and missing values of every data set.

        The columns are those of `analysis.properties`. The manifest has them; for
        results of earlier versions the data files are read again, and must be as they were when
        the study was run.
        """
        import pandas as pd

        from simstudy.analysis.properties import properties

        recorded = self.manifest["tables"]
        facts = recorded or {table.name: table.facts for table in self._tables().tables}
        parts = self.manifest["parts"]
        sizes = {
            name: [(part["train"], part["test"]) for part in parts if part["dataset"] == name]
            for name in facts
        }
        return pd.DataFrame([properties(name, sizes[name], own) for name, own in facts.items()])

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
        from simstudy.analysis.reversals import reversals

        names = self._measure(first), self._measure(second)
        known = [self.data_findings(name, size=size) for name in names]
        if test or adjustment or alpha is not None:
            one, other = (
                self.winners(name, test, size=size, adjustment=adjustment, alpha=alpha)
                for name in names
            )
        else:
            one, other = (each.winners for each in known)
        found = reversals((known[0].table, known[1].table), (one, other))
        if not (examples and found.found):
            return found
        from simstudy.results.examples import with_examples

        return with_examples(self, found, self._dose(size))

    def _tables(self) -> Study:
        """The study with its data sets read again; refused if they have changed."""
        from simstudy.study.datasets import with_tables

        if self.study.tables:  # as they were when the study was run in this session
            return self.study
        for section in self.study.datasets:
            if not (self.directory / section.path).is_file():  # a pipe would wait for ever
                raise SimstudyError(f"the data sets cannot be read again: no file {section.path}")
        try:
            study = with_tables(self.study, self.directory)
        except ValueError as error:
            raise SimstudyError(f"the data sets cannot be read again: {error}") from error
        recorded = dict(self.manifest["conditions"]["datasets"])
        for table in study.tables:
            if recorded.get(table.name) != table.digest:
                raise SimstudyError(
                    f"{table.path} has changed since the study was run; run it again"
                )
        return study

    def curves(
        self,
        kind: str = "roc",
        learners: Sequence[str] | None = None,
        size: float | None = None,
        positive: str | int | None = None,
        dataset: str | None = None,
        over: str | None = None,
        *,
        benefit: float | None = None,
        cost: float | None = None,
        fixed: float | None = None,
    ) -> Curves:
        """Curves of the learners, from the answers that a study with ``keep_answers`` has.

        One curve for each repeat, of the answers of all its folds, averaged vertically, and the
        pooled one of all repeats.

        Parameters
        ----------
        kind : str
            ``"roc"``, ``"precision_recall"``, ``"lift"``, ``"cost"`` (the lower envelope),
            ``"profit"`` or ``"reliability"``.
        learners : sequence of str, optional
            Their labels; all if left out.
        size : int or float, optional
            The training size, in rows or as a share of the training part; the largest if left out.
        positive : str or int, optional
            The positive class, against the rest. If left out, the one that the study names, else
            the rarest of the data set.
        dataset : str, optional
            The data set; the first if left out.
        over : str, optional
            ``"repeats"``, or ``"folds"`` for one curve of each fold; ``each`` of what is returned
            has these.
        benefit, cost, fixed : float, optional
            Of ``"profit"``: the benefit of each positive row, the cost of each row acted on and, if
            any, the cost of acting at all, all for each row of the sample.
        """
        from simstudy.results.curves import make_curves

        return make_curves(
            self,
            self._ranked(dataset, over),
            kind,
            learners,
            size,
            positive,
            benefit=benefit,
            cost=cost,
            fixed=fixed,
        )

    def _ranked(self, dataset: str | None = None, over: str | None = None) -> DataAnswers:
        from simstudy.results.ranked_answers import DataAnswers

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
        from simstudy.results.refitting import refitted

        return refitted(self, learner, dataset)
