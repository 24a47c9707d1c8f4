"""Networks drawn as matplotlib axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray
from simstudy.report.figures import COLOURS, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Ellipse

# An arc that is not in the network is drawn from this probability on.
LEAST_SHOWN = 0.1
_ARC, _OTHER_ARC = "#000000", "0.45"
_NODE, _TARGET = "#E3EDF4", COLOURS[5]
_FONT = 10  # points
_NODE_HEIGHT = 0.2  # on a circle of radius 1
_LIMIT = 1.2
# Labels are placed this far from each other, and from other arcs, where there is room.
_LABEL_ROOM, _ARC_ROOM = 0.22, 0.07


class _Arc(NamedTuple):
    """An arc between two variables, and whether it belongs to the network."""

    start: int
    end: int
    chosen: bool


def draw_dag(
    parents: Sequence[Sequence[int]],
    arc_posteriors: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
    target: int | None = None,
) -> Axes:
    """Draw a network on a circle, the target on top, and return the axes.

    Parameters
    ----------
    parents : sequence of sequences of int
        For every variable its parents.
    arc_posteriors : array of shape (variables, variables), optional
        ``arc_posteriors[u, v]``: the probability of an arc from u to v. Each arc is labelled with
        it and as wide as it is probable; an arc of probability 0.1 or more that is not in the
        network is drawn as a dashed grey one.
    names : sequence of str, optional
        Of the variables; x0, x1, … and y unless given.
    ax : Axes, optional
        Where to draw; on axes of its own unless given.
    target : int, optional
        The variable to mark; the last unless given.
    """
    variables = len(parents)
    target = range(variables)[-1 if target is None else target]
    names = names or [*(f"x{v}" for v in range(variables - 1)), "y"]
    if len(names) != variables:
        raise ValueError(f"names must hold one name for each of the {variables} variables")
    posteriors = None if arc_posteriors is None else np.asarray(arc_posteriors, dtype=np.float64)
    if posteriors is not None and posteriors.shape != (variables, variables):
        raise ValueError(
            f"arc_posteriors must have the shape {(variables, variables)}; it is {posteriors.shape}"
        )
    if ax is None:
        import matplotlib.pyplot as plt

        side = 3.5 + 0.35 * variables
        ax = plt.subplots(figsize=(side, side), layout="constrained")[1]
    ax.set(xlim=(-_LIMIT, _LIMIT), ylim=(-_LIMIT, _LIMIT), aspect="equal")
    ax.set_axis_off()
    angles = 2 * np.pi * (np.arange(variables) - target) / variables
    centres = np.column_stack([np.sin(angles), np.cos(angles)])
    nodes = _draw_nodes(ax, centres, [plain(name) for name in names], target)
    arcs = _arcs(parents, posteriors)
    bends = _bends(arcs, variables)
    _draw_arcs(ax, arcs, bends, nodes, posteriors)
    if posteriors is not None:
        _draw_labels(ax, arcs, bends, centres, posteriors)
    return ax


def _draw_nodes(ax: Axes, centres: FloatArray, names: list[str], target: int) -> list[Ellipse]:
    """Ellipses wide enough for the names."""
    from matplotlib.patches import Ellipse

    box = ax.get_window_extent()
    inches = min(box.width, box.height) / ax.get_figure(root=True).dpi
    letter = 0.62 * _FONT / 72 * 2 * _LIMIT / inches
    nodes = []
    for v, (centre, name) in enumerate(zip(centres, names, strict=True)):
        width = max(_NODE_HEIGHT, letter * (len(name) + 1.5))
        colour = _TARGET if v == target else _NODE
        node = Ellipse(centre, width, _NODE_HEIGHT, facecolor=colour, edgecolor="0.2", zorder=3)
        nodes.append(ax.add_patch(node))
        ax.text(*centre, name, ha="center", va="center", fontsize=_FONT, zorder=4)
    return nodes


def _arcs(parents: Sequence[Sequence[int]], posteriors: FloatArray | None) -> list[_Arc]:
    """The arcs of the network, then the others that are probable enough to be drawn."""
    arcs = [_Arc(int(u), v, True) for v, given in enumerate(parents) for u in given]
    if posteriors is not None:
        among = {(arc.start, arc.end) for arc in arcs}
        probable = np.argwhere(posteriors >= LEAST_SHOWN).tolist()
        arcs += [_Arc(u, v, False) for u, v in probable if u != v and (u, v) not in among]
    return arcs


def _bends(arcs: Sequence[_Arc], variables: int) -> list[float]:
    """How far each arc swerves to its right: inwards past others, and from one turned back."""
    ends = {(arc.start, arc.end) for arc in arcs}
    bends = []
    for arc in arcs:
        steps = (arc.end - arc.start) % variables
        inwards = 1 if 2 * steps < variables else -1
        between = min(steps, variables - steps) - 1
        bend = inwards * 0.2 / between if between and 2 * steps != variables else 0.0
        bends.append(bend + 0.14 * ((arc.end, arc.start) in ends))
    return bends


def _draw_arcs(
    ax: Axes,
    arcs: Sequence[_Arc],
    bends: Sequence[float],
    nodes: Sequence[Ellipse],
    posteriors: FloatArray | None,
) -> None:
    """Arrows from border to border."""
    from matplotlib.patches import FancyArrowPatch

    for arc, bend in zip(arcs, bends, strict=True):
        start, end = nodes[arc.start], nodes[arc.end]
        width = 1.4 if posteriors is None else 0.7 + 2.3 * posteriors[arc.start, arc.end]
        look: dict[str, Any] = {"color": _ARC, "linewidth": width, "zorder": 2}
        if not arc.chosen:
            look = {"color": _OTHER_ARC, "linewidth": 0.9, "linestyle": (0, (4, 3)), "zorder": 1}
        arrow = FancyArrowPatch(
            start.center,
            end.center,
            connectionstyle=f"arc3,rad={bend}",
            patchA=start,
            patchB=end,
            shrinkA=0,
            shrinkB=1,
            arrowstyle="-|>",
            mutation_scale=11,
            **look,
        )
        ax.add_patch(arrow)


def _draw_labels(
    ax: Axes,
    arcs: Sequence[_Arc],
    bends: Sequence[float],
    centres: FloatArray,
    posteriors: FloatArray,
) -> None:
    """The probability of every arc, on its line, where it is farthest from all else."""
    places = np.linspace(0, 1, 41)
    lines = [
        _curve(centres[arc.start], centres[arc.end], bend, places)
        for arc, bend in zip(arcs, bends, strict=True)
    ]
    taken: list[FloatArray] = [centre * 1.0 for centre in centres]
    for index, arc in enumerate(arcs):
        options = lines[index][8:33]
        others = [line for other, line in enumerate(lines) if other != index]
        room = np.minimum(_distance(options, np.array(taken)) / _LABEL_ROOM, 1)
        if others:
            room = np.minimum(room, _distance(options, np.concatenate(others)) / _ARC_ROOM)
        place = options[(room - 0.3 * np.abs(places[8:33] - 0.5)).argmax()]
        taken.append(place)
        ax.text(
            *place,
            f"{posteriors[arc.start, arc.end]:.2f}",
            ha="center",
            va="center",
            fontsize=_FONT - 2,
            color=_ARC if arc.chosen else _OTHER_ARC,
            bbox={"boxstyle": "square,pad=0.12", "facecolor": "white", "edgecolor": "none"},
            zorder=5,
        )


def _curve(start: FloatArray, end: FloatArray, bend: float, places: FloatArray) -> FloatArray:
    """Points of matplotlib's "arc3" connection, at places from 0 to 1."""
    dx, dy = end - start
    middle = (start + end) / 2 + bend * np.array([dy, -dx])
    t = places[:, None]
    curve: FloatArray = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end
    return curve


def _distance(points: FloatArray, others: FloatArray) -> FloatArray:
    """From each point to the nearest of others."""
    distance: FloatArray = np.linalg.norm(points[:, None] - others, axis=2).min(axis=1)
    return distance
