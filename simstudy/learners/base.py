"""Base classes of learners and fitted models."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, wraps
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.attribute_arrays import attribute_codes
from simstudy.data.codes import configurations
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.errors import require as require
from simstudy.texts import counted, summary

Limits: TypeAlias = tuple[int, int]  # the least and the greatest number


class Fitted(Protocol):
    """The result of `Learner.fit`: an object that predicts class probabilities."""

    def predict_proba(self, codes: Any) -> FloatArray:
        """Return one row of class probabilities per row of attribute codes, or of a Sample."""
        ...


@dataclass(frozen=True)
class Learner(ABC):
    """Base class of learners: a frozen dataclass of parameters with one method, `fit`.

    A learner that can use the true structure also has a method ``given_structure``, which a study
    calls before `fit`; see `TAN`. A learner that knows of designs in which
    it must fail has a method ``check_design(variables, values, sizes)``, which raises a ValueError
    for them: it receives the ranges of the numbers of variables and of their values, and the
    training sizes. One that fits only some numbers of classes has ``check_classes(least, most)``.
    One that fits many parts of a sample faster at once has ``fit_parts(sample, parts)``, which
    yields what `fit` returns for each part: its rows, and a generator for them.
    """

    knows_model: ClassVar[bool] = False  # the engine passes the true posterior instead of fitting
    accepts: ClassVar[frozenset[str]] = frozenset()  # "numeric" attributes, "missing" values
    no_limit: ClassVar[str] = ""  # why the learner cannot be fitted to a population, if it cannot
    takes_weights: ClassVar[bool] = True  # whether rows may have weights

    @property
    def transforms(self) -> dict[str, str]:
        """What the learner itself does to "numeric", "missing" and "nominal" values, in words.

        Also how numbers are "scaled". Pages show it beside what was done before; what is not named
        is used as it is.
        """
        return {}

    def __init_subclass__(cls, **options: object) -> None:
        """Have `fit` refuse rows that the learner does not accept."""
        super().__init_subclass__(**options)
        if "fit" in cls.__dict__:
            cls.fit = _refusing(cls.fit)  # type: ignore[method-assign]

    @property
    def needs_structure(self) -> bool:
        """Whether `fit` needs the true structure, from ``given_structure``."""
        return False

    @abstractmethod
    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> Fitted:
        """Fit the learner to a sample; ``rng`` is for randomised learners."""


def fit_parts(
    learner: Learner, sample: Sample, parts: Iterable[tuple[IntArray, np.random.Generator]]
) -> Iterator[Fitted]:
    """Fit a learner to parts of a sample, each with a generator; all at once if it can."""
    if hasattr(learner, "fit_parts"):
        return learner.fit_parts(sample, parts)
    return (learner.fit(sample.take(rows), rng) for rows, rng in parts)


class Described:
    """Base class of built-in fitted models.

    It gives them a repr of one line. Rows to predict that are a Sample of another schema than the
    training rows are refused: equal codes would stand for other values.
    """

    cards: tuple[int, ...]  # the number of values of each variable, for the repr
    training_schema: Schema | None = None  # if the training rows had names and values

    def __init_subclass__(cls, **options: object) -> None:
        """Have `predict_proba` refuse rows of another schema."""
        super().__init_subclass__(**options)
        if "predict_proba" in cls.__dict__:
            cls.predict_proba = _comparing(cls.predict_proba)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return summary(self, *self._facts())

    def _facts(self) -> list[str]:
        """Return what the repr says; quick to find, the most important first."""
        sized = hasattr(self, "cards") and self.cards
        return [shape_text(len(self.cards) - 1, self.cards[-1])] if sized else []


def shape_text(attributes: int, classes: int) -> str:
    """Return the numbers of attributes and classes, for a repr."""
    return f"{counted(attributes, 'attribute')}, {counted(classes, 'class', 'classes')}"


def _refusing(fit: Callable[..., Fitted]) -> Callable[..., Fitted]:
    """The method with a check of the rows before it."""

    @wraps(fit)
    def checked(self: Learner, sample: Sample, *more: object, **options: object) -> Fitted:
        if not sample.plain:
            takes = f"{type(self).__name__} takes"
            numeric = [sample.schema.variables[place].name for place in sample.schema.numeric]
            if numeric and "numeric" not in self.accepts:
                text = f"{takes} only nominal attributes, and '{numeric[0]}' is numeric"
                text += "; discretise it first"
                raise ValueError(f"{text} (simstudy.data.preparation.discretize)")
            if "missing" not in self.accepts and sample.incomplete:
                text = f"{takes} no missing values"
                raise ValueError(f"{text}; fill them first (simstudy.data.preparation.missing)")
        fitted = fit(self, sample, *more, **options)
        if sample.declared is not None and isinstance(fitted, Described):
            fitted.training_schema = sample.declared
        return fitted

    return checked


def _comparing(predict: Callable[..., FloatArray]) -> Callable[..., FloatArray]:
    """The method with a check of the rows' schema before it."""

    @wraps(predict)
    def checked(self: Described, *rows: object, **named: object) -> FloatArray:
        if self.training_schema is not None:
            for argument in (*rows, *named.values()):
                if isinstance(argument, Sample) and argument.declared is not None:
                    argument.declared.check(self.training_schema)
        return predict(self, *rows, **named)

    return checked


