"""The learners as scikit-learn estimators, for tables of categories.

>>> from simstudy.sklearn import AODEClassifier
>>> AODEClassifier().fit([["hot", "dry"], ["cold", "wet"]], ["out", "in"]).predict([["hot", "dry"]])
array(['out'], dtype='<U3')

Every column of ``X`` holds one attribute's categories: strings, numbers, booleans or a pandas
categorical, one kind in each column. Numbers are categories too: discretise continuous columns
first. Missing values are refused; fill them, or give them a category of their own.

A category that training never saw says nothing about the class ("ignore"): it is summed over, as
if the value had not been observed. The alternatives would distort probabilities. One more value
of zero count changes the smoothing of all the others, and its own frequency, α/(n_c + …), is
greatest in the rarest class. Where all categories are known, the probabilities are those that
the learner itself gives for the same codes.

To add a learner: a subclass whose ``__init__`` names its parameters, and ``_learner``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.preprocessing import OrdinalEncoder
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    check_consistent_length,
    check_is_fitted,
    validate_data,
)

from simstudy.arrays import FloatArray, IntArray
from simstudy.learners.aode import AODE
from simstudy.learners.base import Fitted, Generative, Learner, normalise, require
from simstudy.learners.camml.learner import CaMML
from simstudy.learners.kdb import KDB
from simstudy.learners.naive_bayes import NaiveBayes
from simstudy.learners.one_attribute import DecisionStump, OneR
from simstudy.learners.prior import Prior
from simstudy.learners.tan import TAN
from simstudy.sample import Sample

Categories: TypeAlias = Literal["auto"] | Sequence[npt.ArrayLike]

# Unknown values in a row are summed over all they could have been, up to this many possibilities.
_MOST_COMPLETIONS = 1000
_UNKNOWN = -1


class CategoricalClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """What all these estimators have in common; a subclass adds its learner's parameters.

    Those are documented with the learner.

    Parameters
    ----------
    categories : "auto" or a list of lists
        The categories of each column: those found in training, sorted, or those given. Give them
        where a category may be absent from training; numbers must be given in order.
    handle_unknown : {"ignore", "error"}
        What a category outside of ``categories_`` does at prediction. "ignore" sums over the
        categories that it could have been; in a row that leaves over 1000 possibilities, over
        1000 of them, always the same. "error" refuses it.

    Attributes
    ----------
    classes_ : array
        The labels, sorted; the order of the columns of `predict_proba`.
    categories_ : list of arrays
        The categories of each column; the place of a category is its code.
    fitted_ : object
        What the learner returned, such as a `simstudy.learners.tan.FittedTAN` with its ``tree``.
    n_features_in_, feature_names_in_
        The number of columns, and their names if ``X`` had any.
    """

    def __init__(self, *, categories: Categories = "auto", handle_unknown: str = "ignore") -> None:
        self.categories = categories
        self.handle_unknown = handle_unknown

    @abstractmethod
    def _learner(self) -> Learner:
        """The learner with this estimator's parameters."""

    def _rng(self) -> np.random.Generator | None:
        """The random stream for a learner that draws at random."""
        return None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learn from rows of categories and their labels.

        A row of weight w counts as w rows; one of weight 0 is as if it were not there.
        """
        learner = self._learner()
        known = self.handle_unknown in ("ignore", "error")
        require(known, "handle_unknown", self.handle_unknown, "it must be 'ignore' or 'error'")
        labels = validate_data(self, y=y)
        check_classification_targets(labels)
        _check_table(X)
        validate_data(self, X, skip_check_array=True)
        check_consistent_length(X, labels)
        weights: FloatArray | None = None
        if sample_weight is not None:
            weights = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
            if not np.all(weights):
                rows = np.flatnonzero(weights)
                X, labels, weights = _safe_indexing(X, rows), labels[rows], weights[rows]
        codes = self._fit_encoder(X)
        self.classes_, target = np.unique(labels, return_inverse=True)
        cards = [len(column) for column in self.categories_] + [len(self.classes_)]
        sample = Sample(np.column_stack([codes, target]), cards, weights)
        self.fitted_: Fitted = learner.fit(sample, self._rng())
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """P(class | attributes), one column for each of ``classes_``."""
        codes = self._encode(X)
        incomplete = (codes == _UNKNOWN).any(axis=1)
        if not incomplete.any():
            return self.fitted_.predict_proba(codes)
        probabilities = np.empty((len(codes), len(self.classes_)))
        if not incomplete.all():
            probabilities[~incomplete] = self.fitted_.predict_proba(codes[~incomplete])
        for row in np.flatnonzero(incomplete):
            probabilities[row] = self._summed_over(self._completions(codes[row]))
        return probabilities

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The most probable label of each row, ties to the first of ``classes_``."""
        probabilities = self.predict_proba(X)  # first: it tells whether this is fitted
        return self.classes_[probabilities.argmax(axis=1)]

    def _fit_encoder(self, X: Any) -> IntArray:
        """Learn the categories of the training rows, and encode these."""
        self._encoder = OrdinalEncoder(
            categories=self.categories,
            dtype=np.intp,
            handle_unknown="use_encoded_value",
            unknown_value=_UNKNOWN,
        ).set_output(transform="default")
        codes: IntArray = self._encoder.fit_transform(X)
        self.categories_ = self._encoder.categories_
        self._refuse_unknown(codes)
        return codes

    def _encode(self, X: Any) -> IntArray:
        """The codes of rows to predict, with _UNKNOWN where a category is new."""
        check_is_fitted(self)
        _check_table(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        codes: IntArray = self._encoder.transform(X)
        if self.handle_unknown == "error":
            self._refuse_unknown(codes)
        return codes

    def _refuse_unknown(self, codes: IntArray) -> None:
        columns = (codes == _UNKNOWN).any(axis=0)
        if columns.any():
            first = int(columns.argmax())
            name = getattr(self, "feature_names_in_", np.arange(len(columns)))[first]
            raise ValueError(
                f"column {name!s} of X holds a category outside of its known ones: "
                f"{', '.join(map(str, self.categories_[first]))}"
            )

    def _completions(self, row: IntArray) -> IntArray:
        """The row with its unknown values replaced by all, or very many, that they could be."""
        unknown = np.flatnonzero(row == _UNKNOWN)
        cards = [len(self.categories_[column]) for column in unknown]
        if np.prod(cards, dtype=np.float64) <= _MOST_COMPLETIONS:
            values = np.indices(cards).reshape(len(cards), -1).T
        else:  # a seed of its own for each row: other rows make no difference
            values = np.random.default_rng(0).integers(cards, size=(_MOST_COMPLETIONS, len(cards)))
        completions = np.tile(row, (len(values), 1))
        completions[:, unknown] = values
        return completions

    def _summed_over(self, completions: IntArray) -> FloatArray:
        """P(class | what the completions share)."""
        if isinstance(self.fitted_, Generative):
            log_joint = self.fitted_.log_joint(completions)
            return normalise(np.logaddexp.reduce(log_joint, axis=0)[None])[0]
        # Without a joint distribution the values count as equally probable.
        mean: FloatArray = self.fitted_.predict_proba(completions).mean(axis=0)
        return mean


def _check_table(X: Any) -> None:
    """Refuse missing values, and what has not two dimensions."""
    import pandas as pd

    missing = np.asarray(pd.isna(X))
    if missing.ndim == 1:
        raise ValueError("X must have two dimensions, rows and columns. Reshape your data.")
    if missing.ndim == 2 and missing.any():
        column = int(missing.any(axis=0).argmax())
        name = X.columns[column] if hasattr(X, "columns") else column
        raise ValueError(
            f"column {name!s} of X has missing values (NaN or None); fill them, or give them a "
            "category of their own"
        )


class PriorClassifier(CategoricalClassifier):
    """Class frequencies, whatever the attributes; see `simstudy.learners.prior.Prior`."""

    def __init__(
        self, alpha: float = 0.5, *, categories: Categories = "auto", handle_unknown: str = "ignore"
    ) -> None:
        super().__init__(categories=categories, handle_unknown=handle_unknown)
        self.alpha = alpha

    def _learner(self) -> Prior:
        return Prior(self.alpha)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class NaiveBayesClassifier(CategoricalClassifier):
    """Naive Bayes; see `simstudy.learners.naive_bayes.NaiveBayes`."""

    def __init__(
        self, alpha: float = 1.0, *, categories: Categories = "auto", handle_unknown: str = "ignore"
    ) -> None:
        super().__init__(categories=categories, handle_unknown=handle_unknown)
        self.alpha = alpha

    def _learner(self) -> NaiveBayes:
        return NaiveBayes(self.alpha)


class TANClassifier(CategoricalClassifier):
    """Tree-augmented Naive Bayes; see `simstudy.learners.tan.TAN`."""

    def __init__(
        self,
        alpha: float = 0.5,
        search: Literal["cmi", "superparent", "likelihood"] = "cmi",
        tree: tuple[int | None, ...] | None = None,
        *,
        categories: Categories = "auto",
        handle_unknown: str = "ignore",
    ) -> None:
        super().__init__(categories=categories, handle_unknown=handle_unknown)
        self.alpha = alpha
        self.search = search
        self.tree = tree

    def _learner(self) -> TAN:
        return TAN(self.alpha, self.search, self.tree)


class AODEClassifier(CategoricalClassifier):
    """Averaged one-dependence estimators; see `simstudy.learners.aode.AODE`."""

    def __init__(
        self,
        m: float | None = None,
        min_frequency: float = 1.0,
        *,
        categories: Categories = "auto",
        handle_unknown: str = "ignore",
    ) -> None:
        super().__init__(categories=categories, handle_unknown=handle_unknown)
        self.m = m
        self.min_frequency = min_frequency

    def _learner(self) -> AODE:
        return AODE(self.m, self.min_frequency)


class CaMMLClassifier(CategoricalClassifier):
    """Networks by minimum message length; see `simstudy.learners.camml.learner.CaMML`.

    ``random_state`` matters only where models are sampled, from 11 variables on.
    """

    def __init__(
        self,
        select: Literal["mmlec", "map", "sec", "average", "sec_average"] = "mmlec",
        search: Literal["auto", "exact", "sample"] = "auto",
        *,
        random_state: int | np.random.RandomState | None = None,
        categories: Categories = "auto",
        handle_unknown: str = "ignore",
    ) -> None:
        super().__init__(categories=categories, handle_unknown=handle_unknown)
        self.select = select
        self.search = search
        self.random_state = random_state

    def _learner(self) -> CaMML:
        return CaMML(self.select, self.search)

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))


