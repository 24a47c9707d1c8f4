"""What a measure is called with: its parameters, and the positive class by its name."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.measures.base import Keywords, MeasureFunction, parameters

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
