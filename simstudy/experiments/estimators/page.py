"""The page of a comparison of estimators, with tables of their errors and intervals."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from simstudy.analysis.models.findings import ModelFindings
from simstudy.experiments.comparison_page import ComparisonPage
from simstudy.experiments.estimators import SQUARED
from simstudy.experiments.estimators.results import Errors, EstimatorResults
from simstudy.experiments.page import Section
from simstudy.measures.base import MeasureInfo
from simstudy.report.charts.estimates import panels
from simstudy.report.charts.spec import Chart
from simstudy.report.prose.numbers import brief, fixed, number, percent, percentages, signed
from simstudy.report.prose.phrases import (
    all_sizes,
    grouped,
    intervals_of_means,
    level,
    listed,
)
from simstudy.report.tables.table import Table, TableCell, table_of, words
from simstudy.study.study import Study
from simstudy.texts import counted

Columns: TypeAlias = dict[str, Callable[[dict[Hashable, Any]], str | TableCell]]
_TARGETS = {
    "exact": "the classifier trained on the rows available",
    "mean": "the mean over training sets of the same size",
}
_INTERVALS = {
    "rows": "rows (Wilson or t)",
    "folds": "naive t over splits",
    "corrected": "corrected t over splits",
    "nested": "nested cross-validation",
    "percentile": "percentiles of samples",
}


class EstimatorsPage(ComparisonPage[EstimatorResults]):
    """Which estimator is closest to the exact value, and which intervals contain it."""

    widths = (299.0, 203.0, 246.0)
    printed = MappingProxyType({"bias_and_coverage": slice(None)})

    def asks(self, study: Study, info: MeasureInfo) -> str:
        """Ask which estimator is closest."""
        return (
            f"which of {len(study.labels)} estimators is closest to the exact value with "
            f"{all_sizes(study.doses)} rows available, by {info.label}?"
        )

    def aims(self, study: Study) -> str:
        """Return what is compared, and by what."""
        return (
            f"To compare {counted(len(study.labels), 'estimator')} of a learner's performance by "
            "their distance to its exact value and the coverage of their intervals."
        )

    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return the errors."""
        return (
            "For each estimator and number of rows available: the mean, over the models of the "
            f"family, of the {info.label}. The exact value is that of the classifier trained on "
            f"the rows available or, as a second target, the mean over {study.data.training_sets} "
            "training sets of the same size. For each pair of estimators: the mean paired "
            "difference."
        )

    def training_data(self, study: Study) -> str:
        """Return how the rows available and further training sets are drawn."""
        more = f"{study.data.training_sets} further sets of each size serve the second target"
        return f"{super().training_data(study)} These are the rows available; {more}."

    def shown(self, results: EstimatorResults) -> list[int]:
        """Return the squared errors: of the others there are tables."""
        names = enumerate(results.measures)
        return [place for place, score in names if score.startswith("squared_error")]

    def finding(self, results: EstimatorResults, findings: ModelFindings) -> str:
        """Return which estimator is closest, and how many are shown to be biased or overconfident.

        `statements` names these.
        """
        text = super().finding(results, findings)
        if (shown := self._shown(results, findings)) is None:
            return text
        biased, short, total = shown.biased, int(shown.coverage["short"].sum()), len(shown.coverage)
        are = f"{len(biased) or 'no'} estimator{'s are' if len(biased) != 1 else ' is'}"
        intervals = f"{short or 'none'} of {counted(total, 'interval')}"
        return (
            f"{text} With {shown.size:,} rows {are} shown to be biased, and {intervals} of "
            f"{level(results.study.analysis.confidence)} to contain the exact value less often."
        )

    def statements(self, results: EstimatorResults, findings: ModelFindings) -> list[str]:
        """Return who beats whom, and which are shown to be biased or overconfident."""
        texts = super().statements(results, findings)
        if (errors := self._shown(results, findings)) is None:
            return texts
        biased = sorted(errors.biased, key=lambda mean: -abs(mean.mean))
        each = [f"{brief(mean.learner)} ({signed(mean.mean)})" for mean in biased]
        short = errors.coverage[errors.coverage["short"]].sort_values("coverage")
        kinds = grouped(
            (
                _INTERVALS[row["interval"]],
                f"{brief(row['estimator'])} ({percent(row['coverage'], 0)})",
            )
            for row in short.to_dict("records")
        )
        which = "; ".join(f"{kind}: {listed(names)}" for kind, names in kinds.items())
        rows = f"With {errors.size:,} rows"
        if each:
            texts.append(f"{rows} shown to be biased: {listed(each)}.")
        if which:
            texts.append(f"{rows} shown to contain the exact value too rarely: {which}.")
        return texts

    def _shown(self, results: EstimatorResults, findings: ModelFindings) -> Errors | None:
        """The errors that are drawn, if there are any."""
        if results.column(findings.measure).test not in SQUARED:
            return None
        errors = results.errors(findings.measure)
        return errors if errors.bias and not errors.coverage.empty else None

    def charts(
        self, results: EstimatorResults, findings: ModelFindings, narrow: bool = False
    ) -> tuple[Chart, ...]:
        """Return bias, RMSE and coverage."""
        if results.column(findings.measure).test not in SQUARED:
            return ()
        shown = results.errors(findings.measure)
        return panels(shown, results.treatments, results.study.analysis.confidence, narrow)

    def caption(self, results: EstimatorResults, findings: ModelFindings) -> str:
        """Return what they show."""
        shown, confidence = results.errors(findings.measure), findings.design.confidence
        m = int(shown.coverage["m"].max()) if len(shown.coverage) else 0
        return (
            f"Estimates of {shown.measure} of {shown.learner} with {shown.size:,} rows, the least "
            f"RMSE on top. Bars of bias and RMSE: {intervals_of_means(findings)}, for RMSE the "
            "roots of those of the mean squared error. Coverage, by how an interval is made: from "
            "rows (circle), by a naive t over splits (diamond), by a corrected t (square), by "
            "nested cross-validation (upside-down triangle), from percentiles (triangle); upright "
            f"line: {level(confidence)}. Hollow, with bars ({level(confidence)} Clopper–Pearson, "
            f"adjusted for m = {m} coverages at all sizes): shown to be below the line."
        )

    def own_sections(self, results: EstimatorResults) -> list[Section]:
        """Return bias, spread and coverage."""
        tables = [make(results, target) for target in _TARGETS for make in (_quality, _coverage)]
        return [Section("choices", "Errors and coverage", tables, "tables")]

    def files(self, results: EstimatorResults) -> dict[str, pd.DataFrame]:
        """Return the same for files, after those of all experiments."""
        made = {"estimators": results.estimator_quality, "coverage": results.interval_quality}
        return super().files(results) | {
            f"{name}.csv": pd.concat({target: make(target) for target in _TARGETS})
            .reset_index(0, names="target")
            .reset_index(drop=True)
            for name, make in made.items()
        }


