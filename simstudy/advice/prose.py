"""Advice on a table in sentences."""

from __future__ import annotations

import math

from simstudy.advice import facts
from simstudy.advice.facts import Advice, DescribedTable, Outlook
from simstudy.report.prose.numbers import digits, fixed, percent, plus, rows
from simstudy.report.prose.phrases import in_unit, listed, opening

_FITTERS = {
    "camml": "CaMML’s posterior over networks",
    "tan": "TANs fitted to bootstrap samples",
    "kdb": "2-dependence classifiers fitted to bootstrap samples",
    "bootstrap": "CaMML’s best networks for bootstrap samples",
}
_CUTS = {
    "mdl": "discretized by the MDL criterion (Fayyad & Irani 1993)",
    "equal_frequency": "cut into five equal-frequency bins; the MDL criterion cuts few columns",
}
_GAINS = "Only gains are taken from them, not levels"
_VERDICTS = {
    "well": ("explain the scores of your table well", ""),
    "partly": ("explain the scores of your table in part", f" {_GAINS}."),
    "poorly": ("do not explain the scores of your table", f" {_GAINS}; trust predictions less."),
}


def summary(advice: Advice) -> list[str]:
    """Return the advice in a few sentences, the most important first."""
    first = advice.outlooks[0]
    return [now(first), *more_rows(advice), *overtaking(first), ceiling(first), check(first)]


def headline(outlook: Outlook) -> str:
    """Say in a sentence or two who does best, and what many more rows would bring."""
    best, last = outlook.best_now, outlook.sizes[-1]
    label = outlook.learners[best]
    level = [name for name in outlook.learners if name != label and name not in outlook.behind]
    text = f"With your {rows(outlook.rows)} rows {label} does best"
    text += f", not significantly ahead of {listed(level)}. " if level else ". "
    later = outlook.best(last)
    share = outlook.share_best(last)[later]
    ahead = outlook.learners[later] if later != best else "it"
    return (
        f"{text}With {rows(last)} rows {ahead} {'is' if later != best else 'remains'} the best in "
        f"{percent(share, 0)} of the scenarios, and gains {_gain(outlook, later, last)}."
    )


def now(outlook: Outlook) -> str:
    """Say which learner does best now, and which are significantly behind."""
    best, behind = outlook.best_now, outlook.behind
    label = outlook.learners[best]
    text = (
        f"With your {rows(outlook.rows)} rows {label} does best by {outlook.info.label}: "
        f"{interval(outlook.now[best], outlook)}"
    )
    level = [name for name in outlook.learners if name not in (label, *behind)]
    if not level and len(outlook.learners) > 1:
        return f"{text}, significantly better than all others."
    if behind:
        text += f", significantly better than {listed(behind)}"
    if level:
        text += f"; {listed(level)} {'is' if len(level) == 1 else 'are'} not significantly behind"
    return f"{text}."


def more_rows(advice: Advice) -> list[str]:
    """Say what more rows would bring to the learner that is then best."""
    outlook, sentences = advice.outlooks[0], []
    for size in dict.fromkeys([outlook.sizes[1], outlook.sizes[-1]]):
        best = outlook.best(size)
        parts = [_gain(each, best, size) for each in advice.outlooks]
        sentences.append(
            f"{rows(size - outlook.rows)} more rows ({rows(size)} in all): "
            f"{outlook.learners[best]}, the best in {percent(outlook.share_best(size)[best], 0)} "
            f"of the scenarios, gains {' and '.join(parts)}."
        )
    return sentences


def gain_numbers(outlook: Outlook, learner: int, size: int) -> list[str]:
    """Write what a learner gains, and its limits; of accuracy in points."""
    factor, decimals = (100.0, 1) if outlook.is_accuracy else (1.0, 3)
    return [plus(factor * end, decimals) for end in outlook.gains(size)[learner]]


def _gain(outlook: Outlook, learner: int, size: int) -> str:
    unit = " points of accuracy" if outlook.is_accuracy else f" {outlook.info.unit}".rstrip()
    value, low, high = gain_numbers(outlook, learner, size)
    return f"{value}{unit} [{low}, {high}]"


def overtaking(outlook: Outlook) -> list[str]:
    """Say who overtakes whom, where scenarios agree."""
    if not outlook.crossings:
        return [
            f"No learner is predicted to overtake another by {rows(outlook.sizes[-1])} rows in at "
            f"least {percent(facts.SUPPORTED, 0)} of the scenarios."
        ]
    return [crossing(each, outlook) for each in outlook.crossings]


def crossing(each: facts.Crossing, outlook: Outlook) -> str:
    """Say where one learner overtakes another."""
    start, last = rows(outlook.rows), rows(outlook.sizes[-1])
    at = _two_digits(each.rows) if each.rows else start
    low = _two_digits(each.low) if each.low else f"below {start}"
    high = f"above {last}" if math.isinf(each.high) else _two_digits(each.high)
    return (
        f"{each.ahead} overtakes {each.behind} at about {at} rows [{low}, {high}]; with {last} "
        f"rows it is ahead in {percent(each.share, 0)} of the scenarios."
    )


