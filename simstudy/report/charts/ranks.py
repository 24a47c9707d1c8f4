"""Critical-difference diagrams (Demšar 2006, figure 1)."""

from __future__ import annotations

from simstudy.analysis.ranks import Ranks
from simstudy.report.charts.spec import (
    Axis,
    Band,
    Chart,
    Layer,
    Line,
    Marks,
    Text,
    rows_axis,
    wrapped,
)
from simstudy.report.prose.captions import ranked_at

# With more learners than this the bars that join groups would hide each other.
MAX_JOINED = 12
_LETTERS = 20  # of a line of a label
_SHORT = 14  # letters up to which labels have one line


def ranks(found: Ranks) -> Chart:
    """Average ranks, and which of them do not differ significantly.

    Up to twelve learners stand along one axis of ranks, and a thick bar joins those that do not
    differ. More stand one below the other, each with an interval of half the critical difference
    on either side: those whose intervals overlap do not differ, and the shade is the interval of
    the best.
    """
    return _joined(found) if found.k <= MAX_JOINED else _listed(found)


def _described(found: Ranks) -> dict[str, str]:
    """What is said of the diagram."""
    table = found.table
    each = [
        f"{name} {rank:.2f}" for name, rank in zip(table["learner"], table["rank"], strict=True)
    ]
    heading = f"{ranked_at(found)}: average rank, 1 is best"
    told = f"{'; '.join(each)}; critical difference {found.critical_difference:.2f}."
    return {"heading": heading, "title": heading, "description": told}


def _lanes(found: Ranks) -> list[tuple[float, float, int]]:
    """The bar of each group, in the first lane where it touches no other."""
    at = dict(zip(found.table["learner"], found.table["rank"], strict=True))
    bars: list[tuple[float, float, int]] = []
    for group in found.groups:
        low, high = at[group[0]], at[group[-1]]
        taken = {lane for _, end, lane in bars if end >= low - 0.1}
        bars.append((low, high, min(set(range(len(bars) + 1)) - taken)))
    return bars


def _joined(found: Ranks) -> Chart:
    """The learners along one axis; one unit of the vertical axis is a line of text."""
    k, critical = found.k, found.critical_difference
    left, right = 1 - 0.04 * (k - 1), max(k, 1 + critical) + 0.04 * (k - 1)
    layers: list[Layer] = [Line([1, k], [0, 0], "frame")]
    for rank in range(1, k + 1):
        layers += [Line([rank, rank], [0, 0.18], "frame"), Text(rank, 0.85, str(rank), kind="tick")]
    layers.append(
        Line(
            [1, 1, 1, 1 + critical, 1 + critical, 1 + critical],
            [1.62, 1.38, 1.5, 1.5, 1.38, 1.62],
            "frame",
        )
    )
    layers.append(Text(1, 2.2, f"critical difference {critical:.2f}", 1, kind="tick"))
    bars = _lanes(found)
    more = 0.02 * (k - 1)
    for low, high, lane in bars:
        layers.append(Line([low - more, high + more], [-0.4 - 0.45 * lane] * 2, "join"))
    lanes = 1 + max((lane for *_, lane in bars), default=-1)
    labels = [wrapped(str(learner), _LETTERS) for learner in found.table["learner"]]
    step = 1 if max(map(len, labels)) <= _SHORT else 2
    half = -(-k // 2)
    y = 0.0
    for place, (label, rank) in enumerate(zip(labels, found.table["rank"], strict=True)):
        y = -0.9 - 0.45 * lanes - step * (place if place < half else k - 1 - place)
        side = -1 if place < half else 1
        end = left if place < half else right
        layers.append(Line([rank, rank, end], [0, y, y], "stem"))
        words = f"{label}  {rank:.2f} " if side < 0 else f" {rank:.2f}  {label}"
        layers.append(Text(end, y, words, side, kind="tick"))
    deepest = -0.9 - 0.45 * lanes - step * (half - 0.5)
    x, lines = Axis("", left, right), Axis("", deepest, 2.7)
    return Chart(**_described(found), x=x, y=lines, layers=tuple(layers), frame=False)


def _listed(found: Ranks) -> Chart:
    """The learners one below the other."""
    half, table = found.critical_difference / 2, found.table
    best, rows = float(table["rank"].iloc[0]), rows_axis([*table["learner"]])
    layers: list[Layer] = [
        Band([best - half, best + half], [rows.low] * 2, [rows.high] * 2, kind="best")
    ]
    for place, rank in enumerate(table["rank"]):
        layers.append(Line([rank - half, rank + half], [place, place], "spread"))
    places = [float(place) for place in range(found.k)]
    layers.append(Marks(table["rank"].tolist(), places, kind="ahead"))
    steps = [rank for rank in range(0, found.k + 1, 5 if found.k <= 50 else 20) if rank > 1]
    marks = tuple((float(rank), str(rank)) for rank in sorted({1, *steps, found.k}))
    label = "average rank (1 is best) ± half the critical difference"
    x = Axis(
        label,
        min(best - half, 1) - 0.3,
        max(table["rank"].iloc[-1] + half, found.k) + 0.3,
        marks=marks,
    )
    return Chart(**_described(found), x=x, y=rows, layers=tuple(layers))
