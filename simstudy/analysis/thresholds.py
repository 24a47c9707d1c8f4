"""Between which sizes does a learner overtake another?"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analysis.adjustment import check_confidence, check_option, largest
from simstudy.analysis.complete import Cells, cells, records
from simstudy.analysis.curves import (
    BANDS,
    MAX_RATIO,
    Curve,
    Zone,
    complete_curve,
    sizes_of,
    sup_t,
)
from simstudy.arrays import FloatArray

COLUMNS = [
    *("first", "second", "n", "infinite", "m", "first_ahead", "second_ahead"),
    *("ahead", "before", "after", "crossing", "lower", "upper", "note"),
]
# Sizes are added around a crossing until neighbours are within this factor.
FINE_RATIO = 1.3


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


def thresholds(
    table: pd.DataFrame,
    subject: str = "model",
    factor: str = "learner",
    size: str = "size",
    value: str = "information_reward",
    greater_is_better: bool = True,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Find the sizes between which one learner overtakes another.

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

        ``attrs["left_out"]`` lists the subjects that lack a value; a warning is logged when there
        are any. ``attrs["confidence"]`` is `confidence`.

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
    rows = [row for pair in found for row in _rows(pair, m)]
    result = pd.DataFrame([{**_BLANK, **row} for row in rows], columns=COLUMNS)
    # Learners that no subject has at a size are not compared there: nothing is left out.
    absent = (every.status == "no row").all(axis=0)
    there = replace(every, array=np.where(absent, 0.0, every.array))
    left_out = there.left_out("left out of the thresholds of cells without a value", False)
    result.attrs |= {"left_out": records(left_out), "confidence": confidence}
    return result


_BLANK: dict[str, Any] = {
    **dict.fromkeys(COLUMNS, math.nan),
    **{"first_ahead": "", "second_ahead": "", "ahead": None, "note": ""},
}


def compared(every: Cells, greater_is_better: bool, confidence: float) -> list[Pair]:
    """Compare every two learners at the sizes that both have."""
    levels = every.levels[0]
    pairs = []
    for one, other in itertools.combinations(range(len(levels)), 2):
        curve, facts = _curve(every, one, other, greater_is_better)
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


def _curve(
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


def _rows(pair: Pair, m: int) -> list[dict[str, Any]]:
    """Return what the table says of a pair."""
    start = {"first": pair.first, "second": pair.second, **pair.facts}
    if pair.curve is None:
        return [start]
    sizes = pair.curve.sizes
    start |= {"m": m}
    for name, sign in (("first_ahead", -1), ("second_ahead", 1)):
        at = [size for size, decided in zip(sizes, pair.signs, strict=True) if decided == sign]
        start[name] = ", ".join(f"{size:.10g}" for size in at)
    if pair.changes:
        return [start | of_change(pair, change) for change in pair.changes]
    known = [sign for sign in pair.signs if sign]
    if not known:
        return [start | {"note": "at no size is one ahead of the other"}]
    return [start | {"ahead": pair.leader(known[0]), "note": "no change of who is ahead"}]


def of_change(pair: Pair, change: Change) -> dict[str, Any]:
    """Return what a row says of one change."""
    assert pair.curve is not None
    zone, sizes = change.zone, pair.curve.sizes
    row = {"ahead": pair.leader(change.sign)}
    row |= {"before": sizes[change.before], "after": sizes[change.after]}
    if math.isinf(zone.ratio):
        return row | {"note": "two sizes alone: no estimate in between"}
    if zone.ratio > MAX_RATIO * (1 + 1e-9):
        far = f"neighbouring sizes differ by a factor of {zone.ratio:.3g}"
        return row | {"note": f"{far}, more than {MAX_RATIO:g}: no estimate in between"}
    if len(zone.zeros) != 1:
        return row | {"note": "the estimated curve crosses 0 several times in between"}
    return row | {"crossing": zone.zeros[0], "lower": zone.lower, "upper": zone.upper}


def sizes_to_add(pairs: Sequence[Pair], own: Sequence[int]) -> dict[int, set[Any]]:
    """Propose sizes around the crossings of some pairs, and for which learners.

    The sizes lie on a grid that divides the way from each of the study's own sizes to the next
    evenly on the logarithmic axis, by steps of a factor of 1.3 at most. Around each crossing that
    is not yet known well enough one is added in each gap: the one nearest to the estimate. It is
    known well enough when neighbouring sizes are within a factor of 1.3, or, where the interval is
    wide, within a third of it.
    """
    grid = np.setdiff1d(refinement_grid(own), own)
    proposed: dict[int, set[Any]] = {}
    for pair in pairs:
        for change in pair.changes:
            for size in _around(pair, change, grid):
                proposed.setdefault(size, set()).update((pair.first, pair.second))
    return proposed


def refinement_grid(own: Sequence[int]) -> list[int]:
    """Return all sizes that may be added, and the study's own."""
    grid = set(own)
    for low, high in itertools.pairwise(sorted(own)):
        steps = math.ceil(math.log(high / low) / math.log(FINE_RATIO) - 1e-9)
        grid |= {round(low * (high / low) ** (step / steps)) for step in range(1, steps)}
    return sorted(grid)


