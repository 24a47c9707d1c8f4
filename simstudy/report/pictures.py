"""The figures of the report page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from simstudy.analysis.costs import median_seconds
from simstudy.analysis.findings import Findings
from simstudy.analysis.regret import Regret
from simstudy.analysis.thresholds import Course
from simstudy.report.html import charts, panels, svg
from simstudy.report.html.networks import network
from simstudy.report.html.panels import Panel
from simstudy.report.prose.design import span
from simstudy.report.prose.numbers import brief

if TYPE_CHECKING:
    from simstudy.results.results import Results

_GRID = 72  # places of a curve of differences, about
_EXAMPLES = 3  # models that are drawn


def curves(findings: Findings, index: int) -> tuple[charts.Drawn, charts.Drawn]:
    """Learning curves, wide and narrow."""
    design, lines = findings.design, []
    for place, label in enumerate(design.learners):
        means = findings.means_of(label)
        ends = ([mean.mean for mean in means], [mean.lower for mean in means])
        upper, limit = [mean.upper for mean in means], findings.limits.get(label, ())
        lines.append(charts.Curve(place, label, *ends, upper, limit))
    wide, narrow = (
        charts.learning_curves(
            lines, design.sizes, findings.info, f"curves{index}{kind}", width, findings.ceiling
        )
        for kind, width in (("w", 780.0), ("n", 360.0))
    )
    return wide, narrow


def differences(
    findings: Findings, index: int, pairs: Sequence[tuple[str, str]], courses: Sequence[Course]
) -> tuple[list[Panel], bool]:
    """A panel for each pair, and whether a band is cut."""
    design = findings.design
    steps = max(4, round(_GRID / (len(design.sizes) - 1)))
    made, cut = [], False
    for place, (first, second) in enumerate(pairs):
        curve = findings.curve(first, second, steps)
        numbers = f"{design.learners.index(first)} {design.learners.index(second)}"
        title = f"{brief(second)} ahead of {brief(first)}"
        if curve.note:
            made.append(Panel(title, None, numbers, curve.note))
            continue
        both = {first, second}
        changes = [c for course in courses if {course.first, course.second} == both
                   for c in course.changes]  # fmt: skip
        drawn = panels.difference(curve, changes, design.sizes, f"difference{index}-{place}")
        cut = cut or drawn.cut
        made.append(Panel(title, drawn.picture, numbers))
    return made, cut


def models(findings: Findings, index: int) -> list[Panel]:
    """A panel for each learner with the score of every model."""
    scores, name = findings.scores, findings.measure
    ends = svg.reach(scores[name].tolist())
    made = []
    for place, label in enumerate(findings.design.learners):
        mine, key = scores[scores["learner"] == label], f"models{index}-{place}"
        picture = panels.models(mine, name, place, findings.design.sizes, ends, key)
        made.append(Panel(label, picture, str(place)))
    return made


def regret(results: Results, split: Regret) -> list[Panel]:
    """A panel for each learner with the parts of its regret."""
    return panels.regret(split.table, results.sizes, results.learners)


def seconds(results: Results) -> list[Panel]:
    """Median seconds to fit and to predict against training size."""
    keys = ("fit", "predict")
    medians = median_seconds(results.timings).set_index(["learner", "size"])
    known = [value for value in medians.to_numpy().ravel().tolist() if value > 0]
    ends = (min(known) / 1.5, max(known) * 1.5) if known else (1e-4, 1e-2)
    made = []
    for key in keys:
        column = medians[f"{key}_seconds"]
        each = [
            (place, label, [float(column[label, size]) for size in results.sizes])
            for place, label in enumerate(results.learners)
        ]
        picture = panels.seconds(each, results.sizes, key, ends, f"seconds-{key}")
        made.append(Panel(f"Median time to {key}", picture, ""))
    return made


def examples(results: Results) -> tuple[list[Panel], str]:
    """The first models, as the manifest has them, and a note on them."""
    made: list[Panel] = []
    mixture, whole = False, results.study.models
    for index, model in sorted(results.manifest["networks"].items())[:_EXAMPLES]:
        cards, parts = model["cards"], model["components"]
        note = (
            f"{len(cards)} variables of {span(min(cards), max(cards))} values; "
            f"{math.prod(cards):,} configurations"
        )
        if parts > 1:
            mixture = True
            note += f"; component 1 of {parts}, weight {model['weight']:.3g}"
        picture = network(model["parents"], model["names"], f"network{len(made)}", f"Model {index}")
        made.append(Panel(f"Model {index}", picture, "", note))
    if not made:
        return made, "None is shown: the manifest of these results has no models."
    note = (
        f"The first {len(made)} of {whole} models. The target is on top, filled; its arcs are "
        "drawn lighter."
    )
    return made, note + (
        " Each model is a mixture of networks with weights; its first component is shown."
    ) * mixture
