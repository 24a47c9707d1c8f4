"""Learners whose probabilities are calibrated on out-of-fold answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from simstudy.arrays import ArrayLike, BoolArray, FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.data.splits.schemes import CrossValidation
from simstudy.learners.base import Described, Fitted, Learner, Limits, require_choices
from simstudy.learners.wrappers.wrapper import Wrapper, held_out, number_of_units, require_folds
from simstudy.measures.ranking.ranked_rows import rounded

_SMALLEST = float(np.finfo(np.float64).eps)  # below which probabilities are raised for logarithms
_RIDGE = 1e-10  # of standardised slopes, for each row: moves an ordinary maximum by some 1e-9
_CONSTANT = 1e-9  # the relative spread up to which a feature is taken to be constant
_FLAT = 1e-15  # the slope of a mean log loss at its minimum
_ROUNDING = 1e-13  # of a mean loss
_STEPS = 100  # of Newton's method
COLDEST, HOTTEST = 0.01, 100.0  # temperatures


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
    Row weights are used by the learner and by the map; rows of weight 0 are left out. Rows of a
    group are in the same fold. A row of weight 2 is in one fold, but two equal rows may be in
    different folds, so results differ.

    A class with fewer rows than folds is absent from some folds; its only row gets its answer from
    a learner that has not seen the class. A class without rows gets 1/(N + 2) by ``platt``,
    ``isotonic`` and ``beta``, before results are divided by their sum. With only one class, or one
    row, answers are not changed.

    ``isotonic`` can give 0 and 1; they are kept, since measures have a cutoff. Where it gives every
    class 0, the learner's answer is kept; answers that agree to 12 decimals are equal to it. In
    logarithms, answers are at least 2⁻⁵². T is from 0.01 to 100. A penalty of 10⁻¹⁰ for each row
    keeps ``beta`` finite where classes are separated.

    A limit (the score when fitted to the population) is not defined: a population has no folds.

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

    method: Literal["platt", "isotonic", "beta", "temperature"] = "platt"
    folds: int = 5

    def __post_init__(self) -> None:
        super().__post_init__()
        require_choices(self)
        require_folds(self.folds)

    def check_design(self, variables: Limits, values: Limits, sizes: Sequence[int]) -> None:
        """Refuse what the learner refuses, with the training rows that are left in folds too."""
        left = [size - math.ceil(size / self.folds) for size in sizes]
        super().check_design(variables, values, [max(rows, 1) for rows in left])

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedCalibrated:
        rng = np.random.default_rng(0) if rng is None else rng
        base = self.base()
        rows = sample
        if sample.weights is not None and not sample.weights.all():
            rows = sample.take(sample.weights > 0)
        mapped = self._map(base, rows, rng)
        return FittedCalibrated(base.fit(sample, rng), mapped, self.method, sample.cards)

    def _map(
        self, base: Learner, sample: Sample, rng: np.random.Generator
    ) -> OneAgainstRest | Temperature | None:
        """Return the map fitted to out-of-fold answers; None if nothing can be learnt."""
        units = number_of_units(sample)
        if units < 2 or np.count_nonzero(sample.class_counts) < 2:
            return None
        proba = out_of_fold(base, sample, min(self.folds, units), rng)
        weights = np.ones(len(sample)) if sample.weights is None else sample.weights
        if self.method == "temperature":
            return temperature(proba, sample.target, weights)
        return one_against_rest(self.method, proba, sample.target, weights)


@dataclass(eq=False, repr=False)
class FittedCalibrated(Described):
    """A fitted learner and the map of its answers.

    Attributes
    ----------
    base : fitted learner
        The learner, fitted to all training rows.
    map : OneAgainstRest, Temperature or None
        The map; None if answers are not changed.
    """

    base: Fitted
    map: OneAgainstRest | Temperature | None
    _method: str
    cards: tuple[int, ...]

    def _facts(self) -> list[str]:
        how = "not calibrated" if self.map is None else self._method
        return [*super()._facts(), how, type(self.base).__name__]

    def predict_proba(self, rows: Sample | ArrayLike) -> FloatArray:
        """Return class probabilities, one row for each row of a sample or of attribute values."""
        proba = np.asarray(self.base.predict_proba(rows))
        return proba if self.map is None else self.map(proba)


def out_of_fold(
    learner: Learner, sample: Sample, folds: int, rng: np.random.Generator
) -> FloatArray:
    """Return the answer for each row of the learner fitted to the other folds, stratified."""
    proba = np.empty((len(sample), sample.classes))
    splits = CrossValidation(folds).splits(sample.target, rng, sample.groups)
    for split, answers in zip(splits, held_out(learner, sample, splits, rng), strict=True):
        proba[split.test] = answers
    return proba


@dataclass(frozen=True)
class BetaMap:
    """``log q/(1−q) = a·log p − b·log(1−p) + c``; with a = b, Platt's map of the log odds."""

    a: float
    b: float
    c: float

    def __call__(self, p: FloatArray, rest: FloatArray) -> FloatArray:
        return _logistic(self.a * _log(p) - self.b * _log(rest) + self.c)