def _around(pair: Pair, change: Change, grid: FloatArray) -> list[int]:
    """Return the size to add in each gap, in or next to where the crossing may be, if too wide."""
    assert pair.curve is not None
    zone, sizes = change.zone, pair.curve.sizes
    third = (zone.upper / zone.lower) ** (1 / 3)
    wanted = max(FINE_RATIO, min(MAX_RATIO, third))
    centre = zone.zeros[len(zone.zeros) // 2]
    gaps = list(itertools.pairwise(sizes))
    within = [low < zone.upper and high > zone.lower for low, high in gaps]
    found = []
    for place, (low, high) in enumerate(gaps):
        beside = any(within[max(place - 1, 0) : place + 2])
        most = wanted if within[place] else MAX_RATIO
        inside = grid[(grid > low) & (grid < high)]
        if beside and high / low > most * (1 + 1e-9) and len(inside):
            found.append(int(inside[np.abs(np.log(inside / centre)).argmin()]))
    return found


def curve(
    table: pd.DataFrame,
    first: Any,
    second: Any,
    subject: str = "model",
    factor: str = "learner",
    size: str = "size",
    value: str = "information_reward",
    greater_is_better: bool = True,
    confidence: float = 0.95,
    band: str = "t",
    steps: int = 40,
) -> pd.DataFrame:
    """Give the mean difference of two learners at the sizes that both have, for a figure.

    Parameters
    ----------
    table, subject, factor, size, value, greater_is_better, confidence
        As in `thresholds`.
    first, second
        The learners; positive differences mean that the second is ahead.
    band
        What the band at all sizes together is simulated from: ``"t"``, the multivariate t
        distribution with n − 1 degrees of freedom, or ``"normal"``.
    steps
        How many points there are from one size to the next, on straight lines, which are drawn to
        join the sizes and say nothing of what is between them.

    Returns
    -------
    DataFrame
        One row per point: the size, `studied` (whether it is one of the study's), `difference`,
        `se`, `lower` and `upper` (each size by itself), `band_lower` and `band_upper` (all sizes
        together). All but the first two are NaN if the pair cannot be analysed. ``attrs`` has
        `first`, `second`, `n`, `infinite`, `confidence`, `sup_t`, `note` and `left_out`.
    """
    check_confidence(confidence)
    check_option("band", band, BANDS)
    chosen = table[table[factor].isin([first, second])] if factor in table else table
    every = cells(chosen, subject, (factor, size), value)
    for name in (first, second):
        if name not in every.levels[0]:
            raise ValueError(f"the column {factor!r} has no {name!r}")
    one, other = every.levels[0].index(first), every.levels[0].index(second)
    pair, start = _curve(every, one, other, greater_is_better)
    sizes = sizes_of(size, every.levels[1]) if pair is None else pair.sizes
    places = np.arange(steps * (len(sizes) - 1) + 1) / steps
    x = np.interp(places, np.arange(len(sizes)), np.log(sizes))
    studied = places == places.astype(int)
    grid = np.exp(x)
    grid[studied] = sizes
    mean, se = (np.full(len(x), np.nan),) * 2 if pair is None else pair.straight(x)
    half = np.nan if pair is None else pair.t_crit(confidence)
    wide = np.nan if pair is None else sup_t(pair, confidence, band)
    result = pd.DataFrame({size: grid, "studied": studied})
    result = result.assign(difference=mean, se=se, lower=mean - half * se, upper=mean + half * se)
    result = result.assign(band_lower=mean - wide * se, band_upper=mean + wide * se)
    left_out = every.left_out("left out of the curve of cells without a value", False)
    start = {"first": first, "second": second, "note": "", **start}
    result.attrs |= start | {"confidence": confidence, "sup_t": wide, "left_out": records(left_out)}
    return result
