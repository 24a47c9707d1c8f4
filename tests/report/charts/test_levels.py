"""The figure of type I error against power can be read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simstudy.analysis.models.findings import Mean
from simstudy.analysis.models.rejections import Rejections
from simstudy.report.charts import spec
from simstudy.report.charts.levels import levels

LEVEL, ROOM = 0.05, (100.0, 25.0)


def rate(mean):
    return Mean("", 100, 50, 0, mean, mean / 1.5, mean * 1.5, 1)


def cells(*places):
    return [
        Rejections(f"test of number {number}", 100, rate(error), rate(power), exceeds=error > 0.07)
        for number, (error, power) in enumerate(places)
    ]


def boxes(chart):
    """The labels of tests, as left and right ends and heights in shares of the axes."""
    for text in (layer for layer in chart.layers if isinstance(layer, spec.Text)):
        if text.treatment is not None:
            start, width = chart.x.share(text.x), len(text.text) / ROOM[0]
            left = start + (text.side - 1) / 2 * width
            yield left, left + width, chart.y.share(text.y)


@pytest.mark.parametrize("error", [0.02, 0.03, 0.04, 0.05, 0.06, 0.08])
def test_no_label_lies_over_the_level_or_is_struck_through_where_there_is_room(error):
    shown = levels(cells((error, 0.3), (0.4, 0.6)), [], LEVEL, ROOM)
    line, (here, there) = shown.x.share(LEVEL), boxes(shown)
    for left, right, height in (here, there):
        assert right < line or left > line
        assert left >= 0
        assert right <= 1
        for power in (0.3, 0.6):  # the intervals of type I error lie there
            bar = [shown.x.share(each * 1.5**way) for each in (error, 0.4) for way in (-1, 1)]
            over = any(left < high and right > low for low, high in (bar[:2], bar[2:]))
            assert not over or abs(height - shown.y.share(power)) > 0.3 / ROOM[1]


def test_the_rates_of_a_test_with_few_and_many_rows_are_joined():
    few, many = cells((0.02, 0.1))[0], replace(cells((0.03, 0.4))[0], size=300)
    joined = [each for each in levels([few, many], [], LEVEL).layers if each.kind == "path"]
    assert [(*each.x, *each.y) for each in joined] == [(0.02, 0.03, 0.1, 0.4)]
