"""The parts of a page that are shown on demand, packed into one text.

They are the views of all measures but the first, which a page without scripts does not show
either, and the files of tables. Packed, they take a tenth of their size.
"""

from __future__ import annotations

import base64
import json
import zlib

from markupsafe import Markup

from simstudy.report.tables.table import Table
from simstudy.texts import printable


class Parts:
    """The files and views of one page."""

    def __init__(self) -> None:
        self._files: dict[str, str] = {}
        self._views: list[str] = []

    def keep(self, table: Table) -> str:
        """Add the file of a table, and return its name."""
        self._files[f"{table.name}.csv"] = table.csv
        return f"{table.name}.csv"

    def fold(self, view: Markup) -> int:
        """Add a view, and return its number."""
        self._views.append(printable(view.strip()))
        return len(self._views) - 1

    def packed(self) -> str:
        """Return all of them as JSON, by deflate in letters of base 64."""
        text = json.dumps({"files": self._files, "views": self._views}, ensure_ascii=False)
        return base64.b64encode(zlib.compress(text.encode())).decode()
