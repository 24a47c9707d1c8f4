"""Scales, ticks and marks are where they should be, and text cannot break out."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.report.charts import spec, svg
from simstudy.report.charts.network_plot import along, around, free_way, network, network_picture
from simstudy.report.charts.spec import COLOURS, DASHES, Axis, Chart
from simstudy.report.pages.page import TEMPLATES
from simstudy.report.prose.numbers import duration, number, p_value, signed

CSS = (TEMPLATES / "page.css").read_text(encoding="utf-8")


def drawn(*layers, x=None, y=None, size=svg.CURVES, **options):
    """A chart of some layers as SVG."""
    x, y = x or Axis("rows", 0, 10), y or Axis("score", 0, 10)
    return str(svg.draw(Chart("", "title", "told", x, y, layers), "name", size, **options).picture)


def test_text_and_attributes_are_escaped():
    made = svg.element("text", "<script>&", x=1, y=2, data_l='"><x>')
    assert made == '<text x="1" y="2" data-l="&#34;&gt;&lt;x&gt;">&lt;script&gt;&amp;</text>'


def test_an_axis_takes_its_ends_to_its_ends():
    axis = Axis("", 10, 1000, "log")
    assert [axis.share(value) for value in (10, 100, 1000)] == pytest.approx([0, 0.5, 1])
    assert Axis("", -1, 3).share(1) == pytest.approx(0.5)
    assert spec.sizes_axis([5], "rows").share(5) == pytest.approx(
        0.5
    )  # one size stands in the middle
    rows = spec.rows_axis(["a", "b", "c"])
    assert rows.share(0) > rows.share(1) > rows.share(2)  # the first on top
    assert [rows.holds(place) for place in (-1, 0, 2, 3)] == [False, True, True, False]


@given(
    low=st.floats(-1e9, 1e9),
    span=st.floats(1e-6, 1e9),
    about=st.integers(2, 10),
)
def test_ticks_lie_within_the_axis_and_are_three_to_a_few(low, span, about):
    ticks = spec.steps(low, low + span, about)
    room = 1e-6 * max(span, abs(low))
    # at most 7: in less than three steps of 5, of which two have ticks, are seven steps of 2
    assert 3 <= len(ticks) <= max(about + 1, 7) or span < 1e-9 * abs(low)
    assert all(low - room <= tick <= low + span + room for tick in ticks)


def test_ticks_are_round_numbers_with_true_minus_signs():
    ticks = spec.steps(-0.13, 0.11, 5)
    assert ticks == pytest.approx([-0.1, -0.05, 0, 0.05, 0.1])
    assert spec.tick_labels(ticks) == ["−0.10", "−0.05", "0", "0.05", "0.10"]
    assert spec.tick_labels(ticks, signed=True)[-1] == "+0.10"
    assert spec.powers(1e-5, 2e-1) == pytest.approx([1e-5, 1e-4, 1e-3, 1e-2, 1e-1])


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (4e-4, 6e-3, [5e-4, 1e-3, 2e-3, 5e-3]),
        (9e-4, 2e-2, [1e-3, 2e-3, 5e-3, 1e-2, 2e-2]),
        (2.1, 4.9, [2.5, 3, 3.5, 4, 4.5]),
        (0.7, 200, [1, 10, 100]),
    ],
)
def test_a_short_logarithmic_axis_has_three_ticks_or_more(low, high, expected):
    assert spec.powers(low, high) == pytest.approx(expected)


@given(
    sizes=st.lists(st.integers(1, 10**6), min_size=1, max_size=20, unique=True).map(sorted),
    letters=st.floats(5, 100),
)
def test_labels_of_sizes_do_not_collide_and_the_last_is_there(sizes, letters):
    axis = spec.sizes_axis(sizes, "rows")
    marks = axis.fitting(letters)
    assert [place for place, _ in marks] == sizes
    assert marks[-1][1] == f"{sizes[-1]:,}"
    shown = [(letters * axis.share(place), label) for place, label in marks if label]
    for (at, label), (then, other) in itertools.pairwise(shown):
        assert then - at >= (len(label) + len(other)) / 2 + 1 - 1e-9


@pytest.mark.parametrize(
    "values", [[], [math.nan], [math.inf, -math.inf], [0.0], [3.0, 3.0], [1e300], [1e-300, 2e-300]]
)
def test_an_axis_can_be_drawn_for_any_numbers(values):
    low, high = spec.reach(values)
    assert math.isfinite(low)
    assert low < high
    assert Axis("", low, high).ticks(5)


def test_learners_stand_aside_of_a_size_but_not_at_the_next():
    factors = spec.dodges([10, 20, 1000], 30)
    assert factors == sorted(factors)
    assert 10 * factors[-1] < 20 * factors[0]
    assert math.prod(factors) == pytest.approx(1)
    assert spec.dodges([10, 20], 1) == [1.0]


def test_lines_and_bands_break_where_there_is_no_number():
    points = [(0, 1), None, (2, 3), (3, 4), None]
    assert svg.line(points) == "M0 1M2 3L3 4"
    assert svg.band([(0, 1), None, (2, 1)], [(0, 2), (1, 2), (2, 3)]) == "M0 2L0 1ZM2 3L2 1Z"
    text = drawn(
        spec.Line([1, 2, 3], [1, math.nan, math.inf]), spec.Marks([1, 2], [math.nan, 1], "ab")
    )
    assert "nan" not in text
    assert "inf" not in text
    assert re.findall(r"<title>(\w)</title>", text) == ["b"]


def test_intervals_are_cut_at_the_edge_and_only_whole_ends_have_caps():
    bars = re.findall(r'class="bar" d="([^"]+)"', drawn(spec.Span([5], [2], [1000])))
    (upright, cap) = bars[0].split("M")[1:]
    assert upright.endswith(f"V{28:.1f}")  # the top of the frame
    assert cap.endswith("h6")


def test_what_belongs_to_a_learner_can_be_hidden_and_has_its_numbers():
    text = drawn(
        spec.Span([5], [2], [4], learner=8),
        spec.Line([5], [3], label="NB", learner=8),
        spec.Marks([5], [3], ["three"], learner=8),
        labels=True,
    )
    groups = re.findall(r'<g class="s k8 d2" data-l="8">', text)
    assert len(groups) == 2  # the line with its marks, and its label
    assert re.search(r'class="pt" data-x="[\d.]+" data-y="[\d.]+"><title>three</title>', text)


def test_labels_stand_beside_lines_only_if_they_fit():
    def labelled(*labels, y=5.0):
        lines = [spec.Line([1, 9], [5, y], label=one, learner=i) for i, one in enumerate(labels)]
        chart = Chart("", "", "", Axis("", 0, 10), Axis("", 0, 10), tuple(lines))
        return svg.draw(chart, "name", svg.CURVES, labels=True).labelled

    assert labelled("NB", "TAN")
    assert not labelled("N" * 60, "TAN")
    assert not labelled(*"abcdefghijklmnopqrstuvwxyz")
    assert not labelled("NB", y=math.nan)


def test_no_label_of_a_small_figure_is_cut_off():
    # Four ticks would be a tenth apart, five a twentieth, and a digit longer.
    y = Axis("", -0.12, 0.11, signed=True)
    text = drawn(x=spec.sizes_axis([10, 100], "rows"), y=y, size=svg.SMALL)
    labels = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="end">([^<]+)<', text)
    assert "+0.05" in [label for _, label in labels]
    assert all(float(x) >= 11 * 0.58 * len(label) for x, label in labels)
    text = drawn(x=spec.sizes_axis([25, 20_000], "rows"), size=svg.SMALL)
    ((x, label),) = re.findall(r'<text x="([\d.]+)"[^>]*text-anchor="middle">(20,000)<', text)
    assert float(x) + 11 * 0.58 * len(label) / 2 <= svg.SMALL[0]


@given(places=st.lists(st.floats(0, 300), min_size=1, max_size=20))
def test_labels_stand_apart_and_in_order(places):
    moved = spec.spread(places, 12, 0, 300)
    assert moved is not None
    assert all(-1e-9 <= place <= 300 + 1e-9 for place in moved)
    ordered = sorted(moved)
    assert all(b - a >= 12 - 1e-6 for a, b in itertools.pairwise(ordered))
    assert sorted(range(len(places)), key=lambda i: (places[i], moved[i])) == sorted(
        range(len(places)), key=lambda i: moved[i]
    )


def test_labels_that_do_not_fit_are_refused():
    assert spec.spread([1.0] * 20, 16, 0, 300) is None


def test_long_labels_keep_both_ends():
    text = spec.wrapped("begin" + "x" * 200 + "end", 20)
    assert text.startswith("begin")
    assert text.endswith("end")
    assert max(map(len, text.split("\n"))) <= 20
    assert text.count("\n") == 1
    assert spec.wrapped("a\nahead of b", 20) == "a ahead of b"
    first, second = spec.wrapped(f"{'a' * 50}\nahead of {'b' * 50}", 20).split("\n")
    assert first.startswith("a")
    assert second.startswith("ahead of b")


def test_numbers_are_written_for_readers():
    assert number(-0.12345) == "−0.1235"
    assert number(math.inf) == "∞"
    assert number(math.nan) == "–"
    assert number(1e-15) == "0"
    assert number(0.00001) == "1e−05"
    assert signed(0.5) == "+0.5000"
    assert signed(2.2e-17) == signed(-2.2e-17) == signed(0.0) == "0"
    assert p_value(1e-9) == "< 0.0001"
    assert [duration(s) for s in (2.5, 0.0123, 4.5e-5)] == ["2.5 s", "12.3 ms", "45 µs"]


@pytest.mark.parametrize("variables", range(2, 14))
def test_no_arc_of_a_network_runs_through_a_node(variables):
    full = [list(range(v)) for v in range(variables)]
    order = around(full, variables - 1)
    assert sorted(order) == list(range(variables))
    assert order[0] == variables - 1  # the target, on top
    radius = max(72.0, 11.0 * variables)
    angles = [2 * math.pi * step / variables for step in range(variables)]
    places = [complex(radius * math.sin(a), -radius * math.cos(a)) for a in angles]
    for start in places:
        for end in places:
            if start is end:
                continue
            others = [place for place in places if place not in (start, end)]
            control = free_way(start, end, others)
            way = along(start, control, end, np.arange(1, 50) / 50)
            assert all(np.abs(way - place).min() > 14 for place in others)


def test_neighbours_in_a_tree_stand_side_by_side():
    chain = [[5], [0, 5], [1, 5], [2, 5], [3, 5], []]
    assert around(chain, 5) == [5, 0, 1, 2, 3, 4]


def test_a_network_on_the_page_names_every_variable_and_its_arcs():
    laid_out = network([[2], [0, 2], []], ["a very long name", "b", "y"], brief=True)
    text = str(network_picture(laid_out, "name", "Model 0"))
    assert re.findall(r"<g class=\"(?:node|target)\"><title>([^<]+)", text) == [
        "a very long name",
        "b",
        "y",
    ]
    assert text.count('class="arc"') == 3
    assert text.count('<g class="light">') == 2  # those of the target
    assert "b has the parents a very long name and y" in text


def luminance(colour: str) -> float:
    """WCAG 2.1's relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_lines_stand_out_in_light_and_in_dark():
    modes = re.findall(r":root \{(.*?)\}", CSS, re.DOTALL)[:2]
    assert len(modes) == 2
    for mode in modes:
        named = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", mode))
        paper = luminance(named["paper"])
        for name in [*(f"c{i}" for i in range(len(COLOURS))), "ink", "soft", "accent"]:
            one, other = sorted([luminance(named[name]), paper])
            least = 3 if name.startswith("c") else 4.5
            assert (other + 0.05) / (one + 0.05) >= least, name


def test_the_style_sheet_has_the_colours_and_dashes_of_the_looks():
    light = re.search(r":root \{(.*?)\}", CSS, re.DOTALL)[1]
    assert tuple(re.findall(r"--c\d: (#[0-9a-f]{6})", light)) == COLOURS
    assert all(f".k{index} {{ --k: var(--c{index}); }}" in CSS for index in range(1, len(COLOURS)))
    (width,) = re.findall(r"\.s \.line \{[^}]*stroke-width: ([\d.]+)", CSS)
    for index, dash in enumerate(DASHES[1:], start=1):
        (shown,) = re.findall(rf"\.d{index} \.line \{{ stroke-dasharray: ([\d. ]+);", CSS)
        assert [float(part) / float(width) for part in shown.split()] == pytest.approx(dash)


def test_a_small_p_value_is_never_said_to_equal_anything():
    assert p_value(1e-9, "p") == "p < 0.0001"
    assert p_value(0.0123, "p") == "p = 0.0123"
