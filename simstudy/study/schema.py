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
from dataclasses import MISSING, fields
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.errors import PydanticUserError

from simstudy.errors import SimstudyError
from simstudy.study.claims import DataClaim, ModelClaim
from simstudy.study.describe import (
    REQUIRED,
    Description,
    Parameter,
    describe_component,
    limits,
    parameters_of,
)
from simstudy.study.lists import ListFile, ReadingsFile
from simstudy.study.registry import (
    CHANGES,
    ESTIMATORS,
    FAMILIES,
    LEARNERS,
    MEASURES,
    TESTS,
    AnyRegistry,
)
from simstudy.study.resolving import EARLIER_NAMES, plain
from simstudy.study.sections import (
    ChangeSection,
    LearnerSection,
    MeasureSection,
    NamedSection,
    StudyFile,
    TreatmentSection,
)

Schema = dict[str, Any]
_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_LIMITS = {">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}
_TEXT = {"type": "string"}


def study_schema() -> Schema:
    """The schema of a study file with the components that are registered now."""
    schema = _of_model(StudyFile, "A study of simstudy")
    sections = schema["$defs"]
    for kind, section, registry in (
        ("NamedSection", NamedSection, FAMILIES),
        ("ChangeSection", ChangeSection, CHANGES),
        ("LearnerSection", LearnerSection, LEARNERS),
        ("EstimatorSection", TreatmentSection, ESTIMATORS),
        ("TestSection", TreatmentSection, TESTS),
    ):
        sections[kind] = _component_schema(section, registry)
    del sections["TreatmentSection"]
    for key, kind in (("estimators", "EstimatorSection"), ("tests", "TestSection")):
        schema["properties"][key]["items"] = {"$ref": f"#/$defs/{kind}"}
    known = [describe_component(MEASURES, name) for name in MEASURES.names()]
    sections["MeasureSection"] = _component_schema(MeasureSection, MEASURES)
    measures = sections["Measures"]["properties"]
    for place in (measures["primary"], measures["also"]["items"], measures["targets"]["items"]):
        table = {"$ref": "#/$defs/MeasureSection"}
        place["anyOf"] = [*(_name(one) for one in known), _TEXT, table]
    # Without plugins, all names are known.
    learner = {"anyOf": [_names(LEARNERS), {"pattern": ":"}]}
    name = {"anyOf": [_names(MEASURES), {"pattern": ":"}]}  # or two levels
    measure = {"anyOf": [name, {"type": "object", "properties": {"name": name}}]}
    schema["if"] = {"not": {"required": ["plugins"], "properties": {"plugins": {"minItems": 1}}}}
    schema["then"] = {
        "properties": {
            "family": {"properties": {"name": _names(FAMILIES)}},
            "changes": {"items": {"properties": {"name": _names(CHANGES)}}},
            "learners": {"items": {"properties": {"name": learner}}},
            "measures": {
                "properties": {
                    "primary": measure,
                    "also": {"items": measure},
                    "targets": {"items": measure},
                }
            },
        }
    }
    return schema


def list_schema() -> Schema:
    """The schema of a list of studies, or of readings of one."""
    schema, readings = (_of_model(kind, "") for kind in (ListFile, ReadingsFile))
    claims = [_claim_schema(kind) for kind in (ModelClaim, DataClaim)]
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
        return [_without_null(one) for one in schema if one != {"type": "null"}]
    if not isinstance(schema, dict):
        return schema
    names = {key for key in schema if key == "title" and isinstance(schema[key], str)}
    names |= {key for key in schema if key == "default" and schema[key] is None}
    made = {key: _without_null(value) for key, value in schema.items() if key not in names}
    return made | made.pop("anyOf")[0] if len(made.get("anyOf", ())) == 1 else made


def _component_schema(section: type[NamedSection], registry: AnyRegistry) -> Schema:
    """The schema of the section of a family or learner."""
    own = _of_model(section, "")["properties"]
    known = [
        describe_component(registry, name) for name in (*registry.names(), *registry.known_paths)
    ]
    hints: dict[str, Schema] = {}
    for one in known:
        for key, value in _parameter_schemas(one).items():
            text = f"{one.name}: {value.get('description', '')}"
            hints.setdefault(key, {"anyOf": []})["anyOf"].append({**value, "description": text})
    for hint in hints.values():
        hint["anyOf"].append({})  # a component of a plugin may accept anything
    own["name"]["anyOf"] = [*map(_name, known), _TEXT]
    return {
        "type": "object",
        "required": ["name"],
        "allOf": [
            {"properties": hints | own},
            *(
                {
                    "if": {"required": ["name"], "properties": {"name": {"const": one.name}}},
                    "then": _keys(_parameter_schemas(one), one.parameters, own),
                }
                for one in known
            ),
        ],
    }


def _keys(
    parameters: Mapping[str, Schema], given: Iterable[Parameter], own: Iterable[str]
) -> Schema:
    """The keys of one component: its parameters and those of its section."""
    return {
        "properties": {**dict.fromkeys(own, True), **parameters},
        "required": [one.name for one in given if one.default is REQUIRED and not one.context],
        "additionalProperties": False,
    }


def _name(component: Description) -> Schema:
    return {"const": component.name, "description": component.summary}


def _names(registry: AnyRegistry) -> Schema:
    return {"enum": [*registry.names(), *registry.known_paths]}


def _parameter_schemas(component: Description) -> dict[str, Schema]:
    """The schemas of the parameters of a component, also by their earlier names."""
    found = {one.name: _parameter_schema(one) for one in component.parameters if not one.context}
    if component.kind == FAMILIES.kind:
        for present, earlier in EARLIER_NAMES.items():
            if present in found:
                found[earlier] = {**found[present], "deprecated": True}
    return found


def _claim_schema(kind: type[ModelClaim] | type[DataClaim]) -> Schema:
    given = parameters_of(kind)
    made = _keys({one.name: _parameter_schema(one) for one in given}, given, ())
    needed = [f.name for f in fields(kind) if f.default is MISSING and f.default_factory is MISSING]
    return {"type": "object", **made, "required": needed}


def _statement_schema(claim: Schema) -> Schema:
    """A statement: the keys of a claim, words and lines."""
    line = {"type": "object", "properties": claim["properties"], "additionalProperties": False}
    words = {"short": _TEXT, "note": _TEXT, "lines": {"type": "array", "items": line}}
    return {**line, "properties": {**claim["properties"], **words}, "required": ["text"]}


def _parameter_schema(parameter: Parameter) -> Schema:
    """The schema of a parameter: its annotation and limits, meaning and default."""
    try:
        schema = _without_null(TypeAdapter(parameter.hint).json_schema())
    except (PydanticUserError, SimstudyError, TypeError, ValueError):  # an unusual annotation
        schema = {}
    _limit(schema, {_LIMITS[sign]: number for sign, number in limits(parameter.type)})
    if parameter.meaning:
        schema["description"] = parameter.meaning
    if parameter.default is not None and parameter.default is not REQUIRED:
        with contextlib.suppress(TypeError, ValueError):  # not a value of TOML
            schema["default"] = plain(parameter.default)
    return schema


def _limit(schema: Schema, found: Mapping[str, float]) -> None:
    """Add limits to the numbers in a schema."""
    if schema.get("type") in ("integer", "number"):
        schema |= found
    for inner in (*schema.get("anyOf", ()), *schema.get("prefixItems", ()), schema.get("items")):
        if isinstance(inner, dict):
            _limit(inner, found)
