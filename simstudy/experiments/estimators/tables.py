"""The tables of how good estimators and their intervals are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd

from simstudy.experiments.estimators.results import EstimatorResults
from simstudy.report.prose.numbers import fixed, number, percent, percentages, signed
from simstudy.report.prose.phrases import level
from simstudy.report.tables.table import Table, TableCell, make_table, words

_TARGETS = {
    "exact": "the classifier trained on the rows available",
    "mean": "the mean over training sets of as many rows",
}
_INTERVALS = {
    "rows": "rows (Wilson or t)",
    "folds": "naive t over splits",
    "corrected": "corrected t over splits",
    "nested": "nested cross-validation",
    "percentile": "percentiles of samples",
}


def estimate_tables(results: EstimatorResults) -> list[Table]:
    """Bias, spread and coverage of all estimators, by learner, measure and rows available."""
    return [
        table
        for target in _TARGETS
        for table in (_quality(results, target), _coverage(results, target))
    ]


def estimate_files(results: EstimatorResults) -> dict[str, pd.DataFrame]:
    """The same as tables for files."""
    named = {"estimators.csv": results.estimator_quality, "coverage.csv": results.interval_quality}
    return {
        name: pd.concat({target: make(target) for target in _TARGETS}, names=["target"])
        .reset_index("target")
        .reset_index(drop=True)
        for name, make in named.items()
    }


def _quality(results: EstimatorResults, target: str) -> Table:
    found = results.estimator_quality(target)
    lines: list[list[str | TableCell]] = [
        [
            *_subject(row, results),
            TableCell(f"{signed(row['bias'])} ± {number(row['bias_mcse'])}"),
            TableCell(number(row["sd"])),
            TableCell(f"{number(row['rmse'])} ± {number(row['rmse_mcse'])}"),
            TableCell(fixed(row["correlation"], 2)),
        ]
        for row in found.to_dict("records")
    ]
    heads = ["measure", "learner", "rows", "estimator", "bias", "sd", "RMSE", "correlation"]
    caption = (
        f"Errors of estimates against {_TARGETS[target]}, over models; ± Monte-Carlo standard "
        "error. Correlation: of estimates and exact values over models."
    )
    title = f"Errors of estimators: {_TARGETS[target]}"
    return make_table(
        f"estimators_{target}",
        title,
        heads,
        sorted_lines(lines),
        texts=4,
        caption=caption,
        data=found,
        cut=True,
    )


def _subject(row: Mapping[Hashable, Any], results: EstimatorResults) -> list[TableCell]:
    """What a row of a table is about."""
    place = results.treatments.index(row["estimator"])
    named = [words(text) for text in (row["measure"], row["learner"], f"{row['size']:,}")]
    return [*named, words(row["estimator"], "", place)]


def _coverage(results: EstimatorResults, target: str) -> Table:
    found = results.interval_quality(target)
    lines: list[list[str | TableCell]] = [
        [
            *_subject(row, results),
            words(_INTERVALS[row["interval"]]),
            TableCell(
                percent(row["coverage"]), percentages(row["coverage_lower"], row["coverage_upper"])
            ),
            TableCell(number(row["width"])),
        ]
        for row in found.to_dict("records")
    ]
    heads = ["measure", "learner", "rows", "estimator", "interval", "coverage", "mean width"]
    confidence = level(results.study.analysis.confidence)
    caption = (
        f"How often intervals of {confidence} contain the exact value: {_TARGETS[target]}. In "
        f"brackets, unadjusted {confidence} Clopper–Pearson intervals between models."
    )
    title = f"Coverage of intervals: {_TARGETS[target]}"
    return make_table(
        f"coverage_{target}",
        title,
        heads,
        sorted_lines(lines),
        texts=5,
        caption=caption,
        data=found,
        cut=True,
    )


def sorted_lines(lines: list[list[str | TableCell]]) -> list[list[str | TableCell]]:
    """Return lines by measure and learner, then as they were."""

    def place(line: list[str | TableCell]) -> tuple[int, int]:
        names = [one.text if isinstance(one, TableCell) else one for one in line[:2]]
        return measures.index(names[0]), learners.index(names[1])

    measures, learners = (
        [*dict.fromkeys(one.text for line in lines if isinstance(one := line[at], TableCell))]
        for at in (0, 1)
    )
    return sorted(lines, key=place)
