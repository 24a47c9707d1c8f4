"""What the contract checks of all kinds of components share."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any, Generic, NoReturn, ParamSpec, TypeVar

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray

C = TypeVar("C")
P = ParamSpec("P")
T = TypeVar("T")


class Contract(Generic[C]):
    """Reports violations: the component, the rule, and the finding."""

    def __init__(self, component: C) -> None:
        self.component = component
        self.name = getattr(component, "__name__", type(component).__name__)

    def fail(self, rule: str, finding: str, cause: Exception | None = None) -> NoReturn:
        raise AssertionError(f"{self.name}: {rule}; {finding}") from cause

    def require(self, kept: bool | np.bool_, rule: str, finding: str) -> None:
        if not kept:
            self.fail(rule, finding)

    def require_close(
        self,
        first: ArrayLike,
        second: ArrayLike,
        rule: str,
        finding: str,
        tolerance: float = 1e-9,
    ) -> None:
        """Require two arrays to agree; the difference is added to the finding."""
        first, second = np.asarray(first), np.asarray(second)
        if first.shape != second.shape:
            self.fail(rule, f"{finding} their shapes, {first.shape} and {second.shape}")
        if not np.allclose(first, second, rtol=0, atol=tolerance):
            self.fail(rule, f"{finding} up to {np.abs(first - second).max():.3g}")

    def require_distributions(
        self, method: str, proba: FloatArray, shape: tuple[int, int], where: str = ""
    ) -> None:
        """Require every row of an array of this shape to be a distribution."""
        rule = f"{method} must return one distribution over all classes for each row"
        fits = np.shape(proba) == shape
        self.require(fits, rule, f"{where}its shape is {np.shape(proba)}, not {shape}")
        finite = np.isfinite(proba).all()
        self.require(finite, rule, f"{where}some probabilities are not finite")
        least = np.min(proba, initial=0)
        self.require(least >= 0, rule, f"{where}the smallest probability is {least}")
        off = np.max(np.abs(np.sum(proba, axis=1) - 1), initial=0)
        self.require(off <= 1e-9, rule, f"{where}the sum of a row differs from 1 by {off:.3g}")

    def attempt(self, rule: str, call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Call a function that must not fail according to the contract."""
        try:
            return call(*args, **options)
        except Exception as error:
            self.fail(rule, f"it raised {type(error).__name__}: {error}", error)

    def pickled(self) -> C:
        """Return a pickled copy of the component, which must be a frozen dataclass and equal it."""
        stated = self.component
        parameters: Any = getattr(type(stated), "__dataclass_params__", None)
        frozen = parameters is not None and parameters.frozen
        self.require(frozen, "it must be a frozen dataclass instance", f"it is {stated!r}")
        copy: C = self.attempt("it must pickle", lambda: pickle.loads(pickle.dumps(stated)))
        finding = f"{stated!r} became {copy!r}"
        self.require(copy == stated, "it must equal its pickled copy", finding)
        return copy


def stream(*key: int) -> np.random.Generator:
    return np.random.default_rng(key)
