"""The JSON Schema of study files and of lists of studies, for editors.

Editors complete keys from ``properties``, ``anyOf`` and ``allOf``, and many of them know no
conditions. So a section of a component lists the parameters of all components, as hints that
accept any value; a condition on the name then checks those of the component.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUserError

from simstudy.components import describe, registry
from simstudy.errors import SimstudyError
from simstudy.study import sections
from simstudy.study.claims import DataClaim, ModelClaim
from simstudy.study.components import plain
from simstudy.study.content import StudyFile
from simstudy.study.lists import ListFile, ReadingsFile
from simstudy.study.search import SearchSection

Schema = dict[str, Any]
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_LIMITS = {">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}
_TEXT = {"type": "string"}


def study_schema() -> Schema:
    """The schema of a study file with the components that are registered now."""
    schema = _of_model(StudyFile, "A study of simstudy")
    definitions = schema["$defs"]
    for kind, section, components in (
        ("NamedSection", sections.NamedSection, registry.FAMILIES),
        ("ChangeSection", sections.ChangeSection, registry.CHANGES),
        ("LearnerSection", sections.LearnerSection, registry.LEARNERS),
        ("EstimatorSection", sections.TreatmentSection, registry.ESTIMATORS),
        ("TestSection", sections.TreatmentSection, registry.TESTS),
        ("MeasureSection", sections.MeasureSection, registry.MEASURES),
    ):
        definitions[kind] = _component_schema(section, components)
        if section is sections.TreatmentSection:
            schema["properties"][components.plural]["items"] = {"$ref": f"#/$defs/{kind}"}
    del definitions["TreatmentSection"]
    measures = definitions["Measures"]["properties"]
    table = {"$ref": "#/$defs/MeasureSection"}
    by_name = definitions["MeasureSection"]["allOf"][0]["properties"]["name"]["anyOf"]
    for place in (measures["primary"], measures["also"]["items"], measures["targets"]["items"]):
        place["anyOf"] = [*by_name, table]
    # Without plugins, all names are known; a learner may have a path, a measure two levels.
    name = {"anyOf": [_names(registry.MEASURES), {"pattern": ":"}]}
    measure = {"anyOf": [name, {"type": "object", **_with(name=name)}]}
    measures = _with(primary=measure, also={"items": measure}, targets={"items": measure})
    schema["if"] = {"not": {"required": ["plugins"], **_with(plugins={"minItems": 1})}}
    schema["then"] = _with(
        family=_with(name=_names(registry.FAMILIES)),
        changes={"items": _with(name=_names(registry.CHANGES))},
        learners={"items": _with(name={"anyOf": [_names(registry.LEARNERS), {"pattern": ":"}]})},
        measures=measures,
    )
    return schema


def _with(**properties: Schema) -> Schema:
    return {"properties": properties}


def list_schema() -> Schema:
    """The schema of a list of studies, or of readings of one."""
    schema, readings = (_of_model(kind, "") for kind in (ListFile, ReadingsFile))
    kinds_of_claims = map(describe.parameters_of, (ModelClaim, DataClaim))
    claims = [{"type": "object", **_keys(parameters)} for parameters in kinds_of_claims]
    schema["properties"]["claims"]["items"] = {"anyOf": claims}
    schema["properties"]["statements"]["items"] = {"anyOf": [*map(_statement_schema, claims)]}
    kinds = [
        {"required": kind["required"], "propertyNames": {"enum": [*kind["properties"]]}}
        for kind in (readings, schema)
    ]
    return {
        "$schema": _DRAFT,
        "title": "A list of studies of simstudy",
        "type": "object",
        "properties": readings["properties"] | schema["properties"],
        "if": {"required": ["readings"]},
        "then": kinds[0],
        "else": kinds[1],
        "$defs": schema.get("$defs", {}) | readings["$defs"],
    }


def _of_model(model: type[BaseModel], title: str) -> Schema:
    """The schema of a file or section."""
    text = json.dumps(model.model_json_schema())
    # as files name them; in the code, others have these names
    text = re.sub(r'\b(Measures|Preparation|Resampling)Section"', r'\1"', text)
    made: Schema = _without_null(json.loads(text))
    made.pop("description", None)  # the docstring of the class
    return {"$schema": _DRAFT, "title": title, **made}


def _without_null(schema: Any) -> Any:
    """A schema without null, which TOML lacks, and without generated titles."""
    if isinstance(schema, list):
        return [_without_null(item) for item in schema if item != {"type": "null"}]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: _without_null(value)
        for key, value in schema.items()
        if not ((key == "title" and isinstance(value, str)) or (key == "default" and value is None))
    }
    return made | made.pop("anyOf")[0] if len(made.get("anyOf", ())) == 1 else made


def _component_schema(section: type[sections.NamedSection], of: registry.AnyRegistry) -> Schema:
    """The schema of the section of a family or learner."""
    keys = _of_model(section, "")["properties"]
    names = (*of.names(), *of.known_paths)
    components = [describe.describe_component(of, name) for name in names]
    hints: dict[str, Schema] = {}
    for component in components:
        for key, value in _parameter_schemas(component.parameters).items():
            text = f"{component.name}: {value.get('description', '')}"
            hints.setdefault(key, {"anyOf": []})["anyOf"].append({**value, "description": text})
    more = [*keys]
    if section is sections.LearnerSection:  # a section, and a parameter of some learners
        hints["search"]["anyOf"].insert(0, _of_model(SearchSection, ""))
        more.append("search")
    for hint in hints.values():
        hint["anyOf"].append({})  # a component of a plugin may accept anything
    described = [{"const": each.name, "description": each.summary} for each in components]
    keys["name"]["anyOf"] = [*described, _TEXT]
    conditions = []
    for component in components:
        named = {"required": ["name"], **_with(name={"const": component.name})}
        conditions.append({"if": named, "then": _keys(component.parameters, more)})
    return {"type": "object", "required": ["name"], "allOf": [_with(**hints | keys), *conditions]}


def _keys(parameters: Iterable[describe.Parameter], more: Iterable[str] = ()) -> Schema:
    """The keys of one component: its parameters and those of its section."""
    stated = [parameter for parameter in parameters if not parameter.context]
    required = [each.name for each in stated if each.default is describe.REQUIRED]
    own = _parameter_schemas(stated)
    if "search" in own:  # of some learners, which can have the section as well
        own["search"] = {"anyOf": [own["search"], {"type": "object"}]}
    properties = {**dict.fromkeys(more, True), **own}
    return {"properties": properties, "required": required, "additionalProperties": False}


def _names(of: registry.AnyRegistry) -> Schema:
    return {"enum": [*of.names(), *of.known_paths]}


def _parameter_schemas(parameters: Iterable[describe.Parameter]) -> dict[str, Schema]:
    return {each.name: _parameter_schema(each) for each in parameters if not each.context}


def _statement_schema(claim: Schema) -> Schema:
    """A statement: the keys of a claim, words and lines."""
    line = {"type": "object", "properties": claim["properties"], "additionalProperties": False}
    words = {"short": _TEXT, "note": _TEXT, "lines": {"type": "array", "items": line}}
    return {**line, "properties": {**claim["properties"], **words}, "required": ["text"]}


def _parameter_schema(parameter: describe.Parameter) -> Schema:
    """The schema of a parameter: its annotation and describe.limits, meaning and default."""
    try:
        schema = _without_null(TypeAdapter(parameter.hint).json_schema())
    except (PydanticUserError, SimstudyError, TypeError, ValueError):  # an unusual annotation
        schema = {}
    _limit(schema, {_LIMITS[sign]: number for sign, number in describe.limits(parameter.type)})
    if parameter.meaning:
        schema["description"] = parameter.meaning
    if parameter.default is not None and parameter.default is not describe.REQUIRED:
        with contextlib.suppress(TypeError, ValueError):  # not a value of TOML
            schema["default"] = plain(parameter.default)
    return schema


def _limit(schema: Schema, bounds: Mapping[str, float]) -> None:
    """Add describe.limits to the numbers in a schema."""
    if schema.get("type") in ("integer", "number"):
        schema |= bounds
    for inner in (*schema.get("anyOf", ()), *schema.get("prefixItems", ()), schema.get("items")):
        if isinstance(inner, dict):
            _limit(inner, bounds)
