"""The analyses of studies of data sets."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from simstudy.errors import SimstudyError
from simstudy.results.reading import Recorded

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.analysis.correlations import Correlations
    from simstudy.analysis.data_findings import DataFindings
    from simstudy.analysis.reversals import Reversals
    from simstudy.analysis.winners import Winners
    from simstudy.study.study import Study


class DataAnalyses(Recorded):
    """Analyses of the scores of splits of data sets; see `Results`."""

    @cached_property
    def _data_findings(self) -> dict[tuple[str, int, float], DataFindings]:
        return {}

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
        from simstudy.study.sizes import Size

        name, at = self._measure(measure), self.sizes[-1] if size is None else Size(size).number
        scores, info = self._of_datasets(size), self.info(name)
        width = rope_of(info) if rope is None else rope
        key = (name, at, width)
        if key not in self._data_findings:
            sets = tuple(map(str, dict.fromkeys(scores["dataset"])))
            self._data_findings[key] = DataFindings(
                name, info, tuple(self.learners), sets, scores, self._adjustment, self._level, width
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
        from simstudy.study.sizes import size_text

        if not self.study.datasets:
            raise SimstudyError(f"{self.directory} is a study of models; see results.intervals()")
        sizes = [size_text(size) for size in self.sizes]
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

        from simstudy.study.sizes import Size, size_text

        if not self.study.datasets:
            raise SimstudyError(f"{self.directory} is a study of models; see results.pairwise()")
        sizes, scores = list(self.sizes), self.scores
        chosen = sizes[-1] if size is None else Size(size).number
        if chosen not in sizes:
            known = ", ".join(map(size_text, sizes))
            raise SimstudyError(f"no training size {size_text(chosen)} here; there are {known}")
        test = np.array([part["test"] for part in self.manifest["parts"]])
        learners = len(self.learners)
        places = np.arange(len(scores)) // learners % len(sizes)
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

        The columns are those of `analysis.properties.Properties`. The manifest has them; for
        results of earlier versions the data files are read again, and must be as they were when
        the study was run.
        """
        import pandas as pd

        from simstudy.analysis.properties import properties

        if not self.study.datasets:
            raise SimstudyError(f"{self.directory} is a study of models, which has no data sets")
        recorded = self.manifest["tables"]
        facts = recorded or {table.name: table.facts for table in self._tables().tables}
        parts = self.manifest["parts"]
        sizes = {
            name: [(part["train"], part["test"]) for part in parts if part["dataset"] == name]
            for name in facts
        }
        return pd.DataFrame([properties(name, sizes[name], **own) for name, own in facts.items()])

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
        from simstudy.study.sizes import Size

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

        return with_examples(self, found, self.sizes[-1] if size is None else Size(size).number)

    def _tables(self) -> Study:
        """The study with its data sets read again; refused if they have changed."""
        from simstudy.study.datasets import with_tables

        if not self.study.datasets:
            raise SimstudyError(f"{self.directory} is a study of models, which has no data sets")
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