class Generative(Described, ABC):
    """Base class of fitted models of the joint distribution of attributes and class.

    A subclass sets ``cards`` and implements `log_joint`.
    """

    @abstractmethod
    def log_joint(self, codes: IntArray) -> FloatArray:
        """Return log P(attributes, class) in nats of complete rows, shape (rows, classes)."""

    @cached_property
    def widened(self) -> Generative | None:
        """The model for rows with missing values: those are the last value of an attribute.

        None if such rows cannot be predicted.
        """
        return None

    def predict_proba(self, codes: IntArray) -> FloatArray:
        """Return P(class | attributes), shape (rows, classes).

        The rows are a Sample or an array of attribute codes. Missing values, −1 or NaN in an
        array, are for models that are `widened`.
        """
        cards = self.cards[:-1]
        try:
            return self._proba(attribute_codes(codes, cards))
        except ValueError:  # unless values are missing, it is raised again
            if self.widened is None:
                raise
        codes = attribute_codes(codes, cards, missing=True)
        gaps = (codes < 0).any(axis=1)
        proba = np.empty((len(codes), self.cards[-1]))
        proba[~gaps] = self._proba(codes[~gaps])
        proba[gaps] = self.widened._proba(np.where(codes < 0, cards, codes)[gaps])
        return proba

    def _proba(self, codes: IntArray) -> FloatArray:
        """Return the class probabilities of checked codes without missing values."""
        return normalise(self.log_joint(codes))

    def joint_grid(self) -> FloatArray:
        """Return the unnormalised joint over all attribute configurations, shape (classes, rows).

        The rows are those of `simstudy.data.codes.configurations`. A subclass can speed this up
        by multiplying tables along axes with `product_on_grid`.
        """
        log_joint = self.log_joint(configurations(self.cards[:-1])).T
        joint: FloatArray = np.exp(log_joint - log_joint.max(axis=0))
        return joint

    def predict_grid(self) -> FloatArray:
        """Return `predict_proba` of all attribute configurations, shape (rows, classes)."""
        joint = self.joint_grid()
        return (joint / joint.sum(axis=0)).T


def normalise(log_joint: FloatArray) -> FloatArray:
    """Return class probabilities from unnormalised log probabilities, row by row."""
    # Few classes, many rows: one long vector per class is fastest.
    by_class = np.ascontiguousarray(log_joint.T)
    scaled = np.exp(by_class - by_class.max(axis=0))
    scaled /= scaled.sum(axis=0)
    return scaled.T


def require_positive(learner: Learner, *parameters: str) -> None:
    """Raise a ValueError unless the parameters are positive and finite."""
    for parameter in parameters:
        value = vars(learner)[parameter]
        require(0 < value < np.inf, parameter, value, "it must be above 0 and finite")


def require_at_least_0(learner: Learner, *parameters: str) -> None:
    """Raise a ValueError if a parameter is negative."""
    for parameter in parameters:
        value = vars(learner)[parameter]
        require(value is None or value >= 0, parameter, value, "it must be at least 0")


def require_choices(learner: Learner) -> None:
    """Raise a ValueError unless every parameter with listed values has one of them."""
    for parameter, choices in _choices(type(learner)).items():
        value, allowed = vars(learner)[parameter], f"it must be one of {', '.join(choices)}"
        require(value in choices, parameter, value, allowed)


@lru_cache
def _choices(cls: type[Learner]) -> dict[str, tuple[str, ...]]:
    hints = get_type_hints(cls)
    return {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal}
