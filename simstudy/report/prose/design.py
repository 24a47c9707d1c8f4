"""What was studied, in words: the question, the design and the conventions of the measures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from simstudy.components.registry import Spec
from simstudy.data.sizes import size_text
from simstudy.data.splits.resampling import WITH_REPEATS, scheme_name
from simstudy.report.prose.inputs import cuts
from simstudy.report.prose.phrases import count_range, listed, opening
from simstudy.study.constants import ROWS_BESIDE_EXACT
from simstudy.study.study import Study
from simstudy.texts import counted

# What the bridge to scikit-learn does to attributes (learners/bridges/scikit.py).
SCIKIT = (
    "For classifiers of other packages, nominal attributes are encoded as stated, numbers are "
    "standardised by the mean and standard deviation of the training rows where `scale` is set, "
    "and missing values are replaced by the mean or the most frequent value of the training rows; "
    "classifiers that accept missing numbers receive them, and pipelines a data frame as it is"
)
_FAMILIES = {"naive_bayes": "Naive Bayes", "tan": "TAN", "aode": "AODE", "kdb": "k-dependence"}
_PRIORS = {
    "train": "class frequencies of each training set, with ½ added to each count",
    "test": "class frequencies of each test set, with ½ added to each count",
    "uniform": "uniform",
    "true": "the true class probabilities",
}
_CUTOFFS = {
    "mml": "probabilities clipped to [½/(n+k/2), (n+½)/(n+k/2)] for logarithmic measures",
    "2001": "probabilities clipped to [½/(n+1), (n+½)/(n+1)] for logarithmic measures",
    "epsilon": "probabilities clipped to [ε, 1−ε], ε = 2⁻⁵², for logarithmic measures",
    "none": "probabilities not clipped",
}
_ROW = "each row of each conditional probability table"
_CPTS = {
    "normalized_uniform": f"{_ROW}: uniform random numbers divided by their sum",
    "file": "conditional probability tables as in the file",
    "perturbed": f"{_ROW} drawn from a Dirichlet distribution around that of the file",
}


def models_of(study: Study) -> str:
    """The models of a family, with the number of variables if the family has it."""
    name, family = study.source.name, study.demanded_family.resolved
    text = f"{_FAMILIES[name]} models" if name in _FAMILIES else f"models of the family {name}"
    bounds = family.get("variables", family.get("attributes"))
    if isinstance(bounds, list) and len(bounds) == 2:
        text += f" of {'–'.join(map(str, dict.fromkeys(bounds)))} variables"
    if study.changes:
        text += f", changed by {listed([change.name for change in study.changes])}"
    return text


def model_design(study: Study, evaluated: str) -> str:
    """What was run, on models; ``evaluated`` says on what."""
    sizes = ", ".join(f"{size:,}" for size in study.data.train_sizes)
    changed = f", changed by {'; then '.join(map(_change, study.changes))}" if study.changes else ""
    return (
        f"{study.problems} models of the family {study.source.name}{changed}; training sets of "
        f"{sizes} rows; {evaluated}; seed {study.seed}"
    )


def _change(change: Spec) -> str:
    """A change with its parameters."""
    texts = [f"{k} = {json.dumps(v, ensure_ascii=False)}" for k, v in change.resolved.items()]
    return f"{change.name} ({', '.join(texts)})" if texts else change.name


def evaluated_on(size: int | str) -> str:
    """What the learners were evaluated on."""
    if isinstance(size, int):
        return f"test sets of {size:,} rows"
    beside = f" and on test sets of {ROWS_BESIDE_EXACT:,} rows" * (size == "both")
    return f"evaluated exactly over the joint distribution{beside}"


def conventions(study: Study) -> str:
    """The prior and the cutoff that the rewards rest on."""
    measures, prior = study.measures, study.measures.prior
    text = _PRIORS[prior] if isinstance(prior, str) else str(prior)
    if prior == "test" and not isinstance(study.data.test_size, int):
        text = "the true class probabilities (for sampled test sets, their class frequencies)"
    text = f"prior: {text}; cutoff {measures.cutoff}: {_CUTOFFS[measures.cutoff]}"
    return text + "; reward summed over the classes" * (measures.reward == "sum")


def data_design(study: Study) -> str:
    """The design of a study of data sets in one line."""
    resampling, folds = study.resampling, study.resampling.folds or 10
    schemes = {
        "cv": f"{folds}-fold cross-validation",
        "repeated_cv": f"{folds}-fold cross-validation, repeated up to 10 times while "
        "about 3,000 rows or fewer are tested",
        "ordered": f"rows in order, each of {folds} parts tested after training on all before it",
        "5x2cv": "5×2 cross-validation",
        "holdout": "repeated holdout",
        "swapped": "two halves, swapped",
        "loo": "leave-one-out",
        "bootstrap": "bootstrap samples",
    }
    file = f"splits from {resampling.splits}" if resampling.splits else ""
    sets, scheme = counted(len(study.datasets), "data set"), schemes[scheme_of(study) or "cv"]
    return f"{sets}; {file or scheme}, {study.problems:,} splits in all; seed {study.seed}"


def scheme_of(study: Study) -> str:
    """The scheme of a study of data sets; empty if a file has the splits."""
    if study.resampling.splits:
        return ""
    return str(scheme_name(study.resampling.model_dump(exclude_none=True)))


def stated_repeats(study: Study, repeats: int | str) -> str:
    """How a study of data sets states a number of repeats; "" if its scheme has no repeats."""
    scheme = scheme_of(study)
    if scheme == "repeated_cv":
        return f'scheme = "cv" and repeats = {repeats}'
    return f"repeats = {repeats}" * (scheme in WITH_REPEATS)


def data_sections(study: Study) -> dict[str, str]:
    """What data sets were split and prepared how, by subject."""
    resampling, prepared = study.resampling, study.preparation
    if (stratify := resampling.stratify) is None:
        stratify = resampling.scheme != "bootstrap"
    scheme = not resampling.splits and resampling.scheme not in ("loo", "ordered")
    stratified = f"; {'' if stratify else 'not '}stratified by class" * scheme
    groups = any(source.groups for source in study.datasets)
    grouped = "; rows of a group stay together" * groups
    missing = {"mode": "are replaced by the most frequent value", "value": "become a further value"}
    sizes = ", ".join(map(size_text, study.train_sizes))
    grown = f" Training sizes: {sizes}." * (len(study.train_sizes) > 1)
    return {
        "Splits": f"{opening(data_design(study))}{stratified}{grouped}. All learners receive the "
        f"same splits.{grown}",
        "Preparation": "Fitted to each training part, for learners that cannot use the raw "
        f"values: numbers are {cuts(prepared.model_dump())}; missing values "
        f"{missing.get(prepared.missing, 'are kept')}.",
        "Random numbers": f"Seed {study.seed}. The splits are a function of the seed, the rows and "
        "the scheme.",
    }


def sections(
    study: Study, about: Callable[[str, str], str], training_data: str, test_data: str
) -> dict[str, str]:
    """How models and data were drawn, by subject; ``about`` has a line on a component."""
    family = study.demanded_family
    drawn = f"{study.models} models, drawn at random from the family {family.name}."
    return {
        "Models": f"{drawn} {about('family', family.name)}".strip(),
        "Parameters": "; ".join(parameters(family.resolved)) or "none",
        **_changes_section(study, about),
        "Training data": training_data,
        "Test data": test_data,
        "Random numbers": f"Seed {study.seed}. Every random stream is a function of the seed, the "
        "family, the number of the model and the purpose of the stream.",
    }


def _changes_section(study: Study, about: Callable[[str, str], str]) -> dict[str, str]:
    """What was done to every model, and what the truth is then."""
    made = [
        f"{number}. {_change(change)}: {about('change', change.name)}"
        for number, change in enumerate(study.changes, 1)
    ]
    truth = (
        "The truth is that of the population of test rows as observed; learners' limits are fitted "
        "to that of training rows."
    )
    return {"Changes": " ".join([*made, truth])} if made else {}


def training_section(study: Study) -> str:
    """Where the training rows of learners come from."""
    sizes = study.data.train_sizes
    nested = study.data.training == "nested" and len(sizes) > 1
    how = "each the first rows of the next larger one" if nested else "drawn independently"
    each = f"one set of each size ({', '.join(f'{size:,}' for size in sizes)} rows), {how}"
    return f"From each model {each}. All learners receive the same sets."


def test_section(size: int | str) -> str:
    """Where the test rows of learners come from."""
    if isinstance(size, int):
        return f"From each model one set of {size:,} rows, the same for all learners and sizes."
    sampled = f" Measures marked “sampled” use one set of {ROWS_BESIDE_EXACT:,} rows per model."
    exact = "None: each measure is its exact expectation over the joint distribution."
    return exact + sampled * (size == "both")


def parameters(family: Mapping[str, Any]) -> Iterator[str]:
    """A family's parameters in words; those that only some families have by their names."""
    variables = "variables, the target included"
    limits = {"variables": variables, "attributes": variables, "values": "values of each variable"}
    cpts = family.get("cpts")
    for key, value in family.items():
        if key in limits and isinstance(value, list | tuple) and len(value) == 2:
            yield f"{count_range(*value)} {limits[key]}"
        elif key == "cpts" and cpts in _CPTS:
            yield _CPTS[cpts]
        elif key == "concentration" and cpts not in _CPTS:
            yield f"{_ROW} drawn from a symmetric Dirichlet distribution with parameter {value:g}"
        elif key not in ("cpts", "concentration") and (key != "strength" or cpts == "perturbed"):
            yield f"{key} = {value}"
