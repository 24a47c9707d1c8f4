"""Advice on a table in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simstudy.analysis.advice import Advice, DescribedTable
from simstudy.analysis.outlook import SUPPORTED, Crossing, IntervalEstimate, Outlook
from simstudy.report.prose.numbers import digits, fixed, percent, plus, rows
from simstudy.report.prose.phrases import listed

_FITTERS = {
    "camml": "CaMML’s posterior over networks",
    "tan": "TANs of rows drawn with replacement",
    "kdb": "2-dependence classifiers of rows drawn with replacement",
    "bootstrap": "CaMML’s best networks of rows drawn with replacement",
}
_CUTS = {
    "mdl": "cut where that shortens the description of the classes (Fayyad & Irani 1993)",
    "equal_frequency": "cut into five bins of equal frequency, as most columns have no cut that "
    "shortens the description of the classes",
}


def summary(advice: Advice) -> list[str]:
    """Return the advice in a few sentences, the most important first."""
    one = advice.outlooks[0]
    return [
        now(advice, 0),
        *more_rows(advice),
        *overtaking(one),
        ceiling(one),
        check(one),
    ]


def headline(advice: Advice, at: int) -> str:
    """Say in a sentence or two who does best, and what many more rows would bring."""
    one = advice.outlooks[at]
    best, last, behind = one.best_now, one.sizes[-1], advice.behind(at)
    label = one.learners[best]
    level = [name for name in one.learners if name != label and name not in behind]
    text = f"With your {rows(one.rows)} rows {label} does best"
    text += f", not significantly ahead of {listed(level)}. " if level else ". "
    later = one.best(last)
    share = one.share_best(last)[later]
    ahead = one.learners[later] if later != best else "it"
    return (
        f"{text}With {rows(last)} rows {ahead} {'is' if later != best else 'remains'} the best in "
        f"{percent(share, 0)} of the scenarios, and gains {_gain(one, later, last)}."
    )


def now(advice: Advice, at: int) -> str:
    """Say which learner does best now, and which are significantly behind."""
    one, behind = advice.outlooks[at], advice.behind(at)
    best = one.best_now
    label = one.learners[best]
    text = (
        f"With your {rows(one.rows)} rows {label} does best by {one.info.label}: "
        f"{interval(one.now[best], one)}"
    )
    others = [name for name in one.learners if name not in (label, *behind)]
    if not others and len(one.learners) > 1:
        return f"{text}, significantly more than all others."
    if behind:
        text += f", significantly more than {listed(behind)}"
    if others:
        text += f"; {listed(others)} {'is' if len(others) == 1 else 'are'} not significantly behind"
    return f"{text}."


def more_rows(advice: Advice) -> list[str]:
    """Say what more rows would bring to the learner that is then best."""
    one, found = advice.outlooks[0], []
    for size in _told(one.sizes[1:]):
        best = one.best(size)
        parts = [_gain(each, best, size) for each in advice.outlooks]
        found.append(
            f"{rows(size - one.rows)} more rows ({rows(size)} in all): {one.learners[best]}, the "
            f"best in {percent(one.share_best(size)[best], 0)} of the scenarios, gains "
            f"{' and '.join(parts)}."
        )
    return found


def _told(sizes: Sequence[int]) -> list[int]:
    """The first and the last size."""
    return [*dict.fromkeys([sizes[0], sizes[-1]])]


def _gain(one: Outlook, learner: int, size: int) -> str:
    gain = one.gain(learner, size)
    if one.measure == "accuracy":
        value, low, high = (100 * each for each in (gain.value, gain.low, gain.high))
        return f"{plus(value, 1)} points of accuracy [{plus(low, 1)}, {plus(high, 1)}]"
    unit = f" {one.info.unit}".rstrip()
    return f"{plus(gain.value)}{unit} [{plus(gain.low)}, {plus(gain.high)}]"


def overtaking(one: Outlook) -> list[str]:
    """Say who overtakes whom, as far as scenarios agree."""
    if not one.crossings:
        most = rows(one.sizes[-1])
        return [
            f"Up to {most} rows no learner is predicted to overtake another in "
            f"{percent(SUPPORTED, 0)} of the scenarios or more."
        ]
    return [crossing(each, one) for each in one.crossings]


def crossing(each: Crossing, one: Outlook) -> str:
    """Say where one learner overtakes another."""
    low = f"below {rows(one.rows)}" if each.low == 0 else rows(_round(each.low))
    high = f"above {rows(one.sizes[-1])}" if math.isinf(each.high) else rows(_round(each.high))
    if each.rows == 0:
        where = f"at about {rows(one.rows)} rows"
    else:
        where = f"at about {rows(_round(each.rows))} rows"
    return (
        f"{each.ahead} overtakes {each.behind} {where} [{low}, {high}]; with "
        f"{rows(one.sizes[-1])} rows it is ahead in {percent(each.share, 0)} of the scenarios."
    )


def _round(size: float) -> float:
    """A size to two digits."""
    return float(digits(size, 2))


def ceiling(one: Outlook) -> str:
    """Say how much is left to be gained by anything."""
    best, left = one.best_now, one.below_ceiling
    if left > 0 and not one.ceiling_holds:
        return (
            f"The simulated truths put the ceiling at {interval(one.ceiling, one)}, which "
            "predicted scores exceed: where the ceiling is, these rows do not say."
        )
    if left <= 0:
        return (
            f"The simulated truths allow no better predictions than {one.learners[best]}’s now: "
            "more rows, or other learners, would hardly help; other attributes might."
        )
    return (
        f"The ceiling, by the simulated truths: the best possible predictions from these "
        f"attributes would score about {interval(one.ceiling, one)}, {fixed(left)} above "
        f"{one.learners[best]} now."
    )


def check(one: Outlook) -> str:
    """Say how well the simulated truths explain the scores of the table."""
    found = one.check
    place = found.widest
    off = found.measured[place].value - found.simulated[place].value
    side = "more" if off > 0 else "less"
    told = {
        "well": "The simulated truths explain the scores of your table well",
        "partly": "The simulated truths explain the scores of your table in part",
        "poorly": "The simulated truths do not explain the scores of your table",
    }[found.verdict]
    text = (
        f"{told}: with {rows(one.simulated.start)} training rows, the widest gap is that of "
        f"{one.learners[place]}, which scores {fixed(abs(off))} {side} on your rows than "
        f"simulated ({fixed(abs(found.distances[place]), 1)} standard errors)."
    )
    gained = (
        f" Between half the rows and all, learners gained {plus(found.measured_gain)} on "
        f"your rows, and {plus(found.simulated_gain)} on simulated ones."
    )
    caution = {
        "well": "",
        "partly": " Only gains are taken from them, not levels.",
        "poorly": " Only gains are taken from them, not levels; trust the predictions and their "
        "intervals less.",
    }[found.verdict]
    return text + gained + caution


def interval(one: IntervalEstimate, of: Outlook) -> str:
    """Write a score with its interval and unit."""
    unit = f" {of.info.unit}".rstrip()
    return f"{fixed(one.value)} [{fixed(one.low)}, {fixed(one.high)}]{unit}"


def left_out(about: DescribedTable) -> list[str]:
    """Say which rows and columns were left out, and what is odd."""
    found = []
    if about.rows < about.all_rows:
        found.append(
            f"Of {rows(about.all_rows)} rows, {rows(about.rows)} were drawn at random and used; "
            "the predictions start from these."
        )
    if about.unsimulated:
        found.append(
            f"The simulated truths have the {about.attributes - about.unsimulated} attributes of "
            f"greatest mutual information with the class; the other {about.unsimulated} are "
            "in the cross-validation alone."
        )
    return [*found, *(note[:1].upper() + note[1:].rstrip(".") + "." for note in about.notes)]


def basis(advice: Advice) -> list[str]:
    """Say what the predictions rest on."""
    about = advice.about
    once = "once" if about.repeats == 1 else f"{about.repeats} times"
    found = [
        f"Scores now: stratified {about.folds}-fold cross-validation, {once}; intervals and tests "
        "by the corrected resampled t test (Nadeau & Bengio 2003), tests with Holm’s adjustment.",
        f"Simulated truths: {about.models} networks, their structures drawn from "
        f"{_FITTERS[about.fitter]}, each row of their probability tables from its Dirichlet "
        "distribution given your rows. Learners are fitted to rows drawn from each.",
        "Predicted scores: the scores now, with their error, plus a gain. In half of the scenarios "
        "that is the gain on one of the simulated truths, in the other half that of a power law "
        "fitted to the learning curve of your own rows, resampled. What one learner gains more "
        "than others is shrunk, and gains have an error of 30% in common, both from experience. "
        "Intervals hold 95% of the scenarios.",
    ]
    if about.discretize:
        found.append(f"Numbers are {_CUTS[about.discretize]}, for all learners alike.")
    if about.missing:
        found.append("A missing value is a value of its own.")
    if advice.failed:
        found.append(f"Left out because they failed: {listed(advice.failed)}.")
    return found


DOUBTS = (
    "Further rows must be like these: drawn from the same population, independently, with the same "
    "columns. Rows of the same person, series of time, or a changed population break this.",
    "With more rows, numbers can be cut more finely than the simulated truths know; what that "
    "brings is seen in the learning curve of your rows alone.",
    "Other learners, other settings and other attributes are not predicted. The ceiling is that of "
    "the simulated truths, which are as simple as your rows make them.",
)

# As benchmarks/advice.py has it.
PROVED = (
    "From 200 and 500 random rows of six data sets, ten times each, scores with 1,000 to 5,000 "
    "rows were predicted like this and compared with the outcome. The mean absolute error was "
    "0.036 nats of information reward and 3.9 points of accuracy; taking the present scores for "
    "those to come was wrong by 0.060 nats and 9.4 points, and a power law fitted to subsamples "
    "by 0.048 nats and 5.3 points. Of all pairs of learners 85% were ordered rightly by reward "
    "and 77% by accuracy (present scores: 82% and 75%; power law: 80% and 70%). Intervals of 95% "
    "held 94% and 98% of the outcomes, but only 82% of the rewards on a set with 26 classes. Two "
    "settings of the forecast were chosen on these sets. On four others the errors were again the "
    "smallest (0.088 nats; present scores 0.119, power law 0.099), the order was no better than "
    "that of the present scores, and 89% of the rewards lay inside."
)
