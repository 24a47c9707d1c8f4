"""The information reward as a metric and a scorer for scikit-learn."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, cast

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from simstudy import measures
from simstudy.arrays import AnyArray, ArrayLike, FloatArray, smoothed, weights_in
from simstudy.learners.base import require
from simstudy.measures.base import Context, clip, score
from simstudy.sklearn.columns import Rows

Prior: TypeAlias = str | Mapping[Any, float] | ArrayLike

CUTOFFS = ("mml", "2001", "none")


class FittedClassifier(Protocol):
    """A fitted classifier that gives probabilities."""

    classes_: AnyArray

    def predict_proba(self, X: Rows) -> FloatArray: ...


def information_reward(
    y_true: ArrayLike,
    y_proba: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    prior: Prior = "test",
    train_rows: float | None = None,
    cutoff: str = "mml",
    sample_weight: ArrayLike | None = None,
    base: float = math.e,
    reward: str = "mean",
) -> float:
    """Return the mean information reward of predicted probabilities (Hope & Korb 2004).

    It is that of `simstudy.measures.information_reward`, relative to a prior: 0 for a classifier
    that predicts the prior; greater is better. For the same rows, the prior changes the rewards of
    all classifiers by the same amount, so it has no influence on which of them is better.

    Parameters
    ----------
    y_true : array of shape (rows,)
        The true labels.
    y_proba : array of shape (rows, classes)
        The probability of each class, as from ``predict_proba``.
    labels : array of shape (classes,), optional
        The labels of the columns, such as ``classes_``; those of ``y_true``, sorted, if left out.
        A label that is only in ``y_true`` is a class of probability 0.
    prior : {"test", "uniform"}, mapping or array
        The prior probabilities: the frequencies of the labels in ``y_true``, (n_i + ½)/(n + k/2);
        equal ones; a mapping from every label to its probability, which may have further labels;
        or an array in the order of ``labels``.
    train_rows : float, optional
        The number of training rows n, to clip the probabilities to the extremes that n rows
        support. If left out, they are not clipped, and the reward is −inf if the true class has
        probability 0 or another one probability 1.
    cutoff : {"mml", "2001", "none"}
        How to clip: to [½/(n + k/2), (n + ½)/(n + k/2)] (Hope & Korb 2002), to
        [½/(n + 1), (n + ½)/(n + 1)] (Korb, Hope & Hughes 2001), or not at all.
    sample_weight : array of shape (rows,), optional
        Row weights.
    base : float
        The base of the logarithms: e gives nats, 2 gives bits.
    reward : {"mean", "sum"}
        Whether the terms of the classes are averaged or summed.

    Returns
    -------
    float
        The mean over the rows.
    """
    require(cutoff in CUTOFFS, "cutoff", cutoff, f"it must be one of {', '.join(CUTOFFS)}")
    enough = train_rows is None or 0 < train_rows < np.inf
    require(enough, "train_rows", train_rows, "it must be above 0 and finite")
    y, proba = column_or_1d(y_true), np.asarray(y_proba, dtype=np.float64)
    check_consistent_length(y, proba, sample_weight)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    columns = np.unique(y) if labels is None else column_or_1d(labels)
    _check_probabilities(proba, columns)
    by_label: dict[Hashable, float] | None = None
    if hasattr(prior, "keys"):  # a mapping or a series
        by_label = dict(cast(Mapping[Any, float], prior))
    columns, proba = _with_further(columns, proba, [*np.unique(y).tolist(), *(by_label or ())])
    place = {label: i for i, label in enumerate(columns.tolist())}
    codes = np.array([place[label] for label in y.tolist()], dtype=np.intp)
    if train_rows is not None:
        proba = clip(proba, cutoff, train_rows)
    if by_label is not None:
        prior = [by_label[label] for label in place if label in by_label]
    p = _prior(prior, weights_in(codes, weights, len(columns)))
    context: Context = {"prior": p, "weights": weights, "base": base, "reward": reward}
    return score(measures.information_reward, proba, codes, **context)


def information_reward_scorer(
    *,
    prior: Prior = "test",
    train_rows: float | None = None,
    cutoff: str = "mml",
    base: float = math.e,
    reward: str = "mean",
) -> InformationRewardScorer:
    """Return a scorer for ``scoring=`` of `cross_val_score`, `GridSearchCV` and the like.

    The parameters are those of `information_reward`, with the ``classes_`` of the classifier as
    labels, and one more prior. Probabilities are clipped, as in a study, so that no reward is
    −inf, unless ``cutoff`` is "none".

    Parameters
    ----------
    prior : {"test", "uniform", "train"}, mapping or array
        By default the frequencies in the rows that are scored, so that all classifiers are scored
        relative to the same prior. A study uses "train": the frequencies of the training labels,
        (n_i + ½)/(n + k/2). The classifier must then have the attribute ``class_count_``, as those
        of `simstudy.sklearn` and the Naive Bayes classifiers of scikit-learn do, or be a pipeline
        or a search with such a classifier.
    train_rows : float, optional
        The number of training rows n, which limits the probabilities; if left out, that of
        ``class_count_``, and the number of rows that are scored where there is no such attribute.
    cutoff, base, reward
        See `information_reward`.
    """
    return InformationRewardScorer(prior, train_rows, cutoff, base, reward)


@dataclass(frozen=True)
class InformationRewardScorer:
    """A scorer; see `information_reward_scorer`."""

    prior: Prior
    train_rows: float | None
    cutoff: str
    base: float
    reward: str

    def __call__(
        self,
        estimator: FittedClassifier,
        X: Rows,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the information reward of a fitted classifier on some rows."""
        proba, labels = estimator.predict_proba(X), estimator.classes_
        prior, train_rows, seen = self.prior, self.train_rows, _training_counts(estimator)
        if isinstance(prior, str) and prior == "train":
            if isinstance(seen, str):
                raise ValueError(
                    f"prior = 'train' needs a classifier with the attribute class_count_, which "
                    f"{seen} has not; give prior as a mapping, and train_rows"
                )
            counts = dict(zip(labels.tolist(), seen, strict=True))
            counts = dict.fromkeys(np.unique(column_or_1d(y)).tolist(), 0.0) | counts
            prior = dict(zip(counts, smoothed(np.array([*counts.values()])), strict=True))
        if train_rows is None:
            train_rows = len(column_or_1d(y)) if isinstance(seen, str) else sum(seen)
        options = {**vars(self), "labels": labels, "prior": prior, "train_rows": train_rows}
        return information_reward(y, proba, sample_weight=sample_weight, **options)


