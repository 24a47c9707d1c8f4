"""Checks of the parameters of measures, and the positive class."""

import numpy as np

from simstudy.arrays import IntArray, weights_in
from simstudy.measures.arguments import rarest
from simstudy.measures.base import Weights

NO_POSITIVE, ALL_POSITIVE = "no row of the positive class", "all rows are of the positive class"


def require(condition: bool, parameter: str, value: object, allowed: str) -> None:
    """Raise a ValueError that names the parameter, its value and the allowed values."""
    if not condition:
        raise ValueError(f"{parameter} = {value!r} is not allowed; {allowed}")


def require_one_of(parameter: str, value: object, allowed: tuple[object, ...]) -> None:
    """Raise a ValueError unless a parameter has one of the allowed values."""
    words = ", ".join(map(repr, allowed))
    require(value in allowed, parameter, value, f"it must be one of {words}")


def one_sided(positives: float, negatives: float) -> str:
    """Return the reason why rates do not exist: the class that no row has; empty if both occur."""
    if positives == 0:
        return NO_POSITIVE
    return ALL_POSITIVE if negatives == 0 else ""


def check_positive(positive: int | None, classes: int) -> None:
    """Raise a ValueError unless a positive class, if given, is one of the classes."""
    if positive is not None:
        whole = isinstance(positive, int | np.integer) and not isinstance(positive, bool)
        allowed = f"it must be a class from 0 to {classes - 1}"
        require(whole and 0 <= positive < classes, "positive", positive, allowed)


def positive_class(
    positive: int | None, rarer: int | None, y: IntArray, classes: int, weights: Weights = None
) -> int:
    """Return the positive class: the one given, else the rarer class, else the rarest in the rows.

    Of classes that are equally rare in the rows, it is the one of highest index; a class without
    rows is the rarest of all.
    """
    check_positive(positive, classes)
    if positive is not None:
        return int(positive)
    if rarer is not None:
        return int(rarer)
    return rarest(weights_in(y, weights, classes))
