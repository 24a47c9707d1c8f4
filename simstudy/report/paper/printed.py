"""Numbers as they are printed in tables."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from simstudy.report.numbers import NONE
from simstudy.report.paper.markup import Cell

if TYPE_CHECKING:
    import pandas as pd

_DIGITS, _MOST_DIGITS = 4, 6


def cells_of(rows: list[list[str]]) -> list[list[Cell]]:
    """Rows of plain text."""
    return [[Cell(text) for text in row] for row in rows]


def effect_of(row: dict[Any, Any]) -> str:
    """The name of an effect of the ANOVA."""
    return str(row["effect"]).replace(":", " × ")


def name_of(value: Any) -> str:
    """A label, or a whole number with its thousands apart."""
    return value if isinstance(value, str) else f"{value:,}"


def mean_of(row: dict[Any, Any], half: float, digits: int) -> str:
    """A mean with the half-width of its interval."""
    if row["infinite"] or row["n"] == 0:
        return fixed(row["mean"], digits)
    return f"{fixed(row['mean'], digits)} ± {fixed(half, digits)}"


def digits_of(widths: pd.Series[float]) -> int:
    """As many digits after the point as show two of the narrowest interval, from 4 to 6."""
    sizes = widths[np.isfinite(widths) & (widths > 0)]
    if sizes.empty:
        return _DIGITS
    needed = 1 - math.floor(math.log10(float(sizes.min())))
    return min(max(needed, _DIGITS), _MOST_DIGITS)


def fixed(value: float, digits: int) -> str:
    """A number with so many digits after the point, and a true minus sign."""
    if math.isnan(value):
        return NONE
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")
