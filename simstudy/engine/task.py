"""One task: all cells of one model, from its seed to its scores.

This is what a worker process runs; it imports numpy and what the study's learners need.
"""

from __future__ import annotations

import math
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from simstudy.arrays import FloatArray, read_only
from simstudy.components.plugins import directory_restored, execute_plugin
from simstudy.components.registry import LEARNERS, REGISTRIES, Spec, build, knows_model, no_limit
from simstudy.data.sample import Sample
from simstudy.engine import scoring
from simstudy.engine.evaluation import Trial, population
from simstudy.engine.plan import Plan
from simstudy.engine.scoring import Scorer, check_probabilities
from simstudy.errors import describe
from simstudy.experiments.base import ScoreColumn
from simstudy.sources.changes.world import Population
from simstudy.texts import shortened

if TYPE_CHECKING:
    from simstudy.learners.base import Fitted, Learner

CellKey: TypeAlias = tuple[int, str]  # training size and label of the learner
TaskKey: TypeAlias = tuple[int, Collection[CellKey] | None]  # a model, and which of its cells
DRAWING, DRAWING_ROWS = "drawing the model: ", "drawing the training rows: "
interruptible = True  # whether a KeyboardInterrupt comes from the user, not from a learner
_MAX_TEXT, _MAX_TRACEBACK = 2_000, 20_000  # characters


@dataclass(frozen=True, slots=True)
class Cell:
    """The outcome of one learner on one training set."""

    model: int
    size: int
    learner: str
    values: tuple[float, ...]
    status: str = "ok"
    fit_seconds: float = float("nan")
    predict_seconds: float = float("nan")
    warning: str = ""
    error: str = ""
    traceback: str = ""
    stream: str = ""
    drawn: str = ""  # a digest of the model, or of the split
    answers: str = ""  # predictions on a data set, if they are kept


class NoPrimaryError(ValueError):
    """The primary measure has no value; ``values`` holds those of the others."""

    def __init__(self, message: str, values: tuple[float, ...]) -> None:
        super().__init__(message)
        self.values = values


def run_task(
    plan: Plan,
    model: int,
    wanted: Collection[CellKey] | None = None,
    drawn: Callable[[], object] = lambda: None,
) -> Iterator[Cell]:
    """Draw a model and its data, fit the learners to the training sets, and score them.

    ``wanted`` restricts the task to some cells; ``drawn`` is called once the model is drawn.
    """
    prepare(plan)
    try:
        task = plan.experiment.task(plan, model)
    except BaseException as error:
        if _is_interrupt(error):
            raise
        blanks = blank_cells(plan, model, wanted)
        yield from (failed(cell, error, "error", DRAWING) for cell in blanks)
        return
    drawn()
    for size, component in _wanted_cells(plan, wanted):
        yield task.run_cell(component, size)


def blank_cells(plan: Plan, model: int, wanted: Collection[CellKey] | None = None) -> list[Cell]:
    """The cells of a model before they are run, in their order."""
    return [_blank(plan, model, *cell) for cell in _wanted_cells(plan, wanted)]


def _wanted_cells(plan: Plan, wanted: Collection[CellKey] | None) -> Iterator[tuple[int, Spec]]:
    for size in plan.doses:
        for component in plan.treatments:
            if wanted is None or (size, component.label) in wanted:
                yield size, component


