"""The measures of a study, looked up and checked."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from simstudy.errors import suggestion
from simstudy.measures.arguments import POSITIVE, arguments
from simstudy.measures.base import (
    CONTEXT_KEYWORDS,
    Context,
    MeasureFunction,
    keywords,
    parameters,
    score,
)
from simstudy.measures.two_level import two_level
from simstudy.study.explain import KeyedError, sentence
from simstudy.study.registry import MEASURES, UnknownNameError
from simstudy.study.resolving import plain, refusal
from simstudy.study.sections import MeasureSection, MeasuresSection
from simstudy.study.spec import Spec


def measure_keys(measures: MeasuresSection) -> list[str]:
    """The key of each measure in a study file."""
    return ["measures.primary", *(f"measures.also[{i}]" for i in range(len(measures.also)))]


def stated_measures(measures: MeasuresSection) -> tuple[Spec, ...]:
    """The measures as a file states them; no name is looked up."""
    return tuple(_spec(one, dict(one.model_extra or {})) for one in measures.given)


def stated_targets(measures: MeasuresSection) -> tuple[Spec, ...]:
    """The targets as a file states them."""
    return tuple(_spec(one, dict(one.model_extra or {})) for one in measures.given_targets)


def resolve_measures(measures: MeasuresSection, ordering: bool = False) -> tuple[Spec, ...]:
    """Look up the measures and check their parameters; raises `KeyedError`.

    With ``ordering``, measures that order results and have no mean are allowed.
    """
    return _resolved(measure_keys(measures), measures.given, ordering)


def resolve_targets(measures: MeasuresSection) -> tuple[Spec, ...]:
    """Look up the targets of a comparison of measures; raises `KeyedError`."""
    return _resolved(target_keys(measures), measures.given_targets)


def target_keys(measures: MeasuresSection) -> list[str]:
    """The key of each target in a study file."""
    return [f"measures.targets[{index}]" for index in range(len(measures.given_targets))]


def _resolved(
    keys: Sequence[str], sections: Sequence[MeasureSection], ordering: bool = False
) -> tuple[Spec, ...]:
    specs = []
    for key, given in zip(keys, sections, strict=True):
        two = ":" in given.name and ordering
        specs.append(_resolve_two_level(key, given) if two else _resolve(key, given))
    for key, spec in zip(keys, specs, strict=True):
        if [one.label for one in specs].count(spec.label) > 1:
            raise KeyedError(
                key,
                f"the measure '{spec.name}' is named twice; give one of them another label, "
                f'{{ name = "{spec.name}", label = "…" }}',
            )
        if spec.label in MEASURES.reserved:
            raise KeyedError(key, f"the scores have a column named '{spec.label}' already")
    return tuple(specs)


def _resolve_two_level(key: str, given: MeasureSection) -> Spec:
    """A two-level measure: both of its measures are looked up; neither has parameters."""
    for name in given.model_extra or {}:
        text = f"the two-level measure '{given.name}' has no parameters"
        raise KeyedError(f"{key}.{name}", text)
    try:
        two_level(given.name, lambda name: _resolve_name(key, name))
    except ValueError as error:
        raise KeyedError(key, str(error)) from error
    return _spec(given, {})


def _resolve_name(key: str, name: str) -> MeasureFunction:
    """The measure of a name that a study can call without parameters."""
    _resolve(key, MeasureSection(name=name))
    return MEASURES.get(name)


def _resolve(key: str, given: MeasureSection) -> Spec:
    if ":" in given.name:
        raise KeyedError(
            key,
            f"'{given.name}' orders two results and has no mean over models, so it cannot score "
            "learners; name one of its two measures",
        )
    try:
        function = MEASURES.get(given.name)
    except UnknownNameError as error:
        raise KeyedError(key, str(error)) from error
    own = parameters(function)
    try:
        named = [*keywords(function), *(set(given.model_extra or {}) & {*own})]
        inspect.signature(function).bind("proba", "y", **dict.fromkeys(named))
    except TypeError as error:
        raise KeyedError(
            key,
            f"the measure '{given.name}' cannot be called: {error}; it is given (proba, y) and, if "
            f"it names them, {', '.join(sorted(CONTEXT_KEYWORDS))}",
        ) from error
    return _spec(given, _checked(key, given, function))


def _checked(key: str, given: MeasureSection, function: MeasureFunction) -> dict[str, object]:
    """The parameters of a measure, their types checked against its annotations."""
    own, found = parameters(function), {}
    hints = typing.get_type_hints(function, include_extras=True)
    for name, value in (given.model_extra or {}).items():
        if name not in own:
            known = [*own, *MeasureSection.model_fields]
            raise KeyedError(f"{key}.{name}", f"unknown key{suggestion(name, known)}")
        hint: Any = str | int if name == POSITIVE else hints.get(name, Any)
        try:
            coerced = TypeAdapter(hint).validate_json(json.dumps(value), strict=True)
        except ValidationError as error:
            raise KeyedError(f"{key}.{name}", sentence(error.errors()[0], value)) from error
        found[name] = plain(coerced)
    return found


def _spec(given: MeasureSection, found: dict[str, object]) -> Spec:
    label, stated = given.label or given.name, given.model_extra or {}
    plain_name = label == given.name and not stated
    identity = json.dumps([label, given.name, stated], sort_keys=True)
    return Spec(given.name, found, given.name if plain_name else identity, label, resolved=found)


def check_parameters(
    key: str, spec: Spec, names: Sequence[str], positive: str | int | None
) -> None:
    """Refuse parameters of a measure that do not fit the classes: call it once."""
    if ":" in spec.name:
        return
    classes = len(names)
    proba, y = np.full((2 * classes, classes), 1 / classes), np.arange(2 * classes) % classes
    try:
        function = MEASURES.get(spec.name)
        if given := arguments(function, spec.parameters, names, positive):
            context = Context(truth=proba, oracle=proba, limit=proba, prior=proba[0], rarer=0)
            score(function, proba, y, **context, **given)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin may raise anything
        raise KeyedError(key, refusal(error)) from error
