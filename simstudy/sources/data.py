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


# A training size that is a share of the training part is kept as a whole number above all counts.
_SHARES, _PARTS = 2 * 10**9, 10**6
WHOLE = _SHARES + _PARTS


@dataclass(frozen=True, eq=False)
class DataSource:
    """A table to learn from: its rows, where they come from, and what is odd about them."""

    name: str
    path: Path
    sample: Sample
    notes: tuple[str, ...] = ()
    splits: tuple[Split, ...] | None = field(default=None, repr=False)  # if given by a file

    @cached_property
    def digest(self) -> str:
        """A digest of the columns and rows, whatever the file is called."""
        content = hashlib.sha256(repr(self.sample.schema).encode())
        content.update(np.ascontiguousarray(self.sample.values).tobytes())
        if self.sample.groups is not None:
            content.update(repr(self.sample.groups.tolist()).encode())
        for split in self.splits or ():
            content.update(repr((split.repeat, split.fold)).encode())
            content.update(split.train.tobytes() + b"|" + split.test.tobytes())
        return content.hexdigest()


def dose(size: float) -> int:
    """The whole number by which a training size, in rows or as a share, is kept."""
    return size if isinstance(size, int) else _SHARES + round(size * _PARTS)


def rows_of(size: int, training: int) -> int:
    """The number of rows that such a number stands for in a training part."""
    return size if size < _SHARES else max(1, (size - _SHARES) * training // _PARTS)


def size_text(size: int) -> str:
    """Such a number as text: rows, or a share of the training part in percent."""
    return f"{size}" if size < _SHARES else f"{100 * (size - _SHARES) / _PARTS:.6g}%"


def read_size(text: str) -> int:
    """The inverse of `size_text`."""
    return dose(float(text[:-1]) / 100) if text.endswith("%") else int(text)
