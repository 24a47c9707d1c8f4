"""The components of a study, looked up and checked."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import typing
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from simstudy.components.describe import REQUIRED, defaults_of
from simstudy.components.registry import FAMILIES, MEASURES, AnyRegistry, Spec, UnknownNameError
from simstudy.data.files.named import within
from simstudy.errors import KeyedError, at_key, refusal, refuse, refused_at, suggestion
from simstudy.measures import base
from simstudy.measures.positive_class import POSITIVE, arguments
from simstudy.measures.theory.two_level import two_level
from simstudy.sources.families.base import Family
from simstudy.sources.source import Source
from simstudy.study.constants import FILES
from simstudy.study.error_messages import sentence
from simstudy.study.search import selecting
from simstudy.study.sections import LearnerSection, MeasureSection, NamedSection, TreatmentSection

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Parameters of `Family` and their names in identities, from which random streams are made.
_IN_IDENTITY = {"variables": "attributes"}
# The method of each kind of component, and what a study calls it with.
_METHODS = {
    "family": ("draw", "rng"),
    "source": ("problem", "plan", "index"),  # in place of a family
    "change": ("apply", "world", "rng"),
    "learner": ("fit", "sample", "rng"),
    "estimator": ("estimate", "bench", "judge", "confidence"),
    "test": ("test", "first", "second", "judge"),
}


def component_spec(
    section: NamedSection, registry: AnyRegistry, key: str, directory: Path | None
) -> Spec:
    """Look up a component and check its parameters: types, bounds and its own checks.

    Files are relative to ``directory``. Without one, the component is as the file states it; its
    name is not looked up. Raises `KeyedError` with the key at fault, in the section ``key``.
    """
    if isinstance(section, LearnerSection):
        with refused_at(key):
            section = selecting(section)
    if directory is None:
        renamed = _IN_IDENTITY if registry is FAMILIES and registry.is_own(section.name) else {}
        return _spec(section, dict(section.model_extra or {}), {}, renamed, {})
    with refused_at(key):
        return _resolve(section, registry, directory)


def _resolve(section: NamedSection, registry: AnyRegistry, directory: Path) -> Spec:
    with at_key("name", UnknownNameError):
        cls = registry.get(section.name)
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        raise ValueError(f"the {registry.kind} '{section.name}' is not a dataclass")
    hints = typing.get_type_hints(cls, include_extras=True)
    defaults = defaults_of(cls)
    parameters = {
        key: _checked(key, value, defaults, hints, type(section))
        for key, value in (section.model_extra or {}).items()
    }
    for key in [key for key, value in defaults.items() if value is REQUIRED]:
        text = f"the {registry.kind} '{section.name}' needs the key '{key}'"
        refuse(key not in parameters, key, text)
        del defaults[key]
    if hasattr(cls, "canonical"):
        parameters = cls.canonical(parameters)
    files = _files(cls, parameters, directory) if issubclass(cls, Family) else {}
    texts = {key: text for key, (_, text) in files.items()}
    _check_method(cls(**{**parameters, **texts}), registry, section.name)
    renamed = _IN_IDENTITY if issubclass(cls, Family) else {}
    spec = _spec(section, parameters, defaults, renamed, texts)
    copies = tuple((key, name) for key, (name, _) in files.items())
    return dataclasses.replace(spec, parameters={**parameters, **texts}, files=copies)


def _checked(
    key: str,
    value: object,
    parameters: Iterable[str],
    hints: Mapping[str, Any],
    section: type[NamedSection],
) -> Any:
    """The value of a parameter, checked against its annotation."""
    name = key.rpartition(".")[2]
    if name not in parameters:
        text = suggestion(name, [*parameters, *section.model_fields])
        raise KeyedError(key, f"unknown key{text}")
    try:
        adapter = TypeAdapter(hints.get(name, Any))
        return plain(adapter.validate_json(json.dumps(value), strict=True))
    except ValidationError as error:
        raise KeyedError(key, sentence(error.errors()[0], value)) from error


def _files(
    cls: type[Family], parameters: Mapping[str, object], directory: Path
) -> dict[str, tuple[str, str]]:
    """The names of copies and the texts of the files that parameters of a family name."""
    files: dict[str, tuple[str, str]] = {}
    for key in cls.files:
        stated = parameters.get(key)
        if not isinstance(stated, str) or "\n" in stated:
            continue  # the text itself
        try:
            text = cls.file_text(key, within(directory, stated))
        except (OSError, ValueError) as error:
            raise KeyedError(key, refusal(error)) from error
        stem = Path(stated.replace(":", "-")).name.partition(".")[0] or key
        files[key] = f"{FILES}/{stem}{cls.file_suffix}", text
    return files


def _check_method(component: DataclassInstance, registry: AnyRegistry, name: str) -> None:
    """Refuse a component without the method that a study calls."""
    of = "source" if isinstance(component, Source) else registry.kind
    method, *parameters = _METHODS[of]
    called = f"{method}({', '.join(parameters)})"
    function = getattr(component, method, None)
    if not callable(function):
        raise ValueError(f"the {registry.kind} '{name}' needs a method {called}")
    try:
        inspect.signature(function).bind(*parameters)
    except TypeError as error:
        text = f"the {registry.kind} '{name}' cannot be called as {called}: {error}"
        raise ValueError(text) from error


def _spec(
    section: NamedSection,
    parameters: Mapping[str, object],
    defaults: Mapping[str, object],
    renamed: Mapping[str, str],
    texts: Mapping[str, str],
) -> Spec:
    usual = json.loads(json.dumps(defaults, default=str))
    changed = {
        renamed.get(key, key): value
        for key, value in parameters.items()
        if key not in usual or (json.dumps(value) != json.dumps(usual[key]) and value != usual[key])
    }
    for key, text in texts.items():  # a file is known by its content
        changed[key] = hashlib.sha256(text.encode()).hexdigest()
    preparation = None
    if isinstance(section, LearnerSection) and section.preparation is not None:
        preparation = section.preparation.model_dump(exclude_unset=True)
    both = {**defaults, **parameters}
    return Spec(
        name=section.name,
        parameters=parameters,
        resolved={key: value for key, value in both.items() if is_toml(value)},
        identity=json.dumps([section.name, changed], sort_keys=True),
        label=section.label or section.name if isinstance(section, TreatmentSection) else "",
        stated_preparation=preparation,
    )


def is_toml(value: object) -> bool:
    """Whether TOML can represent a value."""
    if isinstance(value, list | tuple | dict):
        return all(map(is_toml, value.values() if isinstance(value, dict) else value))
    return isinstance(value, bool | int | float | str)


def plain(value: object) -> Any:
    """Tuples as lists, as a value is after a file was written and read."""
    return json.loads(json.dumps(value))


def measure_specs(
    sections: Mapping[str, MeasureSection], ordering: bool, look_up: bool
) -> tuple[Spec, ...]:
    """Look up measures or targets, by key, and check their parameters; raises `KeyedError`.

    With ``ordering``, measures that order results and have no mean are allowed. Unless they are to
    be looked up, they are as the file states them.
    """
    if not look_up:
        return tuple(_measure(each, dict(each.model_extra or {})) for each in sections.values())
    specs = [_resolve_measure(key, section, ordering) for key, section in sections.items()]
    labels = [spec.label for spec in specs]
    for key, spec in zip(sections, specs, strict=True):
        twice = f"the measure '{spec.name}' is listed twice; give one of them another label, "
        twice += f'{{ name = "{spec.name}", label = "…" }}'
        refuse(labels.count(spec.label) > 1, key, twice)
        text = f"the scores already have a column named '{spec.label}'"
        refuse(spec.label in MEASURES.reserved, key, text)
    return tuple(specs)


def _resolve_measure(key: str, section: MeasureSection, ordering: bool) -> Spec:
    stated = section.model_extra or {}
    if ":" in section.name:
        text = f"'{section.name}' orders two results and has no mean over models, so it cannot "
        text += "score learners; name one of its two measures"
        refuse(not ordering, key, text)
        for name in stated:
            text = f"the two-level measure '{section.name}' has no parameters"
            raise KeyedError(f"{key}.{name}", text)
        with at_key(key, ValueError):
            two_level(section.name, lambda name: _called(key, MeasureSection(name=name)))
        return _measure(section, {})
    function = _called(key, section)
    hints = typing.get_type_hints(function, include_extras=True) | {POSITIVE: str | int}
    checks = (base.parameters(function), hints, MeasureSection)
    values = {name: _checked(f"{key}.{name}", stated[name], *checks) for name in stated}
    return _measure(section, values)


def _called(key: str, section: MeasureSection) -> base.MeasureFunction:
    """The measure of a name, which a study must be able to call."""
    with at_key(key, UnknownNameError):
        function = MEASURES.get(section.name)
    try:
        stated = base.parameters(function).keys() & (section.model_extra or {}).keys()
        named = base.keywords(function) | stated
        inspect.signature(function).bind("proba", "y", **dict.fromkeys(named))
    except TypeError as error:
        text = f"the measure '{section.name}' cannot be called: {error}; it is called with "
        text += f"(proba, y) and, if it declares them, {', '.join(sorted(base.CONTEXT_KEYWORDS))}"
        raise KeyedError(key, text) from error
    return function


def _measure(section: MeasureSection, parameters: dict[str, object]) -> Spec:
    name, label, stated = section.name, section.label or section.name, section.model_extra or {}
    plain_name = label == name and not stated
    identity = name if plain_name else json.dumps([label, name, stated], sort_keys=True)
    return Spec(name, parameters, identity, label, resolved=parameters)


def check_parameters(
    key: str, spec: Spec, names: Sequence[str], positive: str | int | None
) -> None:
    """Refuse parameters of a measure that do not fit the classes: call it once."""
    if ":" in spec.name:
        return
    classes = len(names)
    proba, y = np.full((2 * classes, classes), 1 / classes), np.arange(2 * classes) % classes
    with refused_at(key):
        function = MEASURES.get(spec.name)
        if parameters := arguments(function, spec.parameters, names, positive):
            context = base.Context(truth=proba, oracle=proba, limit=proba, prior=proba[0], rarer=0)
            base.score(function, proba, y, **context, **parameters)
