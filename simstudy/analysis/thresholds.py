"""From which size on is a learner better than another?"""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analysis.adjustment import (
    check_confidence,
    check_option,
    largest,
)
from simstudy.analysis.complete import Cells, cells, records
from simstudy.analysis.curves import (
    BANDS,
    CLOSE,
    Curve,
    complete_curve,
    crossings,
    found_crossings,
    frame_of,
    sizes_of,
    sup_t,
)
from simstudy.arrays import FloatArray

_BLOCK = 2**21  # numbers that are worked on at a time


def thresholds(
    table: pd.DataFrame,
    subject: str = "model",
    factor: str = "learner",
    size: str = "size",
    value: str = "information_reward",
    greater_is_better: bool = True,
    confidence: float = 0.95,
    band: str = "t",
    bootstrap: bool = False,
    replicates: int = 4000,
    seed: int = 0,
) -> pd.DataFrame:
    """Find the sizes at which one learner overtakes another.

    The paired differences of the subjects are linear in log n between the study's sizes; a
    threshold is a size at which their mean changes sign. Nothing is said beyond the sizes.

    Parameters
    ----------
    table
        One row per subject, level of `factor` and size.
    subject, factor, size, value
        Columns of the subjects, of the levels to compare, of the sizes and of the numbers.
    greater_is_better
        False for losses: the learner with the smaller mean is then ahead.
    confidence
        Of each interval, and of each pair's band over all sizes; not adjusted for several pairs.
    band
        What the band over all sizes is simulated from: ``"t"``, the multivariate t distribution
        with n − 1 degrees of freedom, or ``"normal"``.
    bootstrap
        Whether to add percentile intervals from resampled subjects, as a check.
    replicates, seed
        Of the bootstrap.

    Returns
    -------
    DataFrame
        One row per pair and crossing, and one for a pair without any:

        - `first`, `second`; `n`, the subjects with a value of both at every size; `infinite`,
          the subjects in which either is infinite somewhere: the pair is then not analysed;
        - `crossing`, the size, NaN without one; `ahead`, the learner ahead after it, or
          throughout if there is none; `before` and `after`, the nearest sizes of the study at
          which one is ahead and the other is;
        - `lower`, `upper`: the sizes around the crossing at which the paired t test does not
          tell the two apart (Fieller 1954). `lower_open`, `upper_open`: these go on to the
          smallest or the largest size, which is then the limit shown: read "< 50", "> 5000";
        - `ahead_smallest`, `ahead_largest`: the learner ahead at either end, missing if neither;
          `undecided`: whether there is any size at which the t test does not tell them apart;
        - `sup_t`, the critical value of a band that holds at all sizes together, and by this
          band `first_better_up_to`, `first_better_from`, `second_better_up_to` and
          `second_better_from`: the size up to which, from the smallest, or from which, to the
          largest, that learner is better; NaN if the band does not say so at that end;
        - `first_better`, `second_better`: every stretch of sizes in which the band leaves 0 out in
          favour of that learner, those inside too, as a text such as "50 to 141; 397 to 4720", to
          six digits; empty if there is none;
        - with `bootstrap`: `bootstrap_lower`, `bootstrap_median`, `bootstrap_upper`, and the
          shares `p_no_crossing`, `p_one`, `p_several` of the replicates;
        - `note`: why there is no crossing.

        ``attrs["left_out"]`` lists the subjects that lack a value; a warning is logged when there
        are any. ``attrs["confidence"]`` is `confidence`.

    Raises
    ------
    ValueError
        If there is one learner or one size only, or a size is not a positive number.

    Notes
    -----
    A mean that is 0 (but for rounding) at one of the study's sizes is a crossing, there, if
    different learners are ahead before and after it. If it is 0 over whole segments the crossing is
    the middle of the stretch, on the logarithmic axis. If the same learner is ahead on both sides,
    or the stretch includes the smallest or largest size, the curve touches 0 and does not cross.

    The t test at a size between two others is that of the subjects' interpolated differences, so
    the variance holds the covariance of the two. Two crossings may lie in one undecided stretch
    and then share their interval.

    The band's critical value is the quantile of the largest |t| over the whole curve (between
    sizes its maximum is exact), simulated, always with the same random numbers, from the
    estimated correlations of the sizes. The normal distribution is in use for large numbers of
    subjects; with few the band holds too rarely, in about 93 of 100 studies of 40 subjects and 12
    sizes. Either value is at least Student's.

    In the bootstrap a replicate counts with its crossing in the direction of the row's that is
    nearest to it (in a row without one: with the first at which the second learner gets ahead).
    Without such a crossing it is below the smallest size, −∞, if the overtaking learner is ahead
    at the largest size, else above the largest, ∞.
    """
    check_confidence(confidence)
    check_option("band", band, BANDS)
    every = cells(table, subject, (factor, size), value)
    sizes = sizes_of(size, every.levels[1])
    levels = every.levels[0]
    if len(levels) < 2:
        raise ValueError(f"the factor {factor!r} has one level ({levels[0]}): nothing to compare")
    rows: list[dict[str, Any]] = []
    pairs = list(itertools.combinations(range(len(levels)), 2))
    together = max(_BLOCK // every.array[:, 0].size, 1)
    for start in range(0, len(pairs), together):
        some = pairs[start : start + together]
        curves = [_pair(every, sizes, *pair, greater_is_better) for pair in some]
        drawn = [curve for curve, _ in curves] if bootstrap else []
        resampled = _resampled(drawn, replicates, seed)
        for index, ((one, other), (pair, facts)) in enumerate(zip(some, curves, strict=True)):
            names = (levels[one], levels[other])
            facts = {"first": names[0], "second": names[1], **facts}
            if pair is None:
                rows.append(facts)
                continue
            facts |= _ends(pair, names, confidence, band)
            for row in _crossing_rows(pair, names, confidence):
                if bootstrap:
                    row |= _checked(pair, resampled[index], row, names, confidence)
                rows.append(facts | row)
    columns = ["first", "second", "n", "infinite", "crossing", "ahead", "lower", "upper"]
    columns += ["lower_open", "upper_open", "before", "after", "ahead_smallest", "ahead_largest"]
    columns += ["undecided", "sup_t", "first_better_up_to", "first_better_from"]
    columns += ["second_better_up_to", "second_better_from", "first_better", "second_better"]
    if bootstrap:
        columns += ["bootstrap_lower", "bootstrap_median", "bootstrap_upper"]
        columns += ["p_no_crossing", "p_one", "p_several"]
    result = frame_of(rows, [*columns, "note"])
    left_out = every.left_out("left out of the thresholds of cells without a value", False)
    result.attrs |= {"left_out": records(left_out), "confidence": confidence}
    return result


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
    """Give the mean difference of two learners between the sizes, with its bands, for a figure.

    Parameters
    ----------
    table, subject, factor, size, value, greater_is_better, confidence, band
        As in `thresholds`.
    first, second
        The learners; positive differences mean that the second is ahead.
    steps
        How many there are from one of the study's sizes to the next, even on the logarithmic axis.

    Returns
    -------
    DataFrame
        One row per size: the size, `studied` (whether it is one of the study's), `difference`,
        `se`, `lower` and `upper` (each size by itself), `band_lower` and `band_upper` (all sizes
        together). All but the first two are NaN if the pair cannot be analysed. ``attrs`` has
        `first`, `second`, `n`, `infinite`, `confidence`, `sup_t`, `note` and `left_out`.
    """
    check_confidence(confidence)
    check_option("band", band, BANDS)
    chosen = table[table[factor].isin([first, second])] if factor in table else table
    every = cells(chosen, subject, (factor, size), value)
    sizes = sizes_of(size, every.levels[1])
    for name in (first, second):
        if name not in every.levels[0]:
            raise ValueError(f"the column {factor!r} has no {name!r}")
    one, other = every.levels[0].index(first), every.levels[0].index(second)
    pair, start = _pair(every, sizes, one, other, greater_is_better)
    places = np.arange(steps * (len(sizes) - 1) + 1) / steps
    x = np.interp(places, np.arange(len(sizes)), np.log(sizes))
    studied = places == places.astype(int)
    grid = np.exp(x)
    grid[studied] = sizes
    mean, se = (np.full(len(x), np.nan),) * 2 if pair is None else pair.at(x)
    half = np.nan if pair is None else pair.t_crit(confidence)
    wide = np.nan if pair is None else sup_t(pair, confidence, band)
    result = pd.DataFrame({size: grid, "studied": studied})
    result = result.assign(difference=mean, se=se, lower=mean - half * se, upper=mean + half * se)
    result = result.assign(band_lower=mean - wide * se, band_upper=mean + wide * se)
    left_out = every.left_out("left out of the curve of cells without a value", False)
    start = {"first": first, "second": second, "note": "", **start}
    result.attrs |= start | {"confidence": confidence, "sup_t": wide, "left_out": records(left_out)}
    return result


def _pair(
    every: Cells, sizes: FloatArray, first: int, second: int, greater_is_better: bool
) -> tuple[Curve | None, dict[str, Any]]:
    """Return `complete_curve` of second − first, positive if the second is better."""
    one, other = every.array[:, first], every.array[:, second]
    differences = other - one if greater_is_better else one - other
    scale = np.maximum(largest(one), largest(other))
    infinite = (every.infinite[:, [first, second]] != 0).any(axis=(1, 2))
    return complete_curve(differences, scale, infinite, sizes)


def _leader(sign: float, names: tuple[Any, Any]) -> Any:
    """Return the learner that a sign of the difference puts ahead, none for 0."""
    return None if sign == 0 else names[int(sign > 0)]


def _crossing_rows(
    pair: Curve, names: tuple[Any, Any], confidence: float
) -> Iterator[dict[str, Any]]:
    """Yield what a row says of each crossing of a pair, or of there being none."""
    rows = [
        row | {"ahead": _leader(sign, names)}
        for sign, row in found_crossings(pair, pair.t_crit(confidence))
    ]
    if rows:
        yield from rows
        return
    ahead = _leader(np.sign(pair.mean.sum()), names)  # no two means have different signs
    said = "neither is ahead" if ahead is None else f"{ahead} is ahead throughout"
    smallest, largest_size = pair.sizes[[0, -1]]
    yield {
        "ahead": ahead,
        "note": f"no crossing between {smallest:g} and {largest_size:g}: {said}",
    }


def _ends(pair: Curve, names: tuple[Any, Any], confidence: float, band: str) -> dict[str, Any]:
    """Return who is ahead at the two ends, how far inwards the band says so, and where else."""
    crit = sup_t(pair, confidence, band)
    row = {
        "ahead_smallest": _leader(pair.mean[0], names),
        "ahead_largest": _leader(pair.mean[-1], names),
        "undecided": bool(pair.undecided(pair.t_crit(confidence))),
        "sup_t": crit,
    }
    x = pair.log_sizes
    stretches = pair.undecided(crit) or [(x[-1], x[0])]
    for learner, sign in (("first", -1), ("second", 1)):
        if sign * pair.mean[0] > 0 and stretches[0][0] > x[0]:
            row[f"{learner}_better_up_to"] = pair.size(stretches[0][0])
        if sign * pair.mean[-1] > 0 and stretches[-1][1] < x[-1]:
            row[f"{learner}_better_from"] = pair.size(stretches[-1][1])
    decided = _decided(pair, crit)
    for learner, sign in (("first", -1), ("second", 1)):
        parts = [(low, high) for low, high, ahead in decided if ahead == sign]
        row[f"{learner}_better"] = "; ".join(
            f"{_said(low)} to {_said(high)}" for low, high in parts
        )
    return row


def _decided(pair: Curve, crit: float) -> list[tuple[float, float, int]]:
    """Return the stretches of sizes outside those that are undecided, with the sign in each."""
    x = pair.log_sizes
    undecided = pair.undecided(crit)
    starts, ends = [x[0], *(high for _, high in undecided)], [*(low for low, _ in undecided), x[-1]]
    found = []
    for low, high in zip(starts, ends, strict=True):
        # Inside, what lies between two undecided stretches may be but rounding.
        if high - low > (0 if low == x[0] or high == x[-1] else CLOSE):
            middle = np.interp((low + high) / 2, x, pair.mean)
            found.append((pair.size(low), pair.size(high), int(np.sign(middle))))
    return found


def _said(size: float) -> str:
    """Return a size to six digits, or whole."""
    return f"{size:.0f}" if size >= 1e5 else f"{size:.6g}"


def _resampled(pairs: Sequence[Curve | None], replicates: int, seed: int) -> dict[int, FloatArray]:
    """Return the mean curves of resampled subjects, replicates × sizes, by the place of the pair.

    Pairs with equally many subjects have the same draws.
    """
    places: dict[int, list[int]] = {}
    for place, pair in enumerate(pairs):
        if pair is not None:
            places.setdefault(len(pair.deviations), []).append(place)
    result = {}
    for subjects, group in places.items():
        curves = [pair for place in group if (pair := pairs[place]) is not None]
        deviations = np.concatenate([pair.deviations for pair in curves], axis=1)
        sums = np.concatenate([n @ deviations for n in _draws(subjects, replicates, seed)])
        parts = np.split(sums / subjects, len(curves), axis=1)
        for place, pair, means in zip(group, curves, parts, strict=True):
            result[place] = pair.mean + means
    return result


def _draws(subjects: int, replicates: int, seed: int) -> Iterator[FloatArray]:
    """Draw how often each subject comes into each replicate, some replicates at a time."""
    rng = np.random.default_rng(seed)
    block = max(_BLOCK // subjects, 1)
    for start in range(0, replicates, block):
        rows = min(block, replicates - start)
        drawn = rng.integers(subjects, size=(rows, subjects))
        drawn += subjects * np.arange(rows)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=rows * subjects)
        yield counts.astype(np.float64).reshape(rows, subjects)


def _checked(
    pair: Curve,
    means: FloatArray,
    row: dict[str, Any],
    names: tuple[Any, Any],
    confidence: float,
) -> dict[str, float]:
    """Return the bootstrap's columns for one crossing, or for there being none."""
    places, signs, _ = crossings(pair.log_sizes, means)
    overtaken = "crossing" in row and row["ahead"] == names[0]  # the second learner is
    sought = -1.0 if overtaken else 1.0
    near = math.log(row.get("crossing", pair.sizes[0]))
    distance = np.where(signs == sought, np.abs(places - near), np.inf)
    nearest = distance.argmin(axis=1)[:, None]
    # With no such crossing, nobody who is ever behind gets ahead later.
    beyond = np.where((sought * means < 0).any(axis=1), np.inf, -np.inf)
    found = np.isfinite(distance).any(axis=1)
    place = np.where(found, np.take_along_axis(places, nearest, axis=1)[:, 0], beyond)
    ordered = np.sort(place[means.any(axis=1)])  # nothing is known where all means are 0
    tail = (1 - confidence) / 2
    limits = dict.fromkeys(("bootstrap_lower", "bootstrap_median", "bootstrap_upper"), math.nan)
    for label, share in zip(limits, (tail, 0.5, 1 - tail), strict=True):
        if len(ordered):
            limit = float(ordered[math.ceil(len(ordered) * share) - 1])
            limits[label] = limit if math.isinf(limit) else math.exp(limit)
    counts = (signs != 0).sum(axis=1)
    shares = {"p_no_crossing": counts == 0, "p_one": counts == 1, "p_several": counts > 1}
    return limits | {label: float(share.mean()) for label, share in shares.items()}
