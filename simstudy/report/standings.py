"""Who leads at a size by the paired tests, and which crossings of two learners are established."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simstudy.measures.base import MeasureInfo
from simstudy.report.numbers import signed
from simstudy.report.phrases import listed, p_value

if TYPE_CHECKING:
    import pandas as pd


_CROSSINGS = 3  # crossings that are named; more are counted


@dataclass(frozen=True)
class Lead:
    """By how much a learner is better than a rival at a size, whichever way the measure goes."""

    rival: str
    size: int
    mean: float
    low: float
    high: float
    p: float

    def numbers(self, holm: bool) -> str:
        """The lead with its interval; by Holm's method, which has none, with its p value."""
        if holm:
            return f"{signed(self.mean)} (adjusted p {p_value(self.p)})"
        return f"{signed(self.mean)} [{signed(self.low)}, {signed(self.high)}]"


@dataclass(frozen=True)
class Standing:
    """The learner of best mean at a size, and the others by what the tests say of the two."""

    size: int
    leader: str
    beats: list[Lead] = field(default_factory=list)
    level: list[Lead] = field(default_factory=list)  # not told apart
    beaten_by: list[Lead] = field(default_factory=list)  # over fewer models than the means
    untested: list[Lead] = field(default_factory=list)

    @property
    def key(self) -> Hashable:
        """What two sizes must share to be told of together."""
        parts = (self.beats, self.level, self.beaten_by, self.untested)
        return (self.leader, *(frozenset(lead.rival for lead in part) for part in parts))

    @property
    def wins(self) -> bool:
        """Whether the leader beats all that it was tested against, and there were any."""
        return bool(self.beats) and not self.level and not self.beaten_by

    @property
    def all_others(self) -> str:
        """Whom a winner beats."""
        if self.untested:
            return "every other learner that it could be tested against"
        return self.beats[0].rival if len(self.beats) == 1 else "every other learner"


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
    found = Standing(size, max(finite, key=lambda learner: means[learner]))
    for row in pairs[pairs["size"] == size].to_dict("records"):
        if found.leader not in (row["first"], row["second"]):
            continue
        lead = lead_of(row, found.leader, sign)
        if row["infinite"] or row["n"] < 2:
            found.untested.append(lead)
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
    return Lead(rival, int(row["size"]), turn * row["difference"], low, high, row["p_adjusted"])


def crossings_said(thresholds: pd.DataFrame, leaders: set[str], sizes: list[int]) -> str:
    """The crossings with one learner ahead by the t test before and the other after."""
    found = _established(thresholds)
    if not found:
        return f"no crossing between {sizes[0]:,} and {sizes[-1]:,} rows is established"
    found.sort(key=lambda row: -len({row["first"], row["second"]} & leaders))
    named = sorted(found[:_CROSSINGS], key=lambda row: float(row["crossing"]))
    said = listed([_crossing(row) for row in named])
    more = len(found) - len(named)
    noun = "crossing is" if more == 1 else "crossings are"
    return said + (f"; {more} more {noun} in the table of thresholds" if more else "")


def _established(thresholds: pd.DataFrame) -> list[dict[Any, Any]]:
    """One row for each stretch of sizes before which one is ahead and after which the other is.

    Several crossings may lie in one stretch where the two are not told apart; if their number is
    even, the same learner is ahead before and after it.
    """
    crossed = thresholds[thresholds["crossing"].notna()]
    is_open = crossed["lower_open"].astype(bool) | crossed["upper_open"].astype(bool)
    found = []
    for _, stretch in crossed[~is_open].groupby(["first", "second", "lower"], sort=False):
        rows = stretch.to_dict("records")
        if len(rows) % 2:
            middle = rows[len(rows) // 2]["crossing"]
            found.append(rows[-1] | {"crossing": middle, "before": rows[0]["before"]})
    return found


def _crossing(row: dict[Any, Any]) -> str:
    behind = row["first"] if row["ahead"] == row["second"] else row["second"]
    said = f"{row['ahead']} overtakes {behind}"
    at = f"{row['crossing']:,.0f} [{row['lower']:,.0f}, {row['upper']:,.0f}]"
    return f"{said} between {row['before']:,.0f} and {row['after']:,.0f} rows (at {at})"
