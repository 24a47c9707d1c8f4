"""One-attribute rules: Weka's decision stump and Holte's 1R.

Iba & Langley (1992); Holte (1993). 1R with class frequencies in its leaves is the decision stump
of Korb, Hope & Hughes (2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample, attribute_codes
from simstudy.learners.base import Described, Learner, require, shape_text

# Entropies and counts within this relative tolerance are ties up to rounding.
_TIE = 1e-12


@dataclass(frozen=True)
class DecisionStump(Learner):
    """Decision stump: one value of one attribute against the rest (Iba & Langley 1992).

    The split of minimum conditional entropy, ties to the first, as in Weka's DecisionStump. A
    side without training rows predicts the overall class frequencies.

    References
    ----------
    W. Iba & P. Langley (1992). Induction of one-level decision trees. ICML-92.
    """

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> OneAttributeRule:
        inside = sample.slot_counts.T
        outside = sample.class_counts - inside
        entropy = _entropy(inside) + _entropy(outside)
        best = int(np.argmax(entropy <= entropy.min() + _TIE * max(sample.total, 1.0)))
        attribute = int(sample.layout.owner[best])
        value = best - int(sample.layout.starts[attribute])
        leaves = np.tile(outside[best], (sample.cards[attribute], 1))
        leaves[value] = inside[best]
        return OneAttributeRule(sample, attribute, _frequencies(leaves, sample.class_counts))


@dataclass(frozen=True)
class OneR(Learner):
    """1R: the single attribute with the fewest training errors (Holte 1993).

    Parameters
    ----------
    leaves : {"hard", "frequency"}
        Prediction for a value: its most frequent class with probability 1, as in Weka's OneR
        (ties and values without training rows go to the first class); or its class frequencies,
        as in Korb, Hope & Hughes (2001) (overall frequencies for a value without rows).

    References
    ----------
    R. C. Holte (1993). Very simple classification rules perform well on most commonly used
    datasets. Machine Learning 11.

    K. B. Korb, L. R. Hope & M. J. Hughes (2001). The evaluation of predictive learners: some
    theoretical and empirical results. ECML 2001.
    """

    leaves: Literal["hard", "frequency"] = "hard"

    def __post_init__(self) -> None:
        known = self.leaves in ("hard", "frequency")
        require(known, "leaves", self.leaves, "it must be one of hard, frequency")

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> OneAttributeRule:
        right = np.add.reduceat(sample.slot_counts.max(axis=0), sample.layout.starts)
        attribute = int(np.argmax(right >= right.max() - _TIE * sample.total))
        counts = sample.slot_counts[:, sample.layout.spans[attribute]].T
        if self.leaves == "frequency":
            return OneAttributeRule(sample, attribute, _frequencies(counts, sample.class_counts))
        return OneAttributeRule(sample, attribute, np.eye(sample.classes)[counts.argmax(axis=1)])


class OneAttributeRule(Described):
    """Class probabilities that depend on one attribute.

    Attributes
    ----------
    attribute : int
        Its index.
    leaves : array of shape (values, classes)
        Class probabilities for each of its values.
    """

    def __init__(self, sample: Sample, attribute: int, leaves: FloatArray) -> None:
        self._cards = sample.cards[:-1]
        self.attribute = attribute
        self.leaves = leaves

    def _facts(self) -> list[str]:
        shape = shape_text(len(self._cards), self.leaves.shape[1])
        return [shape, f"tests x{self.attribute}"]

    def predict_proba(self, codes: IntArray) -> FloatArray:
        """Return one row of class probabilities per row of attribute codes."""
        return self.leaves[attribute_codes(codes, self._cards)[:, self.attribute]]


def _entropy(counts: FloatArray) -> FloatArray:
    """Return the class entropy of each row of counts times its total, in nats."""
    totals = counts.sum(axis=1)
    entropy: FloatArray = _xlogx(totals) - _xlogx(counts).sum(axis=1)
    return entropy


def _xlogx(counts: FloatArray) -> FloatArray:
    return counts * np.log(counts + (counts == 0))


def _frequencies(counts: FloatArray, of_all: FloatArray) -> FloatArray:
    """Normalise each row of counts; empty rows get the overall frequencies, or uniform ones."""
    of_all = of_all if of_all.sum() > 0 else np.ones_like(of_all)
    counts = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, of_all)
    frequencies: FloatArray = counts / counts.sum(axis=1, keepdims=True)
    return frequencies
