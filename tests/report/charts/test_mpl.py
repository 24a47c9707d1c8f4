"""Learning curves show the numbers they are given."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from simstudy import SimstudyError, load_study, run_study
from simstudy.measures.base import MeasureInfo
from simstudy.report.figures import COLOURS, draw_learning_curves, draw_regret, learning_curves
from simstudy.report.files import render

mpl.use("Agg")
INFO = MeasureInfo(greater_is_better=True, label="reward", unit="nats", zero="the prior")


@pytest.fixture
def results(write_study, tmp_path):
    return run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False)


def test_the_curves_pass_through_the_means(results):
    ax = results.plot_learning_curves()
    intervals = results.intervals()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["20", "60"]
    assert ax.get_ylabel() == "information reward (nats)"
    for container, learner in zip(ax.containers, results.learners, strict=True):
        assert container.get_label() == learner
        drawn = container.lines[0].get_ydata(orig=False)
        expected = intervals[intervals["learner"] == learner]
        np.testing.assert_allclose(drawn, expected["mean"].to_numpy())
        bars = [segment[:, 1] for segment in container.lines[2][0].get_segments()]
        np.testing.assert_allclose(bars, expected[["lower", "upper"]].to_numpy())


def test_the_zero_line_says_what_zero_is(results):
    ax = results.plot_learning_curves()
    assert "no better than the prior" in [text.get_text() for text in ax.texts]


def test_another_measure_can_be_drawn_on_given_axes(results):
    ax = Figure().subplots()
    assert results.plot_learning_curves(ax, "information_reward") is ax


def test_a_figure_is_the_same_bytes_each_time(results):
    for suffix in ("svg", "pdf", "png"):
        pictures = [
            render(learning_curves(results.intervals(), INFO, "title", "caption"), suffix)
            for _ in range(2)
        ]
        assert pictures[0] == pictures[1]


def test_many_learners_are_told_apart_by_colour_marker_or_line(results):
    intervals = results.intervals()
    one = intervals[intervals["learner"] == "NB"]
    many = [one.assign(learner=f"learner {index}") for index in range(30)]
    ax = draw_learning_curves(pd.concat(many), INFO, Figure().subplots())
    looks = {
        (line.lines[0].get_color(), line.lines[0].get_marker(), line.lines[0].get_linestyle())
        for line in ax.containers
    }
    assert len(looks) == 30
    assert len(set(COLOURS)) == len(COLOURS)


EXACT = """
name = "exactly"
models = 8

[family]
name = "tan"
attributes = [3, 4]

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
    curve, found = exact.difference_curve("NB", "TAN"), exact.thresholds()
    line = ax.lines[0]
    np.testing.assert_allclose(line.get_ydata(), curve["difference"])
    at_sizes = exact.scores.pivot_table(
        index="size", columns="learner", values="information_reward"
    )
    np.testing.assert_allclose(ax.lines[1].get_ydata(), at_sizes["TAN"] - at_sizes["NB"])
    assert ax.get_ylabel() == "TAN ahead by (nats)"
    diamonds = [line for line in ax.lines if line.get_marker() == "D"]
    crossings = found["crossing"].dropna()
    np.testing.assert_allclose([d.get_xdata()[0] for d in diamonds], crossings)


def test_regret_is_drawn_as_its_parts(exact):
    split = exact.regret()
    axes = Figure().subplots(1, 2)
    draw_regret(split, "nats", axes)
    for ax, learner in zip(axes, ("NB", "TAN"), strict=True):
        mine = split[split["learner"] == learner]
        floor, regret = ax.lines
        np.testing.assert_allclose(floor.get_ydata(), mine["representation"])
        np.testing.assert_allclose(regret.get_ydata(), mine["regret"])
        assert ax.get_title() == learner
    np.testing.assert_allclose(split["representation"] + split["estimation"], split["regret"])


def test_an_exact_study_leaves_its_tables_and_figures(exact):
    names = {path.name for path in exact.directory.iterdir()}
    assert {
        "thresholds.csv",
        "precision.csv",
        "regret.csv",
        "regret.svg",
        "differences.pdf",
    } <= names
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
    with pytest.raises(SimstudyError, match="no learner 'CaMML'; it has NB, TAN"):
        exact.plot_difference("NB", "CaMML")
    with pytest.raises(SimstudyError, match="'NB' is given twice; a difference needs two"):
        exact.plot_difference("NB", "NB")
    (tmp_path / "study.toml").write_text(
        EXACT.replace('[[learners]]\nname = "tan"\nlabel = "TAN"', "")
    )
    alone = run_study(load_study(tmp_path / "study.toml"), tmp_path / "out", jobs=1, report=False)
    with pytest.raises(SimstudyError, match="two learners, and the study has one"):
        alone.plot_difference("NB", "TAN")
    (tmp_path / "study.toml").write_text(EXACT.replace("[4, 40, 200]", "[40]"))
    short = run_study(load_study(tmp_path / "study.toml"), tmp_path / "one", jobs=1, report=False)
    with pytest.raises(SimstudyError, match="at least two sizes; the study has one"):
        short.plot_difference("NB", "TAN")
