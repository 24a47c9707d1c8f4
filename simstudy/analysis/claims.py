"""Whether results bear out statements and claims about learners."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from simstudy.analysis.data_claims import HasDatasets, check_data_claim
from simstudy.analysis.model_claims import HasFindings, ModelCheck, check_model_claim
from simstudy.analysis.verdicts import NOT_DECIDED, NOT_REPRODUCED, REPRODUCED, Check, decided
from simstudy.study.claims import Claim, DataClaim, ModelClaim, Statement


@dataclass(frozen=True)
class Verdict:
    """Whether the results bear a claim out.

    "reproduced" if all checks hold by their intervals, "not reproduced" if the interval of any
    contradicts it, else "not decided"; of a claim that something holds somewhere, "reproduced" if
    any check holds and "not reproduced" if all are contradicted.
    """

    claim: Claim
    verdict: str
    checks: Sequence[Check]


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


def check_claims(claims: Sequence[Claim], results: Mapping[str, object]) -> list[Verdict]:
    """Hold claims against the results of the studies they name, one verdict for each.

    Tests and intervals are the study's own, with its confidence and adjustment.
    """
    verdicts = []
    for claim in claims:
        checks, combine = _checks(claim, results), _some_hold if claim.some else _all_hold
        verdicts.append(Verdict(claim, combine(check.verdict for check in checks), checks))
    return verdicts


def _checks(claim: Claim, results: Mapping[str, object]) -> Sequence[Check]:
    """What a claim is held against, by its kind."""
    study = results.get(claim.study)
    if isinstance(claim, ModelClaim) and isinstance(study, HasFindings):
        return check_model_claim(claim, study)
    if isinstance(claim, DataClaim) and isinstance(study, HasDatasets):
        return check_data_claim(claim, study)
    assert study is None, f"{claim} is not about results of its kind"
    return [ModelCheck(NOT_DECIDED, "", reason=f"no results of the study {claim.study}")]


def _all_hold(verdicts: Iterable[str]) -> str:
    """The verdict on what holds only if all of its parts do."""
    kinds = {*verdicts}
    return decided(kinds == {REPRODUCED}, NOT_REPRODUCED in kinds)


def _some_hold(verdicts: Iterable[str]) -> str:
    """The verdict on what holds if any of its parts does."""
    kinds = {*verdicts}
    return decided(REPRODUCED in kinds, kinds == {NOT_REPRODUCED})
