"""Charts on matplotlib axes show the numbers they are given, as those on the page do."""

from __future__ import annotations

import itertools
import re
from operator import eq
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from simstudy import SimstudyError, load_study, run_study
from simstudy.components.registry import LEARNERS
from simstudy.report.charts import mpl as renderer
from simstudy.report.charts import spec, svg
from simstudy.report.charts.spec import COLOURS, DASHES, MARKERS, Axis, Chart
from simstudy.report.files import kept_figures

mpl.use("Agg")


@pytest.fixture
def results(write_study, tmp_path):
    return run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False)


def test_the_curves_pass_through_the_means(results):
    ax = results.plot_learning_curves()
    intervals = results.intervals()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["20", "60"]
    assert ax.get_ylabel() == "information reward (nats)"
    lines = [
        line for line in ax.lines if len(line.get_xdata()) == 2 and line.get_marker() == "None"
    ]
    lines = [line for line in lines if line.get_color() in COLOURS]
    assert ax.get_legend_handles_labels()[1] == results.learners
    for container, line, learner in zip(ax.containers, lines, results.learners, strict=True):
        expected = intervals[intervals["learner"] == learner]
        np.testing.assert_allclose(line.get_ydata(), expected["mean"].to_numpy())
        bars = [segment[:, 1] for segment in container.lines[2][0].get_segments()]
        np.testing.assert_allclose(bars, expected[["lower", "upper"]].to_numpy())


def test_the_zero_line_says_what_zero_is(results):
    ax = results.plot_learning_curves()
    assert "no better than the prior" in [text.get_text() for text in ax.texts]


def test_another_measure_can_be_drawn_on_given_axes(results):
    ax = Figure().subplots()
    assert results.plot_learning_curves("information_reward", ax) is ax


def test_some_learners_keep_their_looks(results):
    second = results.learners[1]
    ax = results.plot_learning_curves(ax=Figure().subplots(), learners=[second])
    (handle,), (label,) = ax.get_legend_handles_labels()
    assert label == second
    assert (handle.get_color(), handle.get_marker()) == (COLOURS[1], MARKERS[1])


def test_axes_that_are_shared_show_both_charts():
    axes = Figure().subplots(1, 2, sharey=True)
    for ax, high in zip(axes, (1.0, 5.0), strict=True):
        line = spec.Line([1, 2], [0, high])
        renderer.draw(Chart("", "", "", Axis("", 1, 2), Axis("", 0, high), (line,)), ax)
    assert axes[0].get_ylim() == (0, 5)


def test_a_figure_is_the_same_bytes_each_time(results):
    once, again = (kept_figures(results) for _ in range(2))
    made = {f"learning_curves.{ending}" for ending in ("png", "svg", "pdf")}
    assert {*once} == made | {"captions.md"}
    assert once == again


def test_few_learners_have_solid_lines_and_many_are_told_apart():
    grey = [spec.look(index) for index in range(60)]
    assert len({*grey}) == 60
    assert {look.dash for look in grey[:3]} == {0}
    third_party = spec.looks(tuple(f"package:Classifier{number}" for number in range(200)))
    assert len({*third_party}) == 200
    assert len({look[:2] for look in third_party[:28]}) == 28
    assert len({look[:2] for look in spec.LOOKS.values()}) == len(spec.LOOKS)
    assert {look.dash for name, look in spec.LOOKS.items() if name in ("tan", "c45")} == {0}
    assert len({*COLOURS}) == len(COLOURS)


def test_a_learner_looks_the_same_whatever_it_is_compared_with():
    assert {*spec.LOOKS} >= {*LEARNERS._builtin}  # each built-in learner has a look
    forest = "sklearn.ensemble:RandomForestClassifier"
    alone, third = spec.looks((forest,)), spec.looks(("tan", "naive_bayes", forest))
    assert alone[0] == third[2]
    assert third[:2] == (spec.LOOKS["tan"], spec.LOOKS["naive_bayes"])
    first, second, extended = spec.looks(("tan", "tan", "aode"))
    assert first == spec.LOOKS["tan"]
    assert second[:2] not in {look[:2] for look in spec.LOOKS.values()}
    assert (first, second) == spec.looks(("tan", "tan"))
    assert extended == spec.LOOKS["aode"]


