"""Splits of a data set into training and test rows.

A scheme is a frozen dataclass whose `Scheme.splits` is a pure function of the classes, the groups
and the random stream: the splits are the same for all learners, and further repeats leave the
earlier ones as they are. Rows, repeats and folds are counted from 0.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simstudy.arrays import ArrayLike, IntArray
from simstudy.data.splits.folds import ROUNDING, Units
from simstudy.texts import counted

MAX_REPEATS = 10_000
_TESTED, _MOST_REPEATS = 3000, 10  # rows of all repeats together, about; repeats


@dataclass(frozen=True, eq=False)
class Split:
    """The training rows and the test rows of one fold of one repeat.

    Parameters
    ----------
    repeat, fold : int
        Which split it is.
    tested : array of shape (rows,)
        The fold in which each row of the data set is tested; −1 if in none. All folds of a repeat
        share it.
    bag : array, optional
        The training rows, if they are not all the others: of a bootstrap sample, or where rows are
        not used.
    """

    repeat: int
    fold: int
    tested: IntArray
    bag: IntArray | None = None

    @property
    def train(self) -> IntArray:
        """The training rows in ascending order; a bootstrap sample has rows more than once."""
        return np.flatnonzero(self.tested != self.fold) if self.bag is None else self.bag

    @property
    def test(self) -> IntArray:
        """The test rows in ascending order; of a bootstrap sample, those out of the bag."""
        return np.flatnonzero(self.tested == self.fold)


class Scheme(ABC):
    """The base class of schemes, which draw the splits of one repeat."""

    repeats: int = 1
    stratify: bool = False

    def __post_init__(self) -> None:
        if type(self.repeats) is not int or not 1 <= self.repeats <= MAX_REPEATS:
            allowed = f"a whole number from 1 to {MAX_REPEATS}"
            raise ValueError(f"repeats must be {allowed}, not {self.repeats!r}")
        if type(self.stratify) is not bool:
            raise ValueError(f"stratify must be true or false, not {self.stratify!r}")

    def splits(
        self, target: ArrayLike, rng: np.random.Generator, groups: ArrayLike | None = None
    ) -> tuple[Split, ...]:
        """Return the splits of a data set, in the order of repeats and folds.

        Parameters
        ----------
        target : array of shape (rows,)
            The class of each row; used if ``stratify``.
        rng : numpy.random.Generator
            The stream of the splits of this data set.
        groups : array of shape (rows,), optional
            The group of each row, of any type. A group is never in both parts of a split.

        Raises
        ------
        ValueError
            If there are too few rows or groups.
        """
        units = self._units(target, groups)
        units.demand(2, "training and test rows need")
        repeats = range(self.repeats)
        return tuple(split for repeat in repeats for split in self._draw(units, repeat, rng))

    def rare(self, target: ArrayLike, groups: ArrayLike | None = None) -> dict[int, int]:
        """Return the classes too rare to stratify, with the number of rows or groups they are in.

        Less than one row (or group) of such a class is expected in some part of a split. Rare
        classes are spread as evenly as possible.
        """
        if not self.stratify:
            return {}
        numbers = self._units(target, groups).units_of_strata.tolist()
        by_class = zip(np.unique(target).tolist(), numbers, strict=True)
        return {code: number for code, number in by_class if number < self._needed}

    def rare_note(
        self, target: ArrayLike, names: Sequence[str], groups: ArrayLike | None = None
    ) -> str:
        """Return a sentence on the classes too rare to stratify; empty if there are none."""
        noun, rare = "row" if groups is None else "group", self.rare(target, groups)
        if not rare:
            return ""
        listed = ", ".join(f"'{names[code]}' ({counted(rare[code], noun)})" for code in rare)
        text = f"{counted(len(rare), 'class', 'classes')} with fewer than {self._needed} {noun}s"
        return f"{text}, too rare to stratify, spread as evenly as possible: {listed}"

    def _units(self, target: ArrayLike, groups: ArrayLike | None) -> Units:
        strata = np.unique(np.asarray(target), return_inverse=True)[1]
        return Units(strata if self.stratify else np.zeros_like(strata), groups)

    @property
    def _needed(self) -> int:
        """The rows or groups that a class needs to be expected in every part of a split."""
        return 2

    @abstractmethod
    def _draw(self, units: Units, repeat: int, rng: np.random.Generator) -> Iterator[Split]:
        """Return the splits of one repeat."""


@dataclass(frozen=True)
class CrossValidation(Scheme):
    """k-fold cross-validation, repeated: each fold in turn is tested, the others train.

    The sizes of folds differ by at most one row, and so do the rows of a class in them if
    ``stratify``: rows are dealt to the folds in turn, class by class, and each class begins where
    the last one ended. Groups are dealt greedily. With two folds, training and test rows are
    swapped (Witten, Frank & Hall 2011, section 5.3); with five repeats of two folds it is 5×2cv
    (Dietterich 1998), used by Hope & Korb (2002, 2004) with stratified folds.

    References
    ----------
    Kohavi 1995, "A study of cross-validation and bootstrap for accuracy estimation and model
    selection", IJCAI. Dietterich 1998, "Approximate statistical tests for comparing supervised
    classification learning algorithms", Neural Computation 10.
    """

    folds: int = 10
    repeats: int = 1
    stratify: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_folds(self.folds)

    @property
    def _needed(self) -> int:
        return self.folds

    def _draw(self, units: Units, repeat: int, rng: np.random.Generator) -> Iterator[Split]:
        units.demand(self.folds, f"{self.folds} folds need")
        tested = units.folds(self.folds, rng)
        return (Split(repeat, fold, tested) for fold in range(self.folds))


@dataclass(frozen=True)
class RepeatedCrossValidation(CrossValidation):
    """Cross-validation with as many repeats as bring the rows tested to about 3,000: 1 to 10.

    Repeats serve small data sets most, in which the folds of one repeat are few rows each.
    """

    def splits(
        self, target: ArrayLike, rng: np.random.Generator, groups: ArrayLike | None = None
    ) -> tuple[Split, ...]:
        """Return the splits of a data set, in the order of repeats and folds."""
        repeats = min(max(round(_TESTED / max(np.size(target), 1)), 1), _MOST_REPEATS)
        return CrossValidation(self.folds, repeats, self.stratify).splits(target, rng, groups)


@dataclass(frozen=True)
class Ordered(Scheme):
    """Later rows are tested after training on all earlier ones, in the order of the file.

    The rows are cut into folds + 1 blocks of nearly equal size; fold i tests block i + 1, counted
    from 0, and trains on all blocks before it, without rows of groups that are tested. Nothing is
    random. Where rows are in order of time, no learner is trained on the future.

    References
    ----------
    Tashman 2000, "Out-of-sample tests of forecasting accuracy: an analysis and review",
    International Journal of Forecasting 16.
    """

    folds: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_folds(self.folds)

    def _draw(self, units: Units, repeat: int, rng: np.random.Generator) -> Iterator[Split]:
        rows = len(units.of_row)
        if rows <= self.folds:
            need = f"{self.folds} folds of rows in order need at least {self.folds + 1} rows"
            raise ValueError(f"{need}; there are {rows}")
        tested = np.arange(rows) * (self.folds + 1) // rows - 1
        for fold in range(self.folds):
            kept = ~np.isin(units.of_row, units.of_row[tested == fold])
            train = np.flatnonzero(kept & (tested < fold))
            if not len(train):
                raise ValueError(f"all groups of rows before fold {fold} are tested in it")
            yield Split(repeat, fold, tested, train)


@dataclass(frozen=True)
class Holdout(Scheme):
    """Repeated random holdout: ⌊share·n⌋ of n rows train, the others are tested.

    Korb, Hope & Hughes (2001) took 25 times ⌊2n/3⌋ training rows, not stratified. If ``stratify``,
    each class has its share of training rows, rounded down or up so that they add up to ⌊share·n⌋;
    the largest fractions are rounded up. Groups are dealt greedily, so that the number of training
    rows is near to the share.

    References
    ----------
    Korb, Hope & Hughes 2001, "The evaluation of predictive learners: some theoretical and
    empirical results", ECML.
    """

    share: float = 2 / 3
    repeats: int = 25
    stratify: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.share, float) or not 0 < self.share < 1:
            raise ValueError(f"share must be a number between 0 and 1, not {self.share!r}")

    @property
    def _needed(self) -> int:
        return math.ceil(1 / min(self.share, 1 - self.share) - ROUNDING)

    def _draw(self, units: Units, repeat: int, rng: np.random.Generator) -> Iterator[Split]:
        yield Split(repeat, 0, units.holdout(self.share, rng))


@dataclass(frozen=True)
class LeaveOneOut(Scheme):
    """Leave-one-out: each row in turn is tested, or each group if there are groups.

    Nothing is random and nothing can be stratified. Fold i tests row i, or the group that is i-th
    in sorted order.
    """

    def _draw(self, units: Units, repeat: int, rng: np.random.Generator) -> Iterator[Split]:
        return (Split(repeat, unit, units.of_row) for unit in range(units.number))


@dataclass(frozen=True)
class Bootstrap(Scheme):
    """Bootstrap samples: n rows drawn with replacement train, those never drawn are tested.

    ``Split.train`` is the bag, with repetitions: also the rows of the resubstitution error. Groups
    are drawn whole, as many as there are. If ``stratify``, rows are drawn within each class, groups
    among those with the same most frequent class. A sample that leaves no row out is drawn again.

    References
    ----------
    Efron & Tibshirani 1997, "Improvements on cross-validation: the .632+ bootstrap method",
    JASA 92, who took 50 samples.
    """

    repeats: int = 50
    stratify: bool = False

    def _draw(self, units: Units, repeat: int, rng: np.random.Generator) -> Iterator[Split]:
        if self.stratify and np.bincount(units.strata_of_units).max() < 2:
            raise ValueError(f"a stratified bootstrap needs a class with at least 2 {units.noun}s")
        while True:
            bag = units.bag(rng)
            tested = np.zeros(len(units.of_row), dtype=np.intp)
            tested[bag] = -1
            if not tested.all():
                yield Split(repeat, 0, tested, bag)
                return


def _check_folds(folds: object) -> None:
    if type(folds) is not int or folds < 2:
        raise ValueError(f"folds must be a whole number from 2, not {folds!r}")


SCHEMES: Mapping[str, tuple[type[Scheme], Mapping[str, int]]] = {  # with what their names settle
    "cv": (CrossValidation, {}),
    "repeated_cv": (RepeatedCrossValidation, {"repeats": 1}),
    "ordered": (Ordered, {}),
    "5x2cv": (CrossValidation, {"folds": 2, "repeats": 5}),
    "swapped": (CrossValidation, {"folds": 2}),
    "holdout": (Holdout, {}),
    "loo": (LeaveOneOut, {}),
    "bootstrap": (Bootstrap, {}),
}
