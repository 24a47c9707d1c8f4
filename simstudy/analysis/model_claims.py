"""Whether results on models bear out claims about learners."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from simstudy.analysis.standings import AHEAD, UNTESTED
from simstudy.analysis.verdicts import NOT_DECIDED, NOT_REPRODUCED, REPRODUCED, Check
from simstudy.study.claims import PAIRS, ModelClaim

if TYPE_CHECKING:
    from simstudy.analysis.findings import ModelFindings


@runtime_checkable
class HasFindings(Protocol):
    """Results of a study of models, as far as claims are concerned."""

    def findings(self, measure: str | None = None) -> ModelFindings:
        """What the analysis says about a measure."""


@dataclass(frozen=True)
class ModelCheck(Check):
    """One of the numbers that a claim about models is held against.

    For two learners ``estimate`` is the mean paired difference in favour of the first, whether
    more or less of the measure is better; for one, its mean. ``p`` is the adjusted p value where a
    test without an interval decides (Holm's method).
    """

    verdict: str
    size: int
    first: str
    second: str = ""
    estimate: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    n: int = 0
    m: int = 0
    reason: str = ""  # why there are no numbers
    p: float = math.nan


def check_model_claim(claim: ModelClaim, results: HasFindings) -> list[ModelCheck]:
    """Hold one claim against the results of a study of models."""
    findings, checks = results.findings(claim.measure or None), []
    for size in claim.sizes:
        if claim.relation in PAIRS:
            checks += [_pair(claim, size, *pair, findings) for pair in claim.pairs()]
        else:
            checks += [_mean(claim, size, learner, findings) for learner in claim.learners]
    return checks


def _pair(
    claim: ModelClaim, size: int, first: str, second: str, findings: ModelFindings
) -> ModelCheck:
    """Whether two learners stand as claimed at a size."""
    both = {first, second}
    found = [pair for pair in findings.pairs_at(size) if {pair.first, pair.second} == both]
    if not found:
        return ModelCheck(NOT_DECIDED, size, first, second, reason="not among the results")
    pair = found[0].seen_from(first)
    if pair.verdict == UNTESTED:
        why = "infinite scores" if pair.infinite else "too few models have both"
        return ModelCheck(NOT_DECIDED, size, first, second, reason=f"not tested, {why}")
    p = math.nan
    if claim.relation == "beats":
        # The test decides, as Holm's method has no intervals.
        p = pair.p if findings.design.holm else p
        decided = REPRODUCED if pair.lead > 0 else NOT_REPRODUCED
        verdict = decided if pair.verdict == AHEAD else NOT_DECIDED
    else:
        most = math.inf if claim.relation == "not beaten by" else claim.margin
        verdict = _decided(pair.low, pair.high, -claim.margin, most)
    numbers = (pair.lead, pair.low, pair.high, pair.n, findings.pair_tests)
    return ModelCheck(verdict, size, first, second, *numbers, p=p)


def _mean(claim: ModelClaim, size: int, learner: str, findings: ModelFindings) -> ModelCheck:
    """Whether a learner's mean lies where it is claimed to."""
    found = [mean for mean in findings.means_of(learner) if mean.size == size]
    if not found:
        return ModelCheck(NOT_DECIDED, size, learner, reason="not among the results")
    (mean,) = found
    if mean.infinite or mean.n < 2:
        why = "infinite scores" if mean.infinite else "too few models"
        return ModelCheck(NOT_DECIDED, size, learner, reason=f"no interval, {why}")
    assert claim.value is not None
    start, end = claim.value[0], claim.value[-1]
    least, most = {
        "above": (start - claim.margin, math.inf),
        "below": (-math.inf, start + claim.margin),
        "near": (start - claim.margin, start + claim.margin),
        "between": (start - claim.margin, end + claim.margin),
    }[claim.relation]
    verdict = _decided(mean.lower, mean.upper, least, most)
    numbers = (mean.mean, mean.lower, mean.upper, mean.n, mean.m)
    return ModelCheck(verdict, size, learner, "", *numbers)


def _decided(low: float, high: float, least: float, most: float) -> str:
    """Where an interval lies: within the bounds, outside them, or on both sides of one."""
    if least <= low and high <= most:
        return REPRODUCED
    return NOT_REPRODUCED if high < least or low > most else NOT_DECIDED
