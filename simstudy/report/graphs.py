"""Networks drawn as matplotlib axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray
from simstudy.report.figures import COLOURS, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Ellipse

# An arc that is not in the network is drawn from this probability on.
LEAST_SHOWN = 0.1
_ARC, _OTHER_ARC, _NODE, _TARGET = "#000000", "0.42", "#E3EDF4", COLOURS[5]
_FONT = 10  # points; what follows is in inches
_LETTER, _NODE_HEIGHT = 0.62 * _FONT / 72, 0.34
# Labels stand this far from each other, and from other arcs, where there is room.
_LABEL_ROOM, _ARC_ROOM = 0.36, 0.12


class _Arc(NamedTuple):
    start: int
    end: int
    chosen: bool  # it belongs to the network
    bend: float  # how far it swerves to its right, in parts of its length


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
        network is drawn dashed and grey.
    names : sequence of str, optional
        Of the variables; x0, x1, … and y unless given.
    ax : Axes, optional
        Where to draw; on axes of its own unless given.
    target : int, optional
        The variable to mark; the last unless given.
    """
    variables = len(parents)
    target = range(variables)[-1 if target is None else target]
    names = list(names or [*(f"x{v}" for v in range(variables - 1)), "y"])
    if len(names) != variables:
        raise ValueError(f"names holds {len(names)} names for {variables} variables")
    posteriors = None if arc_posteriors is None else np.asarray(arc_posteriors, dtype=np.float64)
    if posteriors is not None and posteriors.shape != (variables, variables):
        shape = (variables, variables)
        raise ValueError(f"arc_posteriors must have the shape {shape}; it has {posteriors.shape}")
    if ax is None:
        import matplotlib.pyplot as plt

        side, more = 3.2 + 0.32 * variables, 3 * (_widths(names).max() - _NODE_HEIGHT)
        ax = plt.subplots(figsize=(side + more, side), layout="constrained")[1]
    radius, centres = _set_up(ax, _widths(names), target)
    nodes = _draw_nodes(ax, centres, radius, names, target)
    arcs = _arcs(parents, posteriors)
    for arc in arcs:
        _draw_arc(ax, arc, nodes, None if posteriors is None else posteriors[arc.start, arc.end])
    if posteriors is not None:
        reach = np.array([[(node.width - node.height) / 2, 0] for node in nodes])
        taken = np.concatenate([centres - reach, centres, centres + reach])
        _draw_labels(ax, arcs, centres, taken, radius, posteriors)
    if not all(arc.chosen for arc in arcs):
        _write(ax, 0, ax.get_ylim()[0], "dashed: not in this network", _OTHER_ARC, _FONT - 2)
    return ax


def _widths(names: Sequence[str]) -> FloatArray:
    """Of the nodes, in inches, so that the names fit in."""
    return np.array([max(_NODE_HEIGHT, _LETTER * (len(name) + 1.5)) for name in names])


def _set_up(ax: Axes, widths: FloatArray, target: int) -> tuple[float, FloatArray]:
    """The radius of the circle in inches, and the nodes' places on it, in units of the radius.

    For wide nodes the circle is stretched.
    """
    spare = widths.max() - _NODE_HEIGHT
    box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    radius = max(min(box.width - 3 * spare, box.height - _NODE_HEIGHT) / 2.1, 1) - _NODE_HEIGHT / 2
    stretch = 1 + spare / radius
    across, up = stretch + widths.max() / 2 / radius + 0.05, 1.05 + _NODE_HEIGHT / radius
    ax.set(xlim=(-across, across), ylim=(-up, up), aspect="equal")
    ax.set_axis_off()
    angles = 2 * np.pi * (np.arange(len(widths)) - target) / len(widths)
    return radius, np.column_stack([stretch * np.sin(angles), np.cos(angles)])


def _arcs(parents: Sequence[Sequence[int]], posteriors: FloatArray | None) -> list[_Arc]:
    """The arcs of the network, then the others that are probable enough to be drawn."""
    variables = len(parents)
    ends = dict.fromkeys(((int(u), v) for v, given in enumerate(parents) for u in given), True)
    if posteriors is not None:
        for u, v in np.argwhere(posteriors >= LEAST_SHOWN).tolist():
            if u != v:
                ends.setdefault((u, v), False)
    arcs = []
    for (u, v), chosen in ends.items():
        # An arc bends inwards to pass the node between its ends, and away from one turned back.
        steps = (v - u) % variables
        passing = min(steps, variables - steps) == 2 and variables > 8
        inwards = 0.06 if 2 * steps < variables else -0.06
        arcs.append(_Arc(u, v, chosen, inwards * passing + 0.14 * ((v, u) in ends)))
    return arcs


