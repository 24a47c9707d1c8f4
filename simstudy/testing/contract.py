"""Helpers shared by the contract checks."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, NoReturn

import numpy as np


class Contract:
    """Reports violations: the object, the rule, and what was found."""

    def __init__(self, value: Any) -> None:
        self.name = getattr(value, "__name__", type(value).__name__)

    def fail(self, rule: str, found: str, cause: Exception | None = None) -> NoReturn:
        raise AssertionError(f"{self.name}: {rule}; {found}") from cause

    def require(self, kept: bool | np.bool_, rule: str, found: str) -> None:
        if not kept:
            self.fail(rule, found)

    def attempt(self, rule: str, call: Callable[..., Any], *args: Any) -> Any:
        """Call a function that must not fail according to the contract."""
        try:
            return call(*args)
        except Exception as error:
            self.fail(rule, f"it raised {type(error).__name__}: {error}", error)


def stream(*key: int) -> np.random.Generator:
    return np.random.default_rng(key)


def gap(one: Any, other: Any) -> str:
    """Describe the difference between two arrays."""
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return f"their shapes, {one.shape} and {other.shape}"
    return f"up to {np.abs(one - other).max():.3g}"


def check_parameters(contract: Contract, value: Any) -> Any:
    """Check the rules common to families and learners; return a pickled copy."""
    frozen = is_dataclass(value) and not isinstance(value, type) and _is_frozen(value)
    rule = "it must be a frozen dataclass instance"
    contract.require(frozen, rule, f"it is {value!r}")
    copy = contract.attempt("it must pickle", lambda: pickle.loads(pickle.dumps(value)))
    contract.require(copy == value, "it must equal its pickled copy", f"{value!r} became {copy!r}")
    return copy


def _is_frozen(value: Any) -> bool:
    return bool(type(value).__dataclass_params__.frozen)


def check_distributions(
    contract: Contract, method: str, proba: Any, shape: tuple[int, int], where: str = ""
) -> None:
    """Check that every row of an array of this shape is a distribution."""
    rule = f"{method} must return one distribution over all classes for each row"
    contract.require(
        np.shape(proba) == shape, rule, f"{where}its shape is {np.shape(proba)}, not {shape}"
    )
    contract.require(
        bool(np.isfinite(proba).all()), rule, f"{where}some probabilities are not finite"
    )
    contract.require(
        bool(np.all(proba >= 0)),
        rule,
        f"{where}the smallest probability is {np.min(proba, initial=0)}",
    )
    off = np.max(np.abs(np.sum(proba, axis=1) - 1), initial=0)
    contract.require(off <= 1e-9, rule, f"{where}a row's sum is off one by {off:.3g}")
