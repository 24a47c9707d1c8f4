"""Whether results bear out statements and claims about learners."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.numbers import signed
from simstudy.study.claims import PAIRS, Claim, Statement

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.results import Results

REPRODUCED, NOT_REPRODUCED, NOT_DECIDED = "reproduced", "not reproduced", "not decided"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, NOT_DECIDED)


@dataclass(frozen=True)
class Check:
    """One of the numbers that a claim is held against.

    For two learners ``estimate`` is the mean paired difference in favour of the first, whether
    more or less of the measure is better; for one, its mean.
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

    @property
    def numbers(self) -> str:
        """What was estimated, with its interval, or why there is none."""
        what = f"{self.first} over {self.second}" if self.second else f"mean of {self.first}"
        found = f"{signed(self.estimate)} [{signed(self.lower)}, {signed(self.upper)}]"
        return f"{what} at {self.size:,} rows: {self.reason or found}"

    @property
    def basis(self) -> str:
        """What the interval rests on."""
        return "" if self.reason else f"{self.n} models, m = {self.m}"

    def __str__(self) -> str:
        return ", ".join(part for part in (self.numbers, self.basis) if part)


@dataclass(frozen=True)
class Verdict:
    """Whether the results bear a claim out.

    "reproduced" if all checks hold by their intervals, "not reproduced" if the interval of any
    contradicts it, else "not decided"; of a claim that something holds somewhere, "reproduced" if
    any check holds and "not reproduced" if all are contradicted.
    """

    claim: Claim
    verdict: str
    checks: list[Check]

    @property
    def tally(self) -> str:
        """How many of its numbers bear it out, contradict it, or leave it open."""
        counts = [sum(check.verdict == said for check in self.checks) for said in VERDICTS]
        words = ("hold", "contradicted", "open")
        parts = [f"{count} {word}" for count, word in zip(counts, words, strict=True) if count]
        return f"of {len(self.checks)} intervals, {', '.join(parts)}"

    def __str__(self) -> str:
        return f"{self.verdict}: {self.claim.text} ({'; '.join(map(str, self.checks))})"


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
    statements: Sequence[Statement], results: Mapping[str, Results]
) -> list[StatementVerdict]:
    """Hold statements against the results of the studies they name; see `check_claims`."""
    return [StatementVerdict(made, check_claims(made.lines, results)) for made in statements]


def check_claims(claims: Sequence[Claim], results: Mapping[str, Results]) -> list[Verdict]:
    """Hold claims against the results of the studies they name, one verdict for each.

    Intervals are the study's own: of differences as in `Results.pairwise`, of means as in
    `Results.intervals`, with the confidence and adjustment that the study asks for.
    """
    found = []
    for claim in claims:
        if claim.study not in results:
            checks = [Check(NOT_DECIDED, 0, "", reason=f"no results of the study {claim.study}")]
            found.append(Verdict(claim, NOT_DECIDED, checks))
            continue
        study = results[claim.study]
        measure = claim.measure or None
        confidence = study.settings["analysis"]["confidence"]
        tables = (study.pairwise(measure), study.intervals(measure), study.info(measure))
        found.append(check_claim(claim, *tables, confidence))
    return found


def check_claim(
    claim: Claim,
    pairs: pd.DataFrame,
    intervals: pd.DataFrame,
    info: MeasureInfo,
    confidence: float = 0.95,
) -> Verdict:
    """Hold one claim against the tables of pairs and of means."""
    checks = []
    for size in claim.sizes:
        if claim.relation in PAIRS:
            for first, second in claim.pairs():
                checks.append(_pair(claim, size, first, second, pairs, info, confidence))
        else:
            checks += [_mean(claim, size, learner, intervals) for learner in claim.learners]
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


def _pair(
    claim: Claim,
    size: int,
    first: str,
    second: str,
    pairs: pd.DataFrame,
    info: MeasureInfo,
    confidence: float,
) -> Check:
    """Whether two learners stand as claimed at a size."""
    row = _row(pairs, size, {"first": first, "second": second})
    turned = row is None
    if row is None:
        row = _row(pairs, size, {"first": second, "second": first})
    if row is None:
        return Check(NOT_DECIDED, size, first, second, reason="not among the results")
    if row["infinite"] or row["n"] < 2:
        why = "infinite scores" if row["infinite"] else "too few models have both"
        return Check(NOT_DECIDED, size, first, second, reason=f"not tested, {why}")
    sign = (1 if info.greater_is_better else -1) * (-1 if turned else 1)
    low, high = sorted((sign * row["lower"], sign * row["upper"]))
    ahead = sign * row["difference"]
    if claim.relation == "beats":
        told = row["p_adjusted"] < 1 - confidence  # decides, as Holm's method has no intervals
        verdict = NOT_DECIDED if not told else REPRODUCED if ahead > 0 else NOT_REPRODUCED
    elif claim.relation == "not beaten by":
        verdict = _decided(low, high, -claim.margin, math.inf)
    else:
        verdict = _decided(low, high, -claim.margin, claim.margin)
    return Check(verdict, size, first, second, ahead, low, high, int(row["n"]), int(row["m"]))


def _mean(claim: Claim, size: int, learner: str, intervals: pd.DataFrame) -> Check:
    """Whether a learner's mean lies where it is claimed to."""
    row = _row(intervals, size, {"learner": learner})
    if row is None:
        return Check(NOT_DECIDED, size, learner, reason="not among the results")
    if row["infinite"] or row["n"] < 2:
        why = "infinite scores" if row["infinite"] else "too few models"
        return Check(NOT_DECIDED, size, learner, reason=f"no interval, {why}")
    assert claim.value is not None
    start, end = claim.value[0], claim.value[-1]
    least, most = {
        "above": (start - claim.margin, math.inf),
        "below": (-math.inf, start + claim.margin),
        "near": (start - claim.margin, start + claim.margin),
        "between": (start - claim.margin, end + claim.margin),
    }[claim.relation]
    low, high = row["lower"], row["upper"]
    verdict = _decided(low, high, least, most)
    return Check(verdict, size, learner, "", row["mean"], low, high, int(row["n"]), int(row["m"]))


def _decided(low: float, high: float, least: float, most: float) -> str:
    """Where an interval lies: within the bounds, outside them, or on both sides of one."""
    if least <= low and high <= most:
        return REPRODUCED
    return NOT_REPRODUCED if high < least or low > most else NOT_DECIDED


def _row(table: pd.DataFrame, size: int, wanted: Mapping[str, str]) -> dict[Any, Any] | None:
    """The row of a table for a size and some names; None if there is none."""
    rows = table[table["size"] == size]
    for column, name in wanted.items():
        rows = rows[rows[column] == name]
    return None if rows.empty else rows.to_dict("records")[0]
