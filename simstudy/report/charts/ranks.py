"""Diagrams of average ranks (Demšar 2006, figure 1).

Over models, a bar joins runs of learners within the critical difference. Over data sets, Wilcoxon's
test decides, and learners that do not differ significantly need not be adjacent: a bar joins the
learners that have their marks on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from simstudy.analysis.datasets.across_datasets import OverSets
from simstudy.analysis.models.average_ranks import Ranks
from simstudy.experiments.base import Words
from simstudy.report.charts import spec
from simstudy.report.charts.spec import Axis, Chart, Floats, Line, Marks, Span, Text
from simstudy.report.prose.captions import ranked_at
from simstudy.report.prose.numbers import number

# With more learners than this the bars that join groups would hide each other.
MAX_JOINED = 12
_LETTERS = 20  # of a line of a label
_SHORT = 14  # letters up to which labels have one line


class _Diagram(NamedTuple):
    """Learners and their ranks, the best first, and which of them a bar joins."""

    learners: list[str]
    ranks: list[float]
    groups: Sequence[Sequence[object]]
    critical: float = 0.0  # the critical difference; 0 if it does not decide
    numbers: Mapping[str, int] = {}  # of the learners that have marks of their own

    def marks(self, names: Iterable[object], x: Floats, y: Floats) -> list[spec.Layer]:
        """The marks of some learners with their ranks."""
        if not self.numbers:
            return [Marks(x, y, kind="dot")]
        ranks, layers = dict(zip(self.learners, self.ranks, strict=True)), list[spec.Layer]()
        for name, *at in zip(map(str, names), x, y, strict=True):
            tip = f"{name}: average rank {number(ranks[name], 2)}"
            layers.append(Marks([at[0]], [at[1]], [tip], learner=self.numbers[name]))
        return layers


def ranks(ranking: Ranks, kind: Words) -> Chart:
    """Average ranks along one axis, or of many treatments one below the other (captions.ranks)."""
    columns = ranking.table["learner"].tolist(), ranking.table["rank"].tolist()
    heading = f"{ranked_at(ranking, kind)}; 1 is best"
    return _chart(_Diagram(*columns, ranking.groups, ranking.critical_difference), heading)


def over_sets(
    over: OverSets,
    names: tuple[str, ...] = (),
    letters: float = 0.0,
    joined: bool | None = None,
) -> Chart:
    """Average ranks over data sets; bars join learners that do not differ significantly.

    Parameters
    ----------
    over
        The comparison over data sets.
    names
        The names under which the learners are registered.
    letters
        How many letters fit side by side where labels must stay inside; 0 where they need not.
    joined
        Whether learners stand along one axis; if left out, unless they are many.
    """
    labels, ranks = zip(*over.ranked, strict=True)
    heading = f"Average rank over {len(over.datasets)} data sets, 1 is best"
    numbers = {name: place for place, name in enumerate(over.learners)}
    shown = _Diagram([*labels], [*ranks], over.groups, numbers=numbers)
    return replace(_chart(shown, heading, letters, joined), names=names)


def bars(over: OverSets) -> str:
    """The meaning of the bars of the diagram over data sets."""
    if _too_many(len(over.learners), over.groups):
        return "No bars are drawn because there would be too many; the table lists each pair"
    if not over.groups:
        return "No bar joins two learners: all differ significantly"
    joined = "A bar joins the learners that have their marks on it"
    return f"{joined}: two learners differ significantly if no bar has the marks of both"


def _chart(shown: _Diagram, heading: str, letters: float = 0, joined: bool | None = None) -> Chart:
    each = zip(shown.learners, shown.ranks, strict=True)
    texts = [f"{learner} {number(rank, 2)}" for learner, rank in each]
    last = f"critical difference {number(shown.critical, 2)}"
    if not shown.critical:
        joins = " | ".join(", ".join(map(str, group)) for group in shown.groups)
        last = f"joined by bars: {joins}" if joins else "no bar joins learners"
    joined = len(shown.learners) <= MAX_JOINED if joined is None else joined
    x, y, layers = _joined(shown, letters) if joined else _listed(shown)
    description = f"{'; '.join(texts)}; {last}."
    return Chart(heading, heading, description, x, y, tuple(layers), "ranks", frame=not joined)


def _too_many(k: int, groups: Sequence[Sequence[object]]) -> bool:
    return len(groups) > MAX_JOINED < k


def _joined(shown: _Diagram, letters: float) -> tuple[Axis, Axis, list[spec.Layer]]:
    """The learners along one axis; one unit of the vertical axis is a line of text."""
    k, critical = len(shown.learners), shown.critical
    left, right = 1 - 0.04 * (k - 1), max(k, 1 + critical) + 0.04 * (k - 1)
    layers: list[spec.Layer] = [Line([1, k], [0, 0], "thin")]
    for rank in range(1, k + 1):
        layers += [Line([rank, rank], [0, 0.18], "thin"), Text(rank, 0.85, str(rank), kind="tick")]
    if critical:
        end = 1 + critical
        layers.append(Line([1, 1, 1, end, end, end], [1.62, 1.38, 1.5, 1.5, 1.38, 1.62], "thin"))
        layers.append(Text(1, 2.2, f"critical difference {number(critical, 2)}", 1, kind="tick"))
    # Learners stand at their ranks; those with dots apart, so that none hides another.
    moved = spec.spread(shown.ranks, 0.0 if critical else 0.025 * (k - 1), 1, k) or shown.ranks
    places = dict[object, float](zip(shown.learners, moved, strict=True))
    lanes: list[tuple[float, int]] = []  # the ends of bars
    more, top = 0.02 * (k - 1) if critical else 0.0, -0.9
    for group in shown.groups:
        at = [places[learner] for learner in group]
        taken = {lane for end, lane in lanes if end >= at[0] - 0.1}
        lane = min({*range(len(lanes) + 1)} - taken)  # the first where it touches no other
        lanes.append((at[-1], lane))
        y = -0.4 - 0.45 * lane if critical else -0.75 - 0.7 * lane
        top = min(top, y - 0.95)
        layers.append(Line([at[0] - more, at[-1] + more], [y] * 2, "join"))
        layers += shown.marks(group, at, [y] * len(at)) if not critical else []
    labels = [spec.wrapped(learner, _LETTERS) for learner in shown.learners]
    step, half = 1 if max(map(len, labels)) <= _SHORT else 2, -(-k // 2)
    for place, (label, start, average) in enumerate(zip(labels, moved, shown.ranks, strict=True)):
        text, y = number(average, 2), top - step * min(place, k - 1 - place)
        end, words, side = left, f"{label}  {text} ", -1
        if place >= half:
            end, words, side = right, f" {text}  {label}", 1
        layers.append(Line([start, start, end], [0, y, y], "thin"))
        layers.append(Text(end, y, words, side, kind="tick"))
    bottom, room = top - step * (half - 0.5), 0.0
    layers += [] if critical else shown.marks(shown.learners, moved, [0.0] * k)
    if letters:  # the labels in units of the axis
        longest = min(max(map(len, labels)), _LETTERS) + 7
        room = longest * (right - left) / max(letters - 2 * longest, 10)
        layers.append(Text(left, 0, "average rank ", -1, kind="tick"))
    return Axis("", left - room, right + room), Axis("", bottom, 2.7 if critical else 1.4), layers


def _listed(shown: _Diagram) -> tuple[Axis, Axis, list[spec.Layer]]:
    """The learners one below the other."""
    (first, *_, last), k, half = shown.ranks, len(shown.learners), shown.critical / 2
    rows, layers = spec.rows_axis(shown.learners), list[spec.Layer]()
    if half:
        layers.append(Span([first - half, first + half], [rows.low] * 2, [rows.high] * 2, "best"))
        layers += [Line([r - half, r + half], [i, i], "thick") for i, r in enumerate(shown.ranks)]
    layers += shown.marks(shown.learners, shown.ranks, [*map(float, range(k))])
    steps = [rank for rank in range(0, k + 1, 5 if k <= 50 else 20) if rank > 1]
    marks = tuple((float(rank), str(rank)) for rank in sorted({1, *steps, k}))
    low, high, label = min(first - half, 1) - 0.3, max(last + half, k) + 0.3, "average rank"
    if half:
        label += " ± half the critical difference"
    elif not _too_many(k, shown.groups):
        for group in shown.groups:
            at = [float(shown.learners.index(str(learner))) for learner in group]
            layers.append(Line([high, high], [at[0], at[-1]], "join"))
            layers += shown.marks(group, [high] * len(at), at)
            high += 0.06 * (k - 1)
    return Axis(label, low, high, marks=marks), rows, layers
