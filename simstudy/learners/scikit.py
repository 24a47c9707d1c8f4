"""scikit-learn classifiers as learners, named by their dotted path.

``name = "sklearn.ensemble:RandomForestClassifier"`` in a study, with its parameters as keys.
"""

from __future__ import annotations

import importlib
import inspect
from dataclasses import dataclass, field, fields, make_dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample, check_codes
from simstudy.errors import SimstudyError, suggestion
from simstudy.learners.base import Described, Learner, require, shape_text

ENCODINGS = ("onehot", "ordinal")
_OWNERS = {"sklearn": "scikit-learn"}


@dataclass(frozen=True)
class ScikitLearner(Learner):
    """A scikit-learn classifier on encoded attributes.

    `scikit_learner` creates a subclass per classifier with its parameters as fields.

    Parameters
    ----------
    encode : {"onehot", "ordinal"}
        Encoding of the attributes: one-hot indicators or integer codes.

    Notes
    -----
    A class without training rows gets probability ½/(n + k/2), the floor of the MML cutoff; the
    others are rescaled. ``random_state``, unless given, is drawn from the cell's random stream.
    """

    encode: str = "onehot"
    estimator: ClassVar[type[Any]]
    path: ClassVar[str]

    def __post_init__(self) -> None:
        known = f"it must be one of {', '.join(ENCODINGS)}"
        require(self.encode in ENCODINGS, "encode", self.encode, known)
        check = getattr(self._make(None), "_validate_params", None)
        if check is not None:
            check()

    def _make(self, rng: np.random.Generator | None) -> Any:
        names = inspect.signature(self.estimator).parameters
        parameters = {f.name: getattr(self, f.name) for f in fields(self) if f.name in names}
        if rng is not None and parameters.get("random_state", 0) is None:
            parameters["random_state"] = int(rng.integers(2**31))
        return self.estimator(**parameters)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (self.path, {f.name: getattr(self, f.name) for f in fields(self)})

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedScikit:
        present = np.flatnonzero(sample.class_counts)
        estimator = None
        if len(present) > 1:
            estimator = self._make(rng or np.random.default_rng(0))
            options = {} if sample.weights is None else {"sample_weight": sample.weights}
            attributes = encoded(sample.attributes, sample.cards[:-1], self.encode)
            estimator.fit(attributes, sample.target, **options)
        return FittedScikit(estimator, present, sample.cards, self.encode, sample.total)


class FittedScikit(Described):
    """A fitted classifier over all classes; the classifier is None if only one class was seen."""

    def __init__(
        self, estimator: Any, present: IntArray, cards: tuple[int, ...], encode: str, rows: float
    ) -> None:
        self.estimator = estimator
        self._present, self._cards, self._encode = present, cards, encode
        self._floor = 0.5 / (rows + cards[-1] / 2)

    def _facts(self) -> list[str]:
        alone = "one class seen" if len(self._present) else "no rows seen"
        of = alone if self.estimator is None else repr(self.estimator)
        return [shape_text(len(self._cards) - 1, self._cards[-1]), of]

    def predict_proba(self, codes: IntArray) -> FloatArray:
        """Return one row of class probabilities per row of attribute codes."""
        codes = check_codes(codes, self._cards[:-1], "attribute")
        absent = self._cards[-1] - len(self._present)
        proba = np.full((len(codes), self._cards[-1]), self._floor if absent else 0.0)
        seen = np.ones((len(codes), len(self._present))) / max(len(self._present), 1)
        if self.estimator is not None and len(codes):
            seen = self.estimator.predict_proba(encoded(codes, self._cards[:-1], self._encode))
        if len(self._present):
            proba[:, self._present] = seen * (1 - absent * self._floor)
        else:
            proba[:] = 1 / self._cards[-1]
        return proba


def encoded(codes: IntArray, cards: tuple[int, ...], encode: str) -> FloatArray:
    """Encode attribute codes as classifier input."""
    if encode == "ordinal":
        return np.array(codes, dtype=np.float64, order="C")
    columns = [codes[:, [i]] == np.arange(card) for i, card in enumerate(cards)]
    return np.concatenate(columns, axis=1).astype(np.float64)


@lru_cache
def scikit_learner(path: str) -> type[ScikitLearner]:
    """Return the learner class of a classifier, from ``package.module:Classifier``."""
    module_name, _, name = path.partition(":")
    try:
        module = importlib.import_module(module_name)
    except (ImportError, ValueError) as error:
        raise SimstudyError(f"unknown learner '{path}': {error}") from error
    public = [n for n in dir(module) if n[0] != "_" and inspect.isclass(getattr(module, n))]
    classifiers = [n for n in public if hasattr(getattr(module, n), "predict_proba")]
    if name not in classifiers:
        raise SimstudyError(
            f"unknown learner '{path}': {module_name} has no such classifier with "
            f"predict_proba{suggestion(name, classifiers)}"
        )
    estimator, package = getattr(module, name), module_name.partition(".")[0]
    parameters = [
        (p.name, Any, field(default=p.default))
        for p in inspect.signature(estimator).parameters.values()
        if p.kind is not p.VAR_KEYWORD and p.kind is not p.VAR_POSITIONAL
    ]
    # A parameter without default, such as the estimator of a meta-estimator, cannot be written
    # in TOML.
    if any(f.default is inspect.Parameter.empty for _, _, f in parameters):
        raise SimstudyError(
            f"the learner '{path}' wraps another estimator, which a study file cannot specify"
        )
    made: type[ScikitLearner] = make_dataclass(
        name,
        parameters,
        bases=(ScikitLearner,),
        namespace={
            "estimator": estimator,
            "path": path,
            "__doc__": f"{_OWNERS.get(package, package)}'s {name}.",
            "__module__": __name__,
        },
        frozen=True,
    )
    return made


def _rebuilt(path: str, parameters: dict[str, Any]) -> ScikitLearner:
    """Rebuild a pickled learner."""
    return scikit_learner(path)(**parameters)
