"""Means over the splits of data sets."""

from __future__ import annotations

import numpy as np
import pandas as pd

SPREAD = 1.96  # standard deviations either side, which hold 95% of a normal distribution


def dataset_means(scores: pd.DataFrame, measure: str, sizes: list[str]) -> pd.DataFrame:
    """Return the mean over splits of a measure, by data set, training size and learner.

    Parameters
    ----------
    scores
        One row per split, size and learner, in that order.
    measure
        Its column.
    sizes
        The training sizes, as text.

    Returns
    -------
    DataFrame
        The data set, `size`, learner, `splits` (with a value), `mean`, `sd`, the standard deviation
        between splits, and `sd_1_96`, 1.96 times that: the ± of Korb, Hope & Hughes (2001, Tables 1
        to 3). Both tell how far single splits lie apart. Splits share rows, so sd/√splits is no
        standard error of the mean.
    """
    learners = scores["learner"].nunique()
    each = np.tile(np.repeat(sizes, learners), len(scores) // (len(sizes) * learners))
    groups = scores.assign(size=each).groupby(["dataset", "size", "learner"], sort=False)[measure]
    with np.errstate(invalid="ignore"):  # infinite scores
        found = groups.agg(splits="count", mean=lambda v: v.mean(), sd=lambda v: v.std(ddof=1))
    return found.assign(sd_1_96=SPREAD * found["sd"]).reset_index()
