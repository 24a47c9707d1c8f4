"""Networks drawn as SVG: on a circle, so that no arc runs through a node."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from simstudy.report.html import svg
from simstudy.report.html.svg import element, group

_RADIUS = 14.0  # of a node
_FONT = 12.0
_BENDS = (0.0, 0.12, -0.12, 0.2, -0.2, 0.3, -0.3)  # tried in turn, in parts of the length


class Place(NamedTuple):
    """The centre of a node."""

    x: float
    y: float


def network(
    parents: Sequence[Sequence[int]], names: Sequence[str], name: str, title: str
) -> Markup:
    """A network, the target (the last variable) on top and marked.

    Arcs from and to the target are drawn lighter than those between attributes.
    """
    variables = len(parents)
    target = variables - 1
    circle = max(72.0, 11.0 * variables)
    side = 2 * (circle + _RADIUS + 4)
    order = around(parents)
    places = [Place(0.0, 0.0)] * variables
    for step, variable in enumerate(order):
        angle = 2 * math.pi * step / variables
        middle = side / 2
        places[variable] = Place(
            middle + circle * math.sin(angle), middle - circle * math.cos(angle)
        )
    arcs = [(parent, child) for child, given in enumerate(parents) for parent in given]
    arcs.sort(key=lambda arc: target not in arc)  # those between attributes on top
    drawn = []
    for one, other in arcs:
        control = free_way(places[one], places[other], places)
        drawn.append(_arc(places[one], places[other], control, light=target in (one, other)))
    nodes = [_node(places[v], names[v], v == target) for v in range(variables)]
    told = "; ".join(
        f"{names[child]} has the parent{'s' * (len(given) > 1)} "
        f"{' and '.join(names[parent] for parent in given)}"
        for child, given in enumerate(parents)
        if given
    )
    description = f"The target is {names[target]}. {told or 'No variable has a parent'}."
    content = group(*drawn, *nodes, class_="network")
    return svg.figure(side, side, name, title, description, content)


def around(parents: Sequence[Sequence[int]]) -> list[int]:
    """The variables in an order that puts neighbours side by side, the target first."""
    target = len(parents) - 1
    near: list[set[int]] = [set() for _ in parents]
    for child, given in enumerate(parents):
        for parent in given:
            if target not in (child, parent):
                near[child].add(parent)
                near[parent].add(child)
    order, seen = [target], {target}
    # Each piece is walked from a variable with few neighbours, which has one end of a path.
    for start in sorted(range(target), key=lambda v: (len(near[v]), v)):
        stack = [start]
        while stack:
            here = stack.pop()
            if here in seen:
                continue
            seen.add(here)
            order.append(here)
            stack += sorted(near[here] - seen, key=lambda v: (-len(near[v]), -v))
    return order


def free_way(start: Place, end: Place, places: Sequence[Place]) -> Place:
    """The control point of an arc that keeps off all other nodes, bent as little as need be."""
    others = [place for place in places if place not in (start, end)]
    dx, dy = end.x - start.x, end.y - start.y
    best, widest = start, -1.0
    for bend in _BENDS:
        control = Place((start.x + end.x) / 2 - bend * dy, (start.y + end.y) / 2 + bend * dx)
        way = [along(start, control, end, step / 24) for step in range(1, 24)]
        room = min((math.dist(here, other) for here in way for other in others), default=math.inf)
        if room > _RADIUS + 4:
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


def _arc(start: Place, end: Place, control: Place, light: bool) -> Markup:
    """An arrow from border to border."""
    one = _towards(start, control, _RADIUS + 1)
    tip = _towards(end, control, _RADIUS + 2)
    other = _towards(end, control, _RADIUS + 7)
    ux, uy = (tip.x - other.x) / 5, (tip.y - other.y) / 5
    head = (
        f"M{tip.x:.1f} {tip.y:.1f}L{other.x - 3.4 * uy:.1f} {other.y + 3.4 * ux:.1f}"
        f"L{other.x + 3.4 * uy:.1f} {other.y - 3.4 * ux:.1f}Z"
    )
    path = f"M{one.x:.1f} {one.y:.1f}Q{control.x:.1f} {control.y:.1f} {other.x:.1f} {other.y:.1f}"
    return group(
        element("path", class_="arc", d=path),
        element("path", class_="head", d=head),
        class_="light" if light else None,
    )


def _towards(place: Place, other: Place, distance: float) -> Place:
    """A point so far from one place on the way to another."""
    dx, dy = other.x - place.x, other.y - place.y
    length = math.hypot(dx, dy) or 1.0
    return Place(place.x + dx * distance / length, place.y + dy * distance / length)


def _node(place: Place, name: str, target: bool) -> Markup:
    short = svg.shortened(name, 2 * _RADIUS + 2, _FONT)
    return group(
        element("title", name),
        element("circle", cx=place.x, cy=place.y, r=_RADIUS),
        svg.text(short, place.x, place.y + 4, text_anchor="middle"),
        class_="target" if target else "node",
    )
