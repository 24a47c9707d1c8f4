"""One task: all cells of one model, from its seed to its scores.

This is what a worker process runs; it needs numpy and what the study's own learners need.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any, TypeAlias

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.engine.evaluation import evaluation, population
from simstudy.engine.plan import Part, Plan
from simstudy.engine.scoring import InvalidProbabilitiesError, Scorer, check_probabilities
from simstudy.engine.seeds import stream, stream_key
from simstudy.families.model import Model
from simstudy.registry import FAMILIES, LEARNERS, REGISTRIES, execute_plugin
from simstudy.sample import Sample

CellKey: TypeAlias = tuple[int, str]  # training size and label of the learner
TaskKey: TypeAlias = tuple[int, Collection[CellKey] | None]  # a model, and which of its cells
DRAWING = "drawing the model: "
interruptible = True  # whether an interrupt is meant for this process, not a learner's own doing
_LONGEST, _LONGEST_TRACEBACK = 2_000, 20_000  # letters that are kept of what went wrong


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


def run_task(
    plan: Plan,
    model: int,
    wanted: Collection[CellKey] | None = None,
    drawn: Callable[[], object] = lambda: None,
) -> Iterator[Cell]:
    """Draw a model and its data, fit the learners to the training sets, and score them.

    Parameters
    ----------
    plan : Plan
        The study.
    model : int
        Which of its models.
    wanted : collection, optional
        The training sizes and labels of the cells to run; all, if left out.
    drawn : callable
        Called when the model and its data are there.
    """
    prepare(plan)
    blanks = blank_cells(plan, model, wanted)
    try:
        task = Task(plan, model)
        trains = task.training_sets({cell.size for cell in blanks})
    except (Exception, SystemExit) as error:
        yield from (failed(cell, error, "error", DRAWING) for cell in blanks)
        return
    drawn()
    parts = {part.label: part for part in plan.learners}
    for cell in blanks:
        yield task.run_cell(parts[cell.learner], trains[cell.size])


def blank_cells(plan: Plan, model: int, wanted: Collection[CellKey] | None = None) -> list[Cell]:
    """The cells of a model as they are before anything is known of them, in their order."""
    return [
        _blank(plan, model, size, part)
        for size in plan.train_sizes
        for part in plan.learners
        if wanted is None or (size, part.label) in wanted
    ]


class Task:
    """One model with all that its cells share."""

    def __init__(self, plan: Plan, model: int) -> None:
        self._plan, self._model = plan, model
        self._truth: Model = build(FAMILIES, plan.family).draw(self._stream("model"))
        self._judged = evaluation(self._truth, plan.test_size, self._stream("test"))
        self._score = Scorer(
            plan.columns,
            plan.prior,
            plan.cutoff,
            plan.base,
            self._truth,
            self._judged,
            plan.reward,
        )
        self._limits: dict[str, tuple[FloatArray | None, str]] = {}

    def training_sets(self, sizes: Collection[int]) -> dict[int, Sample]:
        """A training set of each size: drawn anew, or the first rows of the largest."""
        if self._plan.training == "independent":
            return {size: self._truth.sample(size, self._stream(f"train/{size}")) for size in sizes}
        whole = self._truth.sample(max(sizes), self._stream("train"))
        return {size: Sample(whole.codes[:size], whole.cards) for size in sizes}

    @cached_property
    def _population(self) -> Sample:
        return population(self._truth)

    def run_cell(self, part: Part, train: Sample) -> Cell:
        """Fit one learner to one training set and score its predictions; failure is a status."""
        try:
            return self.score_cell(part, train)
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and interruptible:
                raise
            cell = _blank(self._plan, self._model, len(train), part)
            invalid = isinstance(error, InvalidProbabilitiesError)
            return failed(cell, error, "invalid" if invalid else "error")

    def score_cell(self, part: Part, train: Sample) -> Cell:
        """Fit one learner to one training set and score its predictions; failure is raised."""
        cell = _blank(self._plan, self._model, len(train), part)
        rng = self._stream(_role(part, len(train)))
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            proba, fit_seconds, predict_seconds = self._answers(part, train, rng)
            limit, trouble = self._limit(part) if self._score.needs_limit else (None, "")
            values = self._score(proba, train, limit)
        heard = plain_text(f"{raised[0].category.__name__}: {raised[0].message}") if raised else ""
        warning = "; ".join(text for text in (trouble, heard) if text)
        return replace(
            cell,
            values=tuple(values),
            fit_seconds=fit_seconds,
            predict_seconds=predict_seconds,
            warning=warning,
        )

    def _answers(
        self, part: Part, sample: Sample, rng: np.random.Generator
    ) -> tuple[FloatArray, float, float]:
        """What a learner answers after a sample, and the seconds to fit and to predict."""
        learner, rows = self._learner(part), self._judged.rows
        started = perf_counter()
        knows = getattr(learner, "knows_model", False)
        fitted: Any = None if knows else learner.fit(sample, rng)
        fit_ended = perf_counter()
        if knows:
            proba = self._truth.posterior(rows)
        elif self._judged.all_rows and hasattr(fitted, "predict_grid"):
            proba = fitted.predict_grid()
        else:
            proba = fitted.predict_proba(rows)
        predict_ended = perf_counter()
        proba = check_probabilities(proba, len(rows), sample.classes)
        return proba, fit_ended - started, predict_ended - fit_ended

    def _learner(self, part: Part) -> Any:
        """A learner, told the true structure if it can use that."""
        learner = build(LEARNERS, part)
        given_structure = getattr(learner, "given_structure", None)
        if given_structure is None:
            return learner
        return given_structure([component.parents for component in self._truth.components])

    def _limit(self, part: Part) -> tuple[FloatArray | None, str]:
        """What a learner answers after the whole population, or why there is no such answer."""
        if part.label not in self._limits:
            try:
                self._check_weights(part)
                rng = self._stream(f"limit/{part.identity}")
                self._limits[part.label] = self._answers(part, self._population, rng)[0], ""
            except (Exception, SystemExit) as error:
                trouble = f"no limit: {type(error).__name__}: {error}"
                self._limits[part.label] = None, trouble
        return self._limits[part.label]

    def _check_weights(self, part: Part) -> None:
        """Refuse a learner that takes no notice of weights: its limit would be nonsense."""
        if getattr(self._learner(part), "knows_model", False):
            return
        cards = self._truth.cards
        # The same attributes once with each class: only weights can tell the classes apart.
        rows = np.zeros((10 * cards[-1], len(cards)), dtype=np.intp)
        rows[:, -1] = np.arange(len(rows)) % cards[-1]
        weights = np.where(rows[:, -1] == cards[-1] - 1, 1e6, 1.0)
        one, other = (
            self._answers(part, sample, self._stream(f"limit/{part.identity}"))[0]
            for sample in (Sample(rows, cards), Sample(rows, cards, weights))
        )
        if cards[-1] > 1 and np.array_equal(one, other):
            raise ValueError("the learner takes no notice of the weights of rows")

    def _stream(self, role: str) -> np.random.Generator:
        return stream(self._plan.seed, self._plan.family.identity, self._model, role)


def prepare(plan: Plan) -> None:
    """Make the study's plugins known in this process."""
    for plugin in plan.plugins:
        execute_plugin(plugin)
    registries = {registry.kind: registry for registry in REGISTRIES}
    for kind, name, thing in plan.interactive:
        registries[kind].register(name, thing)


def build(registry: Any, part: Part) -> Any:
    """The family or learner with its parameters."""
    return registry.get(part.name)(**part.parameters)


def failed(cell: Cell, error: BaseException, status: str, during: str = "") -> Cell:
    """The cell of something that went wrong, with what is needed to find out why."""
    return replace(
        cell,
        status=status,
        error=plain_text(f"{during}{type(error).__name__}: {error}"),
        traceback=plain_text("".join(traceback.format_exception(error)), _LONGEST_TRACEBACK),
    )


def plain_text(text: str, longest: int = _LONGEST) -> str:
    """Text that any file can hold, without its middle if it is very long."""
    if len(text) > longest:
        text = f"{text[: longest // 2]} […] {text[-longest // 2 :]}"
    return text.encode("utf-8", "backslashreplace").decode()


def _blank(plan: Plan, model: int, size: int, part: Part) -> Cell:
    values = (float("nan"),) * len(plan.columns)
    key = stream_key(plan.seed, plan.family.identity, model, _role(part, size))
    return Cell(model, size, part.label, values, stream=key)


def _role(part: Part, size: int) -> str:
    """What a learner's own random stream is for."""
    return f"learner/{part.identity}/{size}"
