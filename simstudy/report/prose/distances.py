"""What is said beside figures of distances: what is drawn, what bars are, what they compare."""

from __future__ import annotations

from simstudy.analysis.models.findings import ModelFindings
from simstudy.report.charts.distance import MAX_COLOURED, to_truth
from simstudy.report.prose import phrases

RANKS = "Ranks of the means; 1 is best. Neighbours need not be separated by the tests."
_COLOURED = (
    "In colour: who has the best mean or is not separated from it at some size; grey, without "
    "bars: the others. Click on a line or press Enter to keep it in front."
)


def caption(findings: ModelFindings) -> list[str]:
    """Caption of the distances against training size."""
    known, models = to_truth(findings), findings.design.models
    to = "below that of the true probabilities" if known else "behind the best mean"
    used = findings.pairs_used or (models, models)
    return [
        f"How far the mean {phrases.with_unit(findings.info)} is {to}, at each size. Bars compare "
        "with the best mean at that size (short line), and with no other: "
        f"{intervals(findings, 'one that reaches the line: not separated from it')}",
        *["Compared are the models that both have."] * (used[0] < models),
        *["Dotted: what is left with unlimited data."] * bool(known and findings.limits),
        *[_COLOURED] * (len(findings.treatments) > MAX_COLOURED),
        "At the bottom: who may be the best.",
    ]


def intervals(findings: ModelFindings, mark: str) -> str:
    """What bars of differences from the best mean are, and what marks those not separated."""
    holm = " Holm's method, which decides, has no intervals and may find further differences."
    level, family = phrases.level(findings.design.confidence), phrases.interval_family(findings)
    return (
        f"{level} intervals of paired differences, {family}; {mark}.{holm * findings.design.holm}"
    )
