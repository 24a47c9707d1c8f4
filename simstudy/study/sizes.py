"""Training sizes of studies of data sets, which may be shares of the training part."""

import re

# A training size that is a share of the training part is kept as a whole number above all counts.
_SHARES, _PARTS = 2 * 10**9, 10**6
WHOLE = _SHARES + _PARTS


def dose(size: float) -> int:
    """The whole number by which a training size, in rows or as a share, is kept."""
    return size if isinstance(size, int) else _SHARES + round(size * _PARTS)


def stated_size(size: int) -> float:
    """The inverse of `dose`: a whole number of rows, or a share of the training part."""
    return size if size < _SHARES else (size - _SHARES) / _PARTS


def rows_of(size: int, training: int) -> int:
    """The number of rows that such a number stands for in a training part."""
    return size if size < _SHARES else max(1, (size - _SHARES) * training // _PARTS)


def size_text(size: int) -> str:
    """Such a number as text: rows, or a share of the training part in percent."""
    return f"{size}" if size < _SHARES else f"{100 * (size - _SHARES) / _PARTS:.6g}%"


def read_size(text: str) -> int:
    """The inverse of `size_text`; raises ValueError for any other text."""
    if not text.endswith("%"):
        return whole_number(text)
    share = float(text[:-1]) / 100
    if not 0 < share <= 1:
        raise ValueError(f"{text} is no share of the training part")
    return dose(share)


def whole_number(text: str) -> int:
    """A whole number of up to 15 ASCII digits, as numbers of models and rows are."""
    if not re.fullmatch("[0-9]{1,15}", text.strip()):
        raise ValueError(f"{text} is no whole number of up to 15 digits")
    return int(text)
