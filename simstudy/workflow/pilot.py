"""A pilot of a study: precision, the number of models needed and the run time, in sentences."""

from __future__ import annotations

import math
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from simstudy.engine.execute import execute
from simstudy.engine.plan import make_plan
from simstudy.engine.workers.child import available_processors
from simstudy.errors import SimstudyError
from simstudy.results.store.store import Store
from simstudy.sources.tables import Tables
from simstudy.study.study import Study
from simstudy.texts import counted
from simstudy.workflow.progress import Progress, Step, shown
from simstudy.workflow.run import run_study

if TYPE_CHECKING:
    import pandas as pd

_NAMES = {"mean": "every mean", "difference": "every paired difference between {}s"}


@dataclass(frozen=True)
class Pilot:
    """The precision and run time of the first models of a study."""

    study: Study
    models: int  # number of models run
    precision: pd.DataFrame  # of the primary measure; see `simstudy.analysis.models.precision`
    each: float  # seconds per model
    overhead: float  # seconds to start the workers, and for the report

    def seconds(self, models: int) -> float:
        """The expected run time for a number of models."""
        return models * self.each + self.overhead

    @property
    def tests(self) -> int:
        """The number m of tests between learners that the study's adjustment is for."""
        import numpy as np

        from simstudy.analysis.tests.adjustment import family_sizes

        pairs = np.full(len(self.study.doses), math.comb(len(self.study.labels), 2))
        return int(family_sizes(self.study.analysis.adjustment, pairs)[0])

    @property
    def without_spread(self) -> list[str]:
        """The means and differences without an estimated standard deviation, by name."""
        rows = self.precision[self.precision["sd"].isna()]
        names = rows["first"].where(rows["second"] == "", rows["first"] + " − " + rows["second"])
        return [f"{name} at {size:,}" for name, size in zip(names, rows["size"], strict=True)]

    def spread(self, kind: str) -> float:
        """The largest standard deviation between models of a "mean" or a "difference"."""
        return float(self.precision.loc[self.precision["kind"] == kind, "sd"].max())


def run_pilot(
    study: Study, models: int = 12, jobs: int | None = None, progress: Progress | bool | None = None
) -> Pilot:
    """Run the first models of a study without saving them, to estimate precision and run time.

    Parameters
    ----------
    study : Study
        The study; its first models are run, with their own seeds.
    models : int
        Their number; all if the study has fewer.
    jobs : int, optional
        Worker processes, as in `run_study`.
    progress : bool or callable, optional
        As in `run_study`.
    """
    from simstudy.analysis.models.precision import precision
    from simstudy.report.files import write_report

    study.demand_models("a pilot")
    models = min(models, study.models)
    workers = min(jobs or available_processors(), models)
    finished: list[float] = []

    def note(step: Step) -> None:
        finished.append(perf_counter())
        if update is not None:
            update(step)

    with tempfile.TemporaryDirectory() as directory, shown(progress) as update:
        start = perf_counter()
        few = replace(study, source=study.source.first(models))
        results = run_study(few, directory + "/pilot", jobs=jobs, report=False, progress=note)
        table = precision(results.scores, value=results.measures[0])
        if table.loc[table["kind"] == "mean", "sd"].isna().all():
            raise SimstudyError("the pilot has too few finite scores for a standard deviation")
        drawn = perf_counter()
        write_report(results, Store(results.directory))
        report = perf_counter() - drawn
    # The first models include the start of the workers; the others have a steady pace.
    first = min(workers, models - 1)
    pace = (finished[-1] - finished[first - 1]) / (models - first)
    started = max(finished[first - 1] - start - first * pace, 0.0)
    return Pilot(study, models, table, pace, started + report)


