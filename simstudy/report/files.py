"""The tables and figures that a study leaves beside its scores."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from simstudy.analysis.anova import Anova
from simstudy.analysis.findings import Absent, Findings
from simstudy.analysis.mixed import MixedModel
from simstudy.analysis.regret import regret
from simstudy.experiments.learners.data_results import DataResults
from simstudy.report.data_files import data_files
from simstudy.report.data_page import data_page
from simstudy.report.figures import learning_curve_files
from simstudy.report.names import PAGE, TABLES
from simstudy.report.page import report_page
from simstudy.results.analyses import ModelResults
from simstudy.results.results import Results
from simstudy.results.store import Store
from simstudy.texts import as_csv


def write_report(results: Results, store: Store) -> None:
    """Write the tables of all measures, the learning curves of the primary one, and the page."""
    results.check_files()  # here, where what is damaged is an error and not a remark on a page
    if isinstance(results, DataResults):
        files = _csv_files(data_files(results))
        files[PAGE] = data_page(results).encode()
    else:
        assert isinstance(results, ModelResults)
        own = results.study.experiment.page()
        files = _csv_files(_tables(results) | own.files(results)) | learning_curve_files(results)
        files[PAGE] = report_page(results).encode()
    store.drop_report()  # which may have had other files
    for name, content in files.items():
        store.write(name, content)
    store.record_report([*files])


def _csv_files(tables: dict[str, pd.DataFrame]) -> dict[str, bytes]:
    return {name: as_csv(table).encode() for name, table in tables.items()}


def _tables(results: ModelResults) -> dict[str, pd.DataFrame]:
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
    split = regret(results.scores)
    further = {"thresholds.csv": findings[0].thresholds}
    further |= {} if split is None else {"regret.csv": split.table}
    if findings[0].incomplete:
        further["mixed_model.csv"] = _table(findings[0].mixed)
    return tables | {name: table for name, table in further.items() if not table.empty}


def _table(found: Anova | MixedModel | Absent) -> pd.DataFrame:
    """The table of an analysis, or one that says why there is none."""
    return pd.DataFrame({"note": [found.reason]}) if isinstance(found, Absent) else found.table
