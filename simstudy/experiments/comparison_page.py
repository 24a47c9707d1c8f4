"""The page of a comparison of measures, estimators or tests."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar

from markupsafe import Markup

from simstudy.analysis.models.findings import ModelFindings
from simstudy.experiments.models_page import M, ModelsPage
from simstudy.experiments.page import Opening, Section
from simstudy.report.charts import svg
from simstudy.report.charts.layout import Maker
from simstudy.report.charts.printed import opening_figure
from simstudy.report.charts.spec import Chart
from simstudy.report.charts.svg import element

_FOLDED = ("differences", "pairs", "models", "design", "precision")


class ComparisonPage(ModelsPage[M]):
    """The opening shows what the comparison is about; how scores differ in general is folded.

    Attributes
    ----------
    widths : tuple of float
        Of the charts of the opening, which are beside each other if they are narrow.
    printed : mapping
        Which charts are in figures for print, by the names of their files.
    """

    widths: ClassVar[tuple[float, ...]] = (780.0, 780.0)
    printed: ClassVar[Mapping[str, slice]]

    @abstractmethod
    def charts(
        self, results: M, findings: ModelFindings, narrow: bool = False
    ) -> tuple[Chart, ...]:
        """Return the charts of the opening; none where they cannot be drawn."""

    @abstractmethod
    def caption(self, results: M, findings: ModelFindings) -> str:
        """Return what they show."""

    def opening(self, results: M, findings: ModelFindings, index: int) -> Opening:
        """Return the charts, or else the means against the dose."""
        if not (charts := self.charts(results, findings)):
            return super().opening(results, findings, index)
        beside = max(self.widths) < svg.NARROW[0]
        slim = [299.0 if beside else svg.NARROW[0]] * len(charts)
        wide = _pictures(charts, f"opening{index}w", self.widths)
        narrow = _pictures(self.charts(results, findings, narrow=True), f"opening{index}n", slim)
        across = element("div", *wide, class_="across" if beside else None)
        return Opening(across, Markup("").join(narrow), self.caption(results, findings))

    def thumbnail(self, results: M, findings: ModelFindings) -> Chart:
        """Return the first of the charts."""
        return next(iter(self.charts(results, findings)), None) or super().thumbnail(
            results, findings
        )

    def figures(self, results: M) -> dict[str, Maker]:
        """Return the charts of the opening, and the figures of all studies of models."""
        made = partial(opening_figure, charts=self.charts, caption=self.caption)
        own = {name: partial(made, part=part) for name, part in self.printed.items()}
        return own | super().figures(results)

    def sections(self, results: M) -> list[Section]:
        """Return the sections, without the analysis of variance."""
        every = [section for section in super().sections(results) if section.name != "anova"]
        return [section._replace(folded=section.name in _FOLDED) for section in every]


def _pictures(charts: Sequence[Chart], name: str, widths: Sequence[float]) -> list[Markup]:
    """Charts with their headings; those of rows are as high as these need."""
    pictures = []
    for place, (chart, width) in enumerate(zip(charts, widths, strict=False)):
        tall = 60.0 + 20 * len(chart.y.marks) if chart.y.kind == "rows" else 320 + width / 8
        drawn = svg.draw(chart, f"{name}{place}", (width, tall), labels=True).picture
        heading = element("p", chart.heading, class_="panel-title") if chart.heading else ""
        flex = f"flex: {width:.0f} 1 {width:.0f}px"  # beside each other, all grow alike
        pictures.append(element("div", heading, drawn, style=flex))
    return pictures
