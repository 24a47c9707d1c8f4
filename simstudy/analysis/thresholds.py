"""Thresholds: the sizes between which one learner overtakes another."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analysis.adjustment import largest
from simstudy.analysis.complete import Cells, Level, cells
from simstudy.analysis.curves import MAX_RATIO, Curve, Facts, Zone, complete_curve, sizes_of
from simstudy.analysis.pairwise import pairwise
from simstudy.arrays import FloatArray, IntArray

COLUMNS = [
    *("first", "second", "n", "infinite", "m", "first_ahead", "second_ahead"),
    *("ahead", "before", "after", "crossing", "lower", "upper", "note"),
]


@dataclass(frozen=True)
class LeadChange:
    """One learner is ahead at a size, the other at a larger one, by the adjusted tests."""

    before: int  # index of the last size at which the first leader is ahead
    after: int  # index of the first size at which the other is ahead
    sign: int  # of the difference after it
    zone: Zone | None  # None if the complete subjects do not show the change


@dataclass(frozen=True)
class PairCurve:
    """Two learners, their mean difference at common sizes, and its changes of sign.

    The difference is positive if the second learner is better. There is no curve, and a note among
    the facts, if too few subjects are complete; signs come from tests at single sizes.
    """

    first: Level
    second: Level
    sizes: FloatArray
    curve: Curve | None
    facts: Facts
    signs: Sequence[int] = ()
    changes: Sequence[LeadChange] = ()
    m: int = 0

    def leader(self, sign: int) -> Level:
        """Return the learner that is ahead for a sign of the difference."""
        return self.second if sign > 0 else self.first


@dataclass(frozen=True)
class Overtaking:
    """One learner overtakes another between two sizes, by the adjusted tests.

    Attributes
    ----------
    ahead, behind
        The learner that overtakes, and the one that is overtaken.
    before, after : float
        The last size at which `behind` is ahead, and the first at which `ahead` is.
    crossing, lower, upper : float
        The estimated size at which the mean difference is 0, and its interval; NaN without an
        estimate.
    note : str
        Why there is no estimate.
    """

    ahead: Level
    behind: Level
    before: float
    after: float
    crossing: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    note: str = ""

    @property
    def estimated(self) -> bool:
        """Whether there is an estimate of the crossing."""
        return not math.isnan(self.crossing)


@dataclass(frozen=True)
class Course:
    """Two learners over the sizes: where each is ahead, and the changes in between.

    Attributes
    ----------
    first, second
        The learners.
    n, infinite : int
        The smallest number of subjects in a test, and the largest number of those in which either
        value is infinite.
    m : int
        The number of tests adjusted for; 0 if the pair could not be tested at any size.
    first_ahead, second_ahead : tuple of float
        The sizes at which each learner is ahead.
    changes : tuple of Overtaking
        The changes of the learner ahead, by size.
    note : str
        Why there is no change.
    """

    first: Level
    second: Level
    n: int
    infinite: int
    m: int
    first_ahead: tuple[float, ...] = ()
    second_ahead: tuple[float, ...] = ()
    changes: tuple[Overtaking, ...] = ()
    note: str = ""

    @property
    def analysed(self) -> bool:
        """Whether the pair could be tested."""
        return self.m > 0

    @property
    def leader(self) -> Level:
        """The learner that is ahead at some size and never behind, or None."""
        if bool(self.first_ahead) == bool(self.second_ahead):
            return None
        return self.first if self.first_ahead else self.second

    def other(self, learner: Level) -> Level:
        """Return the other learner of the pair."""
        return self.second if learner == self.first else self.first

    def ahead_at(self, learner: Level) -> tuple[float, ...]:
        """Return the sizes at which a learner is ahead."""
        return self.first_ahead if learner == self.first else self.second_ahead

    def rows(self) -> list[dict[str, object]]:
        """Return the rows of the pair in the table of `thresholds`."""
        start = {"first": self.first, "second": self.second, "n": self.n, "infinite": self.infinite}
        start |= {"m": self.m or math.nan, "ahead": self.leader, "note": self.note}
        for key in ("first_ahead", "second_ahead"):
            start[key] = ", ".join(f"{size:.10g}" for size in getattr(self, key))
        keys = ("ahead", "before", "after", "crossing", "lower", "upper", "note")
        changed = [start | {key: getattr(each, key) for key in keys} for each in self.changes]
        return changed or [start]


def thresholds(table: pd.DataFrame, *arguments: Any, **options: Any) -> pd.DataFrame:
    """Return the sizes between which one learner overtakes another, as a table.

    Parameters
    ----------
    table, *arguments, **options
        As in `courses`.

    Returns
    -------
    DataFrame
        One row per pair and change of the learner ahead, and one for a pair without changes:

        - `first`, `second`; `n`, the smallest number of subjects in a test; `infinite`, the largest
          number of subjects with an infinite value at a size, where the pair is not tested; `m`,
          the number of tests adjusted for;
        - `first_ahead`, `second_ahead`: the sizes at which each learner is ahead, as text such
          as "50, 500";
        - `ahead`: the learner that overtakes the other or, without a change, the one that is
          ahead at some size, if any; `before`, `after`: the last size at which the other is
          ahead, and the first at which it is;
        - `crossing`, `lower`, `upper`: the estimated size at which the mean difference is 0, and
          the limits of its interval; NaN without an estimate;
        - `note`: why there is no change, or no estimate.
    """
    return as_table(courses(table, *arguments, **options))


def as_table(pairs: Sequence[Course]) -> pd.DataFrame:
    """Return courses as the table of `thresholds`."""
    rows = [row for course in pairs for row in course.rows()]
    numbers = ["before", "after", "crossing", "lower", "upper"]
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(numbers, np.float64))


def courses(table: pd.DataFrame, *arguments: Any, **options: Any) -> list[Course]:
    """Find the sizes at which each learner is ahead, and between which one overtakes another.

    A learner is ahead at a size if the test of `pairwise` is significant there. It overtakes
    another between the last size at which the other is ahead and the first at which it is: two of
    the study's own sizes, without assumptions about the curve between them. If the sizes around the
    crossing are close to each other, it is estimated, with an interval. There is no extrapolation.

    Parameters
    ----------
    table, *arguments, **options
        As in `compared`.

    Returns
    -------
    list of Course
        One per pair. A warning is logged if a subject lacks a value.

    Notes
    -----
    Between neighbouring sizes the mean difference is estimated by two parabolas in log n, through
    these two sizes and the next on either side (`Curve.zone`). The estimate is the zero of their
    mean. The interval contains all sizes at which 0 lies within the t limits of either parabola, or
    between the two, which allows for interpolation error as far as the curvature shows it. It is
    given if all neighbouring sizes in and next to it are within a factor of 2.5 and the estimated
    curve crosses 0 once. Its t limits are those of the adjusted tests: with unadjusted limits,
    intervals after a spuriously significant crossing would miss the true one too often
    (`benchmarks/threshold_coverage.py`). Only subjects with a value at every size are used for
    estimates.
    """
    return [_course(pair) for pair in compared(table, *arguments, **options)]


def compared(
    table: pd.DataFrame,
    subject: str = "model",
    factor: str = "learner",
    size: str = "size",
    value: str = "information_reward",
    greater_is_better: bool = True,
    confidence: float = 0.95,
    adjustment: str = "bonferroni_all",
    share: bool = False,
    tests: pd.DataFrame | None = None,
) -> list[PairCurve]:
    """Compare each pair of learners at their common sizes.

    Parameters
    ----------
    table
        One row per subject, level of `factor` and size. A pair of learners is compared at its
        common sizes.
    subject, factor, size, value, confidence, adjustment, share
        As in `pairwise`; the confidence is also that of the intervals of crossings.
    greater_is_better
        False for losses: the learner with the smaller mean is then ahead.
    tests
        What `pairwise` returns for this table, if it is at hand.

    Raises
    ------
    ValueError
        If there is only one learner or size, or a size is not a positive number.
    """
    every = cells(table, subject, (factor, size), value)
    sizes_of(size, every.levels[1])
    if tests is None:
        tests = pairwise(table, subject, factor, size, value, confidence, adjustment, share)
    sign = -1 if greater_is_better else 1  # tests are of first − second
    by_pair = dict(iter(tests.groupby(["first", "second"], sort=False)))
    pairs = []
    for places in itertools.combinations(range(len(every.levels[0])), 2):
        pair = pair_curve(every, *places, greater_is_better)
        rows = by_pair[pair.first, pair.second].sort_values(size)
        rows = rows[rows[size].isin(pair.sizes)]
        signs = np.where(rows["significant"], sign * np.sign(rows["difference"]), 0).astype(int)
        pair.facts.update({"n": int(rows["n"].min()), "infinite": int(rows["infinite"].max())})
        tested = bool(rows["p"].notna().any() or (rows["difference"] == 0).any())
        m = int(rows["m"].max()) if tested else 0
        crit = math.nan if pair.curve is None else pair.curve.t_crit(confidence, max(m, 1))
        pairs.append(with_changes(replace(pair, m=m), signs, crit))
    return pairs


def decided(pair: PairCurve, m: int, confidence: float) -> PairCurve:
    """Add signs and changes by the t tests of the curve, Bonferroni-adjusted for m tests."""
    if pair.curve is None:
        return pair
    crit = pair.curve.t_crit(confidence, m)
    return with_changes(pair, pair.curve.decided(crit), crit)


def with_changes(pair: PairCurve, signs: IntArray, crit: float) -> PairCurve:
    """Add the signs at the sizes, 0 where nothing is significant, and the changes.

    Parameters
    ----------
    pair
        The pair.
    signs
        Positive where the second is ahead.
    crit
        The critical value of t for intervals of crossings.
    """
    curve, changes = pair.curve, []
    for before, after in itertools.pairwise(np.flatnonzero(signs).tolist()):
        sign = int(signs[after])
        if signs[before] != sign:
            zone = None
            if curve and sign * curve.mean[before] < 0 < sign * curve.mean[after]:
                zone = curve.zone(before, after, crit)
            changes.append(LeadChange(before, after, sign, zone))
    return replace(pair, signs=signs.tolist(), changes=changes)


def pair_curve(every: Cells, first: int, second: int, greater_is_better: bool) -> PairCurve:
    """Return the difference of two learners at common sizes, positive if the second is better."""
    present = np.isfinite(every.array) | (every.infinite != 0)
    both = present[:, first].any(axis=0) & present[:, second].any(axis=0)
    if not both.any():
        both[:] = True  # if no subject has both, complete_curve adds a note
    before, after = (every.array[:, place][:, both] for place in (first, second))
    differences = after - before if greater_is_better else before - after
    scale = np.maximum(largest(before), largest(after))
    infinite = (every.infinite[:, [first, second]][:, :, both] != 0).any(axis=(1, 2))
    sizes, names = np.array(every.levels[1], dtype=np.float64)[both], every.levels[0]
    curve, facts = complete_curve(differences, scale, infinite, sizes)
    return PairCurve(names[first], names[second], sizes, curve, facts)


def _course(pair: PairCurve) -> Course:
    """Return the course of a pair."""
    start = pair.first, pair.second, pair.facts["n"], pair.facts["infinite"], pair.m
    if not pair.m:
        why = "infinite values" if pair.facts["infinite"] else "fewer than two have both"
        return Course(*start, note=f"not analysed: {why}")
    ahead = [tuple(pair.sizes[np.array(pair.signs) == sign].tolist()) for sign in (-1, 1)]
    note = (
        "no change of who is ahead" if any(pair.signs) else "at no size is one ahead of the other"
    )
    changes = tuple(overtaking(pair, change) for change in pair.changes)
    return Course(*start, ahead[0], ahead[1], changes, "" if changes else note)


def overtaking(pair: PairCurve, change: LeadChange) -> Overtaking:
    """Return the overtaking at one change."""
    zone = change.zone
    where = float(pair.sizes[change.before]), float(pair.sizes[change.after])
    start = (pair.leader(change.sign), pair.leader(-change.sign), *where)
    if zone is None:
        why = "infinite values at some size" if pair.facts["infinite"] else "missing values"
        return Overtaking(*start, note=f"{why}: no estimate in between")
    if math.isinf(zone.ratio):
        return Overtaking(*start, note="only two sizes: no estimate in between")
    if zone.ratio > MAX_RATIO * (1 + 1e-9):
        far = f"neighbouring sizes differ by a factor of {zone.ratio:.3g}"
        return Overtaking(*start, note=f"{far}, more than {MAX_RATIO:g}: no estimate in between")
    if len(zone.zeros) != 1:
        return Overtaking(*start, note="the estimated curve crosses 0 several times in between")
    return Overtaking(*start, zone.zeros[0], zone.lower, zone.upper)
