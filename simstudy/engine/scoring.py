"""From a learner's probabilities to the numbers of one cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.families.model import Model
from simstudy.measures.base import keywords, score
from simstudy.registry import MEASURES
from simstudy.sample import Sample, read_only


class InvalidProbabilitiesError(ValueError):
    """A learner gave something other than class probabilities."""


def check_probabilities(proba: FloatArray, rows: int, classes: int) -> FloatArray:
    """The probabilities as an array, refused if a row is not a distribution over the classes."""
    proba = np.asarray(proba, dtype=np.float64)
    if proba.shape != (rows, classes):
        raise InvalidProbabilitiesError(
            f"probabilities of shape {proba.shape} instead of {(rows, classes)}"
        )
    for wrong, what in (
        (~np.isfinite(proba).all(axis=1), "is not a number"),
        ((proba < 0).any(axis=1), "is negative"),
        (np.abs(proba.sum(axis=1) - 1) > 1e-6, "belongs to a row that does not sum to one"),
    ):
        if wrong.any():
            raise InvalidProbabilitiesError(
                f"a probability {what}, in {int(wrong.sum())} of {rows} rows; "
                f"the first: {proba[wrong.argmax()].tolist()}"
            )
    return proba


def class_prior(
    kind: str | Sequence[float], train: Sample, test: Sample, model: Model
) -> FloatArray:
    """The prior that rewards are relative to.

    Frequencies are counted from ½, (n_i + ½)/(n + k/2): Hope & Korb (2004, footnote 3).
    """
    if kind == "train":
        return train.class_frequencies(0.5)
    if kind == "test":
        return test.class_frequencies(0.5)
    if kind == "uniform":
        return np.full(train.classes, 1 / train.classes)
    if kind == "true":
        return model.class_prior()
    prior = np.asarray(kind, dtype=np.float64)
    if len(prior) != train.classes:
        raise ValueError(f"the given prior has {len(prior)} classes, the model {train.classes}")
    return prior


def clip(proba: FloatArray, cutoff: str, n: int) -> FloatArray:
    """Probabilities kept from the extremes that ``n`` training rows cannot support.

    ``mml`` clips to [½/(n + k/2), (n + ½)/(n + k/2)] (Hope & Korb 2002), ``2001`` to
    [½/(n + 1), (n + ½)/(n + 1)] (Korb, Hope & Hughes 2001), ``none`` does not clip. Rows are not
    renormalised.
    """
    if cutoff == "none":
        return proba
    total = n + (proba.shape[1] / 2 if cutoff == "mml" else 1.0)
    return np.clip(proba, 0.5 / total, (n + 0.5) / total)


class Scorer:
    """Scores the learners of one model on one test set."""

    def __init__(
        self,
        measures: Sequence[str],
        prior: str | Sequence[float],
        cutoff: str,
        base: float,
        model: Model,
        test: Sample,
    ) -> None:
        self._measures = [MEASURES.get(name) for name in measures]
        self._prior, self._cutoff, self._base = prior, cutoff, base
        self._model, self._test = model, test
        needs_truth = any("truth" in keywords(measure) for measure in self._measures)
        self._truth = read_only(model.posterior(test.attributes)) if needs_truth else None

    def __call__(self, proba: FloatArray, train: Sample) -> list[float]:
        """The value of every measure for probabilities learned from ``train``."""
        # Read-only: a measure that writes to its arguments must not reach the next one.
        prior = read_only(class_prior(self._prior, train, self._test, self._model))
        proba = read_only(proba)
        clipped = read_only(clip(proba, self._cutoff, len(train)))
        target: IntArray = self._test.target
        return [
            score(
                measure,
                clipped if measure.info.logarithmic else proba,
                target,
                prior=prior,
                truth=self._truth,
                base=self._base,
            )
            for measure in self._measures
        ]
