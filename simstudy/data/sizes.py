"""Training sizes: numbers of rows, or shares of the training part of a data set."""

from __future__ import annotations

import re
from dataclasses import dataclass

from simstudy.errors import SimstudyError

_SHARES, _PARTS = 2 * 10**9, 10**6  # shares are stored as whole numbers above all counts


@dataclass(frozen=True)
class Size:
    """A number of rows (int), or a share of the training part (float).

    Results store it as a whole number, by which it is also known in random streams.
    """

    value: int | float

    @classmethod
    def stored(cls, number: int) -> Size:
        """The size that is stored as a number."""
        return cls(int(number) if number < _SHARES else (int(number) - _SHARES) / _PARTS)

    @classmethod
    def of(cls, value: float) -> Size:
        """The size that a user names: a number of rows, or a share of at most 1."""
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
            raise SimstudyError(f"{value!r} is not a training size: give rows, or a share up to 1")
        if isinstance(value, int) or value <= 1:
            return cls(value)
        if value != round(value):
            raise SimstudyError(f"{value!r} is not a whole number of rows")
        return cls(round(value))

    @classmethod
    def read(cls, text: str) -> Size:
        """The inverse of `str`; raises ValueError for any other text."""
        if not text.endswith("%"):
            return cls(whole_number(text))
        share = float(text[:-1]) / 100
        if not 0 < share <= 1:
            raise ValueError(f"{text} is not a share of the training part")
        return cls(share)

    @property
    def number(self) -> int:
        """The number by which it is stored."""
        if isinstance(self.value, int):
            return self.value
        return _SHARES + round(self.value * _PARTS)

    def rows(self, training: int) -> int:
        """The number of rows in a training part."""
        if isinstance(self.value, int):
            return self.value
        return max(1, (self.number - _SHARES) * training // _PARTS)

    def __str__(self) -> str:
        if isinstance(self.value, int):
            return f"{self.value}"
        return f"{100 * (self.number - _SHARES) / _PARTS:.6g}%"


WHOLE = Size(1.0)  # all of the training part


def size_text(number: int) -> str:
    """A stored number as text: rows, or a share of the training part in percent."""
    return str(Size.stored(number))


def whole_number(text: str) -> int:
    """A whole number of up to 15 ASCII digits, as numbers of models and rows are."""
    if not re.fullmatch("[0-9]{1,15}", text.strip()):
        raise ValueError(f"{text} is not a whole number of up to 15 digits")
    return int(text)
