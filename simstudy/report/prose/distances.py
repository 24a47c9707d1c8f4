"""What is said beside figures of distances: what is drawn, what bars are, what they compare."""

from __future__ import annotations

import math
import operator

from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.standings import AHEAD
from simstudy.report.charts.distance import contenders, front, many, to_truth
from simstudy.report.prose import phrases

RANKS = "Ranks of the means at each size; 1 is best. They are not tested."
_DOTTED = "Dotted: the distance of each learner fitted to unlimited data"
_SLOPING = "; it changes a little with the size because the cutoff of probabilities does"
_VARIED = (
    "Bars are longer where differences vary more between models: a learner may be separated while "
    "another, of a worse mean, is not."
)
_LEVEL = 1e-6  # up to which distances are the same
_PINNED = "Click on a line, or press Enter at a mark, to keep it in front."


def caption(findings: ModelFindings) -> list[str]:
    """Caption of the distances against training size."""
    known, models = to_truth(findings), findings.design.models
    to = "below that of the true probabilities" if known else "behind the best mean"
    missing = findings.pairs_used is not None and findings.pairs_used[0] < models
    limits = findings.limits if known and not many(findings) else {}
    tops = [[*map(operator.sub, findings.ceiling, row)] for row in limits.values()]
    sloping = any(max(top) - min(top) > _LEVEL for top in tops)
    return [
        *_coloured(findings),
        f"How far the mean {phrases.with_unit(findings.info)} is {to}, at each size. Bars compare "
        f"with the best mean of a size (short line), and with no other: {intervals(findings)} A "
        "bar that reaches the short line is not separated from it.",
        *[_VARIED] * _crossed(findings),
        *["Learners are compared over the models that both have."] * missing,
        *[f"{_DOTTED}{_SLOPING * sloping}."] * bool(tops),
        *[_PINNED] * many(findings),
        "At the bottom: who may be the best.",
    ]


def _crossed(findings: ModelFindings) -> bool:
    """Whether at some size a learner is separated from the best mean, but a worse one is not."""
    return any(
        max((pair.lead for pair in at.level), default=0.0)
        > min((pair.lead for pair in at.against if pair.verdict == AHEAD), default=math.inf)
        for at in findings.standings
    )


def _coloured(findings: ModelFindings) -> list[str]:
    """Why some of many learners are in colour and others are not."""
    if contenders(findings) <= {*front(findings)}:
        shown = "not separated from the best mean at some size; grey: the others"
    else:
        shown = "the best mean at some size; grey: the others, many not separated from it"
    return [f"In colour: {shown}."] * many(findings)


def intervals(findings: ModelFindings) -> str:
    """What bars of differences from the best mean are."""
    text = f"the {phrases.level(findings.design.confidence)} intervals of the paired tests"
    holm = f", {phrases.interval_family(findings)}. Holm's method, which decides, has no intervals "
    return f"{text}{(holm + 'and may find further differences') * findings.design.holm}."
