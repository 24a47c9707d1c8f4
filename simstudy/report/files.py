"""The tables and figures that a study leaves beside its scores."""

from __future__ import annotations

import io
import itertools
import warnings
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.engine.store import TABLES, Store
from simstudy.report.figures import differences_figure, learning_curves, regret_figure
from simstudy.report.words import caption, difference_caption, regret_caption

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simstudy.results import Results

FORMATS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 200},
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None}},
}


# More pairs of learners than this make no readable figure.
_MOST_PAIRS = 15


def write_report(results: Results, store: Store) -> None:
    """Write the tables of all measures and the figures of the primary one."""
    settings = results.settings["analysis"]
    analyses = (
        *(results.anova, results.intervals, results.pairwise, results.left_out),
        results.precision,
    )
    for name, analyse in zip(TABLES, analyses, strict=True):
        tables = {measure: _attempt(analyse, measure) for measure in results.measures}
        whole = pd.concat(tables, names=["measure"]).reset_index("measure")
        if name in ("intervals.csv", "pairwise.csv"):
            whole["confidence"] = settings["confidence"]
        if name == "pairwise.csv":
            whole["adjustment"] = settings["adjustment"]
        store.write(name, whole.to_csv(index=False).encode())
    if results.scores[results.measures[0]].isna().any():
        store.write("mixed_model.csv", _attempt(results.mixed, None).to_csv(index=False).encode())
    intervals = results.intervals()
    title = results.settings["title"] or results.settings["name"]
    curves = learning_curves(intervals, results.info(), title, caption(results, intervals))
    _write_figure(store, "learning_curves", curves)
    _write_thresholds(results, store, title)
    _write_regret(results, store, title)


def _write_thresholds(results: Results, store: Store, title: str) -> None:
    """Where learners overtake each other, as a table and a figure."""
    found = results.thresholds(bootstrap=True)
    if found.empty:
        return
    store.write("thresholds.csv", found.to_csv(index=False).encode())
    pairs = list(itertools.combinations(results.learners, 2))
    if len(pairs) > _MOST_PAIRS:
        return
    pictures = [results.difference_curve(first, second) for first, second in pairs]
    words = difference_caption(results)
    figure = differences_figure(pictures, found, results.info(), title, words)
    _write_figure(store, "differences", figure)


def _write_regret(results: Results, store: Store, title: str) -> None:
    """What regret is made of, as a table and a figure."""
    split = results.regret()
    if split.empty:
        return
    store.write("regret.csv", split.to_csv(index=False).encode())
    unit = results.info("regret").unit
    figure = regret_figure(split, unit, title, regret_caption(results))
    _write_figure(store, "regret", figure)


def _write_figure(store: Store, name: str, figure: Figure) -> None:
    for suffix in FORMATS:
        store.write(f"{name}.{suffix}", render(figure, suffix))


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
    return buffer.getvalue()