def _two_digits(size: float) -> str:
    return rows(float(digits(size, 2)))


def ceiling(outlook: Outlook) -> str:
    """Say how much is left to be gained by anything."""
    best = outlook.best_now
    left = outlook.ceiling.value - outlook.now[best].value
    if left > 0 and not outlook.ceiling_holds:
        return (
            f"The simulated truths put the ceiling at {interval(outlook.ceiling, outlook)}, but "
            "some predicted scores exceed it: these rows do not determine the ceiling."
        )
    if left <= 0:
        return (
            "According to the simulated truths, no predictions are better than those of "
            f"{outlook.learners[best]} now; more rows or other learners would hardly help, but "
            "other attributes might."
        )
    return (
        "The ceiling according to the simulated truths: the best predictions from these attributes "
        f"score about {interval(outlook.ceiling, outlook)}, {fixed(left)} above "
        f"{outlook.learners[best]} now."
    )


def check(outlook: Outlook) -> str:
    """Say how well the simulated truths explain the scores of the table."""
    check, place = outlook.check, outlook.check.widest
    off = outlook.now[place].value - check.simulated[place].value
    verdict, caution = _VERDICTS[check.verdict]
    return (
        f"The simulated truths {verdict}: with {rows(outlook.simulated.start)} training rows, the "
        f"largest gap is that of {outlook.learners[place]}, which scores {fixed(abs(off))} "
        f"{'higher' if off > 0 else 'lower'} on your rows than on simulated rows "
        f"({fixed(abs(check.distances[place]), 1)} standard errors). Between half of the rows and "
        f"all rows, learners gained {plus(check.measured_gain)} on your rows and "
        f"{plus(check.simulated_gain)} on simulated rows.{caution}"
    )


def interval(score: facts.IntervalEstimate, of: Outlook) -> str:
    """Write a score with its interval and unit."""
    return in_unit(f"{fixed(score.value)} [{fixed(score.low)}, {fixed(score.high)}]", of.info)


def left_out(about: DescribedTable) -> list[str]:
    """Say which rows and columns were left out, and what is odd."""
    sentences = []
    if about.rows < about.all_rows:
        sentences.append(
            f"A random sample of {rows(about.rows)} of the {rows(about.all_rows)} rows is used; "
            "predictions start from it."
        )
    if about.unsimulated:
        sentences.append(
            f"The simulated truths have the {about.attributes - about.unsimulated} attributes of "
            f"highest mutual information with the class; the other {about.unsimulated} are used "
            "only in cross-validation."
        )
    return [*sentences, *(opening(note.rstrip(".")) + "." for note in about.notes)]


def basis(advice: Advice) -> list[str]:
    """Say what the predictions rest on."""
    about = advice.about
    once = "once" if about.repeats == 1 else f"{about.repeats} times"
    sentences = [
        f"Scores now: stratified {about.folds}-fold cross-validation, {once}; intervals and tests "
        "by the corrected resampled t test (Nadeau & Bengio 2003); tests are Holm-adjusted.",
        f"Simulated truths: {about.models} networks with structures from {_FITTERS[about.fitter]} "
        "and probability tables from their Dirichlet posterior. Learners are fitted to rows drawn "
        "from each network.",
        "Predicted scores: the scores now, with their error, plus a gain. In half of the scenarios "
        "the gain is that on a simulated truth, in the other half that of a power law fitted to "
        "resampled splits of your rows. Differences between gains are shrunk, and all gains share "
        "a 30% error; both settings are empirical. Intervals hold 95% of the scenarios.",
    ]
    if about.discretize:
        sentences.append(f"Numeric columns, for all learners: {_CUTS[about.discretize]}.")
    if about.missing:
        sentences.append("A missing value counts as a separate value.")
    if advice.failed:
        sentences.append(f"Left out because they failed: {listed(advice.failed)}.")
    return sentences


DOUBTS = (
    "Further rows must come independently from the same population, with the same columns; "
    "repeated measurements, time series and shifts of the population violate this.",
    "With more rows, numbers can be cut more finely than in the simulated truths; only the "
    "learning curve of your rows shows what that brings.",
    "Other learners, settings and attributes are not covered. The ceiling is that of the simulated "
    "truths, which are only as complex as your rows support.",
)

# As in benchmarks/README.md.
PROVED = (
    "Scores with 1,000 to 5,000 rows were predicted from 200 and 500 random rows of six data sets, "
    "ten times each; data sets count equally. The mean absolute error was 0.035 nats of "
    "information reward and 3.6 points of accuracy, against 0.060 nats and 8.5 points for the "
    "present scores, and 0.049 nats and 5.0 points for a power law fitted to subsamples. 86% of "
    "the pairs of learners were ordered correctly by reward and 78% by accuracy (present scores: "
    "83% and 76%; power law: 80% and 71%). The 95% intervals held 95% and 98% of the outcomes, but "
    "only 82% of the rewards on a data set with 26 classes. Two settings of the forecast were "
    "chosen on these data sets. On four others the errors were again the smallest (0.088 nats; "
    "present scores 0.119, power law 0.099), the order was no better than that of the present "
    "scores, and 89% of the rewards were inside the intervals."
)
