"""Figures of a study as matplotlib axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simstudy.errors import SimstudyError
from simstudy.results.analyses import Analyses

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Plots(Analyses):
    """Figures of the findings; see `Results`. Arguments: what to draw, the measure, the axes."""

    def plot_learning_curves(
        self,
        measure: str | None = None,
        ax: Axes | None = None,
        learners: Sequence[str] | None = None,
    ) -> Axes:
        """Draw a measure against training size, with intervals, and return the axes.

        Of all learners, or of some.
        """
        from simstudy.report.charts import curves, mpl

        chart = curves.learning_curves(self.model_findings(measure), learners)
        return mpl.draw(chart, ax or _axes())

    def plot_difference(
        self, first: str, second: str, measure: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw by how much the second learner is ahead, with bands and thresholds."""
        from simstudy.report.charts import mpl, pairs

        self._check_pair(first, second)
        if len(self.sizes) < 2:
            raise SimstudyError("a difference is drawn over at least two sizes; the study has one")
        chart = pairs.difference(self.model_findings(measure), first, second)
        ax = mpl.draw(chart, ax or _axes())
        ax.set_ylabel(mpl.plain(chart.y.label.replace("difference", f"{second} ahead by")))
        return ax

    def plot_scores(
        self, size: int | None = None, measure: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw how the scores of each learner spread over the models at one training size.

        The largest size if left out.
        """
        from simstudy.report.charts import mpl, spread

        self._check_size(size)
        at = self.sizes[-1] if size is None else size
        panels = spread.scores(self.model_findings(measure), [at], self.learners)
        ax = mpl.draw(panels.charts[0], ax or _axes())
        ax.set_title(f"{at:,} training rows", fontsize="medium")
        return ax

    def plot_ranks(
        self, size: int | None = None, measure: str | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw a critical-difference diagram of the learners' average ranks; see `ranks`."""
        from simstudy.report.charts import mpl, ranks

        if len(self.learners) < 2:
            raise SimstudyError("ranks need at least two learners, and the study has one")
        return mpl.draw(ranks.ranks(self.rank_tests(size, measure)), ax or _axes())

    def plot_reliability(
        self, learner: str, size: int | None = None, ax: Axes | None = None
    ) -> Axes:
        """Draw how often events of a predicted probability were observed, for one learner.

        At one training size, or at the smallest and the largest; see `reliability`.
        """
        from simstudy.report.charts import mpl, spread

        sizes = sorted({self.sizes[0], self.sizes[-1]}) if size is None else [size]
        panels = spread.reliability(self.calibration(sizes, learners=[learner]), [learner])
        ax = mpl.draw(panels.charts[0], ax or _axes())
        options: dict[str, Any] = {"frameon": False, "fontsize": "small", "loc": "upper left"}
        ax.legend(handles=mpl.handles(panels.key), title="training rows", **options)
        return ax

    def plot_regret(self, axes: Sequence[Axes] | None = None) -> Sequence[Axes]:
        """Draw regret and its parts against training size, on axes of its own for each learner."""
        from simstudy.report.charts import mpl, spread

        if self.regret_parts is None:
            raise SimstudyError(
                "regret is drawn if the study measured 'regret', 'representation' and 'estimation'"
            )
        panels = spread.regret(self.regret_parts, self.learners, self.info("regret").unit)
        if axes is None:
            import matplotlib.pyplot as plt

            number = len(panels.charts)
            size = (2.4 * number, 2.8)
            axes = plt.subplots(1, number, figsize=size, layout="constrained", squeeze=False)[1][0]
        for index, (chart, ax) in enumerate(zip(panels.charts, axes, strict=True)):
            mpl.draw(chart, ax)
            ax.set_title(mpl.plain(chart.heading), fontsize="medium")
            ax.set_ylabel(chart.y.label if index == 0 else "")
        return axes

    def _check_pair(self, *labels: str) -> None:
        """Refuse learners that cannot be compared."""
        if len(self.learners) < 2:
            raise SimstudyError("a difference needs two learners, and the study has one")
        for label in labels:
            if label not in self.learners:
                known = ", ".join(self.learners)
                raise SimstudyError(f"the study has no learner '{label}'; it has {known}")
        if len({*labels}) < 2:
            raise SimstudyError(f"'{labels[0]}' is given twice; a difference needs two learners")


def _axes() -> Axes:
    """Axes of their own."""
    import matplotlib.pyplot as plt

    return plt.subplots(layout="constrained")[1]
