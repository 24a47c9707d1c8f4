"""Estimators as tables: an import path and the parameters that are not default, nested ones too.

``{ name = "sklearn.svm:SVC", C = 2.0 }`` is an object that is made, ``{ object = "numpy:log1p" }``
one that is imported, ``{ items = [[0, 1.0], [1, 5.0]] }`` a dictionary whose keys are no strings.
None is the object ``builtins:None``, since TOML has no such value.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from simstudy.errors import SimstudyError, suggestion

_NONE = "builtins:None"
_NAMING = ("name", "object", "learner", "candidates")  # keys of tables, and of wrappers
_STEPS = ("drop", "passthrough")  # in place of an estimator
_STATE = ("_metadata_request", "_sklearn_output_config")  # what methods of estimators set


class UnnamedError(ValueError):
    """An object that an import path and parameters do not describe."""


def path_of(thing: Any) -> str:
    """Return the shortest path by which a class or function is imported."""
    module, name = getattr(thing, "__module__", None), getattr(thing, "__name__", "")
    packages = module.split(".") if isinstance(module, str) else []
    for number in range(1, len(packages) + 1) if module != "__main__" else ():
        package = ".".join(packages[:number])
        if name and getattr(sys.modules.get(package), name, None) is thing:
            return f"{package}:{name}"
    raise UnnamedError(f"{name or type(thing).__name__} cannot be imported by name")


def imported(path: str) -> Any:
    """Return what a path names."""
    module_name, _, name = path.partition(":")
    if path == _NONE:
        return None
    try:
        module = importlib.import_module(module_name)
    except (ImportError, ValueError) as error:
        raise SimstudyError(f"'{path}' cannot be imported: {error}") from error
    if not hasattr(module, name):
        hint = suggestion(name, [each for each in dir(module) if each[0] != "_"])
        raise SimstudyError(f"'{path}' cannot be imported: {module_name} has no '{name}'{hint}")
    return getattr(module, name)


def defaults_of(cls: type) -> dict[str, Any]:
    """Return the parameters of a class with their defaults, `inspect.Parameter.empty` without."""
    declared = inspect.signature(cls).parameters.values()
    variadic = {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    defaults = {each.name: each.default for each in declared if each.kind not in variadic}
    required = inspect.Parameter.empty in defaults.values()
    if (further := keywords_of(cls)) and not required:
        defaults = {**cls().get_params(deep=False), **defaults}
    return {**defaults, further: None} if further else defaults


def keywords_of(cls: Any) -> str:
    """Return the name under which a class of estimators takes any further keywords, or ""."""
    declared = inspect.signature(cls).parameters.values()
    names = [each.name for each in declared if each.kind is inspect.Parameter.VAR_KEYWORD]
    return names[0] if names and hasattr(cls, "get_params") else ""


def made_of(cls: Any, parameters: dict[str, Any]) -> Any:
    """Return an object of a class with these parameters, further keywords in one of them."""
    further = parameters.pop(keywords_of(cls), None) or {}
    return cls(**parameters, **further)


def paths_in(value: object) -> Iterator[str]:
    """The import paths that a value of a study names: those of classes, functions, learners."""
    keyed = value.items() if isinstance(value, Mapping) else ()
    for key, item in keyed:
        names = item if key == "candidates" and isinstance(item, list) else [item]
        if key in _NAMING and item != _NONE:
            yield from (name for name in names if isinstance(name, str) and ":" in name)
        yield from paths_in(item)
    for item in value if isinstance(value, list | tuple) else ():
        yield from paths_in(item)


def _is_made(cls: object) -> bool:
    """Whether a table may stand for an object of a class: an estimator, kernel or splitter."""
    methods = ("get_params", "split", "get_n_splits")
    return inspect.isclass(cls) and any(hasattr(cls, method) for method in methods)


def table_of(thing: Any) -> dict[str, Any]:
    """Return the table of an estimator or splitter; an `UnnamedError` if it has none."""
    table: dict[str, Any] = {"name": path_of(type(thing))}
    if not _is_made(type(thing)):
        raise UnnamedError(f"{type(thing).__name__} is no class of estimators or splitters")
    defaults = defaults_of(type(thing))
    further: dict[str, Any] = {}
    for key, value in _parameters(thing, defaults).items():
        if key == "name":
            raise UnnamedError(f"{type(thing).__name__} has a parameter 'name'")
        if key not in defaults:
            further[key] = table_value(value)
            continue
        if value is not defaults.get(key, inspect.Parameter.empty):
            stated = table_value(value)
            if not _is_default(stated, defaults.get(key, inspect.Parameter.empty)):
                table[key] = stated
    return {**table, keywords_of(type(thing)): further} if further else table


def _parameters(thing: Any, defaults: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters of an object that has no other state."""
    name = type(thing).__name__
    base = getattr(sys.modules.get("sklearn.base"), "BaseEstimator", object)
    clones = {getattr(cls, "__sklearn_clone__", None) for cls in (base, type(thing))} - {None}
    state = dict(getattr(thing, "__dict__", {}))
    stateful = len(clones) > 1 or not state.keys().isdisjoint(_STATE)
    if not stateful and hasattr(thing, "get_params"):
        return dict(thing.get_params(deep=False))
    if stateful or not state or state.keys() != defaults.keys():
        raise UnnamedError(f"{name} has other state than its parameters")
    return state


