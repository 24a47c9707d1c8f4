"""Who leads at a size by the paired tests."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simstudy.measures.base import MeasureInfo
from simstudy.report.numbers import p_value, signed

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Lead:
    """By how much a learner is better than a rival at a size, whichever way the measure goes."""

    rival: str
    size: int
    mean: float
    low: float
    high: float
    p: float
    n: int = 0

    def numbers(self, holm: bool) -> str:
        """The lead with its interval; by Holm's method, which has none, with its p value."""
        if holm:
            return f"{signed(self.mean)} ({p_value(self.p, 'adjusted p')})"
        return f"{signed(self.mean)} [{signed(self.low)}, {signed(self.high)}]"


@dataclass(frozen=True)
class Standing:
    """The learner of best mean at a size, and the others by what the tests say of the two."""

    size: int
    leader: str
    beats: list[Lead] = field(default_factory=list)
    shared_with: tuple[str, ...] = ()  # others of exactly the same mean
    level: list[Lead] = field(default_factory=list)  # not told apart
    identical: list[Lead] = field(default_factory=list)  # the same in all models, so not tested
    beaten_by: list[Lead] = field(default_factory=list)  # over fewer models than the means
    untested: list[Lead] = field(default_factory=list)

    @property
    def key(self) -> Hashable:
        """What two sizes must share to be told of together."""
        parts = (self.beats, self.level, self.identical, self.beaten_by, self.untested)
        rivals = (frozenset(lead.rival for lead in part) for part in parts)
        return (self.leader, self.shared_with, *rivals)

    @property
    def wins(self) -> bool:
        """Whether the leader beats all that it was tested against, and there were any."""
        return bool(self.beats) and not (self.level or self.identical or self.beaten_by)

    @property
    def all_others(self) -> str:
        """Whom a winner beats."""
        if self.untested:
            return "every other learner that it could be tested against"
        return self.beats[0].rival if len(self.beats) == 1 else "every other learner"


def ranked_at(size: int, intervals: pd.DataFrame, info: MeasureInfo) -> list[str]:
    """The learners by their means at a size, the best first, those without a finite one last."""
    sign = 1 if info.greater_is_better else -1
    at_size = intervals[intervals["size"] == size]
    means = dict(zip(at_size["learner"], sign * at_size["mean"], strict=True))

    def place(learner: str) -> tuple[bool, bool, float]:
        mean = means[learner]
        missing = math.isnan(mean)
        return not math.isfinite(mean), missing, 0.0 if missing else -mean

    return sorted(means, key=place)


def is_tested(pairs: pd.DataFrame) -> pd.Series[bool]:
    """Which rows of the pairwise table could be tested, or are the same in all models."""
    return (pairs["infinite"] == 0) & (pairs["n"] > 1)


def is_identical(pairs: pd.DataFrame) -> pd.Series[bool]:
    """In which rows of the pairwise table the two have the same score in every model."""
    same = (pairs["difference"] == 0) & pairs["p_adjusted"].isna()
    return is_tested(pairs) & same


def standing_at(
    size: int, pairs: pd.DataFrame, intervals: pd.DataFrame, info: MeasureInfo, alpha: float
) -> Standing | None:
    """The standing at a size; None if no mean there is finite."""
    sign = 1 if info.greater_is_better else -1
    at_size = intervals[intervals["size"] == size]
    means = dict(zip(at_size["learner"], sign * at_size["mean"], strict=True))
    finite = [learner for learner, mean in means.items() if math.isfinite(mean)]
    if not finite:
        return None
    best, *others = ranked_at(size, intervals, info)
    shared = tuple(learner for learner in others if means[learner] == means[best])
    found = Standing(size, best, shared_with=shared)
    for row in pairs[pairs["size"] == size].to_dict("records"):
        if found.leader not in (row["first"], row["second"]):
            continue
        lead = lead_of(row, found.leader, sign)
        if row["infinite"] or row["n"] < 2:
            found.untested.append(lead)
        elif lead.mean == 0 and math.isnan(lead.p):
            found.identical.append(lead)
        elif not lead.p < alpha:
            found.level.append(lead)
        else:
            (found.beats if lead.mean > 0 else found.beaten_by).append(lead)
    for part in (found.beats, found.level, found.beaten_by):
        part.sort(key=lambda lead: -means[lead.rival])
    return found


def lead_of(row: dict[Any, Any], learner: str, sign: int) -> Lead:
    """A row of the pairwise table as the lead of one of the two over the other.

    ``sign`` is 1 if more of the measure is better, else −1.
    """
    first = row["first"] == learner
    turn = sign if first else -sign
    low, high = sorted((turn * row["lower"], turn * row["upper"]))
    rival = row["second"] if first else row["first"]
    mean, p = turn * row["difference"], row["p_adjusted"]
    return Lead(rival, int(row["size"]), mean, low, high, p, int(row["n"]))
