"""The sections of a study file, each checked separately."""

from __future__ import annotations

import itertools
import json
import sys
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from simstudy.study.explain import KeyedError, explain

PRIORS = ("train", "test", "uniform", "true")
Rows = Annotated[int, Field(ge=1, le=10**9)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Sizes = Annotated[list[Rows], Field(min_length=1)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class NamedSection(_Section):
    """The name of a family or learner, and its parameters."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    name: str


class LearnerSection(NamedSection):
    """A learner and its label."""

    label: str = ""


class Data(_Section):
    """The data drawn from every model."""

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


class Measures(_Section):
    """The measures and their conventions: prior, cutoff, base, reward."""

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
                raise ValueError("a list must hold numbers between 0 and 1 that sum to 1")
        elif prior not in PRIORS:
            raise ValueError(f"it must be one of {', '.join(PRIORS)}, or a list of probabilities")
        return prior


class Analysis(_Section):
    """The confidence of intervals and the adjustment for multiple comparisons."""

    confidence: float = Field(default=0.95, gt=0, lt=1)
    adjustment: Literal["bonferroni", "bonferroni_all", "holm", "none"] = "bonferroni"


class Limits(_Section):
    """Limits of one cell: seconds and gigabytes; None for no limit."""

    timeout: float | None = Field(default=None, gt=0, le=10**6)
    memory: float | None = Field(default=None, gt=0, le=10**6)


class Thresholds(_Section):
    """Whether sizes are added around crossings."""

    refine: bool = False


class StudyFile(_Section):
    """A study file with no names looked up."""

    name: Name
    title: str = ""
    seed: int = Field(default=1, ge=0)
    models: int = Field(default=40, ge=2, le=10**7)
    plugins: list[str] = []
    family: NamedSection
    data: Data = Data()
    learners: list[LearnerSection] = Field(min_length=1)
    measures: Measures = Measures()
    analysis: Analysis = Analysis()
    limits: Limits = Limits()
    thresholds: Thresholds = Thresholds()


_SECTIONS: dict[str, type[BaseModel]] = {"": StudyFile} | {
    section.__name__.lower(): section for section in (Data, Measures, Analysis, Limits, Thresholds)
}


def read_sections(content: Any) -> StudyFile:
    """The sections of a study, their keys and types checked; raises `KeyedError`."""
    try:
        return StudyFile.model_validate_json(json.dumps(content, default=str))
    except ValidationError as error:
        key, message = explain(error, lambda section: _SECTIONS[section].model_fields)
        if key == "models" and error.errors()[0]["type"] == "greater_than_equal":
            message += " (models are the subjects of the ANOVA, which needs two)"
        raise KeyedError(key, message) from error
