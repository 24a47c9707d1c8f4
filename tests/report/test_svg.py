"""Scales, ticks and marks are where they should be, and text cannot break out."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.report.html import svg
from simstudy.report.html.charts import COLOURS, DASHES
from simstudy.report.html.networks import Place, along, around, free_way
from simstudy.report.html.svg import Scale
from simstudy.report.prose.numbers import duration, number, p_value, signed

TEMPLATES = Path(svg.__file__).parents[1] / "templates"


def test_text_and_attributes_are_escaped():
    drawn = svg.text("<script>&", 1, 2, data_l='"><x>')
    assert drawn == '<text x="1" y="2" data-l="&#34;&gt;&lt;x&gt;">&lt;script&gt;&amp;</text>'


def test_a_scale_takes_its_ends_to_its_ends():
    scale = Scale(10, 1000, 0, 200, logarithmic=True)
    assert [scale(value) for value in (10, 100, 1000)] == pytest.approx([0, 100, 200])
    assert Scale(-1, 3, 50, 10)(1) == pytest.approx(30)
    assert Scale(5, 5, 0, 10)(5) == 5  # one size stands in the middle


@given(
    low=st.floats(-1e9, 1e9),
    span=st.floats(1e-6, 1e9),
    about=st.integers(2, 10),
)
def test_ticks_lie_within_the_axis_and_are_few(low, span, about):
    scale = Scale(low, low + span, 0, 1)
    ticks = scale.ticks(about)
    room = 1e-6 * max(span, abs(low))
    assert 1 <= len(ticks) <= about + 1 or span < 1e-9 * abs(low)
    assert all(scale.low - room <= tick <= scale.high + room for tick in ticks)


def test_ticks_are_round_numbers_with_true_minus_signs():
    ticks = Scale(-0.13, 0.11, 0, 1).ticks(5)
    assert ticks == pytest.approx([-0.1, -0.05, 0, 0.05, 0.1])
    assert svg.tick_labels(ticks) == ["−0.10", "−0.05", "0", "0.05", "0.10"]
    assert svg.tick_labels(ticks, signed=True)[-1] == "+0.10"
    assert Scale(1e-5, 2e-1, 0, 1, logarithmic=True).ticks() == pytest.approx(
        [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
    )


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (4e-4, 6e-3, [5e-4, 1e-3, 2e-3, 5e-3]),
        (9e-4, 2e-2, [1e-3, 2e-3, 5e-3, 1e-2, 2e-2]),
        (2.1, 4.9, [3, 4]),
        (0.7, 200, [1, 10, 100]),
    ],
)
def test_a_short_logarithmic_axis_has_more_than_one_tick(low, high, expected):
    assert Scale(low, high, 0, 1, logarithmic=True).ticks() == pytest.approx(expected)


@pytest.mark.parametrize(
    "values", [[], [math.nan], [math.inf, -math.inf], [0.0], [3.0, 3.0], [1e300], [1e-300, 2e-300]]
)
def test_an_axis_can_be_drawn_for_any_numbers(values):
    low, high = svg.reach(values)
    assert math.isfinite(low)
    assert low < high
    assert svg.tick_labels(Scale(low, high, 0, 1).ticks())


def test_lines_and_bands_break_where_there_is_no_number():
    points = [(0, 1), (1, math.nan), (2, 3), (3, 4), (4, math.inf)]
    assert svg.line(points) == "M0 1M2 3L3 4"
    assert svg.band([0, 1, 2], [1, math.nan, 1], [2, 2, 3]) == "M0 2L0 1ZM2 3L2 1Z"
    assert svg.dots(points) == "M0 1h0M2 3h0M3 4h0"


@given(places=st.lists(st.floats(0, 300), min_size=1, max_size=20))
def test_labels_stand_apart_and_in_order(places):
    moved = svg.spread(places, 12, 0, 300)
    assert moved is not None
    assert all(-1e-9 <= place <= 300 + 1e-9 for place in moved)
    ordered = sorted(moved)
    assert all(b - a >= 12 - 1e-6 for a, b in itertools.pairwise(ordered))
    assert sorted(range(len(places)), key=lambda i: (places[i], moved[i])) == sorted(
        range(len(places)), key=lambda i: moved[i]
    )


def test_labels_that_do_not_fit_are_refused():
    assert svg.spread([1.0] * 20, 16, 0, 300) is None


def test_long_text_is_cut_to_its_width():
    cut = svg.shortened("word " * 50, 100, 12)
    assert cut.endswith("…")
    assert svg.text_width(cut, 12) <= 112
    assert svg.shortened("short", 100, 12) == "short"


def test_numbers_are_written_for_readers():
    assert number(-0.12345) == "−0.1235"
    assert number(math.inf) == "∞"
    assert number(math.nan) == "–"
    assert number(1e-15) == "0"
    assert number(0.00001) == "1e−05"
    assert signed(0.5) == "+0.5000"
    assert p_value(1e-9) == "< .0001"
    assert [duration(s) for s in (2.5, 0.0123, 4.5e-5)] == ["2.5 s", "12.3 ms", "45 µs"]


@pytest.mark.parametrize("variables", range(2, 14))
def test_no_arc_of_a_network_runs_through_a_node(variables):
    full = [list(range(v)) for v in range(variables)]
    order = around(full)
    assert sorted(order) == list(range(variables))
    assert order[0] == variables - 1  # the target, on top
    radius = max(72.0, 11.0 * variables)
    angles = [2 * math.pi * step / variables for step in range(variables)]
    places = [Place(radius * math.sin(a), -radius * math.cos(a)) for a in angles]
    for start in places:
        for end in places:
            if start is end:
                continue
            control = free_way(start, end, places)
            others = [place for place in places if place not in (start, end)]
            for step in range(1, 50):
                here = along(start, control, end, step / 50)
                assert all(math.dist(here, other) > 14 for other in others)


def test_neighbours_in_a_tree_stand_side_by_side():
    chain = [[5], [0, 5], [1, 5], [2, 5], [3, 5], []]
    assert around(chain) == [5, 0, 1, 2, 3, 4]


def luminance(colour: str) -> float:
    """WCAG 2.1's relative luminance."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_lines_stand_out_in_light_and_in_dark():
    text = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    modes = re.findall(r":root \{(.*?)\}", text, re.DOTALL)[:2]
    assert len(modes) == 2
    for mode in modes:
        named = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", mode))
        paper = luminance(named["paper"])
        for name in [*(f"c{i}" for i in range(COLOURS)), "ink", "soft", "accent"]:
            one, other = sorted([luminance(named[name]), paper])
            least = 3 if name.startswith("c") else 4.5
            assert (other + 0.05) / (one + 0.05) >= least, name


def test_the_style_sheet_has_every_colour_and_every_dash():
    text = (TEMPLATES / "page.css").read_text(encoding="utf-8")
    assert all(f".k{index} " in text for index in range(1, COLOURS))
    assert all(f".d{index} .line" in text for index in range(1, DASHES))


def test_a_small_p_value_is_never_said_to_equal_anything():
    assert p_value(1e-9, "p") == "p < .0001"
    assert p_value(0.0123, "p") == "p = 0.0123"
