"""Curves of the learners of a study, from its saved answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from simstudy.analysis.decision_curves import KINDS, Kind, curve_table, mean_curve, mean_prior
from simstudy.data.sizes import Size
from simstudy.errors import SimstudyError, check_name, suggestion
from simstudy.measures.positive_class import class_index
from simstudy.results.read.ranked_answers import RankedAnswers

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from simstudy.results.read.base import AnswerResults


@dataclass(frozen=True)
class Curves:
    """The curves of learners at one training size, averaged vertically over models or repeats.

    Attributes
    ----------
    kind : str
        ``"roc"``, ``"precision_recall"``, ``"lift"``, ``"cost"``, ``"profit"`` or
        ``"reliability"``.
    table : DataFrame
        By `learner`, at each `x` the mean height `y`, `low` and `high`, between which half of the
        curves lie, and the number of `curves`: one for each model or repeat. Of data sets also
        `pooled`, the height of the curve of the answers of all repeats together.
    truth : DataFrame
        The same for the true probabilities; empty if they are unknown.
    positive : str
        The positive class; empty if it is the rarest of each model.
    size : int or float
        The training size, in rows or as a share; `size_text` has it in words.
    test : str
        ``"exact"`` or ``"sampled"``.
    over : str
        What the curves are averaged over: ``"models"``, ``"repeats"`` or ``"folds"``.
    learners : tuple of str
        All learners of the study.
    names : tuple of str
        The names under which they are registered.
    prior : float
        The share of positive rows, the mean over models or repeats.
    dataset : str
        The data set; empty for models.
    each : DataFrame
        Of data sets: by `learner`, every `curve` by its number in the order of repeats and folds,
        with its height `y` at each `x`; empty for models.
    """

    kind: str
    table: pd.DataFrame
    truth: pd.DataFrame
    positive: str
    size: float
    test: str
    over: str
    learners: tuple[str, ...]
    names: tuple[str, ...]
    prior: float
    dataset: str = ""
    each: pd.DataFrame = field(default_factory=lambda: _joined(), repr=False)

    @property
    def about(self) -> Kind:
        """The title and the axes of this kind of curve."""
        return KINDS[self.kind]

    @property
    def size_text(self) -> str:
        """The training size: rows, or the share of the training part."""
        return str(Size(self.size))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the curves with their bands, and return the axes."""
        from simstudy.report.charts import decisions, mpl
        from simstudy.results.read.model_analyses import new_axes

        chart = decisions.chart(self)
        ax = mpl.draw(chart, ax or new_axes())
        ax.legend(handles=mpl.handles(decisions.key(chart)), frameon=False, fontsize="small")
        return ax


def profit_of(lift: Curves, prior: float, benefit: float, cost: float) -> Curves:
    """Return the profit for each row of acting on the rows ranked first, from mean lift curves.

    ``benefit · prior · found − cost · share``, of one share of positive rows for all models, as a
    reader may set it; `AnswerResults.curves` has the mean of profits at the models' own shares.
    """

    def gained(table: pd.DataFrame) -> pd.DataFrame:
        heights = [name for name in ("y", "low", "high", "pooled") if name in table]
        profits = {name: benefit * prior * table[name] - cost * table["x"] for name in heights}
        return table.assign(**profits)

    table, truth = gained(lift.table), gained(lift.truth)
    return replace(lift, kind="profit", table=table, truth=truth, prior=prior)


def ranked(results: AnswerResults, dataset: str | None = None) -> RankedAnswers:
    """Return the answers of a study, to be ranked for each model or repeat."""
    return results._ranked(dataset)


def default_class(results: AnswerResults, answers: RankedAnswers) -> int | None:
    """Return the positive class that the study names; None for the rarest."""
    named, names = results.study.measures.positive, answers.class_names
    return class_index(named, names) if named is not None and str(named) in names else None


def make_curves(
    results: AnswerResults,
    answers: RankedAnswers,
    kind: str,
    learners: Sequence[str] | None = None,
    size: float | None = None,
    positive: str | int | None = None,
    pooled: bool = True,
    **stated: float | None,
) -> Curves:
    """Return the curves of one kind at one size; see `AnswerResults.curves`."""
    if kind not in KINDS:
        raise SimstudyError(f"no curve '{kind}'{suggestion(kind, list(KINDS))}")
    options = {name: value for name, value in stated.items() if value is not None}
    profit, needed = kind == "profit", {"benefit", "cost"}
    if (options and not profit) or (profit and not needed <= {*options} <= {*needed, "fixed"}):
        words = "benefit, cost and, if wanted, fixed" if profit else "no further options"
        raise SimstudyError(f"'{kind}' takes {words}, not {', '.join(options) or 'none'}")
    at = results.study.doses[-1] if size is None else Size.of(size).number
    results._check_dose(at)
    for label in learners or ():
        check_name("learner", label, results.treatments)
    index = default_class(results, answers)
    if positive is not None:
        try:
            index = class_index(positive, answers.class_names)
        except ValueError as error:
            raise SimstudyError(str(error)) from error
    rankings = {
        label: each
        for label, each in answers.rankings(at, index).items()
        if learners is None or label in learners
    }
    heights, single = answers.heights, {}
    table = curve_table(kind, rankings, heights, **options)
    if together := answers.pooled(at, index) if pooled else {}:
        pooled_heights = [
            mean_curve(kind, [together[label]] if label in together else [], heights, **options).y
            for label in rankings
        ]
        table["pooled"] = [*chain(*pooled_heights)]
        single = {
            (label, place): mean_curve(kind, [ranking], heights, **options).table()[["x", "y"]]
            for label, each in rankings.items()
            for place, ranking in enumerate(each)
        }
    truth = answers.truth(index)
    true_curve = mean_curve(kind, truth, heights, **options).table()
    shown = answers.rarer if index is None else index
    return Curves(
        kind,
        table,
        true_curve if truth else true_curve.iloc[:0],
        "" if shown is None else answers.class_names[shown],
        Size.stored(at).value,
        answers.test,
        answers.over,
        tuple(results.treatments),
        results.study.names,
        mean_prior([*chain(*rankings.values())]),
        answers.dataset,
        _joined(single),
    )


def _joined(single: Mapping[tuple[str, int], pd.DataFrame] | None = None) -> pd.DataFrame:
    """Curves by learner and number in one table; an empty one without any."""
    import pandas as pd

    if not single:
        return pd.DataFrame()
    names = ["learner", "curve"]
    return pd.concat(single, names=names).reset_index(names).reset_index(drop=True)
