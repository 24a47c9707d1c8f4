"""One-attribute rules: Weka's decision stump and Holte's 1R.

Iba & Langley (1992); Holte (1993). 1R with class frequencies in its leaves is the decision stump
of Korb, Hope & Hughes (2001).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from simstudy.arrays import ArrayLike, BoolArray, FloatArray, IntArray, weights_in
from simstudy.data.attribute_arrays import attribute_values
from simstudy.data.sample import Sample
from simstudy.learners.base import Described, Learner, require_choices, require_positive, shape_text
from simstudy.learners.bayes.tree_searches import xlogx

# Entropies and counts within this relative tolerance are ties up to rounding.
_TIE = 1e-12


@dataclass(frozen=True)
class DecisionStump(Learner):
    """Decision stump: one value of one attribute against the rest (Iba & Langley 1992).

    The split of minimum conditional entropy, ties to the first, as in Weka's DecisionStump. A
    numeric attribute is split halfway between two neighbouring training values. Rows in which the
    attribute is missing are a third part. A side without training rows predicts as the rows with
    missing values do, and if there are none, the overall class frequencies; so do missing values.
    If no attribute has two known values, all known values of the first are one part; Weka then
    compares them with 0.

    References
    ----------
    W. Iba & P. Langley (1992). Induction of one-level decision trees. ICML-92.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"numeric", "missing"})

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> OneAttributeRule:
        limit = _TIE * max(sample.total, 1.0)
        if sample.plain:
            inside = sample.slot_counts.T
            outside = sample.class_counts - inside
            entropy = _entropy(inside) + _entropy(outside)
            place = int(np.argmax(entropy <= entropy.min() + limit))
            attribute, best = int(sample.layout.owner[place]), int(sample.layout.value[place])
            leaves = np.tile(outside[place], (sample.cards[attribute], 1))
            leaves[best] = inside[place]
            return _with_frequencies(sample, attribute, leaves, sample.class_counts, None)
        parts = [_Parts(sample, attribute) for attribute in range(len(sample.cards) - 1)]
        splits = [part.splits() for part in parts]
        entropies = [
            _entropy(inside) + _entropy(outside) + _entropy(part.missing[None])
            for part, (inside, outside) in zip(parts, splits, strict=True)
        ]
        leasts = [entropy.min(initial=np.inf) for entropy in entropies]
        limit += min(leasts)
        attribute = next(i for i, least in enumerate(leasts) if least <= limit)
        part, cuts = parts[attribute], parts[attribute].cuts
        inside, outside = splits[attribute]
        leaves = part.counts.sum(axis=0)[None]
        if len(inside):  # otherwise no attribute can be split
            best = int(np.argmax(entropies[attribute] <= limit))
            leaves = np.tile(outside[best], (len(inside), 1))
            leaves[best] = inside[best]
            if cuts is not None:
                leaves, cuts = np.stack([inside[best], outside[best]]), cuts[[best]]
        return _with_frequencies(sample, attribute, leaves, part.missing, cuts)


