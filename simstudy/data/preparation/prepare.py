"""How rows are prepared for a learner, fitted only to the training part."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simstudy.data.preparation.discretize import Discretizer, check_method, cut_points
from simstudy.data.preparation.missing import METHODS, Imputer
from simstudy.data.sample import Sample
from simstudy.errors import SimstudyError, suggestion

_DISCRETIZERS = {"mdl": "fayyad_irani"}
_DISCRETIZERS |= {name: name for name in ("kononenko", "equal_frequency", "equal_width")}
FEW_BINS = 5  # of equal frequency


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
        ``mode`` replaces a missing value by the training mode, ``value`` makes it a separate
        value; see `missing` beside this. With ``ignore``, missing values are refused for learners
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
        check_method("equal_width", self.bins)

    def check(self, sample: Sample, accepts: frozenset[str], learner: str = "the learner") -> None:
        """Raise an error if rows are left with what the learner does not accept."""
        numeric, variables = sample.schema.numeric, sample.schema.variables
        if numeric and self.discretize == "none" and "numeric" not in accepts:
            text = f"{learner} takes only nominal attributes, and '{variables[numeric[0]].name}' "
            text += "is numeric; preparation.discretize = 'none' leaves it so, use 'mdl' or "
            raise SimstudyError(f"{text}another method")
        if self.missing == "ignore" and "missing" not in accepts and sample.incomplete:
            name = variables[int(np.isnan(sample.values).any(axis=0).argmax())].name
            text = f"{learner} takes no missing values, and '{name}' has some; preparation.missing "
            raise SimstudyError(f"{text}= 'ignore' leaves them, use 'mode' or 'value'")

    def fit(self, train: Sample, accepts: frozenset[str] = frozenset()) -> Prepared:
        """Fit the preparation to training rows, for learners that accept certain data."""
        self.check(train, accepts)
        steps: list[Callable[[Sample], Sample]] = []
        if "numeric" not in accepts and train.schema.numeric:
            steps.append(Discretizer.fit(train, _DISCRETIZERS[self.discretize], self.bins))
            train = steps[-1](train)
        if "missing" not in accepts and self.missing != "ignore":
            steps.append(Imputer.fit(train, self.missing))
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


def suggested_preparation(sample: Sample) -> Preparation:
    """Suggest a preparation that is the same for all learners.

    Numbers are cut by least description length (Fayyad & Irani 1993), unless that leaves most of
    them without a cut, as with few rows of many classes: then into five bins of equal frequency.
    Missing values become a separate value.
    """
    numeric, target = sample.schema.numeric, sample.target
    uncut = sum(not len(cut_points(sample.values[:, place], target)) for place in numeric)
    few = 2 * uncut > len(numeric)
    missing = "value" if sample.incomplete else "ignore"
    return Preparation("equal_frequency" if few else "mdl", FEW_BINS, missing)