@given(
    st.lists(st.sampled_from([*spec.LOOKS, *(f"a.b:Classifier{i}" for i in range(40))]), max_size=7)
)
def test_seven_learners_or_fewer_share_one_feature_at_most(names):
    drawn = spec.looks(tuple(names))
    built_in = [spec.LOOKS[name] for name in {*names} & {*spec.LOOKS}]
    for one, other in itertools.combinations(drawn, 2):
        assert (one in built_in and other in built_in) or sum(map(eq, one, other)) < 2


STUDIES = [
    path
    for path in (Path(__file__).parents[3] / "studies").glob("*.toml")
    if "[[learners]]" in path.read_text() and "compare =" not in path.read_text()
]


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_learners_of_one_study_differ_without_their_colours(path):
    names = load_study(path).names
    looks = spec.looks(names)
    assert len({look[1:] for look in looks}) == len({look[:2] for look in looks}) == len(names)


def test_leaders_of_the_suite_differ_in_colour():
    suite = load_study(Path(__file__).parents[3] / "studies" / "suite.toml")
    looks = dict(zip(suite.labels, spec.looks(suite.names), strict=True))
    leaders = ("TAN", "AODE", "CaMML", "HNB", "hill climbing")
    assert len({looks[label].colour for label in leaders}) == len(leaders)


@pytest.mark.parametrize("learner", [0, 1, 6, 7, 13, 14, 29])
@pytest.mark.parametrize("names", [(), tuple(spec.LOOKS) * 2], ids=["no learners", "learners"])
def test_both_renderers_give_a_learner_the_same_colour_dash_and_marker(learner, names):
    x, y = [1.0, 2.0], [3.0, 4.0]
    layers = (
        spec.Span(x, [2.5, 3.5], [3.5, 4.5], learner=learner),
        spec.Line(x, y, label="it", learner=learner),
        spec.Marks(x, y, ["a", "b"], learner=learner),
    )
    chart = Chart("", "", "", Axis("", 0, 3), Axis("", 0, 5), layers, names=names)
    look = spec.looks(names)[learner] if names else spec.look(learner)
    text = str(svg.draw(chart, "name", svg.CURVES).picture) + str(svg.swatch(look))
    ((colour, dash),) = {*re.findall(r'class="s k(\d) d(\d)"', text)}
    shapes = zip(MARKERS, svg.FORMS, strict=True)
    (marker,) = {marker for marker, shape in shapes if f'd="{shape}"' in text}
    line, marks, key = renderer.draw(chart, Figure().subplots()).lines[-3:]
    assert line.get_color() == marks.get_color() == key.get_color() == COLOURS[int(colour)]
    assert marks.get_marker() == key.get_marker() == marker
    for one in (line, key):
        # matplotlib tells the dashes of a line only here, in widths of the line.
        assert tuple(one._unscaled_dash_pattern[1] or ()) == DASHES[int(dash)]


EXACT = """
name = "exactly"
models = 8

[family]
name = "tan"
variables = [3, 4]

[data]
train_sizes = [4, 40, 200]
test_size = "exact"
training = "nested"

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "tan"
label = "TAN"

[measures]
also = ["regret", "representation", "estimation"]
"""


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    directory = tmp_path_factory.mktemp("exact")
    (directory / "study.toml").write_text(EXACT)
    return run_study(load_study(directory / "study.toml"), directory / "out", jobs=1)


def test_differences_are_drawn_with_bands_and_thresholds(exact):
    ax = exact.plot_difference("NB", "TAN")
    found = exact.thresholds()
    _, line, dots, *_ = ax.lines  # after the line at 0
    np.testing.assert_allclose(line.get_ydata(), dots.get_ydata())
    pairs = exact.pairwise()
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(-pairs["upper"].max())
    assert band.max() == pytest.approx(-pairs["lower"].min())
    at_sizes = exact.scores.pivot_table(
        index="size", columns="learner", values="information_reward"
    )
    np.testing.assert_allclose(dots.get_ydata(), at_sizes["TAN"] - at_sizes["NB"])
    assert ax.get_ylabel() == "TAN ahead by (nats)"
    diamonds = [line for line in ax.lines if line.get_marker() == "D"]
    crossings = found["crossing"].dropna()
    np.testing.assert_allclose([d.get_xdata()[0] for d in diamonds], crossings)


