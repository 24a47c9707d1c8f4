"""Splits that a splitter of scikit-learn makes, or that are listed, as text of a file of splits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from simstudy.arrays import IntArray
from simstudy.data.sample import Sample
from simstudy.errors import SimstudyError, describe

Pair: TypeAlias = tuple[IntArray, IntArray]  # training rows and test rows


def made_splits(splitter: Any, sample: Sample) -> list[Pair]:
    """Return the splits of a sample that a splitter makes, by its classes and groups."""
    rows = np.zeros((len(sample), 1))
    try:
        pairs = [*splitter.split(rows, sample.target, sample.groups)]
    except Exception as error:  # of any package
        kind = type(splitter).__name__
        raise SimstudyError(f"resampling: {kind} makes no splits: {describe(error)}") from error
    return listed_splits(pairs, len(sample))


def listed_splits(pairs: Sequence[Any], rows: int) -> list[Pair]:
    """Return pairs of training rows and test rows, checked."""
    checked = []
    for place, pair in enumerate(pairs):
        where, parts = f"resampling[{place}]", []
        if not (isinstance(pair, tuple | list) and len(pair) == 2):
            raise SimstudyError(f"{where}: a split is a pair of training rows and test rows")
        for name, part in zip(("training", "test"), pair, strict=True):
            places = np.asarray(part)
            if places.dtype == bool and places.shape == (rows,):
                places = np.flatnonzero(places)
            if places.dtype.kind not in "iu" or places.ndim != 1 or not places.size:
                raise SimstudyError(f"{where}: its {name} rows must be a list of whole numbers")
            if places.min() < 0 or places.max() >= rows:
                wrong = places[(places < 0) | (places >= rows)][0]
                text = f"row {wrong} is not one of the {rows} rows, counted from 0"
                raise SimstudyError(f"{where}: {text}")
            parts.append(places)
        checked.append((parts[0], parts[1]))
    if not checked:
        raise SimstudyError("resampling: there are no splits")
    return checked


def splits_text(splits: dict[str, list[Pair]], rows: dict[str, int]) -> str:
    """Return the text of a file of splits, by data set, for `read_splits`."""
    folds = {name: _folds(pairs, rows[name]) for name, pairs in splits.items()}
    lines, divided, several = list[str](), all(folds.values()), len(splits) > 1
    for name, pairs in splits.items():
        first = ('"' + name.replace('"', '""') + '",') * several
        for place, (train, test) in enumerate(pairs):
            if divided:
                repeat, fold = divmod(place, folds[name])
                lines += [f"{first}{row},{repeat},{fold}" for row in test]
                continue
            unused = np.setdiff1d(np.arange(rows[name]), np.concatenate([train, test]))
            for part, places in (("train", train), ("test", test), ("unused", unused)):
                lines += [f"{first}{row},{place},0,{part}" for row in places]
    header = "set," * several + "row,repeat,fold" + ",part" * (not divided)
    return "\n".join([header, *lines, ""])


def _folds(pairs: Sequence[Pair], rows: int) -> int:
    """The number of folds, if splits are repeats of a cross-validation; else 0."""
    tested = np.cumsum([len(test) for _, test in pairs])
    folds = int(np.searchsorted(tested, rows)) + 1
    whole = len(pairs) % folds == 0 and folds > 1
    for first in range(0, len(pairs), folds) if whole else ():
        repeat = pairs[first : first + folds]
        rows_tested = np.concatenate([test for _, test in repeat])
        whole = whole and np.array_equal(np.sort(rows_tested), np.arange(rows))
        whole = whole and all(
            np.array_equal(np.sort(train), np.setdiff1d(np.arange(rows), test))
            for train, test in repeat
        )
    return folds if whole else 0
