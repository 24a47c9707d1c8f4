"""scikit-learn classifiers as learners, named by their dotted path.

``name = "sklearn.ensemble:RandomForestClassifier"`` in a study, with its parameters as keys.
"""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from functools import lru_cache
from typing import Any, ClassVar, Protocol

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray, IntArray
from simstudy.data.attribute_arrays import attribute_values
from simstudy.data.sample import Sample
from simstudy.errors import SimstudyError, suggestion
from simstudy.learners.base import Described, Learner, Limits, require
from simstudy.measures.base import extremes

ENCODINGS = ("onehot", "ordinal")


class Classifier(Protocol):
    """A classifier with the methods of scikit-learn's."""

    def __init__(self, **parameters: object) -> None: ...

    def fit(self, X: FloatArray, y: IntArray, **options: FloatArray) -> object: ...

    def predict_proba(self, X: FloatArray) -> FloatArray: ...


@dataclass(frozen=True)
class ScikitLearner(Learner):
    """A scikit-learn classifier on encoded attributes.

    `scikit_learner` creates a subclass per classifier with its parameters as fields.

    Parameters
    ----------
    encode : {"onehot", "ordinal"}
        Encoding of nominal attributes: one-hot indicators or integer codes.

    Notes
    -----
    Numeric attributes are standardised by the mean and standard deviation of the training rows. A
    missing value is replaced by the mean or, if nominal, by the most frequent value (the first of
    several) of the training rows.

    A class without training rows gets probability ½/(n + k/2), the floor of the MML cutoff; the
    others are rescaled. ``random_state``, unless given, is drawn from the cell's random stream.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"numeric", "missing"})

    encode: str = "onehot"
    _classifier: ClassVar[type[Classifier]]
    _path: ClassVar[str]

    def __post_init__(self) -> None:
        allowed = f"it must be one of {', '.join(ENCODINGS)}"
        require(self.encode in ENCODINGS, "encode", self.encode, allowed)
        made = self._make(None)
        if hasattr(made, "_validate_params") and hasattr(made, "_parameter_constraints"):
            made._validate_params()
        base = sys.modules.get("sklearn.base")
        if base and isinstance(made, base.BaseEstimator) and not base.is_classifier(made):
            raise ValueError(f"'{self._path}' cannot be a learner: it is not a classifier")
        try:
            made.predict_proba  # noqa: B018 - depends on the parameters of some classifiers
        except AttributeError as error:
            text = f"the classifier '{self._path}' gives no probabilities with these parameters"
            raise ValueError(f"{text}: {error.__cause__ or error}") from error

    @property
    def takes_weights(self) -> bool:  # type: ignore[override]
        """Whether the classifier can be fitted to weighted rows."""
        parameters = inspect.signature(self._classifier.fit).parameters.values()
        return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)

    @property
    def transforms(self) -> dict[str, str]:
        """The encoder's work, in words."""
        encoded = {"onehot": "one-hot", "ordinal": "integer codes"}[self.encode]
        filled = "replaced by the mean or the most frequent value"
        return {"nominal": encoded, "scaled": "mean 0, standard deviation 1", "missing": filled}

    def check_design(self, variables: Limits, values: Limits, sizes: Sequence[int]) -> None:
        """Refuse fewer training rows than neighbours."""
        number = vars(self).get("n_neighbors", 1)
        if "neighbors" in self._classifier.__module__ and isinstance(number, int):
            allowed = f"there must be as many training rows; the smallest set has {min(sizes)}"
            require(number <= min(sizes), "n_neighbors", number, allowed)

    def _make(self, rng: np.random.Generator | None) -> Classifier:
        names = inspect.signature(self._classifier).parameters
        parameters = {f.name: vars(self)[f.name] for f in fields(self) if f.name in names}
        if rng is not None and parameters.get("random_state", 0) is None:
            parameters["random_state"] = int(rng.integers(2**31))
        return self._classifier(**parameters)

    def __reduce__(self) -> tuple[Callable[..., ScikitLearner], tuple[object, ...]]:
        return _rebuilt, (self._path, {f.name: vars(self)[f.name] for f in fields(self)})

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedScikit:
        encoder, estimator = Encoder(sample, self.encode), None
        if np.count_nonzero(sample.class_counts) > 1:
            estimator = self._make(rng or np.random.default_rng(0))
            options = {} if sample.weights is None else {"sample_weight": sample.weights}
            estimator.fit(encoder(sample), sample.target, **options)
        return FittedScikit(estimator, encoder, sample)


