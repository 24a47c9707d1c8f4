"""The sections of a study file, each checked separately."""

from __future__ import annotations

import itertools
import json
import sys
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from simstudy.study.explain import KeyedError, explain

Prior = Literal["train", "test", "uniform", "true"]
PRIORS: tuple[Prior, ...] = get_args(Prior)
Rows = Annotated[int, Field(ge=1, le=10**9)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Sizes = Annotated[list[Rows], Field(min_length=1)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class NamedSection(_Section):
    """The name of a family or learner, and its parameters."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)

    name: str = Field(description="Its name; simstudy list names all.")


class LearnerSection(NamedSection):
    """A learner and its label."""

    label: str = Field(default="", description="Its label in reports; the name if left out.")


class Data(_Section):
    """The data drawn from every model."""

    train_sizes: Sizes = Field(
        default=[50, 500, 5000], description="Numbers of training rows, increasing."
    )
    test_size: Rows | Literal["exact", "both"] = Field(
        default=1000,
        description="Number of test rows; or evaluation over the joint distribution of each model "
        '("exact"), or both.',
    )
    training: Literal["independent", "nested"] = Field(
        default="independent",
        description="Whether training sets of different sizes are drawn independently, or each "
        "consists of the first rows of the next.",
    )

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

    primary: str = Field(
        default="information_reward", description="The measure that is tested and plotted."
    )
    also: list[str] = Field(default=[], description="Further measures.")
    prior: Prior | list[float] = Field(
        default="train",
        description="The prior of rewards: class frequencies of the training set or the test set, "
        "the uniform distribution, the model's own, or these probabilities.",
    )
    cutoff: Literal["mml", "2001", "none"] = Field(
        default="mml",
        description="How probabilities are clipped before logarithmic measures: to [½/(n + k/2), "
        "(n + ½)/(n + k/2)] for n training rows and k classes, to [½/(n + 1), (n + ½)/(n + 1)], or "
        "not at all.",
    )
    base: Literal["e"] | Annotated[float, Field(gt=1)] = Field(
        default="e", description='The base of logarithms: "e" for nats, 2 for bits.'
    )
    reward: Literal["mean", "sum"] = Field(
        default="mean",
        description="How information rewards combine the classes: mean (Hope & Korb 2004, equation "
        "10) or sum.",
    )

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

    confidence: float = Field(
        default=0.95,
        gt=0,
        lt=1,
        description="The confidence of intervals; tests are at 1 minus it.",
    )
    adjustment: Literal["bonferroni", "bonferroni_all", "holm", "none"] = Field(
        default="bonferroni",
        description="Adjustment of paired tests: Bonferroni over the pairs at each size or over "
        "all sizes, Holm's method over the pairs at each size, or none.",
    )


class Limits(_Section):
    """Limits of one cell: seconds and gigabytes; None for no limit."""

    timeout: float | None = Field(
        default=None, gt=0, le=10**6, description="Seconds that one cell may take."
    )
    memory: float | None = Field(
        default=None, gt=0, le=10**6, description="Gigabytes that one cell may allocate (Linux)."
    )


class Thresholds(_Section):
    """Whether sizes are added around crossings."""

    refine: bool = Field(
        default=False, description="Whether to add training sizes around crossings."
    )


class StudyFile(_Section):
    """A study file with no names looked up."""

    name: Name = Field(description="The name of the study and of its results.")
    title: str = Field(default="", description="A title for reports.")
    seed: int = Field(default=1, ge=0, description="The seed of all random streams.")
    models: int = Field(
        default=40,
        ge=2,
        le=10**7,
        description="Number of models drawn; they are the subjects of the ANOVA.",
    )
    plugins: list[str] = Field(
        default=[],
        description="Python files that register families, learners or measures, relative to this "
        "file.",
    )
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
