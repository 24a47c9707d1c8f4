"""Contract checks of learners."""

from __future__ import annotations

import math
import pickle
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.codes import configurations
from simstudy.data.sample import Sample
from simstudy.learners.base import Fitted, Learner
from simstudy.testing.contract import Contract, stream

# Maximum number of configurations for the check of predict_grid.
_MAX_ROWS = 1000


def check_learner(
    learner: Learner, max_attributes: int = 60, permutation: bool = True, weights: bool = True
) -> None:
    """Check that a learner satisfies its contract.

    - The learner is a frozen dataclass and survives pickling unchanged.
    - ``fit(sample, rng)`` handles an absent class, an absent value, a single row, constant
      attributes, one attribute and ``max_attributes`` attributes.
    - It does not modify the sample or its cached tables.
    - The same stream gives the same fit.
    - ``predict_proba`` returns one finite distribution over *all* classes for each row, in shape
      (rows, classes), also for zero rows, and does not modify its input.
    - The prediction for a row depends neither on the other rows nor on their order.
    - If the fitted object has ``log_joint``, normalising it gives ``predict_proba``; if it has
      ``predict_grid``, that is ``predict_proba`` of all attribute configurations.
    - The fitted object pickles, if its class can be imported.
    - A row of weight 2 counts as two rows; a row of weight 0 is ignored.
    - The order of the attributes does not matter.

    Parameters
    ----------
    learner : Learner
        The learner, with its parameters.
    max_attributes : int
        Maximum number of attributes to test.
    permutation : bool
        Whether to check that the order of the attributes does not matter; False for a learner
        that breaks ties by that order.
    weights : bool
        Whether to check that weights act as repetitions; False for a learner that ignores
        weights or resamples rows.

    Raises
    ------
    AssertionError
        States in one sentence what the contract requires and what was found.
    """
    contract = _LearnerContract(learner)
    contract.pickled()
    for situation, sample in _situations(max_attributes):
        contract.check_fit(sample, situation)
    if weights:
        contract.check_weights(min(4, max_attributes))
    if permutation and max_attributes > 1:
        contract.check_permutation(min(6, max_attributes))


def _situations(max_attributes: int) -> Iterator[tuple[str, Sample]]:
    """Yield samples that a learner must handle, with their names."""
    cards = ((3, 2, 4, 3) * max_attributes)[: min(4, max_attributes)]
    ordinary = _draw_sample((*cards, 3), 60)
    codes = ordinary.codes
    yield "an ordinary sample", ordinary
    yield "a sample without class 1", Sample(codes[codes[:, -1] != 1], ordinary.cards)
    yield "a sample without class 2", Sample(codes[codes[:, -1] != 2], ordinary.cards)
    yield "a sample of one class", Sample(codes[codes[:, -1] == 0], ordinary.cards)
    yield "a sample without a value", Sample(codes[codes[:, 0] != 2], ordinary.cards)
    yield "a sample of one row", Sample(codes[:1], ordinary.cards)
    constant = np.column_stack([np.zeros_like(ordinary.attributes), ordinary.target])
    yield "a sample of constant attributes", Sample(constant, ordinary.cards)
    yield "a sample with one attribute", _draw_sample((3, 2), 40)
    many = tuple(2 + i % 4 for i in range(max_attributes))
    yield f"a sample with {max_attributes} attributes", _draw_sample((*many, 4), 80)


def _draw_codes(cards: Sequence[int], rows: int) -> IntArray:
    codes: IntArray = stream(rows, *cards).integers(0, cards, size=(rows, len(cards)))
    return codes


def _draw_sample(cards: Sequence[int], rows: int) -> Sample:
    """Draw rows in which attributes depend on the class and on each other."""
    codes = _draw_codes(cards, rows)
    follows = stream(rows).random(codes.shape) < 0.5
    for i in range(len(cards) - 1):
        led = (codes[:, -1] + codes[:, i - 1]) % cards[i]
        codes[:, i] = np.where(follows[:, i], led, codes[:, i])
    return Sample(codes, cards)


