"""Networks on a circle, so that no arc runs through a node, as SVG and on axes.

Places are complex numbers, y downwards; all lengths are in pixels of letters of 12 pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from simstudy.arrays import FloatArray
from simstudy.report.charts import svg
from simstudy.report.charts.mpl import DASHED, plain
from simstudy.report.charts.spec import COLOURS
from simstudy.report.charts.svg import FONT
from simstudy.report.prose.numbers import fixed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from simstudy.networks import Network

Parents: TypeAlias = Sequence[Sequence[int]]  # of each variable
ComplexArray: TypeAlias = npt.NDArray[np.complex128]

MIN_SHOWN = 0.1  # an arc that is not in the network is drawn from this probability on
HEIGHT = 28.0  # of a node
_LETTER = 0.62 * FONT
_BENDS = (0.0, 0.12, -0.12, 0.2, -0.2, 0.3, -0.3)  # tried in turn, in parts of the length
_TURNED_BACK = (0.14, 0.2, 0.26, 0.32)  # the same where there is also an arc the other way
# Labels stand this far from each other and from nodes, and from other arcs, where there is room.
_LABEL_ROOM, _ARC_ROOM = 31.0, 10.4
_SCALE = 10 / 12  # points to a pixel on axes: letters of 10 points


class DrawnNode(NamedTuple):
    """A variable, in an ellipse."""

    place: complex
    width: float
    name: str
    text: str  # the name, as far as it fits
    target: bool


class Arc(NamedTuple):
    """An arrow from the border of one node to that of another, bent towards a control point."""

    start: complex
    control: complex
    end: complex
    chosen: bool  # it belongs to the network
    light: bool
    probability: float | None
    label: complex | None = None  # where the probability is written


class NetworkDrawing(NamedTuple):
    """A network as it is drawn."""

    width: float
    height: float
    nodes: list[DrawnNode]
    arcs: list[Arc]
    description: str
    note: str


def network(
    parents: Parents,
    names: Sequence[str] | None = None,
    posteriors: npt.ArrayLike | None = None,
    target: int | None = None,
    room: tuple[float, float] | None = None,
    brief: bool = False,
) -> NetworkDrawing:
    """Lay a network out, the target (default: the last variable) on top.

    ``room`` is the width and height to fill; ``brief`` shortens names to round nodes.
    """
    variables = len(parents)
    target = range(variables)[-1 if target is None else target]
    names = list(names or [*(f"x{v}" for v in range(variables - 1)), "y"])
    if len(names) != variables:
        raise ValueError(f"names holds {len(names)} names for {variables} variables")
    chances = None if posteriors is None else np.asarray(posteriors, dtype=np.float64)
    if chances is not None and chances.shape != (shape := (variables, variables)):
        raise ValueError(f"arc_posteriors must have the shape {shape}; it has {chances.shape}")
    texts = [n if len(n) <= 4 else f"{n[:3]}…" for n in names] if brief else names
    widths = [HEIGHT if brief else max(HEIGHT, _LETTER * (len(t) + 1.5)) for t in texts]
    spare = max(widths) - HEIGHT
    radius = max(72.0, 11.0 * variables) * (1 if chances is None else 1.7)
    if room:
        free = min(room[0] - 3 * spare, room[1] - HEIGHT) / 2.1
        radius = max(free, 72.0) - HEIGHT / 2
    stretch = radius + spare
    width, height = 2 * stretch + max(widths) + 8, 2 * radius + 2 * HEIGHT + 8
    order, nodes = around(parents, target), []
    for v in range(variables):
        angle = 2 * math.pi * order.index(v) / variables
        x, y = stretch * math.sin(angle), radius * math.cos(angle)
        place = complex(width / 2 + x, 4 + HEIGHT / 2 + radius - y)
        nodes.append(DrawnNode(place, widths[v], names[v], texts[v], v == target))
    arcs = _arcs(parents, nodes, chances)
    every = [(name, [names[u] for u in of]) for name, of in zip(names, parents, strict=True) if of]
    texts = [f"{name} has the parent{'s' * (len(of) > 1)} {' and '.join(of)}" for name, of in every]
    arrows = "; ".join(texts)
    description = f"The target is {names[target]}. {arrows or 'No variable has a parent'}."
    note = "" if all(arc.chosen for arc in arcs) else "dashed: not in this network"
    return NetworkDrawing(width, height - (0 if note else HEIGHT), nodes, arcs, description, note)


def around(parents: Parents, target: int) -> list[int]:
    """The variables in an order that puts neighbours side by side, the target first."""
    near: list[set[int]] = [set() for _ in parents]
    for child, parent in ((v, u) for v, listed in enumerate(parents) for u in listed):
        if target not in (child, parent):
            near[child].add(parent)
            near[parent].add(child)
    order = [target]
    # Each piece is walked from a variable with few neighbours, which has one end of a path.
    for start in sorted(range(len(parents)), key=lambda v: (len(near[v]), v)):
        stack = [start]
        while stack:
            here = stack.pop()
            if here not in order:
                order.append(here)
                stack += sorted(near[here].difference(order), key=lambda v: (-len(near[v]), -v))
    return order


def _arcs(parents: Parents, nodes: list[DrawnNode], chances: FloatArray | None) -> list[Arc]:
    """The arcs of the network, then further ones that are probable enough to be drawn."""
    ends = {(int(u), v): True for v, listed in enumerate(parents) for u in listed}
    for u, v in [] if chances is None else np.argwhere(chances >= MIN_SHOWN).tolist():
        if u != v:
            ends.setdefault((u, v), False)
    arcs = []
    for (u, v), chosen in ends.items():
        start, end = nodes[u], nodes[v]
        taken = _taken([node for node in nodes if node not in (start, end)])
        bends = _TURNED_BACK if (v, u) in ends else _BENDS
        control = free_way(start.place, end.place, taken, bends)
        light = chances is None and (start.target or end.target)
        chance = None if chances is None else float(chances[u, v])
        route = _border(start, control, 1), control, _border(end, control, 2)
        arcs.append(Arc(*route, chosen, light, chance))
    arcs.sort(key=lambda arc: not arc.light)  # those between attributes on top
    return arcs if chances is None else _labelled(arcs, _taken(nodes))


def _taken(nodes: Sequence[DrawnNode]) -> list[complex]:
    """Points that nodes take up: their centres and, if they are wide, the centres of their ends."""
    return [n.place + side * (n.width - HEIGHT) / 2 for n in nodes for side in (-1, 0, 1)]


def free_way(
    start: complex, end: complex, taken: Sequence[complex], bends: Sequence[float] = _BENDS
) -> complex:
    """The control point of an arc that keeps off all other nodes, bent as little as need be."""
    best, widest = start, -1.0
    for bend in bends:
        control = (start + end) / 2 + bend * 1j * (end - start)
        way = along(start, control, end, np.arange(1, 24) / 24)
        room = np.abs(way[:, None] - np.array(taken)).min(initial=math.inf)
        if room > HEIGHT / 2 + 4:
            return control
        if room > widest:
            best, widest = control, room
    return best


def along(start: complex, control: complex, end: complex, t: FloatArray) -> ComplexArray:
    """The points of a quadratic curve at shares of its way."""
    return (1 - t) ** 2 * start + 2 * t * (1 - t) * control + t**2 * end


def _border(node: DrawnNode, towards: complex, gap: float) -> complex:
    """The point on a node's border, and a gap beyond, on the way to a place."""
    way = towards - node.place
    way /= abs(way) or 1.0
    reach = gap + 1 / math.hypot(2 * way.real / node.width, 2 * way.imag / HEIGHT)
    return node.place + way * reach


