"""Distances are those of the tests, and the figure of them can be read."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

from simstudy import make_study, run_study
from simstudy.analysis.models.standings import AHEAD, LEVEL
from simstudy.report.charts import distance, spec, svg
from simstudy.report.charts import mpl as on_paper
from simstudy.report.prose.distances import caption

mpl.use("Agg")
SIZES = [10, 60, 360]
PARTS = ["accuracy", "regret", "representation", "estimation"]


def run(directory, learners, models=12):
    study = {
        "name": "small",
        "models": models,
        "family": {"name": "tan", "variables": [4, 5], "values": [2, 3]},
        "data": {"train_sizes": SIZES, "test_size": "exact"},
        "measures": {"also": PARTS},
        "learners": learners,
    }
    return run_study(make_study(study), directory / "out", jobs=1, report=False)


@pytest.fixture(scope="module")
def few(tmp_path_factory):
    learners = [
        {"name": "naive_bayes", "label": "NB"},
        {"name": "tan", "label": "TAN"},
        {"name": "aode", "label": "AODE"},
        {"name": "prior", "label": "prior"},
    ]
    return run(tmp_path_factory.mktemp("few"), learners).findings()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """One learner that is best at all sizes with few others near it, and many far from it."""
    learners = [{"name": "tan", "label": "TAN"}, {"name": "aode", "label": "AODE"}]
    learners += [
        {"name": "naive_bayes", "label": f"NB {alpha}", "alpha": alpha}
        for alpha in (1.0, 40.0, 60.0, 80.0, 100.0, 200.0)
    ]
    return run(tmp_path_factory.mktemp("many"), learners, models=25).findings()


def changed(findings, **facts):
    """The findings with other facts."""
    names = ("design", "info", "ceiling", "limits", "standings", "pairs_used", "pair_tests")
    return SimpleNamespace(**{name: getattr(findings, name) for name in names} | facts)


def layers(chart, kind, of=""):
    shown = [layer for layer in chart.layers if isinstance(layer, kind)]
    return [layer for layer in shown if layer.kind == of] if of else shown


def test_distances_to_the_truth_are_the_regrets(few):
    regret = few.scores.groupby(["learner", "size"])["regret"].mean()
    for label, row in distance.places(few).items():
        assert [place.at for place in row] == pytest.approx([regret[label, at] for at in SIZES])


def test_bars_are_the_intervals_of_the_differences_from_the_leader(few):
    places = distance.places(few)
    for index, standing in enumerate(few.standings):
        base = places[standing.leader][index]
        assert math.isnan(base.low)
        for pair in standing.against:
            place = places[pair.second][index]
            assert place.low - base.at == pytest.approx(pair.low)
            assert place.high - base.at == pytest.approx(pair.high)
            assert (place.low > base.at or place.high < base.at) == (pair.verdict == AHEAD)


def test_where_cells_failed_the_differences_are_over_the_models_that_both_have(few):
    scores = few.scores.copy()
    failed = (scores["learner"] == "NB") & (scores["size"] == SIZES[1]) & (scores["model"] < 4)
    scores.loc[failed, ["information_reward", "regret"]] = math.nan
    part = replace(few, scores=scores)
    places, standing = distance.places(part), part.standings[1]
    rewards = scores.pivot(index="model", columns=["learner", "size"], values="information_reward")
    lead = (rewards[standing.leader, SIZES[1]] - rewards["NB", SIZES[1]]).mean()
    assert places["NB"][1].at - places[standing.leader][1].at == pytest.approx(lead)
    assert any("both have" in note for note in caption(part))
    assert not any("both have" in note for note in caption(few))


def test_where_the_truth_is_unknown_distances_are_to_the_best_mean(few):
    unknown = replace(few, regret="", estimation="")
    places = distance.places(unknown)
    for index, standing in enumerate(unknown.standings):
        assert places[standing.leader][index].at == 0
        leads = {pair.second: pair.lead for pair in standing.against}
        assert {label: places[label][index].at for label in leads} == leads
    chart = distance.distance(unknown, svg.CURVES)
    assert chart.y.label == "nats behind the best mean"
    assert not layers(chart, spec.Line, "limit")


def test_the_truth_is_on_top_and_everything_within_the_axes(few):
    for extent in svg.LINES:
        chart = distance.distance(few, extent)
        assert chart.y.share(0.0) > 0.8
        for layer in chart.layers:
            if isinstance(layer, spec.Line | spec.Marks):
                assert all(chart.x.holds(x) for x in layer.x)
                assert all(chart.y.holds(y) for y in layer.y)


@pytest.mark.parametrize("extent", svg.LINES)
def test_names_of_limits_touch_no_line_and_no_bar(few, extent):
    """In pixels of the picture, with letters of 7 by 12."""
    chart = distance.distance(few, extent)
    names = [text for text in layers(chart, spec.Text) if "unlimited" in text.text]
    assert names
    width, height = extent[0] - (190 if extent[0] > 500 else 60), extent[1] - 72
    for name in names:
        x, y = chart.x.share(name.x) * width, chart.y.share(name.y) * height
        half = 7 * len(name.text) / 2
        assert half <= x <= width - half
        for line in layers(chart, spec.Line):
            across = [chart.x.share(at) * width for at in line.x]
            heights = [chart.y.share(at) * height for at in line.y]
            spots = np.linspace(max(x - half, across[0]), min(x + half, across[-1]))
            if spots[0] < spots[-1]:
                assert np.abs(np.interp(spots, across, heights) - y).min() > 6
        for bar in layers(chart, spec.Span):
            for at, low, high in zip(bar.x, bar.low, bar.high, strict=True):
                bottom, top = (chart.y.share(end) * height for end in (high, low))
                apart = abs(chart.x.share(at) * width - x) > half - 12
                assert apart or not bottom - 6 < y < top + 6


def test_the_strip_names_the_contenders_of_each_size(few):
    chart = distance.distance(few, svg.CURVES)
    for standing in few.standings:
        named = layers(chart, spec.Text, "in-strip")
        here = [text for text in named if text.x == pytest.approx(standing.size)]
        shown = standing.contenders if len(standing.contenders) < 4 else standing.contenders[:2]
        labels, left = few.design.learners, len(standing.contenders) - len(shown)
        assert [text.text for text in here] == [*shown]
        assert [labels[text.learner] for text in here] == [*shown]
        counts = [text.text for text in layers(chart, spec.Text, "note") if text.x == standing.size]
        assert counts == [f"{left} more"] * bool(left)


@pytest.mark.parametrize("extent", [(780.0, 430.0), (360.0, 320.0), (150.0, 320.0)])
def test_every_learner_of_the_strip_is_named_where_there_is_room(few, extent):
    """Where names are longer than tiles, each leader has one row, and a name in or beside it."""
    chart = distance.distance(few, extent)
    letters = (extent[0] - (190 if extent[0] > 500 else 60)) / 7
    tiles, labels = layers(chart, spec.Line, "strip"), few.design.learners
    texts = [text for text in layers(chart, spec.Text) if text.learner is not None]
    for learner in {tile.learner for tile in tiles}:
        rows = {tile.y[0] for tile in tiles if tile.learner == learner}
        names = [text for text in texts if text.y in rows and text.learner == learner]
        assert {text.text.strip() for text in names} == {labels[learner]}
        assert len(rows) == 1 or extent[0] > 150
    for name in (text for text in texts if text.kind == "in-strip"):
        inside = [tile for tile in tiles if tile.y[0] == name.y and tile.learner == name.learner]
        low, high = min(tile.x[0] for tile in inside), max(tile.x[1] for tile in inside)
        assert (chart.x.share(high) - chart.x.share(low)) * letters > len(name.text)
    assert {chart.y.share(tile.y[0]) < chart.y.share(0) for tile in tiles} == {True}


def test_the_size_of_a_tile_is_the_nearest_one(few):
    for extent in svg.LINES:
        for tile in layers(distance.distance(few, extent), spec.Line, "strip"):
            middle = math.log(tile.x[0] * tile.x[1]) / 2
            nearest = min(SIZES, key=lambda size: abs(math.log(size) - middle))
            (standing,) = (at for at in few.standings if at.size == nearest)
            assert few.design.learners[tile.learner] in standing.contenders


def test_of_many_learners_those_near_the_leader_are_in_colour_and_have_bars(many):
    near = {standing.leader for standing in many.standings}
    for standing in many.standings:
        near |= {pair.second for pair in standing.against if pair.verdict != AHEAD}
    assert 1 < len(near) <= distance.MAX_COLOURED < len(many.design.learners)
    chart, labels = distance.distance(many, svg.MANY_CURVES), many.design.learners
    assert {labels[bar.learner] for bar in layers(chart, spec.Span)} == near
    assert {line.label for line in layers(chart, spec.Line, "line")} == near
    assert {line.label for line in layers(chart, spec.Line, "field")} == {*labels} - near


def test_the_caption_says_why_some_of_many_learners_are_grey(few, many, monkeypatch):
    assert "grey" not in " ".join(caption(few))
    assert "not separated from the best mean at some size; grey: the others." in caption(many)[0]
    level, leaders = distance.contenders(many), {at.leader for at in many.standings}
    assert leaders < level
    monkeypatch.setattr(distance, "MAX_COLOURED", len(leaders))
    assert {*distance.front(many)} == leaders
    assert "grey: the others, many not separated from it." in caption(many)[0]


def test_the_caption_says_why_a_worse_mean_may_not_be_separated_where_another_is(few):
    spoken = "of a worse mean, is not"
    standing = few.standings[0]
    near, far = standing.against[0], standing.against[-1]
    assert near.lead < far.lead
    for verdicts, said in (((LEVEL, AHEAD), False), ((AHEAD, LEVEL), True)):
        pairs = [replace(pair, verdict=v) for pair, v in zip((near, far), verdicts, strict=True)]
        only = changed(few, standings=[replace(standing, against=tuple(pairs))])
        assert (spoken in " ".join(caption(only))) == said


def test_the_caption_says_why_limits_slope_only_if_they_do(few):
    """The cutoff moves with the size: it clips the limits' probabilities less with more rows."""
    tops = {name: np.subtract(few.ceiling, row) for name, row in few.limits.items()}
    assert max(np.ptp(top) for top in tops.values()) > 1e-3
    assert "because the cutoff" in " ".join(caption(few))
    level = {name: tuple(np.subtract(few.ceiling, top[0])) for name, top in tops.items()}
    flat = changed(few, limits=level)
    assert "because the cutoff" not in " ".join(caption(flat))
    assert "unlimited data." in " ".join(caption(flat))


