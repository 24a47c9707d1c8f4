"""Our means beside printed ones."""

from __future__ import annotations

from simstudy.analysis.published import Agreement
from simstudy.report.prose.numbers import fixed, signed
from simstudy.report.tables.table import Table, TableCell, make_table, words
from simstudy.study.published import Published


def published_tables(given: Published, found: Agreement) -> list[Table]:
    """Ours and the difference from the printed value, data sets × learners; and their means."""
    learners = [str(name) for name in found.by_learner["learner"]]
    rows: list[list[str | TableCell]] = []
    for dataset, part in found.cells.groupby("dataset", sort=False):
        cells = [
            TableCell(
                fixed(row["ours"]),
                signed(row["difference"]),
                "n beyond" if row["beyond"] else "n",
            )
            for row in part.to_dict("records")
        ]
        rows.append([words(str(dataset)), *cells])
    means = [fixed(value) for value in found.by_learner["mean_absolute_difference"]]
    rows.append([words("mean absolute difference"), *means])
    heads = [words("data set"), *(TableCell(name) for name in learners)]
    caption = (
        f"Our mean over splits, and below it ours minus the printed value ({given.source}); "
        f"shaded: beyond {found.tolerance:g}."
    )
    name = f"published_{given.study}_{given.measure or 'primary'}"
    title = f"{given.measure or 'Primary measure'} of {given.study} beside printed values"
    made = make_table(
        name, title.capitalize(), heads, rows, caption=caption, data=found.cells, cut=True
    )
    return [made]