def forecast(pilot: Pilot, mcse: float | None, difference: float | None, power: float) -> list[str]:
    """Sentences on precision, power and time."""
    from simstudy.analysis.models.precision import models_for_power, models_needed
    from simstudy.analysis.models.precision import power as power_of

    study = pilot.study
    names = {kind: name.format(study.experiment.treatment) for kind, name in _NAMES.items()}
    spreads = {kind: spread for kind in _NAMES if not math.isnan(spread := pilot.spread(kind))}
    error = pilot.precision["mcse_error"].max()
    number = int(pilot.precision["sd"].notna().sum())
    lines = [
        f"Pilot: {pilot.models} of {study.models} models; {number} standard deviations, estimated "
        f"to about ±{error:.0%}. The largest are shown, so they and the numbers of models derived "
        "from them tend to be too high.",
        f"As specified, {study.models:,} models: {duration(pilot.seconds(study.models))}.",
    ]
    lines += [
        f"  {names[kind]}: standard deviation between models up to {spread:.4f}, so a Monte-Carlo "
        f"standard error up to {spread / math.sqrt(study.models):.4f}"
        for kind, spread in spreads.items()
    ]
    lacking = pilot.without_spread
    if lacking:
        more = f" and {len(lacking) - 3} more" if len(lacking) > 3 else ""
        lines.append(f"  not covered, for lack of finite scores: {', '.join(lacking[:3])}{more}")
    if mcse is not None:
        lines.append(f"For a Monte-Carlo standard error of {mcse:g}:")
        for kind, spread in spreads.items():
            models = models_needed(spread, mcse)
            lines.append(f"  {names[kind]}: {models:,} models, {duration(pilot.seconds(models))}")
    if difference is not None and "difference" in spreads:
        level, m, spread = study.analysis.confidence, pilot.tests, spreads["difference"]
        reached = power_of(difference, spread, study.models, level, m)
        models = models_for_power(difference, spread, power, level, m)
        lines += [
            f"A difference of {difference:g} between two {study.experiment.name} at one size, by a "
            f"paired t test at {1 - level:.3g}" + (f"/{m} (Bonferroni):" if m > 1 else ":"),
            f"  {study.models:,} models detect it with power {reached:.2f}; power {power:g} takes "
            f"{models:,} models, {duration(pilot.seconds(models))}",
        ]
    return lines


def data_forecast(study: Study, jobs: int | None = None) -> list[str]:
    """Sentences on the cells of a study of data sets and their time.

    The first split of every data set is computed, by one process, without saving it. The run time
    is for a number of worker processes: all processors by default.
    """
    plan = make_plan(study)
    source = plan.source
    assert isinstance(source, Tables)
    names = [part.dataset for part in source.parts]
    firsts = {names.index(name): splits for name, splits in Counter(names).items()}
    every = {(size, each.label) for size in plan.doses for each in plan.treatments}
    jobs = min(jobs or available_processors(), plan.problems)
    lines, total, started = [], 0.0, perf_counter()
    # One process takes the splits in turn, so the time between two is that of the second.
    for cells in execute(plan, 1, dict.fromkeys(firsts, every)):
        part, splits, ended = source.parts[cells[0].model], firsts[cells[0].model], perf_counter()
        seconds, started = ended - started, ended
        total += splits * seconds / jobs
        lines.append(
            f"  {part.dataset}: {counted(splits, 'split')}, the first with {part.train:,} training "
            f"rows in {seconds:.2g} s"
        )
        lines += [f"    failed: {cell.learner}: {cell.error}" for cell in cells if cell.error]
    return [
        f"{counted(len(firsts), 'data set')}, {counted(plan.problems, 'split')}, "
        f"{counted(plan.cells_each, 'cell')} each: {plan.problems * plan.cells_each:,} cells. The "
        "first split of every data set was run.",
        f"As specified, {counted(jobs, 'process', 'processes')}: {duration(total)} without report.",
        *lines,
    ]


def duration(seconds: float) -> str:
    """A duration in a suitable unit."""
    if seconds < 100:
        return f"about {seconds:.0f} s"
    if seconds < 100 * 60:
        return f"about {seconds / 60:.0f} min"
    return f"about {seconds / 3600:.1f} h"
