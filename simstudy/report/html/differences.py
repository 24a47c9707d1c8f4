"""Paired differences between learners against training size, for the report page."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simstudy.analysis.standings import ranked_at
from simstudy.measures.base import MeasureInfo
from simstudy.report import overtaking, words
from simstudy.report.html import panels, tables
from simstudy.report.html.panels import Panel
from simstudy.report.html.tables import Table
from simstudy.report.numbers import brief
from simstudy.report.words import MOST_PAIRS

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.results import Results

_GRID = 72  # places of a curve, about


@dataclass(frozen=True)
class Differences:
    """A panel for each pair, where they change sign, and what is to be known of them."""

    panels: list[Panel]
    notes: list[str]
    thresholds: Table | None = None
    method: list[str] = field(default_factory=list)  # how to read it


def differences(results: Results, index: int, intervals: pd.DataFrame) -> Differences:
    """Draw the paired differences in one of the measures."""
    learners, sizes, name = results.learners, results.sizes, results.measures[index]
    if len(learners) < 2:
        return Differences([], ["One learner has nothing to be compared with."])
    if len(sizes) < 2:
        said = (
            "With one training size there is no curve; the differences are in the table of pairs."
        )
        return Differences([], [said])
    info, level = results.info(name), words.confidence_level(results)
    pairs, every = _shown(results, intervals, info), list(itertools.combinations(learners, 2))
    found, table = None, None
    # Those of many learners take long: only the primary measure has them then.
    if len(pairs) == len(every) or index == 0:
        shown = [{*pair} for pair in pairs]
        found = results.thresholds(name)
        found = found[[{row.first, row.second} in shown for row in found.itertuples()]]
        table = tables.thresholds(results, found, level, name)
    steps = max(4, round(_GRID / (len(sizes) - 1)))
    made, cut = [], False
    for place, (first, second) in enumerate(pairs):
        curve = results.difference_curve(first, second, name, steps=steps)
        numbers = f"{learners.index(first)} {learners.index(second)}"
        title = f"{brief(second)} ahead of {brief(first)}"
        if curve["difference"].isna().all():
            made.append(Panel(title, None, numbers, curve.attrs["note"]))
            continue
        mine = None if found is None else _of_pair(found, first, second)
        drawn = panels.difference(curve, mine, sizes, f"difference{index}-{place}")
        cut = cut or drawn.cut
        made.append(Panel(title, drawn.picture, numbers))
    studied = len(sizes) + results.refined["size"].nunique()
    adjusted = words.unadjusted(len(every), studied)
    crossings = found is not None and bool(found["crossing"].notna().any())
    notes = [_caption(info, level, adjusted, crossings)]
    method = [] if found is None else [overtaking.method_words(found, level)]
    method = [said for said in (*method, overtaking.refined_words(results)) if said]
    if len(pairs) < len(every):
        notes.append(
            f"Of {len(every)} pairs {len(pairs)} are shown: {brief(pairs[0][1])}, whose mean is "
            "best at the largest size, against others; all are in pairwise.csv and, for "
            f"{results.info().label}, in thresholds.csv."
        )
    if cut:
        notes.append("Bands that reach the edge are wider than they are drawn.")
    return Differences(made, notes, table, method)


def _shown(results: Results, intervals: pd.DataFrame, info: MeasureInfo) -> list[tuple[str, str]]:
    """The pairs that get a panel: all, or the best learner at the largest size with others."""
    learners = results.learners
    pairs = list(itertools.combinations(learners, 2))
    if len(pairs) <= MOST_PAIRS:
        return pairs
    best = ranked_at(results.sizes[-1], intervals, info.greater_is_better)[0]
    return [(other, best) for other in learners if other != best][:MOST_PAIRS]


def _caption(info: MeasureInfo, level: str, adjusted: str, crossings: bool) -> str:
    said = (
        f"Mean paired difference in {info.label} against training rows, over the models that both "
        "learners have: above 0 where the learner named first is ahead. Dark band: "
        f"{level} t intervals, each size by itself; light band: {level} for all sizes of a pair "
        f"together. {adjusted}Dots are the sizes studied; the lines between them say nothing of "
        "what is between. "
    )
    if crossings:
        said += (
            "Diamond and bar: the estimated size at which one overtakes the other, and its "
            f"{level} interval, where sizes are close enough to tell. "
        )
    return f"{said}Each panel has its own vertical scale."


def _of_pair(found: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    return found[[{row.first, row.second} == {first, second} for row in found.itertuples()]]
