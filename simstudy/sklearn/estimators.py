"""One estimator per learner."""

from __future__ import annotations

import numbers
from abc import ABC
from collections.abc import Hashable, Sequence
from typing import ClassVar, Literal, TypeAlias

import numpy as np
import pandas as pd
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_array

from simstudy import learners
from simstudy.arrays import BoolArray, FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.errors import require
from simstudy.sklearn.base import CategoricalClassifier, Rows

Columns: TypeAlias = Literal["from_dtype", "all"] | Sequence[object]


class _PoorClassifier(CategoricalClassifier, ABC):
    """Base class of estimators that use at most one attribute and so may score poorly."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class PriorClassifier(_PoorClassifier):
    """Class frequencies, ignoring the attributes; see `simstudy.learners.baselines.Prior`."""

    _of = learners.Prior


class NaiveBayesClassifier(CategoricalClassifier):
    """Naive Bayes; see `simstudy.learners.bayes.naive_bayes.NaiveBayes`."""

    _of = learners.NaiveBayes


class TANClassifier(CategoricalClassifier):
    """Tree-augmented Naive Bayes; see `simstudy.learners.bayes.tan.TAN`."""

    _of = learners.TAN


class AODEClassifier(CategoricalClassifier):
    """Averaged one-dependence estimators; see `simstudy.learners.bayes.aode.AODE`."""

    _of = learners.AODE


class CaMMLClassifier(CategoricalClassifier):
    """Bayesian networks by MML; see `simstudy.learners.networks.camml.learner.CaMML`.

    ``random_state`` has an effect only if models are sampled, from 11 variables on.
    """

    _of = learners.CaMML
    _options: ClassVar[dict[str, object]] = {"random_state": None, **CategoricalClassifier._options}

    random_state: int | np.random.RandomState | None

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))


class KDBClassifier(CategoricalClassifier):
    """k-dependence Bayesian classifier; see `simstudy.learners.bayes.kdb.KDB`."""

    _of = learners.KDB


class HNBClassifier(CategoricalClassifier):
    """Hidden Naive Bayes; see `simstudy.learners.bayes.hnb.HNB`."""

    _of = learners.HNB


class LBRClassifier(CategoricalClassifier):
    """Lazy Bayesian rules; see `simstudy.learners.bayes.lbr.LBR`."""

    _of = learners.LBR


class DecisionStumpClassifier(_PoorClassifier):
    """Decision stump; see `simstudy.learners.rules.one_attribute.DecisionStump`."""

    _of = learners.DecisionStump


class OneRClassifier(_PoorClassifier):
    """1R, rules of one attribute; see `simstudy.learners.rules.one_attribute.OneR`."""

    _of = learners.OneR


class MMLTreeClassifier(CategoricalClassifier):
    """MML decision trees; see `simstudy.learners.trees.mml.tree.MMLTree`."""

    _of = learners.MMLTree


class MMLGraphClassifier(CategoricalClassifier):
    """MML decision graphs; see `simstudy.learners.trees.mml.graph.MMLGraph`."""

    _of = learners.MMLGraph


class CostSensitiveClassifier(CategoricalClassifier):
    """Cost-sensitive learning; see `simstudy.learners.wrappers.cost_sensitive.CostSensitive`.

    Classes of the matrix are in the order of ``classes_``: sorted.
    """

    _of = learners.CostSensitive


class MixedClassifier(CategoricalClassifier, ABC):
    """Base class of estimators for categorical and numeric columns with missing values.

    Parameters
    ----------
    categorical_features : {"from_dtype", "all"} or a list of columns
        The categorical columns: those that are not numeric; all; or a list of names or indices.
        The others are numeric.
    categories : "auto" or a list of lists
        The categories of each categorical column: those found in training, sorted, or a list.
    handle_unknown : {"ignore", "error"}
        Whether unknown categories count as missing at prediction or raise an error.

    Attributes
    ----------
    categories_ : list of lists
        The categories of each column; None for a numeric column.
    """

    _takes_missing: ClassVar[bool] = True
    _options: ClassVar[dict[str, object]] = {
        "categorical_features": "from_dtype",
        **CategoricalClassifier._options,
    }

    categorical_features: Columns

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _sample(self, X: Rows, target: IntArray, weights: FloatArray | None) -> Sample:
        frame = _frame(X)
        self.categories_ = self._known_categories(frame)
        values = self._values(frame, refuse=True)
        cards = [len(column or ()) for column in self.categories_]
        schema = Schema.plain([*cards, len(self.classes_)])
        return Sample.of(np.column_stack([values, target]), schema, weights)

    def predict_proba(self, X: Rows) -> FloatArray:
        """Return P(class | attributes), one column per class of ``classes_``."""
        self._check_rows(X)
        return self.fitted_.predict_proba(self._values(_frame(X), self.handle_unknown == "error"))

    def _known_categories(self, frame: pd.DataFrame) -> list[list[Hashable] | None]:
        """Return the categories of each column, None for a numeric column."""
        nominal = np.flatnonzero(self._categorical(frame)).tolist()
        listed = isinstance(self.categories, Sequence) and not isinstance(self.categories, str)
        auto = isinstance(self.categories, str) and self.categories == "auto"
        allowed = "it must be 'auto' or a list of lists"
        require(auto or listed, "categories", self.categories, allowed)
        if auto:
            columns = [_categories(frame, place) for place in nominal]
        else:
            columns = [_declared(each) for each in self.categories]
        if len(columns) != len(nominal):
            raise ValueError(
                f"categories has {len(columns)} lists; X has {len(nominal)} categorical columns"
            )
        of_nominal: dict[int, list[Hashable]] = dict(zip(nominal, columns, strict=True))
        return [of_nominal.get(place) for place in range(frame.shape[1])]

    def _categorical(self, frame: pd.DataFrame) -> BoolArray:
        """Return which columns are categorical."""
        chosen, size = self.categorical_features, frame.shape[1]
        if isinstance(chosen, str) and chosen in ("from_dtype", "all"):
            return np.array(
                [chosen == "all" or not _holds_numbers(frame.iloc[:, i]) for i in range(size)]
            )
        listed = isinstance(chosen, Sequence | np.ndarray) and not isinstance(chosen, str)
        allowed = "it must be 'from_dtype', 'all' or a list of columns"
        require(listed, "categorical_features", chosen, allowed)
        names = list(frame.columns)
        nominal = np.zeros(size, dtype=bool)
        for place, each in enumerate(chosen):
            if isinstance(each, bool | np.bool_) and len(chosen) == size:
                nominal[place] = each
            elif isinstance(each, str) and each in names:
                nominal[names.index(each)] = True
            elif isinstance(each, int | np.integer) and 0 <= each < size:
                nominal[int(each)] = True
            else:
                raise ValueError(
                    f"categorical_features has {each!r}, which is not a column of X; allowed are "
                    f"the indices 0 to {size - 1} and the names {', '.join(map(str, names))}"
                )
        return nominal

    def _values(self, frame: pd.DataFrame, refuse: bool) -> FloatArray:
        """Return numbers as they are and categories as codes; NaN if missing or unknown."""
        values = np.empty(frame.shape)
        for place, categories in enumerate(self.categories_):
            column = frame.iloc[:, place]
            if categories is None:
                values[:, place] = _as_numbers(column)
            else:
                codes = pd.Index(categories, dtype=object).get_indexer(column.astype(object))
                values[:, place] = np.where(codes < 0, np.nan, codes)
        if refuse:
            self._refuse_unknown(frame, np.isnan(values) & ~frame.isna().to_numpy())
        return values


class C45Classifier(MixedClassifier):
    """C4.5 decision trees; see `simstudy.learners.trees.c45.learner.C45`."""

    _of = learners.C45


class BoostedC45Classifier(MixedClassifier):
    """Boosted C4.5; see `simstudy.learners.trees.c45.boosting.BoostedC45`."""

    _of = learners.BoostedC45


def _frame(X: Rows) -> pd.DataFrame:
    """Return the rows as a data frame."""
    if isinstance(X, pd.DataFrame) and X.size:
        return X
    # A list may mix numbers and text; converted to a plain array, all would be text.
    kind = None if hasattr(X, "dtype") else object
    return pd.DataFrame(check_array(X, dtype=kind, ensure_all_finite="allow-nan"))


def _holds_numbers(column: pd.Series) -> bool:
    """Return whether a column is numeric, by its dtype or, for objects, by its values."""
    if column.dtype != object:
        numeric = pd.api.types.is_numeric_dtype(column.dtype)
        return bool(numeric and not pd.api.types.is_bool_dtype(column.dtype))
    values = column[~column.isna()]
    return len(values) > 0 and all(
        isinstance(value, numbers.Real) and not isinstance(value, bool | np.bool_)
        for value in values
    )


def _as_numbers(column: pd.Series) -> FloatArray:
    times = pd.api.types.is_datetime64_any_dtype(column) or column.dtype == "timedelta64[ns]"
    try:
        if times:
            raise TypeError
        values: FloatArray = column.to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError):
        raise ValueError(f"column {column.name!s} of X has non-numeric values") from None
    if np.isinf(values).any():
        raise ValueError(f"column {column.name!s} of X has infinite values")
    return values


def _categories(frame: pd.DataFrame, place: int) -> list[Hashable]:
    """Return the values of a column, sorted."""
    column = frame.iloc[:, place]
    try:
        return sorted(column[~column.isna()].unique())
    except TypeError:
        wrong = "values of different types, which cannot be sorted"
        raise ValueError(f"column {column.name!s} of X has {wrong}") from None


def _declared(stated: object) -> list[Hashable]:
    """Return the categories given for a column; raise an error for duplicates or missing ones."""
    categories = None
    if isinstance(stated, Sequence | np.ndarray | pd.Index | pd.Series):
        categories = None if isinstance(stated, str) else list(stated)
    if categories is None or pd.isna(categories).any() or len(set(categories)) < len(categories):
        allowed = "it must be a list of distinct, non-missing values"
        raise ValueError(f"categories has {stated!r} for a column; {allowed}")
    return categories
