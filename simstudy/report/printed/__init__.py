"""A figure for print: charts with their title and caption."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from simstudy.report.charts import layout
from simstudy.report.charts.mpl import Style
from simstudy.report.charts.spec import Panels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Maker: TypeAlias = "Callable[[Any, Style], Printed]"  # of results that allow it


class NotDrawnError(Exception):
    """Why a study does not allow a figure, in one sentence."""


class Printed(NamedTuple):
    """Charts with their title and caption, and how they are laid out on pages."""

    title: str
    panels: Panels
    sentences: Iterable[str]  # of the caption, those that are empty left out
    lay_out: Callable[[Panels, Style], Iterable[Figure]] = layout.pages

    @property
    def caption(self) -> str:
        return " ".join(filter(None, self.sentences))
