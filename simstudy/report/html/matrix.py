"""Tables of who beats whom at one training size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simstudy.analysis.standings import AHEAD, IDENTICAL, UNTESTED, Pair, judged, ranked_at
from simstudy.measures.base import MeasureInfo
from simstudy.report import words
from simstudy.report.html.tables import Cell, Table, heads, words_cell
from simstudy.report.numbers import p_value, rows, signed

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.results import Results


def _verdict(pair: Pair, holm: bool) -> Cell:
    """Who beats whom by how much, or that they are not told apart."""
    if pair.verdict == UNTESTED:
        return Cell("not compared", words.why_untested(pair), "tie")
    if pair.verdict == IDENTICAL:
        return Cell("identical", f"in all of {pair.n} models", "tie")
    interval = f"[{signed(pair.low)}, {signed(pair.high)}]"
    numbers = f"{signed(pair.lead)} " + (p_value(pair.p, "p") if holm else interval)
    if pair.verdict == AHEAD:
        return Cell(pair.first, numbers, "win")
    return Cell("not told apart", f"{pair.first} {numbers}", "tie")


def matrix(results: Results, pairs: pd.DataFrame, info: MeasureInfo, size: int, name: str) -> Table:
    """All pairs of learners at one size: the winner, by how much, and the interval."""
    analysis, learners = results.settings["analysis"], results.learners
    holm = analysis["adjustment"] == "holm"
    cells = {
        (pair.first, pair.second): _verdict(pair.better_first(learners), holm)
        for pair in judged(pairs, info.greater_is_better, 1 - analysis["confidence"])
    }
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
    compared = judged(pairs, info.greater_is_better, 1 - analysis["confidence"])
    ranked = ranked_at(size, intervals, info.greater_is_better)
    best, lines = ranked[0], []
    (mean,) = intervals["mean"][(intervals["size"] == size) & (intervals["learner"] == best)]
    chosen = [pair.seen_from(best) for pair in compared if best in (pair.first, pair.second)]
    chosen.sort(key=lambda pair: ranked.index(pair.second))
    for pair in chosen:
        cells = [words_cell(pair.second), _verdict(pair.better_first(ranked), holm)]
        lines.append((str(learners.index(pair.second)), cells))
    title = f"{best}, of best mean" if math.isfinite(mean) else f"{best}; no mean is finite"
    top = heads("against", title, kind="t")
    kept = pairs[(pairs["first"] == best) | (pairs["second"] == best)]
    return Table(f"pairs_{name}_{size}", f"{rows(size)} training rows", top, lines, kept)
