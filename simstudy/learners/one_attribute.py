"""Rules of one attribute: Weka's decision stump and Holte's 1R.

Iba & Langley (1992); Holte (1993), whose rule with frequencies in its leaves is the decision
stump of Korb, Hope & Hughes (2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample, check_codes
from simstudy.learners.base import Learner, require

# Entropies and counts this close, against their size, are ties that rounding has parted.
_TIE = 1e-12


@dataclass(frozen=True)
class DecisionStump(Learner):
    """One value of one attribute against all its others, with class frequencies on both sides.

    The split of least conditional entropy, the first of several, as Weka's DecisionStump; a side
    that no training row is on has the frequencies of all.
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
    """The one attribute whose most frequent classes, value by value, are right most often.

    Parameters
    ----------
    leaves : {"hard", "frequency"}
        What a value answers: its most frequent class with probability 1, as Weka's OneR (ties,
        and values without training rows, go to the first class); or the frequencies of its
        classes, as Korb, Hope & Hughes (2001) used the rule (those of all rows for a value
        without any).
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


class OneAttributeRule:
    """Class probabilities that depend on one attribute.

    Attributes
    ----------
    attribute : int
        Which one.
    leaves : array of shape (values, classes)
        What each of its values answers.
    """

    def __init__(self, sample: Sample, attribute: int, leaves: FloatArray) -> None:
        self._cards = sample.cards[:-1]
        self.attribute = attribute
        self.leaves = leaves

    def predict_proba(self, codes: IntArray) -> FloatArray:
        """One row of class probabilities for each row of attribute codes."""
        return self.leaves[check_codes(codes, self._cards, "attribute")[:, self.attribute]]


def _entropy(counts: FloatArray) -> FloatArray:
    """The class entropy of each row of counts times the rows it is over, in nats."""
    totals = counts.sum(axis=1)
    entropy: FloatArray = _xlogx(totals) - _xlogx(counts).sum(axis=1)
    return entropy


def _xlogx(counts: FloatArray) -> FloatArray:
    return counts * np.log(counts + (counts == 0))


def _frequencies(counts: FloatArray, of_all: FloatArray) -> FloatArray:
    """Each row of counts as frequencies; without any, those of all rows, or no preference."""
    of_all = of_all if of_all.sum() > 0 else np.ones_like(of_all)
    counts = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, of_all)
    frequencies: FloatArray = counts / counts.sum(axis=1, keepdims=True)
    return frequencies
