"""One estimator per learner."""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from simstudy import learners
from simstudy.sklearn.base import CategoricalClassifier
from simstudy.sklearn.mixed import MixedClassifier


class _PoorClassifier(CategoricalClassifier, ABC):
    """Base class of estimators that use at most one attribute and so may score poorly."""

    def __sklearn_tags__(self) -> Any:
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
    _options: ClassVar[dict[str, Any]] = {"random_state": None, **CategoricalClassifier._options}

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


class C45Classifier(MixedClassifier):
    """C4.5 decision trees; see `simstudy.learners.trees.c45.learner.C45`."""

    _of = learners.C45


class BoostedC45Classifier(MixedClassifier):
    """Boosted C4.5; see `simstudy.learners.trees.c45.boosting.BoostedC45`."""

    _of = learners.BoostedC45
