"""Escaping of names, labels and error messages for terminals, XML and CSV files; short texts."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# Control characters of terminals, characters that XML forbids, and those that cannot be seen and
# hide, reorder or pass for others: bidirectional controls, spaces without width, fillers, variation
# selectors, tags. Tabs and line feeds stay, and joiners in scripts that are written with them.
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b"
    "\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|(?<![\u0600-\u1fff])[\u200c\u200d]"
)
_FORMULA = re.compile(r"[=+\-@\t']")
_MAX_SUMMARY = 100  # characters


def printable(text: str) -> str:
    r"""Escape control and invisible characters, as in ``\u001b``."""
    return _UNPRINTABLE.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 2**16 else f"\\U{code:08x}"


def shortened(text: str, longest: int = _MAX_SUMMARY) -> str:
    """Return text whose middle is left out if it is long, for messages about what was typed."""
    half = longest // 2
    return text if len(text) <= longest else f"{text[:half]} […] {text[-half:]}"


def on_one_line(text: str) -> str:
    """Return printable text on a single line."""
    return printable(" ".join(text.split()))


def summary(value: object, *facts: str) -> str:
    """Return a repr of one line: the class and some facts, cut off where they are long."""
    text = on_one_line("; ".join(fact for fact in facts if fact))
    room = _MAX_SUMMARY - len(type(value).__name__) - len("()")
    if len(text) > room:
        text = text[: room - 1].rpartition(" ")[0] + " …"
    return f"{type(value).__name__}({text})"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, in the plural (by default with -s) unless it is 1."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def arc_text(parents: Iterable[Iterable[int]], names: Sequence[str] | None = None) -> str:
    """Return the arcs to each variable, as ``x0→x2``; without names, variable i is xi."""
    arcs = [
        f"{names[u]}→{names[v]}" if names else f"x{u}→x{v}"
        for v, causes in enumerate(parents)
        for u in causes
    ]
    return ", ".join(arcs) or "no arcs"


def echo(text: object, err: bool = False) -> None:
    """Print untrusted text on standard output or standard error."""
    print(printable(str(text)), file=sys.stderr if err else sys.stdout)


def csv_value(value: Any) -> Any:
    """Return a value for a CSV file; an apostrophe precedes text that looks like a formula.

    Text that begins with an apostrophe gets another one, so that `csv_text` is the exact inverse.
    Control characters are escaped; a carriage return would end a line of the file.
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
    """Undo the apostrophe of `csv_value`."""
    return value.removeprefix("'")


def as_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV without formulas; the rest is as `DataFrame.to_csv` writes it."""
    import pandas as pd

    escaped = table.set_axis([csv_value(name) for name in table.columns], axis=1)
    for place, kind in enumerate(table.dtypes):
        if kind.kind not in "fib":  # text, or mixed types
            values = [csv_value(value) for value in table.iloc[:, place]]
            escaped.isetitem(place, pd.Series(values, dtype=object).array)  # stays as it is
    return escaped.to_csv(index=False, lineterminator="\n")
