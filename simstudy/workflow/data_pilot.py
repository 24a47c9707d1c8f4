"""A pilot of a study of data sets: what there is to compute, and how long it takes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from time import perf_counter

from simstudy.engine.execute import execute
from simstudy.engine.plan import make_plan
from simstudy.engine.workers.child import available_processors
from simstudy.sources.tables import Tables
from simstudy.study.study import Study


@dataclass(frozen=True)
class DataSetPilot:
    """The first split of a data set, computed."""

    name: str
    splits: int  # in the study
    train: int  # rows of the first one
    seconds: float  # of all its cells
    failures: tuple[str, ...]  # what went wrong in them


@dataclass(frozen=True)
class DataPilot:
    """The first split of every data set of a study, computed by one process."""

    datasets: tuple[DataSetPilot, ...]
    cells_each: int  # of a split
    jobs: int

    @property
    def splits(self) -> int:
        """The number of splits of all data sets."""
        return sum(each.splits for each in self.datasets)

    @property
    def seconds(self) -> float:
        """The expected run time of all splits, by the number of processes."""
        return sum(each.splits * each.seconds for each in self.datasets) / self.jobs


def run_data_pilot(study: Study, jobs: int | None = None) -> DataPilot:
    """Compute the first split of every data set without saving it.

    Parameters
    ----------
    study : Study
        A study of data sets.
    jobs : int, optional
        The worker processes for which the run time is estimated: all processors by default.
    """
    plan = make_plan(study)
    source = plan.source
    assert isinstance(source, Tables)
    names = [part.dataset for part in source.parts]
    firsts = {names.index(name): splits for name, splits in Counter(names).items()}
    every = {(size, learner.label) for size in plan.train_sizes for learner in plan.learners}
    pilots = []
    started = perf_counter()
    # One process takes the splits in turn, so the time between two is that of the second.
    for cells in execute(plan, 1, dict.fromkeys(firsts, every)):
        part, splits = source.parts[cells[0].model], firsts[cells[0].model]
        failures = tuple(f"{cell.learner}: {cell.error}" for cell in cells if cell.error)
        ended = perf_counter()
        pilots.append(DataSetPilot(part.dataset, splits, part.train, ended - started, failures))
        started = ended
    workers = min(jobs or available_processors(), plan.problems)
    return DataPilot(tuple(pilots), plan.cells_each, workers)
