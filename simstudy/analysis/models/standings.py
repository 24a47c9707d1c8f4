"""Verdicts of the pairwise tests, and the ranking at each size."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd

PairVerdict: TypeAlias = Literal["ahead", "level", "identical", "untested"]
AHEAD: PairVerdict = "ahead"  # a significant difference
LEVEL: PairVerdict = "level"  # no significant difference
IDENTICAL: PairVerdict = "identical"  # equal scores in every model
UNTESTED: PairVerdict = "untested"  # infinite scores, or fewer than two common models


@dataclass(frozen=True)
class Pair:
    """The comparison of two learners at a size.

    Attributes
    ----------
    size : int
        Number of training rows.
    first, second : str
        The learners.
    lead : float
        Difference in favour of the first, whatever the direction of the measure.
    low, high : float
        The limits of its interval.
    p : float
        Adjusted p value.
    n, infinite : int
        Number of common models, and of those with an infinite difference.
    verdict : {"ahead", "level", "identical", "untested"}
        Result of the adjusted test.
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
    verdict: PairVerdict

    def turned(self) -> Pair:
        """Return the pair with the learners swapped."""
        swapped = replace(self, first=self.second, second=self.first)
        return replace(swapped, lead=-self.lead, low=-self.high, high=-self.low)

    def seen_from(self, learner: str) -> Pair:
        """Return the pair with this learner first."""
        return self if self.first == learner else self.turned()

    def better_first(self, ranked: Sequence[str]) -> Pair:
        """Return the pair with the better learner first; if equal, the one ranked higher."""
        later = ranked.index(self.first) > ranked.index(self.second)
        behind = self.lead < 0 or (not self.lead > 0 and later)
        return self.turned() if behind else self

    @property
    def winner(self) -> str | None:
        """The learner that is significantly better, if any."""
        return None if self.verdict != AHEAD else self.first if self.lead > 0 else self.second


@dataclass(frozen=True)
class Standing:
    """The ranking of the learners at one size, and the tests of the best.

    Attributes
    ----------
    size : int
        Number of training rows.
    ranked : tuple of str
        All learners by their means, those without a finite mean last.
    shared_with : tuple of str
        Other learners with exactly the best mean.
    against : tuple of Pair
        The leader against each other learner, the closest mean first.
    beaten : frozenset of str
        The learners than which some other is significantly better.
    """

    size: int
    ranked: tuple[str, ...]
    shared_with: tuple[str, ...]
    against: tuple[Pair, ...]
    beaten: frozenset[str] = frozenset()

    @property
    def leader(self) -> str:
        """The learner with the best mean."""
        return self.ranked[0]

    @cached_property
    def beats(self) -> list[Pair]:
        """The pairs in which the leader is significantly better."""
        return [pair for pair in self.against if pair.verdict == AHEAD and pair.lead > 0]

    @cached_property
    def beaten_by(self) -> list[Pair]:
        """The pairs in which the leader is worse; they are over fewer models than the means."""
        return [pair for pair in self.against if pair.verdict == AHEAD and not pair.lead > 0]

    @cached_property
    def level(self) -> list[Pair]:
        """The pairs in which the leader does not differ significantly."""
        return [pair for pair in self.against if pair.verdict == LEVEL]

    @cached_property
    def identical(self) -> list[Pair]:
        """The pairs with equal scores in every model."""
        return [pair for pair in self.against if pair.verdict == IDENTICAL]

    @cached_property
    def untested(self) -> list[Pair]:
        """The pairs that could not be tested."""
        return [pair for pair in self.against if pair.verdict == UNTESTED]

    @property
    def contenders(self) -> tuple[str, ...]:
        """The learners that may be the best: the leader and those that do not differ from it.

        No test has another learner ahead of any of them, so none has one of them ahead of another.
        Empty if the leader is beaten itself or was tested against no other.
        """
        tested = [pair.second for pair in self.against if pair.verdict in (LEVEL, IDENTICAL)]
        if self.leader in self.beaten or not (tested or self.beats):
            return ()
        return (self.leader, *(learner for learner in tested if learner not in self.beaten))

    @property
    def unseparated(self) -> tuple[str, ...]:
        """The learners that no test shows to be worse than the leader or a third one."""
        ahead = {pair.second for pair in self.beats}
        seen = [pair.second for pair in self.against if pair.n]
        return tuple(name for name in seen if name not in ahead | self.beaten)

    @property
    def key(self) -> Hashable:
        """Key by which sizes are grouped in reports."""
        parts = (self.beats, self.level, self.identical, self.beaten_by, self.untested)
        rivals = (frozenset(pair.second for pair in part) for part in parts)
        return (self.leader, self.shared_with, *rivals)

    @property
    def wins(self) -> bool:
        """Whether the leader is significantly better in all its tests, with at least one test."""
        return bool(self.beats) and not (self.level or self.identical or self.beaten_by)


