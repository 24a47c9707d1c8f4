"""Trees and rules as estimators; C4.5 takes numbers and missing values too."""

from __future__ import annotations

from abc import ABC
from typing import Any, Literal

from simstudy.learners.c45.boosting import BoostedC45
from simstudy.learners.c45.learner import C45
from simstudy.learners.mml.graph import MMLGraph
from simstudy.learners.mml.tree import MMLTree
from simstudy.learners.one_attribute import DecisionStump, OneR
from simstudy.sklearn.base import CategoricalClassifier, Categories
from simstudy.sklearn.mixed import Columns, MixedClassifier


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


class MMLTreeClassifier(CategoricalClassifier):
    """Trees of least message length; see `simstudy.learners.mml.tree.MMLTree`."""

    def __init__(
        self, alpha: float = 0.5, *, categories: Categories = "auto", handle_unknown: str = "ignore"
    ) -> None:
        super().__init__(categories=categories, handle_unknown=handle_unknown)
        self.alpha = alpha

    def _learner(self) -> MMLTree:
        return MMLTree(self.alpha)


class MMLGraphClassifier(CategoricalClassifier):
    """Trees whose branches may join; see `simstudy.learners.mml.graph.MMLGraph`."""

    def __init__(
        self, alpha: float = 0.5, *, categories: Categories = "auto", handle_unknown: str = "ignore"
    ) -> None:
        super().__init__(categories=categories, handle_unknown=handle_unknown)
        self.alpha = alpha

    def _learner(self) -> MMLGraph:
        return MMLGraph(self.alpha)


class C45Classifier(MixedClassifier):
    """C4.5; see `simstudy.learners.c45.learner.C45`."""

    def __init__(
        self,
        confidence: float = 0.25,
        min_leaf: float = 2,
        prune: bool = True,
        laplace: bool = False,
        subtree_raising: bool = True,
        *,
        categorical_features: Columns = "from_dtype",
        categories: Categories = "auto",
        handle_unknown: str = "ignore",
    ) -> None:
        super().__init__(
            categorical_features=categorical_features,
            categories=categories,
            handle_unknown=handle_unknown,
        )
        self.confidence = confidence
        self.min_leaf = min_leaf
        self.prune = prune
        self.laplace = laplace
        self.subtree_raising = subtree_raising

    def _learner(self) -> C45:
        return C45(self.confidence, self.min_leaf, self.prune, self.laplace, self.subtree_raising)


class BoostedC45Classifier(MixedClassifier):
    """Boosted C4.5; see `simstudy.learners.c45.boosting.BoostedC45`."""

    def __init__(
        self,
        rounds: int = 10,
        confidence: float = 0.25,
        min_leaf: float = 2,
        *,
        categorical_features: Columns = "from_dtype",
        categories: Categories = "auto",
        handle_unknown: str = "ignore",
    ) -> None:
        super().__init__(
            categorical_features=categorical_features,
            categories=categories,
            handle_unknown=handle_unknown,
        )
        self.rounds = rounds
        self.confidence = confidence
        self.min_leaf = min_leaf

    def _learner(self) -> BoostedC45:
        return BoostedC45(self.rounds, self.confidence, self.min_leaf)
