"""Advice on a table: the facts that a page, a terminal and a notebook show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from simstudy.analysis.outlook import IntervalEstimate, Outlook


@dataclass(frozen=True)
class DescribedTable:
    """The table that the advice is about, and what was made of it.

    Attributes
    ----------
    name, target : str
        Names of the table and of the column to predict.
    all_rows, rows : int
        The rows of the file with a target, and those that were used.
    attributes, classes : int
        How many there are, without columns that were left out.
    identifiers, copies, constants : tuple of str
        Columns that were left out: see `simstudy.data.screening`.
    unsimulated : int
        Attributes that the simulated truths lack, as there are too many.
    notes : tuple of str
        Sentences on the table.
    discretize, missing : str
        How numbers and missing values are prepared; empty if there are none.
    fitter : str
        Where the structures of simulated truths come from.
    models, folds, repeats, seed : int
        The design of the two studies.
    """

    name: str
    target: str
    all_rows: int
    rows: int
    attributes: int
    classes: int
    identifiers: tuple[str, ...]
    copies: tuple[str, ...]
    constants: tuple[str, ...]
    unsimulated: int
    notes: tuple[str, ...]
    discretize: str
    missing: str
    fitter: str
    models: int
    folds: int
    repeats: int
    seed: int


@dataclass(frozen=True)
class Lead:
    """One learner is significantly ahead of another now."""

    ahead: str
    behind: str
    difference: float
    p: float  # adjusted


@dataclass(frozen=True)
class Advice:
    """How learners do on a table now, and what more rows would bring.

    Attributes
    ----------
    about : DescribedTable
        The table and the design.
    outlooks : tuple of Outlook
        By measure, the primary one first.
    leads : tuple of tuple of Lead
        By measure: who is ahead of whom now, by the corrected resampled t test (Holm).
    failed : tuple of str
        Learners that are left out because they failed.
    directory : Path
        Where the page and the two studies are.
    """

    about: DescribedTable
    outlooks: tuple[Outlook, ...]
    leads: tuple[tuple[Lead, ...], ...]
    failed: tuple[str, ...]
    directory: Path

    @property
    def page(self) -> Path:
        """The page."""
        return self.directory / "advice.html"

    @property
    def learners(self) -> tuple[str, ...]:
        """The labels of the learners."""
        return self.outlooks[0].learners

    def behind(self, at: int) -> list[str]:
        """Return the learners that are significantly behind the best one now, by a measure."""
        best = self.learners[self.outlooks[at].best_now]
        return [lead.behind for lead in self.leads[at] if lead.ahead == best]

    def now(self) -> pd.DataFrame:
        """Cross-validated scores, with 95% intervals."""
        return _table(
            (one.measure, label, {}, one.now[place])
            for one in self.outlooks
            for place, label in enumerate(self.learners)
        )

    def forecast(self) -> pd.DataFrame:
        """Predicted scores by number of rows, with 95% intervals."""
        return _table(
            (one.measure, label, {"rows": size}, one.predicted(place, size))
            for one in self.outlooks
            for size in one.sizes
            for place, label in enumerate(self.learners)
        )

    def gains(self) -> pd.DataFrame:
        """What more rows bring, with 95% intervals."""
        return _table(
            (one.measure, label, {"more_rows": size - one.rows}, one.gain(place, size))
            for one in self.outlooks
            for size in one.sizes[1:]
            for place, label in enumerate(self.learners)
        )

    def crossings(self) -> pd.DataFrame:
        """Who overtakes whom, and where."""
        keys = ("ahead", "behind", "rows", "low", "high", "share")
        rows = [
            (one.measure, *(getattr(crossing, key) for key in keys))
            for one in self.outlooks
            for crossing in one.crossings
        ]
        return pd.DataFrame(rows, columns=["measure", *keys])


def _table(rows: Iterable[tuple[str, str, dict[str, int], IntervalEstimate]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "measure": measure,
                **more,
                "learner": label,
                "value": one.value,
                "low": one.low,
                "high": one.high,
            }
            for measure, label, more, one in rows
        ]
    )
