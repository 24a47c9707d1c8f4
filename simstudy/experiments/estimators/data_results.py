"""Estimates of the performance of learners on data sets, whose truth is not known."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analysis.models.findings import Findings
from simstudy.components.registry import Spec
from simstudy.data.sizes import Size
from simstudy.estimators.bench import INTERVALS
from simstudy.results.read.tables import TableResults

_BEST = ("nested", "percentile", "corrected", "rows")  # shown unless the study names another


@dataclass(frozen=True)
class EstimateFindings(Findings):
    """The estimates of one measure with all rows, or the most that were made available.

    Attributes
    ----------
    label : str
        The label of the measure in the study.
    estimates : DataFrame
        One row per data set, learner and estimator; see `DataEstimates.estimates`.
    confidence : float
        That of the intervals.
    """

    label: str
    estimates: pd.DataFrame = field(repr=False, compare=False)
    confidence: float

    def of(self, dataset: str, learner: str) -> pd.DataFrame:
        """Return the estimates of a learner on a data set, in the order of the study."""
        table = self.estimates
        return table[(table["dataset"] == dataset) & (table["learner"] == learner)]


class DataEstimates(TableResults):
    """What estimators say of learners on data sets; see `Results`."""

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """All estimates: one row per data set, size, estimator, learner and measure.

        With ``rows``, those available, the ``estimate``, and ``lower`` and ``upper``, the bounds of
        the ``interval`` that the estimator reports. The bounds of all intervals that it has follow.
        """
        from simstudy.experiments.estimators.scoring import COLUMNS

        name = self.study.experiment.keeps
        table, parts = self._as_written(name), self.manifest["parts"]
        if [*table] != [*COLUMNS]:
            raise self._damaged(name)
        pairs = [*zip(table["model"], table["size"], strict=True)]
        rows = [Size.stored(size).rows(parts[model]["train"]) for model, size in pairs]
        datasets = [parts[model]["dataset"] for model, _ in pairs]
        specs = {spec.label: spec for spec in self.study.estimators}
        stored = table.to_dict("records")
        shown = [_shown(specs[row["estimator"]], row) for row in stored]
        made = table.drop(columns=["model", "exact", "mean", "mean_error"])
        made = made.assign(dataset=datasets, rows=rows, interval=shown)
        for end in ("lower", "upper"):
            ends = zip(stored, shown, strict=True)
            made[end] = [row[f"{end}_{kind}"] if kind else np.nan for row, kind in ends]
        first = ["dataset", "rows", "learner", "measure", "estimator", "estimate"]
        first += ["interval", "lower", "upper", "size"]
        return made[[*first, *made.columns.difference(first, sort=False)]]

    def findings(self, measure: str | None = None) -> EstimateFindings:
        """The estimates of a measure of all learners, by the column of one of them."""
        name = self._measure(measure)
        place, learner = divmod(self.measures.index(name), len(self.learners))
        label, table = self.study.measured[place].label, self.estimates
        own = table[(table["measure"] == label) & (table["size"] == self.study.doses[-1])]
        info = self.info(name)
        info = replace(info, label=info.label.removesuffix(f" of {self.learners[learner]}"))
        return EstimateFindings(name, info, label, own, self.study.analysis.confidence)


def _shown(spec: Spec, row: Mapping[Hashable, Any]) -> str:
    """The interval that an estimator reports: the one its parameters name, or the best it has."""
    stated = str(spec.resolved.get("interval", ""))
    kinds = [kind for kind in (stated, *_BEST) if kind in INTERVALS]
    return next((kind for kind in kinds if pd.notna(row[f"lower_{kind}"])), "")
