"""scikit-learn classifiers as learners, named by their dotted path.

``name = "sklearn.ensemble:RandomForestClassifier"`` in a study, with its parameters as keys. A
parameter that is an estimator is a table with a name of its own; see `tables`.
"""

from __future__ import annotations

import copy
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from functools import lru_cache
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np

from simstudy.arrays import ArrayLike, FloatArray, IntArray
from simstudy.data.attribute_arrays import attribute_values
from simstudy.data.sample import Sample
from simstudy.errors import SimstudyError, suggestion
from simstudy.learners.base import Described, Learner, Limits, require
from simstudy.learners.bridges.attribute_frame import attribute_frame, is_whole, typed_labels
from simstudy.learners.bridges.tables import defaults_of, made_of, object_value, table_value
from simstudy.measures.base import extremes

Encoded: TypeAlias = Any  # an array of numbers, or a data frame of pandas
ENCODINGS = ("auto", "onehot", "ordinal", "frame")
# What takes columns as they are; simstudy's own cut them as a study does.
_STEPS = (
    "sklearn.pipeline:Pipeline",
    "sklearn.compose:ColumnTransformer",
    "simstudy.sklearn.base:CategoricalClassifier",
)


class Classifier(Protocol):
    """A classifier with the methods of scikit-learn's."""

    def __init__(self, **parameters: object) -> None: ...

    def fit(self, X: Encoded, y: IntArray, **options: FloatArray) -> object: ...

    def predict_proba(self, X: Encoded) -> FloatArray: ...


