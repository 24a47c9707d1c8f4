"""Data sets: sources of problems whose truth is not known."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simstudy.data.sample import Sample

if TYPE_CHECKING:
    from simstudy.data.resampling import Split


@dataclass(frozen=True, eq=False)
class DataSource:
    """A table to learn from: its rows, where they come from, and what is odd about them."""

    name: str
    path: Path
    sample: Sample
    notes: tuple[str, ...] = ()
    splits: tuple[Split, ...] | None = field(default=None, repr=False)  # if given by a file
    least_rows: int = 0  # of a training part, for checks of the design

    @property
    def facts(self) -> dict[str, float]:
        """Rows, attributes, how many are numeric, classes, and the share of missing values."""
        values = self.sample.values[:, :-1]
        rows, attributes = values.shape
        return {
            "rows": rows,
            "attributes": attributes,
            "numeric": len(self.sample.schema.numeric),
            "classes": self.sample.classes,
            "missing": float(np.isnan(values).mean()) if values.size else 0.0,
        }

    @cached_property
    def digest(self) -> str:
        """A digest of the columns and rows, whatever the file is called."""
        content = hashlib.sha256(repr(self.sample.schema).encode())
        values = self.sample.values
        known = np.where(np.isnan(values), np.nan, values)  # NaNs can differ in their bits
        content.update(np.ascontiguousarray(known).tobytes())
        if self.sample.groups is not None:
            content.update(repr(self.sample.groups.tolist()).encode())
        for split in self.splits or ():
            content.update(repr((split.repeat, split.fold)).encode())
            content.update(split.train.tobytes() + b"|" + split.test.tobytes())
        return content.hexdigest()
