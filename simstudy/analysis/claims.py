"""Whether results bear out statements and claims about learners."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from simstudy.analysis.data_claims import DataCheck, HasDatasets, check_data_claim
from simstudy.analysis.standings import AHEAD, UNTESTED
from simstudy.analysis.verdicts import NOT_DECIDED, NOT_REPRODUCED, REPRODUCED
from simstudy.study.claims import PAIRS, Claim, Statement
from simstudy.study.data_claims import DataClaim

if TYPE_CHECKING:
    from simstudy.analysis.findings import ModelFindings


@runtime_checkable
class HasFindings(Protocol):
    """Results of a study of models, as far as claims are concerned."""

    def findings(self, measure: str | None = None) -> ModelFindings:
        """What the analysis says about a measure."""


@dataclass(frozen=True)
class Check:
    """One of the numbers that a claim is held against.

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


@dataclass(frozen=True)
class Verdict:
    """Whether the results bear a claim out.

    "reproduced" if all checks hold by their intervals, "not reproduced" if the interval of any
    contradicts it, else "not decided"; of a claim that something holds somewhere, "reproduced" if
    any check holds and "not reproduced" if all are contradicted.
    """

    claim: Claim | DataClaim
    verdict: str
    checks: Sequence[Check | DataCheck]


@dataclass(frozen=True)
class StatementVerdict:
    """Whether the results bear a statement out, from the verdicts on its lines.

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
    def contradicted(self) -> list[str]:
        """The lines that are contradicted, in words, if there is more than one line."""
        lines = self.lines if len(self.lines) > 1 else []
        return [line.claim.text for line in lines if line.verdict == NOT_REPRODUCED]


def check_statements(
    statements: Sequence[Statement], results: Mapping[str, object]
) -> list[StatementVerdict]:
    """Hold statements against the results of the studies they name; see `check_claims`."""
    return [StatementVerdict(made, check_claims(made.lines, results)) for made in statements]


def check_claims(
    claims: Sequence[Claim | DataClaim], results: Mapping[str, object]
) -> list[Verdict]:
    """Hold claims against the results of the studies they name, one verdict for each.

    Tests and intervals are the study's own, with its confidence and adjustment.
    """
    found = []
    for claim in claims:
        if claim.study not in results:
            checks = [Check(NOT_DECIDED, 0, "", reason=f"no results of the study {claim.study}")]
            found.append(Verdict(claim, NOT_DECIDED, checks))
            continue
        own = results[claim.study]
        if isinstance(claim, DataClaim):
            assert isinstance(own, HasDatasets)
            made = check_data_claim(claim, own)
            found.append(Verdict(claim, _all_hold(one.verdict for one in made), made))
        else:
            assert isinstance(own, HasFindings)
            found.append(check_claim(claim, own.findings(claim.measure or None)))
    return found


def check_claim(claim: Claim, findings: ModelFindings) -> Verdict:
    """Hold one claim against the findings about a measure."""
    checks = []
    for size in claim.sizes:
        if claim.relation in PAIRS:
            checks += [_pair(claim, size, *pair, findings) for pair in claim.pairs()]
        else:
            checks += [_mean(claim, size, learner, findings) for learner in claim.learners]
    combine = _some_hold if claim.some else _all_hold
    return Verdict(claim, combine(check.verdict for check in checks), checks)


def _all_hold(verdicts: Iterable[str]) -> str:
    """The verdict on what holds only if all of its parts do."""
    found = {*verdicts}
    if NOT_REPRODUCED in found:
        return NOT_REPRODUCED
    return REPRODUCED if found == {REPRODUCED} else NOT_DECIDED


def _some_hold(verdicts: Iterable[str]) -> str:
    """The verdict on what holds if any of its parts does."""
    found = {*verdicts}
    if REPRODUCED in found:
        return REPRODUCED
    return NOT_REPRODUCED if found == {NOT_REPRODUCED} else NOT_DECIDED


def _pair(claim: Claim, size: int, first: str, second: str, findings: ModelFindings) -> Check:
    """Whether two learners stand as claimed at a size."""
    both = {first, second}
    found = [pair for pair in findings.pairs_at(size) if {pair.first, pair.second} == both]
    if not found:
        return Check(NOT_DECIDED, size, first, second, reason="not among the results")
    pair = found[0].seen_from(first)
    if pair.verdict == UNTESTED:
        why = "infinite scores" if pair.infinite else "too few models have both"
        return Check(NOT_DECIDED, size, first, second, reason=f"not tested, {why}")
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
    return Check(verdict, size, first, second, *numbers, p=p)


def _mean(claim: Claim, size: int, learner: str, findings: ModelFindings) -> Check:
    """Whether a learner's mean lies where it is claimed to."""
    found = [mean for mean in findings.means_of(learner) if mean.size == size]
    if not found:
        return Check(NOT_DECIDED, size, learner, reason="not among the results")
    (mean,) = found
    if mean.infinite or mean.n < 2:
        why = "infinite scores" if mean.infinite else "too few models"
        return Check(NOT_DECIDED, size, learner, reason=f"no interval, {why}")
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
    return Check(verdict, size, learner, "", *numbers)


def _decided(low: float, high: float, least: float, most: float) -> str:
    """Where an interval lies: within the bounds, outside them, or on both sides of one."""
    if least <= low and high <= most:
        return REPRODUCED
    return NOT_REPRODUCED if high < least or low > most else NOT_DECIDED
