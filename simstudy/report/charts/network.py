"""Networks on a circle, so that no arc runs through a node: where nodes, arcs and labels are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray

# An arc that is not in the network is drawn from this probability on.
MIN_SHOWN = 0.1
# All lengths are in pixels of letters of 12 pixels.
FONT = 12.0
HEIGHT = 28.0  # of a node
_LETTER = 0.62 * FONT
_BENDS = (0.0, 0.12, -0.12, 0.2, -0.2, 0.3, -0.3)  # tried in turn, in parts of the length
_TURNED_BACK = (0.14, 0.2, 0.26, 0.32)  # the same where there is also an arc the other way
# Labels stand this far from each other and from nodes, and from other arcs, where there is room.
_LABEL_ROOM, _ARC_ROOM = 31.0, 10.4


class Place(NamedTuple):
    """A point of the drawing, y downwards."""

    x: float
    y: float


class DrawnNode(NamedTuple):
    """A variable, in an ellipse."""

    place: Place
    width: float
    name: str
    text: str  # the name, as far as it fits
    target: bool


class Arc(NamedTuple):
    """An arrow from the border of one node to that of another, bent towards a control point."""

    start: Place
    control: Place
    end: Place
    chosen: bool  # it belongs to the network
    light: bool
    probability: float | None
    label: Place | None  # where the probability is written


class NetworkDrawing(NamedTuple):
    """A network as it is drawn."""

    width: float
    height: float
    nodes: list[DrawnNode]
    arcs: list[Arc]
    description: str
    note: str


def network(
    parents: Sequence[Sequence[int]],
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
    if chances is not None and chances.shape != (variables, variables):
        shape = (variables, variables)
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
    places = [Place(0.0, 0.0)] * variables
    for step, variable in enumerate(around(parents, target)):
        angle = 2 * math.pi * step / variables
        x, y = stretch * math.sin(angle), radius * math.cos(angle)
        places[variable] = Place(width / 2 + x, 4 + HEIGHT / 2 + radius - y)
    nodes = [
        DrawnNode(places[v], widths[v], names[v], texts[v], v == target) for v in range(variables)
    ]
    arcs = _arcs(parents, nodes, chances)
    arrows = "; ".join(
        f"{names[child]} has the parent{'s' * (len(given) > 1)} "
        f"{' and '.join(names[parent] for parent in given)}"
        for child, given in enumerate(parents)
        if given
    )
    description = f"The target is {names[target]}. {arrows or 'No variable has a parent'}."
    note = "" if all(arc.chosen for arc in arcs) else "dashed: not in this network"
    return NetworkDrawing(width, height - (0 if note else HEIGHT), nodes, arcs, description, note)


def around(parents: Sequence[Sequence[int]], target: int) -> list[int]:
    """The variables in an order that puts neighbours side by side, the target first."""
    near: list[set[int]] = [set() for _ in parents]
    for child, given in enumerate(parents):
        for parent in given:
            if target not in (child, parent):
                near[child].add(parent)
                near[parent].add(child)
    order, seen = [target], {target}
    # Each piece is walked from a variable with few neighbours, which has one end of a path.
    for start in sorted(range(len(parents)), key=lambda v: (len(near[v]), v)):
        stack = [start]
        while stack:
            here = stack.pop()
            if here in seen:
                continue
            seen.add(here)
            order.append(here)
            stack += sorted(near[here] - seen, key=lambda v: (-len(near[v]), -v))
    return order


def _arcs(
    parents: Sequence[Sequence[int]], nodes: Sequence[DrawnNode], chances: FloatArray | None
) -> list[Arc]:
    """The arcs of the network, then the others that are probable enough to be drawn."""
    ends = dict.fromkeys(((int(u), v) for v, given in enumerate(parents) for u in given), True)
    if chances is not None:
        for u, v in np.argwhere(chances >= MIN_SHOWN).tolist():
            if u != v:
                ends.setdefault((u, v), False)
    arcs = []
    for (u, v), chosen in ends.items():
        start, end = nodes[u].place, nodes[v].place
        taken = _taken([node for index, node in enumerate(nodes) if index not in (u, v)])
        control = free_way(start, end, taken, _TURNED_BACK if (v, u) in ends else _BENDS)
        light = chances is None and (nodes[u].target or nodes[v].target)
        chance = None if chances is None else float(chances[u, v])
        ends_at = _border(nodes[u], control, 1), control, _border(nodes[v], control, 2)
        arcs.append(Arc(*ends_at, chosen, light, chance, None))
    arcs.sort(key=lambda arc: not arc.light)  # those between attributes on top
    return arcs if chances is None else _labelled(arcs, _taken(nodes))


def _taken(nodes: Sequence[DrawnNode]) -> list[Place]:
    """Points that nodes take up: their centres and, if they are wide, the centres of their ends."""
    return [
        Place(node.place.x + side * (node.width - HEIGHT) / 2, node.place.y)
        for node in nodes
        for side in (-1, 0, 1)
    ]


def free_way(
    start: Place, end: Place, taken: Sequence[Place], bends: Sequence[float] = _BENDS
) -> Place:
    """The control point of an arc that keeps off all other nodes, bent as little as need be."""
    dx, dy = end.x - start.x, end.y - start.y
    best, widest = start, -1.0
    for bend in bends:
        control = Place((start.x + end.x) / 2 - bend * dy, (start.y + end.y) / 2 + bend * dx)
        way = [along(start, control, end, step / 24) for step in range(1, 24)]
        room = min((math.dist(here, other) for here in way for other in taken), default=math.inf)
        if room > HEIGHT / 2 + 4:
            return control
        if room > widest:
            best, widest = control, room
    return best


def along(start: Place, control: Place, end: Place, t: float) -> Place:
    """The point of a quadratic curve at a share of its way."""
    here, bent, there = (1 - t) ** 2, 2 * t * (1 - t), t**2
    return Place(
        here * start.x + bent * control.x + there * end.x,
        here * start.y + bent * control.y + there * end.y,
    )


def _border(node: DrawnNode, towards: Place, gap: float) -> Place:
    """The point on a node's border, and a gap beyond, on the way to a place."""
    dx, dy = towards.x - node.place.x, towards.y - node.place.y
    length = math.hypot(dx, dy) or 1.0
    dx, dy = dx / length, dy / length
    reach = gap + 1 / math.hypot(2 * dx / node.width, 2 * dy / HEIGHT)
    return Place(node.place.x + dx * reach, node.place.y + dy * reach)


