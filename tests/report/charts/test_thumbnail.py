"""Small pictures of charts have only the texts that there is room for."""

from __future__ import annotations

import pytest

from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Marks
from simstudy.report.charts.thumbnail import thumbnail


@pytest.mark.parametrize(("rows", "height", "named"), [(8, 300, 8), (9, 170, 0)])
def test_rows_have_names_unless_they_are_many(rows, height, named):
    names = [f"row {number}" for number in range(rows)]
    layers = (Marks([0.5] * rows, [*range(rows)], names),)
    picture = thumbnail(Chart("", "", "", Axis("x", 0.0, 1.0), spec.rows_axis(names), layers))
    assert f'viewBox="0 0 340 {height}"' in picture
    assert picture.count(">row ") == named
    assert picture.count("h0") == rows  # the marks
