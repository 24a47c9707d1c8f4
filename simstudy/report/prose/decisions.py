"""Captions of decision curves."""

from __future__ import annotations

from simstudy.analysis.decision_curves import MAX_THRESHOLDS
from simstudy.data.sizes import Size
from simstudy.report.prose.captions import MAX_BARS
from simstudy.report.prose.numbers import digits
from simstudy.results.read.curves import Curves
from simstudy.texts import counted

SHOWN = {
    "roc": "True against false positive rate as the threshold falls; diagonal: random answers.",
    "precision_recall": "Precision against recall as the threshold falls; horizontal line: the "
    "share of positive rows, the precision of random answers.",
    "lift": "Share of the positive rows found among the rows ranked first; diagonal: random rows.",
    "cost": "Normalized expected cost of the best threshold (the lower envelope) against "
    "probability cost, the share of the cost that positive rows would have if all rows were "
    "wrong; with equal costs, the error rate against the share of positive rows. Thin lines: "
    "always the same class.",
    "reliability": "Share of positive rows against the mean predicted probability of the positive "
    "class, in ten bins of this probability; diagonal: calibrated.",
    "profit": "Mean profit per row of acting on the rows ranked first, from the mean lift curve at "
    "one share of positive rows; thin line: acting on random rows.",
}


def size_words(size: Size) -> str:
    """A training size in words."""
    rows = isinstance(size.value, int)
    return f"{size.value:,} training rows" if rows else f"{size} of the training rows"


def averaged(curves: Curves) -> str:
    """Over what curves are averaged, and what bands are."""
    number, repeats = int(curves.table["curves"].max()), curves.over == "repeats"
    source = "on the joint distribution" if curves.test == "exact" else "on the test rows"
    if curves.dataset:
        source = "of all test rows of a repeat" if repeats else "of the test rows of one"
    text = f"Each curve is the mean over {counted(number, curves.over.removesuffix('s'))} of the "
    text += f"curve {source}"
    if curves.dataset and number == 1:
        text = "Each curve is that of all test rows of the only repeat"
    if number > 1 and curves.table["learner"].nunique() <= MAX_BARS:
        text += f"; at each place, the band holds the middle half of the {curves.over}"
    text += "."
    if len(curves.truth):
        text += " Dashed: the true probabilities, which no learner can surpass on average."
    if curves.dataset and repeats:
        text += (
            " The test rows of all folds of a repeat are ranked together; tables have means over "
            "folds, so the area under a ROC curve and the AUC in a table may differ."
        )
    return text


def caption(curves: Curves) -> str:
    """The caption of a figure that stands alone."""
    positive = f"class {curves.positive}" if curves.positive else "the rarest class of each model"
    return f"{SHOWN[curves.kind]} Positive: {positive}, against the rest. {averaged(curves)}"


def decided(curves: Curves) -> str:
    """What the table of decisions shows, and how far its figures can be trusted."""
    several = int(curves.table["curves"].max()) > 1
    chosen = f", the same for every {curves.over.removesuffix('s')}" * several
    text = (
        "Expected cost per row, if rows whose probability is at least a threshold are called "
        f"positive: the best of up to {MAX_THRESHOLDS} thresholds for each learner{chosen} (none: "
        "no row is called positive; all: every row). Best share: how many of the rows to act on, "
        "those ranked first, for the highest profit, in steps of 0.02."
    )
    if curves.test != "exact":
        text += (
            " Threshold and share are chosen and evaluated on the same test rows, so costs tend to "
            "be too low and profits too high."
        )
    if several and len(curves.truth):
        text += (
            " One threshold cannot be best for all models if these differ in their share of "
            "positive rows; even the true probabilities need not have the least cost."
        )
    return text


def profit_values(prior: float) -> str:
    """The benefit and the cost that profit is drawn for unless others are set."""
    share = digits(prior)
    return (
        f"Share of positive rows {share}; each positive row acted on gains 1, each row acted on "
        f"costs {share}, so acting on random rows earns 0."
    )
