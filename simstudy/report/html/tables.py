"""The tables of the report page: what is shown, and the numbers behind it as CSV."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from simstudy.measures.base import MeasureInfo
from simstudy.report import overtaking, words
from simstudy.report.numbers import NONE, duration, number, p_value, rows, share
from simstudy.texts import as_csv

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.results import Results


@dataclass(frozen=True)
class Cell:
    """One cell: its text, a second line, its class, and the learners it belongs to."""

    text: str
    more: str = ""
    kind: str = "n"
    learners: str | None = None


@dataclass(frozen=True)
class Table:
    """A table: in its first column the names of the rows.

    Attributes
    ----------
    name : str
        What a file of it is called, without its ending.
    title : str
        Said above it.
    heads : list of Cell
        Of all columns.
    rows : sequence of (learners, cells)
        Each with the numbers of the learners that it belongs to, or None.
    data : DataFrame or None
        The numbers behind it, for its file; what is shown, if there are no others.
    """

    name: str
    title: str
    heads: list[Cell]
    rows: Sequence[tuple[str | None, list[Cell]]]
    data: pd.DataFrame | None = field(default=None, repr=False)

    @property
    def csv(self) -> str:
        """The content of its file."""
        import pandas as pd

        data = self.data
        if data is None:
            shown = [[cell.text for cell in cells] for _, cells in self.rows]
            data = pd.DataFrame(shown, columns=[head.text for head in self.heads])
        return as_csv(data, float_format="%.12g")


def heads(*texts: str, kind: str = "n") -> list[Cell]:
    """The heads of columns: the first of names, the others of numbers."""
    return [Cell(text, kind=kind if index else "t") for index, text in enumerate(texts)]


def words_cell(text: str, more: str = "") -> Cell:
    """A cell of words."""
    return Cell(text, more, "t")


def means(results: Results, intervals: pd.DataFrame, info: MeasureInfo, name: str) -> Table:
    """Means of all learners and sizes with half the width of their intervals."""
    found = []
    for learner, part in intervals.groupby("learner", sort=False):
        cells = [words_cell(str(learner)), *map(_mean, part.to_dict("records"))]
        found.append((str(results.learners.index(str(learner))), cells))
    top = heads("learner", *(f"{rows(size)} rows" for size in results.sizes))
    title = f"Mean {words.axis_label(info)} ± half the width of its interval"
    return Table(f"means_{name}", title, top, found, intervals)


def _mean(row: Mapping[Any, Any]) -> Cell:
    half = (row["upper"] - row["lower"]) / 2
    return Cell(number(row["mean"]), "" if math.isnan(half) else f"± {number(half)}")


def thresholds(results: Results, found: pd.DataFrame, level: str, name: str) -> Table:
    """Who overtakes whom, one row for each pair and change of the learner ahead."""
    lines = []
    for row in found.to_dict("records"):
        pair = (row["first"], row["second"])
        analysed = not (row["infinite"] or row["n"] < 2)
        cells = [words_cell(f"{pair[1]} and {pair[0]}")]
        if overtaking.has_change(row):
            known = not math.isnan(row["crossing"])
            cells += [words_cell(row["ahead"]), Cell(overtaking.bracket(row))]
            cells.append(Cell(rows(row["crossing"]) if known else NONE))
            cells.append(Cell(overtaking.interval(row) if known else NONE))
        else:
            cells += [Cell("no one" if analysed else "not analysed"), *[Cell(NONE)] * 3]
        for learner in pair[::-1]:
            cells.append(words_cell(_where(learner, overtaking.ahead_at(row, learner))))
        lines.append((_both(results, *pair), cells))
    top = heads("learners", "", "between sizes", "estimate (rows)", f"{level} interval")
    top[1] = words_cell("overtakes the other")
    top += [words_cell("one ahead at"), words_cell("the other at")]
    return Table(f"thresholds_{name}", "Who overtakes whom", top, lines, found)


def _where(learner: str, sizes: Sequence[int]) -> str:
    """The sizes at which a learner is ahead, of many the ends."""
    if len(sizes) > 3:
        return f"{learner}: {rows(sizes[0])} … {rows(sizes[-1])} ({len(sizes)} sizes)"
    return f"{learner}: {', '.join(map(rows, sizes))}" if sizes else NONE


def _both(results: Results, *labels: str) -> str:
    return " ".join(str(results.learners.index(label)) for label in labels)


def anova(table: pd.DataFrame, name: str) -> Table:
    """Tests of learner, size and their interaction, with what corrects for non-sphericity."""
    lines: list[tuple[str | None, list[Cell]]] = []
    for row in table.to_dict("records"):
        cells = [
            words_cell(row["effect"].replace(":", " × ")),
            Cell(f"{row['df1']}, {row['df2']}"),
            Cell(number(row["F"], 2)),
            Cell(p_value(row["p"])),
            *(Cell(number(row["eps_gg"], 3)), Cell(p_value(row["p_gg"]))),
            *(Cell(number(row["eps_hf"], 3)), Cell(p_value(row["p_hf"]))),
            *(Cell(share(row["mauchly_w"])), Cell(p_value(row["mauchly_p"]))),
            *(Cell(number(row[key], 3)) for key in ("eta2_generalized", "eta2_partial")),
        ]
        lines.append((None, cells))
    top = heads("effect", "df", "F", "p", "ε G–G", "p (G–G)", "ε H–F", "p (H–F)")
    top += heads("Mauchly’s W", "p (W)", "η²G", "η²p")
    top[8] = Cell("Mauchly’s W")
    return Table(f"anova_{name}", "Repeated-measures ANOVA, models as subjects", top, lines, table)


def mixed(table: pd.DataFrame, name: str) -> Table:
    """The same effects from all cells there are."""
    lines: list[tuple[str | None, list[Cell]]] = [
        (
            None,
            [
                words_cell(row["effect"].replace(":", " × ")),
                Cell(f"{row['df1']}, {row['df2']:.1f}"),
                Cell(number(row["F"], 2)),
                Cell(p_value(row["p"])),
            ],
        )
        for row in table.to_dict("records")
    ]
    title = "Mixed model, models at random, from all cells there are"
    return Table(f"mixed_model_{name}", title, heads("effect", "df", "F", "p"), lines, table)


def costs(results: Results, medians: pd.DataFrame) -> Table:
    """Median time to fit and to predict."""
    lines = []
    for index, learner in enumerate(results.learners):
        part = medians[medians["learner"] == learner].set_index("size")
        cells = [words_cell(learner)]
        for size in results.sizes:
            fit, predict = (float(part[f"{what}_seconds"].loc[size]) for what in ("fit", "predict"))
            cells.append(Cell(duration(fit), duration(predict)))
        lines.append((str(index), cells))
    top = heads("learner", *(f"{rows(size)} rows" for size in results.sizes))
    return Table("seconds", "Median time to fit, and below it to predict", top, lines, medians)


def regret(results: Results, split: pd.DataFrame, unit: str) -> Table:
    """Mean regret and its parts with their standard errors."""
    keys = ("regret", "representation", "estimation")
    lines = []
    order = {label: index for index, label in enumerate(results.learners)}
    for row in sorted(split.to_dict("records"), key=lambda row: order[row["learner"]]):
        cells = [words_cell(row["learner"]), Cell(rows(row["size"]))]
        cells += [Cell(number(row[key]), f"± {number(row[key + '_se'])}") for key in keys]
        lines.append((str(order[row["learner"]]), cells))
    title = f"Mean regret and its parts ({unit}) ± Monte-Carlo standard error"
    return Table("regret", title, heads("learner", "rows", *keys), lines, split)


def precision(results: Results, table: pd.DataFrame, info: MeasureInfo, name: str) -> Table:
    """The Monte-Carlo standard error of every mean, and the largest of a difference."""
    lines: list[tuple[str | None, list[Cell]]] = []
    shown = table[table["kind"] == "mean"]
    for learner, part in shown.groupby("first", sort=False):
        cells = [words_cell(str(learner)), *(Cell(number(value)) for value in part["mcse"])]
        lines.append((str(results.learners.index(str(learner))), cells))
    gaps = table[table["kind"] == "difference"].groupby("size")["mcse"].max()
    if len(gaps):
        largest = [Cell(number(gaps.loc[size])) for size in results.sizes]
        lines.append((None, [words_cell("largest of a paired difference"), *largest]))
    top = heads("learner", *(f"{rows(size)} rows" for size in results.sizes))
    unit = f" ({info.unit})" if info.unit else ""
    title = f"Monte-Carlo standard errors of mean {info.label}{unit}"
    return Table(f"precision_{name}", title, top, lines, table)


def plain(name: str, title: str, columns: Sequence[str], lines: Iterable[Sequence[str]]) -> Table:
    """A table of words."""
    body: list[tuple[str | None, list[Cell]]] = [
        (None, [words_cell(text) for text in line]) for line in lines
    ]
    return Table(name, title, [words_cell(column) for column in columns], body)


def summary(results: Results) -> str:
    """A study's design and means as a piece of HTML, for notebooks."""
    info, intervals = results.info(), results.intervals()
    table = means(results, intervals, info, results.measures[0])
    title = results.settings["title"] or results.settings["name"]
    parts = [Markup("<strong>{}</strong><p>{}.</p>").format(title, words.design(results))]
    parts.append(Markup("<table><caption>{}</caption><thead><tr>").format(table.title))
    parts += [Markup("<th>{}</th>").format(head.text) for head in table.heads]
    parts.append(Markup("</tr></thead><tbody>"))
    for _, cells in table.rows:
        line = [Markup("<td>{} {}</td>").format(cell.text, cell.more) for cell in cells]
        parts.append(Markup("<tr>{}</tr>").format(Markup("").join(line)))
    said = (
        f"means {words.models_words(results, intervals)}; ± half-width of "
        f"{words.interval_words(results, intervals)}"
    )
    parts.append(Markup("</tbody></table><p>{}.</p>").format(said))
    return str(escape(Markup("").join(parts)))
