"""Helpers shared by the contract checks."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, NoReturn, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray

P = ParamSpec("P")
T = TypeVar("T")


class Contract:
    """Reports violations: the object, the rule, and what was found."""

    def __init__(self, value: object) -> None:
        self.name = getattr(value, "__name__", type(value).__name__)

    def fail(self, rule: str, finding: str, cause: Exception | None = None) -> NoReturn:
        raise AssertionError(f"{self.name}: {rule}; {finding}") from cause

    def require(self, kept: bool | np.bool_, rule: str, finding: str) -> None:
        if not kept:
            self.fail(rule, finding)

    def require_close(
        self,
        first: npt.ArrayLike,
        second: npt.ArrayLike,
        rule: str,
        finding: str,
        tolerance: float = 1e-9,
    ) -> None:
        """Require two arrays to agree; the difference is added to what is reported."""
        first, second = np.asarray(first), np.asarray(second)
        if first.shape != second.shape:
            self.fail(rule, f"{finding} their shapes, {first.shape} and {second.shape}")
        if not np.allclose(first, second, rtol=0, atol=tolerance):
            self.fail(rule, f"{finding} up to {np.abs(first - second).max():.3g}")

    def attempt(self, rule: str, call: Callable[P, T], *args: P.args, **options: P.kwargs) -> T:
        """Call a function that must not fail according to the contract."""
        try:
            return call(*args, **options)
        except Exception as error:
            self.fail(rule, f"it raised {type(error).__name__}: {error}", error)


def stream(*key: int) -> np.random.Generator:
    return np.random.default_rng(key)


def check_parameters(contract: Contract, value: T) -> T:
    """Check the rules common to families and learners; return a pickled copy."""
    frozen = is_dataclass(value) and not isinstance(value, type) and _is_frozen(value)
    rule = "it must be a frozen dataclass instance"
    contract.require(frozen, rule, f"it is {value!r}")
    copy: T = contract.attempt("it must pickle", lambda: pickle.loads(pickle.dumps(value)))
    contract.require(copy == value, "it must equal its pickled copy", f"{value!r} became {copy!r}")
    return copy


def _is_frozen(value: Any) -> bool:
    return bool(type(value).__dataclass_params__.frozen)


def check_distributions(
    contract: Contract, method: str, proba: FloatArray, shape: tuple[int, int], where: str = ""
) -> None:
    """Check that every row of an array of this shape is a distribution."""
    rule = f"{method} must return one distribution over all classes for each row"
    fits = np.shape(proba) == shape
    contract.require(fits, rule, f"{where}its shape is {np.shape(proba)}, not {shape}")
    finite = bool(np.isfinite(proba).all())
    contract.require(finite, rule, f"{where}some probabilities are not finite")
    least = np.min(proba, initial=0)
    contract.require(least >= 0, rule, f"{where}the smallest probability is {least}")
    off = np.max(np.abs(np.sum(proba, axis=1) - 1), initial=0)
    contract.require(off <= 1e-9, rule, f"{where}a row's sum is off one by {off:.3g}")
