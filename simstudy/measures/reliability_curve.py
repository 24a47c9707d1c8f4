"""Observed against predicted frequency of the positive class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, weights_in
from simstudy.measures.positive import require
from simstudy.measures.ranked import checked_rows


@dataclass(frozen=True)
class ReliabilityCurve:
    """Observed against predicted frequency of the positive class, by bins that have rows."""

    low: FloatArray  # edges of the bins
    high: FloatArray
    share: FloatArray  # of all rows
    predicted: FloatArray  # mean score
    observed: FloatArray  # share of positive rows


def reliability(
    scores: npt.ArrayLike,
    positive: npt.ArrayLike,
    weights: npt.ArrayLike | None = None,
    bins: int = 10,
) -> ReliabilityCurve:
    """Return observed against predicted frequency in bins of equal width from 0 to 1.

    A probability on an edge belongs to the upper bin, 1 to the last. Parameters as `roc`.
    """
    require(bins >= 1, "bins", bins, "it must be at least 1")
    score, is_positive, weight = checked_rows(scores, positive, weights)
    require(bool((score >= 0).all() and (score <= 1).all()), "scores", "…", "from 0 to 1 each")
    place = np.minimum((score * bins).astype(np.intp), bins - 1)
    each = np.ones(len(score)) if weight is None else weight
    totals = weights_in(place, each, bins)
    filled = np.flatnonzero(totals)
    predicted, observed = (
        weights_in(place, each * values, bins)[filled] / totals[filled]
        for values in (score, is_positive)
    )
    share = totals[filled] / totals.sum()
    return ReliabilityCurve(filled / bins, (filled + 1) / bins, share, predicted, observed)
