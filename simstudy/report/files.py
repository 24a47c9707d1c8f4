"""The tables and figures that a study leaves beside its scores."""

from __future__ import annotations

import io
import itertools
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.analysis.findings import Absent, Findings
from simstudy.report.figures import differences_figure, learning_curves, regret_figure
from simstudy.report.names import PAGE, TABLES
from simstudy.report.page import MAX_PAIRS, report_page
from simstudy.report.prose import captions
from simstudy.results.store import Store
from simstudy.texts import as_csv, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simstudy.analysis.anova import Anova
    from simstudy.analysis.mixed import MixedModel
    from simstudy.results.results import Results

FORMATS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 200},
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None}},
}


def write_report(results: Results, store: Store) -> None:
    """Write the tables of all measures, the figures of the primary one, and the page."""
    tables, figures = _tables(results), _figures(results)
    for name, table in tables.items():
        store.write(name, as_csv(table).encode())
    for name, figure in figures.items():
        for suffix in FORMATS:
            store.write(f"{name}.{suffix}", render(figure, suffix))
    store.write(PAGE, report_page(results).encode())
    drawn = [f"{name}.{suffix}" for name in figures for suffix in FORMATS]
    store.record_report([*tables, *drawn, PAGE])


def _tables(results: Results) -> dict[str, pd.DataFrame]:
    """The tables of every study, each for all measures; of the primary one those that it has."""
    findings = [results.findings(name) for name in results.measures]
    parts: tuple[Callable[[Findings], pd.DataFrame], ...] = (
        lambda one: _table(one.anova) if one.factors else pd.DataFrame(),
        lambda one: one.intervals.assign(confidence=one.design.confidence),
        lambda one: one.pairwise.assign(
            confidence=one.design.confidence, adjustment=one.design.adjustment
        ),
        lambda one: pd.DataFrame(one.left_out, columns=["model", "reason"]),
        lambda one: one.precision,
    )
    tables = {}
    for name, part in zip(TABLES, parts, strict=True):
        each = {one.measure: part(one) for one in findings}
        tables[name] = pd.concat(each, names=["measure"]).reset_index("measure")
    further = {"thresholds.csv": findings[0].thresholds, "regret.csv": results.regret()}
    if findings[0].incomplete:
        further["mixed_model.csv"] = _table(findings[0].mixed)
    return tables | {name: table for name, table in further.items() if not table.empty}


def _table(found: Anova | MixedModel | Absent) -> pd.DataFrame:
    """The table of an analysis, or one that says why there is none."""
    return pd.DataFrame({"note": [found.reason]}) if isinstance(found, Absent) else found.table


def _figures(results: Results) -> dict[str, Figure]:
    """The figures of the primary measure."""
    study, findings = results.study, results.findings()
    title, info = study.title or study.name, findings.info
    made = captions.made(study)
    caption = f"{captions.curves(findings)} {made}"
    figures = {"learning_curves": learning_curves(findings.intervals, info, title, caption)}
    pairs = list(itertools.combinations(results.learners, 2))
    if findings.courses and len(pairs) <= MAX_PAIRS:
        curves = [findings.curve(*pair) for pair in pairs]
        caption = f"{captions.differences(findings)} {made}"
        figures["differences"] = differences_figure(
            curves, findings.thresholds, info, title, caption
        )
    if (split := results.regret_parts) is not None:
        unit, caption = results.info("regret").unit, f"{captions.regret(split, study)} {made}"
        figures["regret"] = regret_figure(split.table, unit, title, caption)
    return figures


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
