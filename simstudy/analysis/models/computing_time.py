"""Computing time of learners."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd


def median_seconds(timings: pd.DataFrame, by: Sequence[str] = ("learner", "size")) -> pd.DataFrame:
    """Return the median seconds to fit and to predict over models or splits, by two columns."""
    columns = ["fit_seconds", "predict_seconds"]
    return timings.groupby([*by], sort=False)[columns].median().reset_index()


def total_seconds(timings: pd.DataFrame) -> dict[str, float]:
    """Return the seconds of each learner to fit and to predict one split of every data set.

    The sum over data sets of the median over splits; NaN if a learner failed on all splits of one.
    """
    medians = median_seconds(timings, ("dataset", "learner"))
    medians["seconds"] = medians["fit_seconds"] + medians["predict_seconds"]
    totals = medians.groupby("learner", sort=False)["seconds"].sum(min_count=1, skipna=False)
    return {str(label): float(total) for label, total in totals.items()}


def pareto_front(
    scores: Mapping[str, float], seconds: Mapping[str, float], greater_is_better: bool = True
) -> list[str]:
    """Return the learners that none is as good as in both, and better in one; the fastest first.

    Learners of equal scores and seconds are on it together; those without either are not.
    """
    sign, front = -1.0 if greater_is_better else 1.0, list[str]()
    points = {label: (seconds[label], sign * scores[label]) for label in scores}
    points = {label: at for label, at in points.items() if all(map(math.isfinite, at))}
    best = math.inf
    for label, at in sorted(points.items(), key=lambda point: point[1]):
        if at[1] < best or (front and at == points[front[-1]]):
            front.append(label)
            best = at[1]
    return front
