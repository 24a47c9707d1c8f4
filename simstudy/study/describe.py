"""What a component, such as a family or a learner, is: from its docstring, fields and annotations.

A docstring has the sections of numpydoc. The type of a parameter may state limits, e.g.
``float > 0, <= 0.5``; tests compare them with the checks of the component.
"""

from __future__ import annotations

import dataclasses
import inspect
import json
import math
import re
import textwrap
import types
import typing
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from simstudy.errors import SimstudyError, describe, suggestion
from simstudy.measures.arguments import POSITIVE
from simstudy.measures.base import CONTEXT_KEYWORDS, MeasureInfo, has_exact_value
from simstudy.study.registry import LEARNERS, MEASURES, REGISTRIES, AnyRegistry, Definition
from simstudy.study.resolving import keys_of

REQUIRED: object = dataclasses.MISSING  # the default of a parameter that has none
_HEADING = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
_ROLE = re.compile(r":[\w:]+:`~?([^`<]*?)(?:\s*<[^`]*>)?`")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a component."""

    name: str
    type: str  # as the docstring states it, or else the annotation
    meaning: str
    default: object
    hint: Any  # the annotation
    context: bool = False  # of a measure: given by the study or the model, not a parameter

    @property
    def default_text(self) -> str:
        """The default as in TOML; empty if there is none, or None."""
        if self.default is None or self.default is REQUIRED:
            return ""
        if isinstance(self.default, float) and self.default == math.e:
            return '"e"'
        return json.dumps(self.default, default=str)


@dataclass(frozen=True)
class Description:
    """A family, change, learner, measure, estimator or test."""

    kind: str
    name: str
    summary: str
    text: tuple[str, ...]  # paragraphs
    formula: str  # the paragraph with a formula
    parameters: tuple[Parameter, ...]
    notes: tuple[str, ...]
    references: tuple[str, ...]
    info: MeasureInfo | None = None  # of a measure
    exact: bool = False  # of a measure: whether it has an exact value


def find_components(name: str) -> list[Description]:
    """Describe all components of a name; an error with suggestions if there is none."""
    if ":" in name:
        return [describe_component(LEARNERS, name)]
    found = [registry for registry in REGISTRIES if name in registry.names()]
    if not found:
        known = {known for registry in REGISTRIES for known in registry.names()}
        *kinds, last = (registry.kind for registry in REGISTRIES)
        kind = f"{', '.join(kinds)} or {last}"
        raise SimstudyError(f"unknown {kind} '{name}'{suggestion(name, known)}")
    return [describe_component(registry, name) for registry in found]


def describe_component(registry: AnyRegistry, name: str) -> Description:
    """Describe a component by its name, or a classifier by its path."""
    try:
        component = registry.get(name)
    except SimstudyError:
        raise
    except (Exception, SystemExit) as error:  # another package may fail to import in any way
        raise SimstudyError(f"the {registry.kind} '{name}' fails: {describe(error)}") from error
    measure = MEASURES.get(name) if registry is MEASURES else None
    documents = [_sections(text) for text in _docstrings(component)] or [{"": ""}]
    first, *paragraphs = _paragraphs(documents[0][""]) or [""]
    if hasattr(component, "_classifier"):  # the last docstring is that of the classifier
        paragraphs = _paragraphs(documents[-1][""])[:2]
    sections: dict[str, str] = {}
    for document in reversed(documents):  # a class takes precedence over its base classes
        sections |= document
    references = re.sub(r"^\.\. \[\w+\] ", "", sections.get("References", ""), flags=re.MULTILINE)
    return Description(
        kind=registry.kind,
        name=name,
        summary=plain_text(first),
        text=tuple(map(plain_text, paragraphs)),
        formula=next((plain_text(text) for text in paragraphs if "``" in text), ""),
        parameters=tuple(_parameters(component, documents)),
        notes=tuple(map(plain_text, _paragraphs(sections.get("Notes", "")))),
        references=tuple(map(plain_text, _paragraphs(references))),
        info=measure.info if measure else None,
        exact=bool(measure and has_exact_value(measure)),
    )


def parameters_of(cls: type) -> list[Parameter]:
    """The parameters of a dataclass."""
    return [*_parameters(cls, [_sections(text) for text in _docstrings(cls)])]


def _docstrings(component: Definition) -> Iterator[str]:
    """The docstrings of a function, or of a class, its base classes and its classifier."""
    if not isinstance(component, type):
        yield inspect.getdoc(component) or ""
        return
    of_another = [component._classifier] if hasattr(component, "_classifier") else []
    for cls in (*component.__mro__, *of_another):
        text = None if cls is object else cls.__doc__
        # a dataclass without a docstring gets its signature for one
        if isinstance(text, str) and not text.startswith(f"{cls.__name__}("):
            yield inspect.cleandoc(text)


def _sections(text: str) -> dict[str, str]:
    """The sections of a docstring by heading; what comes before them is ""."""
    first, *others = _HEADING.split(text)
    return {"": first, **dict(zip(others[::2], others[1::2], strict=True))}


def _paragraphs(text: str) -> list[str]:
    found = re.split(r"\n\s*\n", text.strip())
    return [one for one in found if one and not one.lstrip().startswith("..")]


def plain_text(text: str) -> str:
    """Text of a docstring on one line, without markup."""
    return " ".join(_ROLE.sub(r"\1", text).replace("`", "").split())


def _parameters(component: Definition, documents: list[dict[str, str]]) -> Iterator[Parameter]:
    """The parameters of a component; of a measure, all but the predictions and true classes."""
    entries: dict[str, tuple[str, str]] = {}
    for document in reversed(documents):  # a class takes precedence over its base classes
        entries |= _entries(document.get("Parameters", ""))
    hints, defaults = _signature(component)
    for name, default in defaults.items():
        hint = hints.get(name, Any)
        kind, meaning = entries.get(name, ("", ""))
        of_measure = not isinstance(component, type)
        if of_measure and name == POSITIVE:  # a study names the class
            hint, kind = str | int | None, "name of a class, optional"
        context = of_measure and name in CONTEXT_KEYWORDS
        yield Parameter(name, kind or _type_text(hint), meaning, default, hint, context)


def _signature(component: Definition) -> tuple[Mapping[str, object], dict[str, object]]:
    """The annotations and the defaults of the parameters of a component."""
    try:
        hints = typing.get_type_hints(component, include_extras=True)
    except Exception:  # an annotation of a plugin may name anything
        hints = {}
    if not isinstance(component, type):
        named = inspect.signature(component).parameters.values()
        return hints, {
            one.name: REQUIRED if one.default is one.empty else one.default
            for one in named
            if one.name not in ("proba", "y") and one.kind is not one.VAR_KEYWORD
        }
    if not dataclasses.is_dataclass(component):
        return hints, {}
    fields = keys_of(component)[0].items()
    return hints, {name: default_of(field) for name, field in fields}


def default_of(field: dataclasses.Field[object]) -> object:
    """The default of a field, perhaps `REQUIRED`."""
    if field.default_factory is dataclasses.MISSING:
        return field.default
    return field.default_factory()


def _entries(section: str) -> dict[str, tuple[str, str]]:
    """The type and the meaning of each parameter in a section of a docstring."""
    found: dict[str, tuple[str, str]] = {}
    for entry in re.split(r"\n(?=\S)", section.strip("\n")):
        head, _, body = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        meaning = plain_text((_paragraphs(textwrap.dedent(body)) or [""])[0])
        kind = re.sub(r",?\s*\(?default\s*[=:]?.*$", "", plain_text(kind))
        found |= dict.fromkeys(re.split(r",\s*", names.strip()), (kind, meaning))
    return found


def _type_text(hint: object) -> str:
    """An annotation in words."""
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        return "{" + ", ".join(json.dumps(value, default=str) for value in arguments) + "}"
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        text = " or ".join(_type_text(one) for one in arguments if one is not type(None))
        return f"{text}, optional" if type(None) in arguments else text
    if hint is Any:
        return ""
    return hint.__name__ if isinstance(hint, type) and not arguments else str(hint)


def limits(kind: str) -> list[tuple[str, float]]:
    """The limits that the type of a parameter states, each a sign and a number."""
    found = re.findall(r"(>=|<=|>|<) (-?[\d.]+)", kind)
    return [(sign, float(number) if "." in number else int(number)) for sign, number in found]
