"""Diagrams of average ranks (Demšar 2006, figure 1).

Over models a bar joins runs of learners within the critical difference. Over data sets Wilcoxon's
test decides, and what it does not separate need not be a run: a bar joins the learners that have a
dot on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import pandas as pd

from simstudy.analysis.over_sets import OverSets
from simstudy.analysis.ranks import Ranks
from simstudy.experiments.base import Words
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Line, Text
from simstudy.report.prose.captions import ranked_at
from simstudy.report.prose.numbers import number

# With more learners than this the bars that join groups would hide each other.
MAX_JOINED = 12
_LETTERS = 20  # of a line of a label
_SHORT = 14  # letters up to which labels have one line


class _Drawn(NamedTuple):
    """What a diagram needs to know."""

    table: pd.DataFrame  # learners with their ranks, the best first
    k: int
    groups: Sequence[Sequence[object]]
    critical_difference: float = 0.0  # 0 if it does not decide, and members have dots

    @property
    def places(self) -> dict[object, float]:
        """Where learners stand: at their ranks, with dots apart so that none hides another."""
        names, ranks = self.table["learner"].tolist(), self.table["rank"].tolist()
        apart = 0.0 if self.critical_difference else 0.025 * (self.k - 1)
        moved = spec.spread(ranks, apart, 1, self.k) or ranks
        return dict(zip(names, moved, strict=True))


def ranks(found: Ranks, kind: Words) -> Chart:
    """Average ranks along one axis, or of many treatments one below the other (captions.ranks)."""
    heading = f"{ranked_at(found, kind)}: average rank, 1 is best"
    return _chart(_Drawn(found.table, found.k, found.groups, found.critical_difference), heading)


def over_sets(found: OverSets, letters: float = 0.0, joined: bool | None = None) -> Chart:
    """Average ranks over data sets; bars join what Wilcoxon's test does not separate.

    Parameters
    ----------
    found
        The comparison over data sets.
    letters
        How many letters fit side by side where labels must stay inside; 0 where they need not.
    joined
        Whether learners stand along one axis; if left out, unless they are many.
    """
    table = pd.DataFrame(found.ranked, columns=["learner", "rank"])
    drawn = _Drawn(table, len(found.learners), found.groups)
    heading = f"Average rank over {len(found.datasets)} data sets, 1 is best"
    return _chart(drawn, heading, letters, joined)


def bars(found: OverSets) -> str:
    """What the bars of the diagram over data sets mean."""
    if _too_many(len(found.learners), found.groups):
        return "No bars are drawn, since they would be too many; the table has every two learners"
    if not found.groups:
        return "No bar joins two learners: all differ significantly"
    return (
        "A bar joins the learners that have a dot on it: two learners differ significantly if no "
        "bar has a dot of both"
    )


def _chart(found: _Drawn, heading: str, letters: float = 0.0, joined: bool | None = None) -> Chart:
    table = found.table
    ranked = zip(table["learner"], table["rank"], strict=True)
    each = [f"{learner} {number(rank, 2)}" for learner, rank in ranked]
    last = f"critical difference {number(found.critical_difference, 2)}"
    if not found.critical_difference:
        joins = [", ".join(map(str, group)) for group in found.groups]
        last = f"joined by bars: {' | '.join(joins)}" if joins else "no bar joins learners"
    description = f"{'; '.join(each)}; {last}."
    joined = found.k <= MAX_JOINED if joined is None else joined
    x, y, layers = _joined(found, letters) if joined else _listed(found)
    kind = "ranks"
    return Chart(heading, heading, description, x, y, tuple(layers), kind, frame=not joined)


def _too_many(k: int, groups: Sequence[Sequence[object]]) -> bool:
    return len(groups) > MAX_JOINED < k


def _lanes(found: _Drawn) -> list[tuple[float, float, int]]:
    """The bar of each group, in the first lane where it touches no other."""
    at, bars = found.places, list[tuple[float, float, int]]()
    for group in found.groups:
        low, high = at[group[0]], at[group[-1]]
        taken = {lane for _, end, lane in bars if end >= low - 0.1}
        bars.append((low, high, min(set(range(len(bars) + 1)) - taken)))
    return bars


def _joined(found: _Drawn, letters: float) -> tuple[Axis, Axis, list[spec.Layer]]:
    """The learners along one axis; one unit of the vertical axis is a line of text."""
    k, critical = found.k, found.critical_difference
    left, right = 1 - 0.04 * (k - 1), max(k, 1 + critical) + 0.04 * (k - 1)
    layers: list[spec.Layer] = [Line([1, k], [0, 0], "thin")]
    for rank in range(1, k + 1):
        layers += [Line([rank, rank], [0, 0.18], "thin"), Text(rank, 0.85, str(rank), kind="tick")]
    if critical:
        end = 1 + critical
        layers.append(Line([1, 1, 1, end, end, end], [1.62, 1.38, 1.5, 1.5, 1.38, 1.62], "thin"))
        layers.append(Text(1, 2.2, f"critical difference {number(critical, 2)}", 1, kind="tick"))
    bars, more, places = _lanes(found), 0.02 * (k - 1) if critical else 0.0, found.places
    for (low, high, lane), group in zip(bars, found.groups, strict=True):
        y = -0.4 - 0.45 * lane
        layers.append(Line([low - more, high + more], [y] * 2, "join"))
        if not critical:
            layers.append(spec.Marks([places[one] for one in group], [y] * len(group), kind="dot"))
    top = -0.9 - 0.45 * (1 + max((lane for *_, lane in bars), default=-1))
    labels = [spec.wrapped(str(learner), _LETTERS) for learner in found.table["learner"]]
    step, half = 1 if max(map(len, labels)) <= _SHORT else 2, -(-k // 2)
    ranked = zip(labels, places.values(), found.table["rank"], strict=True)
    for place, (label, at, rank) in enumerate(ranked):
        first = place < half
        y, end = top - step * (place if first else k - 1 - place), left if first else right
        layers.append(Line([at, at, end], [0, y, y], "thin"))
        shown = number(rank, 2)
        words = f"{label}  {shown} " if first else f" {shown}  {label}"
        layers.append(Text(end, y, words, -1 if first else 1, kind="tick"))
    bottom, room = top - step * (half - 0.5), 0.0
    if letters:  # the labels in units of the axis
        longest = min(max(map(len, labels)), _LETTERS) + 7
        room = longest * (right - left) / max(letters - 2 * longest, 10)
    return Axis("", left - room, right + room), Axis("", bottom, 2.7 if critical else 1.4), layers


def _listed(found: _Drawn) -> tuple[Axis, Axis, list[spec.Layer]]:
    """The learners one below the other."""
    half, ranks = found.critical_difference / 2, found.table["rank"].tolist()
    rows = spec.rows_axis([*found.table["learner"]])
    best, layers = [ranks[0] - half, ranks[0] + half], list[spec.Layer]()
    if half:
        layers.append(spec.Span(best, [rows.low] * 2, [rows.high] * 2, "best"))
        layers += [Line([r - half, r + half], [i, i], "thick") for i, r in enumerate(ranks)]
    layers.append(spec.Marks(ranks, [float(place) for place in range(found.k)], kind="dot"))
    steps = [rank for rank in range(0, found.k + 1, 5 if found.k <= 50 else 20) if rank > 1]
    marks = tuple((float(rank), str(rank)) for rank in sorted({1, *steps, found.k}))
    low, high = min(best[0], 1) - 0.3, max(ranks[-1] + half, found.k) + 0.3
    if half:
        label = "average rank ± half the critical difference"
        return Axis(label, low, high, marks=marks), rows, layers
    order, step = found.table["learner"].tolist(), 0.06 * (found.k - 1)
    groups = () if _too_many(found.k, found.groups) else found.groups
    for lane, group in enumerate(groups):
        at, own = high + step * lane, [float(order.index(one)) for one in group]
        layers.append(Line([at, at], [own[0], own[-1]], "join"))
        layers.append(spec.Marks([at] * len(own), own, kind="dot"))
    high += step * len(groups)
    return Axis("average rank", low, high, marks=marks), rows, layers
