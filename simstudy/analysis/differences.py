"""Mean paired difference of two learners as a function of size, with bands."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analysis.adjustment import check_confidence, check_option
from simstudy.analysis.complete import Cells, cells
from simstudy.analysis.curves import BANDS, sizes_of, sup_t
from simstudy.analysis.thresholds import pair_curve


@dataclass(frozen=True)
class DifferenceCurve:
    """Mean difference of two learners as a function of size; positive if the second is ahead.

    Attributes
    ----------
    first, second
        The learners.
    table : DataFrame
        The points, as `difference_curve` describes them.
    n, infinite : int
        Number of complete subjects, and of those in which either value is infinite.
    sup_t : float
        The critical value of the simultaneous band.
    note : str
        Why the pair could not be analysed; usually empty.
    """

    first: Any
    second: Any
    table: pd.DataFrame
    n: int
    infinite: int
    sup_t: float
    note: str = ""


def difference_curve(
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
) -> DifferenceCurve:
    """Return the mean difference of two learners at their common sizes, for a figure.

    Parameters
    ----------
    table, subject, factor, size, value, greater_is_better, confidence
        As in `courses`.
    first, second
        The learners; positive differences mean that the second is ahead.
    band
        Distribution from which the simultaneous band is simulated: ``"t"``, the multivariate t
        distribution with n − 1 degrees of freedom, or ``"normal"``.
    steps
        Number of linearly interpolated points between neighbouring sizes, for drawing only.

    Returns
    -------
    DifferenceCurve
        Its table has one row per point: the size, `studied` (whether it is one of the study's),
        `difference`, `se`, `lower` and `upper` (pointwise), `band_lower` and `band_upper`
        (simultaneous). All but the first two are NaN if the pair cannot be analysed.
    """
    chosen = table[table[factor].isin([first, second])] if factor in table else table
    every = cells(chosen, subject, (factor, size), value)
    for name in (first, second):
        if name not in every.levels[0]:
            raise ValueError(f"the column {factor!r} has no {name!r}")
    every.left_out("left out of the curve of cells without a value", False)
    return curve_between(every, first, second, greater_is_better, confidence, band, steps)


def curve_between(
    every: Cells,
    first: Any,
    second: Any,
    greater_is_better: bool = True,
    confidence: float = 0.95,
    band: str = "t",
    steps: int = 40,
) -> DifferenceCurve:
    """Return the `difference_curve` of two of the learners in an array of cells."""
    check_confidence(confidence)
    check_option("band", band, BANDS)
    one, other = every.levels[0].index(first), every.levels[0].index(second)
    pair, start = pair_curve(every, one, other, greater_is_better)
    size = every.within[1]
    sizes = sizes_of(size, every.levels[1]) if pair is None else pair.sizes
    places = np.arange(steps * (len(sizes) - 1) + 1) / steps
    x = np.interp(places, np.arange(len(sizes)), np.log(sizes))
    studied = places == places.astype(int)
    grid = np.exp(x)
    grid[studied] = sizes
    mean, se = (np.full(len(x), np.nan),) * 2 if pair is None else pair.straight(x)
    half = np.nan if pair is None else pair.t_crit(confidence)
    wide = np.nan if pair is None else sup_t(pair, confidence, band)
    columns = {size: grid, "studied": studied, "difference": mean, "se": se}
    columns |= {"lower": mean - half * se, "upper": mean + half * se}
    columns |= {"band_lower": mean - wide * se, "band_upper": mean + wide * se}
    result = pd.DataFrame(columns)
    return DifferenceCurve(first, second, result, sup_t=wide, **start)