def _is_default(stated: object, default: object) -> bool:
    try:
        return json.dumps(stated) == json.dumps(table_value(default))
    except UnnamedError:
        return False


def table_value(value: Any, in_dictionary: bool = False) -> Any:
    """Return a value as TOML has it; an `UnnamedError` if it cannot."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray) and value.ndim == 1 and in_dictionary:
        value = value.tolist()
    if type(value) in (bool, int, float, str):
        return value
    if isinstance(value, list | tuple | range):
        return [table_value(item) for item in value]
    if isinstance(value, Mapping):
        plain = all(isinstance(key, str) for key in value)
        if plain and not is_table(value) and not {*value} & {"object", "items"}:
            return {key: table_value(item, in_dictionary=True) for key, item in value.items()}
        return {"items": [[table_value(key), table_value(each)] for key, each in value.items()]}
    if value is None:
        return {"object": _NONE}
    if isinstance(value, type) or (callable(value) and not hasattr(value, "get_params")):
        return {"object": path_of(value)}
    return table_of(value)


def is_table(value: object) -> bool:
    """Whether a value is the table of an object."""
    return isinstance(value, Mapping) and ":" in str(value.get("name", ""))


def object_of(table: Mapping[str, Any]) -> Any:
    """Return the object of a table."""
    cls, parameters = imported(table["name"]), {k: v for k, v in table.items() if k != "name"}
    if not _is_made(cls):
        rule = "an object is made of a class of estimators, kernels or splitters only"
        raise SimstudyError(f"'{table['name']}' cannot be made: {rule}")
    defaults = defaults_of(cls)
    for key in parameters:
        if key not in defaults:
            hint = suggestion(key, defaults)
            raise SimstudyError(f"'{key}' is no parameter of '{table['name']}'{hint}")
    try:
        return made_of(cls, {k: object_value(v, defaults[k]) for k, v in parameters.items()})
    except TypeError as error:
        raise SimstudyError(f"'{table['name']}' cannot be made: {error}") from error


def object_value(value: Any, default: object = None) -> Any:
    """Return the value that a table states for a parameter with a default."""
    if isinstance(value, list | tuple):
        made = [object_value(item) for item in value]
        step = len(value) > 1 and isinstance(value[0], str)
        step = step and (isinstance(value[1], Mapping) or value[1] in _STEPS)
        return tuple(made) if step or isinstance(default, tuple) else made
    if not isinstance(value, Mapping):
        return value
    if is_table(value):
        return object_of(value)
    if [*value] == ["object"]:
        return imported(value["object"])
    if [*value] == ["items"]:
        return {_candidate(key): object_value(item) for key, item in value["items"]}
    return {key: _candidates(item) for key, item in value.items()}


def _candidates(value: Any) -> Any:
    """What a grid states for a parameter: sequences among the candidates are tuples."""
    return [_candidate(item) for item in value] if isinstance(value, list) else object_value(value)


def _candidate(value: Any) -> Any:
    made = object_value(value)
    return tuple(made) if isinstance(value, Sequence) and isinstance(made, list) else made
