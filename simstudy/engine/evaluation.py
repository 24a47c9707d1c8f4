"""What learners are evaluated on: rows drawn from the model, or its joint distribution."""

from __future__ import annotations

import base64
import math
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray, read_only, smoothed
from simstudy.data.codes import configurations, distinct_rows
from simstudy.data.sample import Sample
from simstudy.sources.changes.world import Population
from simstudy.study.constants import MAX_CONFIGURATIONS, ROWS_BESIDE_EXACT

EXACT, SAMPLED = "exact", "sampled"
ROUNDING = 1e-6  # by which the sum of probabilities may differ from 1
_DAMAGED = "the predictions of a cell are damaged"
_MAX_BYTES = 2**32  # of the predictions of one cell
_Integers = npt.NDArray[np.int64]
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

    @property
    def test(self) -> Trial:
        """The exact test if there is one, otherwise the sampled one."""
        return self.tests.get(EXACT) or self.tests[SAMPLED]


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


def pack(rows: npt.ArrayLike, target: npt.ArrayLike, proba: FloatArray) -> str:
    """Return test rows, their classes and the predictions for them, compressed, as text."""
    numbers = [np.asarray([len(proba)]), np.asarray(rows), np.asarray(target)]
    content = np.concatenate(numbers).astype("<i8").tobytes()
    content += proba.astype("<f8").tobytes(order="C")
    return base64.b64encode(zlib.compress(content)).decode()


def unpack(answers: str) -> tuple[_Integers, _Integers, FloatArray]:
    """Return the rows, their classes and the predictions of `pack`.

    The class is −1 in an exact test. Raises ValueError for anything else than probabilities.
    """
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(base64.b64decode(answers), _MAX_BYTES)
    except zlib.error as error:
        raise ValueError(_DAMAGED) from error
    if reader.unconsumed_tail:
        raise ValueError("the predictions of a cell are too large")
    number = int(np.frombuffer(content, "<i8", 1)[0]) if len(content) >= 8 else 0
    if not 0 < number <= len(content) // 24:
        raise ValueError(_DAMAGED)
    rows, target = (np.frombuffer(content, "<i8", number, 8 + 8 * number * i) for i in (0, 1))
    proba = np.frombuffer(content, "<f8", -1, 8 + 16 * number).reshape(number, -1)
    if not (
        proba.min() >= 0
        and np.abs(proba.sum(axis=1) - 1).max() <= ROUNDING
        and -1 <= target.min() <= target.max() < proba.shape[1]
    ):
        raise ValueError(_DAMAGED)
    return rows, target, proba
