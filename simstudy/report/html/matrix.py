"""Tables of who beats whom at one training size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simstudy.measures.base import MeasureInfo
from simstudy.report import words
from simstudy.report.html.tables import Cell, Table, heads, words_cell
from simstudy.report.numbers import p_value, rows, signed
from simstudy.report.standings import ranked_at

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results import Results


def _verdict(pair: words.Comparison, confidence: float, holm: bool) -> Cell:
    """Who beats whom by how much, or that they are not told apart."""
    if pair.infinite:
        return Cell("not compared", f"infinite in {pair.infinite} models", "tie")
    if math.isnan(pair.advantage):
        return Cell("not compared", "no model has both", "tie")
    if pair.n < 2:
        return Cell("not compared", f"{pair.n} model has both", "tie")
    if pair.advantage == 0 and math.isnan(pair.p):
        return Cell("identical", f"in all of {pair.n} models", "tie")
    interval = f"[{signed(pair.ends[0])}, {signed(pair.ends[1])}]"
    numbers = f"{signed(pair.advantage)} " + (p_value(pair.p, "p") if holm else interval)
    if pair.p < 1 - confidence:
        return Cell(pair.names[0], numbers, "win")
    return Cell("not told apart", f"{pair.names[0]} {numbers}", "tie")


def matrix(results: Results, pairs: pd.DataFrame, info: MeasureInfo, size: int, name: str) -> Table:
    """All pairs of learners at one size: the winner, by how much, and the interval."""
    analysis, learners = results.settings["analysis"], results.learners
    holm = analysis["adjustment"] == "holm"
    cells = {}
    for row in pairs.to_dict("records"):
        pair = words.Comparison(row, info)
        pair.turn(learners)
        cells[row["first"], row["second"]] = _verdict(pair, analysis["confidence"], holm)
    lines = []
    for index, first in enumerate(learners[:-1]):
        line = [words_cell(first)]
        for other, second in enumerate(learners[1:], start=1):
            cell = cells.get((first, second), Cell("", kind="none"))
            line.append(Cell(cell.text, cell.more, cell.kind, str(other)))
        lines.append((str(index), line))
    top = [
        words_cell(""),
        *(
            Cell(label, kind="t", learners=str(index))
            for index, label in enumerate(learners[1:], start=1)
        ),
    ]
    return Table(f"pairs_{name}_{size}", f"{rows(size)} training rows", top, lines, pairs)


def leader(
    results: Results,
    pairs: pd.DataFrame,
    intervals: pd.DataFrame,
    info: MeasureInfo,
    size: int,
    name: str,
) -> Table:
    """The learner of best mean at one size against all others, where a matrix would be too big."""
    analysis, learners = results.settings["analysis"], results.learners
    holm = analysis["adjustment"] == "holm"
    compared = [words.Comparison(row, info) for row in pairs.to_dict("records")]
    ranked = ranked_at(size, intervals, info)
    best, lines = ranked[0], []
    (mean,) = intervals["mean"][(intervals["size"] == size) & (intervals["learner"] == best)]
    chosen = [pair for pair in compared if best in pair.names]
    chosen.sort(key=lambda pair: max(map(ranked.index, pair.names)))
    for pair in chosen:
        pair.turn(ranked)
        other = pair.names[1] if pair.names[0] == best else pair.names[0]
        cells = [words_cell(other), _verdict(pair, analysis["confidence"], holm)]
        lines.append((str(learners.index(other)), cells))
    title = f"{best}, of best mean" if math.isfinite(mean) else f"{best}; no mean is finite"
    top = heads("against", title, kind="t")
    kept = pairs[(pairs["first"] == best) | (pairs["second"] == best)]
    return Table(f"pairs_{name}_{size}", f"{rows(size)} training rows", top, lines, kept)
