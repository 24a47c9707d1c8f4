"""The components of a study, looked up and checked."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from simstudy.errors import describe, suggestion
from simstudy.sources.base import Family
from simstudy.sources.source import Source
from simstudy.study.constants import FILES
from simstudy.study.explain import KeyedError, sentence
from simstudy.study.registry import FAMILIES, AnyRegistry, UnknownNameError
from simstudy.study.sections import LearnerSection, NamedSection, TreatmentSection
from simstudy.study.spec import Spec

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# Parameters of `Family` and their names in earlier versions. A study file may use either; an
# identity always uses the earlier one, so that no random stream changes.
EARLIER_NAMES = {"variables": "attributes"}


# The method of each kind of component, and what a study calls it with.
_METHODS = {
    "family": ("draw", "rng"),
    "source": ("problem", "plan", "index"),  # in place of a family
    "change": ("apply", "world", "rng"),
    "learner": ("fit", "sample", "rng"),
    "estimator": ("estimate", "bench", "judge", "confidence"),
    "test": ("test", "first", "second", "judge"),
}


def stated_spec(given: NamedSection, registry: AnyRegistry) -> Spec:
    """A family or learner as a file states it; the name is not looked up."""
    parameters = dict(given.model_extra or {})
    earlier = EARLIER_NAMES if registry is FAMILIES and registry.is_own(given.name) else {}
    for present, name in earlier.items():
        if name in parameters:
            parameters[present] = parameters.pop(name)
    return _spec(given, parameters, {}, earlier)


def resolve_spec(
    given: NamedSection, registry: AnyRegistry, key: str, directory: Path | None = None
) -> Spec:
    """Look up a component and check its parameters: types, bounds and its own checks.

    Files are relative to ``directory``. Raises `KeyedError` with the key at fault, in the section
    ``key``.
    """
    try:
        return _resolve(given, registry, directory or Path())
    except KeyedError as error:
        raise KeyedError(f"{key}.{error.key}", str(error)) from error
    except UnknownNameError as error:
        raise KeyedError(f"{key}.name", str(error)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin's own check may raise anything
        raise KeyedError(key, refusal(error)) from error


def refusal(error: BaseException) -> str:
    """The text of an error that a component raised, in one line."""
    text = " ".join(describe(error).split())
    if isinstance(error, ValueError):
        text = text.removeprefix(f"{type(error).__name__}: ")
    return text


def keys_of(
    cls: type[DataclassInstance],
) -> tuple[dict[str, dataclasses.Field[object]], dict[str, str]]:
    """The parameters of a component, and what other names stand for."""
    fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
    other_names = {}
    for present, name in (EARLIER_NAMES if issubclass(cls, Family) else {}).items():
        if name in fields:  # in a family written for earlier versions
            del fields[present]
            other_names[present] = name
        else:
            other_names[name] = present
    return fields, other_names


def _resolve(given: NamedSection, registry: AnyRegistry, directory: Path) -> Spec:
    cls = registry.get(given.name)
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        raise ValueError(f"the {registry.kind} '{given.name}' is not a dataclass")
    hints = typing.get_type_hints(cls, include_extras=True)
    fields, other_names = keys_of(cls)
    earlier = EARLIER_NAMES if issubclass(cls, Family) else {}
    stated, parameters = given.model_extra or {}, {}
    for other, name in other_names.items():
        if other in stated and name in stated:
            raise KeyedError(other, f"'{name}' is given too, with the same meaning; give one")
    for key, value in stated.items():
        name = other_names.get(key, key)
        if name not in fields:
            known = [*fields, *type(given).model_fields]
            raise KeyedError(key, f"unknown key{suggestion(key, known)}")
        try:
            coerced = TypeAdapter(hints[name]).validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            raise KeyedError(key, sentence(error.errors()[0], value)) from error
        parameters[name] = plain(coerced)
    defaults = {}
    for key, field in fields.items():
        if field.default is not dataclasses.MISSING:
            defaults[key] = field.default
        elif field.default_factory is not dataclasses.MISSING:
            defaults[key] = field.default_factory()
        elif key not in parameters:
            raise KeyedError(key, f"the {registry.kind} '{given.name}' needs the key '{key}'")
    files = _files(cls, parameters, directory)
    texts = {key: text for key, (_, text) in files.items()}
    _check_method(cls(**{**parameters, **texts}), registry, given.name)
    spec = _spec(given, parameters, defaults, earlier, texts)
    copies = tuple((key, name) for key, (name, _) in files.items())
    return dataclasses.replace(spec, parameters={**parameters, **texts}, files=copies)


def _files(
    cls: type[DataclassInstance], parameters: Mapping[str, object], directory: Path
) -> dict[str, tuple[str, str]]:
    """The names of copies and the texts of the files that parameters of a family name."""
    found: dict[str, tuple[str, str]] = {}
    if not issubclass(cls, Family):
        return found
    for key in cls.files:
        stated = parameters.get(key)
        if not isinstance(stated, str) or "\n" in stated:
            continue  # the text itself
        try:
            text = cls.file_text(key, directory / stated)
        except (OSError, ValueError) as error:
            raise KeyedError(key, refusal(error)) from error
        stem = Path(stated).name.partition(".")[0] or key
        found[key] = f"{FILES}/{stem}{cls.file_suffix}", text
    return found


def _check_method(component: DataclassInstance, registry: AnyRegistry, name: str) -> None:
    """Refuse a component without the method that a study calls."""
    of = "source" if isinstance(component, Source) else registry.kind
    method, *arguments = _METHODS[of]
    called = f"{method}({', '.join(arguments)})"
    function = getattr(component, method, None)
    if not callable(function):
        raise ValueError(f"the {registry.kind} '{name}' needs a method {called}")
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        raise ValueError(
            f"the {registry.kind} '{name}' cannot be called as {called}: {error}"
        ) from error


def _spec(
    given: NamedSection,
    parameters: Mapping[str, object],
    defaults: Mapping[str, object],
    earlier: Mapping[str, str],
    texts: Mapping[str, str] | None = None,
) -> Spec:
    known = json.loads(json.dumps(defaults, default=str))
    changed = {
        earlier.get(key, key): value
        for key, value in parameters.items()
        if key not in known or value != known[key]
    }
    for key, text in (texts or {}).items():  # a file is known by its content
        changed[key] = hashlib.sha256(text.encode()).hexdigest()
    both = {**defaults, **parameters}
    own = given.preparation if isinstance(given, LearnerSection) else None
    return Spec(
        name=given.name,
        parameters=parameters,
        resolved={key: value for key, value in both.items() if _is_toml(value)},
        identity=json.dumps([given.name, changed], sort_keys=True),
        label=given.label or given.name
        if isinstance(given, LearnerSection | TreatmentSection)
        else "",
        stated_preparation=None if own is None else own.model_dump(exclude_unset=True),
    )


def _is_toml(value: object) -> bool:
    """Whether TOML can represent a value."""
    if isinstance(value, list | tuple):
        return all(_is_toml(item) for item in value)
    if isinstance(value, dict):
        return all(_is_toml(item) for item in value.values())
    return isinstance(value, bool | int | float | str)


def plain(value: object) -> Any:
    """Tuples as lists, as a value is after a file was written and read."""
    return json.loads(json.dumps(value))
