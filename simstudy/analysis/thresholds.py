"""Between which sizes does a learner overtake another?"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analysis.adjustment import check_confidence, largest
from simstudy.analysis.complete import Cells, cells
from simstudy.analysis.curves import MAX_RATIO, Curve, Zone, complete_curve, sizes_of

COLUMNS = [
    *("first", "second", "n", "infinite", "m", "first_ahead", "second_ahead"),
    *("ahead", "before", "after", "crossing", "lower", "upper", "note"),
]


@dataclass(frozen=True)
class Change:
    """One learner is ahead at a size, the other at a later one: both by the adjusted tests."""

    before: int  # the place of the last size at which the one is ahead
    after: int  # and of the first at which the other is
    sign: int  # of the difference after it
    zone: Zone


@dataclass(frozen=True)
class Pair:
    """Two learners, their mean difference at the sizes that both have, and where it changes sign.

    The difference is positive where the second learner is better.
    """

    first: Any
    second: Any
    curve: Curve | None
    facts: dict[str, Any]
    signs: Sequence[int] = ()
    changes: Sequence[Change] = ()

    def leader(self, sign: int) -> Any:
        """Return the learner that a sign of the difference puts ahead."""
        return self.second if sign > 0 else self.first


@dataclass(frozen=True)
class Overtaking:
    """One learner overtakes another between two sizes, by the adjusted tests.

    Attributes
    ----------
    ahead, behind
        The learner that overtakes, and the one that is overtaken.
    before, after : float
        The last size at which the other is ahead, and the first at which it is.
    crossing, lower, upper : float
        The estimated size at which the mean difference is 0, and its interval; NaN if none is
        claimed.
    note : str
        Why there is no estimate.
    """

    ahead: Any
    behind: Any
    before: float
    after: float
    crossing: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    note: str = ""

    @property
    def estimated(self) -> bool:
        """Whether the crossing is estimated."""
        return not math.isnan(self.crossing)


@dataclass(frozen=True)
class Course:
    """Two learners over the sizes: who is ahead where, and who overtakes whom.

    Attributes
    ----------
    first, second
        The learners.
    n, infinite : int
        The subjects with a value of both at every size, and those in which either is infinite.
    m : int
        The number of tests adjusted for; 0 if the pair is not analysed.
    first_ahead, second_ahead : tuple of float
        The sizes at which the one and the other is ahead.
    changes : tuple of Overtaking
        The changes of the learner ahead, by size.
    note : str
        Why there is none.
    """

    first: Any
    second: Any
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
    def leader(self) -> Any:
        """The learner that is ahead wherever one is, or None."""
        if bool(self.first_ahead) == bool(self.second_ahead):
            return None
        return self.first if self.first_ahead else self.second

    def other(self, learner: Any) -> Any:
        """The other learner of the pair."""
        return self.second if learner == self.first else self.first

    def ahead_at(self, learner: Any) -> tuple[float, ...]:
        """The sizes at which a learner is ahead."""
        return self.first_ahead if learner == self.first else self.second_ahead

    def rows(self) -> list[dict[str, Any]]:
        """What the table of `thresholds` has for the pair."""
        start = {"first": self.first, "second": self.second, "n": self.n, "infinite": self.infinite}
        start |= {"m": self.m or math.nan, "ahead": self.leader, "note": self.note}
        for key in ("first_ahead", "second_ahead"):
            start[key] = ", ".join(f"{size:.10g}" for size in getattr(self, key))
        keys = ("ahead", "before", "after", "crossing", "lower", "upper", "note")
        changed = [start | {key: getattr(one, key) for key in keys} for one in self.changes]
        return changed or [start]


def thresholds(table: pd.DataFrame, *arguments: Any, **options: Any) -> pd.DataFrame:
    """Find the sizes between which one learner overtakes another, as a table.

    Parameters
    ----------
    table, *arguments, **options
        As in `courses`.

    Returns
    -------
    DataFrame
        One row per pair and change of the learner ahead, and one for a pair without any:

        - `first`, `second`; `n`, the subjects with a value of both at every size; `infinite`,
          the subjects in which either is infinite somewhere: the pair is then not analysed; `m`,
          the number of tests adjusted for;
        - `first_ahead`, `second_ahead`: the sizes at which the one and the other is ahead, as a
          text such as "50, 500";
        - `ahead`: the learner that overtakes the other, or without a change the one that is ahead
          wherever one is, missing if none is; `before`, `after`: the last size at which the other
          is ahead, and the first at which it is;
        - `crossing`, `lower`, `upper`: the estimated size at which the mean difference is 0, and
          the limits of its interval; NaN where none is claimed;
        - `note`: why there is no change, or no estimate.
    """
    return as_table(courses(table, *arguments, **options))


def as_table(found: Sequence[Course]) -> pd.DataFrame:
    """Return what is known of the pairs as the table of `thresholds`."""
    rows = [row for course in found for row in course.rows()]
    table = pd.DataFrame(rows, columns=COLUMNS)
    numbers = ["before", "after", "crossing", "lower", "upper"]
    return table.astype(dict.fromkeys(numbers, np.float64))


def courses(
    table: pd.DataFrame,
    subject: str = "model",
    factor: str = "learner",
    size: str = "size",
    value: str = "information_reward",
    greater_is_better: bool = True,
    confidence: float = 0.95,
) -> list[Course]:
    """Find who is ahead at which sizes, and between which sizes one overtakes another.

    A learner is ahead at a size if the paired t test says so, Bonferroni-adjusted for all pairs at
    all their sizes. It overtakes another between the last size at which the other is ahead and the
    first at which it is: two of the study's own sizes, so that nothing is supposed about the curve
    between them. Where the sizes around the crossing are close to each other, its place is
    estimated, with an interval. Nothing is said beyond the sizes.

    Parameters
    ----------
    table
        One row per subject, level of `factor` and size. A pair of learners is compared at the
        sizes that both have.
    subject, factor, size, value
        Columns of the subjects, of the levels to compare, of the sizes and of the numbers.
    greater_is_better
        False for losses: the learner with the smaller mean is then ahead.
    confidence
        Of all statements of who is ahead together, and of all intervals together.

    Returns
    -------
    list of Course
        One for each pair. A warning is logged when some subject lacks a value.

    Raises
    ------
    ValueError
        If there is one learner or one size only, or a size is not a positive number.

    Notes
    -----
    Between neighbouring sizes the mean difference is estimated by two parabolas in log n, through
    these two sizes and the next on either side (`Curve.zone`). The estimate is the zero of their
    mean. The interval holds all sizes at which 0 lies within the t limits of either parabola, or
    between the two: so it allows for the error of interpolation as far as the curvature shows it.
    It is given where all neighbouring sizes in and next to it are within a factor of 2.5 and the
    estimated curve crosses 0 once. Its t limits are those of the adjusted tests: with narrower
    ones, of each pair by itself, intervals that are given only because chance made a crossing seem
    certain would miss the true one too often (`benchmarks/threshold_coverage.py`).
    """
    check_confidence(confidence)
    every = cells(table, subject, (factor, size), value)
    sizes_of(size, every.levels[1])
    if len(every.levels[0]) < 2:
        only = every.levels[0][0]
        raise ValueError(f"the factor {factor!r} has one level ({only}): nothing to compare")
    found = compared(every, greater_is_better, confidence)
    m = sum(len(pair.signs) for pair in found)
    # Learners that no subject has at a size are not compared there: nothing is left out.
    absent = (every.status == "no row").all(axis=0)
    there = replace(every, array=np.where(absent, 0.0, every.array))
    there.left_out("left out of the thresholds of cells without a value", False)
    return [_course(pair, m) for pair in found]


def compared(every: Cells, greater_is_better: bool, confidence: float) -> list[Pair]:
    """Compare every two learners at the sizes that both have."""
    levels = every.levels[0]
    pairs = []
    for one, other in itertools.combinations(range(len(levels)), 2):
        curve, facts = pair_curve(every, one, other, greater_is_better)
        pairs.append(Pair(levels[one], levels[other], curve, facts))
    m = sum(len(pair.curve.sizes) for pair in pairs if pair.curve is not None)
    return [with_changes(pair, m, confidence) for pair in pairs]


def with_changes(pair: Pair, m: int, confidence: float) -> Pair:
    """Decide who is ahead at each size, and find the changes."""
    if (curve := pair.curve) is None:
        return pair
    crit = curve.t_crit(confidence, m)
    signs = curve.decided(crit)
    known = np.flatnonzero(signs)
    changes = [
        Change(before, after, int(signs[after]), curve.zone(before, after, crit))
        for before, after in itertools.pairwise(known.tolist())
        if signs[before] != signs[after]
    ]
    return Pair(pair.first, pair.second, curve, pair.facts, signs.tolist(), changes)


def pair_curve(
    every: Cells, first: int, second: int, greater_is_better: bool
) -> tuple[Curve | None, dict[str, Any]]:
    """Return `complete_curve` of second − first, positive if the second is better."""
    there = np.isfinite(every.array) | (every.infinite != 0)
    both = there[:, first].any(axis=0) & there[:, second].any(axis=0)
    if not both.any():
        both[:] = True  # where no subject has both, which is then said
    one, other = every.array[:, first][:, both], every.array[:, second][:, both]
    differences = other - one if greater_is_better else one - other
    scale = np.maximum(largest(one), largest(other))
    infinite = (every.infinite[:, [first, second]][:, :, both] != 0).any(axis=(1, 2))
    sizes = np.array(every.levels[1], dtype=np.float64)[both]
    return complete_curve(differences, scale, infinite, sizes)


def _course(pair: Pair, m: int) -> Course:
    """Return what is said of a pair."""
    if pair.curve is None:
        return Course(pair.first, pair.second, m=0, **pair.facts)
    ahead = {
        sign: tuple(
            float(size)
            for size, decided in zip(pair.curve.sizes, pair.signs, strict=True)
            if decided == sign
        )
        for sign in (-1, 1)
    }
    note = (
        "no change of who is ahead" if any(pair.signs) else "at no size is one ahead of the other"
    )
    return Course(
        pair.first,
        pair.second,
        m=m,
        first_ahead=ahead[-1],
        second_ahead=ahead[1],
        changes=tuple(overtaking(pair, change) for change in pair.changes),
        note="" if pair.changes else note,
        **pair.facts,
    )


def overtaking(pair: Pair, change: Change) -> Overtaking:
    """Return what is said of one change."""
    assert pair.curve is not None
    zone, sizes = change.zone, pair.curve.sizes
    where = float(sizes[change.before]), float(sizes[change.after])
    start = (pair.leader(change.sign), pair.leader(-change.sign), *where)
    if math.isinf(zone.ratio):
        return Overtaking(*start, note="two sizes alone: no estimate in between")
    if zone.ratio > MAX_RATIO * (1 + 1e-9):
        far = f"neighbouring sizes differ by a factor of {zone.ratio:.3g}"
        return Overtaking(*start, note=f"{far}, more than {MAX_RATIO:g}: no estimate in between")
    if len(zone.zeros) != 1:
        return Overtaking(*start, note="the estimated curve crosses 0 several times in between")
    return Overtaking(*start, zone.zeros[0], zone.lower, zone.upper)
