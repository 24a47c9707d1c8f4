"""Two-level measures f:g, which order results and have no mean (Huang & Ling 2007)."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simstudy.arrays import BoolArray, FloatArray, IntArray
from simstudy.measures.base import MeasureFunction, function_name, info_of

TOLERANCE = 1e-9


@dataclass(frozen=True)
class TwoLevelMeasure:
    """A two-level measure f:g: results are compared by f and, if f ties, by g.

    Huang & Ling 2007, definition 1. Such a measure orders results; it has no value and
    no mean.

    Parameters
    ----------
    first : callable
        The measure f, which decides unless it ties.
    second : callable
        The measure g, which breaks ties.

    Notes
    -----
    Two values tie if they differ by at most 1e-9, or this share of the greater one, so that
    rounding does not break ties. It is far below the steps of measures that count rows,
    1/(n_0 n_1) for an AUC.

    References
    ----------
    J. Huang & C. X. Ling (2007). Constructing new and better evaluation measures for machine
    learning. IJCAI 2007.
    """

    first: MeasureFunction
    second: MeasureFunction

    def __post_init__(self) -> None:
        for level in (self.first, self.second):
            if isinstance(level, TwoLevelMeasure):
                raise ValueError(
                    "a two-level measure is made of two plain measures, not of two-level measures "
                    "(Huang & Ling 2007, theorem 2)"
                )

    @property
    def name(self) -> str:
        """The names of both measures, as ``"auc:accuracy"``."""
        return f"{name_of(self.first)}:{name_of(self.second)}"


def two_level(name: str, lookup: Callable[[str], MeasureFunction]) -> TwoLevelMeasure:
    """Make a two-level measure from its name.

    Parameters
    ----------
    name : str
        The names of two measures and a colon, as ``"auc:accuracy"``.
    lookup : callable
        Returns the measure of a name.
    """
    names = name.split(":")
    if len(names) != 2 or not all(names):
        allowed = "it must be two names and a colon, as 'auc:accuracy'"
        raise ValueError(f"{name!r} is not a two-level measure; {allowed}")
    return TwoLevelMeasure(lookup(names[0]), lookup(names[1]))


def level_names(name: str) -> list[str]:
    """Return the names of the measures that a measure is made of: both of a two-level one."""
    return name.split(":")


def auc_accuracy_number(auc: float, accuracy: float) -> float:
    """Return the number that Huang & Ling (2007) print for AUC:acc: ``min(1, AUC + .01 acc)``.

    It is only for comparison with their tables 4, 6 and 7. Where values of the AUC are less than
    .01 apart it does not order results as the two-level measure does.
    """
    return min(1.0, auc + 0.01 * accuracy)


def ties(first: float, second: float) -> bool:
    """Whether two values are equal but for rounding: `differ` of single numbers, and faster."""
    return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def differ(first: FloatArray, second: FloatArray) -> BoolArray:
    """Whether values of a measure differ by more than rounding.

    NaN differs from all values; equal infinities do not differ. This is what a tie of two
    results is, wherever a measure chooses between them. Probabilities tie as
    `ranked.last_of_ties` has it.
    """
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        large = np.maximum(1.0, np.maximum(np.abs(first), np.abs(second)))
        far = np.abs(first - second) > TOLERANCE * large
    return np.where(np.isfinite(large), far, first != second)


def levels(values: FloatArray) -> IntArray:
    """Return the rank of each value among the distinct ones, 0 for the least.

    Neighbours in the sorted order that `differ` by no more than rounding have one rank.
    """
    order = np.argsort(values)
    ascending = values[order]
    rises = differ(ascending[:-1], ascending[1:])
    ranks = np.empty(len(values), dtype=np.intp)
    ranks[order] = np.append(0, np.cumsum(rises))[: len(values)]
    return ranks


def greater_is_better(function: MeasureFunction) -> bool:
    """Whether greater values of a measure are better; so they are if it does not say."""
    info = info_of(function)
    return True if info is None else info.greater_is_better


def name_of(function: MeasureFunction | TwoLevelMeasure) -> str:
    """Return the name of a measure."""
    return function.name if isinstance(function, TwoLevelMeasure) else function_name(function)