def _quality(results: EstimatorResults, target: str) -> Table:
    columns: Columns = {
        "bias": lambda row: f"{signed(row['bias'])} ± {number(row['bias_mcse'])}",
        "sd": lambda row: number(row["sd"]),
        "RMSE": lambda row: f"{number(row['rmse'])} ± {number(row['rmse_mcse'])}",
        "correlation": lambda row: fixed(row["correlation"], 2),
    }
    caption = (
        f"Errors of estimates against {_TARGETS[target]}, over models; ± Monte-Carlo standard "
        "error. Correlation: between estimates and exact values, over models."
    )
    title, data = f"Errors of estimators: {_TARGETS[target]}", results.estimator_quality(target)
    return _table(results, f"estimators_{target}", title, columns, data, caption)


def _coverage(results: EstimatorResults, target: str) -> Table:
    columns: Columns = {
        "interval": lambda row: words(_INTERVALS[row["interval"]]),
        "coverage": lambda row: TableCell(
            percent(row["coverage"]), percentages(row["coverage_lower"], row["coverage_upper"])
        ),
        "mean width": lambda row: number(row["width"]),
    }
    confidence = level(results.study.analysis.confidence)
    caption = (
        f"How often intervals of {confidence} contain the exact value: {_TARGETS[target]}. In "
        f"brackets, unadjusted {confidence} Clopper–Pearson intervals between models."
    )
    title, data = f"Coverage of intervals: {_TARGETS[target]}", results.interval_quality(target)
    return _table(results, f"coverage_{target}", title, columns, data, caption)


def _table(
    results: EstimatorResults,
    name: str,
    title: str,
    columns: Columns,
    data: pd.DataFrame,
    note: str,
) -> Table:
    """A table with the rows of a frame by measure and learner, then as they were."""
    places = {label: place for place, label in enumerate(results.treatments)}
    subjects: Columns = {
        "measure": lambda row: words(row["measure"]),
        "learner": lambda row: words(row["learner"]),
        "rows": lambda row: words(f"{row['size']:,}"),
        "estimator": lambda row: words(row["estimator"], "", places[row["estimator"]]),
    }
    keys = [data[key].map([*dict.fromkeys(data[key])].index) for key in ("learner", "measure")]
    rows, texts = data.iloc[np.lexsort(keys)].to_dict("records"), 4 + ("interval" in columns)
    columns = subjects | columns
    return table_of(rows, name, title, columns, texts, caption=note, data=data, cut=True)
