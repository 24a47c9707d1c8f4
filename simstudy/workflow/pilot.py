"""A pilot of a study: its precision, the number of models needed, and the run time."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from simstudy.engine.workers.child import available_processors
from simstudy.errors import SimstudyError
from simstudy.results.store import Store
from simstudy.study.study import Study
from simstudy.workflow.progress import Progress, Step, shown
from simstudy.workflow.run import run_study

if TYPE_CHECKING:
    import pandas as pd

PILOT = 12


@dataclass(frozen=True)
class Pilot:
    """The precision and run time of the first models of a study."""

    study: Study
    models: int  # number of models run
    precision: pd.DataFrame  # of the primary measure; see `simstudy.analysis.precision`
    started: float  # seconds to start the workers, per model, and for the report
    each: float
    report: float

    def seconds(self, models: int) -> float:
        """The expected run time for a number of models."""
        return self.started + models * self.each + self.report

    @property
    def tests(self) -> int:
        """The number m of tests between learners that the study's adjustment is for."""
        import numpy as np

        from simstudy.analysis.adjustment import family_sizes

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
    study: Study,
    models: int = PILOT,
    jobs: int | None = None,
    progress: Progress | bool | None = None,
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
    from simstudy.analysis.precision import precision
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
            raise SimstudyError(
                "the pilot has no finite scores to estimate a standard deviation from"
            )
        drawn = perf_counter()
        write_report(results, Store(results.directory))
        report = perf_counter() - drawn
    # The first models include the start of the workers; the others have a steady pace.
    first = min(workers, models - 1)
    pace = (finished[-1] - finished[first - 1]) / (models - first)
    started = max(finished[first - 1] - start - first * pace, 0.0)
    return Pilot(study, models, table, started, pace, report)
