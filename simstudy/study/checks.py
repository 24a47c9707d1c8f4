"""Checks across the sections of a study."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simstudy.measures.base import keywords
from simstudy.sources.base import Family
from simstudy.study.constants import MAX_CONFIGURATIONS
from simstudy.study.explain import KeyedError
from simstudy.study.registry import FAMILIES, LEARNERS, MEASURES, UnknownNameError

if TYPE_CHECKING:
    from simstudy.study.study import Study


def check_study(study: Study) -> None:
    """Refuse a study with inconsistent sections: `KeyedError` with the key at fault."""
    _check_labels(study)
    _check_measures(study)
    _check_given_prior(study)
    _check_true_tree(study)
    _check_variables(study)
    _check_exact(study)


def _check_labels(study: Study) -> None:
    for index, label in enumerate(study.labels):
        if label in study.labels[:index]:
            raise KeyedError(
                f"learners[{index}].label",
                f"two learners have the label '{label}'; labels must differ",
            )


def _check_measures(study: Study) -> None:
    for key, name in _measure_keys(study):
        if study.measures.names.count(name) > 1:
            raise KeyedError(key, f"the measure '{name}' is named twice")
        try:
            MEASURES.get(name)
        except UnknownNameError as error:
            raise KeyedError(key, str(error)) from error


def _check_given_prior(study: Study) -> None:
    prior, values = study.measures.prior, study.family.resolved.get("values")
    if isinstance(prior, list) and values and {*values} != {len(prior)}:
        raise KeyedError(
            "measures.prior",
            f"a prior of {len(prior)} probabilities needs a target with as many values; "
            f"family.values = {list(values)}, not [{len(prior)}, {len(prior)}]",
        )


def _check_true_tree(study: Study) -> None:
    """Refuse the true tree if the family draws no trees; plugins are checked when drawn."""
    for index, learner in enumerate(study.learners):
        if learner.parameters.get("tree") != "true":
            continue
        family = FAMILIES.get(study.family.name)(**study.family.parameters)
        if isinstance(family, Family) and not family.draws_trees:
            raise KeyedError(
                f"learners[{index}].tree",
                '"true" needs models in which the target is a parent of every attribute and '
                "each attribute has at most one further parent; the family "
                f"'{study.family.name}' draws others",
            )


def _check_variables(study: Study) -> None:
    """Refuse models with more variables than a built-in learner can handle."""
    largest = _largest_model(study)
    for index, learner in enumerate(study.learners):
        if largest is None or not LEARNERS.is_own(learner.name):
            continue
        check = getattr(LEARNERS.get(learner.name)(**learner.parameters), "check_variables", None)
        try:
            if check is not None:
                check(largest[0])
        except ValueError as error:
            raise KeyedError(f"learners[{index}]", str(error)) from error


def _measure_keys(study: Study) -> list[tuple[str, str]]:
    """The key and name of each measure."""
    also = [(f"measures.also[{i}]", name) for i, name in enumerate(study.measures.also)]
    return [("measures.primary", study.measures.primary), *also]


def _check_exact(study: Study) -> None:
    exact = not isinstance(study.data.test_size, int)
    for key, name in _measure_keys(study):
        if (
            exact
            and not MEASURES.get(name).info.mean
            and (study.data.test_size == "exact" or key == "measures.primary")
        ):
            raise KeyedError(
                key,
                f"'{name}' is not a mean over rows, so it has no exact value; with it, "
                "data.test_size must be a number of rows",
            )
        if "limit" in keywords(MEASURES.get(name)):
            _check_configurations(study, key, f"'{name}' needs learners' limits, which go")
    if exact:
        _check_configurations(study, "data.test_size", f'"{study.data.test_size}" goes')


def _check_configurations(study: Study, key: str, subject: str) -> None:
    """Refuse evaluation over the joint distribution if it may be too large."""
    largest = _largest_model(study)
    if largest is None:
        return  # too large a model is refused when drawn
    variables, values = largest
    few = variables * math.log10(values) < 15
    number = values**variables if few else math.inf
    if number > MAX_CONFIGURATIONS:
        raise KeyedError(
            key,
            f"{subject} through all joint configurations of a model, up to "
            f"{MAX_CONFIGURATIONS:,}; models of {variables} variables with {values} values "
            f"have {f'{number:,}' if few else 'over 10^15'}",
        )


def _largest_model(study: Study) -> tuple[int, int] | None:
    """The most variables and values of a model; None if the family's keys may mean anything."""
    if not issubclass(FAMILIES.get(study.family.name), Family):
        return None
    family = study.family.resolved
    (_, variables), (_, values) = family.get("variables") or family["attributes"], family["values"]
    return variables, values
