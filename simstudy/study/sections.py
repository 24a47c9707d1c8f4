"""The sections of a study file, each checked separately."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from simstudy.experiments import DEFAULT, names
from simstudy.study.constants import MAX_MODELS
from simstudy.study.explain import explain

Prior = Literal["train", "test", "uniform", "true"]
PRIORS: tuple[Prior, ...] = get_args(Prior)
Rows = Annotated[int, Field(ge=1, le=10**9)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Sizes = Annotated[list[Rows], Field(min_length=1)]


class FileSection(BaseModel):
    """A section of a study file or list: unknown keys are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class NamedSection(FileSection):
    """The name of a family or learner, and its parameters."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, defer_build=True)

    name: str = Field(description="Its name; simstudy list names all.")


class ChangeSection(NamedSection):
    """A change to the models, and its parameters."""


class Data(FileSection):
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
    test_sizes: Sizes | None = Field(
        default=None,
        description="In a comparison of measures: numbers of test rows, increasing; 20 to 5000 if "
        "left out.",
    )
    repeats: Annotated[int, Field(ge=1, le=10**6)] | None = Field(
        default=None,
        description="In a comparison of measures: the number of test sets of each size; 50 if left "
        "out. In a comparison of tests: the number of data sets of each size drawn from a model; "
        "20 if left out.",
    )
    training_sets: Annotated[int, Field(ge=2, le=10**6)] | None = Field(
        default=None,
        description="In a comparison of estimators: the number of training sets of each size whose "
        "mean value is estimated, too; 200 if left out.",
    )

    @field_validator("test_size", mode="before")
    @classmethod
    def _rows_or_exact(cls, size: object) -> object:
        whole = isinstance(size, int) and not isinstance(size, bool) and 1 <= size <= 10**9
        if size not in ("exact", "both") and not whole:
            raise ValueError('it must be a number of rows from 1 to 10^9, "exact" or "both"')
        return size

    @field_validator("train_sizes", "test_sizes")
    @classmethod
    def _increasing(cls, sizes: list[int] | None) -> list[int] | None:
        if any(second <= first for first, second in itertools.pairwise(sizes or ())):
            raise ValueError("sizes must increase from one to the next")
        return sizes


class PreparationSection(FileSection):
    """How rows are prepared for learners; fitted to each training part, never to test rows."""

    discretize: Literal["mdl", "kononenko", "equal_frequency", "equal_width", "none"] = Field(
        default="mdl",
        description="How numbers become nominal for learners that do not take them: cuts of least "
        "description length (Fayyad & Irani 1993), by Kononenko's criterion (1995), bins of equal "
        "frequency or width, or not at all.",
    )
    bins: int = Field(
        default=10, ge=2, le=1000, description="Number of bins of equal frequency or width."
    )
    missing: Literal["ignore", "mode", "value"] = Field(
        default="ignore",
        description="Missing values: left to learners that take them; or, for all others, replaced "
        "by the most frequent value of the training part, or made a value of their own.",
    )


class LearnerSection(NamedSection):
    """A learner, its label, and how rows are prepared for it alone."""

    label: str = Field(default="", description="Its label in reports; the name if left out.")
    preparation: PreparationSection | None = Field(
        default=None, description="Instead of the study's [preparation]."
    )


class TreatmentSection(NamedSection):
    """An estimator or a test, and its label."""

    label: str = Field(default="", description="Its label in reports; the name if left out.")


class DataSetSection(FileSection):
    """A data file and how it is read."""

    path: str = Field(description="A CSV, ARFF or Parquet file, relative to this file.")
    name: str = Field(default="", description="Its name in reports; that of the file if left out.")
    target: str | None = Field(default=None, description="The column to predict; the last one.")
    ignore: list[str] = Field(default=[], description="Columns to leave out.")
    nominal: list[str] = Field(default=[], description="Columns whose numbers are names.")
    numeric: list[str] = Field(default=[], description="Columns that must hold numbers.")
    values: dict[str, list[str]] = Field(
        default={}, description="The ordered values of nominal columns."
    )
    keep: list[str] = Field(
        default=[], description="Columns that are no identifiers or leaks, though they look so."
    )
    missing_values: list[str] | None = Field(
        default=None,
        description="Texts that stand for a missing value; nothing, ? and, among numbers, NA, nan, "
        "null, - and the like if left out.",
    )
    groups: str | None = Field(
        default=None, description="A column of groups of rows that are never separated."
    )
    classes: dict[str, list[str]] = Field(
        default={}, description="Classes made of others; rows of classes not named are dropped."
    )
    separator: str | None = Field(default=None, description="Between values; found if left out.")
    encoding: str | None = Field(default=None, description="Of a text file; found if left out.")


class ResamplingSection(FileSection):
    """How data sets are split into training and test parts."""

    scheme: Literal["cv", "5x2cv", "swapped", "holdout", "loo", "bootstrap"] | None = Field(
        default=None,
        description="Cross-validation (if left out), 5×2 cross-validation, two halves that change "
        "places, repeated holdout, leaving one row out, or the bootstrap.",
    )
    folds: int | None = Field(default=None, description="Folds of cross-validation.")
    repeats: int | None = Field(default=None, description="How often it is repeated.")
    share: float | None = Field(
        default=None, description="The share of training rows in a holdout, rounded down."
    )
    stratify: bool | None = Field(
        default=None, description="Whether classes are alike in all parts."
    )
    splits: str | None = Field(default=None, description="A file of splits, instead of a scheme.")
    sizes: list[Rows | float] = Field(
        default=[],
        description="Training sizes for learning curves, as rows or as shares of the training "
        "part; all of it if left out.",
    )


class MeasureSection(NamedSection):
    """A measure with parameters, and its label."""

    label: str = Field(
        default="",
        pattern=r"^([A-Za-z0-9][A-Za-z0-9_.-]*)?$",
        description="The name of its column; that of the measure if left out.",
    )


def _measure_section(given: object) -> object:
    """A measure by its name, or in a table with its parameters."""
    if isinstance(given, str | MeasureSection):
        return given
    if not isinstance(given, dict):
        raise ValueError('it must be the name of a measure, or a table { name = "…", … }')
    try:
        return MeasureSection.model_validate(given)
    except ValidationError as error:
        key, message = explain(error, lambda _: MeasureSection.model_fields)
        raise ValueError(f"its {key}: {message}") from error


def _sections_of(given: Iterable[str | MeasureSection]) -> list[MeasureSection]:
    return [MeasureSection(name=one) if isinstance(one, str) else one for one in given]


MeasureGiven = Annotated[str | MeasureSection, BeforeValidator(_measure_section)]


class MeasuresSection(FileSection):
    """The measures and their conventions: prior, cutoff, base, reward, positive class."""

    primary: MeasureGiven = Field(
        default="information_reward",
        description="The measure that is tested and plotted: its name, or a table of its name and "
        "parameters.",
    )
    also: list[MeasureGiven] = Field(
        default=[], description="Further measures; with a label of its own, one may come twice."
    )
    targets: list[MeasureGiven] | None = Field(
        default=None,
        description="In a comparison of measures: the measures whose exact values say which of two "
        "learners is better, the primary one first; kl_divergence if left out.",
    )
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
    positive: str | int | None = Field(
        default=None,
        description="The positive class of measures that need one, by its name (classes of models "
        "are named 0, 1, …); the rarer class if left out.",
    )

    @property
    def given(self) -> list[MeasureSection]:
        """All measures, the primary one first."""
        return _sections_of([self.primary, *self.also])

    @property
    def given_targets(self) -> list[MeasureSection]:
        """The measures that say which learner is better."""
        return _sections_of(self.targets or [])

    @property
    def names(self) -> list[str]:
        """The names of all measures, the primary one first."""
        return [one.name for one in self.given]

    @property
    def labels(self) -> list[str]:
        """The labels of all measures, the primary one first."""
        return [one.label or one.name for one in self.given]

    @field_validator("positive", mode="before")
    @classmethod
    def _class_name(cls, positive: object) -> object:
        if not isinstance(positive, str | int | None) or isinstance(positive, bool):
            raise ValueError("it must be the name of a class")
        return positive

    @field_validator("base", mode="before")
    @classmethod
    def _above_one(cls, base: Any) -> object:
        if base == "e":
            return base
        number = isinstance(base, int | float) and not isinstance(base, bool)
        if not number or not 1 < base <= sys.float_info.max:
            raise ValueError('it must be "e" or a number above 1')
        return float(base)

    @field_validator("prior", mode="before")
    @classmethod
    def _distribution(cls, prior: object) -> object:
        if isinstance(prior, list):
            numbers = all(isinstance(p, float) and 0 < p < 1 for p in prior)
            if not (numbers and len(prior) >= 2 and abs(sum(prior) - 1) < 1e-9):
                raise ValueError("a list must hold numbers between 0 and 1 that sum to 1")
        elif prior not in PRIORS:
            raise ValueError(f"it must be one of {', '.join(PRIORS)}, or a list of probabilities")
        return prior


class Analysis(FileSection):
    """The confidence of intervals and the adjustment for multiple comparisons."""

    confidence: float = Field(
        default=0.95,
        gt=0,
        lt=1,
        description="The confidence of intervals; tests are at 1 minus it.",
    )
    adjustment: Literal["bonferroni_all", "bonferroni", "holm", "none"] = Field(
        default="bonferroni_all",
        description="Adjustment of paired tests: Bonferroni over the pairs at all sizes or at each "
        "size, Holm's method over the pairs at each size, or none. In a study of data sets: Holm's "
        "method (the default), Bonferroni or none, over the pairs on all data sets.",
    )


class Limits(FileSection):
    """Limits of one cell: seconds and gigabytes; None for no limit."""

    timeout: float | None = Field(
        default=None, gt=0, le=10**6, description="Seconds that one cell may take."
    )
    memory: float | None = Field(
        default=None, gt=0, le=10**6, description="Gigabytes that one cell may allocate (Linux)."
    )


class Thresholds(FileSection):
    """Whether sizes are added around crossings."""

    refine: bool = Field(
        default=False, description="Whether to add training sizes around crossings."
    )


class StudyFile(FileSection):
    """A study file with no names looked up."""

    name: Name = Field(description="The name of the study and of its results.")
    title: str = Field(default="", description="A title for reports.")
    seed: int = Field(default=1, ge=0, description="The seed of all random streams.")
    models: int = Field(
        default=40,
        ge=2,
        le=MAX_MODELS,
        description="Number of models drawn; they are the subjects of the ANOVA.",
    )
    plugins: list[str] = Field(
        default=[],
        description="Python files that register families, changes, learners or measures, relative "
        "to this file.",
    )
    compare: str = Field(
        default=DEFAULT,
        json_schema_extra={"enum": [*names()]},
        description="What is compared: learners; measures, by how often they prefer the truly "
        "better of two learners; estimators of performance, by their errors; or tests of two "
        "learners, by how often they reject.",
    )
    keep_answers: bool = Field(
        default=False,
        description="Whether the predicted probabilities are kept, for measures added later.",
    )
    family: NamedSection | None = None
    changes: list[ChangeSection] = []
    data: Data = Data()
    datasets: list[DataSetSection] = []
    resampling: ResamplingSection = ResamplingSection()
    preparation: PreparationSection = PreparationSection()
    learners: list[LearnerSection] = Field(min_length=1)
    estimators: list[TreatmentSection] = Field(
        default=[], description="In a comparison of estimators: what is compared."
    )
    tests: list[TreatmentSection] = Field(
        default=[], description="In a comparison of tests: what is compared."
    )
    measures: MeasuresSection = MeasuresSection()
    analysis: Analysis = Analysis()
    limits: Limits = Limits()
    thresholds: Thresholds = Thresholds()
