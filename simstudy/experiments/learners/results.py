"""What a comparison of learners on models found."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING, ParamSpec

from simstudy.errors import SimstudyError
from simstudy.results.read.base import AnswerResults
from simstudy.results.read.model_analyses import ModelResults, empty_table, new_axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from simstudy.analysis.models.regret import Regret
    from simstudy.analysis.models.reliability import Reliability
    from simstudy.results.read.ranked_answers import ModelAnswers

P = ParamSpec("P")


def _table_of(method: Callable[P, Reliability]) -> Callable[P, pd.DataFrame]:
    """A method with the same parameters that returns only the table."""

    @wraps(method)
    def table(*args: P.args, **options: P.kwargs) -> pd.DataFrame:
        return method(*args, **options).table

    table.__doc__ = "Return the table of `calibration`, which has the same parameters."
    return table


class LearnerResults(ModelResults, AnswerResults):
    """What learners predict of models, after training on rows that these draw; see `Results`."""

    _answer_keys = ("model", "size", "learner")

    def converged(self, within: float | None = None, fraction: float | None = None) -> pd.DataFrame:
        """The size from which each learner's mean regret at estimating is small.

        Give either ``within``, an information reward, or ``fraction``, a part of what it is at
        the smallest size. The study must have measured ``estimation``.
        """
        from simstudy.analysis.models.convergence import converged

        scores = self.scores
        if "estimation" not in scores:
            raise SimstudyError("the study has not measured 'estimation', the gap to a limit")
        limits = scores[["model", "learner"]].drop_duplicates().assign(estimation=0.0)
        return converged(
            *(scores, limits, within, fraction),
            value="estimation",
            greater_is_better=self.info("estimation").greater_is_better,
            confidence=self.study.analysis.confidence,
        )

    @cached_property
    def regret_parts(self) -> Regret | None:
        """Mean regret and its parts, if the study measured them."""
        from simstudy.analysis.models.regret import regret

        return regret(self.scores)

    def regret(self) -> pd.DataFrame:
        """Mean regret of every learner and size, and what it is made of, with standard errors.

        Over the models in which all three are finite in every cell, so that the parts sum to the
        whole; a learner that never has a limit is left out. Empty if the study has not measured
        ``regret``, ``representation`` and ``estimation``, or there are no such models.
        """
        return empty_table() if self.regret_parts is None else self.regret_parts.table.copy()

    def calibration(
        self,
        size: int | Sequence[int] | None = None,
        models: int | None = None,
        bins: int = 10,
        *,
        learners: Sequence[str] | None = None,
        classes: str = "every",
        confidence: float | None = None,
        adjustment: str | None = None,
    ) -> Reliability:
        """Observed frequencies against predicted probabilities, bin by bin.

        Predictions are not stored: cells are run again in this process, except those that failed.
        The primary measure must come out as stored. The columns of the table are described in
        `analysis.reliability.calibration`.

        Parameters
        ----------
        size : int or sequence of int, optional
            Training sizes; all if left out.
        models : int, optional
            The number of models, the first ones; all up to 20 if left out.
        bins : int
            The number of bins of equal width.
        learners : sequence of str, optional
            Their labels; all if left out.
        classes : str
            ``"every"``: the probability of every class; ``"modal"``: of the most probable one only.
        confidence : float, optional
            That of the study if left out.
        adjustment : str, optional
            ``"bonferroni"`` over the bins of one diagram, or ``"none"``. If left out, the former,
            unless the study asks for none.
        """
        from simstudy.analysis.models.reliability import Reliability, calibration
        from simstudy.engine.reliability import reliability

        stated = self.study.analysis
        finished = self.scores[self.scores["status"] == "ok"]
        stored = finished.set_index(["model", "size", "learner"])[self.measures[0]].to_dict()
        repeated = reliability(
            self._plan, models, size, bins, learners=learners, classes=classes, stored=stored
        )
        confidence = stated.confidence if confidence is None else confidence
        usual = "none" if stated.adjustment == "none" else "bonferroni"
        table = calibration(repeated.table, confidence=confidence, adjustment=adjustment or usual)
        return Reliability(table, repeated.models, classes, repeated.test, confidence)

    reliability = _table_of(calibration)

    def _ranked(self, dataset: str | None = None, over: str | None = None) -> ModelAnswers:
        from simstudy.results.read.ranked_answers import ModelAnswers

        if dataset is not None or over not in (None, "models"):
            raise SimstudyError("curves of this study are averaged over its models")
        return ModelAnswers(self)

    def plot_reliability(
        self, learner: str, size: int | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw how often events of a predicted probability were observed, for one learner.

        At one training size, or at the smallest and the largest; see `reliability`.
        """
        from simstudy.report.charts import mpl, spread

        sizes = sorted({self.doses[0], self.doses[-1]}) if size is None else [size]
        panels = spread.reliability(self.calibration(sizes, learners=[learner]), [learner])
        ax = mpl.draw(panels.charts[0], ax or new_axes())
        handles, title = mpl.handles(panels.key), "training rows"
        ax.legend(handles=handles, title=title, frameon=False, fontsize="small", loc="upper left")
        return ax

    def plot_regret(self, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """Draw regret and its parts against training size, one panel per learner."""
        from simstudy.report.charts import mpl, spread

        if self.regret_parts is None:
            raise SimstudyError(
                "regret is drawn if the study measured 'regret', 'representation' and 'estimation'"
            )
        panels = spread.regret(self.regret_parts, self.learners, self.info("regret").unit)
        if axes is None:
            from matplotlib.pyplot import figure

            number = len(panels.charts)
            whole = figure(figsize=(2.4 * number, 2.8), layout="constrained")
            axes = whole.subplots(1, number, squeeze=False)[0]
        for index, (chart, ax) in enumerate(zip(panels.charts, axes, strict=True)):
            mpl.draw(chart, ax)
            ax.set_title(mpl.plain(chart.heading), fontsize="medium")
            ax.set_ylabel(chart.y.label if index == 0 else "")
        return axes
