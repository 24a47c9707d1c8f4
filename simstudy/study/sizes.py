"""Training sizes of studies of data sets, which may be shares of the training part."""

# A training size that is a share of the training part is kept as a whole number above all counts.
_SHARES, _PARTS = 2 * 10**9, 10**6
WHOLE = _SHARES + _PARTS


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