def _labelled(arcs: Sequence[Arc], nodes: Sequence[Place]) -> list[Arc]:
    """The arcs with places for their labels, on their lines, as far from all else as can be."""
    t = np.linspace(0, 1, 41)
    lines = [np.array([along(a.start, a.control, a.end, float(s)) for s in t]) for a in arcs]
    lengths = [round(math.dist(arc.start, arc.end), 6) for arc in arcs]
    taken, found = np.array(nodes), list(arcs)
    for index in np.argsort(lengths, kind="stable"):  # the shortest have the least choice
        options = lines[index][8:33]
        cost = 2 * np.maximum(1 - _distance(options, taken) / _LABEL_ROOM, 0)
        crossing = np.zeros(len(options))
        for other in lines[:index] + lines[index + 1 :]:
            crossing = np.maximum(crossing, 1 - _distance(options, other) / _ARC_ROOM)
        place = options[(cost + crossing + 0.4 * np.abs(t[8:33] - 0.5)).argmin()]
        taken = np.vstack([taken, place])
        found[index] = arcs[index]._replace(label=Place(float(place[0]), float(place[1])))
    return found


def _distance(points: FloatArray, others: FloatArray) -> FloatArray:
    """From each point to the nearest of others."""
    distance: FloatArray = np.linalg.norm(points[:, None] - others, axis=2).min(axis=1)
    return distance