def _draw_nodes(
    ax: Axes, centres: FloatArray, radius: float, names: Sequence[str], target: int
) -> list[Ellipse]:
    from matplotlib.patches import Ellipse

    nodes = []
    height, widths = _NODE_HEIGHT / radius, (_widths(names) / radius).tolist()
    for v, ((x, y), width) in enumerate(zip(centres.tolist(), widths, strict=True)):
        colour = _TARGET if v == target else _NODE
        node = Ellipse((x, y), width, height, facecolor=colour, edgecolor="0.2", zorder=3)
        ax.add_patch(node)
        nodes.append(node)
        _write(ax, x, y, plain(names[v]), _ARC, _FONT)
    return nodes


def _draw_arc(ax: Axes, arc: _Arc, nodes: Sequence[Ellipse], probability: float | None) -> None:
    """An arrow from border to border."""
    from matplotlib.patches import FancyArrowPatch

    start, end = nodes[arc.start], nodes[arc.end]
    arrow = FancyArrowPatch(
        start.center,
        end.center,
        connectionstyle=f"arc3,rad={arc.bend}",
        arrowstyle="-|>",
        mutation_scale=11,
        patchA=start,
        patchB=end,
        shrinkA=0,
        shrinkB=1,
        color=_ARC if arc.chosen else _OTHER_ARC,
        linestyle="-" if arc.chosen else (0, (4, 3)),
        linewidth=1.4 if probability is None else 0.6 + 1.8 * probability * arc.chosen,
        zorder=2 if arc.chosen else 1,
    )
    ax.add_patch(arrow)


def _draw_labels(
    ax: Axes,
    arcs: Sequence[_Arc],
    centres: FloatArray,
    taken: FloatArray,
    radius: float,
    posteriors: FloatArray,
) -> None:
    """The probability of every arc, on its line, as far from all else as can be."""
    t = np.linspace(0, 1, 41)
    lines = [_curve(centres[arc.start], centres[arc.end], arc.bend, t) for arc in arcs]
    lengths = [np.linalg.norm(line[0] - line[-1]).round(6) for line in lines]
    for index in np.argsort(lengths, kind="stable"):  # the shortest have the least choice
        arc, options = arcs[index], lines[index][12:29]
        crowding = 2 * np.maximum(1 - _distance(options, taken) * radius / _LABEL_ROOM, 0)
        crossing = np.zeros(len(options))
        for other in lines[:index] + lines[index + 1 :]:
            near = 1 - _distance(options, other) * radius / _ARC_ROOM
            crossing = np.maximum(crossing, near)
        place = options[(crowding + crossing + 0.4 * np.abs(t[12:29] - 0.5)).argmin()]
        taken = np.vstack([taken, place])
        text = f"{posteriors[arc.start, arc.end]:.2f}"
        x, y = place.tolist()
        _write(ax, x, y, text, _ARC if arc.chosen else _OTHER_ARC, _FONT - 2, "white")


def _curve(start: FloatArray, end: FloatArray, bend: float, t: FloatArray) -> FloatArray:
    """Points of matplotlib's "arc3" connection, t from 0 to 1."""
    dx, dy = end - start
    middle = (start + end) / 2 + bend * np.array([dy, -dx])
    t = t[:, None]
    curve: FloatArray = (1 - t) ** 2 * start + 2 * t * (1 - t) * middle + t**2 * end
    return curve


def _distance(points: FloatArray, others: FloatArray) -> FloatArray:
    """From each point to the nearest of others."""
    distance: FloatArray = np.linalg.norm(points[:, None] - others, axis=2).min(axis=1)
    return distance


def _write(
    ax: Axes, x: float, y: float, text: str, colour: str, size: float, ground: str = "none"
) -> None:
    """Text centred at a point."""
    box = {"boxstyle": "square,pad=0.12", "facecolor": ground, "edgecolor": "none"}
    ax.text(x, y, text, color=colour, fontsize=size, ha="center", va="center", bbox=box, zorder=4)