@dataclass(frozen=True)
class OneR(Learner):
    """1R: the single attribute with the fewest training errors (Holte 1993).

    A numeric attribute is cut into intervals. From the lowest value up, values join an interval
    until `min_bucket` of its rows are of one class, and then as long as this is their most frequent
    class, too; neighbours of the same class are joined. Missing is a further value.

    Parameters
    ----------
    leaves : {"hard", "frequency"}
        Prediction for a value: its most frequent class with probability 1, as in Weka's OneR
        (ties and values without training rows go to the first class); or its class frequencies,
        as in Korb, Hope & Hughes (2001) (overall frequencies for a value without rows).
    min_bucket : float > 0
        Minimum number of rows of the most frequent class of an interval, except for the last.

    References
    ----------
    R. C. Holte (1993). Very simple classification rules perform well on most commonly used
    datasets. Machine Learning 11.

    K. B. Korb, L. R. Hope & M. J. Hughes (2001). The evaluation of predictive learners: some
    theoretical and empirical results. ECML 2001.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"numeric", "missing"})

    leaves: Literal["hard", "frequency"] = "hard"
    min_bucket: float = 6

    def __post_init__(self) -> None:
        require_choices(self)
        require_positive(self, "min_bucket")

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> OneAttributeRule:
        cuts, missing = None, np.zeros(sample.classes)
        if sample.plain:
            right = np.add.reduceat(sample.slot_counts.max(axis=0), sample.layout.starts)
            attribute = int(np.argmax(right >= right.max() - _TIE * sample.total))
            counts = sample.slot_counts[:, sample.layout.spans[attribute]].T
        else:
            parts = [_Parts(sample, attribute) for attribute in range(len(sample.cards) - 1)]
            for part in parts:
                part.join(self.min_bucket)
            right = np.array([part.right() for part in parts])
            attribute = int(np.argmax(right >= right.max() - _TIE * sample.total))
            part = parts[attribute]
            counts, cuts, missing = part.counts, part.cuts, part.missing
        if self.leaves == "frequency":
            return _with_frequencies(sample, attribute, counts, missing, cuts)
        of_class = np.eye(sample.classes)
        leaves, absent = of_class[counts.argmax(axis=1)], of_class[missing.argmax()]
        return OneAttributeRule(sample.cards[:-1], attribute, leaves, absent, cuts)


@dataclass(eq=False, repr=False)
class OneAttributeRule(Described):
    """Class probabilities that depend on one attribute.

    Attributes
    ----------
    attribute : int
        Its index.
    cuts : array or None
        For a numeric attribute, the greatest number of each interval but the last.
    leaves : array of shape (values, classes)
        Class probabilities for each of its values or intervals.
    missing : array of shape (classes,)
        Class probabilities if its value is missing.
    """

    _cards: tuple[int, ...]
    attribute: int
    leaves: FloatArray
    missing: FloatArray
    cuts: FloatArray | None = None

    def _facts(self) -> list[str]:
        shape = shape_text(len(self._cards), self.leaves.shape[1])
        return [shape, f"tests x{self.attribute}"]

    def predict_proba(self, rows: Sample | ArrayLike) -> FloatArray:
        """Return class probabilities, one row for each row of a sample or of attribute values."""
        values = attribute_values(rows, self._cards)[:, self.attribute]
        if values.dtype.kind != "f":
            return self.leaves[values]
        present = ~np.isnan(values)
        answers = np.tile(self.missing, (len(values), 1))
        held = values[present]
        place = held if self.cuts is None else np.searchsorted(self.cuts, held)
        answers[present] = self.leaves[place.astype(np.intp)]
        return answers


class _Parts:
    """The training rows in parts, by the values of one attribute.

    Attributes
    ----------
    counts : array of shape (values, classes)
        The rows of each value and class.
    cuts : array or None
        For a numeric attribute, the numbers halfway between neighbouring values.
    missing : array of shape (classes,)
        The rows without a value.
    """

    def __init__(self, sample: Sample, attribute: int) -> None:
        column, weights = sample.values[:, attribute], sample.weights
        present = np.ones(len(sample), dtype=bool) if weights is None else weights > 0
        held, absent = present & ~np.isnan(column), present & np.isnan(column)
        self.cuts: FloatArray | None = None
        values: FloatArray = np.arange(sample.cards[attribute], dtype=np.float64)
        if not sample.cards[attribute]:
            values = np.unique(column[held])
            self.cuts = values[:-1] / 2 + values[1:] / 2  # whose sum is always finite

        def count(rows: BoolArray, place: IntArray | int, size: int) -> FloatArray:
            cells = place * sample.classes + sample.target[rows]
            part = None if weights is None else weights[rows]
            return weights_in(cells, part, size * sample.classes).reshape(-1, sample.classes)

        self.counts = count(held, np.searchsorted(values, column[held]), len(values))
        self.missing = count(absent, 0, 1)[0]

    def splits(self) -> tuple[FloatArray, FloatArray]:
        """Return the class counts of both sides of each split of a stump."""
        inside = self.counts if self.cuts is None else self.counts.cumsum(axis=0)[:-1]
        return inside, self.counts.sum(axis=0) - inside

    def join(self, min_bucket: float) -> None:
        """Join the values of a numeric attribute into the intervals of 1R.

        As in Weka, a number equal to a cut belongs to the interval above it.
        """
        if self.cuts is None:
            return
        if not len(self.counts):
            self.counts = np.zeros((1, len(self.missing)))
        buckets = [*zip(self.counts, [*self.cuts, np.inf], strict=False)]
        for enough in (min_bucket, 0.0):
            joined: list[tuple[FloatArray, float]] = []
            for counts, cut in buckets:
                if joined:
                    last = joined[-1][0]
                    if last.max() < enough or last.argmax() == counts.argmax():
                        counts = counts + joined.pop()[0]
                joined.append((counts, cut))
            buckets = joined
        self.counts = np.array([counts for counts, _ in buckets])
        self.cuts = np.nextafter([cut for _, cut in buckets[:-1]], -np.inf)

    def right(self) -> float:
        """Return how many rows are of the most frequent class of their part.

        As in Weka, a numeric attribute without known values is no choice.
        """
        if self.cuts is not None and not self.counts.any():
            return -np.inf
        return float(self.counts.max(axis=1).sum() + self.missing.max())


def _with_frequencies(
    sample: Sample, attribute: int, leaves: FloatArray, missing: FloatArray, cuts: FloatArray | None
) -> OneAttributeRule:
    """Return the rule that answers with class frequencies.

    Leaves without rows answer as the rows with missing values, or as all rows if there are none.
    """
    rest = missing if missing.any() else sample.class_counts
    answer = _frequencies(rest[None], rest)[0]
    return OneAttributeRule(sample.cards[:-1], attribute, _frequencies(leaves, rest), answer, cuts)


def _entropy(counts: FloatArray) -> FloatArray:
    """Return the class entropy of each row of counts times its total, in nats."""
    return np.asarray(xlogx(counts.sum(axis=1)) - xlogx(counts).sum(axis=1))


def _frequencies(counts: FloatArray, of_all: FloatArray) -> FloatArray:
    """Normalise each row of counts; empty rows get the frequencies of all, or uniform ones."""
    of_all = of_all if of_all.sum() > 0 else np.ones_like(of_all)
    counts = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, of_all)
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
