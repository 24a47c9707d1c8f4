"""What a component, such as a family or a learner, is: from its docstring, fields and annotations.

A docstring has the sections of numpydoc. The type of a parameter may state limits, e.g.
``float > 0, <= 0.5``; tests compare them with the checks of the component.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import json
import math
import re
import textwrap
import types
import typing
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simstudy.components.registry import LEARNERS, MEASURES, REGISTRIES, AnyRegistry, Definition
from simstudy.errors import SimstudyError, describe, suggestion
from simstudy.measures.base import CONTEXT_KEYWORDS, MeasureInfo, has_exact_value
from simstudy.measures.positive_class import POSITIVE

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

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
    parameters: tuple[Parameter, ...]
    notes: tuple[str, ...]
    references: tuple[str, ...]
    info: MeasureInfo | None = None  # of a measure
    exact: bool = False  # of a measure: whether it has an exact value


def find_components(name: str) -> list[Description]:
    """Describe all components of a name; an error with suggestions if there is none."""
    if ":" in name:
        return [describe_component(LEARNERS, name)]
    names = {registry: registry.names() for registry in REGISTRIES}
    if not any(name in listed for listed in names.values()):
        *kinds, last = (registry.kind for registry in REGISTRIES)
        hint = suggestion(name, {*itertools.chain(*names.values())})
        raise SimstudyError(f"unknown {', '.join(kinds)} or {last} '{name}'{hint}")
    return [describe_component(kind, name) for kind, listed in names.items() if name in listed]


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
    sections = ChainMap(*documents)  # a class takes precedence over its base classes
    references = re.sub(r"^\.\. \[\w+\] ", "", sections.get("References", ""), flags=re.MULTILINE)
    return Description(
        kind=registry.kind,
        name=name,
        summary=plain_text(first),
        text=tuple(map(plain_text, paragraphs)),
        parameters=tuple(_parameters(component, documents)),
        notes=tuple(map(plain_text, _paragraphs(sections.get("Notes", "")))),
        references=tuple(map(plain_text, _paragraphs(references))),
        info=measure.info if measure else None,
        exact=bool(measure and has_exact_value(measure)),
    )


def parameters_of(cls: type) -> list[Parameter]:
    """The parameters of a dataclass."""
    return [*_parameters(cls, [_sections(text) for text in _docstrings(cls)])]


def meanings(cls: type) -> dict[str, str]:
    """The meanings of parameters that the docstrings of a class and its base classes state."""
    entries = _all_entries(_sections(text) for text in _docstrings(cls))
    return {name: meaning for name, (_, meaning) in entries.items() if name}


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
    first, *rest = _HEADING.split(text)
    return {"": first, **dict(zip(rest[::2], rest[1::2], strict=True))}


def _paragraphs(text: str) -> list[str]:
    parts = re.split(r"\n\s*\n", text.strip())
    return [part for part in parts if part and not part.lstrip().startswith("..")]


def plain_text(text: str) -> str:
    """Text of a docstring on one line, without markup."""
    return " ".join(_ROLE.sub(r"\1", text).replace("`", "").split())


def _parameters(component: Definition, documents: list[dict[str, str]]) -> Iterator[Parameter]:
    """The parameters of a component; of a measure, all but the predictions and true classes."""
    entries = _all_entries(documents)
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
        return hints, {
            named.name: REQUIRED if named.default is named.empty else named.default
            for named in inspect.signature(component).parameters.values()
            if named.name not in ("proba", "y") and named.kind is not named.VAR_KEYWORD
        }
    return hints, defaults_of(component) if dataclasses.is_dataclass(component) else {}


def defaults_of(cls: type[DataclassInstance]) -> dict[str, object]:
    """The parameters of a component and their defaults, perhaps `REQUIRED`."""
    return {
        field.name: field.default
        if field.default_factory is dataclasses.MISSING
        else field.default_factory()
        for field in dataclasses.fields(cls)
        if field.init
    }


def _all_entries(documents: Iterable[dict[str, str]]) -> Mapping[str, tuple[str, str]]:
    """The types and meanings of the parameters in the docstrings of a class and its bases."""
    return ChainMap(*(_entries(document.get("Parameters", "")) for document in documents))


def _entries(section: str) -> dict[str, tuple[str, str]]:
    """The type and the meaning of each parameter in a section of a docstring."""
    entries: dict[str, tuple[str, str]] = {}
    for entry in re.split(r"\n(?=\S)", section.strip("\n")):
        head, _, body = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        meaning = plain_text((_paragraphs(textwrap.dedent(body)) or [""])[0])
        kind = re.sub(r",?\s*\(?default\s*[=:]?.*$", "", plain_text(kind))
        entries |= dict.fromkeys(re.split(r",\s*", names.strip()), (kind, meaning))
    return entries


def _type_text(hint: object) -> str:
    """An annotation in words."""
    arguments = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Literal:
        return "{" + ", ".join(json.dumps(value, default=str) for value in arguments) + "}"
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        text = " or ".join(_type_text(each) for each in arguments if each is not type(None))
        return f"{text}, optional" if type(None) in arguments else text
    if hint is Any:
        return ""
    return hint.__name__ if isinstance(hint, type) and not arguments else str(hint)


def limits(kind: str) -> list[tuple[str, float]]:
    """The limits that the type of a parameter states, each a sign and a number."""
    stated = re.findall(r"(>=|<=|>|<) (-?[\d.]+)", kind)
    return [(sign, float(number) if "." in number else int(number)) for sign, number in stated]