def _labelled(arcs: Sequence[Arc], nodes: Sequence[complex]) -> list[Arc]:
    """The arcs with places for their labels, on their lines, as far from all else as can be."""
    t = np.linspace(0, 1, 41)
    lines = [along(arc.start, arc.control, arc.end, t) for arc in arcs]
    lengths = [round(abs(arc.end - arc.start), 6) for arc in arcs]
    taken, labelled = list(nodes), list(arcs)
    for index in np.argsort(lengths, kind="stable"):  # the shortest have the least choice
        options, arcs_elsewhere = lines[index][8:33], np.delete(lines, index, axis=0)
        cost = 2 * _closeness(options, np.array(taken), _LABEL_ROOM)
        cost += _closeness(options, arcs_elsewhere.ravel(), _ARC_ROOM)
        place = complex(options[(cost + 0.4 * np.abs(t[8:33] - 0.5)).argmin()])
        taken.append(place)
        labelled[index] = arcs[index]._replace(label=place)
    return labelled


def _closeness(points: ComplexArray, to: ComplexArray, room: float) -> FloatArray:
    """How close each point is to the nearest of others: 1 if it is there, 0 beyond ``room``."""
    distance: FloatArray = np.abs(points[:, None] - to).min(axis=1, initial=room)
    return 1 - distance / room


# As SVG


def network_picture(drawing: NetworkDrawing, name: str, title: str) -> Markup:
    """A network as SVG."""
    parts = [*map(_arc, drawing.arcs), *map(_node, drawing.nodes)]
    size, content = (drawing.width, drawing.height), svg.element("g", *parts, class_="network")
    return svg.whole(size, name, title, drawing.description, content)


