"""Node costs: the message length of one variable given its parents, for every parent set.

Wallace, Korb & Dai (1996), as computed by the public CaMML program. A set of variables is a bit
mask: bit v represents variable v. All costs are in nits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np

from simstudy.arrays import BoolArray, FloatArray, IntArray
from simstudy.data.codes import distinct_rows
from simstudy.data.sample import Sample
from simstudy.networks.elimination import members

MAX_PARENTS = 7
MAX_CELLS = 64_000
# Cost of stating one parameter, (1 + ln(π/6))/2, as rounded in the program.
PARAMETER_COST = 0.17649
_CELLS_AT_ONCE = 2**16  # of the tables that are summarised together


def popcount(masks: IntArray) -> IntArray:
    """Return the size of each set."""
    return np.bitwise_count(masks).astype(np.intp)


def arc_estimate(arcs: int, pairs: float) -> float:
    """Return the estimate from the arcs of a network, (arcs + ½)/(pairs of variables + 1)."""
    return (arcs + 0.5) / (pairs + 1)


def arc_price(probability: float) -> float:
    """Return the structure cost of one arc."""
    return math.log((1 - probability) / probability)


class NodeCosts:
    """The costs of every variable given every possible set of parents.

    With j over all parent configurations, observed or not, and k values of the child,
    cost = Σ_j [ln (N_j+k−1)! − ln (k−1)! − Σ_v ln n_jv!] + (#configurations)(k−1)·PARAMETER_COST;
    an unobserved configuration adds only the constant.

    Attributes
    ----------
    message : array of shape (variables, 2**variables)
        ``message[v, P]`` is the cost of v given the parents P; infinite where P contains v, has
        more than 7 parents, or makes a table of more than 64,000 cells.
    likelihood : array of the same shape
        −log maximum likelihood of v given P.
    """

    def __init__(self, sample: Sample) -> None:
        cards = sample.cards
        masks = np.arange(2 ** len(cards))
        sizes = popcount(masks)
        cells = np.ones(len(masks))
        for v, card in enumerate(cards):
            cells[masks >> v & 1 == 1] *= card
        values = np.unique(cards)
        sums = _subset_sums(sample, values, (sizes <= MAX_PARENTS + 1) & (cells <= MAX_CELLS))
        self.message = np.full((len(cards), len(masks)), np.inf)
        self.likelihood = np.full((len(cards), len(masks)), np.inf)
        for v, card in enumerate(cards):
            allowed = (masks >> v & 1 == 0) & (sizes <= MAX_PARENTS)
            parents = np.flatnonzero(allowed & (cells * card <= MAX_CELLS))
            both = parents | 1 << v
            of_parents = sums[parents, 2 + int(np.searchsorted(values, card))]
            constant = cells[parents] * (card - 1) * PARAMETER_COST
            self.message[v, parents] = of_parents - sums[both, 0] + constant
            self.likelihood[v, parents] = sums[parents, 1] - sums[both, 1]


def _subset_sums(sample: Sample, values: IntArray, wanted: BoolArray) -> FloatArray:
    """Return sums over the cells of the table of every wanted subset.

    The columns are Σ ln n!, Σ n ln n and, for every number k of values, Σ ln (n+k−1)!/(k−1)!.
    Tables are computed from the largest down, each by summing a larger one over one variable.
    """
    sums = np.full((len(wanted), 2 + len(values)), np.nan)
    summarise = _summariser(sample, values)
    first, inverse = distinct_rows(sample.codes, sample.cards)
    rows = sample.codes[first]
    weights = np.bincount(inverse, sample.weights, minlength=len(first)).astype(np.float64)
    above: dict[int, FloatArray] = {}
    pending: dict[int, FloatArray] = {}  # tables that are summarised together
    cells = 0
    for steps in _summation_steps(sample.cards, wanted.tobytes()):
        tables = {}
        for mask, source, axis in steps:
            if source:
                table = np.add.reduce(above[source], axis)
            else:
                table = _counted(mask, sample.cards, rows, weights)
            tables[mask] = pending[mask] = table
            cells += table.size
            if cells > _CELLS_AT_ONCE:
                sums[[*pending]] = summarise([*pending.values()])
                pending, cells = {}, 0
        above = tables
    if pending:
        sums[[*pending]] = summarise([*pending.values()])
    return sums


@lru_cache(maxsize=64)
def _summation_steps(
    cards: tuple[int, ...], wanted: bytes
) -> tuple[tuple[tuple[int, int, int], ...], ...]:
    """Return the wanted subsets by size, the largest first, with the table to sum and its axis.

    The table is one of the subsets with one variable more; if there is none, it is 0, and the
    subset is counted.
    """
    masks = np.flatnonzero(np.frombuffer(wanted, dtype=bool))
    sizes, variables = popcount(masks), range(len(cards))
    present, layers = frozenset(masks.tolist()), []
    for size in range(len(cards), -1, -1):
        steps = []
        for mask in masks[sizes == size].tolist():
            extra = [v for v in variables if not mask >> v & 1 and mask | 1 << v in present]
            if extra:
                v = min(extra, key=cards.__getitem__)
                steps.append((mask, mask | 1 << v, (mask & (1 << v) - 1).bit_count()))
            else:
                steps.append((mask, 0, 0))
        layers.append(tuple(steps))
    return tuple(layers)


def _counted(mask: int, cards: Sequence[int], rows: IntArray, weights: FloatArray) -> FloatArray:
    """Count a subset's table from the distinct rows."""
    shape = tuple(cards[v] for v in members(mask))
    flat = np.zeros(len(rows), dtype=np.intp)
    for v in members(mask):
        flat = flat * cards[v] + rows[:, v]
    counts = np.bincount(flat, weights, minlength=math.prod(shape))
    return counts.astype(np.float64, copy=False).reshape(shape)


def _summariser(sample: Sample, values: IntArray) -> Callable[[Sequence[FloatArray]], FloatArray]:
    """Return a function from tables of counts to their rows of sums."""
    if sample.weights is None:
        # Integer counts: use lookup tables.
        n = np.arange(len(sample) + 1)
        factors = np.arange(1, len(sample) + int(values[-1]))
        log_factorial = np.concatenate([[0.0], np.cumsum(np.log(factors))])
        columns = [log_factorial[n], n * np.log(np.maximum(n, 1))]
        columns += [log_factorial[n + k - 1] - log_factorial[k - 1] for k in values]
        lookup = np.stack(columns, axis=1)

        def look_up(tables: Sequence[FloatArray]) -> FloatArray:
            counts, ends = _positive(tables)
            terms = lookup.take(counts.astype(np.intp), axis=0)
            spans = pairwise([0, *ends])
            return np.array([np.add.reduce(terms[start:end]) for start, end in spans])

        return look_up
    constants = np.array([math.lgamma(k) for k in values])

    def compute(tables: Sequence[FloatArray]) -> FloatArray:
        counts, ends = _positive(tables)
        # ln (n+k)! is ln (n+k−1)! + ln (n+k).
        terms = [counts * np.log(counts), log_gamma(counts + 1)]
        terms += [np.log(counts + k) for k in range(1, int(values[-1]))]
        columns = np.array(terms)
        spans = pairwise([0, *ends])
        sums = np.array([np.add.reduce(columns[:, start:end], axis=1) for start, end in spans])
        rising = np.cumsum(sums[:, 1:], axis=1)[:, values - 1]
        of_values = rising - constants * np.diff(ends, prepend=0)[:, None]
        return np.column_stack([sums[:, [1, 0]], of_values])

    return compute


def _positive(tables: Sequence[FloatArray]) -> tuple[FloatArray, list[int]]:
    """Return the positive counts of several tables, and where those of each table end."""
    cells = np.concatenate([table.ravel() for table in tables])
    positive = cells > 0
    ends = np.cumsum([table.size for table in tables])
    return cells[positive], np.cumsum(positive)[ends - 1].tolist()


def log_gamma(x: FloatArray) -> FloatArray:
    """Return ln Γ(x) of positive numbers by Stirling's series, without the import of scipy."""
    small = x < 16
    if small.any():
        less = x[small]
        x = np.where(small, x + 8, x)
    r = 1 / (x * x)
    last = 1 / 1188 - r * 691 / 360360
    series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r * (1 / 1680 - r * last)))) / x
    logs: FloatArray = (x - 0.5) * np.log(x) - x + 0.5 * math.log(2 * math.pi) + series
    if small.any():
        logs[small] -= np.log(np.prod([less + i for i in range(8)], axis=0))
    return logs
