"""Drawn networks show every arc, its probability and the target."""

from __future__ import annotations

import warnings

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, FancyArrowPatch

from simstudy.networks import Network
from simstudy.report.charts.network_plot import MIN_SHOWN, draw_dag

mpl.use("Agg")
# y → x0 → x1, y → x1; x1 → x0 and x1 → y are likely enough to be shown, y → y is no arc.
PARENTS = ((2,), (0, 2), ())
POSTERIORS = np.array([[0.0, 0.61, 0.04], [0.27, 0.0, MIN_SHOWN], [0.93, 0.78, 0.5]])


def draw(*arguments, **keywords):
    """Axes on which a network is drawn, rendered once, without a warning."""
    ax = Figure(figsize=(5, 5)).subplots()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert draw_dag(*arguments, ax=ax, **keywords) is ax
        ax.figure.draw_without_rendering()
    return ax


def arrows(ax, dashed):
    found = [patch for patch in ax.patches if isinstance(patch, FancyArrowPatch)]
    return [arrow for arrow in found if (arrow.get_linestyle() != "-") == dashed]


def texts(ax):
    return [text.get_text() for text in ax.texts]


def node_colours(ax):
    return [patch.get_facecolor() for patch in ax.patches if isinstance(patch, Ellipse)]


def test_every_arc_is_an_arrow_and_likely_others_are_dashed():
    ax = draw(PARENTS, POSTERIORS)
    assert len(arrows(ax, dashed=False)) == 3
    assert len(arrows(ax, dashed=True)) == 2


def test_arcs_are_labelled_with_their_probabilities():
    labels = [text for text in texts(draw(PARENTS, POSTERIORS)) if text.startswith("0.")]
    assert sorted(labels) == ["0.10", "0.27", "0.61", "0.78", "0.93"]


def test_a_likelier_arc_is_wider():
    ax = draw(PARENTS, POSTERIORS)
    widths = {
        POSTERIORS[u, v]: arrow.get_linewidth()
        for (u, v), arrow in zip([(2, 0), (0, 1), (2, 1)], arrows(ax, dashed=False), strict=True)
    }
    assert widths[0.61] < widths[0.78] < widths[0.93]


def test_without_probabilities_there_are_the_arcs_alone():
    ax = draw(PARENTS)
    assert len(arrows(ax, dashed=False)) == 3
    assert not arrows(ax, dashed=True)
    assert texts(ax) == ["x0", "x1", "y"]


@pytest.mark.parametrize(("target", "marked"), [(None, 2), (0, 0), (-2, 1)])
def test_the_target_alone_has_its_colour_and_stands_on_top(target, marked):
    ax = draw(PARENTS, POSTERIORS, target=target)
    colours = node_colours(ax)
    assert [colours.count(colour) for colour in colours] == [
        1 if v == marked else 2 for v in range(3)
    ]
    heights = [patch.center[1] for patch in ax.patches if isinstance(patch, Ellipse)]
    assert ax.yaxis_inverted()
    assert np.argmin(heights) == marked


def test_arrows_end_at_the_borders_of_the_nodes():
    ax = draw(PARENTS, POSTERIORS)
    nodes = [patch for patch in ax.patches if isinstance(patch, Ellipse)]
    for arrow in arrows(ax, dashed=False) + arrows(ax, dashed=True):
        outline = ax.transData.inverted().transform(
            arrow.get_transform().transform(arrow.get_path().vertices)
        )
        for node in nodes:
            inside = ((outline - node.center) / [node.width / 2, node.height / 2]) ** 2
            assert inside.sum(axis=1).min() > 0.9


@pytest.mark.parametrize("name", ["$x$", "_hidden", "a_b^c", "%", r"\alpha"])
def test_names_are_shown_literally(name):
    ax = draw(PARENTS, POSTERIORS, names=[name, "b", "c"])
    shown = texts(ax)[0]
    assert shown.replace(r"\$", "$").removeprefix("\u200b") == name
    plain_dollars = shown.replace(r"\$", "")
    assert "$" not in plain_dollars


@pytest.mark.parametrize(
    "variables",
    [pytest.param(n, marks=() if n in (3, 6, 8) else pytest.mark.slow) for n in range(1, 13)],
)
def test_networks_of_all_sizes_keep_labels_apart_from_names(variables):
    full = [list(range(v)) for v in range(variables)]
    posteriors = np.full((variables, variables), 0.5)
    ax = draw_dag(full, posteriors, names=[f"name {v}" for v in range(variables)])
    plt.close(ax.figure)
    pairs = variables * (variables - 1) // 2
    assert len(arrows(ax, dashed=False)) == len(arrows(ax, dashed=True)) == pairs
    places = [text.get_position() for text in ax.texts if text.get_text() == "0.50"]
    assert len(places) == 2 * pairs
    for node in (patch for patch in ax.patches if isinstance(patch, Ellipse)):
        for place in places:
            scaled = (np.array(place) - node.center) / [node.width / 2, node.height / 2]
            assert np.hypot(*scaled) > 1


def test_axes_of_its_own_are_made_when_none_are_given():
    ax = draw_dag(PARENTS, POSTERIORS)
    assert len(arrows(ax, dashed=False)) == 3
    plt.close(ax.figure)


def test_names_and_probabilities_must_fit_the_network():
    with pytest.raises(ValueError, match="names holds 2 names for 3 variables"):
        draw(PARENTS, names=["a", "b"])
    with pytest.raises(ValueError, match=r"shape \(3, 3\); it has \(2, 2\)"):
        draw(PARENTS, POSTERIORS[:2, :2])


def test_a_network_is_drawn_with_its_names_and_any_target():
    tables = [[[0.5, 0.5]] * 2, [[0.5, 0.5]] * 2, [0.5, 0.5]]
    network = Network([[2], [0], []], tables, ["first", "second", "third"])
    ax = draw(network, target="first")
    assert {"first", "second", "third"} <= {*texts(ax)}
    assert len(arrows(ax, dashed=False)) == 2
    assert node_colours(ax).count(node_colours(ax)[0]) == 1
    assert node_colours(ax)[0] == node_colours(draw(network, target=0))[0]
