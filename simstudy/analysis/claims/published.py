"""Means of a study of data sets beside those that a source has printed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd


@dataclass(frozen=True)
class Agreement:
    """Our means beside printed ones.

    Attributes
    ----------
    cells : DataFrame
        One row per data set and learner: `dataset`, `learner`, `ours`, `printed`, `difference`
        (ours minus printed) and `beyond`, whether it is beyond the tolerance.
    by_learner : DataFrame
        By learner: `datasets` and `mean_absolute_difference`.
    left_out, missing : tuple of str
        Data sets that are not the same; printed ones that the study does not have.
    tolerance : float
        The tolerance.
    """

    cells: pd.DataFrame = field(repr=False, compare=False)
    by_learner: pd.DataFrame = field(repr=False, compare=False)
    left_out: tuple[str, ...]
    missing: tuple[str, ...]
    tolerance: float

    @property
    def beyond(self) -> tuple[str, ...]:
        """The data sets on which some learner differs by more than the tolerance."""
        return tuple(dict.fromkeys(self.cells["dataset"][self.cells["beyond"]]))


def agreement(
    means: pd.DataFrame,
    printed: Mapping[str, Mapping[str, float]],
    leave_out: list[str],
    tolerance: float,
) -> Agreement:
    """Compare means with printed ones, data set by data set and learner by learner.

    Parameters
    ----------
    means
        Our means, data sets × learners.
    printed
        Printed ones, by data set and learner.
    leave_out
        Data sets that are not the same.
    tolerance
        The largest difference that is not marked.
    """
    both = [name for name in means.index if name in printed and name not in leave_out]
    learners = [name for name in means.columns if any(name in row for row in printed.values())]
    rows = []
    for dataset in both:
        for learner in learners:
            ours, theirs = float(means[learner][dataset]), printed[dataset][learner]
            difference = ours - theirs
            rows.append([dataset, learner, ours, theirs, difference, abs(difference) > tolerance])
    columns = ["dataset", "learner", "ours", "printed", "difference", "beyond"]
    cells = pd.DataFrame(rows, columns=columns)
    groups = cells.assign(size=cells["difference"].abs()).groupby("learner", sort=False)["size"]
    summary = groups.agg(datasets="count", mean_absolute_difference="mean").reset_index()
    left_out = tuple(name for name in leave_out if name in means.index)
    missing = tuple(name for name in printed if name not in means.index)
    return Agreement(cells, summary, left_out, missing, tolerance)
