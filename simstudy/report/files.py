"""The tables and figures that a study leaves beside its scores."""

from __future__ import annotations

import io
import itertools
import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.report.figures import differences_figure, learning_curves, regret_figure
from simstudy.report.html.page import report_page
from simstudy.report.words import MOST_PAIRS, caption, difference_caption, regret_caption
from simstudy.results.store import PAGE, TABLES, Store
from simstudy.texts import as_csv, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simstudy.results.results import Results

FORMATS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 200},
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None}},
}


def write_report(results: Results, store: Store) -> None:
    """Write the tables of all measures, the figures of the primary one, and the page."""
    title = results.settings["title"] or results.settings["name"]
    intervals = results.intervals()
    curves = learning_curves(intervals, results.info(), title, caption(results, intervals))
    tables = {**_tables(results), **_further_tables(results)}
    figures = {"learning_curves": curves, **_further_figures(results, tables, title)}
    for name, table in tables.items():
        store.write(name, as_csv(table).encode())
    for name, figure in figures.items():
        for suffix in FORMATS:
            store.write(f"{name}.{suffix}", render(figure, suffix))
    store.write(PAGE, report_page(results).encode())
    drawn = [f"{name}.{suffix}" for name in figures for suffix in FORMATS]
    store.record_report([*tables, *drawn, PAGE])


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    """The tables that every study has, each for all measures."""
    settings = results.settings["analysis"]
    analyses = (results.anova, results.intervals, results.pairwise, results.left_out)
    tables = {}
    for name, analyse in zip(TABLES, (*analyses, results.precision), strict=True):
        parts = {measure: _attempt(analyse, measure) for measure in results.measures}
        whole = pd.concat(parts, names=["measure"]).reset_index("measure")
        if name in ("intervals.csv", "pairwise.csv"):
            whole["confidence"] = settings["confidence"]
        if name == "pairwise.csv":
            whole["adjustment"] = settings["adjustment"]
        tables[name] = whole
    return tables


def _further_tables(results: Results) -> dict[str, pd.DataFrame]:
    """The tables of the primary measure that only some studies have."""
    tables = {"thresholds.csv": results.thresholds(), "regret.csv": results.regret()}
    if results.scores[results.measures[0]].isna().any():
        tables["mixed_model.csv"] = _attempt(results.mixed, None)
    return {name: table for name, table in tables.items() if not table.empty}


def _further_figures(
    results: Results, tables: dict[str, pd.DataFrame], title: str
) -> dict[str, Figure]:
    """The figures that go with them."""
    figures = {}
    pairs = list(itertools.combinations(results.learners, 2))
    if "thresholds.csv" in tables and len(pairs) <= MOST_PAIRS:
        pictures = [results.difference_curve(first, second) for first, second in pairs]
        found, words = tables["thresholds.csv"], difference_caption(results)
        figures["differences"] = differences_figure(pictures, found, results.info(), title, words)
    if "regret.csv" in tables:
        unit, words = results.info("regret").unit, regret_caption(results)
        figures["regret"] = regret_figure(tables["regret.csv"], unit, title, words)
    return figures


def _attempt(analyse: Any, measure: str | None) -> pd.DataFrame:
    """A table, or one that says why there is none."""
    try:
        table: pd.DataFrame = analyse(measure)
    except ValueError as error:
        return pd.DataFrame({"note": [str(error)]})
    return table


def render(figure: Figure, suffix: str) -> bytes:
    """The figure in one format, the same bytes each time."""
    import matplotlib as mpl

    buffer = io.BytesIO()
    settings: dict[Any, Any] = {"svg.hashsalt": "simstudy", "pdf.fonttype": 42}
    with mpl.rc_context(settings), warnings.catch_warnings():
        # A crowded layout and a letter that the font lacks show in the picture itself.
        warnings.simplefilter("ignore", UserWarning)
        figure.savefig(buffer, format=suffix, **FORMATS[suffix])
    content = buffer.getvalue()
    return well_formed(content) if suffix == "svg" else content


def well_formed(svg: bytes) -> bytes:
    """A picture whose comments, which repeat its texts, have no character that XML lacks."""
    return printable(svg.decode()).encode()
