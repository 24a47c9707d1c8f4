"""Captions of curves to decide with."""

from __future__ import annotations

from simstudy.analysis.decision_curves import KINDS, MAX_THRESHOLDS
from simstudy.report.prose.captions import MAX_BARS
from simstudy.report.prose.numbers import digits
from simstudy.results.curves import Curves
from simstudy.study.sizes import Size
from simstudy.texts import counted

_WHAT = {
    "roc": "True against false positive rate as the threshold falls; diagonal: answers at random.",
    "precision_recall": "Precision against recall as the threshold falls; line across: the share "
    "of positive rows, the precision of answers at random.",
    "lift": "Share of the positive rows found among the rows ranked first; diagonal: rows taken at "
    "random.",
    "cost": "Normalized expected cost of the best threshold (the lower envelope) against "
    "probability cost, the share of the cost that positive rows would have if all rows were "
    "wrong; with equal costs, the error rate against the share of positive rows. Thin lines: "
    "always the same class.",
    "reliability": "Share of positive rows against the mean predicted probability of the positive "
    "class, in ten bins of this probability; diagonal: calibrated.",
    "profit": "Profit for each row of all, of acting on the rows ranked first, from the mean lift "
    "curve at one share of positive rows; thin line: acting on rows at random.",
}


def size_words(size: Size) -> str:
    """A training size in words."""
    rows = isinstance(size.value, int)
    return f"{size.value:,} training rows" if rows else f"{size} of the training rows"


def what(kind: str) -> str:
    """What a kind of curve shows."""
    return _WHAT[kind]


def averaged(curves: Curves) -> str:
    """Over what curves are averaged, and what bands are."""
    number = int(curves.table["curves"].max())
    each = counted(number, curves.over.removesuffix("s"))
    if curves.dataset and number == 1:
        made = "Each curve is that of all test rows of the one repeat"
    elif curves.dataset:
        rows = "all test rows of a repeat" if curves.over == "repeats" else "the test rows of one"
        made = f"Each curve is the mean over {each} of the curve of {rows}"
    else:
        source = "the joint distribution" if curves.test == "exact" else "the test rows"
        made = f"Each curve is the mean over {each} of the curve on {source}"
    shown = curves.table["learner"].nunique()
    band = f"; at each place, the band holds the middle half of the {curves.over}"
    truth = " Dashed: the true probabilities, which no learner can surpass on average."
    folds = (
        " The test rows of all folds of a repeat are ranked together; tables have means over "
        "folds, so the area under a ROC curve and the AUC in a table may differ."
    )
    text = f"{made}{band * (number > 1 and shown <= MAX_BARS)}.{truth * bool(len(curves.truth))}"
    return text + folds * (bool(curves.dataset) and curves.over == "repeats")


def caption(curves: Curves) -> str:
    """The caption of a figure that stands alone."""
    one = f"class {curves.positive}" if curves.positive else "the rarest class of each model"
    return f"{what(curves.kind)} Positive: {one}, against the rest. {averaged(curves)}"


def decided(curves: Curves) -> str:
    """What the table of decisions shows, and how far its figures can be trusted."""
    each = curves.over.removesuffix("s")
    several = int(curves.table["curves"].max()) > 1
    chosen = f", the same for every {each}" * several
    text = (
        "Expected cost for each row, if the rows whose probability is at least a threshold are "
        f"called positive: the best of up to {MAX_THRESHOLDS} thresholds for each learner{chosen} "
        "(none: no row is called positive; all: every row). Best share: how many of the rows to "
        "act on, those ranked first, for the highest profit, in steps of 0.02."
    )
    if curves.test != "exact":
        text += (
            " Threshold and share are chosen on the same test rows that they are evaluated on, so "
            "that costs tend to be too low and profits too high."
        )
    if several and len(curves.truth):
        text += (
            " One threshold cannot be best for all models if these differ in their share of "
            "positive rows; even the truth need not have the least cost."
        )
    return text


def profit_values(prior: float) -> str:
    """The benefit and the cost that profit is drawn for unless others are set."""
    text = digits(prior)
    return (
        f"Share of positive rows {text}; each positive row acted on gains 1, each row acted "
        f"on costs {text}, the share of positive rows, so that acting on rows at random "
        "earns 0."
    )


def title(kind: str) -> str:
    """The title of a kind of curve."""
    return KINDS[kind].title
