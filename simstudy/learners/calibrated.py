"""Learners whose probabilities are calibrated on out-of-fold answers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray
from simstudy.data.resampling import CrossValidation
from simstudy.data.sample import Sample
from simstudy.learners.base import Described, Fitted, Learner, require, shape_text
from simstudy.learners.calibration_maps import (
    OneAgainstRest,
    Temperature,
    one_against_rest,
    temperature,
)
from simstudy.learners.wrapper import Wrapper

Method: TypeAlias = Literal["platt", "isotonic", "beta", "temperature"]
CalibrationMap: TypeAlias = OneAgainstRest | Temperature


@dataclass(frozen=True)
class Calibrated(Wrapper):
    """Calibration of another learner's probabilities on out-of-fold answers.

    The learner is fitted to the training rows without one of ``folds`` stratified folds, in turn,
    and answers for the rows of that fold. A map from answers to probabilities is fitted to all
    these answers. Then the learner is fitted to all training rows, and its answers are mapped.

    With p the probability of a class: ``platt`` is q = 1/(1 + exp(−s log(p/(1 − p)) − c)), fitted
    to the targets (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2) in place of 1 and 0; ``beta`` is
    log(q/(1 − q)) = a log p − b log(1 − p) + c with a, b ≥ 0, by maximum likelihood; ``isotonic``
    is the non-decreasing function of least squared error, found by pooling adjacent violators,
    linear between the answers it was fitted to. With more than two classes each is fitted to
    each class against the rest, and the results are divided by their sum (Zadrozny & Elkan 2002).
    ``temperature`` maps all classes at once: q_c ∝ p_c^(1/T), with T of least log loss.

    Parameters
    ----------
    method : {"platt", "isotonic", "beta", "temperature"}
        The kind of map.
    folds : int >= 2
        The number of folds; as many as there are training rows if there are fewer of them.

    Notes
    -----
    Weights of rows count, in the learner as in the map; rows of weight 0 are left out. Rows of one
    group are in one fold. A row of weight 2 is in one fold, two equal rows may be in two: results
    differ.

    A class with fewer rows than folds is absent from some folds; its only row gets its answer from
    a learner that has not seen the class. A class without rows gets 1/(N + 2) by ``platt``,
    ``isotonic`` and ``beta``, before results are divided by their sum. With one class alone, or one
    row, answers are left as they are.

    ``isotonic`` can give 0 and 1; they are kept, since measures have a cutoff. Where it gives every
    class 0, the learner's answer is kept; answers that agree to 12 decimals are equal to it. In
    logarithms, answers are at least 2⁻⁵². T is from 0.01 to 100. A penalty of 10⁻¹⁰ for each row
    keeps ``beta`` finite where classes are separated.

    The limit that a population would give is not defined: it has no folds.

    References
    ----------
    J. Platt (1999). Probabilistic outputs for support vector machines and comparisons to
    regularized likelihood methods. Advances in Large Margin Classifiers.

    B. Zadrozny & C. Elkan (2002). Transforming classifier scores into accurate multiclass
    probability estimates. KDD.

    M. Kull, T. Silva Filho & P. Flach (2017). Beta calibration: a well-founded and easily
    implemented improvement on logistic calibration for binary classifiers. AISTATS.

    C. Guo, G. Pleiss, Y. Sun & K. Q. Weinberger (2017). On calibration of modern neural networks.
    ICML.
    """

    purpose: ClassVar[str] = "calibrated"
    no_limit: ClassVar[str] = "calibration uses folds of rows, which a population does not have"

    method: Method = "platt"
    folds: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        methods = get_args(Method)
        known = f"it must be one of {', '.join(methods)}"
        require(self.method in methods, "method", self.method, known)
        whole = type(self.folds) is int and self.folds >= 2
        require(whole, "folds", self.folds, "it must be a whole number from 2")

    def check_design(
        self, variables: tuple[int, int], values: tuple[int, int], sizes: Sequence[int]
    ) -> None:
        """Refuse what the learner refuses, with the training rows that are left in folds too."""
        left = [size - math.ceil(size / self.folds) for size in sizes]
        super().check_design(variables, values, [max(rows, 1) for rows in left])

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedCalibrated:
        rng = np.random.default_rng(0) if rng is None else rng
        base = self.base()
        mapped = self._map(base, _with_weight(sample), rng)
        return FittedCalibrated(base.fit(sample, rng), mapped, self.method, sample.cards)

    def _map(
        self, base: Learner, sample: Sample, rng: np.random.Generator
    ) -> CalibrationMap | None:
        """Return the map fitted to out-of-fold answers; None if nothing can be learnt."""
        units = len(sample) if sample.groups is None else len(np.unique(sample.groups))
        if units < 2 or np.count_nonzero(sample.class_counts) < 2:
            return None
        proba = out_of_fold(base, sample, min(self.folds, units), rng)
        weights = np.ones(len(sample)) if sample.weights is None else sample.weights
        if self.method == "temperature":
            return temperature(proba, sample.target, weights)
        return one_against_rest(self.method, proba, sample.target, weights)


class FittedCalibrated(Described):
    """A fitted learner and the map of its answers.

    Attributes
    ----------
    base : fitted learner
        The learner, fitted to all training rows.
    map : OneAgainstRest, Temperature or None
        The map; None if answers are left as they are.
    """

    def __init__(
        self, base: Fitted, mapped: CalibrationMap | None, method: str, cards: tuple[int, ...]
    ) -> None:
        self.base, self.map, self._method, self._cards = base, mapped, method, cards

    def _facts(self) -> list[str]:
        how = "not calibrated" if self.map is None else self._method
        return [shape_text(len(self._cards) - 1, self._cards[-1]), how, type(self.base).__name__]

    def predict_proba(self, rows: Sample | npt.ArrayLike) -> FloatArray:
        """Return class probabilities, one row for each row of a sample or of attribute values."""
        proba = np.asarray(self.base.predict_proba(rows))
        return proba if self.map is None else self.map(proba)


def out_of_fold(
    learner: Learner, sample: Sample, folds: int, rng: np.random.Generator
) -> FloatArray:
    """Return the answer for each row of the learner fitted to the other folds, stratified."""
    proba = np.empty((len(sample), sample.classes))
    for split in CrossValidation(folds).splits(sample.target, rng, sample.groups):
        fitted = learner.fit(sample.take(split.train), rng)
        proba[split.test] = fitted.predict_proba(sample.take(split.test))
    return proba


def _with_weight(sample: Sample) -> Sample:
    """Return the rows whose weight is not 0."""
    if sample.weights is None or sample.weights.all():
        return sample
    return sample.take(sample.weights > 0)
