"""Observed frequency against predicted probability, from cells that are run again.

Results hold scores but no predictions; every cell has its own random streams, so its predictions
can be reproduced exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.engine.evaluation import EXACT, SAMPLED, Trial
from simstudy.engine.plan import Plan, make_plan
from simstudy.engine.task import DRAWING, Task, prepare
from simstudy.errors import SimstudyError
from simstudy.measures.base import modal_class
from simstudy.study.spec import Spec

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.learners.base import Fitted
    from simstudy.study.study import Study

EVERY, MODAL = "every", "modal"
MAX_MODELS = 20
Level = TypeVar("Level", int, str)
CellName: TypeAlias = tuple[int, int, str]  # model, training size and label of the learner


@dataclass(frozen=True)
class Repeated:
    """Cells that were run again for their predictions."""

    table: pd.DataFrame  # one row per learner, size, model and bin; see `reliability`
    models: int
    failed: list[dict[str, object]]  # cells that raised an error
    primary: dict[CellName, float]  # the primary measure of the other cells
    test: str  # "exact" or "sampled"; with both tests, the exact one is used


def reliability(
    study: Study | Plan,
    models: int | None = None,
    size: int | Sequence[int] | None = None,
    bins: int = 10,
    *,
    learners: Collection[str] | None = None,
    classes: str = EVERY,
    without: Collection[CellName] = (),
) -> Repeated:
    """Run cells again in this process and compare predictions with outcomes.

    The first ``models`` models are run (default: all, up to 20), at all training sizes and for all
    learners unless some are given, except the cells in ``without``. Probabilities fall into
    ``bins`` bins of equal width; one on an edge belongs to the upper bin, 1 to the last. With
    ``classes="every"`` the probability of every class is compared with whether it was the true
    one; with ``"modal"`` only that of the most probable class, the first of several, as in
    ``miscalibration``.

    The table has one row for each learner, size, model and nonempty bin: `learner`, `size`,
    `model`, `bin`, `low` and `high` (its edges), `share` (the weight of the model's predictions in
    the bin; 1 over all bins), `predicted` (their mean), `observed` (how often the class was the
    true one) and `count`: predictions, one for each test row and class, or in an exact test one
    for each distinct attribute row and class.
    """
    import pandas as pd
    from threadpoolctl import threadpool_limits

    plan = study if isinstance(study, Plan) else make_plan(study)
    # Other measures are not needed; some require limits, which are slow.
    plan = replace(plan, measured=plan.measured[:1])
    models = min(plan.problems, MAX_MODELS) if models is None else models
    sizes = _selected("size", [size] if isinstance(size, int) else size, plan.train_sizes)
    labels = _selected("learner", learners, [component.label for component in plan.learners])
    components = [component for component in plan.learners if component.label in labels]
    _check(plan, models, bins, classes)
    prepare(plan)
    rows: list[dict[str, object]] = []
    failed: list[dict[str, object]] = []
    primary: dict[CellName, float] = {}
    with threadpool_limits(1):  # as in a run, for identical rounding
        for model in range(models):
            wanted = [
                (n, component)
                for n in sizes
                for component in components
                if (model, n, component.label) not in without
            ]
            for n, label, outcome in _rerun_cells(plan, model, wanted, bins, classes):
                cell = {"learner": label, "size": n, "model": model}
                if isinstance(outcome, str):
                    failed.append(cell | {"error": outcome})
                else:
                    primary[model, n, label] = outcome[0]
                    rows += [cell | row for row in outcome[1]]
    columns = ["learner", "size", "model", "bin", "low", "high"]
    columns += ["share", "predicted", "observed", "count"]
    table = pd.DataFrame(rows, columns=columns)
    test = plan.source.tests[0]
    return Repeated(table, models, failed, primary, test)


def check_repeated(found: Repeated, stored: pd.Series[float]) -> None:
    """Refuse cells whose result differs from the stored primary measure, a series by cell."""
    reason = "the code that made these results differs from the code that runs now"
    for cell in found.failed:
        raise SimstudyError(
            f"{cell['learner']} on model {cell['model']} with {cell['size']:,} rows is stored but "
            f"failed when run again ({cell['error']}); {reason}"
        )
    known: dict[object, float] = stored.to_dict()
    for (model, size, learner), value in found.primary.items():
        was = known[model, size, learner]
        if not np.isclose(value, was, rtol=1e-6, atol=1e-9, equal_nan=True):
            raise SimstudyError(
                f"{learner} on model {model} with {size:,} rows has a {stored.name} of {was:.6g} "
                f"in the results and of {value:.6g} when run again; {reason}"
            )


def _rerun_cells(
    plan: Plan, model: int, wanted: Sequence[tuple[int, Spec]], bins: int, classes: str
) -> Iterator[tuple[int, str, str | tuple[float, list[dict[str, object]]]]]:
    """The cells of one model: size, learner, and the primary measure and bins, or an error."""
    try:
        task = _Rerun(plan, model) if wanted else None
    except (Exception, SystemExit) as error:
        for n, component in wanted:
            yield n, component.label, f"{DRAWING}{type(error).__name__}: {error}"
        return
    for n, component in wanted:
        assert task is not None
        try:
            value = task.repeat(component, n)
        except (Exception, SystemExit) as error:
            yield n, component.label, f"{type(error).__name__}: {error}"
        else:
            yield n, component.label, (value, list(task.binned(bins, classes)))


class _Rerun(Task):
    """A task that keeps the predictions of its last cell."""

    _proba: FloatArray | None = None

    def repeat(self, component: Spec, size: int) -> float:
        """Run a cell again and return its primary measure."""
        self._proba = None
        (value,) = self.score_cell(component, size).values[:1]  # noqa: PD011 (of a cell, not a table)
        return value

    def _answers(
        self, component: Spec, sample: Sample, rng: np.random.Generator
    ) -> tuple[FloatArray, float, float, Fitted | None]:
        answers = super()._answers(component, sample, rng)
        if self._proba is None:  # later calls are for the learner's limit
            self._proba = answers[0]
        return answers

    def binned(self, bins: int, classes: str) -> Iterator[dict[str, object]]:
        """Predictions and outcomes of the last cell, one row for each nonempty bin.

        Weights are first summed over equal attribute rows, so that exact and sampled tests are
        counted in the same way.
        """
        assert self._proba is not None
        proba, tests = self._proba, self._judged.tests
        test = tests.get(EXACT) or tests[SAMPLED]
        weights, happened, times = _totals(test, *proba.shape)
        if classes == MODAL:
            mode = modal_class(proba)[:, None]
            proba, happened = (np.take_along_axis(a, mode, axis=1) for a in (proba, happened))
        else:
            weights, happened = weights / proba.shape[1], happened / proba.shape[1]
        place = np.minimum((proba * bins).astype(np.intp), bins - 1).ravel()
        each = np.broadcast_to(weights[:, None], proba.shape)

        def total(values: FloatArray | IntArray) -> FloatArray:
            each_place = np.broadcast_to(values, proba.shape).ravel().astype(np.float64)
            sums = np.bincount(place, weights=each_place, minlength=bins)
            return sums.astype(np.float64)

        share, predicted = total(each), total(each * proba)
        hits, count = total(happened), total(times[:, None])
        for index in np.flatnonzero(share):
            yield {
                "bin": int(index),
                "low": index / bins,
                "high": (index + 1) / bins,
                "share": float(share[index]),
                "predicted": float(predicted[index] / share[index]),
                "observed": float(hits[index] / share[index]),
                "count": round(float(count[index])),
            }


def _totals(test: Trial, rows: int, classes: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """The weight of each distinct attribute row, in all and with each class, and its count."""
    each = np.ones(len(test.rows)) if test.weights is None else test.weights
    happened = np.bincount(test.rows * classes + test.target, each, rows * classes)
    happened = (happened / each.sum()).reshape(rows, classes)
    weights: FloatArray = happened.sum(axis=1)
    times = np.bincount(test.rows, minlength=rows)
    return weights, happened, times if test.weights is None else (weights > 0).astype(np.intp)


def _selected(kind: str, wanted: Collection[Level] | None, known: Sequence[Level]) -> list[Level]:
    """The requested sizes or learners, in the order of the study."""
    for one in wanted or ():
        if one not in known:
            listed = ", ".join(map(str, known))
            raise SimstudyError(f"the study has no {kind} {one!r}; it has {listed}")
    return [one for one in known if wanted is None or one in wanted]


def _check(plan: Plan, models: int, bins: int, classes: str) -> None:
    """Refuse arguments out of range."""
    if not 1 <= models <= plan.problems:
        raise SimstudyError(f"models is {models}; it must be from 1 to {plan.problems}")
    if bins < 1:
        raise SimstudyError(f"bins is {bins}; it must be at least 1")
    if classes not in (EVERY, MODAL):
        raise SimstudyError(f"classes is '{classes}'; it must be '{EVERY}' or '{MODAL}'")
