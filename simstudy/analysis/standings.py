"""Who is better than whom at a size, and who is best: decided here, reported elsewhere."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

AHEAD: Literal["ahead"] = "ahead"  # they differ by the adjusted test
LEVEL: Literal["level"] = "level"  # they do not
IDENTICAL: Literal["identical"] = "identical"  # the same score in every model: nothing to test
UNTESTED: Literal["untested"] = "untested"  # infinite scores, or fewer than two models in common


@dataclass(frozen=True)
class Pair:
    """Two learners at a size.

    Attributes
    ----------
    size : int
        The training rows.
    first, second : str
        The learners.
    lead : float
        By how much the first is better, whichever way the measure goes.
    low, high : float
        The ends of its interval.
    p : float
        Adjusted.
    n, infinite : int
        Models that both have, and those in which the difference is infinite.
    verdict : {"ahead", "level", "identical", "untested"}
        What the adjusted test says of the two.
    """

    size: int
    first: str
    second: str
    lead: float
    low: float
    high: float
    p: float
    n: int
    infinite: int
    verdict: Literal["ahead", "level", "identical", "untested"]

    def turned(self) -> Pair:
        """The same pair, the second learner first."""
        return replace(
            self,
            first=self.second,
            second=self.first,
            lead=-self.lead,
            low=-self.high,
            high=-self.low,
        )

    def seen_from(self, learner: str) -> Pair:
        """The same pair, this learner first."""
        return self if self.first == learner else self.turned()

    def better_first(self, ranked: Sequence[str]) -> Pair:
        """The learner with the lead first; without one, the one ranked higher."""
        later = ranked.index(self.first) > ranked.index(self.second)
        behind = self.lead < 0 or (not self.lead > 0 and later)
        return self.turned() if behind else self

    @property
    def winner(self) -> str | None:
        """The learner that beats the other, if one does."""
        if self.verdict != AHEAD:
            return None
        return self.first if self.lead > 0 else self.second


@dataclass(frozen=True)
class Standing:
    """The learners at one size, from the best mean to the worst, and what tests say of the best.

    Attributes
    ----------
    size : int
        The training rows.
    ranked : tuple of str
        All learners by their means, those without a finite one last.
    shared_with : tuple of str
        Others of exactly the best mean.
    against : tuple of Pair
        The learner of best mean with each other one, the closest mean first.
    """

    size: int
    ranked: tuple[str, ...]
    shared_with: tuple[str, ...]
    against: tuple[Pair, ...]

    @property
    def leader(self) -> str:
        """The learner of best mean."""
        return self.ranked[0]

    @cached_property
    def beats(self) -> list[Pair]:
        """Those that the leader beats."""
        return [pair for pair in self.against if pair.verdict == AHEAD and pair.lead > 0]

    @cached_property
    def beaten_by(self) -> list[Pair]:
        """Those that beat the leader, over fewer models than the means."""
        return [pair for pair in self.against if pair.verdict == AHEAD and not pair.lead > 0]

    @cached_property
    def level(self) -> list[Pair]:
        """Those from which the leader does not differ significantly."""
        return [pair for pair in self.against if pair.verdict == LEVEL]

    @cached_property
    def identical(self) -> list[Pair]:
        """Those with the leader's score in every model."""
        return [pair for pair in self.against if pair.verdict == IDENTICAL]

    @cached_property
    def untested(self) -> list[Pair]:
        """Those that the leader could not be tested against."""
        return [pair for pair in self.against if pair.verdict == UNTESTED]

    @property
    def key(self) -> Hashable:
        """What two sizes must share to be reported together."""
        parts = (self.beats, self.level, self.identical, self.beaten_by, self.untested)
        rivals = (frozenset(pair.second for pair in part) for part in parts)
        return (self.leader, self.shared_with, *rivals)

    @property
    def wins(self) -> bool:
        """Whether the leader beats all that it was tested against, and there were any."""
        return bool(self.beats) and not (self.level or self.identical or self.beaten_by)


def judged(pairs: pd.DataFrame, greater_is_better: bool, alpha: float) -> list[Pair]:
    """Every row of the pairwise table with its verdict, in the table's order and direction.

    Only a difference whose adjusted p value is below ``alpha`` counts.
    """
    sign = 1 if greater_is_better else -1
    found = []
    for row in pairs.to_dict("records"):
        lead, p, n = sign * row["difference"], row["p_adjusted"], int(row["n"])
        low, high = sorted((sign * row["lower"], sign * row["upper"]))
        verdict: Literal["ahead", "level", "identical", "untested"] = LEVEL
        if row["infinite"] or n < 2 or math.isnan(lead):
            verdict = UNTESTED
        elif lead == 0 and math.isnan(p):
            verdict = IDENTICAL
        elif p < alpha:
            verdict = AHEAD
        both = row["first"], row["second"]
        numbers = (lead, low, high, p, n, int(row["infinite"]))
        found.append(Pair(int(row["size"]), *both, *numbers, verdict))
    return found


def ranked_at(size: int, intervals: pd.DataFrame, greater_is_better: bool) -> list[str]:
    """The learners by their means at a size, the best first, those without a finite one last."""
    means = _means(size, intervals, greater_is_better)

    def place(learner: str) -> tuple[bool, bool, float]:
        mean = means[learner]
        missing = math.isnan(mean)
        return not math.isfinite(mean), missing, 0.0 if missing else -mean

    return sorted(means, key=place)


def standing_at(
    size: int, pairs: Sequence[Pair], intervals: pd.DataFrame, greater_is_better: bool
) -> Standing | None:
    """The standing at a size, by the pairs there; None if no mean is finite."""
    means = _means(size, intervals, greater_is_better)
    if not np.isfinite(list(means.values())).any():
        return None
    best, *others = ranked_at(size, intervals, greater_is_better)
    shared = tuple(learner for learner in others if means[learner] == means[best])
    against = [
        pair.seen_from(best)
        for pair in pairs
        if pair.size == size and best in (pair.first, pair.second)
    ]
    against.sort(key=lambda pair: _last_if_missing(means[pair.second]))
    return Standing(size, (best, *others), shared, tuple(against))


def _last_if_missing(mean: float) -> float:
    return math.inf if math.isnan(mean) else -mean


def _means(size: int, intervals: pd.DataFrame, greater_is_better: bool) -> dict[str, float]:
    """The learners' means at a size, turned so that more is better."""
    sign = 1 if greater_is_better else -1
    at_size = intervals[intervals["size"] == size]
    return dict(zip(at_size["learner"], sign * at_size["mean"], strict=True))