@dataclass(frozen=True)
class ScikitLearner(Learner):
    """A scikit-learn classifier on encoded attributes.

    `scikit_learner` creates a subclass per classifier with its parameters as fields.

    Parameters
    ----------
    encode : {"auto", "onehot", "ordinal", "frame"}
        The input: indicators or integer codes of nominal attributes, beside numbers; or a data
        frame with the names, numbers and labels of the columns. By default pipelines, and searches
        over them, receive a frame and other classifiers indicators.
    scale : bool
        Whether numeric attributes are standardised by the mean and standard deviation of the
        training rows.

    Notes
    -----
    Missing numbers are left to classifiers that accept them, and in frames; otherwise they are
    replaced by the mean of the training rows. A missing nominal value becomes the most frequent one
    (the first of several) of the training rows, except in frames.

    A class without training rows gets probability ½/(n + k/2), the floor of the MML cutoff; the
    others are rescaled. ``random_state``, unless stated, is drawn from the cell's random stream,
    that of nested estimators and splitters too.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"numeric", "missing"})

    encode: str = "auto"
    scale: bool = False
    _classifier: ClassVar[type[Classifier]]
    _path: ClassVar[str]
    _defaults: ClassVar[Mapping[str, Any]]

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
            cause: BaseException = error
            while cause.__cause__ is not None:
                cause = cause.__cause__
            if isinstance(cause, AttributeError) and cause.name and cause.obj is None:
                return  # asked of a part that fit makes: the cell finds out
            text = f"the classifier '{self._path}' gives no probabilities with these parameters"
            raise ValueError(f"{text}: {error.__cause__ or error}") from error

    @property
    def takes_weights(self) -> bool:  # type: ignore[override]
        """Whether the classifier can be fitted to weighted rows."""
        if _has_steps(self._make(None)):
            return False
        parameters = inspect.signature(self._classifier.fit).parameters.values()
        return any(p.name == "sample_weight" or p.kind is p.VAR_KEYWORD for p in parameters)

    @property
    def transforms(self) -> dict[str, str]:
        """The encoder's work, in words."""
        made = self._make(None)
        words = {"onehot": "one-hot", "ordinal": "integer codes", "frame": "labels in a data frame"}
        done = {"nominal": words[encode := self._encoding(made)]}
        if self.scale:
            done["scaled"] = "mean 0, standard deviation 1"
        if _has_steps(made):
            left = "left to the pipeline"
            done = {"numeric": left, "scaled": left, "missing": left} | done
        if encode != "frame":
            numbers = "left to the learner" if _allows_gaps(made) else "replaced by the mean"
            done["missing"] = f"numbers {numbers}, labels replaced by the most frequent one"
        return done

    def _encoding(self, estimator: Classifier) -> str:
        """The encoding of the input of an estimator."""
        if self.encode != "auto":
            return self.encode
        return "frame" if _has_steps(estimator) else "onehot"

    def check_design(self, variables: Limits, values: Limits, sizes: Sequence[int]) -> None:
        """Refuse fewer training rows than neighbours."""
        number = vars(self).get("n_neighbors", 1)
        if "neighbors" in self._classifier.__module__ and isinstance(number, int):
            allowed = f"there must be as many training rows; the smallest set has {min(sizes)}"
            require(number <= min(sizes), "n_neighbors", number, allowed)

    @classmethod
    def canonical(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return parameters in one order, with nested objects as the tables that name them."""
        made = dict(sorted(parameters.items()))
        for key, value in made.items():
            if isinstance(value, Mapping | list):
                made[key] = table_value(object_value(value, cls._defaults.get(key)))
        return made

    def _make(self, rng: np.random.Generator | None) -> Classifier:
        usual, stated = self._defaults, copy.deepcopy(vars(self))
        parameters = {key: object_value(stated[key], usual[key]) for key in usual}
        if rng is not None and parameters.get("random_state", 0) is None:
            parameters["random_state"] = int(rng.integers(2**31))
        return seeded(made_of(self._classifier, parameters), rng)

    def __reduce__(self) -> tuple[Callable[..., ScikitLearner], tuple[object, ...]]:
        return _rebuilt, (self._path, {f.name: vars(self)[f.name] for f in fields(self)})

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedScikit:
        estimator = self._make(rng or np.random.default_rng(0))
        gaps = _allows_gaps(estimator)
        encoder = Encoder(sample, self._encoding(estimator), self.scale, gaps)
        present = np.flatnonzero(sample.class_counts)
        if len(present) < 2:
            return FittedScikit(None, encoder, sample)
        options = {} if sample.weights is None else {"sample_weight": sample.weights}
        labels = typed_labels(sample.schema.target.values or ())
        classes, codes = np.unique(labels[sample.target], return_inverse=True)
        numbered = "xgboost" in _packages(estimator)  # demands the numbers 0, 1, …
        try:
            estimator.fit(encoder(sample), codes if numbered else classes[codes], **options)
        except ValueError as error:
            if "string to float" not in str(error):
                raise
            hint = (
                'labels of nominal columns: encode them in the pipeline, or set encode = "onehot"'
            )
            raise ValueError(f"{error}; a data frame has {hint}") from error
        named = classes if numbered else np.asarray(getattr(estimator, "classes_", classes))
        # CatBoost has booleans as text
        places = {key: i for i, label in enumerate(labels.tolist()) for key in (label, str(label))}
        return FittedScikit(estimator, encoder, sample, [places[each] for each in named.tolist()])


def _packages(estimator: object) -> set[str]:
    """The packages of an estimator and of those nested in it."""
    return {type(e).__module__.partition(".")[0] for e in (estimator, *_parts(estimator).values())}


def _parts(estimator: object) -> dict[str, Any]:
    """The parameters of an estimator and of those nested in it."""
    return dict(estimator.get_params(deep=True)) if hasattr(estimator, "get_params") else {}


def _has_steps(estimator: object) -> bool:
    """Whether an estimator is, or holds, a pipeline, which prepares columns itself."""
    paths = (path.split(":") for path in _STEPS)
    modules = [(sys.modules.get(module), name) for module, name in paths]
    kinds = tuple(getattr(module, name) for module, name in modules if module)
    return bool(kinds) and any(
        isinstance(p, kinds) for p in (estimator, *_parts(estimator).values())
    )


def _allows_gaps(estimator: object) -> bool:
    """Whether a classifier says that it accepts missing numbers."""
    if not hasattr(estimator, "__sklearn_tags__"):
        return False
    return bool(estimator.__sklearn_tags__().input_tags.allow_nan)


def seeded(estimator: Any, rng: np.random.Generator | None) -> Any:
    """Return the estimator with a state drawn for each ``random_state`` that is None."""
    parts = {} if rng is None else _parts(estimator)
    for key in sorted(parts, key=lambda key: (key.count("__"), key)):
        part = parts[key]
        splits = hasattr(part, "split") and getattr(part, "random_state", 0) is None
        if rng is not None and splits:  # a splitter, which has no parameters to set
            part.random_state = int(rng.integers(2**31))
        elif rng is not None and part is None and key.split("__")[-1] == "random_state":
            estimator.set_params(**{key: int(rng.integers(2**31))})
    return estimator


class FittedScikit(Described):
    """A fitted classifier over all classes; the classifier is None if only one class was seen.

    ``order`` has the codes of the classes of its columns.
    """

    def __init__(
        self,
        estimator: Classifier | None,
        encoder: Encoder,
        sample: Sample,
        order: Sequence[int] | None = None,
    ) -> None:
        self.estimator, self._encoder, self.cards = estimator, encoder, sample.cards
        present = np.flatnonzero(sample.class_counts)
        self._present = present if order is None else np.array(order, dtype=np.intp)
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
    """The input of a classifier, made of attributes: an array, or a data frame.

    Means, standard deviations and most frequent values are those of the training rows. Missing
    numbers stay so with ``gaps`` and in a frame; missing nominal values in a frame.
    """

    def __init__(
        self, sample: Sample, encode: str, scale: bool = False, gaps: bool = False
    ) -> None:
        self._cards, self._encode = sample.cards[:-1], encode
        self._variables, self._nominal = sample.schema.attributes, np.array(self._cards) > 0
        self._fill, self._mean = np.zeros(len(self._cards)), np.zeros(len(self._cards))
        self._scale, self._whole = np.ones(len(self._cards)), np.zeros(len(self._cards), bool)
        for i, card in enumerate(self._cards):
            if card:
                self._fill[i] = np.nan if encode == "frame" else sample.counts(i).argmax()
                continue
            present = ~np.isnan(sample.values[:, i])
            values = sample.values[present, i]
            self._whole[i] = present.all() and is_whole(values) and not scale
            weights = np.ones(len(values)) if sample.weights is None else sample.weights[present]
            if weights.any():
                self._fill[i] = mean = np.average(values, weights=weights)
                spread = np.average((values - mean) ** 2, weights=weights) ** 0.5
                if scale:
                    self._mean[i] = mean
                # The mean of equal numbers can differ from them by rounding.
                if scale and spread > len(values) * np.finfo(np.float64).eps * abs(mean):
                    self._scale[i] = spread
            if gaps or encode == "frame":
                self._fill[i] = np.nan

    def __call__(self, rows: Sample | ArrayLike) -> Encoded:
        """Return the encoded attributes of a sample or an array."""
        values = attribute_values(rows, self._cards)
        if values.dtype.kind == "f":
            values = np.where(np.isnan(values), self._fill, values)
        if self._encode == "frame":
            numbers = (values - self._mean) / self._scale
            whole, numbers = self._whole, np.where(self._nominal, values, numbers)
            return attribute_frame(numbers, self._variables, whole)
        if self._encode == "ordinal" and 0 not in self._cards:
            return np.array(values, dtype=np.float64, order="C")
        columns = []
        for i, card in enumerate(self._cards):
            column = values[:, [i]]
            if not card:
                column = (column - self._mean[i]) / self._scale[i]
            elif self._encode != "ordinal":
                column = column == np.arange(card)
            columns.append(column)
        return np.ascontiguousarray(np.concatenate(columns, axis=1), dtype=np.float64)


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
    defaults = defaults_of(estimator)
    clash = {each.name for each in fields(ScikitLearner)} | {"name", "label", "preparation"}
    parameters = [
        (key, Any, field() if value is inspect.Parameter.empty else field(default=value))
        for key, value in defaults.items()
        if key not in clash
    ]
    text = f"{'scikit-learn' if package == 'sklearn' else package}'s {name}."
    shared = {"_classifier": estimator, "_path": path, "__doc__": text, "__module__": __name__}
    shared["_defaults"] = {key: defaults[key] for key, _, _ in parameters}
    made: type[ScikitLearner] = make_dataclass(
        name, parameters, bases=(ScikitLearner,), namespace=shared, frozen=True, kw_only=True
    )
    return made


def _rebuilt(path: str, parameters: dict[str, Any]) -> ScikitLearner:
    """Rebuild a pickled learner."""
    return scikit_learner(path)(**parameters)
