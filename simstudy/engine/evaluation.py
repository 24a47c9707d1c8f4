"""What learners are evaluated on: rows drawn from the model, or its joint distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simstudy.arrays import FloatArray, IntArray, read_only, smoothed
from simstudy.data.codes import configurations, distinct_rows
from simstudy.data.sample import Sample
from simstudy.sources.changes.world import Population
from simstudy.study.constants import MAX_CONFIGURATIONS, ROWS_BESIDE_EXACT

EXACT, SAMPLED = "exact", "sampled"
# The limit of a learner is its fit to the population, taken as this many rows.
POPULATION_ROWS = 1e9


@dataclass(frozen=True)
class Trial:
    """Test rows with their classes."""

    rows: IntArray  # indices into the rows to predict
    target: IntArray
    weights: FloatArray | None = None  # probabilities; None if all rows count equally

    def class_frequencies(self, classes: int) -> FloatArray:
        """Smoothed frequencies of the classes, each row counted as often as it weighs."""
        return smoothed(np.bincount(self.target, self.weights, minlength=classes))


@dataclass(frozen=True)
class Evaluation:
    """The attribute rows that every learner predicts once, and the tests built from them."""

    rows: IntArray | Sample  # codes of the attributes, or a Sample
    tests: dict[str, Trial]
    all_rows: bool = False  # whether the rows are all attribute configurations, in order


def evaluation(model: Population, size: int | str, rng: np.random.Generator) -> Evaluation:
    """A test set of ``size`` rows, ``"exact"`` (the joint distribution), or ``"both"``."""
    if isinstance(size, int):
        drawn = model.sample(size, rng)
        if not drawn.plain:  # values are missing
            places = np.arange(len(drawn))
            return Evaluation(drawn, {SAMPLED: Trial(places, read_only(drawn.target))})
        first, inverse = distinct_rows(drawn.attributes, model.cards[:-1])
        rows = np.asfortranarray(drawn.attributes[first])
        return Evaluation(read_only(rows), {SAMPLED: Trial(inverse, read_only(drawn.target))})
    tests = {EXACT: exact_test(model)}
    if size == "both":
        drawn = model.sample(ROWS_BESIDE_EXACT, rng)
        places = np.ravel_multi_index(tuple(drawn.attributes.T), model.cards[:-1])
        tests[SAMPLED] = Trial(places, read_only(drawn.target))
    return Evaluation(read_only(configurations(model.cards[:-1])), tests, all_rows=True)


def exact_test(model: Population) -> Trial:
    """Every joint configuration of nonzero probability, weighted by it."""
    possible, weights = _support(model)
    rows, target = np.divmod(possible, model.cards[-1])
    return Trial(read_only(rows), read_only(target), read_only(weights))


def population(model: Population) -> Sample:
    """The joint distribution as a training set of 10⁹ rows, where smoothing is negligible."""
    possible, weights = _support(model)
    codes = np.array(np.unravel_index(possible, model.cards)).T
    return Sample(codes, model.cards, weights * POPULATION_ROWS)


def _support(model: Population) -> tuple[IntArray, FloatArray]:
    """The joint configurations of nonzero probability, and their probabilities."""
    number = math.prod(model.cards)
    if number > MAX_CONFIGURATIONS:
        raise ValueError(
            f"a model of {len(model.cards)} variables has {number:,} joint configurations; exact "
            f"evaluation allows at most {MAX_CONFIGURATIONS:,}"
        )
    joint = model.joint().ravel()
    possible = np.flatnonzero(joint)
    return possible, joint[possible]
