"""What was studied, in words: the question, the design and the conventions of the measures."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.phrases import MAX_NAMED, all_sizes, count_range, listed, opening
from simstudy.study.constants import ROWS_BESIDE_EXACT
from simstudy.study.sizes import size_text
from simstudy.study.spec import Spec
from simstudy.study.study import Study
from simstudy.texts import counted

_FAMILIES = {"naive_bayes": "Naive Bayes", "tan": "TAN", "aode": "AODE", "kdb": "k-dependence"}


def question(study: Study, info: MeasureInfo) -> str:
    """The study's question in one sentence."""
    learners, sizes = study.labels, study.doses
    place = f"On random {_models(study)}"
    if study.compare == "measures":
        return f"{place}, {_which_measure(study, info)}"
    if study.compare in ("estimators", "tests"):
        return f"{place}, {_which_to_trust(study, info)}"
    after = f"after {all_sizes(sizes)} rows"
    if len(sizes) > MAX_NAMED + 1:
        after = f"after {sizes[0]:,} to {sizes[-1]:,} rows ({len(sizes)} sizes)"
    if len(learners) == 1:
        return f"{place}, how well does {learners[0]} predict, by {info.label}, {after}?"
    which = listed(learners) if len(learners) <= MAX_NAMED + 1 else f"{len(learners)} learners"
    cross = ", and where do they overtake each other" if len(sizes) > 1 else ""
    return f"{place}, which of {which} predicts best, by {info.label}, {after}{cross}?"


def _which_measure(study: Study, info: MeasureInfo) -> str:
    """The question of a comparison of measures."""
    labels, sizes = study.labels, study.doses
    which = listed(labels) if len(labels) <= MAX_NAMED + 1 else f"{len(labels)} measures"
    rows = f"{sizes[0]:,} to {sizes[-1]:,}" if len(sizes) > 1 else f"{sizes[0]:,}"
    return (
        f"which of {which} finds the better of two learners, judged by {info.label}, from {rows} "
        "test rows?"
    )


def _which_to_trust(study: Study, info: MeasureInfo) -> str:
    """The question of a comparison of estimators or of tests."""
    number, rows = len(study.labels), all_sizes(study.doses)
    if study.compare == "estimators":
        return (
            f"which of {number} estimators comes nearest to the exact value with {rows} rows "
            f"available, by {info.label}?"
        )
    return (
        f"how often does each of {number} tests reject with {rows} rows available, by {info.label}?"
    )


def aims(study: Study) -> str:
    """What the study is for."""
    labels, several = study.labels, len(study.doses) > 1
    if study.compare == "measures":
        more = ", and to see how that changes with the number of test rows" * several
        return (
            f"To compare {counted(len(labels), 'measure')} by how often each prefers the truly "
            f"better of two learners fitted to the same rows{more}."
        )
    if study.compare == "estimators":
        return (
            f"To compare {counted(len(labels), 'estimator')} of a learner's performance by how "
            "near they come to its exact value, and how often their intervals contain it."
        )
    if study.compare == "tests":
        return (
            f"To compare {counted(len(labels), 'test')} of two learners by how often each rejects: "
            "without a difference (type I error), and with one that is known (power)."
        )
    learn = "they learn" if len(labels) > 1 else "it learns"
    more = ", and to see how that changes with the number of training rows" * several
    return (
        f"To compare {counted(len(labels), 'learner')} by how near the class probabilities that "
        f"{learn} come to the truth{more}."
    )


