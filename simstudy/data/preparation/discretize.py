"""Discretisation of numeric attributes, fitted to training rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, cast

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.errors import SimstudyError, suggestion

# Entropies that differ by less, in bits, are equal: the same counts summed in another order.
_ROUNDING = 1e-12

Counts: TypeAlias = IntArray | FloatArray  # of rows, or their weights
ClassCounts: TypeAlias = list[float]  # of each class
Criterion: TypeAlias = Callable[[ClassCounts, ClassCounts, ClassCounts], bool]


def cut_points(
    values: ArrayLike,
    classes: ArrayLike,
    method: str = "fayyad_irani",
    *,
    weights: ArrayLike | None = None,
    bins: int = 10,
) -> FloatArray:
    """Return the cut points of a numeric attribute, in ascending order.

    Missing values (NaN) and rows of weight 0 are left out. A cut never separates equal values, and
    a value equal to a cut belongs to the lower bin.

    Parameters
    ----------
    values : array of shape (rows,)
        The attribute's values; NaN where one is missing.
    classes : array of shape (rows,)
        The class of each row, any labels.
    method : {"fayyad_irani", "kononenko", "equal_frequency", "equal_width"}
        ``fayyad_irani`` and ``kononenko`` split at the cut of least class entropy (the first of
        equals), halfway between two neighbouring distinct values, and then both halves, as long
        as a split is accepted. ``equal_frequency`` places cut j, halfway between two neighbouring
        distinct values, where the number of rows below is closest to jN/bins (the smaller of
        equals); where equal values make two of these the same, there are fewer bins.
        ``equal_width`` divides the range of the values into equal parts.
    weights : array of shape (rows,), optional
        Row weights. A row of weight 2 counts as two rows.
    bins : int >= 1
        The number of bins of ``equal_frequency`` and ``equal_width``; the other methods find it.

    Notes
    -----
    For N rows of k classes and entropy H, of which a cut makes parts of k₁ and k₂ classes and
    entropies H₁ and H₂ (in bits), Fayyad & Irani accept the cut if

        gain > [log₂(N − 1) + log₂(3ᵏ − 2) − (kH − k₁H₁ − k₂H₂)] / N

    and Kononenko accepts it if log₂ N!/∏n_c! + log₂ C(N + k − 1, k − 1) is greater than the sum of
    the same over both parts, with the k of the whole, plus log₂(N − 1). These are the rules of
    Weka's ``Discretize`` and ``Discretize -K``; its N − 1 is not the number of possible cuts.
    Where two cuts have equal entropy, as those of mirrored counts, rounding can make Weka take the
    second one. Kononenko's costs can be exactly equal: those of three rows, one of them of another
    class. Rounding then decides as it does in Weka, which splits these.

    References
    ----------
    U. M. Fayyad & K. B. Irani (1993). Multi-interval discretization of continuous-valued
    attributes for classification learning. IJCAI.

    I. Kononenko (1995). On biases in estimating multi-valued attributes. IJCAI.

    Examples
    --------
    >>> cut_points([1, 2, 3, 4, 5, 6], ["a", "a", "a", "b", "b", "b"])
    array([3.5])
    """
    numbers, labels = np.asarray(values, dtype=np.float64), np.asarray(classes)
    if numbers.ndim != 1 or labels.shape != numbers.shape:
        rule = "values and classes must be of one dimension and the same length"
        raise ValueError(f"{rule}; their shapes are {numbers.shape} and {labels.shape}")
    if np.isinf(numbers).any():
        raise ValueError("values must be finite numbers, or NaN if missing")
    masses = None if weights is None else np.asarray(weights, dtype=np.float64)
    if masses is not None and not (
        masses.shape == numbers.shape and np.isfinite(masses).all() and (masses >= 0).all()
    ):
        raise ValueError("weights must be one number for each row, finite and not negative")
    check_method(method, bins)
    return _cut_points(numbers, np.unique(labels, return_inverse=True)[1], masses, method, bins)


def check_method(method: str, bins: int) -> None:
    """Raise an error if a parameter is not allowed."""
    if method not in _METHODS:
        near = suggestion(method, _METHODS)
        raise SimstudyError(f"unknown method '{method}' of discretisation{near}")
    if not isinstance(bins, int | np.integer) or bins < 1:
        raise SimstudyError(f"bins = {bins} is not allowed; it must be a whole number from 1")


def _cut_points(
    values: FloatArray, classes: IntArray, weights: FloatArray | None, method: str, bins: int
) -> FloatArray:
    """Count the classes at each distinct value, and cut there."""
    present = ~np.isnan(values)
    if weights is not None:
        present &= weights > 0
        weights = weights[present]
    distinct, place = np.unique(values[present], return_inverse=True)
    if len(distinct) < 2:
        return np.empty(0)
    if method == "equal_width":
        low, high = distinct[[0, -1]] / 2  # whose difference is always finite
        return np.unique(2 * (low + (high - low) / bins * np.arange(1, bins)))
    labels = classes[present]
    cells, size = labels * len(distinct) + place, len(distinct) * (int(labels.max()) + 1)
    table = np.bincount(cells, weights, minlength=size).reshape(-1, len(distinct))
    if method == "equal_frequency":
        below = _equal_frequency(table.sum(axis=0), bins)
    else:
        below = _least_entropy(table, _ACCEPTED_BY[method])
    lower, upper = distinct[below], distinct[below + 1]
    middle = lower / 2 + upper / 2
    return np.where(middle < upper, middle, lower)  # of numbers without another one between


def _equal_frequency(masses: Counts, bins: int) -> IntArray:
    """Return the places of the values below the cuts."""
    below = masses.cumsum()
    distances = np.abs(below[:-1, None] * bins - below[-1] * np.arange(1, bins))
    return np.unique(distances.argmin(axis=0))


def _least_entropy(table: Counts, accepted: Criterion) -> IntArray:
    """Return the places of the values below accepted cuts; ``table`` has classes × values."""
    cuts, pending, weigh = list[int](), [(0, table.shape[1])], _n_log_n(table)
    while pending:
        first, end = pending.pop()
        part = table[:, first:end]
        part = part[part.any(axis=1)]
        if end - first < 2 or len(part) < 2:
            continue
        counts = np.empty((2, len(part), end - first - 1), dtype=table.dtype)  # below and above
        part[:, :-1].cumsum(axis=1, out=counts[0])
        part[:, :0:-1].cumsum(axis=1, out=counts[1, :, ::-1])
        sizes = counts.sum(axis=1)
        # The entropies of both parts in bits, times their rows.
        entropies = (weigh(sizes) - weigh(counts).sum(axis=1)).sum(axis=0)
        slack = _ROUNDING * float(sizes[0, 0] + sizes[1, 0])
        best = int((entropies <= entropies.min() + slack).argmax())
        lower, upper = counts[:, :, best].tolist()
        whole = [a + b for a, b in zip(lower, upper, strict=True)]
        if entropies[best] < sum(whole) * _entropy(whole) - slack and accepted(whole, lower, upper):
            cuts.append(first + best)
            pending += [(first, first + best + 1), (first + best + 1, end)]
    return np.array(sorted(cuts), dtype=np.intp)


def _n_log_n(table: Counts) -> Callable[[Counts], FloatArray]:
    """Return the function n log₂ n of numbers up to the sum of a table; 0 if n is 0."""
    if table.dtype.kind == "i":
        n = np.arange(int(table.sum()) + 1)
        return cast(Callable[[Counts], FloatArray], (n * np.log2(n.clip(1))).take)
    return lambda counts: cast(FloatArray, counts * np.log2(np.where(counts > 0, counts, 1)))


def _entropy(counts: ClassCounts) -> float:
    """Return the entropy of the classes of some rows, in bits."""
    rows = sum(counts)
    return sum(count / rows * math.log2(rows / count) for count in counts if count)


def _accepted_by_fayyad_irani(whole: ClassCounts, lower: ClassCounts, upper: ClassCounts) -> bool:
    gain = _entropy(whole)
    spread = len(whole) * gain  # kH − k₁H₁ − k₂H₂
    for part in (lower, upper):
        entropy = _entropy(part)
        gain -= sum(part) / sum(whole) * entropy
        spread -= (len(part) - part.count(0)) * entropy
    cost = _cost_of_cut(whole) + math.log2(3 ** len(whole) - 2) - spread
    return gain > cost / sum(whole)


def _accepted_by_kononenko(whole: ClassCounts, lower: ClassCounts, upper: ClassCounts) -> bool:
    """Compare costs, added up in Weka's order and with its ln Γ, which decide if they are equal."""
    from scipy.special import gammaln  # slow to import

    def costs(counts: ClassCounts) -> tuple[float, float]:
        """The bits of the number of rows of each class, and of the rows given these numbers."""
        rows, free = sum(counts), len(whole) - 1
        numbers = gammaln(rows + free + 1) - gammaln(free + 1) - gammaln(rows + 1)
        order = gammaln(rows + 1) - gammaln(np.array(counts) + 1).cumsum()[-1]
        return float(numbers) / math.log(2), float(order) / math.log(2)

    before, first, second = costs(whole), costs(lower), costs(upper)
    after = _cost_of_cut(whole) + (first[0] + second[0]) + (first[1] + second[1])
    return before[1] + before[0] > after


