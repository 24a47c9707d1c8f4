"""Two learners against each other: paired differences, and who overtakes whom."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

from simstudy.analysis.findings import Findings
from simstudy.analysis.thresholds import Course, Overtaking
from simstudy.report.charts.spec import (
    Axis,
    Band,
    Chart,
    Layer,
    Line,
    Marks,
    Rule,
    Text,
    cut_reach,
    rows_axis,
    sizes_axis,
)
from simstudy.report.prose.crossings import estimate
from simstudy.report.prose.numbers import signed

MAX_PAIRS = 15  # more make no readable figure
_GRID = 72  # points of a curve, about
CUT = "Bands that reach the edge are wider than they are drawn."


def all_pairs(findings: Findings) -> list[tuple[str, str]]:
    """Every two learners."""
    return list(itertools.combinations(findings.design.learners, 2))


def shown_pairs(findings: Findings) -> list[tuple[str, str]]:
    """The pairs that get a panel: all, or others with the best learner at the largest size."""
    pairs, learners = all_pairs(findings), findings.design.learners
    if len(pairs) <= MAX_PAIRS:
        return pairs
    best = findings.ranked(findings.design.sizes[-1])[0]
    return [(other, best) for other in learners if other != best][:MAX_PAIRS]


def difference(findings: Findings, first: str, second: str, crossings: bool = True) -> Chart:
    """How far the second learner is ahead against training size, with bands and crossings."""
    sizes, unit = findings.design.sizes, findings.info.unit
    curve = findings.curve(first, second, max(4, round(_GRID / max(len(sizes) - 1, 1))))
    table = curve.table
    x, middle = table["size"].tolist(), table["difference"].tolist()
    low, high, all_low, all_high = (
        table[key].tolist() for key in ("lower", "upper", "band_lower", "band_upper")
    )
    ends, cut = cut_reach([0.0, *middle], all_low + all_high)
    studied = table[table["studied"]].to_dict("records")
    tips = [
        f"{second} ahead of {first} at {row['size']:,.0f} rows: {signed(row['difference'])} "
        f"[{signed(row['lower'])}, {signed(row['upper'])}]"
        for row in studied
    ]
    layers: list[Layer] = [
        Band(x, all_low, all_high, kind="band-all"),
        Band(x, low, high, kind="band-each"),
        Rule(0.0, kind="base"),
        Line(x, middle),
        Marks([r["size"] for r in studied], [r["difference"] for r in studied], tips, "dot"),
    ]
    found = _crossings(findings, first, second) if crossings else []
    for one in found:
        layers.append(Line([one.lower, one.upper], [0.0, 0.0], "interval"))
        layers.append(
            Marks([one.crossing], [0.0], [f"crossing at about {estimate(one)} rows"], "crossing")
        )
    where = " and ".join(f"{one.crossing:,.0f}" for one in found)
    learners = findings.design.learners
    return Chart(
        f"{second}\nahead of {first}",
        f"{second} ahead of {first}",
        f"{second} is ahead of {first} by {signed(middle[0])} at {sizes[0]:,} rows and by "
        f"{signed(middle[-1])} at {sizes[-1]:,}."
        + f" Crossing at about {where} rows."
        * bool(where),
        sizes_axis(sizes),
        Axis(f"difference ({unit})" if unit else "difference", *ends, signed=True),
        tuple(layers),
        kind="difference",
        learners=(learners.index(first), learners.index(second)),
        notes=(CUT,) * cut,
        absent=curve.note,
    )


def _crossings(findings: Findings, first: str, second: str) -> list[Overtaking]:
    """The estimated crossings of two learners."""
    courses = [c for c in findings.courses if {c.first, c.second} == {first, second}]
    return [change for course in courses for change in course.changes if change.estimated]


class Row(NamedTuple):
    """A line of the overview: a change of the learner ahead, or a pair without one."""

    course: Course
    change: Overtaking | None

    @property
    def ahead(self) -> str | None:
        """The learner that overtakes, or the one ahead wherever one is."""
        return self.course.leader if self.change is None else self.change.ahead

    @property
    def label(self) -> str:
        """Whom the line is about."""
        if self.ahead is None:
            return f"{self.course.first}\nand {self.course.second}"
        verb = "overtakes" if self.change else "ahead of"
        return f"{self.ahead}\n{verb} {self.course.other(self.ahead)}"


def threshold_rows(courses: Sequence[Course], most: int, leader: str) -> tuple[list[Row], str]:
    """The lines that there is room for, by their first change, and a sentence on which these are."""
    every = [Row(c, change) for c in _by_change(courses) for change in (c.changes or (None,))]
    if len(every) <= most:
        return every, ""
    changing = [row for row in every if row.change]
    best = [row for row in every if leader in (row.course.first, row.course.second)]
    for kept, what in (
        (changing, "all in which one overtakes the other"),
        (best, f"those of {leader}, the best at the largest size"),
    ):
        if 0 < len(kept) <= most:
            return kept, f"Of {len(every)} lines {what}."
    return (changing or best)[:most], f"Of {len(every)} lines the first {most}."


def _by_change(courses: Sequence[Course]) -> list[Course]:
    """Pairs in the order of their first change, those without one at the end."""
    return sorted(courses, key=lambda c: c.changes[0].after if c.changes else math.inf)


def thresholds(rows: Sequence[Row], sizes: Sequence[int], measure: str) -> Chart:
    """Who overtakes whom, one line for each change or pair without one.

    Dots are the sizes at which a learner is ahead by the tests: dark for the one named first, light
    for the other. The bar lies between the sizes at which this changes; a diamond and a dark bar
    are the estimate and its interval.
    """
    layers: list[Layer] = []
    told = []
    for place, row in enumerate(rows):
        course, change = row
        y = float(place)
        told.append(row.label.replace("\n", " "))
        if row.ahead is None:
            words = "none shown" if course.analysed else "not analysed"
            layers.append(Text(sizes[0], y, words, side=1))
            continue
        if change:
            layers.append(Line([change.before, change.after], [y, y], "bracket"))
            told[-1] += f" between {change.before:,.0f} and {change.after:,.0f} rows"
        for learner, kind in ((row.ahead, "ahead"), (course.other(row.ahead), "behind")):
            at = course.ahead_at(learner)
            tips = [f"{learner} is ahead at {size:,.0f} rows" for size in at]
            layers.append(Marks(at, [y] * len(at), tips, kind))
        if change and change.estimated:
            layers.append(Line([change.lower, change.upper], [y, y], "estimate"))
            tip = f"crossing at about {estimate(change)} rows"
            layers.append(Marks([change.crossing], [y], [tip], "crossing"))
    return Chart(
        "",
        f"Who overtakes whom in {measure}",
        "; ".join(told) + ".",
        sizes_axis(sizes),
        rows_axis([row.label for row in rows]),
        tuple(layers),
    )
