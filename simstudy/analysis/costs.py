"""Computing time of learners."""

from __future__ import annotations

import pandas as pd


def median_by_dataset(timings: pd.DataFrame) -> pd.DataFrame:
    """Return the median seconds to fit and to predict over splits, by data set and learner."""
    columns = ["fit_seconds", "predict_seconds"]
    return timings.groupby(["dataset", "learner"], sort=False)[columns].median().reset_index()


def median_seconds(timings: pd.DataFrame) -> pd.DataFrame:
    """Return the median seconds to fit and to predict over models, by learner and size."""
    columns = ["fit_seconds", "predict_seconds"]
    return timings.groupby(["learner", "size"], sort=False)[columns].median().reset_index()
