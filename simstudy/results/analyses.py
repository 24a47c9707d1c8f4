"""The analyses of studies of models, whatever they compare."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from simstudy.errors import SimstudyError
from simstudy.results.reading import Results
from simstudy.study.constants import REFINED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from simstudy.analysis.findings import ModelFindings
    from simstudy.analysis.ranks import Ranks
    from simstudy.networks.model import Model
    from simstudy.sources.changes.world import World


class ModelResults(Results):
    """What a study of models found; see `Results`.

    Analyses have the confidence and the adjustment that the study asks for, unless others are
    given. In all tables the column ``learner`` has the treatment and ``size`` the dose.
    """

    @property
    def doses(self) -> list[int]:
        """The doses, in rows: training sizes, test sizes or rows available."""
        return self.study.doses

    @property
    def models(self) -> int:
        """The number of models."""
        return self.study.models

    def _repr_html_(self) -> str:
        """What a notebook shows: the design and the means."""
        from simstudy.report.tables.html import notebook_summary

        return notebook_summary(self)

    @cached_property
    def refined(self) -> pd.DataFrame:
        """The cells of sizes that were added around crossings; thresholds use them."""
        if not self.manifest["refined"]:
            return self.scores.iloc[:0]
        table = self._read(REFINED, list(self.scores.columns))
        known = table["learner"].isin(self.treatments) & (table["size"] > 0)
        if not (known & table["model"].between(0, self.models - 1)).all():
            raise self._damaged(REFINED)
        return table

    # Analyses

    @cached_property
    def _findings(self) -> dict[str, ModelFindings]:
        return {}

    def findings(self, measure: str | None = None) -> ModelFindings:
        """What the analysis says about a measure, the primary one if left out."""
        from simstudy.analysis.findings import AnalysisDesign, ModelFindings

        name, study = self._measure(measure), self.study
        if name not in self._findings:
            design = AnalysisDesign(
                tuple(self.treatments),
                tuple(self.doses),
                study.problems,
                study.analysis.confidence,
                study.analysis.adjustment,
                study.experiment,
            )
            parts = [self._part(name, part) for part in ("regret", "estimation")]
            self._findings[name] = ModelFindings(
                name, self.info(name), design, self.scores, self.refined, *parts
            )
        return self._findings[name]

    def _part(self, name: str, part: str) -> str:
        """The column of a part of regret that belongs to an information reward, if there is one."""
        own = self.column(name)
        found = [one for one in self.measures if self.column(one)[1:3] == (part, own.test)]
        return found[0] if found and own.measure == "information_reward" else ""

    def anova(self, measure: str | None = None) -> pd.DataFrame:
        """Repeated-measures ANOVA, learner × size, models as subjects.

        A factor with a single level is left out; without any factor the table is empty.
        """
        import pandas as pd

        from simstudy.analysis.findings import Absent

        found = self.findings(measure)
        if not found.factors:
            return pd.DataFrame()
        if isinstance(found.anova, Absent):
            raise SimstudyError(found.anova.reason)
        return found.anova.table.copy()

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
            The primary one if left out.
        confidence : float, optional
            That of the study if left out.
        adjustment : str, optional
            ``"bonferroni"``, ``"bonferroni_within"`` or ``"none"``. If left out, Bonferroni's over
            all cells, unless the study asks for none.
        method : str, optional
            ``"cell"``, the default, or ``"cousineau-morey"``.
        complete : bool, optional
            Whether means are over the models without a failed cell only. If left out, they are, so
            that treatments are compared on the same models, unless fewer than two are left.
        """
        from simstudy.analysis.intervals import intervals

        found = self.findings(measure)
        if all(given is None for given in (confidence, adjustment, method, complete)):
            return found.intervals.copy()
        design, method = found.design, method or "cell"
        stated = "none" if design.adjustment == "none" else "bonferroni"
        return intervals(
            self.scores,
            value=found.measure,
            confidence=design.confidence if confidence is None else confidence,
            adjustment=adjustment or stated,
            method=method,
            complete=found.over_complete_models if complete is None else complete,
            share=found.info.share and method == "cell",
        )

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
            The primary one if left out.
        confidence : float, optional
            That of the study if left out.
        adjustment : str, optional
            ``"bonferroni_all"``, ``"bonferroni"``, ``"holm"`` or ``"none"``; that of the study if
            left out.
        factor, within : str
            The column whose levels are compared, and the one at whose levels they are; None for
            ``within`` if the study has a single dose.
        """
        import pandas as pd

        from simstudy.analysis.pairwise import pairwise

        found = self.findings(measure)
        usual = (factor, within) == ("learner", "size")
        if (usual and confidence is None and adjustment is None) or len(self.treatments) < 2:
            return found.pairwise.copy()
        at_sizes = within == "size"  # added sizes are of the family too
        tests = pairwise(
            pd.concat([self.scores, self.refined]) if at_sizes else self.scores,
            value=found.measure,
            factor=factor,
            within=within,
            confidence=found.design.confidence if confidence is None else confidence,
            adjustment=adjustment or found.design.adjustment,
            share=found.info.share,
        )
        return tests[tests["size"].isin(self.doses)].reset_index(drop=True) if at_sizes else tests

    def thresholds(
        self,
        measure: str | None = None,
        *,
        confidence: float | None = None,
        adjustment: str | None = None,
    ) -> pd.DataFrame:
        """Between which doses treatments overtake each other; see `analysis.thresholds`.

        Sizes that were added by refinement count. With a single treatment or a single dose the
        table is empty.

        Parameters
        ----------
        measure : str, optional
            The primary one if left out.
        confidence, adjustment : optional
            As in `pairwise`.
        """
        import pandas as pd

        from simstudy.analysis.thresholds import thresholds

        found = self.findings(measure)
        if (confidence is None and adjustment is None) or not found.courses:
            return found.thresholds.copy()
        return thresholds(
            pd.concat([self.scores, self.refined]),
            value=found.measure,
            greater_is_better=found.info.greater_is_better,
            confidence=found.design.confidence if confidence is None else confidence,
            adjustment=adjustment or found.design.adjustment,
            share=found.info.share,
        )

    def difference_curve(self, first: str, second: str, measure: str | None = None) -> pd.DataFrame:
        """By how much the second treatment is ahead at each dose, with the adjusted intervals."""
        for name in (first, second):
            self._check_treatment(name)
        return self.findings(measure).curve(first, second)

    def _check_treatment(self, name: str) -> None:
        if name not in self.treatments:
            known, kind = ", ".join(self.treatments), self.study.experiment.treatment
            raise SimstudyError(f"no {kind} {name!r} here; there are {known}")

    def precision(self, measure: str | None = None, mcse: float | None = None) -> pd.DataFrame:
        """Monte-Carlo standard errors of all means and paired differences.

        Of the means that `intervals` gives, over the same models; differences are over the models
        that both treatments have. With ``mcse``, also how many models would reach it.
        """
        return self.findings(measure).precision_for(mcse)

    def mixed(self, measure: str | None = None) -> pd.DataFrame:
        """A mixed model, learner × size, models at random: for when cells are missing."""
        from simstudy.analysis.findings import Absent

        found = self.findings(measure).mixed
        if isinstance(found, Absent):
            raise SimstudyError(found.reason)
        return found.table.copy()

    def left_out(self, measure: str | None = None) -> pd.DataFrame:
        """The models without a finite value of a measure in some cell, and why."""
        import pandas as pd

        return pd.DataFrame(self.findings(measure).left_out, columns=["model", "reason"])

    def ranks(self, size: int | None = None, measure: str | None = None) -> pd.DataFrame:
        """Average ranks of the treatments over the models, with Friedman's and Nemenyi's tests.

        At one dose, or of the scores averaged over all doses; `rank_tests` has the tests. With a
        single treatment the table is empty.
        """
        import pandas as pd

        return (
            pd.DataFrame()
            if len(self.treatments) < 2
            else self.rank_tests(size, measure).table.copy()
        )

    def rank_tests(self, size: int | None = None, measure: str | None = None) -> Ranks:
        """The same with Friedman's and Nemenyi's tests; see `analysis.ranks.Ranks`."""
        from simstudy.analysis.findings import Absent

        self._check_dose(size)
        found = self.findings(measure).ranks(size)
        if isinstance(found, Absent):
            raise SimstudyError(found.reason)
        return found

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
            raise SimstudyError(
                f"the study has no model {index}; it has models 0 to {plan.problems - 1}"
            )
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

        Of all treatments, or of some.
        """
        from simstudy.report.charts import curves, mpl

        return mpl.draw(curves.learning_curves(self.findings(measure), learners), ax or new_axes())

    def plot_difference(
        self, first: str, second: str, measure: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw by how much the second treatment is ahead, with bands and thresholds."""
        from simstudy.report.charts import mpl, pairs

        self._check_several("a difference needs two")
        for label in (first, second):
            self._check_treatment(label)
        if first == second:
            kinds = self.study.experiment.name
            raise SimstudyError(f"'{first}' is given twice; a difference needs two {kinds}")
        if len(self.doses) < 2:
            raise SimstudyError("a difference is drawn over at least two sizes; the study has one")
        chart = pairs.difference(self.findings(measure), first, second)
        ax = mpl.draw(chart, ax or new_axes())
        unit = self.info(measure).unit
        ahead = f"{second} ahead by"
        ax.set_ylabel(mpl.plain(f"{ahead} ({unit})" if unit else ahead))
        return ax

    def plot_scores(
        self, size: int | None = None, measure: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw how the scores of each treatment spread over the models at one dose.

        The largest if left out.
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
        return mpl.draw(
            ranks.ranks(self.rank_tests(size, measure), self.study.experiment), ax or new_axes()
        )

    def _check_several(self, need: str) -> None:
        if len(self.treatments) < 2:
            raise SimstudyError(f"{need} {self.study.experiment.name}, and the study has one")


def new_axes() -> Axes:
    """Axes on a figure of their own."""
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]
