"""A study: the validated content of one TOML file."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import math
import os
import sys
import typing
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PrivateAttr,
    TypeAdapter,
    ValidationError,
    field_validator,
)

from simstudy.errors import SimstudyError, describe, suggestion
from simstudy.measures.base import keywords
from simstudy.sources.base import Family
from simstudy.study.constants import MAX_CONFIGURATIONS
from simstudy.study.explain import dotted, sentence
from simstudy.study.registry import (
    FAMILIES,
    LEARNERS,
    MEASURES,
    PluginFile,
    Registry,
    UnknownNameError,
    load_plugin,
)
from simstudy.study.toml import dumps, read_toml

PRIORS = ("train", "test", "uniform", "true")
Rows = Annotated[int, Field(ge=1, le=10**9)]
Sizes = Annotated[list[Rows], Field(min_length=1)]


class KeyedError(ValueError):
    """A sentence about one key of the study."""

    def __init__(self, key: str, message: str) -> None:
        super().__init__(message)
        self.key = key


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Named(_Part):
    """A name from a registry with the parameters given for it."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    name: str
    _defaults: dict[str, Any] = PrivateAttr(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters as given in the file."""
        return dict(self.model_extra or {})

    @property
    def resolved(self) -> dict[str, Any]:
        """The parameters with defaults filled in, but for those that TOML cannot say."""
        both = {**self._defaults, **self.parameters}
        return {key: value for key, value in both.items() if _can_be_said(value)}

    @property
    def identity(self) -> str:
        """The name and the parameters that differ from their defaults, as canonical JSON."""
        defaults = json.loads(json.dumps(self._defaults, default=str))
        changed = {
            k: v for k, v in self.parameters.items() if k not in defaults or v != defaults[k]
        }
        return json.dumps([self.name, changed], sort_keys=True)

    def resolve(self, registry: Registry) -> None:
        """Find the thing named and check its parameters, as far as types and bounds can."""
        cls = registry.get(self.name)
        if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
            raise ValueError(f"the {registry.kind} '{self.name}' is not a dataclass")
        hints = typing.get_type_hints(cls, include_extras=True)
        fields = {field.name: field for field in dataclasses.fields(cls) if field.init}
        for key, value in self.parameters.items():
            if key not in fields:
                raise KeyedError(
                    key, f"unknown key{suggestion(key, [*fields, *type(self).model_fields])}"
                )
            try:
                coerced = TypeAdapter(hints[key]).validate_json(json.dumps(value), strict=True)
            except ValidationError as error:
                raise KeyedError(key, sentence(error.errors()[0], value)) from error
            assert self.model_extra is not None
            self.model_extra[key] = _plain(coerced)
        for key, field in fields.items():
            if field.default is not dataclasses.MISSING:
                self._defaults[key] = field.default
            elif field.default_factory is not dataclasses.MISSING:
                self._defaults[key] = field.default_factory()
            elif key not in self.parameters:
                raise KeyedError(key, f"the {registry.kind} '{self.name}' needs the key '{key}'")
        cls(**self.parameters)


class LearnerSpec(Named):
    """A learner of the study and the label it goes by."""

    label: str = ""


class Data(_Part):
    """How much data is drawn from every model."""

    train_sizes: Sizes = [50, 500, 5000]
    test_size: int | str = 1000
    training: Literal["independent", "nested"] = "independent"

    @field_validator("test_size", mode="before")
    @classmethod
    def _rows_or_exact(cls, size: Any) -> Any:
        whole = isinstance(size, int) and not isinstance(size, bool)
        if size not in ("exact", "both") and not (whole and 1 <= size <= 10**9):
            raise ValueError('it must be a number of rows from 1 to 10^9, "exact" or "both"')
        return size

    @field_validator("train_sizes")
    @classmethod
    def _increasing(cls, sizes: list[int]) -> list[int]:
        if any(second <= first for first, second in itertools.pairwise(sizes)):
            raise ValueError("sizes must increase from one to the next")
        return sizes


class Measures(_Part):
    """What is measured, and the conventions of the measures: prior, cutoff, base, reward."""

    primary: str = "information_reward"
    also: list[str] = []
    prior: str | list[float] = "train"
    cutoff: Literal["mml", "2001", "none"] = "mml"
    base: str | float = "e"
    reward: Literal["mean", "sum"] = "mean"

    @property
    def names(self) -> list[str]:
        """All measures, the primary one first."""
        return [self.primary, *self.also]

    @field_validator("base", mode="before")
    @classmethod
    def _above_one(cls, base: Any) -> Any:
        number = isinstance(base, int | float) and not isinstance(base, bool)
        if base != "e" and not (number and 1 < base <= sys.float_info.max):
            raise ValueError('it must be "e" or a number above 1')
        return base if base == "e" else float(base)

    @field_validator("prior", mode="before")
    @classmethod
    def _distribution(cls, prior: Any) -> Any:
        if isinstance(prior, list):
            numbers = all(isinstance(p, float) and 0 < p < 1 for p in prior)
            if not (numbers and len(prior) >= 2 and abs(sum(prior) - 1) < 1e-9):
                raise ValueError("a given prior needs numbers between 0 and 1 that sum to 1")
        elif prior not in PRIORS:
            raise ValueError(f"it must be one of {', '.join(PRIORS)}, or a list of probabilities")
        return prior


class Analysis(_Part):
    """How sure intervals are, and how they are adjusted for their number."""

    confidence: float = Field(default=0.95, gt=0, lt=1)
    adjustment: Literal["bonferroni", "bonferroni_all", "holm", "none"] = "bonferroni"


class Limits(_Part):
    """What one cell may use; nothing is limited that is not named."""

    timeout: float | None = Field(default=None, gt=0, le=10**6)
    memory: float | None = Field(default=None, gt=0, le=10**6)


class Thresholds(_Part):
    """Whether sizes are added around crossings."""

    refine: bool = False


class Study(_Part):
    """The validated content of one study file."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    title: str = ""
    seed: int = Field(default=1, ge=0)
    models: int = Field(default=40, ge=2, le=10**7)
    plugins: list[str] = []
    family: Named
    data: Data = Data()
    learners: list[LearnerSpec] = Field(min_length=1)
    measures: Measures = Measures()
    analysis: Analysis = Analysis()
    limits: Limits = Limits()
    thresholds: Thresholds = Thresholds()

    _plugin_files: list[PluginFile] = PrivateAttr(default_factory=list)

    @property
    def plugin_files(self) -> list[PluginFile]:
        """The plugins as they were read."""
        return list(self._plugin_files)

    @property
    def labels(self) -> list[str]:
        return [learner.label for learner in self.learners]

    def resolve(self, directory: Path, digests: Sequence[str] | None = None) -> None:
        """Load the plugins and look up every name; raises `KeyedError` with the key at fault.

        With ``digests``, a plugin that has not its own there is refused.
        """
        for index, plugin in enumerate(self.plugins):
            try:
                path = Path(os.path.realpath(directory / plugin))
                digest = None if digests is None else "".join(digests[index : index + 1])
                self._plugin_files.append(load_plugin(path, digest))
            except (SimstudyError, OSError, ValueError, RuntimeError) as error:
                raise KeyedError(f"plugins[{index}]", str(error)) from error
        _resolve(self.family, FAMILIES, "family")
        for index, learner in enumerate(self.learners):
            _resolve(learner, LEARNERS, f"learners[{index}]")
            object.__setattr__(learner, "label", learner.label or learner.name)
            if learner.label in self.labels[:index]:
                raise KeyedError(
                    f"learners[{index}].label",
                    f"two learners have the label '{learner.label}'; give each a label of its own",
                )
        for key, name in self._measure_keys():
            if self.measures.names.count(name) > 1:
                raise KeyedError(key, f"the measure '{name}' is named twice")
            try:
                MEASURES.get(name)
            except UnknownNameError as error:
                raise KeyedError(key, str(error)) from error
        self._check_given_prior()
        self._check_true_tree()
        self._check_exact()

    def _check_given_prior(self) -> None:
        prior, values = self.measures.prior, self.family.resolved.get("values")
        if isinstance(prior, list) and values and {*values} != {len(prior)}:
            raise KeyedError(
                "measures.prior",
                f"a given prior of {len(prior)} probabilities needs a target of as many values; "
                f"family.values = {list(values)}, not [{len(prior)}, {len(prior)}]",
            )

    def _check_true_tree(self) -> None:
        """Refuse the true tree where models have none; what is not known is checked when drawn."""
        for index, learner in enumerate(self.learners):
            if learner.parameters.get("tree") != "true":
                continue
            family = FAMILIES.get(self.family.name)(**self.family.parameters)
            if isinstance(family, Family) and not family.draws_trees:
                raise KeyedError(
                    f"learners[{index}].tree",
                    '"true" needs models in which the target is a parent of every attribute and '
                    "each attribute has at most one further parent; the family "
                    f"'{self.family.name}' draws others",
                )

    def _measure_keys(self) -> list[tuple[str, str]]:
        """Where in the file each measure is named."""
        also = [(f"measures.also[{i}]", name) for i, name in enumerate(self.measures.also)]
        return [("measures.primary", self.measures.primary), *also]

    def _check_exact(self) -> None:
        exact = not isinstance(self.data.test_size, int)
        for key, name in self._measure_keys():
            if (
                exact
                and not MEASURES.get(name).info.mean
                and (self.data.test_size == "exact" or key == "measures.primary")
            ):
                raise KeyedError(
                    key,
                    f"'{name}' is no mean over rows, so it has no exact value; with it, "
                    "data.test_size must be a number of rows",
                )
            if "limit" in keywords(MEASURES.get(name)):
                self._check_configurations(key, f"'{name}' needs learners' limits, which go")
        if exact:
            self._check_configurations("data.test_size", f'"{self.data.test_size}" goes')

    def _check_configurations(self, key: str, subject: str) -> None:
        """Refuse what goes through all joint configurations where these may be too many."""
        if not issubclass(FAMILIES.get(self.family.name), Family):
            return  # whose keys may mean anything; too large a model is refused when it is drawn
        family = self.family.resolved
        variables, values = family["attributes"][-1], family["values"][-1]
        few = variables * math.log10(values) < 15
        number = values**variables if few else math.inf
        if number > MAX_CONFIGURATIONS:
            raise KeyedError(
                key,
                f"{subject} through all joint configurations of a model, up to "
                f"{MAX_CONFIGURATIONS:,}; models of {variables} variables with {values} values "
                f"have {f'{number:,}' if few else 'over 10^15'}",
            )

    def as_dict(self) -> dict[str, Any]:
        """The study with every default filled in, in the order of the file's sections."""
        content = self.model_dump(include={"name", "title", "seed", "models", "plugins"})
        content["family"] = {"name": self.family.name, **self.family.resolved}
        for part in ("data", "measures", "analysis"):
            content[part] = getattr(self, part).model_dump()
        if limits := self.limits.model_dump(exclude_none=True):
            content["limits"] = limits
        if self.thresholds.refine:
            content["thresholds"] = self.thresholds.model_dump()
        content["learners"] = [
            {"name": spec.name, "label": spec.label, **spec.resolved} for spec in self.learners
        ]
        plain: dict[str, Any] = _plain(content)
        return plain

    def to_toml(self) -> str:
        """The study as TOML, every default filled in."""
        return dumps(self.as_dict())


def _resolve(part: Named, registry: Registry, key: str) -> None:
    try:
        part.resolve(registry)
    except KeyedError as error:
        raise KeyedError(f"{key}.{error.key}", str(error)) from error
    except UnknownNameError as error:
        raise KeyedError(f"{key}.name", str(error)) from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a plugin's own check may raise anything
        text = " ".join(describe(error).split())
        plain = isinstance(error, ValueError | SimstudyError)
        named = text.removeprefix(f"{type(error).__name__}: ") if plain else text
        raise KeyedError(key, named) from error


def _can_be_said(value: Any) -> bool:
    """Whether TOML has a way to write a value."""
    if isinstance(value, list | tuple):
        return all(_can_be_said(item) for item in value)
    return isinstance(value, bool | int | float | str)


def _plain(value: Any) -> Any:
    """Tuples as lists, so that a value reads the same before and after a file."""
    return json.loads(json.dumps(value))


@contextlib.contextmanager
def _directory_kept() -> Iterator[None]:
    """Come back to the working directory, wherever a plugin goes."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # there may be none any more
            stack.callback(os.chdir, os.getcwd())
        yield


def load_study(
    path: str | Path,
    overrides: Mapping[str, Any] | None = None,
    content: Mapping[str, Any] | None = None,
) -> Study:
    """Read and check a study file.

    Parameters
    ----------
    path : str or Path
        The TOML file.
    overrides : mapping, optional
        Values that replace the file's, by dotted key: ``{"data.train_sizes": [50, 500]}``.
    content : mapping, optional
        What was read from the file before, as from a pipe.

    Raises
    ------
    SimstudyError
        In one sentence: which file, which key, what value, what is allowed.
    """
    path = Path(path)
    if content is None:
        content = read_toml(path)
    digests = None
    if content.get("plugins"):
        from simstudy.results.kept import plugin_digests

        digests = plugin_digests(path)
    return make_study(content, path.parent, str(path), overrides, digests)


def make_study(
    content: Mapping[str, Any],
    directory: Path | None = None,
    origin: str = "the study",
    overrides: Mapping[str, Any] | None = None,
    digests: Sequence[str] | None = None,
) -> Study:
    """Check a study given as a dictionary; plugins are relative to ``directory``.

    With ``digests``, those of its plugins, a plugin with another one is refused.
    """
    try:
        raw: dict[str, Any] = json.loads(json.dumps(content, default=str))
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, deep nesting
        raise SimstudyError(f"{origin} cannot be used: {error}") from error
    for path, value in (overrides or {}).items():
        *sections, last = path.split(".")
        part = raw
        for section in sections:
            part = part.setdefault(section, {})
        if isinstance(part, dict):  # anything else is refused below, as what it is
            part[last] = value
    try:
        study = Study.model_validate_json(json.dumps(raw))
        with _directory_kept():
            study.resolve(directory or Path(), digests)
    except ValidationError as error:
        key, message = _explain(error)
        raise SimstudyError(f"{origin}, {key}: {message}") from error
    except KeyedError as error:
        raise SimstudyError(f"{origin}, {error.key}: {error}") from error
    return study


_SECTIONS: dict[str, type[BaseModel]] = {
    "": Study,
    "data": Data,
    "measures": Measures,
    "analysis": Analysis,
    "limits": Limits,
    "thresholds": Thresholds,
}


def _explain(error: ValidationError) -> tuple[str, str]:
    """The key and the sentence of the first thing that is wrong, a misspelt key before others."""
    errors = sorted(error.errors(), key=lambda e: e["type"] != "extra_forbidden")
    first = errors[0]
    location = first["loc"]
    key = dotted(location)
    if first["type"] == "extra_forbidden":
        known = _SECTIONS[dotted(location[:-1])].model_fields
        return key, f"unknown key{suggestion(str(location[-1]), known)}"
    if first["type"] == "missing":
        return key, "this key is missing"
    message = sentence(first, first["input"])
    if key == "models" and first["type"] == "greater_than_equal":
        message += " (models are the subjects of the ANOVA, which one alone does not allow)"
    return key, message
