"""What was studied, in words: the question, the design and the conventions of the measures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from simstudy.report.prose.phrases import count_range, listed, opening
from simstudy.study.constants import ROWS_BESIDE_EXACT
from simstudy.study.sizes import size_text
from simstudy.study.spec import Spec
from simstudy.study.study import Study
from simstudy.texts import counted

_FAMILIES = {"naive_bayes": "Naive Bayes", "tan": "TAN", "aode": "AODE", "kdb": "k-dependence"}


def design(study: Study) -> str:
    """One line on what was run."""
    return study.page.design(study)


def models_of(study: Study) -> str:
    """The models of a family, with the number of variables if the family has it."""
    name = study.source.name
    text = f"{_FAMILIES[name]} models" if name in _FAMILIES else f"models of the family {name}"
    family = study.demanded_family.resolved
    bounds = family.get("variables", family.get("attributes"))
    if isinstance(bounds, list) and len(bounds) == 2:
        low, high = bounds
        text += f" of {low} variables" if low == high else f" of {low}–{high} variables"
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
    given = [f"{key} = {_toml(value)}" for key, value in change.resolved.items()]
    return f"{change.name} ({', '.join(given)})" if given else change.name


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def evaluated_on(size: int | str) -> str:
    """What the learners were evaluated on."""
    if isinstance(size, int):
        return f"test sets of {size:,} rows"
    beside = f" and on test sets of {ROWS_BESIDE_EXACT:,} rows" if size == "both" else ""
    return f"evaluated exactly over the joint distribution{beside}"


def conventions(study: Study) -> str:
    """The prior and the cutoff that the rewards rest on."""
    measures = study.measures
    priors = {
        "train": "class frequencies of each training set, counts from ½",
        "test": "class frequencies of each test set, counts from ½",
        "uniform": "uniform",
        "true": "the true class probabilities",
    }
    cutoffs = {
        "mml": "probabilities clipped to [½/(n+k/2), (n+½)/(n+k/2)] for logarithmic measures",
        "2001": "probabilities clipped to [½/(n+1), (n+½)/(n+1)] for logarithmic measures",
        "none": "probabilities not clipped",
    }
    if measures.prior == "test" and not isinstance(study.data.test_size, int):
        priors["test"] = "the true class probabilities (of a test set drawn, its frequencies)"
    prior = measures.prior
    named = priors[prior] if isinstance(prior, str) else f"given, {prior}"
    text = f"prior: {named}; cutoff {measures.cutoff}: {cutoffs[measures.cutoff]}"
    return text + "; reward summed over the classes" * (measures.reward == "sum")


def data_design(study: Study) -> str:
    """The design of a study of data sets in one line."""
    given = study.resampling
    kinds = {"cv": f"{given.folds or 10}-fold cross-validation", "5x2cv": "5×2 cross-validation"}
    kinds |= {"holdout": "repeated holdout", "swapped": "two halves that change places"}
    kinds |= {"loo": "leaving one row out", "bootstrap": "bootstrap samples"}
    how = f"splits from {given.splits}" if given.splits else kinds[given.scheme or "cv"]
    sets = counted(len(study.datasets), "data set")
    return f"{sets}; {how}, {study.problems:,} splits in all; seed {study.seed}"


def data_sections(study: Study) -> dict[str, str]:
    """What data sets were split and prepared how, by subject."""
    given, prepared = study.resampling, study.preparation
    stratified = given.stratify if given.stratify is not None else given.scheme != "bootstrap"
    kept = "with the shares of the classes in all parts" if stratified else "whatever the classes"
    cuts = {
        "mdl": "by Fayyad & Irani's (1993) criterion",
        "kononenko": "by Kononenko's (1995) criterion",
        "equal_frequency": f"into {prepared.bins} bins of equal frequency",
        "equal_width": f"into {prepared.bins} bins of equal width",
    }
    numbers = cuts.get(prepared.discretize, "")
    numbers = f"numbers are cut {numbers}" if numbers else "numbers are not cut"
    absent = {"mode": "the most frequent value", "value": "a value of its own"}
    missing = absent.get(prepared.missing)
    missing = f"a missing value becomes {missing}" if missing else "missing values stay"
    sizes = [size_text(size) for size in study.train_sizes]
    grown = f" Training sizes: {', '.join(sizes)}." if len(sizes) > 1 else ""
    return {
        "Splits": f"{opening(data_design(study))}; {kept}, unless a file gives the splits. All "
        f"learners get the same splits.{grown}",
        "Preparation": f"Fitted to each training part, for learners that do not take the values as "
        f"they are: {numbers}; {missing}.",
        "Random numbers": f"Seed {study.seed}. The splits are a function of the seed, the rows and "
        "the scheme.",
    }


def sections(study: Study, about: Callable[[str, str], str], test_data: str) -> dict[str, str]:
    """How models and data were drawn, by subject; ``about`` has a line on a component."""
    data, family = study.data, study.demanded_family
    nested = data.training == "nested" and len(data.train_sizes) > 1
    how = "each the first rows of the next larger one" if nested else "drawn independently"
    sizes = ", ".join(f"{size:,}" for size in data.train_sizes)
    drawn = f"{study.models} models, drawn at random from the family {family.name}."
    return {
        "Models": f"{drawn} {about('family', family.name)}".strip(),
        "Parameters": "; ".join(parameters(family.resolved)) or "none",
        **_changes_section(study, about),
        "Training data": f"From every model a set of each size ({sizes} rows), {how}. All learners "
        "of a model get the same sets.",
        "Test data": test_data,
        "Random numbers": f"Seed {study.seed}. Every random stream is a function of the seed, the "
        "family, the number of the model and the purpose of the stream.",
    }


def _changes_section(study: Study, about: Callable[[str, str], str]) -> dict[str, str]:
    """What was done to every model, and what the truth is then."""
    if not study.changes:
        return {}
    made = [
        f"{number}. {_change(change)}: {about('change', change.name)}"
        for number, change in enumerate(study.changes, 1)
    ]
    truth = (
        "The truth is that of the population of test rows as they are seen; limits of learners "
        "are fitted to that of training rows."
    )
    return {"Changes": " ".join([*made, truth])}


def test_section(size: int | str) -> str:
    """Where the test rows of learners come from."""
    if isinstance(size, int):
        return f"From every model one set of {size:,} rows, the same for all learners and sizes."
    exact = (
        "None: a measure is its expectation over all configurations of the variables, weighted by "
        "their true probabilities."
    )
    beside = f" Measures called sampled are on one set of {ROWS_BESIDE_EXACT:,} rows per model."
    return exact + (beside if size == "both" else "")


def parameters(family: Mapping[str, Any]) -> Iterator[str]:
    """A family's parameters in words, as far as they are common ones."""
    uniform = family.get("cpts") == "normalized_uniform"
    from_file = family.get("cpts") in ("file", "perturbed")
    for key, value in family.items():
        match key, value:
            case (("variables" | "attributes"), [low, high]):
                yield f"{count_range(low, high)} variables, the target included"
            case "values", [low, high]:
                yield f"{count_range(low, high)} values of each variable"
            case "cpts", _ if uniform:
                yield (
                    "every row of every conditional probability table uniform random numbers "
                    "divided by their sum"
                )
            case "cpts", "file":
                yield "conditional probability tables as in the file"
            case "cpts", "perturbed":
                yield (
                    "every row of every conditional probability table from a Dirichlet "
                    "distribution around that of the file"
                )
            case "strength", _ if family.get("cpts") != "perturbed":
                continue
            case "concentration", _ if not (uniform or from_file):
                yield (
                    "every row of every conditional probability table from a symmetric Dirichlet "
                    f"distribution with parameter {value:g}"
                )
            case (("cpts" | "concentration"), _):
                continue
            case _:
                yield f"{key} = {value}"
