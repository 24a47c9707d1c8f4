"""Learners that are made of another learner, which a study names with its parameters."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

import simstudy.learners
from simstudy.arrays import FloatArray
from simstudy.data.sample import Sample
from simstudy.data.splits.schemes import Split
from simstudy.errors import suggestion
from simstudy.lazy import component_name, public_names
from simstudy.learners.base import Learner, Limits, fit_parts, require

_COMPOUND = ("Truth", "Calibrated", "CostSensitive", "Select")  # which no learner is made of
# Names of study files, and public names here.
LEARNERS = {
    component_name(name, "learner"): name
    for name in public_names("simstudy.learners")["learner"]
    if name not in _COMPOUND
}


@dataclass(frozen=True)
class Compound(Learner):
    """Base class of learners made of others, `learners`."""

    @abstractmethod
    def learners(self) -> list[Learner]:
        """Return the other learners."""

    @property
    def accepts(self) -> frozenset[str]:  # type: ignore[override]
        """Rows that all the learners accept."""
        return frozenset.intersection(*(learner.accepts for learner in self.learners()))

    @property
    def transforms(self) -> dict[str, str]:
        """What the learners do, if all do the same."""
        first, *rest = (learner.transforms for learner in self.learners())
        alike = all(each == first for each in rest)
        return first if alike else {"numeric": "as each of its learners takes it"}

    def check_design(self, variables: Limits, values: Limits, sizes: Sequence[int]) -> None:
        """Refuse what a learner refuses."""
        for learner in self.learners():
            if hasattr(learner, "check_design"):
                learner.check_design(variables, values, sizes)

    def warm_up(self) -> None:
        """Prepare the learners, so that this is not timed as part of a fit."""
        for learner in self.learners():
            if hasattr(learner, "warm_up"):
                learner.warm_up()


@dataclass(frozen=True)
class Wrapper(Compound):
    """Base class of learners that change what another learner does.

    Parameters
    ----------
    learner : str
        The name of the learner: a built-in one, or a classifier by its path.
    parameters : table, optional
        The parameters of that learner; its defaults if not given.
    """

    purpose: ClassVar[str]  # what is done to the learner, for sentences: "weighted by costs"

    learner: str = "naive_bayes"
    parameters: dict[str, object] | None = None

    def __post_init__(self) -> None:
        self.base()  # checks its name and parameters

    def base(self) -> Learner:
        """Return the other learner."""
        return make_learner(self.learner, self.parameters or {}, self.purpose)

    def learners(self) -> list[Learner]:
        return [self.base()]


def require_folds(folds: int) -> None:
    """Refuse a number of folds that is not whole or below 2."""
    require(type(folds) is int and folds >= 2, "folds", folds, "it must be a whole number from 2")


def number_of_units(sample: Sample) -> int:
    """Return the number of rows that may be in different folds: all, or one for each group."""
    return len(sample) if sample.groups is None else len(np.unique(sample.groups))


def held_out(
    learner: Learner, sample: Sample, splits: Sequence[Split], rng: np.random.Generator
) -> Iterator[FloatArray]:
    """Yield, for each split, the answers for its test rows after a fit to its training rows."""
    fits = fit_parts(learner, sample, ((split.train, rng) for split in splits))
    for split, fitted in zip(splits, fits, strict=True):
        yield np.asarray(fitted.predict_proba(sample.take(split.test)))


def make_learner(name: str, parameters: Mapping[str, object], purpose: str) -> Learner:
    """Return a learner by its name or path, with parameters; ``purpose`` is for errors."""
    cls = _find(name, purpose)
    names = [field.name for field in dataclasses.fields(cls) if field.init]
    for key in parameters:
        if key not in names:
            of = f"parameters: '{key}' is no parameter of '{name}'"
            raise ValueError(f"{of}{suggestion(key, names)}")
    try:
        learner: Learner = cls(**parameters)
    except TypeError as error:  # a value of another type
        raise ValueError(f"parameters = {parameters!r} do not fit '{name}'") from error
    if learner.needs_structure:
        raise ValueError(f"tree = 'true' is not possible for a learner {purpose}")
    return learner


def _find(name: str, purpose: str) -> type[Learner]:
    """Return the class of a learner by its name or path."""
    if name in LEARNERS:
        return getattr(simstudy.learners, LEARNERS[name])
    if name.startswith("pgmpy:"):
        from simstudy.learners.bridges.pgmpy import pgmpy_learner

        return pgmpy_learner(name)
    if ":" in name:
        from simstudy.learners.bridges.scikit import scikit_learner

        return scikit_learner(name)
    raise ValueError(f"learner = '{name}' cannot be {purpose}{suggestion(name, LEARNERS)}")
