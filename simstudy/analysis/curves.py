"""A mean difference along a logarithmic axis: its zeros, and bands around it."""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from simstudy.analysis.adjustment import ROUNDING, critical_t, mean_and_se
from simstudy.arrays import FloatArray, IntArray

BANDS = ("t", "normal")
DRAWS = 50_000  # of the largest |t|, which put its 95 % point within about 0.01
DRAWS_SEED = 20_040_101
CLOSE = 1e-9  # two places on the logarithmic axis this close to each other are one but for rounding


@dataclass(frozen=True)
class Curve:
    """The mean over subjects of a difference that is linear in log n between the sizes."""

    sizes: FloatArray
    mean: FloatArray  # at every size; exactly 0 where it is so but for rounding
    deviations: FloatArray  # subjects × sizes, from the mean; 0 where they are but rounding

    @property
    def log_sizes(self) -> FloatArray:
        """The horizontal axis."""
        return np.log(self.sizes)

    @property
    def df(self) -> int:
        """Degrees of freedom of the standard errors."""
        return len(self.deviations) - 1

    @property
    def covariance(self) -> FloatArray:
        """Of the means at every two sizes."""
        products: FloatArray = self.deviations.T @ self.deviations
        return products / (self.df * (self.df + 1))

    def t_crit(self, confidence: float) -> float:
        """Return the two-sided quantile of Student's t."""
        return float(critical_t(confidence, 1, np.array(self.df)))

    def size(self, log_size: float) -> float:
        """Return a size from its logarithm; the study's own sizes come back exactly."""
        known = self.sizes[self.log_sizes == log_size]
        return float(known[0]) if len(known) else math.exp(log_size)

    def at(self, log_sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the mean and its standard error at any sizes between the study's."""
        each = np.eye(len(self.sizes))
        weights = np.array([np.interp(log_sizes, self.log_sizes, one) for one in each])
        variance = ((self.deviations @ weights) ** 2).sum(axis=0) / (self.df * (self.df + 1))
        return self.mean @ weights, np.sqrt(variance)

    def undecided(self, crit: float) -> list[tuple[float, float]]:
        """Find the stretches of log n in which the mean lies within crit standard errors of 0.

        Between two sizes mean² − crit² se² is a quadratic in the weight of the second, so the
        limits are its roots. Stretches that meet at a size are one.
        """
        x, covariance = self.log_sizes, self.covariance
        stretches: list[tuple[float, float]] = []
        for here, there in itertools.pairwise(range(len(x))):
            ends = np.ix_((here, there), (here, there))
            quadratic = _excess(self.mean[[here, there]], covariance[ends], crit)
            weights = [0.0, *_roots(*quadratic), 1.0]
            places = np.interp(weights, (0.0, 1.0), x[[here, there]]).tolist()
            for part, (low, high) in enumerate(itertools.pairwise(weights)):
                if np.polyval(quadratic, (low + high) / 2) > 0:
                    continue
                start, stop = places[part], places[part + 1]
                if stretches and stretches[-1][1] == start:
                    start = stretches.pop()[0]
                stretches.append((start, stop))
        # Where the subjects do not differ a zero is a stretch without length.
        zeros = [*crossings(x, self.mean[None])[0][0], *x[self.mean == 0]]
        for zero in zeros:
            if not np.isnan(zero) and not any(holds(ends, zero) for ends in stretches):
                stretches.append((float(zero), float(zero)))
        return sorted(stretches)


def _excess(mean: FloatArray, covariance: FloatArray, crit: float) -> tuple[float, float, float]:
    """Return mean² − crit² se² between two sizes, a quadratic in the weight of the second."""
    rise = mean[1] - mean[0]
    (here, both), (_, there) = covariance
    square = rise**2 - crit**2 * (here - 2 * both + there)
    linear = 2 * (mean[0] * rise - crit**2 * (both - here))
    return float(square), float(linear), float(mean[0] ** 2 - crit**2 * here)


def _roots(square: float, linear: float, constant: float) -> list[float]:
    """Return the roots of a quadratic that lie inside (0, 1), ascending."""
    discriminant = linear**2 - 4 * square * constant
    if discriminant < 0:
        return []
    # Of the two forms of a root, each is used where its terms have the same sign.
    stable = -(linear + math.copysign(math.sqrt(discriminant), linear)) / 2
    fractions = [(stable, square), (constant, stable)]
    found = {top / bottom for top, bottom in fractions if bottom != 0 and abs(top) < abs(bottom)}
    return sorted(root for root in found if 0 < root < 1)


def crossings(x: FloatArray, means: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Find where curves change sign.

    Parameters
    ----------
    x
        The logarithms of the sizes.
    means
        Curves × sizes.

    Returns
    -------
    places, signs, before
        Curves × segments: where on the axis the crossing lies that is complete at the segment's
        end, NaN if none is; the sign after it, else 0; the latest size before the segment's end
        at which the curve was not 0.
    """
    signs, steps = np.sign(means), np.arange(len(x))
    before = np.maximum.accumulate(np.where(signs != 0, steps, 0), axis=1)[:, :-1]
    crossed = np.take_along_axis(signs, before, axis=1) * signs[:, 1:] < 0
    here, fall = means[:, :-1], means[:, :-1] - means[:, 1:]
    share = np.divide(here, fall, out=np.zeros_like(here), where=crossed)
    straight = x[:-1] + share * np.diff(x)
    middle = (x[before + 1] + x[:-1]) / 2  # of a stretch of zeros that ends with the last segment
    places = np.where(before == steps[:-1], straight, middle)
    return np.where(crossed, places, np.nan), np.where(crossed, signs[:, 1:], 0.0), before


def holds(ends: tuple[float, float], place: float) -> bool:
    """Say whether a stretch of the axis includes a place, but for rounding."""
    return bool(ends[0] - CLOSE <= place <= ends[1] + CLOSE)


def sup_t(pair: Curve, confidence: float, band: str) -> float:
    """Return the critical value of a band around the whole curve; at least Student's."""
    length = np.sqrt((pair.deviations**2).sum(axis=0))
    unit = np.zeros_like(pair.deviations)
    np.divide(pair.deviations, length, out=unit, where=length > 0)
    rng = np.random.default_rng(DRAWS_SEED)
    triangle = np.linalg.qr(unit).R  # it has the correlations of unit, with fewer rows
    z: FloatArray = triangle.T @ rng.standard_normal((len(triangle), DRAWS))
    sup = supremum(z, (unit[:, 1:] * unit[:, :-1]).sum(axis=0))
    if band == "t":
        sup /= np.sqrt(rng.chisquare(pair.df, DRAWS) / pair.df)
    return max(float(np.quantile(sup, confidence)), pair.t_crit(confidence))


def supremum(z: FloatArray, correlations: FloatArray) -> FloatArray:
    """Return the largest |z| along each curve that is linear between its sizes.

    Between two sizes with correlation r and scores u and v, z² is largest where the weights are
    proportional to the inverse covariance times the scores, and is (u² + v² − 2ruv)/(1 − r²)
    there, if these weights have one sign; else it is largest at one of the two.

    Parameters
    ----------
    z
        Sizes × curves.
    correlations
        Of each size with the next.
    """
    sup: FloatArray = np.abs(z).max(axis=0)
    for (u, v), r in zip(itertools.pairwise(z), correlations, strict=True):
        one, other = u - r * v, v - r * u
        if abs(r) < 1 - CLOSE:
            squares = (u * one + v * other) / (1 - r**2)
            np.maximum(sup, np.sqrt(np.where(one * other > 0, squares, 0.0)), out=sup)
    return sup


UNSAID: dict[str, Any] = {"ahead": None, "ahead_smallest": None, "ahead_largest": None, "note": ""}
UNSAID |= {"lower_open": False, "upper_open": False, "undecided": False}
UNSAID |= {"first_better": "", "second_better": ""}


def sizes_of(column: str, names: list[Any]) -> FloatArray:
    """Return the sizes as numbers; there must be two, and all positive."""
    for name in names:
        if not isinstance(name, Real) or not 0 < float(name) < math.inf:
            raise ValueError(f"the column {column!r} has {name!r}; sizes must be positive numbers")
    if len(names) < 2:
        raise ValueError(f"the column {column!r} has one size ({names[0]}): nothing in between")
    return np.array(names, dtype=np.float64)


def complete_curve(
    differences: FloatArray,
    scale: FloatArray | float,
    infinite: npt.NDArray[np.bool_],
    sizes: FloatArray,
) -> tuple[Curve | None, dict[str, Any]]:
    """Return the curve of the complete subjects and, for the table, how many there are.

    There is no curve, and a note says why, if a subject is infinite or fewer than two are left.
    """
    kept = differences[np.isfinite(differences).all(axis=1)]
    start = {"n": len(kept), "infinite": int(infinite.sum())}
    if infinite.any():
        return None, start | {"note": "not analysed: infinite values"}
    if len(kept) < 2:
        return None, start | {"note": "not analysed: fewer than two complete subjects"}
    _, mean, se, _ = mean_and_se(kept, scale)
    mean = np.where(np.abs(mean) <= ROUNDING * scale, 0.0, mean)
    return Curve(sizes, mean, np.where(se == 0, 0.0, kept - kept.mean(axis=0))), start


def found_crossings(pair: Curve, crit: float) -> Iterator[tuple[float, dict[str, Any]]]:
    """Yield the sign after each crossing of a curve, and the crossing with its interval."""
    x = pair.log_sizes
    stretches = pair.undecided(crit)
    places, signs, before = (found[0] for found in crossings(x, pair.mean[None]))
    for segment in np.flatnonzero(signs):
        place = float(places[segment])
        low, high = next(ends for ends in stretches if holds(ends, place))
        low, high = min(low, place), max(high, place)
        yield (
            float(signs[segment]),
            {
                "crossing": pair.size(place),
                "lower": pair.size(low),
                "upper": pair.size(high),
                "lower_open": low == x[0],
                "upper_open": high == x[-1],
                "before": pair.sizes[before[segment]],
                "after": pair.sizes[segment + 1],
            },
        )


def frame_of(rows: list[dict[str, Any]], columns: list[str]) -> pd.DataFrame:
    """Return rows as a table, with NaN or what is in `UNSAID` where a row says nothing."""
    said = {
        column: [row.get(column, UNSAID.get(column, math.nan)) for row in rows]
        for column in columns
    }
    return pd.DataFrame(said)
