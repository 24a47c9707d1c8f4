"""What is done to data before a learner gets them, fitted to the training part alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simstudy.data.preparation.discretize import Discretizer
from simstudy.data.preparation.missing import METHODS, Imputer
from simstudy.data.sample import Sample
from simstudy.errors import SimstudyError, suggestion

_DISCRETIZERS = {"mdl": "fayyad_irani"}
_DISCRETIZERS |= {name: name for name in ("kononenko", "equal_frequency", "equal_width")}


@dataclass(frozen=True)
class Preparation:
    """Discretises numbers and replaces missing values for learners that do not accept them.

    A learner that accepts numbers or missing values gets them as they are; to prepare them for it
    nevertheless, leave the word out of ``accepts``. Numbers are discretised before missing values
    are replaced. Preparations are hashable: one fitted for the same training rows and ``accepts``
    serves all learners that accept the same.

    Parameters
    ----------
    discretize : {"mdl", "kononenko", "equal_frequency", "equal_width", "none"}
        How numbers are made nominal, ``mdl`` by Fayyad & Irani; see `discretize` beside this.
        With ``none``, numbers are refused for learners that do not accept them.
    bins : int >= 1
        The number of bins of ``equal_frequency`` and ``equal_width``.
    missing : {"ignore", "mode", "value"}
        ``mode`` replaces a missing value by the training mode, ``value`` makes it a value of its
        own; see `missing` beside this. With ``ignore``, missing values are refused for learners
        that do not accept them.
    """

    discretize: str = "mdl"
    bins: int = 10
    missing: str = "ignore"

    def __post_init__(self) -> None:
        for key, value, allowed in (
            ("discretize", self.discretize, (*_DISCRETIZERS, "none")),
            ("missing", self.missing, ("ignore", *METHODS)),
        ):
            if value not in allowed:
                near = suggestion(value, allowed)
                raise SimstudyError(f"preparation.{key} = '{value}' is not allowed{near}")
        Discretizer(bins=self.bins)  # refuses what is not allowed

    def check(self, sample: Sample, accepts: frozenset[str], learner: str = "the learner") -> None:
        """Raise an error if rows are left with what the learner does not accept."""
        numeric, variables = sample.schema.numeric, sample.schema.variables
        if numeric and self.discretize == "none" and "numeric" not in accepts:
            raise SimstudyError(
                f"{learner} takes only nominal attributes, and '{variables[numeric[0]].name}' is "
                "numeric; preparation.discretize = 'none' leaves it so, use 'mdl' or another method"
            )
        if self.missing == "ignore" and "missing" not in accepts and sample.incomplete:
            place = int(np.isnan(sample.values).any(axis=0).argmax())
            raise SimstudyError(
                f"{learner} takes no missing values, and '{variables[place].name}' has some; "
                "preparation.missing = 'ignore' leaves them, use 'mode' or 'value'"
            )

    def fit(self, train: Sample, accepts: frozenset[str] = frozenset()) -> Prepared:
        """Fit the preparation to training rows, for learners that accept certain data."""
        self.check(train, accepts)
        steps: list[Callable[[Sample], Sample]] = []
        if "numeric" not in accepts and train.schema.numeric:
            steps.append(Discretizer(_DISCRETIZERS[self.discretize], self.bins).fit(train))
            train = steps[-1](train)
        if "missing" not in accepts and self.missing != "ignore":
            steps.append(Imputer(self.missing).fit(train))
            train = steps[-1](train)
        return Prepared(self, accepts, tuple(steps), train)


@dataclass(frozen=True, eq=False)
class Prepared:
    """A fitted preparation: prepares any rows with the schema of the training rows.

    Attributes
    ----------
    train : Sample
        The prepared training rows: the training rows themselves if there was nothing to do.
    """

    preparation: Preparation
    accepts: frozenset[str]
    steps: tuple[Callable[[Sample], Sample], ...]
    train: Sample

    def __call__(self, sample: Sample) -> Sample:
        """Return the prepared rows; raise an error if the learner would not accept them."""
        self.preparation.check(sample, self.accepts)
        for step in self.steps:
            sample = step(sample)
        return sample