@dataclass(frozen=True, eq=False)
class StepMap:
    """Linear interpolation between points, and constant beyond the first and last."""

    x: FloatArray
    y: FloatArray

    def __call__(self, p: FloatArray, rest: FloatArray) -> FloatArray:
        return np.interp(rounded(p), self.x, self.y)


def platt(p: FloatArray, rest: FloatArray, positive: BoolArray, weights: FloatArray) -> BetaMap:
    """Fit a sigmoid of the log odds to smoothed targets by Newton's method (Platt 1999).

    The targets are (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2), so that a maximum exists.
    """
    pro = float(weights[positive].sum())
    contra = float(weights[~positive].sum())
    targets = np.where(positive, (pro + 1) / (pro + 2), 1 / (contra + 2))
    odds = (_log(p) - _log(rest))[:, None]
    (intercept, slope), _ = logistic_regression(odds, targets, weights)
    return BetaMap(float(slope), float(slope), float(intercept))


def beta(p: FloatArray, rest: FloatArray, positive: BoolArray, weights: FloatArray) -> BetaMap:
    """Fit a, b ≥ 0 and c by maximum likelihood (Kull, Silva Filho & Flach 2017).

    The likelihood is concave: if a or b comes out negative, the maximum is on the border, where one
    of them or both are 0.
    """
    features, targets = np.column_stack([_log(p), -_log(rest)]), positive.astype(np.float64)
    best, least = np.zeros(3), np.inf
    for columns in ([0, 1], [0], [1], []):
        fitted, loss = logistic_regression(features[:, columns], targets, weights)
        if (fitted[1:] >= 0).all() and loss < least:
            best, least = np.zeros(3), loss
            best[[0, *(column + 1 for column in columns)]] = fitted
            if len(columns) == 2:
                break
    return BetaMap(float(best[1]), float(best[2]), float(best[0]))


def isotonic(p: FloatArray, rest: FloatArray, positive: BoolArray, weights: FloatArray) -> StepMap:
    """Fit a non-decreasing function by pooling adjacent violators; equal answers are one point.

    Answers are equal if they agree to 12 decimals.
    """
    x, place = np.unique(rounded(p), return_inverse=True)
    total = np.bincount(place, weights)
    means = np.bincount(place, weights * positive) / total
    blocks: list[tuple[float, float, int]] = []  # mean, weight, points
    for mean, weight in zip(means.tolist(), total.tolist(), strict=True):
        points = 1
        while blocks and blocks[-1][0] >= mean:
            before, heavy, more = blocks.pop()
            mean = (before * heavy + mean * weight) / (heavy + weight)
            weight, points = weight + heavy, points + more
        blocks.append((mean, weight, points))
    y = np.repeat([block[0] for block in blocks], [block[2] for block in blocks])
    return StepMap(x, np.clip(y, 0.0, 1.0))


# From the probability of a class and that of all others to a calibrated one.
BinaryMap: TypeAlias = BetaMap | StepMap
METHODS: dict[str, Callable[..., BinaryMap]] = {"platt": platt, "isotonic": isotonic, "beta": beta}


@dataclass(frozen=True)
class OneAgainstRest:
    """A map for each class, the results divided by their sum; for two classes, that of the last."""

    maps: tuple[BinaryMap, ...]

    def __call__(self, proba: FloatArray) -> FloatArray:
        if len(self.maps) == 1:
            second = self.maps[0](proba[:, 1], proba[:, 0])
            return np.column_stack([1 - second, second])
        mapped = np.column_stack([f(*_sides(proba, c)) for c, f in enumerate(self.maps)])
        total = mapped.sum(axis=1, keepdims=True)
        return np.where(total > 0, mapped / np.where(total > 0, total, 1.0), proba)


