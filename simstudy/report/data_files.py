"""The tables that a study of data sets leaves beside its scores."""

from __future__ import annotations

import pandas as pd

from simstudy.errors import SimstudyError
from simstudy.experiments.learners.data_results import DataResults
from simstudy.report.data_measures import measure_pairs
from simstudy.report.names import MEANS


def data_files(results: DataResults) -> dict[str, pd.DataFrame]:
    """The tables by the names of their files, those without rows left out."""
    names = results.measures
    findings = [results.data_findings(name) for name in names]
    found = {
        MEANS: _joined({name: results.dataset_means(name) for name in names}),
        "winners.csv": _joined({one.measure: one.winners.table.reset_index() for one in findings}),
        "pairwise.csv": _joined({one.measure: one.winners.pairs for one in findings}),
        "standings.csv": _joined({one.measure: pd.DataFrame(one.standings) for one in findings}),
        "across.csv": _joined(
            {one.measure: one.over_sets.table for one in findings if one.over_sets}
        ),
        "reversals.csv": _pairs(results),
        "correlations.csv": _correlations(results),
        "properties.csv": _properties(results),
    }
    if len(results.treatments) < 2:
        for name in ("winners.csv", "pairwise.csv", "standings.csv", "reversals.csv"):
            del found[name]
    return {name: table for name, table in found.items() if name == MEANS or not table.empty}


def _joined(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Tables of several measures, one below the other."""
    if not tables:
        return pd.DataFrame()
    return pd.concat(tables, names=["measure"]).reset_index("measure")


def _pairs(results: DataResults) -> pd.DataFrame:
    tables = [
        results.reversals(*pair, examples=False).table.assign(first=pair[0], second=pair[1])
        for pair in measure_pairs(results.measures)
    ]
    return pd.concat(tables) if tables else pd.DataFrame()


def _correlations(results: DataResults) -> pd.DataFrame:
    tables = [
        results.correlations(*pair).cells.assign(first=pair[0], second=pair[1])
        for pair in measure_pairs(results.measures)
    ]
    return pd.concat(tables) if tables else pd.DataFrame()


def _properties(results: DataResults) -> pd.DataFrame:
    try:
        return results.properties()
    except SimstudyError:  # of earlier versions, whose data files are not there
        return pd.DataFrame()
