"""The sections of a study file, each checked separately."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    field_validator,
    model_serializer,
)

from simstudy.study.error_messages import explain

Prior = Literal["train", "test", "uniform", "true"]
PRIORS: tuple[Prior, ...] = get_args(Prior)
Rows = Annotated[int, Field(ge=1, le=10**9)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")]
Sizes = Annotated[list[Rows], Field(min_length=1)]


def _must_be(allowed: str) -> WrapValidator:
    """State what is allowed, instead of why each alternative is not met."""

    def validate(value: object, handler: ValidatorFunctionWrapHandler) -> object:
        try:
            return handler(value)
        except ValidationError as error:
            raise ValueError(f"it must be {allowed}") from error

    return WrapValidator(validate)


TestSize = Annotated[
    Rows | Literal["exact", "both"], _must_be('a number of rows from 1 to 10^9, "exact" or "both"')
]
AnyPrior = Annotated[
    Prior | list[float], _must_be(f"one of {', '.join(PRIORS)}, or a list of probabilities")
]
Number = Annotated[float, Field(gt=1, allow_inf_nan=False)]
Base = Annotated[Literal["e"] | Number, _must_be('"e" or a number above 1')]
ClassName = Annotated[str | int | None, _must_be("the name of a class")]


def _describe_keys(schema: dict[str, Any], section: type[BaseModel]) -> None:
    """Add the meanings of keys, which docstrings state, to the JSON Schema of a section."""
    from simstudy.components.describe import meanings

    schema["description"] = (section.__doc__ or "").partition("\n")[0]
    for key, meaning in meanings(section).items():
        schema["properties"][key]["description"] = meaning


class FileSection(BaseModel):
    """A section of a study file or list: unknown keys are refused."""

    model_config = ConfigDict(frozen=True, strict=True, defer_build=True, extra="forbid")
    model_config["json_schema_extra"] = _describe_keys


class NamedSection(FileSection):
    """The name of a family or learner, and its parameters.

    Parameters
    ----------
    name
        Its name; simstudy list shows all names.
    """

    model_config = ConfigDict(extra="allow")

    name: str


class ChangeSection(NamedSection):
    """A change to the models, and its parameters."""


class Data(FileSection):
    """The data drawn from every model.

    Parameters
    ----------
    train_sizes
        Numbers of training rows, increasing.
    test_size
        Number of test rows; or evaluation over the joint distribution of each model ("exact"), or
        both.
    training
        Whether training sets of different sizes are drawn independently, or each consists of the
        first rows of the next.
    test_sizes
        In a comparison of measures: numbers of test rows, increasing; 20 to 5000 if omitted.
    repeats
        In a comparison of measures: the number of test sets of each size; 50 if omitted. In a
        comparison of tests: the number of data sets of each size drawn from a model; 20 if omitted.
    training_sets
        In a comparison of estimators: the number of training sets of each size whose mean value is
        estimated, too; 200 if omitted.
    """

    train_sizes: Sizes = [50, 500, 5000]
    test_size: TestSize = 1000
    training: Literal["independent", "nested"] = "independent"
    test_sizes: Sizes | None = None
    repeats: Annotated[int, Field(ge=1, le=10**6)] | None = None
    training_sets: Annotated[int, Field(ge=2, le=10**6)] | None = None

    @field_validator("train_sizes", "test_sizes")
    @classmethod
    def _increasing(cls, sizes: list[int] | None) -> list[int] | None:
        if any(second <= first for first, second in itertools.pairwise(sizes or ())):
            raise ValueError("sizes must increase from one to the next")
        return sizes


class PreparationSection(FileSection):
    """How rows are prepared for learners; fitted to each training part, never to test rows.

    Parameters
    ----------
    discretize
        How numbers are discretised for learners that do not accept them: by minimum description
        length (Fayyad & Irani 1993), by Kononenko's criterion (1995), into bins of equal frequency
        or width, or not at all.
    bins
        Number of bins of equal frequency or width.
    missing
        Missing values: left to learners that accept them; or, for all others, replaced by the most
        frequent value of the training part, or treated as a separate value.
    """

    discretize: Literal["mdl", "kononenko", "equal_frequency", "equal_width", "none"] = "mdl"
    bins: int = Field(default=10, ge=2, le=1000)
    missing: Literal["ignore", "mode", "value"] = "ignore"


class TreatmentSection(NamedSection):
    """An estimator or a test, and its label.

    Parameters
    ----------
    label
        Its label in reports; the name if omitted.
    """

    label: str = ""


class LearnerSection(TreatmentSection):
    """A learner, its label, and how rows are prepared only for it.

    Parameters
    ----------
    preparation
        Replaces the study's [preparation].
    """

    preparation: PreparationSection | None = None


class DataSetSection(FileSection):
    """A data file and how it is read.

    Parameters
    ----------
    path
        A CSV, ARFF or Parquet file, relative to this file, or a name such as openml:31 or uci:iris.
    name
        Its name in reports; that of the file if omitted.
    target
        The column to predict; by default that which the data set declares, else the last.
    ignore
        Columns to leave out.
    nominal
        Columns of numbers to treat as nominal.
    numeric
        Columns that must hold numbers.
    values
        The ordered values of nominal columns.
    keep
        Columns to keep although they look like identifiers or leaks.
    missing_values
        Strings that represent a missing value; if omitted, the empty string, ? and, in numeric
        columns, NA, nan, null, - and similar ones.
    groups
        A column of groups of rows that stay together.
    classes
        Classes merged from others; rows of classes not listed are dropped.
    separator
        Between values; detected if omitted.
    encoding
        Of a text file; detected if omitted.
    """

    path: str
    name: str = ""
    target: str | None = None
    ignore: list[str] = []
    nominal: list[str] = []
    numeric: list[str] = []
    values: dict[str, list[str]] = {}
    keep: list[str] = []
    missing_values: list[str] | None = None
    groups: str | None = None
    classes: dict[str, list[str]] = {}
    separator: str | None = None
    encoding: str | None = None


class ResamplingSection(FileSection):
    """How data sets are split into training and test parts.

    Parameters
    ----------
    scheme
        Cross-validation, or with as many repeats as bring the rows tested to about 3,000 (the
        default); later rows after training on all earlier ones; 5×2 cross-validation, two halves
        that swap roles, repeated holdout, leave-one-out, or the bootstrap.
    folds
        Number of folds in cross-validation and in order.
    repeats
        Number of repetitions.
    share
        The share of training rows in a holdout, rounded down.
    stratify
        Whether splits are stratified by class.
    splits
        A file of splits, instead of a scheme.
    sizes
        Training sizes for learning curves, as rows or as shares of the training part; all of it if
        omitted.
    """

    scheme: (
        Literal["cv", "repeated_cv", "ordered", "5x2cv", "swapped", "holdout", "loo", "bootstrap"]
        | None
    ) = None
    folds: int | None = None
    repeats: int | None = None
    share: float | None = None
    stratify: bool | None = None
    splits: str | None = None
    sizes: list[Rows | float] = []


class MeasureSection(NamedSection):
    """A measure with parameters, and its label.

    Parameters
    ----------
    label
        The name of its column; that of the measure if omitted.
    """

    label: str = Field(default="", pattern=r"^([A-Za-z0-9][A-Za-z0-9_.-]*)?$")

    @model_serializer(mode="wrap")
    def _stated(self, serialize: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {key: value for key, value in serialize(self).items() if value != ""}


def _measure_section(stated: object) -> object:
    """A measure by its name, or in a table with its parameters."""
    if isinstance(stated, str | MeasureSection):
        return stated
    if not isinstance(stated, dict):
        raise ValueError('it must be the name of a measure, or a table { name = "…", … }')
    try:
        return MeasureSection.model_validate(stated)
    except ValidationError as error:
        key, message = explain(error, MeasureSection)
        raise ValueError(f"its {key}: {message}") from error


def _sections(measures: Iterable[str | MeasureSection]) -> list[MeasureSection]:
    return [MeasureSection(name=item) if isinstance(item, str) else item for item in measures]


AnyMeasure = Annotated[str | MeasureSection, BeforeValidator(_measure_section)]


class MeasuresSection(FileSection):
    """The measures and their conventions: prior, cutoff, base, reward, positive class.

    Parameters
    ----------
    primary
        The measure that is tested and plotted: its name, or a table of its name and parameters.
    also
        Further measures; one may be listed twice, with different labels.
    targets
        In a comparison of measures: the measures whose exact values say which of two learners is
        better, the primary one first; kl_divergence if omitted.
    prior
        The prior of rewards: class frequencies of the training set or the test set, the uniform
        distribution, that of the model, or these probabilities.
    cutoff
        How probabilities are clipped before logarithmic measures: to [½/(n + k/2), (n + ½)/(n +
        k/2)] for n training rows and k classes, to [½/(n + 1), (n + ½)/(n + 1)], or not at all.
    base
        The base of logarithms: "e" for nats, 2 for bits.
    reward
        How information rewards combine the classes: mean (Hope & Korb 2004, equation 10) or sum.
    positive
        The positive class of measures that need one, by its name (classes of models are named 0, 1,
        …); the rarer class if omitted.
    """

    primary: AnyMeasure = "information_reward"
    also: list[AnyMeasure] = []
    targets: list[AnyMeasure] | None = None
    prior: AnyPrior = "train"
    cutoff: Literal["mml", "2001", "epsilon", "none"] = "mml"
    base: Base = "e"
    reward: Literal["mean", "sum"] = "mean"
    positive: ClassName = None

    @property
    def keyed(self) -> dict[str, MeasureSection]:
        """All measures by their keys in a study file, the primary one first."""
        keys = ["measures.primary", *(f"measures.also[{i}]" for i in range(len(self.also)))]
        return dict(zip(keys, _sections([self.primary, *self.also]), strict=True))

    @property
    def keyed_targets(self) -> dict[str, MeasureSection]:
        """The measures that say which learner is better, by their keys in a study file."""
        targets = enumerate(_sections(self.targets or []))
        return {f"measures.targets[{index}]": section for index, section in targets}

    @property
    def labels(self) -> list[str]:
        """The labels of all measures, the primary one first."""
        return [section.label or section.name for section in self.keyed.values()]

    @field_validator("prior")
    @classmethod
    def _distribution(cls, prior: Prior | list[float]) -> Prior | list[float]:
        if isinstance(prior, list) and (
            len(prior) < 2 or not min(prior) > 0 or abs(sum(prior) - 1) >= 1e-9
        ):
            raise ValueError("a list must hold numbers between 0 and 1 that sum to 1")
        return prior


class Analysis(FileSection):
    """The confidence of intervals and the adjustment for multiple comparisons.

    Parameters
    ----------
    confidence
        The confidence level of intervals; tests use 1 minus it.
    adjustment
        Adjustment of paired tests: Bonferroni over the pairs at all sizes or at each size, Holm's
        method over the pairs at each size, or none. In a study of data sets: Holm's method (the
        default), Bonferroni or none, over the pairs on all data sets.
    """

    confidence: float = Field(default=0.95, gt=0, lt=1)
    adjustment: Literal["bonferroni_all", "bonferroni", "holm", "none"] = "bonferroni_all"


class Limits(FileSection):
    """Limits of one cell: seconds and gigabytes; None for no limit.

    Parameters
    ----------
    timeout
        Time limit per cell, in seconds.
    memory
        Memory limit per cell, in gigabytes (Linux).
    """

    timeout: float | None = Field(default=None, gt=0, le=10**6)
    memory: float | None = Field(default=None, gt=0, le=10**6)


class Thresholds(FileSection):
    """Whether sizes are added around crossings.

    Parameters
    ----------
    refine
        Whether to add training sizes around crossings.
    """

    refine: bool = False