class _LearnerContract(Contract[Learner]):
    def check_fit(self, sample: Sample, situation: str) -> None:
        """Check what is fitted to a sample."""
        fitted = self._fit(sample, situation)
        codes = _draw_codes(sample.cards[:-1], 30)
        proba = self._check_predictions(fitted, codes, sample.classes, f"after {situation} ")
        again = self._predict(self._fit(sample, situation), codes)
        rule = "the same stream must give the same fit"
        self.require_close(proba, again, rule, f"two fits to {situation} differ by", 0)
        cards = sample.cards[:-1]
        if hasattr(fitted, "predict_grid") and math.prod(cards) <= _MAX_ROWS:
            rule = "predict_grid must equal predict_proba of all attribute configurations"
            grid = np.array(self.attempt(rule, fitted.predict_grid))
            whole = self._predict(fitted, configurations(cards))
            self.require_close(grid, whole, rule, f"after {situation} they differ by")
        kind = type(fitted)
        if getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind:
            rule = "a fitted learner must pickle and its copy must predict the same"
            copy = self.attempt(rule, lambda: pickle.loads(pickle.dumps(fitted)))
            answers = self._predict(copy, codes)
            self.require_close(answers, proba, rule, "the copy's predictions differ by", 0)

    def _fit(self, sample: Sample, situation: str) -> Fitted:
        """Fit, and check that the sample and its tables are unchanged."""
        same = Sample(sample.codes.copy(), sample.cards, sample.weights)
        rule = f"fit(sample, rng) must handle {situation}"
        fitted = self.attempt(rule, self.component.fit, sample, stream(11))
        rule = "fit must not modify the sample"
        self.require(np.array_equal(sample.codes, same.codes), rule, "its codes were changed")
        before, after = (
            (each.class_counts, each.slot_counts, each.pair_counts) for each in (same, sample)
        )
        kept = all(map(np.array_equal, before, after))
        self.require(kept, rule, "its cached tables were changed")
        return fitted

    def _predict(self, fitted: Fitted, codes: IntArray) -> FloatArray:
        """Predict, and check that the input is unchanged."""
        rows = codes.copy()
        rule = f"predict_proba must handle {len(codes)} rows of attribute codes"
        proba: FloatArray = np.array(self.attempt(rule, fitted.predict_proba, rows))
        rule = "predict_proba must not modify its input"
        self.require(np.array_equal(rows, codes), rule, "the codes were changed")
        return proba

    def _check_predictions(
        self, fitted: Fitted, codes: IntArray, classes: int, where: str
    ) -> FloatArray:
        """Check the predictions of a fitted learner and return them."""
        proba, none = self._predict(fitted, codes), self._predict(fitted, codes[:0])
        self.require_distributions("predict_proba", proba, (len(codes), classes), where)
        without_rows = f"{where}and with zero rows "
        self.require_distributions("predict_proba", none, (0, classes), without_rows)
        rule = "the prediction for a row must not depend on the other rows or their order"
        turned = self._predict(fitted, codes[::-1])[::-1]
        finding = f"{where}reversing the rows changes predictions by"
        self.require_close(turned, proba, rule, finding)
        alone = np.concatenate([self._predict(fitted, codes[[i]]) for i in range(len(codes))])
        finding = f"{where}predicting each row alone changes predictions by"
        self.require_close(alone, proba, rule, finding)
        if hasattr(fitted, "log_joint"):
            log_joint = np.asarray(fitted.log_joint(codes))
            scaled = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
            scaled /= scaled.sum(axis=1, keepdims=True)
            rule = "log_joint, normalised, must give predict_proba"
            self.require_close(scaled, proba, rule, f"{where}they differ by")
        return proba

    def check_weights(self, attributes: int) -> None:
        """Check that weights act as repetitions of rows."""
        sample = _draw_sample((*((3, 2, 4, 3)[:attributes]), 3), 80)
        weights = stream(80).integers(0, 4, size=80)
        codes = _draw_codes(sample.cards[:-1], 30)
        samples = [Sample(sample.codes, sample.cards, weights)]
        samples.append(Sample(np.repeat(sample.codes, weights, axis=0), sample.cards))
        samples.append(samples[0].take(weights > 0))
        by_weights, by_rows, without = (
            self._predict(self._fit(each, "a weighted sample"), codes) for each in samples
        )
        rule = "a row of weight 0 must be ignored"
        self.require_close(by_weights, without, rule, "omitting such rows changes predictions by")
        rule = "a row of weight w must count as w rows"
        self.require_close(by_weights, by_rows, rule, "repeating the rows changes predictions by")

    def check_permutation(self, attributes: int) -> None:
        """Check that the order of the attributes does not matter."""
        sample = _draw_sample((*((2, 3, 4, 3, 2, 5)[:attributes]), 3), 500)
        columns = [*range(attributes)[::-1], attributes]
        turned = Sample(sample.codes[:, columns], [sample.cards[c] for c in columns])
        codes = _draw_codes(sample.cards[:-1], 30)
        plain = self._predict(self._fit(sample, "500 rows"), codes)
        moved = self._predict(self._fit(turned, "500 rows"), codes[:, ::-1])
        rule = "the order of the attributes must not matter"
        self.require_close(plain, moved, rule, "another order changes predictions by")
