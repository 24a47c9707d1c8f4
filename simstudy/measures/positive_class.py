"""Parameters of measures: their checks, and the positive class by its name or number."""

import json
from collections.abc import Mapping, Sequence

import numpy as np

from simstudy.arrays import Class, FloatArray, Labels, weights_in
from simstudy.errors import require as require
from simstudy.measures.base import Keywords, MeasureFunction, Weights, parameters

NO_POSITIVE, ALL_POSITIVE = "no row of the positive class", "all rows are of the positive class"


def require_one_of(parameter: str, value: object, allowed: tuple[object, ...]) -> None:
    """Raise a ValueError unless a parameter has one of the allowed values."""
    words = ", ".join(map(repr, allowed))
    require(value in allowed, parameter, value, f"it must be one of {words}")


def one_sided(positives: float, negatives: float) -> str:
    """Return the reason why rates do not exist: the class that no row has; empty if both occur."""
    if positives == 0:
        return NO_POSITIVE
    return ALL_POSITIVE if negatives == 0 else ""


def check_positive(positive: Class, classes: int) -> None:
    """Raise a ValueError unless a positive class, if given, is one of the classes."""
    if positive is not None:
        whole = isinstance(positive, int | np.integer) and not isinstance(positive, bool)
        allowed = f"it must be a class from 0 to {classes - 1}"
        require(whole and 0 <= positive < classes, "positive", positive, allowed)


def positive_class(
    positive: Class, rarer: Class, y: Labels, classes: int, weights: Weights = None
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


POSITIVE = "positive"  # a parameter that names a class
_ROUNDING = 1e-12  # of a share of the rows


def class_numbers(classes: int) -> tuple[str, ...]:
    """Return the names of the classes of a model: their numbers from 0."""
    return tuple(map(str, range(classes)))


def rarest(counts: FloatArray) -> int:
    """Return the class with the smallest count; of equals but for rounding, the last."""
    counts = np.asarray(counts)
    return int(np.flatnonzero(counts <= counts.min() + _ROUNDING * counts.sum())[-1])


def class_index(name: str | int, names: Sequence[str]) -> int:
    """Return the number of a class by its name."""
    if str(name) not in names:
        listed = ", ".join(f"'{label}'" for label in names[:10]) + ", …" * (len(names) > 10)
        raise ValueError(f"positive = {json.dumps(name)} is none of the classes {listed}")
    return names.index(str(name))


def arguments(
    function: MeasureFunction,
    stated: Mapping[str, object],
    names: Sequence[str],
    positive: str | int | None = None,
) -> Keywords:
    """Return the parameters to call a measure with, the positive class as a number.

    ``positive`` is the positive class of all measures that have one and are not given another.
    """
    settings: Keywords = dict(stated)
    if positive is not None and POSITIVE in parameters(function):
        settings.setdefault(POSITIVE, positive)
    if POSITIVE in settings:
        settings[POSITIVE] = class_index(settings[POSITIVE], names)
    return settings
