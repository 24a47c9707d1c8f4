"""Neural networks stopped early by a measure on the training rows (Huang & Ling 2007)."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.neural_network import MLPClassifier

from simstudy import Learner, Sample, register_learner, register_measure
from simstudy.learners.bridges.scikit import Encoder, FittedScikit
from simstudy.measures import accuracy, auc
from simstudy.measures.base import score
from simstudy.measures.theory.two_level import auc_accuracy_number

Stop = Literal["accuracy", "auc", "auc:accuracy"]
MEASURES = ("accuracy", "auc", "auc:accuracy")


@register_measure("auc_acc", greater_is_better=True, label="AUC:acc", over="set")
def auc_acc(proba: Any, y: Any) -> float:
    """Return the number that Huang & Ling print for AUC:acc, ``min(1, AUC + .01 acc)``."""
    found = auc(proba, y)
    if np.isnan(found):
        return found  # with the reason why there is none
    return auc_accuracy_number(found, float(np.mean(accuracy(proba, y))))


@register_learner("stopped_mlp")
@dataclass(frozen=True)
class StoppedMLP(Learner):
    """Multilayer perceptron, trained until a measure on the training rows stops to gain.

    The weights are kept, the network is trained for ``look_ahead`` more epochs, and the measure is
    taken again. If it gained at least ``gain``, the new weights are kept, and so on; else the
    weights that were kept are the result (Huang & Ling 2007, section 5). The first weights are
    random ones, which have not been trained.

    Parameters
    ----------
    stop : {"accuracy", "auc", "auc:accuracy"}
        The measure; the last as the number AUC + .01 acc.
    look_ahead : int >= 1
        Epochs to look ahead.
    gain : float > 0
        The gain below which training stops.
    hidden : int >= 1
        Hidden units, in one layer.
    learning_rate : float > 0
        Of stochastic gradient descent on the log loss, with momentum .9, in batches of 200 rows.
    max_epochs : int >= 1
        Epochs, at most.
    random_state : int >= 0
        Decides the first weights and the order of rows; the same for all measures.
    """

    accepts: ClassVar[frozenset[str]] = frozenset({"numeric", "missing"})

    stop: Stop = "auc:accuracy"
    look_ahead: int = 100
    gain: float = 0.01
    hidden: int = 10
    learning_rate: float = 0.1
    max_epochs: int = 2000
    random_state: int = 2007

    def __post_init__(self) -> None:
        if self.stop not in MEASURES:
            known = ", ".join(MEASURES)
            raise ValueError(f"stop = '{self.stop}' is not allowed; it must be one of {known}")
        for name in ("look_ahead", "gain", "hidden", "learning_rate", "max_epochs"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} = {getattr(self, name)} is not allowed; it must be > 0")

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedScikit:
        present = np.flatnonzero(sample.class_counts)
        encoder = Encoder(sample, "onehot", scale=True)
        if len(present) < 2:
            return FittedScikit(None, encoder, sample)
        rows = encoder(sample)
        target = np.searchsorted(present, sample.target)
        network = self._train(rows, target)
        return FittedScikit(network, encoder, sample)

    def _train(self, rows: Any, target: Any) -> MLPClassifier:
        """Return the network that was kept when the measure stopped to gain."""
        network = MLPClassifier(
            hidden_layer_sizes=(self.hidden,),
            activation="logistic",
            solver="sgd",
            batch_size=min(200, len(rows)),
            learning_rate_init=self.learning_rate,
            momentum=0.9,
            alpha=0.0,
            random_state=self.random_state,
        )
        classes = np.unique(target)
        _untrained(network, rows, target, classes)
        kept, value = copy.deepcopy(network), self._value(network, rows, target)
        for _ in range(max(1, self.max_epochs // self.look_ahead)):
            _epochs(network, rows, target, self.look_ahead)
            reached = self._value(network, rows, target)
            if reached - value < self.gain:
                break
            kept, value = copy.deepcopy(network), reached
        return kept

    def _value(self, network: MLPClassifier, rows: Any, target: Any) -> float:
        """Return the measure on the training rows."""
        proba = network.predict_proba(rows)
        right = score(accuracy, proba, target)
        if self.stop == "accuracy":
            return right
        area = float(auc(proba, target))
        return area if self.stop == "auc" else auc_accuracy_number(area, right)


def _untrained(network: MLPClassifier, rows: Any, target: Any, classes: Any) -> None:
    """Give a network its first weights, by an epoch of no effect."""
    rate = network.learning_rate_init
    network.set_params(learning_rate_init=1e-300)
    network.partial_fit(rows, target, classes=classes)
    network.set_params(learning_rate_init=rate)
    network._optimizer.learning_rate_init = network._optimizer.learning_rate = rate


def _epochs(network: MLPClassifier, rows: Any, target: Any, number: int) -> None:
    """Train for some epochs, which keep the momentum of those before."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's, that training has not converged
        for _ in range(number):
            network.partial_fit(rows, target)