def test_regret_is_drawn_as_its_parts(exact):
    split = exact.regret()
    axes = Figure().subplots(1, 2)
    exact.plot_regret(axes)
    for ax, learner in zip(axes, ("NB", "TAN"), strict=True):
        mine = split[split["learner"] == learner]
        floor, regret, _ = ax.lines
        np.testing.assert_allclose(floor.get_ydata(), mine["representation"])
        np.testing.assert_allclose(regret.get_ydata(), mine["regret"])
        assert ax.get_title() == learner
    np.testing.assert_allclose(split["representation"] + split["estimation"], split["regret"])


def test_an_exact_study_leaves_its_tables(exact):
    names = {path.name for path in exact.directory.iterdir()}
    assert {"thresholds.csv", "precision.csv", "regret.csv", "learning_curves.pdf"} <= names
    table = pd.read_csv(exact.directory / "thresholds.csv")
    found = exact.thresholds()
    assert [*table][:2] == ["measure", "first"] or [*table][:2] == ["first", "second"]
    np.testing.assert_allclose(table[["lower", "upper"]], found[["lower", "upper"]])
    spread = pd.read_csv(exact.directory / "precision.csv")
    assert set(spread["kind"]) == {"mean", "difference"}
    assert set(spread["measure"]) == set(exact.measures)


def test_a_learner_is_converged_once_its_gap_is_small(exact):
    gap = exact.scores.groupby(["learner", "size"])["estimation"].mean()
    within = (gap["NB"][40] + gap["NB"][200]) / 2
    found = exact.converged(within=within).set_index("learner").loc["NB"]
    assert found["after"] == 200
    assert found["note"].startswith("neighbouring sizes differ by a factor of")


def test_convergence_needs_the_gap_to_the_limit(results):
    with pytest.raises(SimstudyError, match="has not measured 'estimation'"):
        results.converged(within=0.1)


def test_a_difference_needs_two_learners_that_are_there(exact, tmp_path):
    with pytest.raises(SimstudyError, match="no learner 'CaMML' here; known: NB, TAN"):
        exact.plot_difference("NB", "CaMML")
    with pytest.raises(SimstudyError, match="'NB' is specified twice; a difference needs two"):
        exact.plot_difference("NB", "NB")
    (tmp_path / "study.toml").write_text(
        EXACT.replace('[[learners]]\nname = "tan"\nlabel = "TAN"', "")
    )
    alone = run_study(load_study(tmp_path / "study.toml"), tmp_path / "out", jobs=1, report=False)
    with pytest.raises(SimstudyError, match="two learners, but the study has only one"):
        alone.plot_difference("NB", "TAN")
    (tmp_path / "study.toml").write_text(EXACT.replace("[4, 40, 200]", "[40]"))
    short = run_study(load_study(tmp_path / "study.toml"), tmp_path / "one", jobs=1, report=False)
    with pytest.raises(SimstudyError, match="at least two sizes, but the study has only one"):
        short.plot_difference("NB", "TAN")


def test_colours_mean_learners_only():
    colours = [colour for colour, *_ in (*renderer._LINES.values(), *renderer._BANDS.values())]
    for colour in [*colours, *(colour for _, colour, *_ in renderer._MARKS.values())]:
        red, green, blue = to_rgb(colour)
        assert red == green == blue, colour


def test_names_of_many_rows_do_not_overlap():
    names = [f"a rather long name, number {n}" for n in range(29)]
    chart = Chart("", "t", "d", Axis("x", 0, 1), spec.rows_axis(names), ())
    figure = Figure(figsize=(10, 5.6))
    ax = renderer.draw(chart, figure.subplots(), renderer.STYLES["talk"], labels=16)
    figure.draw_without_rendering()
    boxes = sorted(
        (label.get_window_extent() for label in ax.get_yticklabels()), key=lambda b: b.y0
    )
    assert all(a.y1 <= b.y0 + 1 for a, b in itertools.pairwise(boxes))
