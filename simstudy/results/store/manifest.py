"""The content of a manifest, which lets reports be made without executing code of a study."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from simstudy.components.registry import LEARNERS, MEASURES, build, first_line, registered
from simstudy.engine.plan import UNNAMED_CONDITIONS, Plan
from simstudy.engine.task import state_restored
from simstudy.experiments import DEFAULT, experiment
from simstudy.experiments.base import Experiment
from simstudy.measures.base import keywords

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
    # For studies that do not compare learners:
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
        variables = range(len(self.names))
        if not len(self.names) == len(self.cards) == len(self.parents):
            raise ValueError("each variable has a name, a number of values, and parents")
        if not all(parent in variables for parents in self.parents for parent in parents):
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


class _Card(_Section):
    """What the home page of a directory of results says of a study."""

    title: str
    finding: str
    over: str


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
    transforms: dict[str, dict[str, str]] = {}  # what learners do to their rows, by label
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
    card: _Card | None = None  # of that report

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
        "measures": {col.name: asdict(plan.experiment.info(plan, col)) for col in plan.columns},
        "columns": {col.name: [col.measure, col.test] for col in plan.columns},
        "about": {
            **plan.source.about(),
            "learner": {spec.name: first_line(LEARNERS, spec.name) for spec in plan.learners},
            "measure": {name: first_line(MEASURES, name) for name in measures},
        },
        "rests_on": {
            name: sorted({"base", "reward", "prior"} & keywords(MEASURES.get(name)))
            for name in measures
        },
        **plan.source.facts(plan.keep_answers),
        "transforms": _transforms(plan) if plan.source.prepares else {},
        "session": {
            f"{registry.kind} {name}": registry.known_digest(name) or ""
            for registry, name in registered(plan.component_names)
            if registry.in_session(name)
        },
    }


def _transforms(plan: Plan) -> dict[str, dict[str, str]]:
    """What learners themselves do to the rows that they get, by label; plugins may not say."""
    made: dict[str, dict[str, str]] = {}
    for spec in plan.learners:
        made[spec.label] = {}
        with suppress(Exception):  # a plugin may call anything so
            words = dict(build(LEARNERS, spec).transforms)
            made[spec.label] = {str(kind): str(text) for kind, text in words.items()}
    return made


def networks(plan: Plan, drawn: Collection[int]) -> dict[str, object]:
    """The structures of the first models that were drawn."""
    shown: dict[str, object] = {}
    for index in {*range(min(_NETWORKS, plan.problems))} & {*drawn}:
        # a plugin may raise anything
        with suppress(Exception, SystemExit), state_restored():
            if (model := plan.source.model(plan, index)) is None:
                continue
            first = model.components[0]
            network = {
                "names": [*map(str, model.names)],
                "cards": [*map(int, model.cards)],
                "parents": [[*map(int, parents)] for parents in first.parents],
                "components": len(model.components),
                "weight": float(first.weight),
            }
            if fits(_Network, network):
                shown[str(index)] = network
    return shown


# Which study owns a directory, and whether a plan can use its cells


def owner(plan: Plan) -> dict[str, object]:
    """The identity of a study, as manifests and journals record it."""
    return {
        "conditions": plan.conditions(),
        "limits": limits(plan),
        "plugins": plugin_names(plan),
        "plugin_files": [name for name in plugin_copies(plan) if name not in plugin_names(plan)],
    }


def limits(plan: Plan) -> dict[str, float | None]:
    """The limits of one cell."""
    return {"timeout": plan.timeout, "memory": plan.memory}


def plugin_names(plan: Plan) -> list[str]:
    """Paths of the plugins' copies in the directory of results.

    Plugins of one directory stay in one directory if they need further files from there.
    """
    together = {plugin.path.parent for plugin in plan.plugins if plugin.files}
    first: dict[Path, int] = {}
    names = []
    for index, plugin in enumerate(plan.plugins):
        number = first.setdefault(plugin.path.parent, index)
        # a study run from a copy does not gain another number
        plain = re.sub(r"^\d+_", "", plugin.path.name)
        name = f"{number}/{plugin.path.name}" if plugin.path.parent in together else ""
        names.append(f"{PLUGINS}/{name or f'{index}_{plain}'}")
    return names


def plugin_copies(plan: Plan) -> dict[str, bytes]:
    """The copies of the plugins and of the files they need, by path in the directory."""
    copies = {}
    for name, plugin in zip(plugin_names(plan), plan.plugins, strict=True):
        copies[name] = plugin.content
        copies |= {f"{Path(name).parent.as_posix()}/{file}": data for file, data in plugin.files}
    return copies


def changed(plan: Plan, manifest: Mapping[str, Any], exactly: bool = False) -> dict[str, str]:
    """The conditions in which a plan differs from a manifest.

    A plan may have more or fewer models, sizes and learners, unless ``exactly`` is set.
    """
    here = {**UNNAMED_CONDITIONS, **manifest["conditions"]}
    asked = json.loads(json.dumps({**UNNAMED_CONDITIONS, **plan.conditions()}))
    return {
        key: f"{key} ({'; '.join(_differences(here.get(key), asked[key]))})"
        for key in asked
        if here.get(key) != asked[key]
        and (exactly or not _agree(key, here.get(key), asked[key], plan.experiment))
    }


def _differences(here: object, asked: object, path: str = "") -> list[str]:
    """What two values of a condition differ in, by label and key: "NB.alpha: 1 there, …"."""
    here, asked = _decoded(here), _decoded(asked)
    parts: list[tuple[str, object, object]] = []
    if isinstance(here, dict) and isinstance(asked, dict):
        absent = "the default" if path else "absent"
        parts = [
            (f"{path}.{key}".lstrip("."), here.get(key, absent), asked.get(key, absent))
            for key in {**here, **asked}
        ]
    elif isinstance(here, list) and isinstance(asked, list) and len(here) == len(asked):
        nested = any(isinstance(value, dict | list) for value in here)
        parts = [(path, *pair) for pair in zip(here, asked, strict=True)] if nested else []
    if not parts:
        return [f"{path}: ".removeprefix(": ") + f"{here} there, {asked} requested"]
    nested_parts = (_differences(old, new, key) for key, old, new in parts if old != new)
    return [*chain(*nested_parts)]


def _decoded(value: Any) -> Any:
    """A value whose texts of JSON, as identities are, are read; pairs with labels by label."""
    if isinstance(value, str) and value[:1] in ("[", "{"):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if not isinstance(value, list):
        return value
    value = [*map(_decoded, value)]
    labelled = all(isinstance(pair, list) and len(pair) == 2 for pair in value)
    by_label = {str(label): content for label, content in value} if labelled else {}
    return by_label if value and len(by_label) == len(value) else value


def _agree(key: str, here: Any, asked: Any, of: Experiment) -> bool:
    """Whether cells computed under one value are valid under the other, where both have them.

    What has one name, such as the label of a learner, must be the same in both.
    """
    treatments, doses = of.growing
    if key in ("models", doses):
        return True
    if key == "plugins":
        return {*here} <= {*asked} or {*asked} <= {*here}
    if key in (treatments, "source"):
        recorded = dict(here or {})
        return all(recorded.get(name, value) == value for name, value in dict(asked).items())
    return False


def covers(plan: Plan, manifest: Mapping[str, Any]) -> bool:
    """Whether a plan has all models, sizes and learners of a manifest."""
    here, asked = manifest["conditions"], plan.conditions()
    (labels, sizes), (all_labels, doses) = levels(here), levels(asked)
    more = here["models"] <= asked["models"] and {*sizes} <= {*doses}
    return more and {*labels} <= {*all_labels}


def levels(conditions: Mapping[str, Any]) -> tuple[list[str], list[int]]:
    """The labels of the treatments and the doses that the conditions of a study name."""
    treatments, doses = experiment(conditions.get("compare", DEFAULT)).growing
    return [label for label, _ in conditions[treatments]], conditions[doses]
