"""How often what learners gave a probability came about: cells run again for their predictions.

Scores are kept, predictions are not; since every cell has its own random streams, they can be had
again to the last digit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.engine.evaluation import EXACT, SAMPLED, Trial
from simstudy.engine.plan import Part, Plan, make_plan
from simstudy.engine.task import DRAWING, Task, prepare
from simstudy.errors import SimstudyError

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.study.study import Study

EVERY, MODAL = "every", "modal"
MOST_MODELS = 20
CellName: TypeAlias = tuple[int, int, str]  # model, training size and label of the learner


@dataclass(frozen=True)
class Repeated:
    """Cells that were run again for their predictions.

    Attributes
    ----------
    table : DataFrame
        One row for each learner, size, model and bin, as `reliability` describes it.
    models : int
        The number of models run.
    failed : list of dict
        The cells that raised an error and were left out.
    primary : dict
        The primary measure of the others by (model, size, learner).
    test : str
        ``"exact"`` or ``"sampled"``; with both tests, the exact one is used.
    """

    table: pd.DataFrame
    models: int
    failed: list[dict[str, Any]]
    primary: dict[CellName, float]
    test: str


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
    """Run cells again in this process and count what they predicted against what happened.

    Parameters
    ----------
    study : Study or Plan
        The study.
    models : int, optional
        How many of its models, from the first; all up to 20 if left out.
    size : int or sequence of int, optional
        The training sizes; all if left out.
    bins : int
        Into how many bins of equal width the probabilities from 0 to 1 fall; a probability on an
        edge belongs to the upper bin, 1 to the last.
    learners : collection of str, optional
        The labels of the learners; all if left out.
    classes : str
        ``"every"``: the probability of every class, against whether it was the true one. Rewards
        are paid for the whole distribution, and only so do small probabilities count. ``"modal"``:
        the probability of the most probable class alone (of the first, where several are), as in
        ``miscalibration``.
    without : collection of (model, size, learner)
        Cells to leave out: those that failed, or that no limit would stop here.

    Returns
    -------
    Repeated
        Its table has one row for each learner, size, model and bin with predictions in it:
        `learner`, `size`, `model`, `bin`, `low` and `high` (its edges), `share` (the part of the
        model's predictions that fall in the bin, each row of the test by its weight; 1 over all
        bins), `predicted` (their mean), `observed` (how often the class was the true one) and
        `count`: predictions, one for each test row and class; of an exact test, one for each
        distinct row of attributes and class.
    """
    import pandas as pd
    from threadpoolctl import threadpool_limits

    plan = study if isinstance(study, Plan) else make_plan(study)
    # Other measures are not asked for again; some need limits, which take long.
    plan = replace(plan, measures=plan.measures[:1])
    models = min(plan.models, MOST_MODELS) if models is None else models
    sizes = _sizes(plan, size)
    parts = _parts(plan, learners)
    _check(plan, models, bins, classes)
    prepare(plan)
    rows: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    primary: dict[CellName, float] = {}
    with threadpool_limits(1):  # as in a run: another number of threads may round differently
        for model in range(models):
            wanted = [
                (n, part) for n in sizes for part in parts if (model, n, part.label) not in without
            ]
            for n, label, outcome in _repeated(plan, model, wanted, bins, classes):
                cell = {"learner": label, "size": n, "model": model}
                if isinstance(outcome, str):
                    failed.append(cell | {"error": outcome})
                else:
                    primary[model, n, label] = outcome[0]
                    rows += [cell | row for row in outcome[1]]
    columns = ["learner", "size", "model", "bin", "low", "high"]
    columns += ["share", "predicted", "observed", "count"]
    table = pd.DataFrame(rows, columns=columns)
    test = SAMPLED if isinstance(plan.test_size, int) else EXACT
    return Repeated(table, models, failed, primary, test)


def check_repeated(found: Repeated, stored: pd.Series[float]) -> None:
    """Refuse cells that, run again, came out otherwise than they are stored.

    Parameters
    ----------
    found : Repeated
        What `reliability` gave.
    stored : Series
        The primary measure by model, size and learner; its name is the measure's.
    """
    said = "the code that made these results is another than the one that runs now"
    for cell in found.failed:
        raise SimstudyError(
            f"{cell['learner']} on model {cell['model']} with {cell['size']:,} rows is stored but "
            f"failed when it was run again ({cell['error']}); {said}"
        )
    known: dict[Any, float] = stored.to_dict()
    for (model, size, learner), value in found.primary.items():
        was = known[model, size, learner]
        if not np.isclose(value, was, rtol=1e-6, atol=1e-9, equal_nan=True):
            raise SimstudyError(
                f"{learner} on model {model} with {size:,} rows has a {stored.name} of {was:.6g} "
                f"here and of {value:.6g} when run again; {said}"
            )


def _repeated(
    plan: Plan, model: int, wanted: Sequence[tuple[int, Part]], bins: int, classes: str
) -> Iterator[tuple[int, str, str | tuple[float, list[dict[str, Any]]]]]:
    """The cells of one model: size, learner, and the primary measure and bins, or what failed."""
    try:
        task = _Rerun(plan, model) if wanted else None
    except (Exception, SystemExit) as error:
        for n, part in wanted:
            yield n, part.label, f"{DRAWING}{type(error).__name__}: {error}"
        return
    for n, part in wanted:
        assert task is not None
        try:
            value = task.repeat(part, n)
        except (Exception, SystemExit) as error:
            yield n, part.label, f"{type(error).__name__}: {error}"
        else:
            yield n, part.label, (value, list(task.binned(bins, classes)))


class _Rerun(Task):
    """A task that keeps the predictions of its last cell."""

    _proba: FloatArray | None = None

    def repeat(self, part: Part, size: int) -> float:
        """Run a cell again; its primary measure is returned."""
        self._proba = None
        (value,) = self.score_cell(part, size).values[:1]  # noqa: PD011 (of a cell, not a table)
        return value

    def _answers(
        self, part: Part, sample: Sample, rng: np.random.Generator
    ) -> tuple[FloatArray, float, float]:
        told = super()._answers(part, sample, rng)
        if self._proba is None:  # what follows, if anything, is asked for the learner's limit
            self._proba = told[0]
        return told

    def binned(self, bins: int, classes: str) -> Iterator[dict[str, Any]]:
        """What the last cell predicted and what happened, one row for each bin that is not empty.

        Weights are first summed over equal rows of attributes, so an exact test and a test set
        are counted in one way.
        """
        assert self._proba is not None
        proba, test = self._proba, _test(self._judged.tests)
        weights, happened, times = _totals(test, *proba.shape)
        if classes == MODAL:
            mode = proba.argmax(axis=1)[:, None]
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


def _test(tests: dict[str, Trial]) -> Trial:
    """The test to judge by: the exact one where there is one."""
    return tests.get(EXACT) or tests[SAMPLED]


def _totals(test: Trial, rows: int, classes: int) -> tuple[FloatArray, FloatArray, IntArray]:
    """Of each distinct row of attributes its weight, that with each class, and how often it is."""
    each = np.ones(len(test.rows)) if test.weights is None else test.weights
    happened = np.bincount(test.rows * classes + test.target, each, rows * classes)
    happened = (happened / each.sum()).reshape(rows, classes)
    weights: FloatArray = happened.sum(axis=1)
    times = np.bincount(test.rows, minlength=rows)
    return weights, happened, times if test.weights is None else (weights > 0).astype(np.intp)


def _sizes(plan: Plan, size: int | Sequence[int] | None) -> list[int]:
    """The training sizes asked for, in the order of the study."""
    if size is None:
        return list(plan.train_sizes)
    asked = {size} if isinstance(size, int) else {*size}
    if unknown := asked - {*plan.train_sizes}:
        known = ", ".join(f"{n:,}" for n in plan.train_sizes)
        raise SimstudyError(f"the study has no size {min(unknown):,}; it has {known}")
    return [n for n in plan.train_sizes if n in asked]


def _parts(plan: Plan, learners: Collection[str] | None) -> list[Part]:
    """The learners asked for, in the order of the study."""
    labels = [part.label for part in plan.learners]
    for label in learners or ():
        if label not in labels:
            raise SimstudyError(f"the study has no learner '{label}'; it has {', '.join(labels)}")
    return [part for part in plan.learners if learners is None or part.label in learners]


def _check(plan: Plan, models: int, bins: int, classes: str) -> None:
    """Refuse what cannot be counted."""
    if not 1 <= models <= plan.models:
        raise SimstudyError(f"models is {models}; it must be from 1 to {plan.models}")
    if bins < 1:
        raise SimstudyError(f"bins is {bins}; it must be at least 1")
    if classes not in (EVERY, MODAL):
        raise SimstudyError(f"classes is '{classes}'; it must be '{EVERY}' or '{MODAL}'")
