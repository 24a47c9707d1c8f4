"""Placements of rows by scores: AUCs of two classes and their covariances (DeLong et al. 1988)."""

from dataclasses import dataclass

import numpy as np

from simstudy.arrays import Class, FloatArray, IntArray, Labels
from simstudy.measures.base import Undefined
from simstudy.measures.positive_class import positive_class
from simstudy.measures.ranking.ranked_rows import tie_groups


@dataclass(frozen=True)
class Placements:
    """The placements of positive among negative rows and the reverse, one row per curve.

    The placement of a positive row is the share of negative rows below it, half of those that tie;
    of a negative row, the share of positive rows above it.
    """

    of_positive: FloatArray
    of_negative: FloatArray

    @property
    def auc(self) -> tuple[float, ...]:
        """The AUC of every curve."""
        if (absent := self._absent()) is not None:
            return (absent,) * len(self.of_positive)
        return tuple(self.of_positive.mean(axis=1).tolist())

    def covariance(self, first: int, second: int) -> float:
        """DeLong's covariance of two AUCs."""
        if (absent := self._absent()) is not None:
            return absent
        total = 0.0
        for name, part in (("positive", self.of_positive), ("negative", self.of_negative)):
            rows = part.shape[1]
            if rows < 2:
                return Undefined(f"only one row of the {name} class")
            a, b = (part[curve] - part[curve].mean() for curve in (first, second))
            total += float(a @ b) / (rows - 1) / rows
        return total

    def _absent(self) -> Undefined | None:
        for name, part in (("positive", self.of_positive), ("negative", self.of_negative)):
            if not part.shape[1]:
                return Undefined(f"no row of the {name} class")
        return None


def placements(scores: tuple[FloatArray, ...], y: Labels, positive: Class) -> Placements:
    """Return the placements by each learner's scores (Sun & Xu 2014)."""
    classes, columns = np.asarray(y), [np.shape(each)[1] for each in scores if np.ndim(each) == 2]
    if columns:
        positive = positive_class(positive, None, classes, columns[0])
    elif positive is None:
        positive = 1
    is_positive = classes == positive
    m, n = int(is_positive.sum()), int((~is_positive).sum())
    of_positive, of_negative = np.empty((len(scores), m)), np.empty((len(scores), n))
    for curve, each in enumerate(scores):
        s = np.asarray(each, dtype=np.float64)
        s = s if s.ndim == 1 else s[:, positive]
        if s.shape != classes.shape:
            raise ValueError(f"scores must be those of {classes.shape} rows, not {s.shape}")
        groups = tie_groups(s)
        ranks = _midranks(groups)
        of_positive[curve] = (ranks[is_positive] - _midranks(groups[is_positive])) / max(n, 1)
        above = (ranks[~is_positive] - _midranks(groups[~is_positive])) / max(m, 1)
        of_negative[curve] = 1.0 - above
    return Placements(of_positive, of_negative)


def _midranks(groups: IntArray) -> FloatArray:
    """Return the ranks from 1 by groups of ties, which share the mean of theirs."""
    sizes = np.bincount(groups)
    middle = np.cumsum(sizes) - sizes + (sizes + 1) / 2
    return middle[groups]
