"""Advice on a table: the facts that a page, a terminal and a notebook show."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import pandas as pd

from simstudy.analysis.outlook import Crossing, IntervalEstimate, Outlook


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
        return self._table((at, {}, [*at.now]) for at in self.outlooks)

    def forecast(self) -> pd.DataFrame:
        """Predicted scores by number of rows, with 95% intervals."""
        places = range(len(self.learners))
        return self._table(
            (at, {"rows": size}, [at.predicted(place, size) for place in places])
            for at in self.outlooks
            for size in at.sizes
        )

    def gains(self) -> pd.DataFrame:
        """What more rows bring, with 95% intervals."""
        places = range(len(self.learners))
        return self._table(
            (at, {"more_rows": size - at.rows}, [at.gain(place, size) for place in places])
            for at in self.outlooks
            for size in at.sizes[1:]
        )

    def crossings(self) -> pd.DataFrame:
        """Who overtakes whom, and where."""
        rows = [{"measure": at.measure, **asdict(c)} for at in self.outlooks for c in at.crossings]
        return pd.DataFrame(rows, columns=["measure", *(key.name for key in fields(Crossing))])

    def _table(
        self, parts: Iterable[tuple[Outlook, dict[str, int], list[IntervalEstimate]]]
    ) -> pd.DataFrame:
        """A row for each learner in each part, with its estimate."""
        return pd.DataFrame(
            [
                {"measure": outlook.measure, **more, "learner": label, **asdict(estimate)}
                for outlook, more, estimates in parts
                for label, estimate in zip(self.learners, estimates, strict=True)
            ]
        )
