"""Curves of few and of many learners can be read: marks, labels and scales are where they say."""

from __future__ import annotations

import itertools
import math
import re

import matplotlib as mpl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.text import Text

from simstudy import make_study, run_study
from simstudy.analysis.models.computing_time import median_seconds
from simstudy.report.charts import curves, layout, pairs, spec, svg
from simstudy.report.charts.mpl import STYLES
from simstudy.report.charts.spec import Axis, Chart, Panels
from simstudy.report.prose.captions import MAX_BARS

mpl.use("Agg")
SIZES = [10, 40, 400]


def run(directory, number):
    """The results of a small study of so many learners."""
    study = {
        "name": "small",
        "models": 4,
        "family": {"name": "tan", "variables": [3, 4]},
        "data": {"train_sizes": SIZES, "test_size": 40},
        "learners": [
            {"name": "naive_bayes", "label": f"NB {place}", "alpha": 0.2 * (place + 1)}
            for place in range(number)
        ],
    }
    return run_study(make_study(study), directory, jobs=1, report=False)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    return run(tmp_path_factory.mktemp("few") / "out", MAX_BARS)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    return run(tmp_path_factory.mktemp("many") / "out", MAX_BARS + 4)


def layers(chart, kind):
    return [layer for layer in chart.layers if isinstance(layer, kind)]


def bars(chart):
    return [span for span in layers(chart, spec.Span) if span.kind == "bar"]


def charts_without_bars(results):
    findings, learners = results.findings(), results.learners
    medians = median_seconds(results.timings)
    return [
        curves.learning_curves(findings),
        *curves.seconds(medians, learners, results.study.names, results.sizes),
        *curves.studies({"one": findings}, dict.fromkeys(learners, "naive_bayes"), learners),
    ]


def test_marks_without_bars_stand_exactly_at_their_sizes(many):
    for chart in charts_without_bars(many):
        assert not bars(chart)
        marks = layers(chart, spec.Marks)
        assert len(marks) >= MAX_BARS
        assert all([*one.x] == SIZES for one in marks)


def test_marks_with_bars_stay_close_to_their_sizes_and_within_the_axis(few):
    chart = curves.learning_curves(few.findings())
    assert len(bars(chart)) == len(few.learners)
    span = math.log(SIZES[-1] / SIZES[0])
    gaps = [math.log(b / a) for a, b in itertools.pairwise(SIZES)]
    for place, size in enumerate(SIZES):
        at = [marks.x[place] for marks in layers(chart, spec.Marks)]
        assert math.log(max(at) / min(at)) <= min(0.05 * span, 0.35 * min(gaps)) + 1e-9
        assert math.prod(x / size for x in at) == pytest.approx(1)  # around their size
        assert all(chart.x.holds(x) for x in at)


def test_numbers_of_marks_have_their_units(few):
    learners, findings = few.learners, few.findings()
    means = curves.learning_curves(findings)
    differences = pairs.differences(findings, [tuple(learners[:2])])
    for chart in (means, *differences):
        tips = [tip for marks in layers(chart, spec.Marks) for tip in marks.tips]
        assert all("rows: " in tip and tip.endswith(" nats") for tip in tips)
    for chart in curves.seconds(median_seconds(few.timings), learners, few.study.names, few.sizes):
        tips = [tip for marks in layers(chart, spec.Marks) for tip in marks.tips]
        assert all(re.search(r"\d (s|ms|µs)$", tip) for tip in tips)


def test_many_learners_have_a_panel_each_on_the_same_axes_the_best_first(many):
    findings = many.findings()
    panels = curves.each_learner(findings)
    assert [chart.heading for chart in panels.charts] == findings.ranked(SIZES[-1])
    assert len({(chart.x, chart.y) for chart in panels.charts}) == 1
    for chart in panels.charts:
        (marks,), (interval,) = layers(chart, spec.Marks), bars(chart)
        rows = findings.means_of(chart.heading)
        assert [*marks.x] == SIZES
        assert [*marks.y] == [row.mean for row in rows]
        assert [*interval.low] == [row.lower for row in rows]
        assert chart.learners == (many.learners.index(chart.heading),)
        (others,) = [line for line in layers(chart, spec.Line) if line.kind == "others"]
        assert sum(map(math.isnan, others.y)) == len(many.learners)  # a piece of the line for each


def test_differences_share_a_scale_that_shows_zero_and_all_means(few):
    charts = pairs.differences(few.findings(), pairs.all_pairs(few.findings()))
    ((low, high),) = {(chart.y.low, chart.y.high) for chart in charts}
    assert low < 0 < high
    for chart in charts:
        heights = [y for line in layers(chart, spec.Line) for y in line.y]
        assert all(low <= y <= high for y in heights)
        assert [rule.at for rule in layers(chart, spec.Rule)] == [0.0]


def labelled(ends):
    """A chart of lines that end at some heights."""
    lines = [
        spec.Line([1, 9], [0, end], label=f"learner {place}", learner=place)
        for place, end in enumerate(ends)
    ]
    return Chart("", "", "", spec.sizes_axis([1, 9], "rows"), Axis("score", 0, 1), tuple(lines))


@given(ends=st.lists(st.floats(0, 1), min_size=2, max_size=24))
def test_labels_of_lines_neither_touch_nor_leave_the_picture(ends):
    picture, direct = svg.draw(labelled(ends), "name", svg.MANY_CURVES, labels=True)
    assert direct
    found = re.findall(r'<text x="([\d.]+)" y="([\d.]+)">(learner \d+)</text>', str(picture))
    assert len(found) == len(ends)
    heights = sorted(float(y) for _, y, _ in found)
    assert all(b - a >= 15.9 for a, b in itertools.pairwise(heights))
    assert heights[0] >= 12
    assert heights[-1] <= svg.MANY_CURVES[1] - 12
    assert all(float(x) + 7 * len(label) <= svg.MANY_CURVES[0] for x, _, label in found)


def test_labels_move_as_little_as_they_can():
    assert spec.spread([5, 5], 2, 0, 10) == [4, 6]
    assert spec.spread([0, 5, 5, 9], 2, 0, 10) == [0, 4, 6, 9]
    assert spec.spread([1, 0], 2, 0, 10) == [2, 0]


@pytest.mark.parametrize("style", ["paper", "talk"])
def test_labels_beside_printed_lines_neither_touch_nor_leave_the_figure(style):
    chart = labelled([0.9, 0.9, 0.91, 0.2, 0.0, 1.0])
    with mpl.rc_context(STYLES[style].settings()):
        (figure,) = layout.lines(Panels((chart,), chart.key), STYLES[style])
        figure.draw_without_rendering()
    page = figure.bbox
    boxes = [Text.get_window_extent(text) for text in figure.axes[0].texts]  # without leaders
    assert len(boxes) == 6
    for box in boxes:
        assert page.x0 <= box.x0
        assert box.x1 <= page.x1
        assert page.y0 <= box.y0
        assert box.y1 <= page.y1
    ordered = sorted(boxes, key=lambda box: box.y0)
    assert all(b.y0 >= a.y1 - 1 for a, b in itertools.pairwise(ordered))


def test_printed_panels_number_the_shared_scale_once(many):
    (figure,) = layout.pages(curves.each_learner(many.findings()), STYLES["paper"])
    shown = [ax for ax in figure.axes if ax.get_visible()]
    assert len(shown) == len(many.learners)
    assert len({ax.get_ylim() for ax in shown}) == 1
    numbered = [ax.yaxis.get_tick_params()["labelleft"] for ax in shown]
    assert numbered == [place % 4 == 0 for place in range(len(shown))]