class Task:
    """One model with everything that its cells share."""

    def __init__(self, plan: Plan, model: int) -> None:
        self._plan, self._model = plan, model
        self._foreign = {name for name, _ in plan.sources}  # components that are not built in
        self._isolated = state_restored if plan.sources else nullcontext[None]
        with self._isolated():
            self._problem = plan.source.problem(plan, model)
        self._truth, self._judged = self._problem.truth, self._problem.judged
        self._score = Scorer(self._scored_columns(), plan, self._problem, self._foreign)
        self._limits: dict[str, tuple[FloatArray | None, str]] = {}
        self._train: tuple[int, Sample] | None = None

    def _scored_columns(self) -> list[ScoreColumn]:
        """The columns that the predictions of a learner are scored by."""
        return self._plan.columns

    def training_set(self, size: int) -> Sample:
        """The training set of a size; the last one is cached."""
        if self._train is None or self._train[0] != size:
            self._train = None  # freed before the next one is drawn
            self._train = size, self._problem.draw(size)
        return self._train[1]

    @property
    def _known_truth(self) -> Population:
        """The truth, where it is known."""
        assert self._truth is not None, "what needs the truth is refused when a study is loaded"
        return self._truth

    @cached_property
    def _population(self) -> Sample:
        assert self._problem.training is not None, "as the truth"
        return population(self._problem.training)

    def run_cell(self, component: Spec, size: int) -> Cell:
        """Fit a learner to a training set and score its predictions; a failure is a status."""
        during = DRAWING_ROWS
        try:
            self.training_set(size)
            during = ""
            return self.score_cell(component, size)
        except BaseException as error:
            if _is_interrupt(error):
                raise
            cell = self._blank(component, size)
            invalid = isinstance(error, scoring.InvalidProbabilitiesError)
            if isinstance(error, NoPrimaryError):
                cell = replace(cell, values=error.values)
            return failed(cell, error, "invalid" if invalid else "error", during)

    def score_cell(self, component: Spec, size: int, every: bool = False) -> Cell:
        """Fit a learner to a training set and score its predictions; a failure is raised.

        A secondary measure without a value is named in a warning; with ``every``, its error is
        raised.
        """
        cell, train = self._blank(component, size), self.training_set(size)
        rng = self._stream(role(component, size))
        with warnings.catch_warnings(record=True) as raised, self._isolated():
            warnings.simplefilter("always")
            proba, fit_seconds, predict_seconds, fitted = self._answers(component, train, rng)
            limit, trouble = self._limit(component) if self._score.needs_limit else (None, "")
            scored = self._score(proba, train, limit, fitted)
        values, troubles = self._valued(scored, trouble, every)
        if raised:
            troubles.append(plain_text(f"{raised[0].category.__name__}: {raised[0].message}"))
        return replace(
            cell,
            values=values,
            fit_seconds=fit_seconds,
            predict_seconds=predict_seconds,
            answers=self._problem.answers(proba) if self._plan.keep_answers else "",
            warning="; ".join(troubles),
        )

    def rescored(self, cell: Cell) -> Cell:
        """A cell with the values of all measures, from the predictions that it keeps."""
        blank = (math.nan,) * len(self._plan.columns)
        if not cell.answers:
            return replace(cell, values=blank)
        if cell.drawn != self._problem.digest:
            raise ValueError(f"model {cell.model} differs from when it was first drawn")
        proba = self._problem.predictions(cell.answers)
        check_probabilities(proba, len(self._judged.rows), self._problem.classes)
        with self._isolated():
            scored = self._score(proba, self.training_set(cell.size))
        values, troubles = self._valued(scored, "", every=False, refuse=False)
        kept = [cell.warning] if cell.warning else []
        return replace(cell, values=values, warning="; ".join(dict.fromkeys(kept + troubles)))

    def predictions(self, cell: Cell) -> tuple[FloatArray, Trial]:
        """The predictions that a cell keeps, for distinct rows, and the test, if possible exact."""
        return self._problem.predictions(cell.answers), self._judged.test

    def row_values(self, proba: FloatArray, size: int) -> list[FloatArray | None]:
        """The values of every measure for each test row; None of measures over sets of rows."""
        with self._isolated():
            return self._score.row_values(proba, self.training_set(size))

    def _valued(
        self, scored: list[float | BaseException], no_limit: str, every: bool, refuse: bool = True
    ) -> tuple[tuple[float, ...], list[str]]:
        """The values, NaN where a measure has none, and warnings.

        With ``refuse``, a primary measure without a value is an error.
        """
        values = tuple(math.nan if isinstance(value, BaseException) else value for value in scored)
        troubles = [no_limit] if no_limit else []
        for column, error in zip(self._plan.columns, scored, strict=True):
            if not isinstance(error, BaseException):
                continue
            if _is_interrupt(error):
                raise error
            limited = isinstance(error, scoring.NoLimitError)
            why = no_limit if limited else f"no {column.name}: {_reason(error)}"
            if refuse and column.label == self._plan.measured[0].label:
                raise NoPrimaryError(why, values) from error
            if every and not limited:
                raise error
            if not limited:
                troubles.append(plain_text(why))
        return values, troubles

    def _answers(
        self, component: Spec, sample: Sample, rng: np.random.Generator
    ) -> tuple[FloatArray, float, float, Fitted | None]:
        """Predictions of a learner fitted to a sample, seconds to fit and to predict, and the fit.

        Tables that other learners have counted are charged as if this one had counted them.
        """
        learner = self._learner(component)
        sample, rows = self._problem.seen(component, learner, sample)
        foreign = component.name in self._foreign
        if foreign:  # gets copies, so that it cannot modify shared arrays
            sample = sample.copy()
            rows = rows.copy() if isinstance(rows, Sample) else read_only(rows.copy(order="F"))
        else:
            sample = sample.metered()
        started = perf_counter()
        knows = knows_model(learner)
        fitted: Any = None if knows else learner.fit(sample, rng)
        fit_ended, shared = perf_counter(), sample.shared_seconds
        if knows:
            proba = self._known_truth.posterior(self._judged.rows)
        elif self._judged.all_rows and hasattr(fitted, "predict_grid"):
            proba = fitted.predict_grid()
        else:
            proba = fitted.predict_proba(rows)
        predict_ended = perf_counter()
        if foreign:  # may still write to the array it returned
            proba = np.array(proba)
        proba = check_probabilities(proba, len(self._judged.rows), self._problem.classes)
        fit_seconds = fit_ended - started + shared
        predict_seconds = predict_ended - fit_ended + sample.shared_seconds - shared
        return proba, fit_seconds, predict_seconds, fitted

    def _learner(self, component: Spec) -> Learner:
        """A learner, which receives the true structure if it can use it."""
        learner = build(LEARNERS, component)
        if self._problem.training is None or not hasattr(learner, "given_structure"):
            return learner
        networks = self._problem.training.model.components
        return learner.given_structure([tuple(map(tuple, network.parents)) for network in networks])

    def _limit(self, component: Spec) -> tuple[FloatArray | None, str]:
        """Predictions of a learner fitted to the whole population, or why there are none."""
        if component.label not in self._limits:
            try:
                self._check_weights(component)
                rng = self._stream(f"limit/{component.identity}")
                proba = self._answers(component, self._population, rng)[0]
                self._limits[component.label] = proba, ""
            except BaseException as error:
                if _is_interrupt(error):
                    raise
                self._limits[component.label] = None, plain_text(f"no limit: {describe(error)}")
        return self._limits[component.label]

    def _check_weights(self, component: Spec) -> None:
        """Refuse a learner that has no limit or ignores weights: its limit would be meaningless."""
        learner = self._learner(component)
        if knows_model(learner):
            return
        if reason := no_limit(learner):
            raise ValueError(reason)
        tried, name = self._plan.uses_weights, component.identity
        if name not in tried and self._known_truth.cards[-1] > 1:
            tried[name] = self._uses_weights(component)
        if not tried.get(name, True):
            raise ValueError("the learner ignores the weights of rows")

    def _uses_weights(self, component: Spec) -> bool:
        """Whether a learner predicts otherwise if only the weights of rows tell classes apart."""
        cards = self._known_truth.cards
        rows = np.zeros((10 * cards[-1], len(cards)), dtype=np.intp)
        rows[:, -1] = np.arange(len(rows)) % cards[-1]
        weights = np.where(rows[:, -1] == cards[-1] - 1, 1e6, 1.0)
        with warnings.catch_warnings():  # they would be those of the first model in a process
            warnings.simplefilter("ignore")
            plain, weighted = (
                self._answers(component, sample, self._stream(f"limit/{component.identity}"))[0]
                for sample in (Sample(rows, cards), Sample(rows, cards, weights))
            )
        return not np.array_equal(plain, weighted)

    def _blank(self, component: Spec, size: int) -> Cell:
        return _blank(self._plan, self._model, size, component, self._problem.digest)

    def _stream(self, role: str) -> np.random.Generator:
        return self._plan.stream(self._model, role)


