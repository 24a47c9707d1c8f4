"""One estimator per learner."""

from __future__ import annotations

from abc import ABC
from collections.abc import Hashable, Sequence
from typing import ClassVar

import numpy as np
import pandas as pd
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_array

from simstudy import learners
from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.errors import require
from simstudy.sklearn.base import CategoricalClassifier
from simstudy.sklearn.columns import Rows, as_numbers, categorical


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

    _options: ClassVar[dict[str, object]] = {
        "categorical_features": "from_dtype",
        "categories": "auto",
        "handle_unknown": "ignore",
    }
    _ways: ClassVar[tuple[str, ...]] = ("from_dtype", "all")

    @property
    def _takes_missing(self) -> bool:
        return True

    def _sample(self, X: Rows, target: IntArray, weights: FloatArray | None) -> Sample:
        frame = _frame(X)
        self.categories_ = self._known_categories(frame)
        values = self._values(frame, refuse=True)
        cards = [len(column or ()) for column in self.categories_]
        schema = Schema.plain([*cards, len(self.classes_)])
        return Sample.of(np.column_stack([values, target]), schema, weights)

    def predict_proba(self, X: Rows) -> FloatArray:
        """Return P(class | attributes), one column per class of ``classes_``."""
        X = self._check_rows(X)
        return self.fitted_.predict_proba(self._values(_frame(X), self.handle_unknown == "error"))

    def _known_categories(self, frame: pd.DataFrame) -> list[list[Hashable] | None]:
        """Return the categories of each column, None for a numeric column."""
        nominal = np.flatnonzero(categorical(frame, self.categorical_features, self._ways)).tolist()
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

    def _values(self, frame: pd.DataFrame, refuse: bool) -> FloatArray:
        """Return numbers as they are and categories as codes; NaN if missing or unknown."""
        values = np.empty(frame.shape)
        for place, categories in enumerate(self.categories_):
            column = frame.iloc[:, place]
            if categories is None:
                values[:, place] = as_numbers(column)
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
