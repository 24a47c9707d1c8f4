"""The figures of the report page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from simstudy.analysis.costs import median_seconds
from simstudy.analysis.findings import Findings
from simstudy.analysis.regret import Regret
from simstudy.report.charts import curves as lines
from simstudy.report.charts import pairs, spread, svg
from simstudy.report.charts.network import network
from simstudy.report.charts.svg import Panel, Picture
from simstudy.report.prose.design import span

if TYPE_CHECKING:
    from simstudy.results.results import Results

_EXAMPLES = 3  # models that are drawn


def curves(findings: Findings, index: int) -> tuple[Picture, Picture, tuple[str, ...]]:
    """Learning curves, wide and narrow, and notes on them."""
    chart = lines.learning_curves(findings)
    wide = svg.draw(chart, f"curves{index}w", svg.CURVES, labels=True)
    return wide, svg.draw(chart, f"curves{index}n", svg.NARROW), chart.notes


def differences(
    findings: Findings, index: int, shown: Sequence[tuple[str, str]], crossings: bool
) -> tuple[list[Panel], list[str]]:
    """A panel for each pair, and notes on them; with crossings, if they are known."""
    charts = [pairs.difference(findings, *pair, crossings=crossings) for pair in shown]
    notes = dict.fromkeys(note for chart in charts for note in chart.notes)
    return svg.panels(charts, f"difference{index}"), [*notes]


def models(findings: Findings, index: int) -> list[Panel]:
    """A panel for each learner with the score of every model."""
    return svg.panels(spread.models(findings), f"models{index}")


def regret(results: Results, split: Regret) -> list[Panel]:
    """A panel for each learner with the parts of its regret."""
    return svg.panels(spread.regret(split, results.learners, "").charts, "regret")


def seconds(results: Results) -> list[Panel]:
    """Median seconds to fit and to predict against training size."""
    charts = lines.seconds(median_seconds(results.timings), results.learners, results.sizes)
    return svg.panels(charts, "seconds", svg.TIMES)


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
        laid_out = network(model["parents"], model["names"], brief=True)
        picture = svg.draw_network(laid_out, f"network{len(made)}", f"Model {index}")
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
