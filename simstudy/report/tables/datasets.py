"""Tables of studies of data sets."""

from __future__ import annotations

import math

from simstudy.report.prose.numbers import number
from simstudy.report.prose.phrases import axis_label
from simstudy.report.tables.table import Cell, Table, make_table, words
from simstudy.results.results import Results

CAPTION = (
    "Means over the splits of each data set; bold: the best. Splits of a data set share rows, so "
    "how far these means would vary cannot be told from them."
)


def dataset_tables(results: Results) -> list[Table]:
    """The mean of the primary measure by data set and learner, a table for each training size."""
    info, means = results.info(), results.dataset_means()
    best_of = max if info.greater_is_better else min
    tables = []
    for size in dict.fromkeys(means["size"]):
        rows = []
        for dataset, part in means[means["size"] == size].groupby("dataset", sort=False):
            values = dict(zip(part["learner"], part["mean"], strict=True))
            known = [value for value in values.values() if not math.isnan(value)]
            best = best_of(known) if known else math.nan
            cells = [
                Cell(number(v), bold=v == best)
                for v in (values[label] for label in results.learners)
            ]
            rows.append([words(str(dataset)), *cells])
        heads = [words("data set"), *(Cell(label) for label in results.learners)]
        title = f"Mean {axis_label(info)}"
        title += f" after {size} training rows" if len(results.sizes) > 1 else ""
        tables.append(make_table("means", title, heads, rows, caption=CAPTION, cut=True))
    return tables
