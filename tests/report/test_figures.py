"""Learning curves show the numbers they are given."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from simstudy import load_study, run_study
from simstudy.measures.base import MeasureInfo
from simstudy.report.figures import COLOURS, draw_learning_curves, learning_curves
from simstudy.report.files import render

mpl.use("Agg")
INFO = MeasureInfo(greater_is_better=True, label="reward", unit="nats", zero="the prior")


@pytest.fixture
def results(write_study, tmp_path):
    return run_study(load_study(write_study()), tmp_path / "out", jobs=1)


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
