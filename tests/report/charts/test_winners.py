"""The grid of winners has the colours, stripes and names that the tests allow."""

from __future__ import annotations

import pytest

from simstudy.analysis.models.standings import AHEAD, LEVEL, UNTESTED, Pair, Standing
from simstudy.experiments import experiment
from simstudy.report.charts import mpl, svg
from simstudy.report.charts.spec import Span, Text
from simstudy.report.charts.winners import winners

LEARNERS = ["A", "B", "C"]


def standing(size, ranked, verdicts, beaten=()):
    """A leader with the verdicts of its tests against the others, in their order."""
    against = []
    for rival, verdict in zip(ranked[1:], verdicts, strict=True):
        n = 0 if verdict is None else 9
        pair = (size, ranked[0], rival, 0.1, 0.0, 0.2, 0.01, n, 0, verdict or UNTESTED)
        against.append(Pair(*pair))
    behind = {p.second for p in against if p.verdict == AHEAD} | {*beaten}
    return Standing(size, tuple(ranked), (), tuple(against), frozenset(behind))


def grid(*studies, width=900.0, links=()):
    named = {f"study{place}": standings for place, standings in enumerate(studies)}
    names = dict(zip(LEARNERS, ("naive_bayes", "tan", "aode"), strict=True))
    return winners(named, names, experiment("learners"), width, links)


def cells(chart):
    """For each learner, the middles of its cells and stripes with their widths."""
    found = {}
    for layer in chart.layers:
        if isinstance(layer, Span):
            ends = [place for place, x in enumerate(layer.x) if x != x]
            for start, end in zip([-1, *ends], ends, strict=False):
                x = layer.x[start + 1 : end]
                middle = (
                    round((x[0] + x[-1]) / 2),
                    round(sum(layer.low[start + 1 : end]) / len(x)),
                )
                found.setdefault((LEARNERS[layer.learner], *middle), []).append(x[-1] - x[0])
    return found


def test_a_cell_is_striped_by_those_that_no_test_separates_from_the_leader():
    chart = grid(
        [
            standing(10, "ABC", [AHEAD, AHEAD]),
            standing(20, "ABC", [LEVEL, AHEAD]),
            standing(40, "BAC", [LEVEL, LEVEL], beaten="C"),  # C is behind A
            standing(80, "BAC", [UNTESTED, None]),  # C has failed
        ]
    )
    found = cells(chart)
    assert {key[:2] for key in found} == {
        *[("A", 0), ("A", 1), ("B", 1), ("B", 2), ("A", 2)],
    }
    assert max(found["A", 1, 0]) > 0.9 > max(found["B", 1, 0])  # the leader and its rival
    assert len(found["B", 1, 0]) == len(found["A", 2, 0]) == 4
    assert [layer.text for layer in chart.layers if isinstance(layer, Text)] == ["A", "A", "B", "?"]


def test_every_cell_is_named():
    run = [standing(size, "ABC", [LEVEL, AHEAD]) for size in (10, 20, 40)]
    after = standing(80, "ABC", [AHEAD, AHEAD])
    apart = [standing(size, "ABC", [AHEAD, AHEAD]) for size in (10, 80)]
    chart = grid([*run, after], apart)
    texts = [layer for layer in chart.layers if isinstance(layer, Text)]
    assert [(text.x, text.y, text.text) for text in texts] == [
        *[(place, 0, "A") for place in (0, 1, 2, 3)],
        *[(0, 1, "A"), (3, 1, "A")],  # between them it has no sizes
    ]


def test_names_that_do_not_fit_are_left_out_and_all_cells_have_their_words():
    chart = grid([standing(size, "ABC", [AHEAD, LEVEL]) for size in range(1, 60)], width=200.0)
    alternating = [standing(n, "ABC" if n % 2 else "BAC", [AHEAD, AHEAD]) for n in range(1, 60)]
    narrow = grid(alternating, width=200.0)
    assert [layer.text for layer in chart.layers if isinstance(layer, Text)] == ["A"]
    assert not [layer for layer in narrow.layers if isinstance(layer, Text)]
    assert len(narrow.layers[-1].tips) == 59
    assert narrow.layers[-1].tips[0] == "study0, 1 rows: A, beats all"


@pytest.mark.parametrize("links", [("a/report.html", ""), ()])
def test_rows_open_the_pages_that_there_are(links):
    rows = [[standing(10, "ABC", [AHEAD, AHEAD])]] * 2
    picture = svg.draw(grid(*rows, links=links), "grid", (900.0, 130.0)).picture
    assert picture.count("<a ") == picture.count('href="a/report.html"') == bool(links)


def test_it_can_be_printed():
    from matplotlib.figure import Figure

    ax = mpl.draw(grid([standing(10, "ABC", [LEVEL, AHEAD])]), Figure().subplots())
    assert len(ax.collections) == 2
    assert ax.texts[0].get_color() == "white"


def test_what_holds_over_data_sets_has_a_column_of_its_own_behind_the_sizes():
    over, rows = [standing(0, "BAC", [LEVEL, AHEAD])], [standing(10, "ABC", [AHEAD, AHEAD])]
    chart = grid(over, rows)
    assert [label for _, label in chart.x.marks] == ["10", "all data sets"]
    assert chart.layers[-1].tips == [
        "study0, over all data sets: B, not significantly better than A",
        "study1, 10 rows: A, beats all",
    ]
    assert {*cells(chart)} == {("B", 1, 0), ("A", 1, 0), ("A", 0, 1)}
