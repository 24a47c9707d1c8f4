"""Names, labels and texts of errors, made harmless for where they go."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# What a terminal obeys, what turns the direction of text, and what XML has no place for; not tabs
# and ends of lines.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_FORMULA = re.compile(r"[=+\-@\t']")


def printable(text: str) -> str:
    r"""Text with its control characters written out, as in ``\u001b``."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def on_one_line(text: str) -> str:
    """Printable text, all of it on one line."""
    return printable(" ".join(text.split()))


def echo(text: object, err: bool = False) -> None:
    """Print something, whoever wrote it, on standard output or standard error."""
    print(printable(str(text)), file=sys.stderr if err else sys.stdout)


def csv_value(value: Any) -> Any:
    """A value for a CSV file: text that a spreadsheet would take for a formula gets an apostrophe.

    So does text that begins with an apostrophe: `csv_text` takes away one, and never a wrong one.
    Control characters are written out; carriage returns would end a line of the file.
    """
    if not isinstance(value, str):
        return value
    value = printable(value)
    if not _FORMULA.match(value):
        return value
    try:
        float(value)
    except ValueError:
        return "'" + value
    return value


def csv_text(value: str) -> str:
    """The text that was written to a CSV file as `csv_value` gives it."""
    return value.removeprefix("'")


def as_csv(table: pd.DataFrame, **options: Any) -> str:
    """A table as CSV, with no formulas in it; the options are those of `DataFrame.to_csv`."""
    import numpy as np

    safe = table.set_axis([csv_value(name) for name in table.columns], axis=1)
    for place, kind in enumerate(table.dtypes):
        if kind.kind == "O":  # text, or text among other things
            values = np.empty(len(table), dtype=object)
            values[:] = [csv_value(value) for value in table.iloc[:, place]]
            safe.isetitem(place, values)
    return str(safe.to_csv(index=False, **options))
