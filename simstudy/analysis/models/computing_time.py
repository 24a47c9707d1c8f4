"""Computing time of learners."""

from collections.abc import Sequence

import pandas as pd


def median_seconds(timings: pd.DataFrame, by: Sequence[str] = ("learner", "size")) -> pd.DataFrame:
    """Return the median seconds to fit and to predict over models or splits, by two columns."""
    columns = ["fit_seconds", "predict_seconds"]
    return timings.groupby([*by], sort=False)[columns].median().reset_index()
