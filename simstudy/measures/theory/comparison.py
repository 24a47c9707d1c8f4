"""How two measures compare: degrees of consistency and of discriminancy (Huang & Ling 2007)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias, Unpack

import numpy as np

from simstudy import measures
from simstudy.arrays import FloatArray, IntArray, Labels
from simstudy.errors import suggestion
from simstudy.lazy import public_names
from simstudy.measures.base import Context, MeasureFunction, Undefined, score
from simstudy.measures.theory import answer_sets, two_level
from simstudy.measures.theory.answer_sets import AnswerSet
from simstudy.measures.theory.two_level import TwoLevelMeasure

AnyMeasure: TypeAlias = str | MeasureFunction | TwoLevelMeasure
PHI = "auc:accuracy"  # the φ of Huang & Ling


@dataclass(frozen=True)
class Comparison:
    """A measure f compared with a measure g over all pairs of a number of results.

    Parameters
    ----------
    f : str
        The name of the first measure.
    g : str
        The name of the second measure.
    results : int
        The number of results that were compared pairwise.
    agree : int
        R, the number of pairs in which f and g call the same result better.
    disagree : int
        S, the number of pairs in which they call different results better.
    only_f : int
        P, the number of pairs in which f differs while g ties.
    only_g : int
        Q, the number of pairs in which g differs while f ties.
    undefined : int
        The number of results left out because a value does not exist.
    """

    f: str
    g: str
    results: int
    agree: int
    disagree: int
    only_f: int
    only_g: int
    undefined: int = 0

    @property
    def consistency(self) -> float:
        """The degree of consistency ``C = R/(R + S)``, without pairs in which either ties.

        The measures are consistent if it is above ½.
        """
        decided = self.agree + self.disagree
        if not decided:
            return Undefined(f"there is no pair in which both {self.f} and {self.g} differ")
        return self.agree / decided

    @property
    def discriminancy(self) -> float:
        """The degree of discriminancy of f over g, ``D = P/Q``; infinite if only Q is 0.

        f is finer, or more discriminant, than g if it is above 1.
        """
        if self.only_g:
            return self.only_f / self.only_g
        if self.only_f:
            return math.inf
        return Undefined(f"there is no pair in which only one of {self.f} and {self.g} differs")


def compare(
    f: AnyMeasure,
    g: AnyMeasure,
    n: int = 10,
    *,
    rows: int | None = None,
    samples: int = 1000,
    classes: int = 2,
    prior: FloatArray | list[float] | None = None,
    rng: int | np.random.Generator = 0,
) -> Comparison:
    """Compare two measures over pairs of results: how often they agree, and which is finer.

    Without ``rows``, over all pairs of balanced ranked lists of ``n`` examples, as Huang & Ling
    2007, table 3, do: the example of rank i has probability (i − ½)/n of being positive, so that
    the upper half is predicted to be positive. With ``rows``, over all pairs of ``samples`` random
    answers to one set of rows, whose probabilities are uniform over the simplex.

    Parameters
    ----------
    f : str or callable or TwoLevelMeasure
        The first measure: the name of a measure in `simstudy.measures`, a function like these
        (with parameters: `functools.partial`), or a two-level measure, by name ``"auc:accuracy"``
        or ``"phi"``, which is the same.
    g : str or callable or TwoLevelMeasure
        The second measure.
    n : int >= 2, <= 20, even
        The number of examples of the ranked lists.
    rows : int >= 1, optional
        The number of rows of random answers; without it, ranked lists are enumerated.
    samples : int >= 2
        The number of random answers.
    classes : int >= 2
        The number of classes of random answers.
    prior : array of shape (classes,), optional
        The shares of the classes among the rows of random answers, and what measures get as prior;
        by default all equal.
    rng : int or numpy.random.Generator
        A seed or the source of random answers.

    Returns
    -------
    Comparison
        The degrees of consistency and discriminancy, and the counts.

    Notes
    -----
    Values that differ only by rounding, by less than 1e-9 or this share of the value, are ties. A
    measure for which smaller is better is compared by its negative; a function without metadata
    is taken as one for which greater is better.

    References
    ----------
    J. Huang & C. X. Ling (2007). Constructing new and better evaluation measures for machine
    learning. IJCAI 2007.

    C. X. Ling, J. Huang & H. Zhang (2003). AUC: a statistically consistent and more discriminating
    measure than accuracy. IJCAI 2003.
    """
    pair = [measure_of(measure, ranked=rows is None) for measure in (f, g)]
    if rows is None:
        answers = answer_sets.ranked_answers(n)
    else:
        answers = answer_sets.random_answers(rows, samples, classes, prior, rng)
    # greater codes are better results
    f_codes, g_codes = (_codes(answers, measure) for measure in pair)
    exists = (f_codes >= 0) & (g_codes >= 0)
    counts = count_pairs(f_codes[exists], g_codes[exists])
    left_out = int((~exists).sum())
    names = two_level.name_of(pair[0]), two_level.name_of(pair[1])
    return Comparison(*names, len(exists), *counts, left_out)


def select(
    measure: AnyMeasure, answers: Sequence[FloatArray], y: Labels, **context: Unpack[Context]
) -> tuple[int, ...]:
    """Select the best of several results on the same rows, by a measure of one or two levels.

    Parameters
    ----------
    measure : str or callable or TwoLevelMeasure
        The measure, as for `compare`.
    answers : sequence of arrays of shape (n, k)
        The probabilities of each learner.
    y : array of shape (n,)
        The true classes.
    **context
        What measures may declare, such as ``prior`` and ``weights``; see
        `simstudy.measures.base.score`.

    Returns
    -------
    tuple of int
        The places of the best results; several if they tie, none if no result has a value.
    """
    best: tuple[int, ...] = ()
    for step in _steps(measure_of(measure)):
        places = best or range(len(answers))
        sign = 1.0 if two_level.greater_is_better(step) else -1.0
        values = np.array([sign * score(step, answers[place], y, **context) for place in places])
        exists = ~np.isnan(values)
        if not exists.any():
            return best  # what ties in the first step ties
        ranks = two_level.levels(values[exists])
        best = tuple(np.array(places)[exists][ranks == ranks.max()].tolist())
    return best


def measure_of(measure: AnyMeasure, ranked: bool = False) -> MeasureFunction | TwoLevelMeasure:
    """Return the measure of a name; other measures as they are.

    For ranked lists, the AUC is that of Huang & Ling's footnote 3, which is fast.
    """
    if not isinstance(measure, str):
        if not callable(measure) and not isinstance(measure, TwoLevelMeasure):
            raise ValueError(f"{measure!r} is not a measure; it must be a name or a function")
        return measure
    name = PHI if measure == "phi" else measure

    def lookup(name: str) -> MeasureFunction:
        if ranked and name == "auc":
            return answer_sets.auc
        names = sorted(public_names("simstudy.measures")["measure"])
        if name not in names:
            raise ValueError(f"unknown measure {name!r}{suggestion(name, names)}")
        return getattr(measures, name)

    return two_level.two_level(name, lookup) if ":" in name else lookup(name)


def count_pairs(f: IntArray, g: IntArray) -> tuple[int, int, int, int]:
    """Count the pairs of results by how two measures order them.

    Parameters
    ----------
    f : array of shape (results,)
        The levels of the first measure, whole numbers.
    g : array of shape (results,)
        The levels of the second measure.

    Returns
    -------
    tuple of int
        R, S, P and Q of a `Comparison`.
    """
    cells, counts = np.unique(np.column_stack([f, g]), axis=0, return_counts=True)
    # Among equal f, descending g: these pairs do not rise.
    order = np.lexsort((-cells[:, 1], cells[:, 0]))
    agree = _rising_pairs(cells[order, 1], counts[order])
    total, tied = _pairs(np.array([len(f)])), _pairs(counts)
    f_ties, g_ties = _pairs(np.bincount(f)), _pairs(np.bincount(g))
    disagree = total - f_ties - g_ties + tied - agree
    return agree, disagree, g_ties - tied, f_ties - tied


def _pairs(counts: IntArray) -> int:
    """Return the number of pairs within groups of these sizes."""
    return int((counts * (counts - 1) // 2).sum())


def _rising_pairs(values: IntArray, counts: IntArray) -> int:
    """Return Σ counts[i] counts[j] over pairs i < j with values[i] < values[j], by merging."""
    total, width, place = 0, 1, np.arange(len(values))
    while width < len(values):
        block, right = place // (2 * width), place // width % 2 == 1
        order = np.lexsort((~right, values, block))  # of equal values, those at the right first
        sums = np.append(0, np.cumsum(np.where(right, 0, counts)[order]))
        below = sums[1:] - sums[block * (2 * width)]  # counts at the left, within the block
        total += int((np.where(right, counts, 0)[order] * below).sum())
        width *= 2
    return total


def _codes(answers: AnswerSet, measure: MeasureFunction | TwoLevelMeasure) -> IntArray:
    """Return the level of each result, greater for better; −1 where there is no value."""
    codes = np.zeros(len(answers.y), dtype=np.intp)
    for step in _steps(measure):
        sign = 1.0 if two_level.greater_is_better(step) else -1.0
        values = sign * answers.values(step)
        exists = ~np.isnan(values)
        ranks = np.full(len(values), -1, dtype=np.intp)
        ranks[exists] = two_level.levels(values[exists])
        codes = np.where(exists & (codes >= 0), codes * (ranks.max() + 1) + ranks, -1)
    return codes


def _steps(measure: MeasureFunction | TwoLevelMeasure) -> tuple[MeasureFunction, ...]:
    """Return the measures that order results one after the other."""
    if isinstance(measure, TwoLevelMeasure):
        return measure.first, measure.second
    return (measure,)
