"""Mean differences as a function of size: significance and zero crossings."""

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Real

import numpy as np

from simstudy.analysis.score_array import Cells, Level
from simstudy.analysis.tests.adjustment import ROUNDING, critical_t, largest, mean_and_se
from simstudy.arrays import ArrayLike, BoolArray, FloatArray, IntArray

# Crossings between sizes further apart than this factor are not estimated.
MAX_RATIO = 2.5
_STEPS = 32  # grid points between neighbouring sizes, in the search for crossings
_ROUNDS = 6  # of refinement of a crossing, each by as many steps


@dataclass(frozen=True)
class Zone:
    """Range in which a curve may cross 0, between two sizes of opposite sign.

    Attributes
    ----------
    lower, upper
        The sizes between which the sign is not significant, allowing for interpolation error.
    zeros
        The sizes at which the estimated curve crosses 0.
    ratio
        The largest ratio of neighbouring sizes in and next to the zone; infinite with two sizes,
        which do not determine the curve between them.
    """

    lower: float
    upper: float
    zeros: list[float]
    ratio: float


@dataclass(frozen=True)
class Curve:
    """The mean over subjects of a difference at several sizes."""

    sizes: FloatArray
    mean: FloatArray  # at every size; exactly 0 if within rounding error of 0
    deviations: FloatArray  # subjects × sizes, from the mean; 0 if within rounding error of 0

    @cached_property
    def log_sizes(self) -> FloatArray:
        """The horizontal axis."""
        return np.log(self.sizes)

    @property
    def df(self) -> int:
        """Degrees of freedom of the standard errors."""
        return len(self.deviations) - 1

    def t_crit(self, confidence: float, m: int = 1) -> float:
        """Return the two-sided Bonferroni quantile of Student's t for m tests."""
        return float(critical_t(confidence, m, np.array(self.df)))

    def decided(self, crit: float) -> IntArray:
        """Return the sign at sizes where the mean is at least crit standard errors from 0.

        That is where p is at most α, as `is_significant` has it.
        """
        se = self._se(np.eye(len(self.sizes)))
        return np.where(np.abs(self.mean) >= crit * se, np.sign(self.mean), 0).astype(np.intp)

    def zone(self, before: int, after: int, crit: float) -> Zone:
        """Find where the curve may cross 0 between two sizes, given by index.

        Between neighbouring sizes the curve is estimated by two parabolas in log n, each through
        these two and one more size on either side. Their difference, due to the change in
        curvature, is the allowance for interpolation error. In the first and last segments there
        is one parabola; the straight line, which lacks all of the curvature, and its reflection in
        the parabola take the place of the two. The zone is all sizes at which 0 lies within crit
        standard errors of either, or between the two.
        """
        x = self.log_sizes
        pairs = itertools.pairwise(x[before : after + 1])
        grid = np.unique([np.linspace(*ends, _STEPS + 1) for ends in pairs])
        zeros = self._zeros(grid)
        grid = np.unique([*grid, *zeros])
        inside = self._may_be_zero(grid, crit) | np.isin(grid, zeros)  # despite rounding
        first, last = np.flatnonzero(inside)[[0, -1]]
        low, high = grid[first], grid[last]
        if first > 0:
            low = _turn(grid[first - 1], low, lambda at: self._may_be_zero(at, crit))
        if last < len(grid) - 1:
            high = _turn(high, grid[last + 1], lambda at: ~self._may_be_zero(at, crit))
        touched = np.flatnonzero((x[1:] > low) & (x[:-1] < high))
        around = np.diff(x)[max(touched[0] - 1, 0) : touched[-1] + 2]
        ratio = math.exp(around.max()) if len(x) > 2 else math.inf
        return Zone(math.exp(low), math.exp(high), [math.exp(zero) for zero in zeros], ratio)

    def _zeros(self, grid: FloatArray) -> list[float]:
        """Find the zeros of the mean of the two parabolas, given a grid of log sizes."""
        signs = np.sign(self._parabolas(grid)[0].mean(axis=0))
        zeros = []
        for before, after in itertools.pairwise(np.flatnonzero(signs)):

            def turned(at: FloatArray, sign: float = signs[after]) -> BoolArray:
                return np.sign(self._parabolas(at)[0].mean(axis=0)) == sign

            if signs[before] != signs[after]:
                zeros.append(_turn(grid[before], grid[after], turned))
        return zeros

    def _may_be_zero(self, log_sizes: FloatArray, crit: float) -> BoolArray:
        """Return where 0 lies within the limits of either parabola, or between them."""
        values, se = self._parabolas(log_sizes)
        low, high = (values - crit * se).min(axis=0), (values + crit * se).max(axis=0)
        return (low <= 0) & (high >= 0)

    def _parabolas(self, log_sizes: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the means and standard errors, 2 × sizes, of the two parabolas at some sizes."""
        at, x = np.atleast_1d(log_sizes), self.log_sizes
        segment = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(x) - 2)
        weights = np.zeros((2, len(x), len(at)))
        for here in np.unique(segment):
            chosen = segment == here
            starts = [start for start in (here - 1, here) if 0 <= start <= len(x) - 3]
            sides = [self._through(range(start, start + 3), at[chosen]) for start in starts]
            line = self._through(range(here, here + 2), at[chosen])
            if len(sides) < 2:
                sides = [line, 2 * sides[0] - line] if sides else [line, line]
            weights[:, :, chosen] = sides
        values = np.einsum("s,wsa->wa", self.mean, weights)
        return values, np.stack([self._se(side) for side in weights])

    def _through(self, places: range, log_sizes: FloatArray) -> FloatArray:
        """Return the weights of all sizes in the polynomial through some of them (Lagrange's)."""
        weights, nodes = np.zeros((len(self.sizes), len(log_sizes))), self.log_sizes
        weights[places.start : places.stop] = 1.0
        for i, j in itertools.permutations(places, 2):
            weights[i] *= (log_sizes - nodes[j]) / (nodes[i] - nodes[j])
        return weights

    def _se(self, weights: FloatArray) -> FloatArray:
        """Return the standard error of weighted sums of the means, weights in columns."""
        squares = ((self.deviations @ weights) ** 2).sum(axis=0)
        return np.sqrt(squares / (self.df * (self.df + 1)))


def _turn(low: float, high: float, test: Callable[[FloatArray], BoolArray]) -> float:
    """Locate the point between ``low`` and ``high`` at which a test becomes true."""
    for _ in range(_ROUNDS):
        places = np.linspace(low, high, _STEPS + 1)
        first = int(np.flatnonzero([False, *test(places[1:-1]), True])[0])
        low, high = places[first - 1], places[first]
    return float(low + high) / 2


def sizes_of(names: list[Level]) -> FloatArray:
    """Return the sizes as numbers; there must be at least two, all positive."""
    for name in names:
        if not isinstance(name, Real) or not 0 < float(name) < math.inf:
            raise ValueError(f"the column 'size' has {name!r}; sizes must be positive numbers")
    if len(names) < 2:
        raise ValueError(f"the column 'size' has one size ({names[0]}), not two or more")
    return np.array(names, dtype=np.float64)


def complete_curve(
    differences: FloatArray, scale: FloatArray | float, infinite: BoolArray, sizes: FloatArray
) -> tuple[Curve | None, int, int, str]:
    """Return the curve of the complete subjects, their number, that of infinite ones and a note.

    There is no curve, but a note, if a value is infinite or fewer than two subjects remain.
    """
    kept = differences[np.isfinite(differences).all(axis=1)]
    counts = len(kept), int(infinite.sum())
    if infinite.any():
        return None, *counts, "not analysed: infinite values"
    if len(kept) < 2:
        return None, *counts, "not analysed: fewer than two complete subjects"
    _, mean, se, _ = mean_and_se(kept, scale)
    mean = np.where(np.abs(mean) <= ROUNDING * scale, 0.0, mean)
    return Curve(sizes, mean, np.where(se == 0, 0.0, kept - kept.mean(axis=0))), *counts, ""


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
    zone : Zone, optional
        Where the curve may cross 0; None if the complete subjects do not show the change.
    """

    ahead: Level
    behind: Level
    before: float
    after: float
    crossing: float = math.nan
    lower: float = math.nan
    upper: float = math.nan
    note: str = ""
    zone: Zone | None = None

    @property
    def estimated(self) -> bool:
        """Whether there is an estimate of the crossing."""
        return not math.isnan(self.crossing)


@dataclass(frozen=True)
class PairCurve:
    """Two learners, their mean difference at common sizes, and its changes of sign.

    The difference is positive if the second learner is better. There is no curve, but a note, if
    too few subjects are complete; signs come from tests at single sizes.
    """

    first: Level
    second: Level
    sizes: FloatArray
    curve: Curve | None
    n: int
    infinite: int
    note: str = ""
    signs: Sequence[int] = ()
    changes: tuple[Overtaking, ...] = ()
    m: int = 0


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
    leads = itertools.pairwise(np.flatnonzero(signs).tolist())
    changes = [(before, after) for before, after in leads if signs[before] != signs[after]]
    overtakings = (_overtaking(pair, *ends, int(signs[ends[1]]), crit) for ends in changes)
    return replace(pair, signs=signs.tolist(), changes=tuple(overtakings))


def _overtaking(pair: PairCurve, before: int, after: int, sign: int, crit: float) -> Overtaking:
    """Return the overtaking between two sizes, given by index; the sign is that after it."""
    learners = (pair.second, pair.first) if sign > 0 else (pair.first, pair.second)
    start = (*learners, float(pair.sizes[before]), float(pair.sizes[after]))
    curve = pair.curve
    if curve is None or not sign * curve.mean[before] < 0 < sign * curve.mean[after]:
        why = "infinite values at some size" if pair.infinite else "missing values"
        return Overtaking(*start, note=f"{why}: no estimate in between")
    zone, note = curve.zone(before, after, crit), ""
    if math.isinf(zone.ratio):
        note = "only two sizes: no estimate in between"
    elif zone.ratio > MAX_RATIO * (1 + 1e-9):
        far = f"neighbouring sizes differ by a factor of {zone.ratio:.3g}"
        note = f"{far}, more than {MAX_RATIO:g}: no estimate in between"
    elif len(zone.zeros) != 1:
        note = "the estimated curve crosses 0 several times in between"
    if note:
        return Overtaking(*start, note=note, zone=zone)
    return Overtaking(*start, zone.zeros[0], zone.lower, zone.upper, zone=zone)


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
    facts = complete_curve(differences, scale, infinite, sizes)
    return PairCurve(names[first], names[second], sizes, *facts)
