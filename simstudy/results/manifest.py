"""The content of a manifest: all that reports need, so that no code of a study is executed."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from simstudy.engine.plan import Plan
from simstudy.engine.task import state_restored
from simstudy.experiments import DEFAULT
from simstudy.measures.base import keywords
from simstudy.study.registry import LEARNERS, MEASURES, first_line, registered

COMPLETE = "complete"
PLUGINS = "plugins"  # directory with copies of the plugins
_NETWORKS = 3  # number of models shown on the page
Count = Annotated[int, Field(ge=0, le=10**12)]


def plugin_copy(name: str) -> str:
    """Check the path of a copy: plugins/0_mine.py, or plugins/0/mine.py with others beside it."""
    parts = name.split("/")
    flat = len(parts) == 2 and re.match(r"\d+_.", parts[1], re.DOTALL)
    nested = len(parts) > 2 and parts[1].isdecimal()
    if parts[0] != PLUGINS or not (flat or nested) or {"", ".", ".."} & {*parts} or "\0" in name:
        raise ValueError("it is not the path of a copy of a plugin")
    return name


_Copy = Annotated[str, AfterValidator(plugin_copy)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="allow", strict=True, defer_build=True)


class _Conditions(_Section):
    simstudy: str
    seed: int
    models: int
    family: str
    sizes: list[int] = Field(alias="data.train_sizes")
    learners: list[Annotated[list[str], Field(min_length=2, max_length=2)]]
    measured: list[str] = Field(alias="measures.primary and also")
    source: dict[str, str]
    plugins: list[str]
    # Of a study that compares other things than learners:
    compare: str = DEFAULT
    treatments: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = []
    doses: list[int] = []


class Owner(_Section):
    """The study that owns the cells of a journal."""

    conditions: _Conditions
    limits: dict[str, float | None] = {}
    plugins: list[_Copy] = []
    plugin_files: list[_Copy] = []  # which the plugins need


class _Info(_Section):
    """See `MeasureInfo`."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    greater_is_better: bool
    logarithmic: bool
    label: str
    unit: str
    zero: str
    over: Literal["row", "set"] = "row"
    partial: bool = False
    share: bool = False
    equivalent: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    mean: bool = True  # of earlier versions: whether it has an exact value


class _Network(_Section):
    names: list[str] = Field(min_length=2, max_length=400)
    cards: list[Annotated[int, Field(ge=1, le=10**9)]]
    parents: list[list[int]]
    components: int
    weight: float

    @model_validator(mode="after")
    def _one_of_each(self) -> _Network:
        known = range(len(self.names))
        if not len(self.names) == len(self.cards) == len(self.parents):
            raise ValueError("each variable has a name, a number of values, and parents")
        if not all(parent in known for parents in self.parents for parent in parents):
            raise ValueError("a parent is a variable")
        return self


class _Part(_Section):
    """See `Part`."""

    dataset: str
    number: Count
    repeat: Count
    fold: Count
    train: Count
    test: Count


class _Table(_Section):
    """See `Properties`."""

    rows: Count
    attributes: Count
    numeric: Count
    classes: Count
    missing: float = Field(ge=0, le=1)


class _Refined(_Section):
    checksum: int | None = None  # of earlier versions
    sizes: dict[str, list[str]] = {}
    failures: int = 0


class Manifest(Owner):
    status: str
    fingerprint: str
    cells: Count
    measures: dict[str, _Info] = Field(min_length=1)
    columns: dict[str, Annotated[list[str], Field(min_length=2, max_length=2)]] = {}
    about: dict[str, dict[str, str]] = {}
    rests_on: dict[str, list[str]] = {}
    # What a session registered, by kind and name, and digests of its source, if known.
    session: dict[str, str] = {}
    networks: dict[str, _Network] = {}
    # Of a study of data sets: its splits, and what is odd about its data sets, by name.
    parts: list[_Part] = []
    notes: dict[str, list[str]] = {}
    tables: dict[str, _Table] = {}  # what they are like
    classes: dict[str, list[str]] = {}  # their names, by data set, if answers are kept
    packages: dict[str, str] = {}
    python: str = ""
    platform: str = ""
    processor: str = ""
    failures: Count = 0
    seconds: float | None = Field(default=None, ge=0, le=10**12)
    warnings: dict[str, Count] = {}
    checksums: dict[str, int] = {}  # of all files that are made from the cells
    scores_checksum: int | None = None  # of earlier versions
    refined: _Refined = _Refined()
    report: list[Annotated[str, Field(pattern=r"^[^/\\\x00]+$")]] = []  # names of files here

    @model_validator(mode="after")
    def _finished(self) -> Manifest:
        if self.status == COMPLETE and not {"failures", "warnings"} <= self.model_fields_set:
            raise ValueError("complete results record failures and warnings")
        return self


_DEFAULTS = {
    name: field.default for name, field in Manifest.model_fields.items() if not field.is_required()
} | {"refined": {}}


def filled(content: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest with defaults for what earlier versions did not record."""
    return {**_DEFAULTS, **content}


def fits(kind: type[_Section], content: object) -> bool:
    """Whether content is a valid section of a kind, such as `Manifest` or `Owner`."""
    try:
        json.dumps(content, ensure_ascii=False).encode()  # must be encodable
        kind.model_validate(content)
    except (ValueError, RecursionError):
        return False
    return True


def descriptions(plan: Plan) -> dict[str, Any]:
    """What a manifest records of the family, the learners and the measures of a study."""
    measures = plan.component_names["measures"]
    return {
        "measures": {one.name: asdict(plan.experiment.info(plan, one)) for one in plan.columns},
        "columns": {column.name: [column.measure, column.test] for column in plan.columns},
        "about": {
            **plan.source.about(),
            "learner": {one.name: first_line(LEARNERS, one.name) for one in plan.learners},
            "measure": {name: first_line(MEASURES, name) for name in measures},
        },
        "rests_on": {
            name: sorted({"base", "reward", "prior"} & keywords(MEASURES.get(name)))
            for name in measures
        },
        **plan.source.facts(plan.keep_answers),
        "session": {
            f"{registry.kind} {name}": registry.known_digest(name) or ""
            for registry, name in registered(plan.component_names)
            if registry.in_session(name)
        },
    }


def networks(plan: Plan, drawn: Collection[int]) -> dict[str, object]:
    """The structures of the first models, as far as they were drawn."""
    found: dict[str, object] = {}
    for index in range(min(_NETWORKS, plan.problems)):
        if index not in drawn:
            continue
        try:
            with state_restored():
                model = plan.source.model(plan, index)
            if model is None:
                continue
            first = model.components[0]
            network = {
                "names": [str(name) for name in model.names],
                "cards": [int(card) for card in model.cards],
                "parents": [[int(parent) for parent in given] for given in first.parents],
                "components": len(model.components),
                "weight": float(first.weight),
            }
        except (Exception, SystemExit):  # a plugin may raise anything
            continue
        if fits(_Network, network):
            found[str(index)] = network
    return found
