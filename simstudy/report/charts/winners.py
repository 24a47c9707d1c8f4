"""Who leads at which size of which study, as a grid of cells."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean
from typing import TypeAlias

from simstudy.analysis.models.standings import Standing
from simstudy.experiments.base import Words
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart
from simstudy.report.prose.numbers import brief
from simstudy.report.prose.phrases import listed

_WIDE, _HIGH = 0.97, 0.86  # of a cell, in columns and rows
_STRIPES, _SLANT, _PART = 4, 0.16, 0.4  # at least, in columns, and as a share of the cell
Corner: TypeAlias = tuple[float, float, float]  # a place, and the ends of an area there
_END = (math.nan, math.nan, math.nan)  # of a piece of an area


def winners(
    studies: Mapping[str, Sequence[Standing]],
    learners: Mapping[str, str],
    words: Words,
    width: float,
    links: Sequence[str] = (),
) -> Chart:
    """Who leads at each size of each study, striped by whoever is not separated from the leader.

    Cells are named, or those beside each other that are alike once, if there is room in a picture
    of this width. ``learners`` are the registered names by label, ``links`` the pages of the
    studies. Size 0 stands for all data sets.
    """
    every = {at.size for standings in studies.values() for at in standings}
    sizes, labels = sorted(every, key=lambda size: (size == 0, size)), [*learners]
    names = [spec.wrapped(name, width / 18) if width < 400 else brief(name, 48) for name in studies]
    wide = max(len(part) for name in names for part in name.split("\n"))
    letters = (width / 8 - wide - 4) / len(sizes)  # that fit into a cell
    cells, stripes = (defaultdict[int, list[Corner]](list) for _ in range(2))
    spots, texts = dict[tuple[float, float], str](), list[spec.Layer]()
    for row, (name, standings) in enumerate(studies.items()):
        for run in _runs(standings, sizes):
            first, leader = run[0][1], labels.index(run[0][1].leader)
            rivals = sorted(map(labels.index, first.unseparated))
            for column, at in run:
                where = f"{at.size:,} rows" if at.size else "over all data sets"
                spots[column, row] = f"{name}, {where}: {at.leader}, {_lead(at)}"
                if not first.contenders:
                    continue
                cells[leader] += _rectangle(column, row)
                for rival, stripe in _stripes(column, row, rivals):
                    stripes[rival] += stripe
            texts += _named(first, leader, [column for column, _ in run], row, letters)
    areas = [*cells.items(), *stripes.items()]
    layers = [_area(corners, learner) for learner, corners in areas]
    columns, rows = ([place[at] for place in spots] for at in (0, 1))
    heads = (f"{size:,}" if size else "all data sets" for size in sizes)
    marks = tuple((float(place), head) for place, head in enumerate(heads))
    return Chart(
        "",
        f"Who leads at each {words.size} of each study",
        f"{'; '.join(spots.values())}.",
        Axis(f"{words.dose} rows", -0.5, len(sizes) - 0.5, marks=marks),
        spec.rows_axis(names),
        (*layers, *texts, spec.Marks(columns, rows, [*spots.values()], "spot")),
        names=tuple(learners.values()),
        links=tuple(links),
    )


def _named(
    at: Standing, leader: int, columns: Sequence[int], row: int, letters: float
) -> list[spec.Layer]:
    """The name of the leader of some cells, in each of them if it fits, or over all."""
    if not at.contenders:
        return [spec.Text(columns[0], row, "?")]
    if len(at.leader) > letters * len(columns):
        return []
    places = columns if len(at.leader) <= letters else [fmean(columns)]
    return [spec.Text(column, row, at.leader, kind="inside", learner=leader) for column in places]


def _runs(
    standings: Sequence[Standing], sizes: Sequence[int]
) -> Iterator[list[tuple[int, Standing]]]:
    """The columns with their standings, those together that are alike and side by side."""
    cells = [(sizes.index(at.size), at) for at in standings]

    def alike(item: tuple[int, tuple[int, Standing]]) -> tuple[object, ...]:
        place, (column, at) = item
        return column - place, at.leader, {*at.unseparated}, bool(at.contenders)

    for _, run in itertools.groupby(enumerate(cells), alike):
        yield [cell for _, cell in run]


def _rectangle(column: int, row: int) -> list[Corner]:
    """The corners of a cell."""
    low, high = row - _HIGH / 2, row + _HIGH / 2
    return [(column - _WIDE / 2, low, high), (column + _WIDE / 2, low, high), _END]


def _area(corners: Sequence[Corner], learner: int) -> spec.Layer:
    x, low, high = ([corner[part] for corner in corners] for part in range(3))
    return spec.Span(x, low, high, "full", learner=learner)


def _stripes(column: int, row: int, rivals: Sequence[int]) -> Iterator[tuple[int, list[Corner]]]:
    """Slanted stripes over a cell, in turn of each rival."""
    number = len(rivals) * -(-_STRIPES // max(len(rivals), 1))
    low, high = row - _HIGH / 2, row + _HIGH / 2
    for part in range(number):
        step = (_WIDE - _SLANT) / number
        left, wide = column - _WIDE / 2 + (part + (1 - _PART) / 2) * step, _PART * step
        rise = _HIGH * wide / _SLANT
        corners = [(left, low, low), (left + wide, low, low + rise)]
        corners += [(left + _SLANT, high - rise, high), (left + wide + _SLANT, high, high), _END]
        yield rivals[part % len(rivals)], corners


def _lead(standing: Standing) -> str:
    """Whom the learner of best mean beats, or from whom it does not differ significantly."""
    if level := [pair.second for pair in (*standing.level, *standing.identical)]:
        return f"not significantly better than {listed(level)}"
    if standing.beaten_by:
        return f"beaten by {listed([pair.second for pair in standing.beaten_by])} where both ran"
    if standing.wins:
        return "beats all" + " that it could be tested against" * bool(standing.untested)
    return "not compared"
