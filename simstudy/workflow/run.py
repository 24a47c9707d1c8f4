"""Running a study, whole or in pieces, and joining the pieces."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TypeAlias, Unpack

from simstudy.engine.execute import execute
from simstudy.engine.plan import Plan, make_plan
from simstudy.engine.task import Cell, CellKey, Task, prepare
from simstudy.engine.workers.worker import limit_memory
from simstudy.errors import SOME_FAILED, SimstudyError
from simstudy.results.kept import foreign, kept_plan, kept_study
from simstudy.results.manifest import filled
from simstudy.results.results import Results
from simstudy.results.store import SHARD, Store
from simstudy.study.study import Study
from simstudy.workflow.options import Options, RunOptions
from simstudy.workflow.refine import refine as add_sizes

_NAMED = 5


@dataclass(frozen=True)
class Step:
    """A model has been finished: where a run stands now.

    Attributes
    ----------
    models, all_models : int
        Models finished, and models in all.
    cells, all_cells : int
        Cells that this run has computed, and cells that it has to compute in all.
    failures : int
        How many of them failed.
    seconds : float
        Since the run began.
    finished : list of Cell
        The cells of the model that was just finished.
    """

    models: int
    all_models: int
    cells: int
    all_cells: int
    failures: int
    seconds: float
    finished: list[Cell]


Progress: TypeAlias = Callable[[Step], object]


class _CodeNeededError(SimstudyError):
    """What was asked for needs code that is not simstudy's own."""


class CellFailedError(SimstudyError):
    """A cell failed in a run that was to stop at the first that does."""

    exit_code = SOME_FAILED


def run_study(
    study: Study,
    out: str | Path | None = None,
    *,
    progress: Progress | None = None,
    **keywords: Unpack[Options],
) -> Results:
    """Run a study and write its results; if they are there already, give those.

    Parameters
    ----------
    study : Study
        From `simstudy.load_study` or `simstudy.make_study`.
    out : str or Path, optional
        The directory for the results; ``results/<name>`` if left out.
    progress : callable, optional
        Called with a `Step` each time a model is finished.
    **keywords
        The fields of `RunOptions`: jobs, cluster, overwrite, report, fail_fast, retry, refine.
    """
    options = RunOptions(**keywords)
    plan = make_plan(study)
    store = Store(_place(study, out))
    with store.locked():
        refine = options.refine
        if refine is None:  # results that were refined stay so
            refine = study.thresholds.refine or bool((store.manifest() or {}).get("refined"))
        reused = store.holds(plan, options.overwrite)
        if options.retry and store.forget_failures():
            reused = False
        if not reused:
            store.begin(study.as_dict(), plan)
            seconds = _run(plan, store, range(plan.models), options, progress)
            store.finish(plan, {"seconds": seconds})
        if refine:
            confidence = study.analysis.confidence

            def compute(wide: Plan, cells: Mapping[int, list[CellKey]]) -> None:
                _compute(wide, store, cells, plan.models, options, progress)

            if add_sizes(Results(store.directory), plan, store, confidence, compute):
                reused = False
        return _results(study, plan, store, reused, options.report)


def _results(study: Study, plan: Plan, store: Store, reused: bool, report: bool) -> Results:
    """What the directory holds, told under the study's present title, with a report if wanted."""
    store.write_study(study.as_dict(), plan)
    results = Results(store.directory, reused)
    if results.manifest["failures"] == results.manifest["cells"]:
        raise SimstudyError(
            f"no cell of the study succeeded; see {store.directory / 'failures.csv'}, which begins "
            f"with: {results.failures['error'].iloc[0]}"
        )
    results.note = "; ".join(store.notes)
    if report and not store.has_report():
        from simstudy.report.files import write_report

        write_report(results, store)
    return results


def run_shard(
    study: Study,
    shard: tuple[int, int],
    out: str | Path | None = None,
    *,
    progress: Progress | None = None,
    **keywords: Unpack[Options],
) -> Store:
    """Run one of several shards of a study, and return where its cells are.

    Of ``shard = (3, 10)``, ten shards in all, the third has models 2, 12, 22 and so on. The
    directory is ``results/<name>-shard-3-of-10`` if it is left out; the rest is as in `run_study`,
    but for a report and for sizes around crossings, which need all models.
    """
    options = RunOptions(**keywords)
    if options.refine:
        raise SimstudyError("--refine needs all models; use it when the shards are joined")
    which, of = shard
    plan = make_plan(study)
    store = Store(_place(study, out, f"-shard-{which}-of-{of}"))
    with store.locked():
        reused = store.holds(plan, options.overwrite)
        if options.retry and store.forget_failures():
            reused = False
        if not reused:
            store.begin(study.as_dict(), plan)
            models = range(which - 1, plan.models, of)
            _run(plan, store, models, options, progress)
            store.set_status(plan, f"{SHARD} {which}/{of}")
    return store


