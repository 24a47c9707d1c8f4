"""What learners are judged on: rows drawn from the model, or everything that can happen."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample, configurations, distinct_rows, read_only
from simstudy.networks.model import Model
from simstudy.study.constants import MAX_CONFIGURATIONS, ROWS_BESIDE_EXACT

EXACT, SAMPLED = "exact", "sampled"
# A limit is what a learner makes of the population, taken as this many rows.
POPULATION_ROWS = 1e9


@dataclass(frozen=True)
class Trial:
    """Rows with their classes.

    Attributes
    ----------
    rows : array
        Which of the rows to predict each one is.
    target : array
        Its class.
    weights : array, optional
        Its probability; None where all rows count alike.
    """

    rows: IntArray
    target: IntArray
    weights: FloatArray | None = None

    def class_frequencies(self, classes: int, alpha: float) -> FloatArray:
        """Smoothed frequencies of the classes."""
        counts = np.bincount(self.target, minlength=classes) + alpha
        return counts / counts.sum()


@dataclass(frozen=True)
class Evaluation:
    """The attribute rows that every learner predicts once, and the tests made of them.

    ``all_rows`` says that they are all that there can be, in order.
    """

    rows: IntArray
    tests: dict[str, Trial]
    all_rows: bool = False


def evaluation(model: Model, size: int | str, rng: np.random.Generator) -> Evaluation:
    """A test set of so many rows; ``"exact"``, all configurations by probability; ``"both"``."""
    if isinstance(size, int):
        drawn = model.sample(size, rng)
        first, inverse = distinct_rows(drawn.attributes, model.cards[:-1])
        rows = np.asfortranarray(drawn.attributes[first])
        return Evaluation(read_only(rows), {SAMPLED: Trial(inverse, read_only(drawn.target))})
    tests = {EXACT: exact_test(model)}
    if size == "both":
        drawn = model.sample(ROWS_BESIDE_EXACT, rng)
        places = np.ravel_multi_index(tuple(drawn.attributes.T), model.cards[:-1])
        tests[SAMPLED] = Trial(places, read_only(drawn.target))
    return Evaluation(read_only(configurations(model.cards[:-1])), tests, all_rows=True)


def exact_test(model: Model) -> Trial:
    """Every joint configuration that can happen, with its probability."""
    check_size(model.cards)
    joint = model.joint().ravel()
    possible = np.flatnonzero(joint)
    rows, target = np.divmod(possible, model.cards[-1])
    return Trial(read_only(rows), read_only(target), read_only(joint[possible]))


def population(model: Model) -> Sample:
    """All that can happen as a training set of 10⁹ rows, so that smoothing does not matter."""
    check_size(model.cards)
    joint = model.joint().ravel()
    possible = np.flatnonzero(joint)
    codes = np.array(np.unravel_index(possible, model.cards)).T
    return Sample(codes, model.cards, joint[possible] * POPULATION_ROWS)


def check_size(cards: tuple[int, ...]) -> None:
    """Refuse a model with too many joint configurations to go through."""
    number = math.prod(cards)
    if number > MAX_CONFIGURATIONS:
        raise ValueError(
            f"a model of {len(cards)} variables has {number:,} joint configurations; an exact "
            f"evaluation goes through {MAX_CONFIGURATIONS:,} at most"
        )
