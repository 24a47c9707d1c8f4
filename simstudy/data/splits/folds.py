"""Rows, or groups of rows, dealt at random to the parts of a split."""

from __future__ import annotations

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray, IntArray
from simstudy.texts import counted

ROUNDING = 1e-9  # 0.29 · 100 and 2/3 · 3 are whole numbers


def whole_part(number: float) -> int:
    """Return the number rounded down, except where it is below a whole one only by rounding."""
    return int(number + ROUNDING)


class Units:
    """What is dealt to the parts of a split: rows, or groups of rows; and their strata."""

    def __init__(self, strata: IntArray, groups: ArrayLike | None) -> None:
        self.strata, self.grouped = strata, groups is not None
        self.of_row: IntArray = np.arange(len(strata))
        if groups is not None:
            self.of_row = np.unique(np.asarray(groups), return_inverse=True)[1]
            if self.of_row.shape != strata.shape:
                rule = f"one group for each of the {len(strata)} rows"
                raise ValueError(f"groups must name {rule}; their shape is {self.of_row.shape}")
        self.number = int(self.of_row.max(initial=-1)) + 1
        self.noun = "group" if self.grouped else "row"

    def demand(self, number: int, need: str) -> None:
        """Raise an error if there are too few units."""
        if self.number < number:
            present = f"there {'is' if self.number == 1 else 'are'} {self.number or 'none'}"
            raise ValueError(f"{need} at least {counted(number, self.noun)}; {present}")

    @property
    def table(self) -> IntArray:
        """The number of rows of each unit and stratum."""
        strata = int(self.strata.max(initial=-1)) + 1
        cells = self.of_row * strata + self.strata
        return np.bincount(cells, minlength=self.number * strata).reshape(self.number, strata)

    @property
    def units_of_strata(self) -> IntArray:
        """The number of units in which each stratum occurs."""
        return (self.table > 0).sum(axis=0) if self.grouped else np.bincount(self.strata)

    @property
    def strata_of_units(self) -> IntArray:
        """The stratum of each unit; of a group that of most of its rows, the first of equals."""
        return self.table.argmax(axis=1) if self.grouped else self.strata

    def folds(self, number: int, rng: np.random.Generator) -> IntArray:
        """Deal all units to folds of nearly equal size; return the fold of each row."""
        names = rng.permutation(number)  # else the first folds would always be the larger ones
        if self.grouped:
            return names[self._greedy(np.full(number, 1 / number), rng)]
        dealt = np.empty(self.number, dtype=np.intp)
        dealt[self._shuffled(rng)] = np.arange(self.number) % number
        return names[dealt]

    def holdout(self, share: float, rng: np.random.Generator) -> IntArray:
        """Return −1 for training rows and 0 for test rows."""
        if self.grouped:
            return self._greedy(np.array([share, 1 - share]), rng) - 1
        rows, counts = self.number, np.bincount(self.strata)
        train = min(max(whole_part(share * rows), 1), rows - 1)
        quotas, remainders = np.divmod(counts * train, rows)
        ranks = np.lexsort((rng.random(len(counts)), -remainders))
        quotas[ranks[: train - quotas.sum()]] += 1
        order = self._shuffled(rng)
        dealt = np.zeros(rows, dtype=np.intp)
        for stratum, quota in enumerate(quotas):
            dealt[order[self.strata[order] == stratum][:quota]] = -1
        return dealt

    def bag(self, rng: np.random.Generator) -> IntArray:
        """Draw as many units with replacement as there are, in each stratum; return their rows."""
        strata = self.strata_of_units
        times = np.zeros(self.number, dtype=np.intp)
        for stratum in range(int(strata.max()) + 1):
            members = np.flatnonzero(strata == stratum)
            if len(members):
                np.add.at(times, members[rng.integers(0, len(members), len(members))], 1)
        return np.repeat(np.arange(len(self.of_row)), times[self.of_row])

    def _shuffled(self, rng: np.random.Generator) -> IntArray:
        """Return the rows in random order, stratum by stratum, the strata too in random order."""
        order = rng.permutation(len(self.strata))
        places = rng.permutation(int(self.strata.max()) + 1)
        return order[np.argsort(places[self.strata[order]], kind="stable")]

    def _greedy(self, shares: FloatArray, rng: np.random.Generator) -> IntArray:
        """Deal the groups to parts of these shares; return the part of each row.

        Groups come one by one, large ones first: in order of the power of 2 below their size and
        at random within it. Each goes where Σ (rows of the stratum in the part − rows expected)² /
        rows expected grows least, of equals to the part with the fewest rows for its share; the
        last ones to parts that are empty. Hence sizes and strata are as even as a single pass
        makes them, and repeats differ.
        """
        table = self.table
        order = rng.permutation(self.number)
        order = order[np.argsort(-np.frexp(table[order].sum(axis=1))[1], kind="stable")]
        totals = np.maximum(table.sum(axis=0), 1)
        dealt = np.zeros((len(shares), table.shape[1]))
        chosen = np.empty(self.number, dtype=np.intp)
        for left, unit in zip(range(self.number, 0, -1), order, strict=True):
            rows = table[unit]
            growth = ((2 * dealt + rows) * rows / totals).sum(axis=1) / shares
            sizes = dealt.sum(axis=1)
            if left <= (sizes == 0).sum():
                growth[sizes > 0] = np.inf
            part = int(np.lexsort((sizes / shares, np.round(growth, 9)))[0])
            chosen[unit] = part
            dealt[part] += rows
        return chosen[self.of_row]


def in_proportion(
    classes: ArrayLike, order: IntArray, length: int, rng: np.random.Generator
) -> IntArray:
    """Merge the classes, each in its random order, in proportion to their rows.

    Returns the first rows, as many as ``length``: among the first m of n rows, the number of each
    class differs by less than one from m·n_c/n (Tijdeman 1980, "The chairman assignment problem",
    Discrete Mathematics 32).
    """
    strata, counts = np.unique(classes, return_inverse=True, return_counts=True)[1:]
    names = rng.permutation(len(counts))  # which of equally large classes comes first
    strata, counts = names[strata], counts[np.argsort(names)]
    by_class = order[np.argsort(strata[order], kind="stable")]
    following = np.cumsum(counts) - counts  # the next row of each class
    rows, taken = len(order), np.zeros_like(counts)
    slack = rows / max(2 * len(counts) - 2, 1)
    merged = np.empty(length, dtype=np.intp)
    for place in range(length):
        due = (place + 1) * counts - rows * taken
        deadline = np.where(due >= slack, (rows - slack - due) / counts, np.inf)
        chosen = int(deadline.argmin())
        merged[place] = by_class[following[chosen]]
        following[chosen] += 1
        taken[chosen] += 1
    return merged
