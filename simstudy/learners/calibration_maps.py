"""Maps from a learner's class probabilities to calibrated ones, fitted to rows of known class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray, IntArray
from simstudy.measures.ranked import rounded

BoolArray: TypeAlias = npt.NDArray[np.bool_]

_SMALLEST = float(np.finfo(np.float64).eps)  # below which probabilities are raised for logarithms
_RIDGE = 1e-10  # of standardised slopes, for each row: moves an ordinary maximum by some 1e-9
_CONSTANT = 1e-9  # the relative spread up to which a feature is taken to be constant
_FLAT = 1e-15  # the slope of a mean log loss at its minimum
_ROUNDING = 1e-13  # of a mean loss
_STEPS = 100  # of Newton's method
COLDEST, HOTTEST = 0.01, 100.0  # temperatures


class BinaryMap(Protocol):
    """A calibrated probability of a class from that given to it and that of all others."""

    def __call__(self, own: FloatArray, rest: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class Constant:
    """The same probability whatever the answer."""

    value: float

    def __call__(self, own: FloatArray, rest: FloatArray) -> FloatArray:
        return np.full(len(own), self.value)


@dataclass(frozen=True)
class BetaMap:
    """``log q/(1−q) = a·log p − b·log(1−p) + c``; with a = b, Platt's map of the log odds."""

    a: float
    b: float
    c: float

    def __call__(self, own: FloatArray, rest: FloatArray) -> FloatArray:
        return _logistic(self.a * _log(own) - self.b * _log(rest) + self.c)


@dataclass(frozen=True, eq=False)
class StepMap:
    """Linear interpolation between points, and constant beyond the first and last."""

    x: FloatArray
    y: FloatArray

    def __call__(self, own: FloatArray, rest: FloatArray) -> FloatArray:
        return np.interp(rounded(own), self.x, self.y)


def platt(own: FloatArray, rest: FloatArray, positive: BoolArray, weights: FloatArray) -> BetaMap:
    """Fit a sigmoid of the log odds to smoothed targets by Newton's method (Platt 1999).

    The targets are (N₊ + 1)/(N₊ + 2) and 1/(N₋ + 2), so that a maximum exists.
    """
    pro = float(weights[positive].sum())
    contra = float(weights[~positive].sum())
    targets = np.where(positive, (pro + 1) / (pro + 2), 1 / (contra + 2))
    odds = (_log(own) - _log(rest))[:, None]
    (intercept, slope), _ = logistic_regression(odds, targets, weights)
    return BetaMap(float(slope), float(slope), float(intercept))


def beta(own: FloatArray, rest: FloatArray, positive: BoolArray, weights: FloatArray) -> BetaMap:
    """Fit a, b ≥ 0 and c by maximum likelihood (Kull, Silva Filho & Flach 2017).

    The likelihood is concave: if a or b comes out negative, the maximum is on the border, where one
    of them or both are 0.
    """
    features, targets = np.column_stack([_log(own), -_log(rest)]), positive.astype(np.float64)
    best, least = np.zeros(3), np.inf
    for columns in ([0, 1], [0], [1], []):
        found, loss = logistic_regression(features[:, columns], targets, weights)
        if (found[1:] >= 0).all() and loss < least:
            best, least = np.zeros(3), loss
            best[[0, *(column + 1 for column in columns)]] = found
            if len(columns) == 2:
                break
    return BetaMap(float(best[1]), float(best[2]), float(best[0]))


def isotonic(
    own: FloatArray, rest: FloatArray, positive: BoolArray, weights: FloatArray
) -> StepMap:
    """Fit a non-decreasing function by pooling adjacent violators; equal answers are one point.

    Answers are equal if they agree to 12 decimals.
    """
    x, place = np.unique(rounded(own), return_inverse=True)
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


METHODS: dict[str, Callable[..., BinaryMap]] = {"platt": platt, "isotonic": isotonic, "beta": beta}


@dataclass(frozen=True)
class OneAgainstRest:
    """A map for each class, the results divided by their sum; for two classes, that of the last."""

    maps: tuple[BinaryMap, ...]

    def __call__(self, proba: FloatArray) -> FloatArray:
        if len(self.maps) == 1:
            second = self.maps[0](proba[:, 1], proba[:, 0])
            return np.column_stack([1 - second, second])
        found = np.column_stack([one(*_sides(proba, c)) for c, one in enumerate(self.maps)])
        total = found.sum(axis=1, keepdims=True)
        return np.where(total > 0, found / np.where(total > 0, total, 1.0), proba)


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
            maps.append(Constant((total * positive.all() + 1) / (total + 2)))
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
    found, loss = _newton(design, targets, weights)
    slopes = np.where(varying, found[1:], 0.0) / scale
    return np.array([found[0] - slopes @ centre, *slopes]), loss


def _newton(
    design: FloatArray, targets: FloatArray, weights: FloatArray
) -> tuple[FloatArray, float]:
    """Minimise the penalised loss, with steps halved until it falls."""
    ridge = np.full(design.shape[1], _RIDGE)

    def loss_of(parameters: FloatArray) -> float:
        z = design @ parameters
        fit = float(weights @ (np.logaddexp(0, z) - targets * z))
        return fit + 0.5 * float(ridge @ parameters**2)

    found = np.zeros(design.shape[1])
    loss = loss_of(found)
    for _ in range(_STEPS):
        q = _logistic(design @ found)
        gradient = design.T @ (weights * (q - targets)) + ridge * found
        hessian = (design.T * (weights * q * (1 - q))) @ design + np.diag(ridge)
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-10 and loss_of(found - size * step) > loss + _ROUNDING:
            size /= 2
        found = found - size * step
        loss = loss_of(found)
        if np.abs(size * step).max() <= 1e-11 * (1 + np.abs(found).max()):
            break
    return found, loss


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
