"""Learners that are stated from Python, by names or as objects, as a study file has them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from typing import Any

from simstudy.components.registry import LEARNERS
from simstudy.errors import SimstudyError
from simstudy.learners.base import Learner
from simstudy.study.components import is_toml

_STATED = "the name of a learner, an object, a pair of a label and one of these, or a table"


def learner_sections(learners: object) -> list[dict[str, Any]]:
    """Return the sections of learners: names, objects, pairs with labels, tables, or a mapping."""
    if isinstance(learners, Mapping) and "name" not in learners and "object" not in learners:
        learners = [*learners.items()]
    if isinstance(learners, str | Mapping) or not isinstance(learners, Iterable):
        learners = [learners]
    learners = [*learners]
    sections = [*map(_section, learners)]
    labels = [section.get("label", section.get("name")) for section in sections]
    taken = [label for label, each in zip(labels, learners, strict=True) if _is_labelled(each)]
    for section, label, learner in zip(sections, labels, learners, strict=True):
        if not _is_labelled(learner):  # a label of the user comes first
            numbered = (f"{label} {number}" for number in itertools.count(2))
            texts = itertools.chain([label], numbered)
            taken.append(free := next(text for text in texts if text not in taken))
            section |= {"label": free} if free != label else {}
    return sections


def _is_labelled(learner: object) -> bool:
    """Whether the label of a learner is the user's own, or that of a study file."""
    table = isinstance(learner, Mapping) and ("label" in learner or "object" not in learner)
    return table or isinstance(learner, tuple)


def _section(learner: Any) -> dict[str, Any]:
    """The section of a learner."""
    if isinstance(learner, str):
        return {"name": learner, **_path_label(learner)}
    if isinstance(learner, tuple) and len(learner) == 2 and isinstance(learner[0], str):
        return {**_section(learner[1]), "label": learner[0]}
    if isinstance(learner, Mapping):
        if "name" not in learner and "object" not in learner:
            keys = ", ".join(map(repr, learner)) or "none"
            text = f"a table needs the key 'name', or 'object' for an object; its keys are {keys}"
            raise SimstudyError(f"learners: {text}")
        section = {key: _value(value) for key, value in learner.items() if key != "object"}
        return {**_section(learner["object"]), **section} if "object" in learner else section
    if isinstance(learner, Learner) or all(
        hasattr(type(learner), method) for method in ("fit", "predict_proba")
    ):
        return _object_section(learner)
    text = f"is no learner, which is {_STATED}"
    if isinstance(learner, type):
        kind = learner.__name__
        raise SimstudyError(f"learners: the class {kind} {text}; make one with {kind}()")
    if hasattr(learner, "fit") and hasattr(learner, "predict"):
        text += "; it has no predict_proba; a classifier can be wrapped in CalibratedClassifierCV"
    raise SimstudyError(f"learners: an object of type {type(learner).__name__} {text}")


def _path_label(name: str) -> dict[str, str]:
    """The label of a classifier named by its path: that of its class."""
    outside = ":" in name and not name.startswith("pgmpy:")
    return {"label": name.rpartition(":")[2]} if outside else {}


def _object_section(thing: Any) -> dict[str, Any]:
    """An object by its name and parameters or, without one, as an object of this session."""
    from simstudy.learners.bridges.tables import UnnamedError, table_of

    try:
        if isinstance(thing, Learner):
            return _learner_section(thing)
        if hasattr(thing, "as_learner") and (learner := thing.as_learner()) is not None:
            return {"label": _label(thing)} | _learner_section(learner)
        section = table_of(thing)
        return {"name": section.pop("name"), "label": _label(thing), **section}
    except UnnamedError:
        from simstudy.study.session import registered_object

        return {"name": registered_object(thing), "label": _label(thing)}


def _learner_section(learner: Learner) -> dict[str, Any]:
    """A learner of this package or of a plugin, with the parameters that are not default."""
    from simstudy.components.describe import defaults_of
    from simstudy.learners.bridges.tables import UnnamedError, table_value

    path = getattr(learner, "_path", None)
    name = path or LEARNERS.name_of(type(learner))
    defaults = defaults_of(type(learner))
    stated = {key: value for key in defaults if (value := vars(learner)[key]) != defaults[key]}
    if name is None or not (path or is_toml([*stated.values()])):
        raise UnnamedError(type(learner).__name__)
    if path:
        stated = {key: table_value(value) for key, value in stated.items()}
    return {"name": name, **_path_label(name), **stated}


def _label(thing: Any) -> str:
    """What an object is called: its class, and that of the classifier inside."""
    name = type(thing).__name__
    parameters = thing.get_params(deep=False) if hasattr(thing, "get_params") else {}
    last, inner = [*parameters.get("steps", ())][-1:], parameters.get("estimator")
    if last and hasattr(last[0][1], "get_params"):
        return f"{_label(last[0][1])} pipeline"
    if not hasattr(inner, "get_params"):
        return name
    return f"{'tuned' if name.endswith('SearchCV') else f'{name} of'} {_label(inner)}"


def _value(value: Any) -> Any:
    """A value of a table, which may be an object."""
    from simstudy.learners.bridges.tables import table_value

    plain = value is None or isinstance(value, str | int | float | Mapping | list | tuple)
    return value if plain else table_value(value)
