"""What is said beside figures of distances: what is drawn, what bars are, what they compare."""

from __future__ import annotations

from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.standings import Standing
from simstudy.report.charts.distance import MAX_COLOURED, to_truth
from simstudy.report.prose import phrases
from simstudy.report.prose.phrases import level


def button(findings: ModelFindings) -> str:
    """What the distances are to."""
    return "Distance to the truth" if to_truth(findings) else "Distance to the best mean"


def caption(findings: ModelFindings) -> list[str]:
    """Caption of the distances against training size."""
    known, best = to_truth(findings), "the learner with the best mean at that size"
    measured = phrases.with_unit(findings.info)
    sentences = [
        f"How far the mean {measured} is below that of the true probabilities on the same models."
        if known
        else f"How far the mean {measured} is behind the best mean at each size.",
        f"Bars compare with {best} (short line), and with no other: {_intervals(findings)} of the "
        f"paired difference; one that reaches the line is not separated from it.{_holm(findings)}",
    ]
    if len(findings.treatments) > MAX_COLOURED:
        sentences.append(
            "In colour: the learners with the best mean, or not separated from it, at some size; "
            "grey, without bars: the others. Click on a line or press Enter to keep it in front."
        )
    elif known and findings.limits:
        sentences.append("Dotted: the distance that is left with unlimited data.")
    return [*sentences, "At the bottom: who may be the best at each size."]


def ranks(findings: ModelFindings) -> str:
    """Caption of the ranks."""
    return f"Ranks of the mean {findings.info.label} at each size; 1 is best. They are not tested."


def forest(findings: ModelFindings, standing: Standing) -> str:
    """Caption of the differences from the leader of a size."""
    return (
        f"How far each learner is behind {standing.leader}, which has the best mean with "
        f"{standing.size:,} rows, in {findings.info.unit or findings.info.label}. Bars: "
        f"{_intervals(findings)}. Hollow: not separated from it.{_holm(findings)}"
    )


def _intervals(findings: ModelFindings) -> str:
    return f"{level(findings.design.confidence)} intervals, {phrases.interval_family(findings)},"


def _holm(findings: ModelFindings) -> str:
    """What intervals are not for Holm's method."""
    holm = " Holm's method, which decides, has no intervals and may find further differences."
    return holm * findings.design.holm
