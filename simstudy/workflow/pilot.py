"""A pilot of a study: how precise it will be, how many models that takes, and how long."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING

from simstudy.engine.workers.child import available_processors
from simstudy.errors import SimstudyError
from simstudy.results.store import Store
from simstudy.study.study import Study
from simstudy.workflow.run import Progress, Step, run_study

if TYPE_CHECKING:
    import pandas as pd

PILOT = 12


@dataclass(frozen=True)
class Pilot:
    """What the first models of a study tell of the whole.

    Attributes
    ----------
    study : Study
        The study.
    models : int
        How many of its models were run.
    precision : DataFrame
        Of the primary measure, as `simstudy.analysis.precision.precision` gives it.
    """

    study: Study
    models: int
    precision: pd.DataFrame
    started: float
    each: float
    report: float

    def seconds(self, models: int) -> float:
        """How long a run of so many models should take."""
        return self.started + models * self.each + self.report

    def models_needed(self, kind: str, mcse: float) -> int:
        """How many models bring every mean, or difference, to a Monte-Carlo standard error."""
        from simstudy.analysis.precision import models_needed

        return models_needed(self.spread(kind), mcse)

    def power(self, difference: float, models: int, confidence: float, m: int) -> float:
        """How probably a paired t test, one of m, finds a difference between two learners."""
        from simstudy.analysis.precision import power

        return power(difference, self.spread("difference"), models, confidence, m)

    def models_for_power(self, difference: float, power: float, confidence: float, m: int) -> int:
        """How many models such a test needs to find it with some probability."""
        from simstudy.analysis.precision import models_for_power

        return models_for_power(difference, self.spread("difference"), power, confidence, m)

    @property
    def without_spread(self) -> list[str]:
        """The means and differences that the pilot has no spread of, by name."""
        rows = self.precision[self.precision["sd"].isna()]
        names = rows["first"].where(rows["second"] == "", rows["first"] + " − " + rows["second"])
        return [f"{name} at {size:,}" for name, size in zip(names, rows["size"], strict=True)]

    def spread(self, kind: str) -> float:
        """The largest standard deviation between models of a "mean" or a "difference"."""
        return float(self.precision.loc[self.precision["kind"] == kind, "sd"].max())


def run_pilot(
    study: Study, models: int = PILOT, jobs: int | None = None, progress: Progress | None = None
) -> Pilot:
    """Run the first models of a study, keep nothing, and see how they vary and how long they take.

    Parameters
    ----------
    study : Study
        The study; its first models are run, with their own seeds.
    models : int
        How many; all, if the study has fewer.
    jobs : int, optional
        Worker processes, as in `run_study`.
    progress : callable, optional
        As in `run_study`.
    """
    from simstudy.analysis.precision import precision
    from simstudy.report.files import write_report

    models = min(models, study.models)
    workers = min(jobs or available_processors(), models)
    finished: list[float] = []

    def note(step: Step) -> None:
        finished.append(perf_counter())
        if progress is not None:
            progress(step)

    with tempfile.TemporaryDirectory() as directory:
        start = perf_counter()
        few = replace(study, models=models)
        results = run_study(few, directory + "/pilot", jobs=jobs, report=False, progress=note)
        table = precision(results.scores, value=results.measures[0])
        if table.loc[table["kind"] == "mean", "sd"].isna().all():
            raise SimstudyError("the pilot has no finite scores to tell a spread from")
        drawn = perf_counter()
        write_report(results, Store(results.directory))
        report = perf_counter() - drawn
    # The first models wait for the workers to start; the others come at a steady pace.
    first = min(workers, models - 1)
    pace = (finished[-1] - finished[first - 1]) / (models - first)
    started = max(finished[first - 1] - start - first * pace, 0.0)
    return Pilot(study, models, table, started, pace, report)
