"""Thresholds: the sizes between which one learner overtakes another, and sizes to add there."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analysis.models import difference_curves as curves
from simstudy.analysis.models.difference_curves import Overtaking as Overtaking
from simstudy.analysis.score_array import Level, cells
from simstudy.analysis.tests.pairwise import pairwise
from simstudy.arrays import FloatArray

SCORED = ("model", "learner", "size")
COLUMNS = [
    *("first", "second", "n", "infinite", "m", "first_ahead", "second_ahead"),
    *("ahead", "before", "after", "crossing", "lower", "upper", "note"),
]


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

    def opponent(self, learner: Level) -> Level:
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
    between the two, which allows for interpolation error to the extent that the curvature shows it.
    It is given if all neighbouring sizes in and next to it are within a factor of 2.5 and the
    estimated curve crosses 0 once. Its t limits are those of the adjusted tests: with unadjusted
    limits, intervals after a spuriously significant crossing would miss the true one too often
    (`benchmarks/threshold_coverage.py`). Only subjects with a value at every size are used for
    estimates.
    """
    return [_course(pair) for pair in compared(table, *arguments, **options)]


def compared(
    table: pd.DataFrame,
    value: str = "information_reward",
    greater_is_better: bool = True,
    confidence: float = 0.95,
    adjustment: str = "bonferroni_all",
    share: bool = False,
    tests: pd.DataFrame | None = None,
) -> list[curves.PairCurve]:
    """Compare each pair of learners at their common sizes.

    Parameters
    ----------
    table
        One row per `model`, `learner` and `size`. A pair of learners is compared at its
        common sizes.
    value, confidence, adjustment, share
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
    every = cells(table, "model", ("learner", "size"), value)
    curves.sizes_of(every.levels[1])
    if tests is None:
        tests = pairwise(table, *SCORED, value, confidence, adjustment, share)
    sign = -1 if greater_is_better else 1  # tests are of first − second
    by_pair = dict(iter(tests.groupby(["first", "second"], sort=False)))
    pairs = []
    for places in itertools.combinations(range(len(every.levels[0])), 2):
        pair = curves.pair_curve(every, *places, greater_is_better)
        rows = by_pair[pair.first, pair.second].sort_values("size")
        rows = rows[rows["size"].isin(pair.sizes)]
        signs = np.where(rows["significant"], sign * np.sign(rows["difference"]), 0).astype(int)
        tested = bool(rows["p"].notna().any() or (rows["difference"] == 0).any())
        m = int(rows["m"].max()) if tested else 0
        crit = math.nan if pair.curve is None else pair.curve.t_crit(confidence, max(m, 1))
        n, infinite = int(rows["n"].min()), int(rows["infinite"].max())
        pairs.append(curves.with_changes(replace(pair, n=n, infinite=infinite, m=m), signs, crit))
    return pairs


def _course(pair: curves.PairCurve) -> Course:
    """Return the course of a pair."""
    start = pair.first, pair.second, pair.n, pair.infinite, pair.m
    if not pair.m:
        why = "infinite values" if pair.infinite else "fewer than two have both"
        return Course(*start, note=f"not analysed: {why}")
    ahead = [tuple(pair.sizes[np.array(pair.signs) == sign].tolist()) for sign in (-1, 1)]
    note = (
        "no change of who is ahead" if any(pair.signs) else "at no size is one ahead of the other"
    )
    return Course(*start, ahead[0], ahead[1], pair.changes, "" if pair.changes else note)


# Sizes are added around a crossing until neighbouring sizes are within this factor.
FINE_RATIO = 1.3


def sizes_to_add(pairs: Sequence[curves.PairCurve], sizes: Sequence[int]) -> dict[int, set[Level]]:
    """Propose sizes around the crossings of some pairs, with the learners concerned.

    The sizes lie on a grid that divides the study's own sizes evenly on the logarithmic axis, in
    steps of at most a factor of 1.3. Around each crossing that is not yet precise enough, one is
    added in each gap: the one nearest to the estimate. A crossing is precise enough when
    neighbouring sizes are within a factor of 1.3 or, if the interval is wide, a third of it.
    """
    grid = np.setdiff1d(refinement_grid(sizes), sizes)
    proposed: dict[int, set[Level]] = {}
    for pair in pairs:
        for change in pair.changes:
            for size in _around(pair, change, grid):
                proposed.setdefault(size, set()).update((pair.first, pair.second))
    return proposed


def refinement_grid(sizes: Sequence[int]) -> list[int]:
    """Return the candidate sizes and the study's own."""
    grid = set(sizes)
    for low, high in itertools.pairwise(sorted(sizes)):
        steps = math.ceil(math.log(high / low) / math.log(FINE_RATIO) - 1e-9)
        grid |= {round(low * (high / low) ** (step / steps)) for step in range(1, steps)}
    return sorted(grid)


def _around(pair: curves.PairCurve, change: Overtaking, grid: FloatArray) -> list[int]:
    """Return the sizes to add in the gaps around a crossing that are too wide."""
    if (zone := change.zone) is None:
        return []
    wanted = max(FINE_RATIO, min(curves.MAX_RATIO, (zone.upper / zone.lower) ** (1 / 3)))
    centre = zone.zeros[len(zone.zeros) // 2]
    gaps = list(itertools.pairwise(pair.sizes))
    within = [low < zone.upper and high > zone.lower for low, high in gaps]
    added = []
    for place, (low, high) in enumerate(gaps):
        beside = any(within[max(place - 1, 0) : place + 2])
        most = wanted if within[place] else curves.MAX_RATIO
        inside = grid[(grid > low) & (grid < high)]
        if beside and high / low > most * (1 + 1e-9) and len(inside):
            added.append(int(inside[np.abs(np.log(inside / centre)).argmin()]))
    return added
