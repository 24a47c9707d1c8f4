"""Run a study, whole or in shards, and merge the shards."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple, TypedDict, Unpack

import numpy as np

from simstudy.data.sizes import Size, size_text
from simstudy.engine.execute import execute
from simstudy.engine.plan import Plan, make_plan
from simstudy.engine.task import Cell, CellKey, prepare
from simstudy.engine.workers.worker import limit_memory
from simstudy.errors import SOME_FAILED, SimstudyError
from simstudy.results.read.base import foreign
from simstudy.results.read.model_analyses import ModelResults
from simstudy.results.read.open import Results, recorded_plan, recorded_study, results_of
from simstudy.results.store.manifest import filled
from simstudy.results.store.store import SHARD, Store
from simstudy.study.constants import FAILURES, STUDY
from simstudy.study.study import Study
from simstudy.workflow.live import LivePage
from simstudy.workflow.progress import Progress, Step, shown

if TYPE_CHECKING:
    import pandas as pd

CLOSE_SIZES = "the sizes around each crossing are already close, so refining added no sizes"
NO_CROSSING = (
    "no crossing is established between the sizes studied (no learner is significantly ahead of "
    "another at one size and behind it at another), so refining added no sizes"
)
# What a manifest says of all cells, not of those that were computed.
_DESCRIBED: tuple[str, ...] = ("measures", "columns", "about", "rests_on", "session")
_DESCRIBED += ("parts", "notes", "tables", "transforms")
_MAX_NAMED = 5  # models that an error names
_MAX_ROUNDS = 20  # of adding sizes


class RunOptions(TypedDict, total=False):
    """Options of a run; scores do not depend on the number of jobs or the cluster."""

    jobs: int | None  # worker processes; one per processor if None
    cluster: str | None  # the address of a Dask scheduler, or "local" to start one
    overwrite: bool  # replace existing results
    report: bool  # write tables and figures, not only scores; the default
    fail_fast: bool  # raise an error at the first cell that fails
    retry: bool  # rerun the cells that failed before
    refine: bool | None  # add sizes around crossings; None: as in the study or its results


class _Run(NamedTuple):
    """A run of a study: its plan, where its cells are saved, and how they are computed."""

    study: Study
    plan: Plan
    store: Store
    options: RunOptions
    progress: Progress | None = None

    def results(self, reused: bool = True, runnable: bool = True) -> Results:
        return results_of(self.study, self.plan, self.store.directory, reused, runnable=runnable)


class CellFailedError(SimstudyError):
    """A cell failed in a run with ``fail_fast``."""

    exit_code = SOME_FAILED


def run_study(
    study: Study,
    out: str | Path | None = None,
    *,
    progress: Progress | bool | None = None,
    **options: Unpack[RunOptions],
) -> Results:
    """Run a study and write its results; complete results are reused, interrupted runs resumed.

    Parameters
    ----------
    study : Study
        From `simstudy.load_study` or `simstudy.make_study`.
    out : str or Path, optional
        The directory for the results; ``results/<name>`` if left out.
    progress : bool or callable, optional
        True shows a bar with the time left, False shows nothing; if left out, there is a bar in a
        notebook and nothing elsewhere. A callable is called with a `Step` each time a model is
        finished.
    **options
        The keys of `RunOptions`: jobs (default: one per processor), cluster (the address of a
        Dask scheduler, or "local"), overwrite, report, fail_fast, retry, refine.
    """
    _check_call(study, options)
    if options.get("refine"):
        study.demand_models("--refine")
    plan = make_plan(study)
    store = Store(_place(study, out))
    with store.folder.locked(), shown(progress) as update:
        run, refine = _Run(study, plan, store, options, update), options.get("refine")
        if refine is None:  # refined results stay refined
            refine = study.thresholds.refine or _is_refined(store)
        watched = LivePage(study, plan, store, update) if options.get("report", True) else update
        reused, seconds = _compute_missing(run._replace(progress=watched), range(plan.problems))
        if not reused:
            store.finish(plan, {"seconds": seconds})
        if refine:
            reused &= not _add_sizes(run)
            if not _is_refined(store):
                made = run.results()
                assert isinstance(made, ModelResults)
                crossed = any(course.changes for course in made.findings().courses)
                store.notes.append(CLOSE_SIZES if crossed else NO_CROSSING)
        store.write_study(study.as_dict(), plan)
        return reported(run.results(reused), store, options.get("report", True))


def _is_refined(store: Store) -> bool:
    return bool((store.folder.manifest() or {}).get("refined"))


def _check_call(study: object, options: RunOptions) -> None:
    """Refuse arguments that no run has."""
    for name in options:
        if name not in RunOptions.__annotations__:
            names = ", ".join(RunOptions.__annotations__)
            raise TypeError(f"unexpected keyword argument '{name}'; known: {names}")
    jobs: object = options.get("jobs")
    if jobs is not None and (not isinstance(jobs, int | np.integer) or jobs is True or jobs < 1):
        allowed = "a whole number from 1, or None for one per processor"
        raise SimstudyError(f"jobs: {jobs!r} is not allowed; it must be {allowed}")
    if not isinstance(study, Study):
        raise SimstudyError(
            f"expected a study, not {type(study).__name__}: load_study reads one from a file, "
            "make_study makes one from a dictionary"
        )


def reported(results: Results, store: Store, report: bool) -> Results:
    """The results, with a report if wanted."""
    if results.manifest["failures"] == results.manifest["cells"]:
        raise SimstudyError(
            f"every cell of the study failed; see {store.directory / FAILURES}; the first "
            f"error: {results.failures['error'].iloc[0]}"
        )
    if report:
        from simstudy.report.pages.home import update_home

        if not store.has_report():
            from simstudy.report.files import write_report

            write_report(results, store)
        store.notes += update_home(store.directory)
    results.note = "; ".join(store.notes)
    return results


def run_shard(
    study: Study,
    shard: tuple[int, int],
    out: str | Path | None = None,
    *,
    progress: Progress | bool | None = None,
    **options: Unpack[RunOptions],
) -> Store:
    """Run one shard of a study, and return the store of its cells.

    ``shard = (3, 10)`` is the third of ten shards, with models 2, 12, 22 and so on. The directory
    is ``results/<name>-shard-3-of-10`` if left out; the rest is as in `run_study`, except for the
    report and refinement, which need all models.
    """
    _check_call(study, options)
    if options.get("refine"):
        raise SimstudyError("--refine needs all models; use it when the shards are merged")
    which, of = shard
    plan = make_plan(study)
    store = Store(_place(study, out, f"-shard-{which}-of-{of}"))
    with store.folder.locked(), shown(progress) as update:
        models = range(which - 1, plan.problems, of)
        reused, _ = _compute_missing(_Run(study, plan, store, options, update), models)
        if not reused:
            store.set_status(plan, f"{SHARD} {which}/{of}")
    return store


def _compute_missing(run: _Run, models: range) -> tuple[bool, float | None]:
    """Compute what a store lacks of some models; whether it lacks nothing, and the seconds."""
    study, plan, store, options, _ = run
    reused = store.holds(plan, options.get("overwrite", False))
    if options.get("retry") and store.cells.forget_failures(plan):
        reused = False
    if reused:
        return True, None
    store.begin(study.as_dict(), plan)
    todo = {model: cells for model, cells in store.cells.todo(plan).items() if model in models}
    store.cells.note_kept(plan)
    return False, _compute(run, plan, todo, len(models))


def merge(
    directories: Sequence[str | Path], out: str | Path, *, overwrite: bool = False
) -> Results:
    """Merge the cells of one study from several directories, and finish the study.

    No code of the study is executed.

    Parameters
    ----------
    directories : sequence of str or Path
        The pieces: shards, interrupted runs, or complete results.
    out : str or Path
        The directory for the merged results.
    overwrite : bool
        Replace existing results.
    """
    if not (pieces := [Store(Path(directory)) for directory in directories]):
        raise SimstudyError("there are no results to merge")
    if overwrite and os.path.realpath(out) in map(os.path.realpath, directories):
        raise SimstudyError(f"--overwrite would delete {out}, one of the pieces; change --out")
    manifests = [each for piece in pieces if "measures" in (each := piece.folder.required())]
    manifests = manifests or [pieces[0].folder.required(whole=True)]  # which refuses
    study = recorded_study(pieces[0].directory)
    plan = recorded_plan(study, pieces[0].directory, manifests[0])
    for piece in pieces:
        piece.check(plan)
    whole = Store(Path(out))
    first = filled(manifests[0])
    networks = sorted(item for each in manifests for item in filled(each)["networks"].items())
    described = [*_DESCRIBED, *["classes"] * bool(first["classes"])]
    whole.descriptions = {**{key: first[key] for key in described}, "networks": dict(networks)}
    run = _Run(study, plan, whole, {})
    with whole.folder.locked():
        refine = study.thresholds.refine or _is_refined(whole)
        if not (reused := whole.holds(plan, overwrite)):
            whole.begin(study.as_dict(), plan)
            whole.cells.take(plan, [piece.cells for piece in pieces])
            missing = [str(model) for model in whole.cells.todo(plan)]
            whole.cells.note_kept(plan)
            if missing:
                shown = ", ".join(missing[:_MAX_NAMED]) + ", …" * (len(missing) > _MAX_NAMED)
                raise SimstudyError(
                    f"cells of {len(missing)} of {plan.problems} models are in none of the "
                    f"directories (model {shown}); the others were merged; compute the rest with: "
                    f"simstudy run {whole.directory / STUDY} --out {whole.directory}"
                )
            whole.finish(plan, {"seconds": None})
        if refine:
            reused &= not _add_sizes(run, joined=True)
        whole.write_study(study.as_dict(), plan)
        return reported(run.results(reused, runnable=False), whole, report=True)


def _add_sizes(run: _Run, joined: bool = False) -> bool:
    """Add sizes around each crossing of the primary measure; whether that changes the results.

    Each round adds sizes for the learners concerned, on all models. They depend on the scores
    only, so that a resumed run adds the same sizes. To ``joined`` results none is added if that
    executes plugins.
    """
    import pandas as pd

    study, plan, store, *_ = run
    results = run.results(runnable=not joined)
    learners: dict[int, set[str]] = {}
    table = results.scores
    for _ in range(_MAX_ROUNDS):
        proposed = _proposed(results, table)
        new = {size: proposed[size] - learners.get(size, set()) for size in proposed}
        if not any(new.values()):
            break
        for size, labels in new.items():
            learners.setdefault(size, set()).update(labels)
        wide = plan.experiment.at_doses(plan, sorted(learners))
        missing = {
            model: concerned
            for model, keys in store.cells.todo(wide).items()
            if (concerned := [key for key in keys if key[1] in learners[key[0]]])
        }
        if missing and joined and (names := foreign(study.as_dict())):
            store.notes.append(
                f"no sizes were added around crossings, because that executes {', '.join(names)}; "
                f"add them with: simstudy run {store.directory / STUDY} --out {store.directory}"
            )
            return False
        _compute(run, wide, missing, plan.problems)
        added = store.cells.columns(wide).scores(learners).to_pandas()
        table = pd.concat([results.scores, added], ignore_index=True)
    wide = plan.experiment.at_doses(plan, sorted(learners))
    return store.write_refined(plan, wide, learners)


def _proposed(results: Results, table: pd.DataFrame) -> dict[int, set[str]]:
    """The sizes to add next, and for which learners."""
    from simstudy.analysis.models.thresholds import compared, sizes_to_add

    if len(results.treatments) < 2 or len(results.doses) < 2:
        return {}
    info, tests = results.info(), results.study.analysis
    pairs = compared(
        table,
        value=results.measures[0],
        greater_is_better=info.greater_is_better,
        confidence=tests.confidence,
        adjustment=tests.adjustment,
        share=info.share,
    )
    return sizes_to_add(pairs, results.study.doses)


def _place(study: Study, out: str | Path | None, suffix: str = "") -> Path:
    return Path(out) if out is not None else Path("results") / (study.name + suffix)


def _compute(run: _Run, plan: Plan, todo: Mapping[int, list[CellKey]], models: int) -> float | None:
    """Compute and save some cells of a plan; returns the seconds, None without any cells."""
    _, _, store, options, progress = run
    if not todo:
        return None
    started = perf_counter()
    finished, cells_done, failures = models - len(todo), 0, 0
    all_cells, refused = sum(map(len, todo.values())), dict[str, str]()
    parallel = options.get("jobs"), todo, options.get("cluster")
    running = contextlib.closing(execute(plan, *parallel, refused))
    with store.cells.saving(plan) as save, running as results:
        for cells in results:
            bad = [cell for cell in cells if cell.status != "ok"]
            if bad and options.get("fail_fast"):
                raise CellFailedError(_description(bad[0], store))
            save(cells)
            finished += 1
            cells_done += len(cells)
            failures += len(bad)
            if progress is not None:
                seconds, word = perf_counter() - started, plan.source.problem_word
                counts = finished, models, cells_done, all_cells, failures
                progress(Step(*counts, seconds, cells, word))
    store.refused |= refused
    store.notes += [f"the worker {name} was refused: it {why}" for name, why in refused.items()]
    return round(perf_counter() - started, 3)


def run_cell(study: Study, model: int, size: float, learner: str) -> dict[str, float]:
    """Run one cell of a study in this process, and let errors be raised.

    The cell has the same random streams and therefore the same scores as in a run of the study.
    The size is a number of rows or, of data sets, a share. Returned are its scores by name, and
    the seconds to fit and to predict.
    """
    from threadpoolctl import threadpool_limits

    from simstudy.analysis.models.thresholds import refinement_grid

    plan = make_plan(study)
    dose = Size.of(size).number
    allowed = plan.source.allows(dose, plan.doses, refinement_grid(plan.doses))
    learners = {component.label: component for component in plan.treatments}
    for role, value, choices, names in (
        (plan.source.problem_word, model, range(plan.problems), [f"0 to {plan.problems - 1}"]),
        ("size", size_text(dose), [size_text(dose)] * allowed, map(size_text, plan.doses)),
        (plan.experiment.treatment, learner, learners, learners),
    ):
        if value not in choices:
            raise SimstudyError(f"the study has no {role} {value}; it has {', '.join(names)}")
    if plan.memory is not None:
        limit_memory(plan.memory)
    prepare(plan)
    with threadpool_limits(1):
        cell = plan.experiment.task(plan, model).score_cell(learners[learner], dose, every=True)
    names = [column.name for column in plan.columns]
    scores = dict(zip(names, map(float, cell.values), strict=True))
    return {**scores, "fit_seconds": cell.fit_seconds, "predict_seconds": cell.predict_seconds}


def _description(cell: Cell, store: Store) -> str:
    """A failure, with the command that reproduces it."""
    return (
        f"{cell.learner} failed on model {cell.model} with {size_text(cell.size)} rows "
        f"({cell.status}): {cell.error}; reproduce it with: {store.cells.command(cell)}"
    )
