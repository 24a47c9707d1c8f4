"""The forecast of a pilot study in sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simstudy.texts import counted

if TYPE_CHECKING:
    from simstudy.workflow.data_pilot import DataPilot
    from simstudy.workflow.pilot import Pilot

_NAMES = {"mean": "every mean", "difference": "every paired difference between {}s"}


def forecast(pilot: Pilot, mcse: float | None, difference: float | None, power: float) -> list[str]:
    """Sentences on precision, power and time."""
    from simstudy.analysis import precision

    study = pilot.study
    names = {kind: name.format(study.experiment.treatment) for kind, name in _NAMES.items()}
    kinds = [kind for kind in _NAMES if not math.isnan(pilot.spread(kind))]
    error = pilot.precision["mcse_error"].max()
    number = int(pilot.precision["sd"].notna().sum())
    lines = [
        f"Pilot: {pilot.models} of {study.models} models; {number} standard deviations, known "
        f"to about ±{error:.0%}. Those below are the largest, so they and the numbers of models "
        "derived from them tend to be too high.",
        f"The study as it is, {study.models:,} models: {duration(pilot.seconds(study.models))}.",
    ]
    for kind in kinds:
        spread = pilot.spread(kind)
        reached = spread / math.sqrt(study.models)
        lines.append(
            f"  {names[kind]}: standard deviation between models up to {spread:.4f}, so a "
            f"Monte-Carlo standard error up to {reached:.4f}"
        )
    lacking = pilot.without_spread
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        lines.append(
            f"  not covered, because scores are not finite: {', '.join(lacking[:3])}{more}"
        )
    if mcse is not None:
        lines.append(f"For a Monte-Carlo standard error of {mcse:g}:")
        for kind in kinds:
            models = precision.models_needed(pilot.spread(kind), mcse)
            lines.append(f"  {names[kind]}: {models:,} models, {duration(pilot.seconds(models))}")
    if difference is not None and "difference" in kinds:
        level, m, spread = study.analysis.confidence, pilot.tests, pilot.spread("difference")
        reached = precision.power(difference, spread, study.models, level, m)
        models = precision.models_for_power(difference, spread, power, level, m)
        lines += [
            f"A difference of {difference:g} between two {study.experiment.name} at one size, by a "
            f"paired t test at {1 - level:.3g}" + (f"/{m} (Bonferroni):" if m > 1 else ":"),
            f"  {study.models:,} models detect it with power {reached:.2f}; power {power:g} takes "
            f"{models:,} models, {duration(pilot.seconds(models))}",
        ]
    return lines


def data_forecast(pilot: DataPilot) -> list[str]:
    """Sentences on the cells of a study of data sets and their time."""
    sets = counted(len(pilot.datasets), "data set")
    lines = [
        f"{sets}, {counted(pilot.splits, 'split')}, {counted(pilot.cells_each, 'cell')} each: "
        f"{pilot.splits * pilot.cells_each:,} cells. The first split of every data set was run.",
        f"The study as it is, {counted(pilot.jobs, 'process', 'processes')}: "
        f"{duration(pilot.seconds)}, without its report.",
    ]
    for one in pilot.datasets:
        lines.append(
            f"  {one.name}: {counted(one.splits, 'split')}, the first with {one.train:,} training "
            f"rows in {one.seconds:.2g} s"
        )
        lines += [f"    failed: {failure}" for failure in one.failures]
    return lines


def duration(seconds: float) -> str:
    """A duration in a suitable unit."""
    if seconds < 100:
        return f"about {seconds:.0f} s"
    if seconds < 100 * 60:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"
