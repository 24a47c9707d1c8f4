"""Computing time of learners."""

from __future__ import annotations

import pandas as pd


def median_seconds(timings: pd.DataFrame) -> pd.DataFrame:
    """Return the median seconds to fit and to predict over models, by learner and size."""
    columns = ["fit_seconds", "predict_seconds"]
    return timings.groupby(["learner", "size"], sort=False)[columns].median().reset_index()
