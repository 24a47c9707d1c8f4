"""The tables and figures that a study leaves beside its scores."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.engine.store import FIGURES, TABLES, Store
from simstudy.report.figures import learning_curves
from simstudy.report.words import caption

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simstudy.results import Results

FORMATS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 200},
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None}},
}


def write_report(results: Results, store: Store) -> None:
    """Write the tables of all measures and the learning curves of the primary one."""
    settings = results.settings["analysis"]
    analyses = (results.anova, results.intervals, results.pairwise, results.left_out)
    for name, analyse in zip(TABLES, analyses, strict=True):
        tables = {measure: _attempt(analyse, measure) for measure in results.measures}
        whole = pd.concat(tables, names=["measure"]).reset_index("measure")
        if name in ("intervals.csv", "pairwise.csv"):
            whole["confidence"] = settings["confidence"]
        if name == "pairwise.csv":
            whole["adjustment"] = settings["adjustment"]
        store.write(name, whole.to_csv(index=False).encode())
    intervals = results.intervals()
    title = results.settings["title"] or results.settings["name"]
    figure = learning_curves(intervals, results.info(), title, caption(results, intervals))
    for name in FIGURES:
        store.write(name, render(figure, name.rsplit(".")[-1]))


def _attempt(analyse: Any, measure: str) -> pd.DataFrame:
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
    return buffer.getvalue()