def _arc(arc: Arc) -> Markup:
    way = arc.end - arc.control
    way /= abs(way) or 1.0
    neck, side = arc.end - 5 * way, 3.4j * way
    head = "L".join(map(svg.at, (arc.end, neck + side, neck - side)))
    curve = f"M{svg.at(arc.start)}Q{svg.at(arc.control)} {svg.at(neck)}"
    light = "light" if arc.light or not arc.chosen else None
    paths = svg.path("arc", curve), svg.path("head", f"M{head}Z")
    return svg.element("g", *paths, class_=light)


def _node(node: DrawnNode) -> Markup:
    x, y = node.place.real, node.place.imag
    title = svg.element("title", node.name)
    ellipse = svg.element("ellipse", cx=x, cy=y, rx=node.width / 2, ry=HEIGHT / 2)
    text = svg.element("text", node.text, x=x, y=y + 4, text_anchor="middle")
    return svg.element("g", title, ellipse, text, class_="target" if node.target else "node")


# On axes


def draw_dag(
    parents: Network | Parents,
    arc_posteriors: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
    target: int | str | None = None,
) -> Axes:
    """Draw a network on a circle, the target on top, and return the axes.

    Parameters
    ----------
    parents : Network, or sequence of sequences of int
        The network, or for every variable its parents.
    arc_posteriors : array of shape (variables, variables), optional
        ``arc_posteriors[u, v]``: the probability of an arc from u to v. Each arc is labelled with
        it and as wide as it is probable; an arc of probability 0.1 or more that is not in the
        network is drawn dashed and grey.
    names : sequence of str, optional
        Names of the variables; default: those of the network, or x0, x1, … and y.
    ax : Axes, optional
        Axes to draw on; created if omitted.
    target : int or str, optional
        The variable to mark, by number or name; default: the last.
    """
    if not isinstance(parents, Sequence):
        names = parents.names if names is None else names
        parents = parents.parents
    if isinstance(target, str):
        target = list(names or ()).index(target)
    room, scale = None, _SCALE
    if ax is not None:
        box = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        room = (box.width * 72 / _SCALE, box.height * 72 / _SCALE)
    laid_out = network(parents, names, arc_posteriors, target, room)
    width, height = laid_out.width * _SCALE / 72, laid_out.height * _SCALE / 72
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(width, height), layout="constrained")[1]
    else:  # where there is too little room, everything is smaller
        scale = _SCALE * min(box.width / width, box.height / height, 1.0)
    return _draw(laid_out, ax, scale)


def _draw(drawing: NetworkDrawing, ax: Axes, scale: float) -> Axes:
    """Draw a network on axes; ``scale`` is the number of points to a pixel of the layout."""
    from matplotlib.patches import Ellipse, FancyArrowPatch
    from matplotlib.path import Path

    def write(at: complex, text: str, colour: str, size: float, ground: str) -> None:
        box = {"boxstyle": "square,pad=0.12", "facecolor": ground, "edgecolor": "none"}
        centred: dict[str, Any] = {"ha": "center", "va": "center", "bbox": box, "zorder": 4}
        ax.text(at.real, at.imag, text, color=colour, fontsize=size * scale, **centred)

    ax.set(xlim=(0, drawing.width), ylim=(drawing.height, 0), aspect="equal")
    ax.set_axis_off()
    for node in drawing.nodes:
        fill, ink = (COLOURS[5], "white") if node.target else ("#e3edf4", "black")
        centre = node.place.real, node.place.imag
        ax.add_patch(Ellipse(centre, node.width, HEIGHT, fc=fill, ec="0.2", zorder=3))
        write(node.place, plain(node.text), ink, FONT, "none")
    for arc in drawing.arcs:
        ink = "0.42" if not arc.chosen else "0.62" if arc.light else "black"
        points = [(at.real, at.imag) for at in (arc.start, arc.control, arc.end)]
        path = Path(points, [Path.MOVETO, Path.CURVE3, Path.CURVE3])
        width = 1.4 if arc.probability is None else 0.6 + 1.8 * arc.probability * arc.chosen
        look: dict[str, Any] = {"color": ink, "lw": width, "zorder": 1 + arc.chosen}
        look |= {"arrowstyle": "-|>", "mutation_scale": 11, "ls": "-" if arc.chosen else DASHED}
        ax.add_patch(FancyArrowPatch(path=path, **look))
        if arc.label is not None and arc.probability is not None:
            write(arc.label, fixed(arc.probability, 2), ink, 0.8 * FONT, "white")
    if drawing.note:
        at = complex(drawing.width / 2, drawing.height - 8)
        write(at, drawing.note, "0.42", 0.8 * FONT, "none")
    return ax
