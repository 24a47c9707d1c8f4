"""Curves of the learners of a study, from the answers that it kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from simstudy.analysis.decision_curves import (
    KINDS,
    Heights,
    Kind,
    curve_table,
    mean_curve,
    mean_prior,
)
from simstudy.errors import SimstudyError, suggestion
from simstudy.measures.arguments import class_index
from simstudy.measures.ranked import Ranking
from simstudy.results.ranked_answers import RankedAnswers
from simstudy.study.sizes import Size

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from simstudy.results.answers import AnswerResults


def _no_table() -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame()


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
        The same of the true probabilities; empty if they are not known.
    positive : str
        The positive class; empty if it is the rarest of each model.
    size : int or float
        The training size, in rows or as a share; `size_text` has it in words.
    test : str
        ``"exact"`` or ``"sampled"``.
    over : str
        What the curves are averaged over: ``"models"``, ``"repeats"`` or ``"folds"``.
    learners : tuple of str
        All learners of the study, whose order gives them their colours.
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
    prior: float
    dataset: str = ""
    each: pd.DataFrame = field(default_factory=_no_table, repr=False)

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
        import matplotlib.pyplot as plt

        from simstudy.report.charts import decisions, mpl

        if ax is None:
            ax = plt.subplots(layout="constrained")[1]
        chart = decisions.chart(self)
        ax = mpl.draw(chart, ax)
        ax.legend(handles=mpl.handles(decisions.key(chart)), frameon=False, fontsize="small")
        return ax


def profit_of(lift: Curves, prior: float, benefit: float, cost: float) -> Curves:
    """Return the profit for each row of acting on the rows ranked first, from mean lift curves.

    ``benefit · prior · found − cost · share``, of one share of positive rows for all models, as a
    reader may set it; `LearnerResults.curves` has the mean of profits at the models' own shares.
    """

    def gained(table: pd.DataFrame) -> pd.DataFrame:
        heights = [name for name in ("y", "low", "high", "pooled") if name in table]
        found = {name: benefit * prior * table[name] - cost * table["x"] for name in heights}
        return table.assign(**found)

    return replace(
        lift, kind="profit", table=gained(lift.table), truth=gained(lift.truth), prior=prior
    )


def ranked(results: AnswerResults, dataset: str | None = None) -> RankedAnswers:
    """Return the answers of a study, to be ranked for each model or repeat."""
    return results._ranked(dataset)


def default_class(results: AnswerResults, answers: RankedAnswers) -> int | None:
    """Return the positive class that the study names; None for the rarest."""
    named = results.study.measures.positive
    known = named is not None and str(named) in answers.class_names
    return class_index(named, answers.class_names) if known and named is not None else None


def make_curves(
    results: AnswerResults,
    answers: RankedAnswers,
    kind: str,
    learners: Sequence[str] | None = None,
    size: float | None = None,
    positive: str | int | None = None,
    pooled: bool = True,
    *,
    benefit: float | None = None,
    cost: float | None = None,
    fixed: float | None = None,
) -> Curves:
    """Return the curves of one kind at one size; see `LearnerResults.curves`."""
    given = {"benefit": benefit, "cost": cost, "fixed": fixed}
    options = {name: value for name, value in given.items() if value is not None}
    if kind not in KINDS:
        raise SimstudyError(f"no curve '{kind}'{suggestion(kind, list(KINDS))}")
    needed = {"benefit", "cost"} if kind == "profit" else set()
    if not needed <= {*options} <= needed | ({"fixed"} if needed else set()):
        words = "benefit, cost and, if wanted, fixed" if needed else "no further options"
        raise SimstudyError(f"'{kind}' takes {words}, not {', '.join(options) or 'none'}")
    at = results.study.doses[-1] if size is None else Size.of(size).number
    results._check_dose(at)
    for label in learners or ():
        if label not in results.treatments:
            known = ", ".join(results.treatments)
            raise SimstudyError(f"the study has no learner '{label}'; it has {known}")
    one = default_class(results, answers)
    if positive is not None:
        try:
            one = class_index(positive, answers.class_names)
        except ValueError as error:
            raise SimstudyError(str(error)) from error
    wanted = [label for label in results.treatments if learners is None or label in learners]
    found = answers.rankings(at, one)
    heights = answers.heights
    table = curve_table(kind, {label: found[label] for label in wanted}, heights, **options)
    if together := answers.pooled(at, one) if pooled else {}:
        each = [[together[label]] if label in together else [] for label in wanted]
        pooled_heights = [mean_curve(kind, own, heights, **options).y for own in each]
        table["pooled"] = [height for own in pooled_heights for height in own]
    truth = answers.truth(one)
    own = mean_curve(kind, truth, heights, **options).table()
    named = answers.rarer if one is None else one
    return Curves(
        kind,
        table,
        own if truth else own.iloc[:0],
        "" if named is None else answers.class_names[named],
        Size.stored(at).value,
        answers.test,
        answers.over,
        tuple(results.treatments),
        mean_prior([one for label in wanted for one in found[label]]),
        answers.dataset,
        _each(kind, {label: found[label] for label in wanted}, heights, options)
        if together
        else _no_table(),
    )


def _each(
    kind: str,
    rankings: Mapping[str, Sequence[Ranking]],
    heights: Heights,
    options: Mapping[str, float],
) -> pd.DataFrame:
    """Every curve by itself."""
    import pandas as pd

    single = {
        (label, place): mean_curve(kind, [one], heights, **options).table()[["x", "y"]]
        for label, own in rankings.items()
        for place, one in enumerate(own)
    }
    if not single:
        return _no_table()
    together = pd.concat(single, names=["learner", "curve"])
    return together.reset_index(["learner", "curve"]).reset_index(drop=True)
