"""Checks across the sections of a study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from simstudy.experiments import DEFAULT
from simstudy.measures.arguments import class_numbers
from simstudy.measures.base import has_exact_value, keywords
from simstudy.measures.two_level import level_names
from simstudy.sources.base import Family
from simstudy.sources.changes.base import Extent
from simstudy.study.changed import check_changes, extent_of, without_trees
from simstudy.study.constants import MAX_CONFIGURATIONS
from simstudy.study.explain import KeyedError
from simstudy.study.measured import check_parameters, measure_keys, target_keys
from simstudy.study.registry import FAMILIES, LEARNERS, MEASURES, knows_model, no_limit
from simstudy.study.resolving import refusal
from simstudy.study.sizes import Size
from simstudy.study.spec import build

if TYPE_CHECKING:
    from simstudy.learners.base import Learner
    from simstudy.sources.tables import DataSet
    from simstudy.study.study import Study

_Range: TypeAlias = tuple[int, int]
_MAX_DIGITS = 10  # of the number of probabilities of a model: 80 GB


def check_study(study: Study) -> None:
    """Refuse a study with inconsistent sections: `KeyedError` with the key at fault."""
    _check_labels(study)
    _check_columns(study)
    _check_measures(study)
    if study.keep_answers and not study.experiment.keeps_answers:
        text = f"a comparison of {study.compare} keeps no predictions of learners on one test set"
        raise KeyedError("keep_answers", text)
    if study.datasets:
        _check_data(study)
        return
    if not study.source.knows_truth:
        _check_no_truth(study)
    _check_given_prior(study)
    _check_true_tree(study)
    check_changes(study, _own_kind(study))
    study.experiment.check(study)
    _check_tables(study)
    _check_learners(study)


def _check_labels(study: Study) -> None:
    labels = [learner.label for learner in study.learners]
    for index, label in enumerate(labels):
        if label in labels[:index]:
            raise KeyedError(
                f"learners[{index}].label",
                f"two learners have the label '{label}'; labels must differ",
            )


def _check_columns(study: Study) -> None:
    """Refuse labels that give two scores one name."""
    names = study.columns
    if twice := [name for name in names if names.count(name) > 1]:
        text = f"two scores would be named '{twice[0]}'; give learners or measures other labels"
        raise KeyedError("learners", text)


def _check_measures(study: Study) -> None:
    """Refuse parameters of measures that do not fit the classes of a model or data set."""
    for key, spec in zip(measure_keys(study.measures), study.measured, strict=True):
        for names in _classes(study):
            check_parameters(key, spec, names, study.measures.positive)


def _classes(study: Study) -> list[Sequence[str]]:
    """The classes of each data set, or of models with each possible number of them, if known."""
    if study.datasets:
        return [table.sample.class_names for table in study.tables]
    family = _own_kind(study)
    if family is None:
        return []
    least, most = family.class_range
    return [class_numbers(number) for number in range(least, most + 1)]


def _check_no_truth(study: Study) -> None:
    """Refuse experiments, measures, priors and learners that need a truth."""
    without = f"the truth of a {study.source.unit} is not known"
    for key, name in _measure_names(study):
        if keywords(MEASURES.get(name)) & {"truth", "oracle", "limit"}:
            raise KeyedError(key, f"'{name}' compares predictions with the truth, and {without}")
    if study.measures.prior == "true":
        raise KeyedError("measures.prior", f'"true" is not possible: {without}')
    if study.compare != DEFAULT:
        raise KeyedError("compare", f'"{study.compare}" needs a truth, and {without}')
    for index, spec in enumerate(study.learners):
        if knows_model(build(LEARNERS, spec)) or spec.parameters.get("tree") == "true":
            raise KeyedError(f"learners[{index}]", f"'{spec.name}' is given the truth; {without}")


def _check_data(study: Study) -> None:
    """Refuse what needs a truth, and learners that could not take the rows as prepared."""
    from simstudy.study.datasets import prepared_for

    _check_no_truth(study)
    prior = study.measures.prior
    for table in study.tables:
        classes = table.sample.classes
        if isinstance(prior, list) and len(prior) != classes:
            raise KeyedError(
                "measures.prior",
                f"a prior of {len(prior)} probabilities does not fit '{table.name}', which has "
                f"{classes} classes",
            )
    for index, spec in enumerate(study.learners):
        learner = build(LEARNERS, spec)
        preparation, accepts = prepared_for(spec, study.preparation, learner)
        for table in study.tables:
            try:
                preparation.check(table.sample, accepts, f"'{spec.label}'")
                _check_design(learner, *_ranges(table), _training_rows(study, table))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # a plugin may raise anything
                text = f"on '{table.name}', {refusal(error)}"
                raise KeyedError(f"learners[{index}]", text) from error


def _check_design(
    learner: Learner, variables: _Range, values: _Range, classes: _Range, sizes: Sequence[int]
) -> None:
    """Have a learner refuse designs in which it must fail."""
    if hasattr(learner, "check_design"):
        learner.check_design(variables, values, sizes)
    if hasattr(learner, "check_classes"):
        learner.check_classes(*classes)


def _ranges(table: DataSet) -> tuple[_Range, _Range, _Range]:
    """The ranges of the numbers of variables, of values and of classes; a number has two bins."""
    cards, classes = [card or 2 for card in table.sample.cards], table.sample.classes
    return (len(cards), len(cards)), (min(cards), max(cards)), (classes, classes)


def _training_rows(study: Study, table: DataSet) -> list[int]:
    """The rows of the smallest training part at each size."""
    return [Size.stored(size).rows(table.least_rows) for size in study.train_sizes]


def _check_given_prior(study: Study) -> None:
    prior, family = study.measures.prior, _own_kind(study)
    if not isinstance(prior, list) or family is None:
        return  # too few or too many probabilities are refused when a model is drawn
    classes = family.class_range
    if {*classes} != {len(prior)}:
        key = "classes" if family.classes is not None else "values"
        raise KeyedError(
            "measures.prior",
            f"a prior of {len(prior)} probabilities needs a target with as many values; "
            f"family.{key} = {list(classes)}, not [{len(prior)}, {len(prior)}]",
        )


def _check_true_tree(study: Study) -> None:
    """Refuse the true tree if the family draws no trees; plugins are checked when drawn."""
    for index, learner in enumerate(study.learners):
        if learner.parameters.get("tree") != "true":
            continue
        family = build(FAMILIES, study.demanded_family)
        whose = f"the family '{study.demanded_family.name}' draws"
        if isinstance(family, Family) and family.draws_trees:
            whose = without_trees(study)
        if whose and isinstance(family, Family):
            raise KeyedError(
                f"learners[{index}].tree",
                '"true" needs models in which the target is a parent of every attribute and '
                "each attribute has at most one further parent; "
                f"{whose} others",
            )


def _measure_names(study: Study) -> list[tuple[str, str]]:
    """The key and name of each measure."""
    return [*zip(measure_keys(study.measures), study.measures.names, strict=True)]


def check_exact(study: Study) -> None:
    """Refuse measures without an exact value, and too many configurations to evaluate exactly."""
    exact = not isinstance(study.data.test_size, int)
    for key, name in _measure_names(study):
        if (
            exact
            and not has_exact_value(MEASURES.get(name))
            and (study.data.test_size == "exact" or key == "measures.primary")
        ):
            raise KeyedError(
                key,
                f"'{name}' is not a mean over rows and takes no weights, so it has no exact "
                "value; with it, data.test_size must be a number of rows",
            )
        if "limit" in keywords(MEASURES.get(name)):
            _check_configurations(study, key, f"'{name}' needs learners' limits, which go")
    if exact:
        _check_configurations(study, "data.test_size", f'"{study.data.test_size}" goes')


def check_judged(study: Study) -> None:
    """Refuse a comparison of measures without pairs of learners, or without a truth for them."""
    if len(study.learners) < 2:
        raise KeyedError("learners", "a comparison of measures needs at least two learners")
    if len(sizes := study.data.train_sizes) > 1:
        raise KeyedError(
            "data.train_sizes",
            f"a comparison of measures has one training size, not {len(sizes)}; compare sizes by "
            "a list of studies",
        )
    for key, name in _measure_names(study):
        for level in level_names(name):
            if needs := keywords(MEASURES.get(level)) & {"truth", "oracle", "limit", "message"}:
                raise KeyedError(
                    key, f"'{level}' needs {min(needs)!r}, which the rows of a test set do not give"
                )
    for key, spec in zip(target_keys(study.measures), study.targets, strict=True):
        measure = MEASURES.get(spec.name)
        if not has_exact_value(measure):
            raise KeyedError(key, f"'{spec.name}' has no exact value, so it cannot be a target")
        if needs := keywords(measure) & {"limit", "message"}:
            raise KeyedError(key, f"'{spec.name}' needs {min(needs)!r}, which targets do not get")
        for names in _classes(study):
            check_parameters(key, spec, names, study.measures.positive)
    _check_configurations(study, "compare", '"measures" goes')


def check_estimated(study: Study) -> None:
    """Refuse a comparison of estimators or tests with nothing to compare or to estimate."""
    treatments = study.treatments
    if not treatments:
        one = study.experiment.treatment
        raise KeyedError(study.compare, f"a comparison of {study.compare} needs at least one {one}")
    labels = [spec.label for spec in treatments]
    for index, label in enumerate(labels):
        if label in labels[:index]:
            key, what = f"{study.compare}[{index}].label", study.compare
            raise KeyedError(key, f"two {what} have the label '{label}'; labels must differ")
    for index, learner in enumerate(study.learners):
        if knows_model(LEARNERS.get(learner.name)):
            key = f"learners[{index}].name"
            raise KeyedError(key, f"'{learner.name}' is given the truth and fits no rows")
    for key, name in _measure_names(study):
        measure = MEASURES.get(name)
        if needs := keywords(measure) & {"truth", "oracle", "limit", "message"}:
            text = f"'{name}' needs {min(needs)!r}, which the rows available do not give"
            raise KeyedError(key, text)
        if not has_exact_value(measure):
            raise KeyedError(key, f"'{name}' has no exact value to compare estimates with")
    _check_configurations(study, "compare", f'"{study.compare}" goes')


def _check_tables(study: Study) -> None:
    """Refuse models whose probability tables exceed any memory."""
    family = _own_family(study)
    if family is None:
        return
    (_, variables), (_, values) = family.variables, _all_values(family)
    if family.card_limits is not None or family.max_parents is None:
        return  # tables that are there fit into memory; others are not known
    digits = math.log10(variables) + (family.max_parents + 1) * math.log10(values)
    if digits > _MAX_DIGITS:
        raise KeyedError(
            "family",
            f"models of {variables:,} variables with {values:,} values and {family.max_parents} "
            f"parents each have about 10^{digits:.0f} probabilities; at most 10^{_MAX_DIGITS} are "
            "possible",
        )


def _check_learners(study: Study) -> None:
    """Refuse learners that are known to fail in this design, or to lack the primary measure."""
    family = _own_family(study)
    primary = level_names(study.measures.names[0])[0]
    limited = "limit" in keywords(MEASURES.get(primary))
    for index, spec in enumerate(study.learners):
        try:
            learner = build(LEARNERS, spec)
            if limited and (reason := no_limit(learner)):
                raise ValueError(f"{reason}, as '{primary}' needs; choose another measures.primary")
            if limited and getattr(learner, "takes_weights", True) is False:
                raise ValueError(
                    f"'{primary}' needs learners that accept weights of rows, and "
                    f"'{spec.name}' has no sample_weight; choose another measures.primary"
                )
            if family is not None:
                extent, sizes = extent_of(study, family), study.data.train_sizes
                values, classes = _all_values(extent), extent.classes
                _check_design(learner, extent.variables, values, classes, sizes)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a plugin may raise anything
            raise KeyedError(f"learners[{index}]", refusal(error)) from error


def _check_configurations(study: Study, key: str, subject: str) -> None:
    """Refuse evaluation over the joint distribution if it may be too large."""
    family = _own_kind(study)
    if family is None:
        return  # too large a model is refused when drawn
    extent = extent_of(study, family)
    variables, values, classes = extent.variables[1], extent.values[1], extent.classes[1]
    few_variables = min(variables, 100)  # more have too many configurations anyway
    sizes = extent.cards or [*([values] * (few_variables - 1)), classes]
    few = sum(map(math.log10, sizes)) < 15
    number = math.prod(sizes) if few else math.inf
    if number > MAX_CONFIGURATIONS:
        raise KeyedError(
            key,
            f"{subject} through all joint configurations of a model, up to "
            f"{MAX_CONFIGURATIONS:,}; models of {variables} variables with {values} values "
            f"have {f'{number:,}' if few else 'over 10^15'}",
        )


def _all_values(of: Family | Extent) -> _Range:
    """The range of the numbers of values of all variables, the target included."""
    both = (of.values, of.class_range if isinstance(of, Family) else of.classes)
    return min(least for least, _ in both), max(most for _, most in both)


def _own_family(study: Study) -> Family | None:
    """The family, if it is built in with the usual keys; another one may draw anything."""
    return _own_kind(study) if FAMILIES.is_own(study.source.name) else None


def _own_kind(study: Study) -> Family | None:
    """The family, if its keys have the meaning of those of the built-in ones."""
    cls = FAMILIES.get(study.demanded_family.name)
    return build(FAMILIES, study.demanded_family) if issubclass(cls, Family) else None
