"""How data sets are split, as a study states it: a scheme, its parameters, and training sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from simstudy.arrays import ArrayLike, IntArray
from simstudy.data.splits.folds import in_proportion, whole_part
from simstudy.data.splits.schemes import SCHEMES, Scheme
from simstudy.errors import suggestion

WITH_REPEATS = frozenset(  # schemes whose number of repeats a study may state
    name
    for name, (kind, settled) in SCHEMES.items()
    if "repeats" in {field.name for field in fields(kind)} - {*settled}  # type: ignore[arg-type]
)
Sizes: TypeAlias = tuple[int, ...] | tuple[float, ...]


@dataclass(frozen=True)
class Resampling:
    """How data sets are split: the section ``[resampling]`` of a study.

    Parameters
    ----------
    scheme : Scheme, optional
        The scheme; None if the splits are read from a file.
    splits : str, optional
        The file of splits.
    sizes : tuple of int or of float
        Numbers of training rows, or shares of the training part, for learning curves; empty for
        only the whole training part.
    stratify : bool
        Whether subsets of these sizes are stratified.
    """

    scheme: Scheme | None
    splits: str | None = None
    sizes: Sizes = ()
    stratify: bool = True

    @classmethod
    def of(cls, keys: Mapping[str, object]) -> Resampling:
        """Return what the keys of a section say; raise a ValueError of one sentence.

        The keys are ``scheme`` (see `scheme_name`) with ``folds``, ``repeats``, ``share`` and
        ``stratify`` as the scheme has them, or ``splits`` with ``stratify``; and ``sizes``.
        """
        rest, name = dict(keys), scheme_name(keys)
        sizes = check_sizes(rest.pop("sizes", ()))
        if "splits" not in rest:
            rest.pop("scheme", None)
            scheme = make_scheme(name, rest)
            return cls(scheme, None, sizes, scheme.stratify)
        splits, stratify = rest.pop("splits"), rest.pop("stratify", True)
        if not isinstance(splits, str) or not splits:
            raise ValueError(f"splits must name a file, not {splits!r}")
        if rest:
            raise ValueError(f"{min(rest)} cannot be given together with splits = '{splits}'")
        if not isinstance(stratify, bool):
            raise ValueError(f"stratify must be true or false, not {stratify!r}")
        return cls(None, splits, sizes, stratify)


def scheme_name(keys: Mapping[str, object]) -> object:
    """Return the scheme that keys name: by default ``"repeated_cv"``, with other keys ``"cv"``."""
    stated = keys.keys() - {"stratify", "sizes", "splits"}
    return keys.get("scheme", "cv" if stated else "repeated_cv")


def make_scheme(name: object, keys: Mapping[str, object]) -> Scheme:
    """Return the scheme of this name and these parameters; raise a ValueError of one sentence."""
    if not isinstance(name, str) or name not in SCHEMES:
        raise ValueError(f"unknown scheme {name!r}{suggestion(str(name), SCHEMES)}")
    kind, settled = SCHEMES[name]
    allowed = [field.name for field in fields(kind) if field.name not in settled]  # type: ignore[arg-type]
    for key in keys:
        if key not in allowed:
            rule = f"its keys are {', '.join(allowed)}" if allowed else "it has no keys"
            raise ValueError(f"{key} does not belong to scheme '{name}'; {rule}")
    return kind(**settled, **keys)


def check_sizes(sizes: object) -> Sizes:
    """Return training sizes as a tuple: whole numbers of rows, or shares of the training part."""
    allowed = "whole numbers of rows from 1, or shares above 0 and up to 1.0, in ascending order"
    if not isinstance(sizes, list | tuple):
        raise ValueError(f"sizes must be a list of {allowed}, not {sizes!r}")
    for size in sizes:
        share = isinstance(size, float) and 0 < size <= 1
        if not share and not (type(size) is int and size >= 1):
            raise ValueError(f"sizes must be {allowed}; one is {size!r}")
    if len({type(size) for size in sizes}) > 1:
        raise ValueError(f"sizes must be all whole numbers of rows or all shares, not {sizes!r}")
    for size, following in pairwise(sizes):
        if following <= size:
            raise ValueError(f"sizes must be {allowed}; {following} follows {size}")
    return tuple(sizes)


def unfit_sizes(sizes: Sizes, rows: int) -> list[int | float]:
    """Return the sizes that a training part lacks: too many rows, or a share of less than one.

    For the same sizes in all splits of a data set, ask with the rows of the smallest training part.
    """
    numbers = {size: size if type(size) is int else whole_part(size * rows) for size in sizes}
    return [size for size, number in numbers.items() if not 1 <= number <= rows]


def nested_subsets(
    train: IntArray,
    target: ArrayLike,
    numbers: Sequence[int],
    rng: np.random.Generator,
    stratify: bool = True,
) -> dict[int, IntArray]:
    """Return nested subsets of the training rows, by their numbers, each in ascending order.

    Parameters
    ----------
    train : array
        The training rows of a split.
    target : array of shape (rows,)
        The class of each row of the data set.
    numbers : sequence of int
        The numbers of rows, at most those of the training part.
    rng : numpy.random.Generator
        The stream of this split: which numbers are asked for changes no subset.
    stratify : bool
        Whether classes are represented in proportion.

    Notes
    -----
    Subsets are the first rows of one permutation of the training rows. If stratified, the number of
    rows of each class differs by less than one from its share, in subsets of any size.
    """
    order = rng.permutation(len(train))
    if stratify:
        order = in_proportion(np.asarray(target)[train], order, max(numbers, default=0), rng)
    return {number: np.sort(train[order[:number]]) for number in numbers}