class FittedScikit(Described):
    """A fitted classifier over all classes; the classifier is None if only one class was seen."""

    def __init__(self, estimator: Classifier | None, encoder: Encoder, sample: Sample) -> None:
        self.estimator, self._encoder, self.cards = estimator, encoder, sample.cards
        self._present = np.flatnonzero(sample.class_counts)
        self._floor, _ = extremes("mml", sample.total, sample.classes)

    def _facts(self) -> list[str]:
        alone = "one class seen" if len(self._present) else "no rows seen"
        of = alone if self.estimator is None else repr(self.estimator)
        return [*super()._facts(), of]

    def predict_proba(self, rows: Sample | ArrayLike) -> FloatArray:
        """Return class probabilities, one row for each row of a sample or of attribute values."""
        attributes = self._encoder(rows)
        absent = self.cards[-1] - len(self._present)
        proba = np.full((len(attributes), self.cards[-1]), self._floor if absent else 0.0)
        seen = np.ones((len(attributes), len(self._present))) / max(len(self._present), 1)
        if self.estimator is not None and len(attributes):
            seen = self.estimator.predict_proba(attributes)
        if len(self._present):
            proba[:, self._present] = seen * (1 - absent * self._floor)
        else:
            proba[:] = 1 / self.cards[-1]
        return proba


class Encoder:
    """The input of a classifier: nominal values encoded, numbers standardised, none missing.

    Means, standard deviations and most frequent values are those of the training rows.
    """

    def __init__(self, sample: Sample, encode: str) -> None:
        self._cards, self._encode = sample.cards[:-1], encode
        self._fill, self._scale = np.zeros(len(self._cards)), np.ones(len(self._cards))
        for i, card in enumerate(self._cards):
            if card:
                self._fill[i] = sample.counts(i).argmax()
                continue
            present = ~np.isnan(sample.values[:, i])
            values = sample.values[present, i]
            weights = np.ones(len(values)) if sample.weights is None else sample.weights[present]
            if weights.any():
                self._fill[i] = np.average(values, weights=weights)
                spread = np.average((values - self._fill[i]) ** 2, weights=weights) ** 0.5
                # The mean of equal numbers can differ from them by rounding.
                if spread > len(values) * np.finfo(np.float64).eps * abs(self._fill[i]):
                    self._scale[i] = spread

    def __call__(self, rows: Sample | ArrayLike) -> FloatArray:
        """Return the encoded attributes of a sample or an array."""
        values = attribute_values(rows, self._cards)
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), self._fill, values)
        if self._encode == "ordinal" and 0 not in self._cards:
            return np.array(values, dtype=np.float64, order="C")
        columns = []
        for i, card in enumerate(self._cards):
            column = values[:, [i]]
            if not card:
                column = (column - self._fill[i]) / self._scale[i]
            elif self._encode == "onehot":
                column = column == np.arange(card)
            columns.append(column)
        return np.concatenate(columns, axis=1).astype(np.float64)


@lru_cache
def scikit_learner(path: str) -> type[ScikitLearner]:
    """Return the learner class of a classifier, from ``package.module:Classifier``."""
    module_name, _, name = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    except (ImportError, ValueError) as error:
        raise SimstudyError(f"unknown learner '{path}': {error}") from error
    public = {n: getattr(module, n) for n in dir(module) if n[0] != "_"}
    classifiers = [
        n
        for n, cls in public.items()
        if inspect.isclass(cls) and hasattr(cls, "fit") and hasattr(cls, "predict_proba")
    ]
    if name not in classifiers:
        hint = suggestion(name, classifiers) if classifiers else ""
        if name not in public:
            raise SimstudyError(f"unknown learner '{path}': {module_name} has no '{name}'{hint}")
        rule = "it must be a class of classifiers that give probabilities"
        wrong = f"{rule}, with fit and predict_proba{hint}"
        raise SimstudyError(f"'{path}' cannot be a learner: {wrong}")
    estimator, package = public[name], module_name.partition(".")[0]
    parameters = [
        (p.name, Any, field(default=p.default))
        for p in inspect.signature(estimator).parameters.values()
        if p.kind is not p.VAR_KEYWORD and p.kind is not p.VAR_POSITIONAL
    ]
    # A parameter without default, such as the estimator of a meta-estimator, cannot be written
    # in TOML.
    if any(f.default is inspect.Parameter.empty for _, _, f in parameters):
        wrong = "wraps another estimator, which a study file cannot specify"
        raise SimstudyError(f"the learner '{path}' {wrong}")
    text = f"{'scikit-learn' if package == 'sklearn' else package}'s {name}."
    shared = {"_classifier": estimator, "_path": path, "__doc__": text, "__module__": __name__}
    made: type[ScikitLearner] = make_dataclass(
        name, parameters, bases=(ScikitLearner,), namespace=shared, frozen=True
    )
    return made


def _rebuilt(path: str, parameters: dict[str, Any]) -> ScikitLearner:
    """Rebuild a pickled learner."""
    return scikit_learner(path)(**parameters)