def smallest_lead(pairs: Iterable[Pair]) -> Pair:
    """Return the pair in which the first learner is least ahead of the second."""
    return min(pairs, key=lambda pair: pair.lead)


def largest_lead(pairs: Iterable[Pair]) -> Pair:
    """Return the pair in which the first learner is furthest ahead of the second."""
    return max(pairs, key=lambda pair: pair.lead)


def largest_difference(pairs: Iterable[Pair]) -> Pair:
    """Return the pair that differs most, with the better learner first."""
    most = max(pairs, key=lambda pair: abs(pair.lead))
    return most if most.lead >= 0 else most.turned()


def judged(pairs: pd.DataFrame, greater_is_better: bool) -> list[Pair]:
    """Return every row of the pairwise table with its verdict, in the order of the table."""
    sign = 1 if greater_is_better else -1
    compared = []
    for row in pairs.to_dict("records"):
        lead, p, n = sign * row["difference"], row["p_adjusted"], int(row["n"])
        low, high = sorted((sign * row["lower"], sign * row["upper"]))
        verdict: PairVerdict = LEVEL
        if row["infinite"] or n < 2 or math.isnan(lead):
            verdict = UNTESTED
        elif lead == 0 and math.isnan(p):
            verdict = IDENTICAL
        elif row["significant"]:
            verdict = AHEAD
        both = row["first"], row["second"]
        numbers = (lead, low, high, p, n, int(row["infinite"]))
        compared.append(Pair(int(row["size"]), *both, *numbers, verdict))
    return compared


def ranked_at(size: int, intervals: pd.DataFrame, greater_is_better: bool) -> list[str]:
    """Return the learners by their means at a size, best first, without a finite mean last."""
    means = _means(size, intervals, greater_is_better)

    def place(learner: str) -> tuple[bool, bool, float]:
        mean = means[learner]
        return not math.isfinite(mean), math.isnan(mean), _order(mean)

    return sorted(means, key=place)


def standing_at(
    size: int, pairs: Sequence[Pair], intervals: pd.DataFrame, greater_is_better: bool
) -> Standing | None:
    """Return the standing at a size, given the pairs there; None if no mean is finite."""
    means = _means(size, intervals, greater_is_better)
    if not np.isfinite(list(means.values())).any():
        return None
    best, *rest = ranked_at(size, intervals, greater_is_better)
    shared = tuple(learner for learner in rest if means[learner] == means[best])
    here = [pair for pair in pairs if pair.size == size]
    against = [pair.seen_from(best) for pair in here if best in (pair.first, pair.second)]
    against.sort(key=lambda pair: _order(means[pair.second]))
    won = [pair for pair in here if pair.winner is not None]
    beaten = frozenset(name for p in won for name in (p.first, p.second) if name != p.winner)
    return Standing(size, (best, *rest), shared, tuple(against), beaten)


def _order(mean: float) -> float:
    """Return a key that sorts greater means first, and missing ones last."""
    return math.inf if math.isnan(mean) else -mean


def _means(size: int, intervals: pd.DataFrame, greater_is_better: bool) -> dict[str, float]:
    """Return the learners' means at a size, signed so that greater is better."""
    sign = 1 if greater_is_better else -1
    at_size = intervals[intervals["size"] == size]
    return dict(zip(at_size["learner"], sign * at_size["mean"], strict=True))