def _check_probabilities(proba: FloatArray, labels: AnyArray) -> None:
    """Raise an error unless the rows are distributions over different labels."""
    if proba.ndim != 2 or proba.shape[1] != len(labels) or len(set(labels.tolist())) < len(labels):
        raise ValueError(
            f"y_proba has shape {proba.shape}; it must have one column for each of the labels, "
            f"which are {', '.join(map(str, labels))}; give labels if y_true lacks some"
        )
    # Some classifiers compute in single precision.
    if not (proba.min() >= 0 and np.abs(proba.sum(axis=1) - 1).max() <= 1e-5):
        raise ValueError("every row of y_proba must be probabilities that sum to 1")


def _with_further(
    labels: AnyArray, proba: FloatArray, named: list[Hashable]
) -> tuple[AnyArray, FloatArray]:
    """Return labels and probabilities with the other named labels, of probability 0."""
    present = set(labels.tolist())
    further = [label for label in dict.fromkeys(named) if label not in present]
    if not further:
        return labels, proba
    every = np.empty(len(labels) + len(further), dtype=object)
    every[:] = [*labels.tolist(), *further]
    return every, np.pad(proba, ((0, 0), (0, len(further))))


def _prior(prior: object, counts: FloatArray) -> FloatArray:
    """Return the prior probabilities of the labels, of which ``counts`` are in the test."""
    if isinstance(prior, str):
        allowed = "it must be 'test', 'uniform', a mapping or an array; a scorer also knows 'train'"
        require(prior in ("test", "uniform"), "prior", prior, allowed)
        return smoothed(counts) if prior == "test" else np.full(len(counts), 1 / len(counts))
    p = np.asarray(prior, dtype=np.float64)
    if p.shape != counts.shape:
        wrong = f"prior has shape {p.shape} for {len(counts)} labels"
        raise ValueError(f"{wrong}; give a mapping from every label to its probability")
    if not (p.min() > 0 and abs(p.sum() - 1) <= 1e-9):
        raise ValueError(f"prior is {p.tolist()}; it must be above 0 everywhere and sum to 1")
    return p


def _training_counts(estimator: object) -> list[float] | str:
    """Return how often a fitted classifier has seen each class; its name if that is not known."""
    inner = estimator
    while not hasattr(inner, "class_count_"):
        if hasattr(inner, "best_estimator_"):  # a search
            inner = inner.best_estimator_
        elif hasattr(inner, "steps"):  # a pipeline
            inner = inner.steps[-1][1]
        else:
            return type(inner).__name__
    return np.asarray(inner.class_count_, dtype=np.float64).tolist()
