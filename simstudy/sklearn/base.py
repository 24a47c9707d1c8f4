"""Base class of the estimators."""

from __future__ import annotations

import dataclasses
import inspect
import warnings
from abc import ABC
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from simstudy.arrays import AnyArray, ArrayLike, BoolArray, FloatArray, IntArray, weights_in
from simstudy.data.preparation.discretize import cut_points
from simstudy.data.sample import Sample
from simstudy.learners.base import Generative, Learner, normalise, require
from simstudy.measures.base import modal_class
from simstudy.sklearn.columns import (
    MAX_NUMBERS,
    Columns,
    Rows,
    as_frame,
    as_numbers,
    categorical,
    in_pandas,
    measured,
)

Categories: TypeAlias = Literal["auto"] | Sequence[ArrayLike]

# Unknown values of a row are marginalised over up to this many completions.
_MAX_COMPLETIONS = 1000
_UNKNOWN = -1
_NAMED = 5  # columns in a warning


class CategoricalClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base class of estimators for categorical data; a subclass sets its learner.

    The estimator has the parameters of its learner, with the same defaults, in addition to those
    below.

    Parameters
    ----------
    categories : "auto" or a list of lists
        The categories of each column: those found in training, sorted, or a list. Give a list
        if a category may be absent from training; numbers must be sorted. With "auto", columns
        that hold fractions, or more than 50 different numbers, are cut by least description length
        (Fayyad & Irani 1993), fitted to the training rows, with a warning: their categories are
        bins, counted from 0.
    categorical_features : {"auto", "from_dtype", "all"} or a list of columns
        The categorical columns: "auto" as above; "from_dtype" as in a study, those that do not
        hold numbers; all; or a list of names or indices. The others are cut, without a warning;
        ``categories`` then lists those of the categorical columns.
    handle_unknown : {"ignore", "error"}
        Handling of unknown categories at prediction. "ignore" marginalises over the known
        categories; for a row with more than 1000 completions, over a fixed random 1000 of them.
        "error" raises an error.
    missing : {"value", "error"}
        Handling of missing values. "value" makes them a separate value of columns that lack some
        in training, as in a study; in other columns they are marginalised. "error" raises an error.

    Attributes
    ----------
    classes_ : array
        The class labels, sorted, in the order of the columns of `predict_proba`.
    class_count_ : array
        The number of training rows of each class, or the sum of their weights.
    categories_ : list of arrays
        The categories of each column; the index of a category is its code.
    cut_points_ : dict
        By column, counted from 0: the cuts of those that are cut.
    fitted_ : object
        The fitted model, such as a `simstudy.learners.bayes.tan.FittedTAN` with its ``tree``.
    n_features_in_, feature_names_in_
        The number of columns, and their names if ``X`` had any.
    """

    _of: ClassVar[type[Learner]]  # the learner
    # Parameters in addition to those of the learner, with defaults.
    _options: ClassVar[dict[str, object]] = {
        "categories": "auto",
        "categorical_features": "auto",
        "handle_unknown": "ignore",
        "missing": "value",
    }
    _ways: ClassVar[tuple[str, ...]] = ("auto", "from_dtype", "all")  # to choose columns

    categories: Categories
    categorical_features: Columns
    handle_unknown: str
    missing: str

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if "_of" in cls.__dict__:
            cls.__init__ = _initialiser(cls._of, cls._options)  # type: ignore[method-assign]

    def _learner(self) -> Learner:
        """Return the learner with this estimator's parameters."""
        parameters = self.get_params(deep=False)
        return self._of(**{field.name: parameters[field.name] for field in _fields(self._of)})

    def as_learner(self) -> Learner | None:
        """Return the learner of a study that prepares columns itself; None if options differ."""
        ways = {**self._options, "categorical_features": "from_dtype"}
        parameters = self.get_params(deep=False)
        stated = {key: parameters[key] for key in self._options}
        return self._learner() if stated in (self._options, ways) else None

    def _rng(self) -> np.random.Generator | None:
        """Return the random generator for randomised learners."""
        return None

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self._takes_missing
        return tags

    @property
    def _takes_missing(self) -> bool:
        return self.missing == "value"

    def fit(self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit to rows of categories and their labels.

        A row of weight w counts as w rows; rows of weight 0 are ignored.
        """
        learner = self._learner()
        sample = self._sample(*self._training_rows(in_pandas(X), y, sample_weight))
        self.fitted_: Any = learner.fit(sample, self._rng())
        return self

    def _sample(self, X: Rows, target: IntArray, weights: FloatArray | None) -> Sample:
        """Find the categories of the training rows, and return the encoded rows."""
        missing = self._fit_cuts(X, target, weights)
        known = self._bounded_categories(X)
        self._encoder = OrdinalEncoder(
            categories=known,
            dtype=np.intp,
            handle_unknown="use_encoded_value",
            unknown_value=_UNKNOWN,
        ).set_output(transform="default")
        codes = self._encoder.fit_transform(self._filled(X, missing))
        self.categories_ = self._encoder.categories_
        self._refuse_unknown(X, (codes == _UNKNOWN) & ~missing)
        sizes = np.array([*map(len, self.categories_)])
        gaps = missing.any(axis=0)
        self._gap_codes, self._cards = np.where(gaps, sizes, _UNKNOWN), sizes + gaps
        codes = np.where(missing, self._gap_codes, codes)
        cards = [*self._cards.tolist(), len(self.classes_)]
        return Sample(np.column_stack([codes, target]), cards, weights)

    def _training_rows(
        self, X: Rows, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Rows, IntArray, FloatArray | None]:
        """Return the training rows, their classes as integers, and their weights."""
        allowed = self.handle_unknown in ("ignore", "error")
        require(allowed, "handle_unknown", self.handle_unknown, "it must be 'ignore' or 'error'")
        allowed = "missing" not in self._options or self.missing in ("value", "error")
        require(allowed, "missing", getattr(self, "missing", ""), "it must be 'value' or 'error'")
        labels = validate_data(self, y=y)
        check_classification_targets(labels)
        self._check_table(X)
        validate_data(self, X, skip_check_array=True)
        check_consistent_length(X, labels)
        weights: FloatArray | None = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            if not np.all(weights):
                rows = np.flatnonzero(weights)
                X, labels, weights = _safe_indexing(X, rows), labels[rows], weights[rows]
        self.classes_, target = np.unique(labels, return_inverse=True)
        self.class_count_ = weights_in(target, weights, len(self.classes_))
        return X, target, weights

    def predict_proba(self, X: Rows) -> FloatArray:
        """Return P(class | attributes), one column per class of ``classes_``."""
        X = self._check_rows(X)
        missing = _missing(X)
        codes: IntArray = self._encoder.transform(self._filled(X, missing))
        if self.handle_unknown == "error":
            self._refuse_unknown(X, (codes == _UNKNOWN) & ~missing)
        codes = np.where(missing, self._gap_codes, codes)
        incomplete = (codes == _UNKNOWN).any(axis=1)
        if not incomplete.any():
            return self.fitted_.predict_proba(codes)
        probabilities = np.empty((len(codes), len(self.classes_)))
        if not incomplete.all():
            probabilities[~incomplete] = self.fitted_.predict_proba(codes[~incomplete])
        for row in np.flatnonzero(incomplete):
            probabilities[row] = self._summed_over(self._completions(codes[row]))
        return probabilities

    def predict_log_proba(self, X: Rows) -> FloatArray:
        """Return the logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Rows) -> AnyArray:
        """Return the most probable label of each row; ties go to the first of ``classes_``."""
        probabilities = self.predict_proba(X)  # first: checks that the estimator is fitted
        return self.classes_[modal_class(probabilities)]

    def _check_table(self, X: Rows) -> None:
        """Raise an error unless X is two-dimensional, and for missing values if not allowed."""
        missing = _missing(X)
        if missing.ndim == 1:
            raise ValueError("X must have two dimensions, rows and columns. Reshape your data.")
        if missing.ndim == 2 and missing.any() and not self._takes_missing:
            raise ValueError(
                f"column {_first_column(X, missing)} of X has missing values (NaN or None); impute "
                "them, encode them as a category, or leave missing at 'value'"
            )

    def _fit_cuts(self, X: Rows, target: IntArray, weights: FloatArray | None) -> BoolArray:
        """Find cuts of numeric columns and a value of each column; return what is missing."""
        self.cut_points_: dict[int, FloatArray] = {}
        self._fills: list[object] = []
        missing = _missing(X)
        if hasattr(X, "toarray"):  # sparse: refused later
            return missing
        frame = as_frame(X)
        auto = isinstance(self.categorical_features, str) and self.categorical_features == "auto"
        listed = not isinstance(self.categories, str)
        nominal = None if auto else categorical(frame, self.categorical_features, self._ways)
        for place in range(frame.shape[1]):
            column = frame.iloc[:, place]
            numbers = None
            if nominal is None:
                numbers = None if listed else measured(column)
            elif not nominal[place]:
                numbers = as_numbers(column)
            if numbers is not None:
                self.cut_points_[place] = cut_points(numbers, target, weights=weights)
            known = column[~missing[:, place]]
            self._fills.append(known.iloc[0] if len(known) else 0)
        if self.cut_points_ and auto:
            names = ", ".join(str(frame.columns[place]) for place in [*self.cut_points_][:_NAMED])
            more = ", …" if len(self.cut_points_) > _NAMED else ""
            warnings.warn(
                f"columns {names}{more} of X hold fractions or more than {MAX_NUMBERS} different "
                "numbers; they are cut by least description length, fitted to these rows. "
                "Discretise them yourself, or give categories to take every number for a category, "
                "or categorical_features",
                stacklevel=4,
            )
        return missing

    def _bounded_categories(self, X: Rows) -> Any:
        """Return the categories of all columns: bins of those that are cut."""
        if isinstance(self.categories, str) or not self.cut_points_:
            return self.categories
        columns = iter(self.categories)
        bins = {place: range(len(cuts) + 1) for place, cuts in self.cut_points_.items()}
        number, size = len(self.categories), len(self._fills) - len(bins)
        if number != size:
            raise ValueError(f"categories has {number} lists; X has {size} categorical columns")
        return [[*bins[i]] if i in bins else next(columns) for i in range(len(self._fills))]

    def _filled(self, X: Rows, missing: BoolArray) -> Rows:
        """Return rows with bins of columns that are cut and any known value for missing ones."""
        holes = np.flatnonzero(missing.any(axis=0)).tolist()
        if not (self.cut_points_ or holes):
            return X
        frame = as_frame(X).copy()
        for place in holes:
            column = frame.iloc[:, place]
            column = column if pd.api.types.is_numeric_dtype(column) else column.astype(object)
            frame.isetitem(place, column.where(~missing[:, place], self._fills[place]).array)
        for place, cuts in self.cut_points_.items():
            numbers = as_numbers(frame.iloc[:, place])
            frame.isetitem(place, np.searchsorted(cuts, numbers))
        return frame

    def _check_rows(self, X: Rows) -> Rows:
        """Return rows in pandas; refuse any before fitting, and those unlike the training rows."""
        check_is_fitted(self)
        X = in_pandas(X)
        self._check_table(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return X

    def _refuse_unknown(self, X: Rows, unknown: BoolArray) -> None:
        if unknown.any():
            categories = self.categories_[int(unknown.any(axis=0).argmax())]
            wrong = f"column {_first_column(X, unknown)} of X has an unknown category"
            raise ValueError(f"{wrong}; known: {', '.join(map(str, categories))}")

    def _completions(self, row: IntArray) -> IntArray:
        """Return the row with its unknown values replaced by all, or many, known ones."""
        unknown = np.flatnonzero(row == _UNKNOWN)
        cards = self._cards[unknown].tolist()
        if np.prod(cards, dtype=np.float64) <= _MAX_COMPLETIONS:
            values = np.indices(cards).reshape(len(cards), -1).T
        else:  # a fixed seed: the result does not depend on other rows
            values = np.random.default_rng(0).integers(cards, size=(_MAX_COMPLETIONS, len(cards)))
        completions = np.tile(row, (len(values), 1))
        completions[:, unknown] = values
        return completions

    def _summed_over(self, completions: IntArray) -> FloatArray:
        """Return P(class | values common to the completions)."""
        if isinstance(self.fitted_, Generative):
            log_joint = self.fitted_.log_joint(completions)
            return normalise(np.logaddexp.reduce(log_joint, axis=0)[None])[0]
        # Without a joint distribution the completions have equal weight.
        return self.fitted_.predict_proba(completions).mean(axis=0)


def _first_column(X: Rows, chosen: BoolArray) -> str:
    """Return the name of the first column of a table in which a cell is chosen."""
    place = int(chosen.any(axis=0).argmax())
    return str(X.columns[place] if hasattr(X, "columns") else place)


def _missing(X: Rows) -> BoolArray:
    """Return which values are missing."""
    return np.asarray(pd.isna(X))  # type: ignore[arg-type]


def _fields(learner: type[Learner]) -> list[dataclasses.Field[object]]:
    """Return the parameters of a learner, without that for numbers, as there are none."""
    fields = dataclasses.fields(learner)
    return [field for field in fields if field.init and field.name != "numeric"]


def _initialiser(learner: type[Learner], options: dict[str, object]) -> Callable[..., None]:
    """Return an ``__init__`` with a learner's parameters, and options by keyword."""
    kind = inspect.Parameter
    of_learner = inspect.signature(learner).parameters
    parameters = [kind("self", kind.POSITIONAL_OR_KEYWORD)]
    parameters += [of_learner[field.name] for field in _fields(learner)]
    parameters += [kind(name, kind.KEYWORD_ONLY, default=value) for name, value in options.items()]
    signature = inspect.Signature(sorted(parameters, key=lambda parameter: parameter.kind))

    def initialise(self: object, *values: object, **named: object) -> None:
        bound = signature.bind(self, *values, **named)
        bound.apply_defaults()
        for name, value in list(bound.arguments.items())[1:]:
            setattr(self, name, value)

    initialise.__signature__ = signature  # type: ignore[attr-defined]
    return initialise
