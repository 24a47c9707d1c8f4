"""One task: all cells of one model, from its seed to its scores.

This is what a worker process runs; it needs numpy and what the study's own learners need.
"""

from __future__ import annotations

import traceback
import warnings
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.engine.plan import Part, Plan
from simstudy.engine.scoring import InvalidProbabilitiesError, Scorer, check_probabilities
from simstudy.engine.seeds import stream, stream_key
from simstudy.registry import FAMILIES, LEARNERS, REGISTRIES, load_plugins
from simstudy.sample import Sample, distinct_rows, read_only


@dataclass(frozen=True)
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


def run_task(plan: Plan, model: int) -> list[Cell]:
    """Draw a model and its data, fit every learner to every training set, and score it."""
    prepare(plan)
    try:
        truth = build(FAMILIES, plan.family).draw(_stream(plan, model, "model"))
        test = truth.sample(plan.test_size, _stream(plan, model, "test"))
        scorer = Scorer(plan.measures, plan.prior, plan.cutoff, plan.base, truth, test)
        trains = [
            truth.sample(size, _stream(plan, model, f"train/{size}")) for size in plan.train_sizes
        ]
    except (Exception, SystemExit) as error:
        return [
            failed(_blank(plan, model, size, part), error, "error", "drawing the model: ")
            for size in plan.train_sizes
            for part in plan.learners
        ]
    # A test row that occurs again is predicted once.
    first, inverse = distinct_rows(test.attributes, truth.cards[:-1])
    rows = Rows(read_only(np.asfortranarray(test.attributes[first])), inverse)
    return [
        run_cell(plan, model, part, train, rows, scorer)
        for train in trains
        for part in plan.learners
    ]


@dataclass(frozen=True)
class Rows:
    """The distinct rows to predict, and which of them each test row is."""

    distinct: np.ndarray[Any, np.dtype[np.intp]]
    inverse: np.ndarray[Any, np.dtype[np.intp]]


def run_cell(plan: Plan, model: int, part: Part, train: Sample, rows: Rows, scorer: Scorer) -> Cell:
    """Fit one learner to one training set and score its predictions; failure is a status."""
    cell = _blank(plan, model, len(train), part)
    try:
        learner = build(LEARNERS, part)
        rng = _stream(plan, model, _role(part, len(train)))
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            started = perf_counter()
            fitted = learner.fit(train, rng)
            fit_ended = perf_counter()
            proba: FloatArray = fitted.predict_proba(rows.distinct)
            predict_ended = perf_counter()
            proba = check_probabilities(proba, len(rows.distinct), train.classes)
            values = scorer(proba[rows.inverse], train)
    except InvalidProbabilitiesError as error:
        return failed(cell, error, "invalid")
    except (Exception, SystemExit) as error:
        return failed(cell, error, "error")
    return replace(
        cell,
        values=tuple(values),
        fit_seconds=fit_ended - started,
        predict_seconds=predict_ended - fit_ended,
        warning=f"{raised[0].category.__name__}: {raised[0].message}" if raised else "",
    )


def prepare(plan: Plan) -> None:
    """Make the study's plugins known in this process."""
    load_plugins(plan.plugins)
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
        error=f"{during}{type(error).__name__}: {error}",
        traceback="".join(traceback.format_exception(error)),
    )


def _blank(plan: Plan, model: int, size: int, part: Part) -> Cell:
    values = (float("nan"),) * len(plan.measures)
    key = stream_key(plan.seed, plan.family.identity, model, _role(part, size))
    return Cell(model, size, part.label, values, stream=key)


def _role(part: Part, size: int) -> str:
    """What a learner's own random stream is for."""
    return f"learner/{part.identity}/{size}"


def _stream(plan: Plan, model: int, role: str) -> np.random.Generator:
    return stream(plan.seed, plan.family.identity, model, role)