def _cost_of_cut(whole: ClassCounts) -> float:
    """Return log₂(N − 1), or 0 for weights that add up to less than two rows."""
    return math.log2(max(sum(whole) - 1, 1))


_ACCEPTED_BY = {"fayyad_irani": _accepted_by_fayyad_irani, "kononenko": _accepted_by_kononenko}
_METHODS = (*_ACCEPTED_BY, "equal_frequency", "equal_width")


@dataclass(frozen=True, eq=False)
class Discretizer:
    """Puts the numbers of any rows with the schema of the training rows into bins; see `fit`.

    A value equal to a cut falls in the lower bin, a value beyond those of the training rows in
    the first or last bin, and a missing value stays missing. An attribute without cuts becomes
    one bin. Other attributes and the target stay as they are.

    Attributes
    ----------
    cuts : dict of str to array
        The cuts of each numeric attribute, by name.
    schema : Schema
        The schema of discretised rows; bins are named as in Weka, ``'(-inf-2.45]'``.
    """

    training_schema: Schema
    cuts: dict[str, FloatArray]

    @classmethod
    def fit(cls, sample: Sample, method: str = "fayyad_irani", bins: int = 10) -> Discretizer:
        """Find the cuts of each numeric attribute, only from these rows and with their weights.

        Parameters
        ----------
        sample : Sample
            The training rows.
        method : {"fayyad_irani", "kononenko", "equal_frequency", "equal_width"}
            How cuts are found; see `cut_points`.
        bins : int >= 1
            The number of bins of ``equal_frequency`` and ``equal_width``.
        """
        check_method(method, bins)
        rows = (sample.target, sample.weights, method, bins)
        variables, columns = sample.schema.variables, sample.values.T
        numeric = sample.schema.numeric
        cuts = {variables[i].name: _cut_points(columns[i], *rows) for i in numeric}
        return cls(sample.schema, cuts)

    @cached_property
    def schema(self) -> Schema:
        variables = list(self.training_schema.variables)
        for place in self.training_schema.numeric:
            name = variables[place].name
            variables[place] = Variable(name, _bin_names(self.cuts[name]))
        return Schema(tuple(variables))

    def __call__(self, sample: Sample) -> Sample:
        """Return the rows with bins in place of numbers."""
        sample.schema.check(self.training_schema)
        if not self.cuts:
            return sample
        values = sample.values.copy(order="F")
        for place in self.training_schema.numeric:
            column = values[:, place]
            cuts = self.cuts[self.training_schema.variables[place].name]
            values[:, place] = np.where(np.isnan(column), column, np.searchsorted(cuts, column))
        return sample.with_values(values, self.schema)


def _bin_names(cuts: FloatArray) -> tuple[str, ...]:
    """Return the names of the bins, with more digits where ten do not tell the cuts apart."""
    if not len(cuts):
        return ("'All'",)
    texts = [f"{cut:.10g}" for cut in cuts.tolist()]
    if len({*texts}) < len(texts):
        texts = [*map(repr, cuts.tolist())]
    bins = zip(["-inf", *texts], texts, strict=False)
    return (*(f"'({low}-{high}]'" for low, high in bins), f"'({texts[-1]}-inf)'")