def estimands(study: Study, info: MeasureInfo) -> str:
    """What is estimated."""
    unit = f" ({info.unit})" if info.unit else ""
    if study.compare == "measures":
        return (
            f"For every measure and test size: the mean, over the models of the family, of its "
            f"{info.label}{unit}: over all pairs of learners and {study.data.repeats} test sets, "
            "the share in which it prefers the learner that is better by the target, where a tie "
            "of the measure counts half and pairs that the target ties are left out. The loss is "
            "the mean of what the learner that it prefers lacks in the target. For every two "
            "measures and test size: the mean paired difference of the two."
        )
    if study.compare == "estimators":
        return (
            "For every estimator and number of rows available: the mean, over the models of the "
            f"family, of the {info.label}. The exact value is that of the classifier trained on "
            "the rows available or, as the second target, the mean over "
            f"{study.data.training_sets} training sets of as many rows. For every two estimators: "
            "the mean paired difference of the two."
        )
    if study.compare == "tests":
        return (
            "For every test and number of rows available: the share of data sets, of "
            f"{study.data.repeats} drawn from every model, on which it rejects at 5 %. Type I "
            "error: two copies of one learner, each fitted to 80 % of the training rows drawn for "
            "it at random; or one classifier asked about the rows and about others drawn from the "
            "same classes (mirrored), so that both have the same exact performance. Neither null "
            "has the effect of a training set that favours one of two learners in all splits at "
            "once, so these shares do not show that a test keeps its level between different "
            "learners. Power: two learners, where the test favours the one that is better by its "
            "exact value."
        )
    several = len(study.labels) > 1
    pairs = " For every two learners and training size: the mean paired difference of the two."
    change = (
        " For every two learners: the number of training rows at which that difference changes "
        "sign."
    )
    return (
        "For every learner and training size: the mean, over the models of the family, of its "
        f"{info.label}{unit} after training on a random set of that size."
        + pairs * several
        + change * (several and len(study.doses) > 1)
    )


def _models(study: Study) -> str:
    """The models of a family, with the number of variables if the family has it."""
    name = study.family.name
    text = f"{_FAMILIES[name]} models" if name in _FAMILIES else f"models of the family {name}"
    family = study.family.resolved
    bounds = family.get("variables", family.get("attributes"))
    if isinstance(bounds, list) and len(bounds) == 2:
        low, high = bounds
        text += f" of {low} variables" if low == high else f" of {low}–{high} variables"
    if study.changes:
        text += f", changed by {listed([change.name for change in study.changes])}"
    return text


def design(study: Study) -> str:
    """One sentence on what was run."""
    sizes = ", ".join(f"{size:,}" for size in study.data.train_sizes)
    test = _test(study.data.test_size)
    if study.compare == "tests":
        test = f"{study.data.repeats} data sets of each size; differences exact"
    if study.compare == "measures":
        doses = ", ".join(f"{size:,}" for size in study.doses)
        test = f"{study.data.repeats} test sets of {doses} rows each; targets exact"
    changed = f", changed by {'; then '.join(map(_change, study.changes))}" if study.changes else ""
    return (
        f"{study.models} models of the family {study.family.name}{changed}; training sets of "
        f"{sizes} rows; {test}; seed {study.seed}"
    )


def _change(change: Spec) -> str:
    """A change with its parameters."""
    given = [f"{key} = {_toml(value)}" for key, value in change.resolved.items()]
    return f"{change.name} ({', '.join(given)})" if given else change.name


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _test(size: int | str) -> str:
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
    return f"{sets}; {how}, {study.models:,} splits in all; seed {study.seed}"


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
    sizes = [size_text(size) for size in study.data.train_sizes]
    grown = f" Training sizes: {', '.join(sizes)}." if len(sizes) > 1 else ""
    return {
        "Splits": f"{opening(data_design(study))}; {kept}, unless a file gives the splits. All "
        f"learners get the same splits.{grown}",
        "Preparation": f"Fitted to each training part, for learners that do not take the values as "
        f"they are: {numbers}; {missing}.",
        "Random numbers": f"Seed {study.seed}. The splits are a function of the seed, the rows and "
        "the scheme.",
    }


def sections(study: Study, about: Callable[[str, str], str]) -> dict[str, str]:
    """How models and data were drawn, by subject; ``about`` has a line on a component."""
    data, family = study.data, study.family
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
        "Test data": _test_sets(study)
        if study.compare == "measures"
        else _test_section(data.test_size),
        "Random numbers": f"Seed {study.seed}. Every random stream is a function of the seed, the "
        "family, the number of the model and the purpose of the stream.",
    }


def _test_sets(study: Study) -> str:
    sizes = ", ".join(f"{size:,}" for size in study.doses)
    return (
        f"From every model {study.data.repeats} sets of each size ({sizes} rows), the same for all "
        "measures; each is the first rows of the next larger one. Targets are exact: expectations "
        "over all configurations of the variables."
    )


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


def _test_section(size: int | str) -> str:
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
