"""Bayesian networks as estimators."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from simstudy.learners.aode import AODE
from simstudy.learners.camml.learner import CaMML
from simstudy.learners.hnb import HNB
from simstudy.learners.kdb import KDB
from simstudy.learners.lbr import LBR
from simstudy.learners.naive_bayes import NaiveBayes
from simstudy.learners.prior import Prior
from simstudy.learners.tan import TAN
from simstudy.sklearn.base import CategoricalClassifier, Categories


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
        arithmetic: Literal["stable", "program"] = "stable",
        *,
        random_state: int | np.random.RandomState | None = None,
        categories: Categories = "auto",
        handle_unknown: str = "ignore",
    ) -> None:
        super().__init__(categories=categories, handle_unknown=handle_unknown)
        self.select = select
        self.search = search
        self.arithmetic = arithmetic
        self.random_state = random_state

    def _learner(self) -> CaMML:
        return CaMML(self.select, self.search, self.arithmetic)

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


class HNBClassifier(CategoricalClassifier):
    """Hidden Naive Bayes; see `simstudy.learners.hnb.HNB`."""

    def _learner(self) -> HNB:
        return HNB()


class LBRClassifier(CategoricalClassifier):
    """Lazy Bayesian rules; see `simstudy.learners.lbr.LBR`."""

    def __init__(
        self,
        significance: float = 0.05,
        *,
        categories: Categories = "auto",
        handle_unknown: str = "ignore",
    ) -> None:
        super().__init__(categories=categories, handle_unknown=handle_unknown)
        self.significance = significance

    def _learner(self) -> LBR:
        return LBR(self.significance)
