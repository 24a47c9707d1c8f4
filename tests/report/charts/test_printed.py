"""Figures as in Hope & Korb (2004): an example of each family beside its learning curves."""

from __future__ import annotations

import itertools

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.patches import Ellipse
from matplotlib.text import Annotation, Text
from scipy import stats

from simstudy import SimstudyError, load_study, run_study
from simstudy.report import files
from simstudy.report.charts.mpl import STYLES
from simstudy.report.charts.printed import hope_korb

mpl.use("Agg")


@pytest.fixture(scope="module")
def studies(tmp_path_factory):
    from tests.conftest import SMALL_STUDY

    root, made = tmp_path_factory.mktemp("families"), []
    for name, old, new in (
        ("tan", "", ""),
        ("naive_bayes", 'name = "tan"\nvariables', 'name = "naive_bayes"\nvariables'),
        ("aode", 'name = "tan"\nvariables', 'name = "aode"\nvariables'),
    ):
        text = SMALL_STUDY.replace(old, new) if old else SMALL_STUDY
        (root / f"{name}.toml").write_text(text, encoding="utf-8")
        study = load_study(root / f"{name}.toml")
        made.append(run_study(study, root / name, jobs=1, report=False))
    return made


def test_each_study_has_a_row_the_simplest_models_first(studies):
    figure, caption = hope_korb(studies, STYLES["paper"])
    assert len(figure.axes) == 6
    titles = [ax.get_title(loc="left") for ax in figure.axes]
    for title, letter, family in zip(
        titles[::2], "ace", ("Naive Bayes", "TAN", "AODE"), strict=True
    ):
        assert title.startswith(f"({letter})")
        assert family in title
    order = [studies[1], studies[0], studies[2]]
    for row, results in enumerate(order):
        network, curves = figure.axes[2 * row : 2 * row + 2]
        nodes = [patch for patch in network.patches if isinstance(patch, Ellipse)]
        assert len(nodes) == len(results.manifest["networks"]["0"]["names"])
        drawn = {tuple(line.get_ydata()) for line in curves.lines}
        for learner in results.learners:
            means = tuple(mean.mean for mean in results.findings().means_of(learner))
            assert means in drawn
    for letter in "abcdef":
        assert f"({letter})" in caption
    assert "one network of its mixture" in caption


def test_curves_and_bars_are_means_and_intervals_of_the_scores(studies):
    """By scipy: Student's t over models, adjusted for all learners at all sizes."""
    figure, _ = hope_korb(studies, STYLES["paper"])
    for ax, results in zip(figure.axes[1::2], [studies[1], studies[0], studies[2]], strict=True):
        scores = pd.read_parquet(results.directory / "scores.parquet")
        table = scores.pivot_table("information_reward", "model", ["learner", "size"])
        half = stats.sem(table) * stats.t.isf(0.025 / table.shape[1], len(table) - 1)
        expected = np.stack([table.mean() - half, table.mean() + half], axis=1)
        drawn = np.array(
            [
                segment[:, 1]
                for bars in ax.collections
                if isinstance(bars, LineCollection)
                for segment in bars.get_segments()
            ]
        )
        assert drawn.shape == expected.shape
        order = drawn[:, 0].argsort(), expected[:, 0].argsort()
        np.testing.assert_allclose(drawn[order[0]], expected[order[1]], rtol=1e-9)
        lines = {tuple(np.round(line.get_ydata(), 12)) for line in ax.lines}
        for _, means in table.mean().groupby("learner"):
            assert tuple(np.round(means.sort_index(level="size"), 12)) in lines


def test_labels_stand_beside_the_ends_of_lines_and_nothing_is_cut(studies):
    figure, _ = hope_korb(studies, STYLES["paper"])
    files.render(figure, [])
    for ax in figure.axes[1::2]:
        labels = [text for text in ax.texts if isinstance(text, Annotation) and text.arrow_patch]
        assert {"NB", "TAN"} <= {label.get_text() for label in labels}
        inside = ax.get_window_extent()
        boxes = [Text.get_window_extent(label) for label in labels]  # without their lines
        for box in boxes:
            assert box.x0 > inside.x1
            assert box.x1 < figure.bbox.x1 + 1
        ordered = sorted(boxes, key=lambda box: box.y0)
        assert all(a.y1 <= b.y0 + 2 for a, b in itertools.pairwise(ordered))
    for ax in figure.axes:
        box = ax._left_title.get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1


def test_the_same_bytes_each_time_and_at_most_three_studies(studies, tmp_path):
    once, again = (
        {
            path.name: path.read_bytes()
            for path in files.write_hope_korb(studies, tmp_path / n, "svg")
        }
        for n in "12"
    )
    assert {*once} == {"hope_korb.svg", "captions.md"}
    assert once == again
    with pytest.raises(SimstudyError, match="at most 3"):
        files.write_hope_korb([*studies, studies[0]], tmp_path, "svg")
    with pytest.raises(SimstudyError, match="gif"):
        files.write_hope_korb(studies, tmp_path, "gif")


def test_results_without_networks_are_refused(studies, tmp_path, monkeypatch):
    monkeypatch.setitem(studies[0].manifest, "networks", {})
    with pytest.raises(SimstudyError, match="networks"):
        files.write_hope_korb(studies[:1], tmp_path, "png")
