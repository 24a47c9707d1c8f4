"""One estimator per learner."""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from simstudy.learners.aode import AODE
from simstudy.learners.c45.boosting import BoostedC45
from simstudy.learners.c45.learner import C45
from simstudy.learners.camml.learner import CaMML
from simstudy.learners.cost_sensitive import CostSensitive
from simstudy.learners.hnb import HNB
from simstudy.learners.kdb import KDB
from simstudy.learners.lbr import LBR
from simstudy.learners.mml.graph import MMLGraph
from simstudy.learners.mml.tree import MMLTree
from simstudy.learners.naive_bayes import NaiveBayes
from simstudy.learners.one_attribute import DecisionStump, OneR
from simstudy.learners.prior import Prior
from simstudy.learners.tan import TAN
from simstudy.sklearn.base import CategoricalClassifier
from simstudy.sklearn.mixed import MixedClassifier


class _PoorClassifier(CategoricalClassifier, ABC):
    """Base class of estimators that use at most one attribute and so may score poorly."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class PriorClassifier(_PoorClassifier):
    """Class frequencies, ignoring the attributes; see `simstudy.learners.prior.Prior`."""

    _of = Prior


class NaiveBayesClassifier(CategoricalClassifier):
    """Naive Bayes; see `simstudy.learners.naive_bayes.NaiveBayes`."""

    _of = NaiveBayes


class TANClassifier(CategoricalClassifier):
    """Tree-augmented Naive Bayes; see `simstudy.learners.tan.TAN`."""

    _of = TAN


class AODEClassifier(CategoricalClassifier):
    """Averaged one-dependence estimators; see `simstudy.learners.aode.AODE`."""

    _of = AODE


class CaMMLClassifier(CategoricalClassifier):
    """Bayesian networks by MML; see `simstudy.learners.camml.learner.CaMML`.

    ``random_state`` has an effect only if models are sampled, from 11 variables on.
    """

    _of = CaMML
    _options: ClassVar[dict[str, Any]] = {"random_state": None, **CategoricalClassifier._options}

    random_state: int | np.random.RandomState | None

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31))


class KDBClassifier(CategoricalClassifier):
    """k-dependence Bayesian classifier; see `simstudy.learners.kdb.KDB`."""

    _of = KDB


class HNBClassifier(CategoricalClassifier):
    """Hidden Naive Bayes; see `simstudy.learners.hnb.HNB`."""

    _of = HNB


class LBRClassifier(CategoricalClassifier):
    """Lazy Bayesian rules; see `simstudy.learners.lbr.LBR`."""

    _of = LBR


class DecisionStumpClassifier(_PoorClassifier):
    """Decision stump; see `simstudy.learners.one_attribute.DecisionStump`."""

    _of = DecisionStump


class OneRClassifier(_PoorClassifier):
    """1R, rules of one attribute; see `simstudy.learners.one_attribute.OneR`."""

    _of = OneR


class MMLTreeClassifier(CategoricalClassifier):
    """MML decision trees; see `simstudy.learners.mml.tree.MMLTree`."""

    _of = MMLTree


class MMLGraphClassifier(CategoricalClassifier):
    """MML decision graphs; see `simstudy.learners.mml.graph.MMLGraph`."""

    _of = MMLGraph


class CostSensitiveClassifier(CategoricalClassifier):
    """Cost-sensitive learning; see `simstudy.learners.cost_sensitive.CostSensitive`.

    Classes of the matrix are in the order of ``classes_``: sorted.
    """

    _of = CostSensitive


class C45Classifier(MixedClassifier):
    """C4.5 decision trees; see `simstudy.learners.c45.learner.C45`."""

    _of = C45


class BoostedC45Classifier(MixedClassifier):
    """Boosted C4.5; see `simstudy.learners.c45.boosting.BoostedC45`."""

    _of = BoostedC45