def prepare(plan: Plan) -> None:
    """Register the study's plugins in this process."""
    for plugin in plan.plugins:
        execute_plugin(plugin)
    registries = {registry.kind: registry for registry in REGISTRIES}
    for kind, name, definition in plan.interactive:
        registries[kind].register(name, definition)


def failed(cell: Cell, error: BaseException, status: str, during: str = "") -> Cell:
    """The cell of a failure, with its error and traceback."""
    return replace(
        cell,
        status=status,
        error=plain_text(during + _reason(error)),
        traceback=plain_text(_traceback(error), _MAX_TRACEBACK),
    )


def _reason(error: BaseException) -> str:
    """The reason of a failure; that of an undefined value without the type of the error."""
    undefined = isinstance(error, scoring.UndefinedError | NoPrimaryError)
    return str(error) if undefined else describe(error)


def _traceback(error: BaseException) -> str:
    try:
        return "".join(traceback.format_exception(error))
    except Exception:  # the error's own text fails
        return "".join(traceback.format_tb(error.__traceback__))


def _is_interrupt(error: BaseException) -> bool:
    """Whether the user interrupts this process."""
    return isinstance(error, KeyboardInterrupt) and interruptible


@contextmanager
def state_restored() -> Iterator[None]:
    """Restore what foreign code may change: the working directory, numpy's error state."""
    with directory_restored(), np.errstate():
        yield


def plain_text(text: str, longest: int = _MAX_TEXT) -> str:
    """Text that can be encoded as UTF-8, its middle cut out if it is very long."""
    return shortened(text, longest).encode("utf-8", "backslashreplace").decode()


def _blank(plan: Plan, model: int, size: int, component: Spec, drawn: str = "") -> Cell:
    values = (float("nan"),) * len(plan.columns)
    key = plan.stream_key(model, plan.experiment.role(component, size))
    return Cell(model, size, component.label, values, stream=key, drawn=drawn)


def role(component: Spec, size: int) -> str:
    """The role of a learner's random stream."""
    return f"learner/{component.identity}/{size}"
