"""The tables of learners on data sets: files beside the scores, and tables for papers."""

from __future__ import annotations

import contextlib

import pandas as pd

from simstudy.analysis.findings import Absent
from simstudy.analysis.reversals import measure_pairs
from simstudy.errors import SimstudyError
from simstudy.experiments.learners.data_results import DataResults
from simstudy.report.prose.data_statements import reversal_sentence
from simstudy.report.tables import datasets as build
from simstudy.report.tables.table import Table

_MEANS = "means.csv"
_ALONE = Absent("it needs at least two learners")


def data_files(results: DataResults) -> dict[str, pd.DataFrame]:
    """The tables by the names of their files, those without rows left out."""
    names, pairs = results.measures, measure_pairs(results.measures)
    findings = [results.data_findings(name) for name in names]
    reversals = [results.reversals(*pair, examples=False).table for pair in pairs]
    found = {
        _MEANS: _joined({name: results.dataset_means(name) for name in names}),
        "winners.csv": _joined({one.measure: one.winners.table.reset_index() for one in findings}),
        "pairwise.csv": _joined({one.measure: one.winners.pairs for one in findings}),
        "standings.csv": _joined({one.measure: pd.DataFrame(one.standings) for one in findings}),
        "across.csv": _joined(
            {one.measure: one.over_sets.table for one in findings if one.over_sets}
        ),
        "reversals.csv": _compared(pairs, reversals),
        "correlations.csv": _compared(pairs, [results.correlations(*pair).cells for pair in pairs]),
    }
    with contextlib.suppress(SimstudyError):  # of earlier versions, whose data files are not there
        found["properties.csv"] = results.properties()
    if len(results.treatments) < 2:
        for name in ("winners.csv", "pairwise.csv", "standings.csv", "reversals.csv"):
            del found[name]
    return {name: table for name, table in found.items() if name == _MEANS or not table.empty}


def _joined(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Tables of several measures, one below the other."""
    if not tables:
        return pd.DataFrame()
    return pd.concat(tables, names=["measure"]).reset_index("measure")


def _compared(pairs: list[tuple[str, str]], tables: list[pd.DataFrame]) -> pd.DataFrame:
    """Tables of pairs of measures, one below the other."""
    named = [
        table.assign(first=first, second=second)
        for (first, second), table in zip(pairs, tables, strict=True)
    ]
    return pd.concat(named) if named else pd.DataFrame()


def data_tables(results: DataResults) -> dict[str, Table | Absent]:
    """Means, winners and tests of every measure, and measures compared, by name."""
    several = len(results.treatments) > 1
    found: dict[str, Table | Absent] = {}
    for place, name in enumerate(results.measures):
        findings, end = results.data_findings(name), f"_{name}" if place else ""
        over = findings.over_sets
        found[f"means{end}"] = build.means(findings, spread=True)
        found[f"standings{end}"] = build.standings(findings) if several else _ALONE
        found[f"winners{end}"] = build.winners(findings) if several else _ALONE
        if over is None:
            found[f"across{end}"] = Absent("it needs two learners and two data sets with all means")
            continue
        found[f"across{end}"] = build.pairs(over, findings.info)
        if len(results.treatments) > 2:
            found[f"tests{end}"] = build.tests(over)
    for first, second in measure_pairs(results.measures):
        labels = (results.info(first).label, results.info(second).label)
        own = f"{first}_{second}"
        reversed_ = results.reversals(first, second, examples=False)
        found[f"reversals_{own}"] = (
            build.reversals(reversed_, labels)
            if reversed_.found
            else Absent(reversal_sentence(reversed_, labels).removesuffix("."))
        )
        found[f"correlations_{own}"] = build.correlations(
            results.correlations(first, second), labels
        )
    try:
        found["properties"] = build.properties(results.properties())
    except SimstudyError as error:
        found["properties"] = Absent(str(error))
    return found
