"""Whether results on models bear out claims about learners."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from simstudy.analysis.standings import UNTESTED
from simstudy.analysis.verdicts import NOT_DECIDED, Check, decided
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
    """One of the numbers that a claim about models is held against, at a size.

    For two learners ``estimate`` is the mean paired difference in favour of the first; for one, its
    mean. ``p`` is there where a test without an interval decides (Holm's method).
    """

    size: int = 0
    columns: ClassVar[Sequence[str]] = [
        *("size", "first", "second", "estimate", "lower", "upper", "n", "m", "reason", "p")
    ]


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
    pairs = [pair for pair in findings.pairs_at(size) if {pair.first, pair.second} == both]
    pair = pairs[0].seen_from(first) if pairs else None
    if pair is None or pair.verdict == UNTESTED:
        reason = "not among the results"
        if pair:
            why = "infinite scores" if pair.infinite else "too few models have both"
            reason = f"not tested, {why}"
        return ModelCheck(NOT_DECIDED, first, second, reason=reason, size=size)
    p = math.nan
    if claim.relation == "beats":
        # The test decides, as Holm's method has no intervals.
        p = pair.p if findings.design.holm else p
        verdict = decided(pair.winner == first, pair.winner == second)
    else:
        most = math.inf if claim.relation == "not beaten by" else claim.margin
        verdict = _within(pair.low, pair.high, -claim.margin, most)
    numbers = (pair.lead, pair.low, pair.high, pair.n, findings.pair_tests)
    return ModelCheck(verdict, first, second, *numbers, p, size=size)


def _mean(claim: ModelClaim, size: int, learner: str, findings: ModelFindings) -> ModelCheck:
    """Whether a learner's mean lies where it is claimed to."""
    means = [mean for mean in findings.means_of(learner) if mean.size == size]
    if not means or means[0].infinite or means[0].n < 2:
        reason = "not among the results"
        if means:
            why = "infinite scores" if means[0].infinite else "too few models"
            reason = f"no interval, {why}"
        return ModelCheck(NOT_DECIDED, learner, reason=reason, size=size)
    (mean,) = means
    assert claim.value is not None
    least, most = claim.value[0] - claim.margin, claim.value[-1] + claim.margin
    least = -math.inf if claim.relation == "below" else least
    most = math.inf if claim.relation == "above" else most
    verdict = _within(mean.lower, mean.upper, least, most)
    numbers = (mean.mean, mean.lower, mean.upper, mean.n, mean.m)
    return ModelCheck(verdict, learner, "", *numbers, size=size)


def _within(low: float, high: float, least: float, most: float) -> str:
    """Where an interval lies: within the bounds, outside them, or on both sides of one."""
    return decided(least <= low and high <= most, high < least or low > most)