class KDBClassifier(CategoricalClassifier):
    """k-dependence Bayesian classifier; see `simstudy.learners.kdb.KDB`."""

    def __init__(
        self,
        k: int = 1,
        alpha: float = 0.5,
        *,
        categories: Categories = "auto",
        handle_unknown: str = "ignore",
    ) -> None:
        super().__init__(categories=categories, handle_unknown=handle_unknown)
        self.k = k
        self.alpha = alpha

    def _learner(self) -> KDB:
        return KDB(self.k, self.alpha)


class _OneAttributeClassifier(CategoricalClassifier, ABC):
    """An estimator that looks at one attribute alone, which is often not enough."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class DecisionStumpClassifier(_OneAttributeClassifier):
    """One value against the rest; see `simstudy.learners.one_attribute.DecisionStump`."""

    def _learner(self) -> DecisionStump:
        return DecisionStump()


class OneRClassifier(_OneAttributeClassifier):
    """Rules of one attribute; see `simstudy.learners.one_attribute.OneR`."""

    def __init__(
        self,
        leaves: Literal["hard", "frequency"] = "hard",
        *,
        categories: Categories = "auto",
        handle_unknown: str = "ignore",
    ) -> None:
        super().__init__(categories=categories, handle_unknown=handle_unknown)
        self.leaves = leaves

    def _learner(self) -> OneR:
        return OneR(self.leaves)