def test_ranks_are_those_of_the_means(many):
    chart = distance.ranks(many)
    for line in (line for line in layers(chart, spec.Line) if line.label):
        ranked = [many.ranked(size).index(line.label) + 1 for size in SIZES]
        assert [*line.y] == ranked
    assert chart.y.share(1.0) > chart.y.share(2.0)


def test_a_forest_has_a_row_for_each_other_learner_hollow_where_not_separated(many):
    for standing in many.standings:
        chart = distance.forest(many, standing)
        marks, bars = layers(chart, spec.Marks), layers(chart, spec.Line)
        assert [label for _, label in chart.y.marks] == [p.second for p in standing.against]
        for pair, mark, bar in zip(standing.against, marks, bars, strict=True):
            assert [*mark.x] == [pair.lead]
            assert [*bar.x] == [pair.low, pair.high]
            assert (mark.kind == "hollow") == (pair.verdict != AHEAD)


def test_the_close_learners_are_drawn_again_on_a_finer_scale(many):
    *rest, last = many.standings[-1].against
    rest = [replace(pair, lead=0.02, low=-0.01, high=0.05) for pair in rest]
    last = replace(last, lead=0.4, low=0.3, high=0.5)
    standing = replace(many.standings[-1], against=(*rest, last))
    near, every = distance.close(standing), distance.forest(many, standing)
    assert near == rest
    finer = distance.forest(many, standing, enlarged=True)
    assert [label for _, label in finer.y.marks] == [pair.second for pair in near]
    assert finer.x.high - finer.x.low < 0.3 * (every.x.high - every.x.low)
    assert finer.x.label == f"{every.x.label}, enlarged"
    alike = replace(standing, against=standing.against[:1])
    assert distance.close(alike) == []


def test_both_renderers_draw_them(few, many):
    charts = [distance.distance(each, svg.CURVES) for each in (few, many)]
    charts += [distance.ranks(many), *(distance.forest(many, at) for at in many.standings)]
    for chart, name in zip(charts, itertools.count()):
        assert on_paper.draw(chart, Figure().subplots()).lines
        picture = svg.draw(chart, f"chart{name}", svg.MANY_CURVES, labels=True).picture
        assert "nan" not in picture