def merge(
    directories: Sequence[str | Path], out: str | Path, *, overwrite: bool = False
) -> Results:
    """Join the cells of one study that were computed in several places, and finish the study.

    Nothing that the pieces hold or name is executed.

    Parameters
    ----------
    directories : sequence of str or Path
        Where the pieces are: shards, runs that were stopped, or complete results.
    out : str or Path
        The directory for the whole.
    overwrite : bool
        Replace what is there.
    """
    pieces = [Store(Path(directory)) for directory in directories]
    if not pieces:
        raise SimstudyError("there are no results to join")
    if overwrite and os.path.realpath(out) in map(os.path.realpath, directories):
        raise SimstudyError(
            f"{out} is one of the pieces, which --overwrite would take away; choose another --out"
        )
    manifests = [manifest for piece in pieces if "measures" in (manifest := piece.found())]
    if not manifests:
        raise SimstudyError(
            f"{pieces[0].directory / 'manifest.json'} is missing or damaged; run the study there "
            "again, which makes it anew"
        )
    study = kept_study(pieces[0].directory)
    plan = kept_plan(study, pieces[0].directory, manifests[0])
    for piece in pieces:
        piece.check(plan)
    whole = Store(Path(out))
    described = ("measures", "columns", "about", "rests_on")
    whole.told = {key: filled(manifests[0])[key] for key in described}
    networks = [filled(manifest)["networks"] for manifest in manifests]
    whole.told["networks"] = dict(sorted((k, v) for found in networks for k, v in found.items()))
    with whole.locked():
        refine = study.thresholds.refine or bool((whole.manifest() or {}).get("refined"))
        if not (reused := whole.holds(plan, overwrite)):
            whole.begin(study.as_dict(), plan)
            whole.take(plan, pieces)
            if missing := [str(model) for model in whole.todo(plan)]:
                shown = ", ".join(missing[:_NAMED]) + (", …" if len(missing) > _NAMED else "")
                raise SimstudyError(
                    f"cells of {len(missing)} of {plan.models} models are in none of the "
                    f"directories (model {shown}); what there is was joined, and "
                    f"simstudy run {whole.directory / 'study.toml'} --out {whole.directory} "
                    "computes the rest"
                )
            whole.finish(plan, {"seconds": None})
        if refine and _refine_joined(study, plan, whole):
            reused = False
        return _results(study, plan, whole, reused, report=True)


def _refine_joined(study: Study, plan: Plan, store: Store) -> bool:
    """Add sizes around crossings, if that executes nothing of others; whether anything changed."""

    def compute(wide: Plan, cells: Mapping[int, list[CellKey]]) -> None:
        if names := foreign(study.as_dict()):
            raise _CodeNeededError(
                f"no sizes were added around crossings, which would execute {', '.join(names)}; "
                f"simstudy run {store.directory / 'study.toml'} --out {store.directory} does it"
            )
        _compute(wide, store, cells, plan.models, RunOptions(), None)

    try:
        return add_sizes(Results(store.directory), plan, store, study.analysis.confidence, compute)
    except _CodeNeededError as error:
        store.notes.append(str(error))
        return False


def _place(study: Study, out: str | Path | None, suffix: str = "") -> Path:
    return Path(out) if out is not None else Path("results") / (study.name + suffix)


def _run(
    plan: Plan,
    store: Store,
    models: Collection[int],
    options: RunOptions,
    progress: Progress | None,
) -> float | None:
    """Compute and keep the cells that are not there yet; the seconds, if there were any."""
    todo = {model: cells for model, cells in store.todo(plan).items() if model in models}
    if not todo:
        return None
    return _compute(plan, store, todo, len(models), options, progress)


def _compute(
    plan: Plan,
    store: Store,
    todo: Mapping[int, list[CellKey]],
    models: int,
    options: RunOptions,
    progress: Progress | None,
) -> float:
    """Compute and keep some cells of a plan; the seconds."""
    started = perf_counter()
    finished, cells_done, failures = models - len(todo), 0, 0
    refused: dict[str, str] = {}
    all_cells = sum(map(len, todo.values()))
    running = contextlib.closing(execute(plan, options.jobs, todo, options.cluster, refused))
    with store.keeping(plan) as keep, running as results:
        for cells in results:
            bad = [cell for cell in cells if cell.status != "ok"]
            if bad and options.fail_fast:
                raise CellFailedError(_describe(bad[0], store))
            keep(cells)
            finished += 1
            cells_done += len(cells)
            failures += len(bad)
            if progress is not None:
                seconds = perf_counter() - started
                progress(Step(finished, models, cells_done, all_cells, failures, seconds, cells))
    store.refused |= refused
    store.notes += [f"the worker {name} was refused: it {why}" for name, why in refused.items()]
    return round(perf_counter() - started, 3)


def run_cell(study: Study, model: int, size: int, learner: str) -> dict[str, float]:
    """Run one cell of a study in this process, and let what goes wrong be raised.

    The cell has the same random streams as in a run of the whole, so its scores are the same to
    the last digit. Returned are its scores by name, and the seconds to fit and to predict.
    """
    from threadpoolctl import threadpool_limits

    from simstudy.analysis.refinement import refinement_grid

    plan = make_plan(study)
    parts = {part.label: part for part in plan.learners}
    for what, value, allowed in (
        ("model", model, range(plan.models)),
        ("size", size, refinement_grid(plan.train_sizes)),
        ("learner", learner, parts),
    ):
        if value not in allowed:
            known = f"0 to {plan.models - 1}" if what == "model" else ", ".join(map(str, allowed))
            if what == "size":
                known = ", ".join(map(str, plan.train_sizes))
            raise SimstudyError(f"the study has no {what} {value}; it has {known}")
    if plan.memory is not None:
        limit_memory(plan.memory)
    prepare(plan)
    with threadpool_limits(1):
        task = Task(plan, model)
        cell = task.score_cell(parts[learner], size, every=True)
    scores = {
        column.name: float(value) for column, value in zip(plan.columns, cell.values, strict=True)
    }
    return {**scores, "fit_seconds": cell.fit_seconds, "predict_seconds": cell.predict_seconds}


def _describe(cell: Cell, store: Store) -> str:
    """A failure in a sentence, with the way to see it again."""
    return (
        f"{cell.learner} failed on model {cell.model} with {cell.size:,} rows ({cell.status}): "
        f"{cell.error}; {store.cell_command(cell)} runs this cell again"
    )