def one_against_rest(
    method: str, proba: FloatArray, target: IntArray, weights: FloatArray
) -> OneAgainstRest:
    """Fit a map for each class against the others (Zadrozny & Elkan 2002).

    A class that no row has gets Platt's target for it, 1/(N + 2), whatever the method.
    """
    classes = proba.shape[1]
    maps: list[BinaryMap] = []
    for c in [1] if classes == 2 else range(classes):
        positive = target == c
        if positive.any() and not positive.all():
            maps.append(METHODS[method](*_sides(proba, c), positive, weights))
        else:
            total = float(weights.sum())
            constant = (total * positive.all() + 1) / (total + 2)
            maps.append(StepMap(np.zeros(1), np.full(1, constant)))
    return OneAgainstRest(tuple(maps))


@dataclass(frozen=True)
class Temperature:
    """Probabilities to the power 1/T, divided by their sum: the order of classes is kept."""

    temperature: float

    def __call__(self, proba: FloatArray) -> FloatArray:
        return _softmax(_log(proba) / self.temperature)


def temperature(proba: FloatArray, target: IntArray, weights: FloatArray) -> Temperature:
    """Fit the temperature of least log loss, from 0.01 to 100 (Guo et al. 2017).

    The loss is convex in 1/T: Newton's method on its derivative, with bisection as a safeguard.
    """
    logs = _log(proba)
    weights = weights / weights.sum()
    observed = float(weights @ logs[np.arange(len(logs)), target])
    low, high, power = 1 / HOTTEST, 1 / COLDEST, 1.0
    for _ in range(_STEPS):
        answers = _softmax(logs * power)
        means = (answers * logs).sum(axis=1)
        slope = float(weights @ means) - observed
        if abs(slope) <= _FLAT:
            break
        curvature = float(weights @ (answers * (logs - means[:, None]) ** 2).sum(axis=1))
        low, high = (power, high) if slope < 0 else (low, power)
        following = power - slope / curvature if curvature > 0 else low
        if not low < following < high:
            following = (low * high) ** 0.5
        if abs(following - power) <= 1e-14 * power:
            break
        power = following
    return Temperature(1 / power)


def logistic_regression(
    features: FloatArray, targets: FloatArray, weights: FloatArray
) -> tuple[FloatArray, float]:
    """Return intercept and slopes of maximum likelihood for targets from 0 to 1, and the loss.

    A slope of a constant feature is 0. A minute penalty makes the maximum exist where the classes
    are separated, and makes it unique.
    """
    weights = weights / weights.sum()
    centre = weights @ features
    spread = np.sqrt(weights @ (features - centre) ** 2)
    varying = spread > _CONSTANT * (1 + np.abs(centre))
    scale = np.where(varying, spread, 1.0)
    design = np.column_stack([np.ones(len(features)), (features - centre) / scale * varying])
    fitted, loss = _newton(design, targets, weights)
    slopes = np.where(varying, fitted[1:], 0.0) / scale
    return np.array([fitted[0] - slopes @ centre, *slopes]), loss


def _newton(design: FloatArray, y: FloatArray, weights: FloatArray) -> tuple[FloatArray, float]:
    """Minimise the penalised loss, with steps halved until it falls."""
    ridge = np.full(design.shape[1], _RIDGE)

    def loss_of(parameters: FloatArray) -> float:
        z = design @ parameters
        fit = float(weights @ (np.logaddexp(0, z) - y * z))
        return fit + 0.5 * float(ridge @ parameters**2)

    point = np.zeros(design.shape[1])
    loss = loss_of(point)
    for _ in range(_STEPS):
        q = _logistic(design @ point)
        gradient = design.T @ (weights * (q - y)) + ridge * point
        hessian = (design.T * (weights * q * (1 - q))) @ design + np.diag(ridge)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-10 and loss_of(point - size * step) > loss + _ROUNDING:
            size /= 2
        point = point - size * step
        loss = loss_of(point)
        if np.abs(size * step).max() <= 1e-11 * (1 + np.abs(point).max()):
            break
    return point, loss


def _sides(proba: FloatArray, c: int) -> tuple[FloatArray, FloatArray]:
    """The probability of a class, and that of all others."""
    return proba[:, c], np.delete(proba, c, axis=1).sum(axis=1)


def _log(proba: FloatArray) -> FloatArray:
    return np.log(np.maximum(proba, _SMALLEST))


def _logistic(z: FloatArray) -> FloatArray:
    return np.exp(-np.logaddexp(0, -z))


def _softmax(logs: FloatArray) -> FloatArray:
    scaled = np.exp(logs - logs.max(axis=1, keepdims=True))
    return scaled / scaled.sum(axis=1, keepdims=True)
