"""A table of one's own, read for advice: rows and columns that are used, and what is left out."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simstudy.data.assembly import ReadOptions
from simstudy.data.files import column_names, read_data_set
from simstudy.data.oddities import oddities
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.data.screening import Screening, check_usable, few_rows, screened
from simstudy.engine.seeds import stream
from simstudy.errors import SimstudyError

if TYPE_CHECKING:
    import pandas as pd

MAX_ROWS = 5000
_NAMED = 20  # columns that an error lists


@dataclass(frozen=True)
class OwnTable:
    """The rows and columns that are used.

    Attributes
    ----------
    name : str
        For results.
    sample : Sample
        The rows.
    all_rows : int
        How many there are with a target.
    screening : Screening
        The columns that are left out.
    notes : tuple of str
        Sentences on what was read.
    """

    name: str
    sample: Sample
    all_rows: int
    screening: Screening
    notes: tuple[str, ...]

    @property
    def target(self) -> str:
        """The column to predict."""
        return self.sample.schema.target.name


def read_own(
    data: str | os.PathLike[str] | pd.DataFrame, reading: ReadOptions, seed: int
) -> OwnTable:
    """Read a table; leave out rows beyond 5,000, at random, and columns that would mislead."""
    source = str(data) if isinstance(data, str | os.PathLike) else "the data frame"
    if reading.target is None:
        names = column_names(data, reading)
        if len(names) > _NAMED:  # the last column, often the one, is named in any case
            names = [*names[: _NAMED - 1], f"{len(names) - _NAMED} more", names[-1]]
        raise SimstudyError(
            f"{source}: which column is to be predicted? Name it with --target; there are "
            f"{', '.join(names)}"
        )
    table = read_data_set(data, reading)
    sample, rows = table.sample, len(table.sample)
    screening = screened(sample, reading.keep)
    if rows > MAX_ROWS:
        order = stream(seed, "advise", 0, "rows").permutation(rows)[:MAX_ROWS]
        sample = sample.take(np.sort(order))
    check_usable(sample, screening, source)
    variables = sample.schema.variables
    kept = [i for i, each in enumerate(variables) if each.name not in screening.suspects]
    schema = Schema(tuple(variables[place] for place in kept))
    sample = Sample.of(np.asfortranarray(sample.values[:, kept]), schema)  # noqa: PD011
    stem = Path(data).name.partition(".")[0] if isinstance(data, str | os.PathLike) else "table"
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", stem).strip("-.") or "table"
    notes = (*oddities(table, left_out=screening), *few_rows(sample))
    return OwnTable(name, sample, rows, screening, notes)
