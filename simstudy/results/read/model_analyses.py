"""Analyses of studies of models, for all experiments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from simstudy.errors import SimstudyError, check_name
from simstudy.results.read.base import Results
from simstudy.study.constants import REFINED

if TYPE_CHECKING:  # pandas and scipy are slow to import; a run without a report needs neither
    import pandas as pd
    from matplotlib.axes import Axes

    from simstudy.analysis.models.average_ranks import Ranks
    from simstudy.analysis.models.findings import Absent, ModelFindings
    from simstudy.networks.model import Model
    from simstudy.sources.changes.world import World

Outcome = TypeVar("Outcome")


class ModelResults(Results):
    """Results of a study of models; see `Results`.

    Analyses use the confidence and the adjustment of the study unless others are specified. In all
    tables, the column ``learner`` holds the treatment and ``size`` the dose.
    """

    @property
    def doses(self) -> list[int]:
        """The doses, in rows: training sizes, test sizes or rows available."""
        return self.study.doses

    @property
    def sizes(self) -> list[int]:
        """The same as `doses`."""
        return self.doses

    @property
    def models(self) -> int:
        """The number of models."""
        return self.study.models

    @cached_property
    def refined(self) -> pd.DataFrame:
        """The cells of sizes added around crossings, which thresholds use."""
        if not self.manifest["refined"]:
            return self.scores.iloc[:0]
        table = self._read(REFINED, list(self.scores.columns))
        possible = table["learner"].isin(self.treatments) & (table["size"] > 0)
        if not (possible & table["model"].between(0, self.models - 1)).all():
            raise self._damaged(REFINED)
        return table

    # Analyses

    @cached_property
    def _findings(self) -> dict[str, ModelFindings]:
        return {}

    def findings(self, measure: str | None = None) -> ModelFindings:
        """The findings for a measure; the primary one by default."""
        from simstudy.analysis.models.findings import AnalysisDesign, ModelFindings

        name, study = self._measure(measure), self.study
        if name not in self._findings:
            levels = tuple(self.treatments), tuple(self.doses)
            tests = study.analysis.confidence, study.analysis.adjustment
            words = study.experiment, study.names
            design = AnalysisDesign(*levels, study.problems, *tests, *words)
            regret, estimation = (self._part(name, part) for part in ("regret", "estimation"))
            parts = self.scores, self.refined, regret, estimation
            self._findings[name] = ModelFindings(name, self.info(name), design, *parts)
        return self._findings[name]

    def _part(self, name: str, part: str) -> str:
        """The column of a part of regret that belongs to an information reward, if there is one."""
        column = self.column(name)
        parts = [each for each in self.measures if self.column(each)[1:3] == (part, column.test)]
        return parts[0] if parts and column.measure == "information_reward" else ""

    def anova(self, measure: str | None = None) -> pd.DataFrame:
        """Repeated-measures ANOVA, learner × size, models as subjects.

        A factor with a single level is left out; without any factor the table is empty.
        """
        findings = self.findings(measure)
        return _present(findings.anova).table.copy() if findings.factors else empty_table()

    def intervals(
        self,
        measure: str | None = None,
        *,
        confidence: float | None = None,
        adjustment: str | None = None,
        method: str | None = None,
        complete: bool | None = None,
    ) -> pd.DataFrame:
        """Means and confidence intervals of all cells; see `analysis.intervals`.

        Parameters
        ----------
        measure : str, optional
            The primary one by default.
        confidence : float, optional
            That of the study by default.
        adjustment : str, optional
            ``"bonferroni"``, ``"bonferroni_within"`` or ``"none"``. If left out, Bonferroni's over
            all cells, unless the study asks for none.
        method : str, optional
            ``"cell"``, the default, or ``"cousineau-morey"``.
        complete : bool, optional
            Whether means are over the models without a failed cell only. If left out, they are, so
            that treatments are compared on the same models, unless fewer than two are left.
        """
        from simstudy.analysis.tests.intervals import intervals

        findings, options = self._options(measure, confidence, adjustment)
        if all(option is None for option in (confidence, adjustment, method, complete)):
            return findings.intervals.copy()
        if adjustment is None and options["adjustment"] != "none":
            options["adjustment"] = "bonferroni"
        options["share"] &= method in (None, "cell")
        complete = findings.over_complete_models if complete is None else complete
        return intervals(self.scores, method=method or "cell", complete=complete, **options)

    def pairwise(
        self,
        measure: str | None = None,
        *,
        confidence: float | None = None,
        adjustment: str | None = None,
        factor: str = "learner",
        within: str | None = "size",
    ) -> pd.DataFrame:
        """Paired differences between treatments at each dose; see `analysis.pairwise`.

        With a single treatment the table is empty.

        Parameters
        ----------
        measure : str, optional
            The primary one by default.
        confidence : float, optional
            That of the study by default.
        adjustment : str, optional
            ``"bonferroni_all"``, ``"bonferroni"``, ``"holm"`` or ``"none"``; that of the study if
            left out.
        factor, within : str
            The column whose levels are compared, and the one at whose levels they are; None for
            ``within`` if the study has a single dose.
        """
        from simstudy.analysis.tests.pairwise import pairwise

        findings, options = self._options(measure, confidence, adjustment)
        default = (factor, within, confidence, adjustment) == ("learner", "size", None, None)
        if default or len(self.treatments) < 2:
            return findings.pairwise.copy()
        at_sizes = within == "size"  # added sizes are of the family too
        scores = self._with_refined() if at_sizes else self.scores
        tests = pairwise(scores, factor=factor, within=within, **options)
        return tests[tests["size"].isin(self.doses)].reset_index(drop=True) if at_sizes else tests

    def thresholds(
        self,
        measure: str | None = None,
        *,
        confidence: float | None = None,
        adjustment: str | None = None,
    ) -> pd.DataFrame:
        """The doses between which treatments overtake each other; see `analysis.thresholds`.

        Sizes added by refinement are included. With a single treatment or a single dose the
        table is empty.

        Parameters
        ----------
        measure : str, optional
            The primary one by default.
        confidence, adjustment : optional
            As in `pairwise`.
        """
        from simstudy.analysis.models.thresholds import thresholds

        findings, options = self._options(measure, confidence, adjustment)
        if (confidence is None and adjustment is None) or not findings.courses:
            return findings.thresholds.copy()
        better = findings.info.greater_is_better
        return thresholds(self._with_refined(), greater_is_better=better, **options)

    def _with_refined(self) -> pd.DataFrame:
        """The scores, with those of sizes added around crossings."""
        import pandas as pd

        return pd.concat([self.scores, self.refined])

    def _options(
        self, measure: str | None, confidence: float | None, adjustment: str | None
    ) -> tuple[ModelFindings, dict[str, Any]]:
        """The findings of a measure, and options of further tests, as in the study if left out."""
        findings = self.findings(measure)
        return findings, {
            "value": findings.measure,
            "confidence": findings.design.confidence if confidence is None else confidence,
            "adjustment": adjustment or findings.design.adjustment,
            "share": findings.info.share,
        }

    def difference_curve(self, first: str, second: str, measure: str | None = None) -> pd.DataFrame:
        """The lead of the second treatment at each dose, with adjusted intervals."""
        for name in (first, second):
            check_name(self.study.experiment.treatment, name, self.treatments)
        return self.findings(measure).curve(first, second)

    def precision(self, measure: str | None = None, mcse: float | None = None) -> pd.DataFrame:
        """Monte-Carlo standard errors of all means and paired differences.

        The means are those of `intervals`, over the same models; differences are over the models
        that both treatments have. With ``mcse``, also the number of models needed to reach it.
        """
        return self.findings(measure).precision_for(mcse)

    def mixed(self, measure: str | None = None) -> pd.DataFrame:
        """A mixed model, learner × size, with random models: for studies with missing cells."""
        return _present(self.findings(measure).mixed).table.copy()

    def left_out(self, measure: str | None = None) -> pd.DataFrame:
        """The models without a finite value of a measure in at least one cell, and the reason."""
        import pandas as pd

        return pd.DataFrame(self.findings(measure).left_out, columns=["model", "reason"])

    def ranks(self, size: int | None = None, measure: str | None = None) -> pd.DataFrame:
        """Average ranks of the treatments over the models, with Friedman's and Nemenyi's tests.

        At one dose, or of the scores averaged over all doses; `rank_tests` has the tests. With a
        single treatment the table is empty.
        """
        several = len(self.treatments) > 1
        return self.rank_tests(size, measure).table.copy() if several else empty_table()

    def rank_tests(self, size: int | None = None, measure: str | None = None) -> Ranks:
        """The same with Friedman's and Nemenyi's tests; see `analysis.ranks.Ranks`."""
        self._check_dose(size)
        return _present(self.findings(measure).ranks(size))

    # Models

    def model(self, index: int) -> Model:
        """Draw one of the study's models again, the same as in the run.

        With changes, it is what training rows are drawn from; see `world`.

        Parameters
        ----------
        index : int
            Its number in the scores, from 0.
        """
        return self.world(index).train.model

    def world(self, index: int) -> World:
        """Draw one of the study's models again, with all changes made.

        Parameters
        ----------
        index : int
            Its number in the scores, from 0.

        Returns
        -------
        World
            What training rows (``train``) and test rows (``test``) are drawn from, with
            ``sample``, ``posterior`` and ``class_prior``.
        """
        from simstudy.engine.task import state_restored

        plan = self._plan
        if index not in range(plan.problems):
            raise SimstudyError(f"no model {index} here; models are 0 to {plan.problems - 1}")
        with state_restored():
            return plan.source.world(plan, index)

    # Figures, as matplotlib axes

    def plot_learning_curves(
        self,
        measure: str | None = None,
        ax: Axes | None = None,
        learners: Sequence[str] | None = None,
    ) -> Axes:
        """Draw a measure against the doses, with intervals, and return the axes.

        For all treatments, or for a selection.
        """
        from simstudy.report.charts import curves, mpl

        return mpl.draw(curves.learning_curves(self.findings(measure), learners), ax or new_axes())

    def plot_difference(
        self, first: str, second: str, measure: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw the lead of the second treatment, with bands and thresholds."""
        from simstudy.report.charts import mpl, pairs

        self._check_several("a difference needs two")
        for label in (first, second):
            check_name(self.study.experiment.treatment, label, self.treatments)
        if first == second:
            kinds = self.study.experiment.name
            raise SimstudyError(f"'{first}' is specified twice; a difference needs two {kinds}")
        if len(self.doses) < 2:
            raise SimstudyError("a difference needs at least two sizes, but the study has only one")
        chart = pairs.difference(self.findings(measure), first, second)
        ax = mpl.draw(chart, ax or new_axes())
        unit = self.info(measure).unit
        ahead = f"{second} ahead by"
        ax.set_ylabel(mpl.plain(f"{ahead} ({unit})" if unit else ahead))
        return ax

    def plot_scores(
        self, size: int | None = None, measure: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw the distribution of the scores of each treatment over the models at one dose.

        The largest dose by default.
        """
        from simstudy.report.charts import mpl, spread

        self._check_dose(size)
        at = self.doses[-1] if size is None else size
        panels = spread.scores(self.findings(measure), [at], self.treatments)
        ax = mpl.draw(panels.charts[0], ax or new_axes())
        ax.set_title(f"{at:,} {self.study.experiment.dose} rows", fontsize="medium")
        return ax

    def plot_ranks(
        self, size: int | None = None, measure: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw a critical-difference diagram of the treatments' average ranks; see `ranks`."""
        from simstudy.report.charts import mpl, ranks

        self._check_several("ranks need at least two")
        chart = ranks.ranks(self.rank_tests(size, measure), self.study.experiment)
        return mpl.draw(chart, ax or new_axes())

    def _check_several(self, need: str) -> None:
        if len(self.treatments) < 2:
            raise SimstudyError(f"{need} {self.study.experiment.name}, but the study has only one")


def _present(outcome: Outcome | Absent) -> Outcome:
    """An outcome of the analysis; refused with the reason if it is absent."""
    from simstudy.analysis.models.findings import Absent

    if isinstance(outcome, Absent):
        raise SimstudyError(outcome.reason)
    return outcome


def empty_table() -> pd.DataFrame:
    """A table without rows and columns."""
    import pandas as pd

    return pd.DataFrame()


def new_axes() -> Axes:
    """Axes on a figure of their own."""
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]
