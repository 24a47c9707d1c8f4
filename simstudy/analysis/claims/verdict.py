"""Verdicts on statements and claims about learners, and checks against results on models."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

from simstudy.analysis.claims import evidence
from simstudy.analysis.claims.datasets import HasDatasets, check_data_claim
from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.standings import UNTESTED
from simstudy.study.claims import PAIRS, Claim, DataClaim, ModelClaim, Statement


@dataclass(frozen=True)
class Verdict:
    """Whether the results support a claim.

    "reproduced" if all checks hold by their intervals, "not reproduced" if the interval of any
    contradicts it, else "not decided"; of a claim that something holds somewhere, "reproduced" if
    any check holds and "not reproduced" if all are contradicted.
    """

    claim: Claim
    verdict: str
    checks: Sequence[evidence.Check]


@dataclass(frozen=True)
class StatementVerdict:
    """Whether the results support a statement, from the verdicts on its lines.

    "reproduced" if all lines are, "not reproduced" if any line is contradicted, else "not
    decided".
    """

    statement: Statement
    lines: list[Verdict]

    @property
    def verdict(self) -> str:
        """The verdict on the whole."""
        return _all_hold(line.verdict for line in self.lines)

    @property
    def contradicted(self) -> list[Verdict]:
        """The lines that are contradicted, if there is more than one line."""
        lines = self.lines if len(self.lines) > 1 else []
        return [line for line in lines if line.verdict == evidence.NOT_REPRODUCED]


def check_statements(
    statements: Sequence[Statement], results: Mapping[str, object]
) -> list[StatementVerdict]:
    """Check statements against the results of the studies they name; see `check_claims`."""
    return [StatementVerdict(made, check_claims(made.lines, results)) for made in statements]


def check_claims(claims: Sequence[Claim], results: Mapping[str, object]) -> list[Verdict]:
    """Check claims against the results of the studies they name, one verdict for each.

    Tests and intervals are the study's own, with its confidence and adjustment.
    """
    verdicts = []
    for claim in claims:
        checks, combine = _checks(claim, results), _some_hold if claim.some else _all_hold
        verdicts.append(Verdict(claim, combine(check.verdict for check in checks), checks))
    return verdicts


def _checks(claim: Claim, results: Mapping[str, object]) -> Sequence[evidence.Check]:
    """Return the checks of a claim, by its kind."""
    study = results.get(claim.study)
    if isinstance(claim, ModelClaim) and isinstance(study, HasFindings):
        return check_model_claim(claim, study)
    if isinstance(claim, DataClaim) and isinstance(study, HasDatasets):
        return check_data_claim(claim, study)
    assert study is None, f"{claim} is not about results of its kind"
    return [ModelCheck(evidence.NOT_DECIDED, "", reason=f"no results of the study {claim.study}")]


def _all_hold(verdicts: Iterable[str]) -> str:
    """The verdict on what holds only if all of its parts do."""
    kinds = {*verdicts}
    return evidence.decided(kinds == {evidence.REPRODUCED}, evidence.NOT_REPRODUCED in kinds)


def _some_hold(verdicts: Iterable[str]) -> str:
    """The verdict on what holds if any of its parts does."""
    kinds = {*verdicts}
    return evidence.decided(evidence.REPRODUCED in kinds, kinds == {evidence.NOT_REPRODUCED})


@runtime_checkable
class HasFindings(Protocol):
    """The method of results on models that checks of claims use."""

    def findings(self, measure: str | None = None) -> ModelFindings:
        """What the analysis says about a measure."""


@dataclass(frozen=True)
class ModelCheck(evidence.Check):
    """One of the numbers that a claim about models is checked against, at a size.

    For two learners ``estimate`` is the mean paired difference in favour of the first; for one, its
    mean. ``p`` is there where a test without an interval decides (Holm's method).
    """

    size: int = 0
    columns: ClassVar[Sequence[str]] = [
        *("size", "first", "second", "estimate", "lower", "upper", "n", "m", "reason", "p")
    ]


def check_model_claim(claim: ModelClaim, results: HasFindings) -> list[ModelCheck]:
    """Check one claim against the results of a study of models."""
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
    if not pairs or pairs[0].verdict == UNTESTED:
        infinite = any(pair.infinite for pair in pairs)
        why = "infinite scores" if infinite else "too few models have both"
        reason = f"not tested, {why}" if pairs else "not among the results"
        return ModelCheck(evidence.NOT_DECIDED, first, second, reason=reason, size=size)
    pair, p = pairs[0].seen_from(first), math.nan
    if claim.relation == "beats":
        # The test decides, as Holm's method has no intervals.
        p = pair.p if findings.design.holm else p
        verdict = evidence.decided(pair.winner == first, pair.winner == second)
    else:
        most = math.inf if claim.relation == "not beaten by" else claim.margin
        verdict = _within(pair.low, pair.high, -claim.margin, most)
    numbers = (pair.lead, pair.low, pair.high, pair.n, findings.pair_tests)
    return ModelCheck(verdict, first, second, *numbers, p, size=size)


def _mean(claim: ModelClaim, size: int, learner: str, findings: ModelFindings) -> ModelCheck:
    """Whether a learner's mean lies where it is claimed to."""
    means = [mean for mean in findings.means_of(learner) if mean.size == size]
    if not means or means[0].infinite or means[0].n < 2:
        why = "infinite scores" if means and means[0].infinite else "too few models"
        reason = f"no interval, {why}" if means else "not among the results"
        return ModelCheck(evidence.NOT_DECIDED, learner, reason=reason, size=size)
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
    return evidence.decided(least <= low and high <= most, high < least or low > most)
