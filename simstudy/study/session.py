"""Objects of the running session as learners: those that a study file cannot name.

They are pickled for the worker processes of a run, and are not stored.
"""

from __future__ import annotations

import copy
import dataclasses
import hashlib
import pickletools
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

import numpy as np

from simstudy.components.registry import LEARNERS, OBJECT
from simstudy.errors import SimstudyError, describe
from simstudy.learners.base import Learner
from simstudy.learners.bridges.scikit import Classifier, ScikitLearner, seeded


@dataclasses.dataclass(frozen=True)
class SessionClassifier(ScikitLearner):
    """A classifier of the session that made the study."""

    _object: ClassVar[Any]

    def _make(self, rng: np.random.Generator | None) -> Classifier:
        made = copy.deepcopy(self._object)
        if hasattr(made, "get_params"):
            from sklearn.base import clone

            made = clone(made, safe=False)
        return seeded(made, rng)

    def __reduce__(self) -> tuple[Callable[..., ScikitLearner], tuple[object, ...]]:
        return type(self), (self.encode, self.scale)


def registered_object(thing: Any) -> str:
    """Register an object as a learner of this session; return its name, with its digest."""
    import cloudpickle

    try:
        content = cloudpickle.dumps(thing)
    except Exception as error:
        text = f"{type(thing).__name__} has no name and cannot be sent to worker processes"
        raise SimstudyError(f"{text}: {describe(error)}") from error
    # Code that is pickled by its name only counts by its version or source.
    texts = {text for _, text, _ in pickletools.genops(content) if isinstance(text, str)}
    modules = sorted(texts & {*sys.modules} - {*sys.stdlib_module_names, "__main__"})
    digests = [str(LEARNERS.source_digest(f"{module}:")) for module in modules]
    content += "".join(digests).encode()
    name = OBJECT + hashlib.sha256(content).hexdigest()[:16]
    if LEARNERS.loaded(name) is None:
        LEARNERS.register(name, _class_of(thing, name))
    return name


def _class_of(thing: Any, name: str) -> type[Learner]:
    """A class of learners without parameters, or with the object's own as defaults."""
    if not isinstance(thing, Learner):
        shared = {"_object": thing, "_classifier": type(thing), "_path": name, "_defaults": {}}
        text = f"{type(thing).__name__}, an object of the session."
        return type("SessionObject", (SessionClassifier,), {**shared, "__doc__": text})
    values = {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
    fields = [
        (key, Any, dataclasses.field(default_factory=partial(copy.deepcopy, value)))
        for key, value in values.items()
    ]
    shared = {"__doc__": type(thing).__doc__, "__module__": __name__}
    made: type[Learner] = dataclasses.make_dataclass(
        "SessionObject", fields, bases=(type(thing),), namespace=shared, frozen=True
    )
    return made
