"""Structure scores and independence tests from the counts of a sample, for pgmpy's searches."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np
from scipy.special import chdtrc, gammaln

from simstudy.arrays import FloatArray, IntArray, weights_in
from simstudy.data.codes import distinct_rows
from simstudy.data.sample import Sample
from simstudy.networks.elimination import members

# The largest conditional probability table allowed.
MAX_CELLS = 2**18
# Tables up to this size are counted, and cached, by the sample.
_CACHED_CELLS = 2**10
# Score terms are rounded to multiples of 1/_RESOLUTION, so that their sums are exact and ties
# between structures are exact on every machine.
_RESOLUTION = 2**24
_WORST = -(2.0**40)


class FamilyScore:
    """The score of one variable given its parents, from the counts of a sample.

    With i over the cells of the table of a variable and its parents, j over the q configurations of
    the parents, r values of the variable, N rows and L(a, n) = ln Γ(a + n) − ln Γ(a):

    - bic = Σ_i n_i ln n_i − Σ_j n_j ln n_j − ½ ln N · q(r − 1)
    - bdeu = Σ_i L(s/qr, n_i) − Σ_j L(s/q, n_j), where s is the equivalent sample size
    - k2 = Σ_i L(1, n_i) − Σ_j L(r, n_j)

    Each sum is rounded to a multiple of 2⁻²⁴. Tables of more than 262,144 cells score −2⁴⁰.
    """

    def __init__(self, sample: Sample, score: str, equivalent_sample_size: float = 10.0) -> None:
        self._sample, self._score, self._size = sample, score, equivalent_sample_size
        self._half_log = math.log(max(sample.total, 1.0)) / 2
        self._terms: dict[tuple[int, int], float] = {}

    def __call__(self, variable: int, parents: Collection[int]) -> float:
        mask, values = sum(1 << u for u in parents), self._sample.cards[variable]
        return self._term(mask | 1 << variable, 1) - self._term(mask, values)

    def _term(self, mask: int, k2_prior: int) -> float:
        """Return the sum over the cells of the table of a set of variables, cached."""
        key = (mask, k2_prior if self._score == "k2" else 0)
        if key not in self._terms:
            variables = members(mask)
            cells = math.prod(self._sample.cards[v] for v in variables)
            self._terms[key] = _WORST
            if cells <= MAX_CELLS:
                exact = self._sum(variables, cells, k2_prior)
                self._terms[key] = round(exact * _RESOLUTION) / _RESOLUTION
        return self._terms[key]

    def _sum(self, variables: Sequence[int], cells: int, k2_prior: int) -> float:
        if cells <= _CACHED_CELLS:
            counts = self._sample.counts(*variables).ravel()
        else:
            places, _ = _places(self._sample, variables)
            counts = weights_in(places, self._sample.weights, 0)
        counts = counts[counts > 0]
        if self._score == "bic":
            return float(counts @ np.log(counts)) - self._half_log * cells
        prior = k2_prior if self._score == "k2" else self._size / cells
        return float(np.sum(gammaln(counts + prior) - gammaln(prior)))


class IndependenceTest:
    """Pearson's χ² test of conditional independence, with the interface of pgmpy's PC.

    As in pgmpy, χ² and degrees of freedom are summed over the configurations of the conditioning
    set; empty rows and columns add no degrees of freedom, and 2 × 2 tables get Yates' correction.
    With zero degrees of freedom, as for a constant variable, p = 1.
    """

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._p_values: dict[tuple[int, int, tuple[int, ...]], float] = {}

    def __call__(
        self, first: int, second: int, condition: Collection[int], significance_level: float
    ) -> bool:
        return self.p_value(first, second, condition) >= significance_level

    def p_value(self, first: int, second: int, condition: Collection[int] = ()) -> float:
        """Return the p value under conditional independence."""
        key = (min(first, second), max(first, second), tuple(sorted(condition)))
        if key not in self._p_values:
            self._p_values[key] = _chi_squared(self._tables(*key))
        return self._p_values[key]

    def _tables(self, first: int, second: int, condition: tuple[int, ...]) -> FloatArray:
        """Return the table of both variables for each configuration of the conditioning set."""
        cards, codes = self._sample.cards, self._sample.codes
        places, strata = _places(self._sample, condition)
        flat = (places * cards[first] + codes[:, first]) * cards[second] + codes[:, second]
        cells = strata * cards[first] * cards[second]
        counts = weights_in(flat, self._sample.weights, cells)
        return counts.reshape(strata, cards[first], cards[second])


def _chi_squared(observed: FloatArray) -> float:
    rows, columns = observed.sum(axis=2, keepdims=True), observed.sum(axis=1, keepdims=True)
    total = rows.sum(axis=1, keepdims=True)
    freedom = np.maximum((rows > 0).sum(axis=1) - 1, 0)
    freedom *= np.maximum((columns > 0).sum(axis=2) - 1, 0)
    if not freedom.any():
        return 1.0
    expected = rows * columns / np.where(total > 0, total, 1.0)
    away = np.abs(observed - expected)
    away -= np.minimum(away, np.where(freedom == 1, 0.5, 0.0)[:, :, None])
    statistic = np.sum(away**2 / np.where(expected > 0, expected, 1.0))
    return float(chdtrc(freedom.sum(), statistic))


def mutual_information(sample: Sample) -> FloatArray:
    """Return I(X_i; X_j) in nats for every pair of variables, from training frequencies."""
    size = len(sample.cards)
    information = np.zeros((size, size))
    for i in range(size):
        for j in range(i):
            joint = sample.counts(i, j) / (sample.total or 1.0)
            product = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
            seen = joint > 0
            shared = float(np.sum(joint[seen] * np.log(joint[seen] / product[seen])))
            information[i, j] = information[j, i] = shared
    return information


def _places(sample: Sample, variables: Sequence[int]) -> tuple[IntArray, int]:
    """Return the index of each row's configuration of some variables, and how many indices."""
    cards = [sample.cards[v] for v in variables]
    cells = math.prod(cards)
    if variables and cells <= len(sample):
        return np.ravel_multi_index([sample.codes[:, v] for v in variables], cards), cells
    first, places = distinct_rows(sample.codes[:, list(variables)], cards)
    return places, len(first)


def refuse_large_table(cards: Sequence[int], parents: Sequence[int], variable: int) -> None:
    """Raise an error if the parents make a variable's table larger than `MAX_CELLS`."""
    cells = math.prod(cards[v] for v in (*parents, variable))
    if cells > max(MAX_CELLS, cards[variable]):
        table = f"the table of variable {variable} and its {len(parents)} parents"
        raise ValueError(f"{table} would have {cells} cells; at most {MAX_CELLS} are allowed")
