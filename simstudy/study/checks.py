"""Checks across the sections of a study: measures, learners, changes, and how large models become.

Each raises a `KeyedError` with the key at fault.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from simstudy.components import registry
from simstudy.components.registry import CHANGES, LEARNERS, MEASURES, Spec, build, knows_model
from simstudy.data.preparation.prepare import Preparation
from simstudy.data.sizes import Size
from simstudy.errors import KeyedError, refuse, refused_at
from simstudy.experiments import DEFAULT
from simstudy.measures.base import has_exact_value, keywords
from simstudy.measures.positive_class import class_numbers
from simstudy.measures.theory.two_level import level_names
from simstudy.sources.changes.base import Change, Extent
from simstudy.sources.changes.world import World
from simstudy.sources.families.base import Family
from simstudy.study.components import check_parameters
from simstudy.study.constants import MAX_CONFIGURATIONS
from simstudy.study.sections import PreparationSection

if TYPE_CHECKING:
    from simstudy.learners.base import Learner
    from simstudy.study.study import Study

_Range: TypeAlias = tuple[int, int]
_MAX_DIGITS = 10  # of the number of probabilities of a model: 80 GB
_OF_TRUTH = {"truth", "oracle", "limit"}  # what measures may need


def check_study(study: Study) -> None:
    """Refuse a study with inconsistent sections."""
    _check_labels("learners", study.learners)
    names = study.columns
    for name in names:
        text = f"two scores would be named '{name}'; give learners or measures different labels"
        refuse(names.count(name) > 1, "learners", text)
    _check_fit(study, study.measures.keyed, study.measured)
    text = f"a comparison of {study.compare} does not keep predictions"
    refuse(study.keep_answers and not study.experiment.keeps_answers, "keep_answers", text)
    if not study.source.knows_truth:
        _check_no_truth(study)
    if study.datasets:
        _check_data(study)
        study.experiment.check(study)
        return
    _check_prior(study)
    _check_true_tree(study)
    _check_changes(study)
    study.experiment.check(study)
    _check_tables(study)
    _check_learners(study)


def _check_labels(key: str, specs: Sequence[Spec]) -> None:
    labels = [spec.label for spec in specs]
    for index, label in enumerate(labels):
        text = f"two {key} have the label '{label}'; labels must differ"
        refuse(label in labels[:index], f"{key}[{index}].label", text)


def _check_fit(study: Study, keys: Iterable[str], measures: Iterable[Spec]) -> None:
    """Refuse parameters of measures that do not fit the classes of a model or data set."""
    classes = [table.sample.class_names for table in study.tables]
    if not study.datasets and (family := _usual_family(study)):
        least, most = family.class_range  # models with each possible number of classes
        classes = [class_numbers(number) for number in range(least, most + 1)]
    for key, spec in zip(keys, measures, strict=True):
        for names in classes:
            check_parameters(key, spec, names, study.measures.positive)


def _check_no_truth(study: Study) -> None:
    """Refuse experiments, measures, priors and learners that need a truth."""
    without = f"the truth of a {study.source.unit} is not known"
    for key, section in study.measures.keyed.items():
        text = f"'{section.name}' compares predictions with the truth, and {without}"
        refuse(keywords(MEASURES.get(section.name)) & _OF_TRUTH, key, text)
    prior, experiment = study.measures.prior, study.experiment
    refuse(prior == "true", "measures.prior", f'"true" is not possible: {without}')
    possible = study.compare == DEFAULT or (study.datasets and experiment.data_page_path)
    refuse(not possible, "compare", f'"{study.compare}" needs a truth, and {without}')
    for index, spec in enumerate(study.learners):
        informed = knows_model(build(LEARNERS, spec)) or spec.parameters.get("tree") == "true"
        refuse(informed, f"learners[{index}]", f"'{spec.name}' receives the truth; {without}")


def _check_data(study: Study) -> None:
    """Refuse priors that do not fit, and learners that could not take the rows as prepared."""
    prior = study.measures.prior
    for table in study.tables:
        classes = table.sample.classes
        if isinstance(prior, list) and len(prior) != classes:
            text = f"does not fit '{table.name}', which has {classes} classes"
            raise KeyedError("measures.prior", f"a prior of {len(prior)} probabilities {text}")
    for index, spec in enumerate(study.learners):
        learner = build(LEARNERS, spec)
        preparation, accepts = prepared_for(spec, study.preparation, learner)
        for table in study.tables:
            cards = [card or 2 for card in table.sample.cards]  # a number has two bins or more
            sizes = [Size.stored(size).rows(table.least_rows) for size in study.train_sizes]
            classes, number = table.sample.classes, len(cards)
            extent = Extent((number, number), (min(cards), max(cards)), (classes, classes))
            with refused_at(f"learners[{index}]", f"on '{table.name}', "):
                preparation.check(table.sample, accepts, f"'{spec.label}'")
                _check_design(learner, extent, sizes)


def _check_design(learner: Learner, extent: Extent, sizes: Sequence[int]) -> None:
    """Have a learner refuse designs in which it must fail."""
    if hasattr(learner, "check_design"):
        learner.check_design(extent.variables, _all_values(extent.values, extent.classes), sizes)
    if hasattr(learner, "check_classes"):
        learner.check_classes(*extent.classes)


def prepared_for(
    spec: Spec, of_study: PreparationSection, learner: Learner
) -> tuple[Preparation, frozenset[str]]:
    """How rows are prepared for a learner, and what it is then taken to accept.

    What the learner's section asks for is done even if the learner does not need it.
    """
    stated = spec.stated_preparation
    preparation = Preparation(**(of_study.model_dump() if stated is None else stated))
    accepts: frozenset[str] = getattr(learner, "accepts", frozenset())
    if (stated or {}).get("discretize", "none") != "none":
        accepts -= {"numeric"}
    if (stated or {}).get("missing", "ignore") != "ignore":
        accepts -= {"missing"}
    return preparation, accepts


def _check_prior(study: Study) -> None:
    prior, family = study.measures.prior, _usual_family(study)
    if not isinstance(prior, list) or family is None:
        return  # too few or too many probabilities are refused when a model is drawn
    number, key = len(prior), "values" if family.classes is None else "classes"
    text = f"a prior of {number} probabilities needs a target with as many values; "
    text += f"family.{key} = {list(family.class_range)}, not [{number}, {number}]"
    refuse({*family.class_range} != {number}, "measures.prior", text)


def _check_true_tree(study: Study) -> None:
    """Refuse the true tree if the family draws no trees; plugins are checked when drawn."""
    family = _usual_family(study)
    asking = [i for i, spec in enumerate(study.learners) if spec.parameters.get("tree") == "true"]
    if family is None or not asking:
        return
    makers = [f"the family '{study.source.name}' draws"] * (not family.draws_trees)
    for spec in study.changes:
        if not getattr(build(CHANGES, spec), "keeps_trees", True):
            makers.append(f"the change '{spec.name}' produces")
    if makers:
        text = '"true" needs models in which the target is a parent of every attribute and each '
        text += f"attribute has at most one further parent; {makers[0]} other models"
        raise KeyedError(f"learners[{asking[0]}].tree", text)


def check_exact(study: Study) -> None:
    """Refuse measures without an exact value, and too many configurations to evaluate exactly."""
    size = study.data.test_size
    for key, section in study.measures.keyed.items():
        measure = MEASURES.get(section.name)
        needed = size == "exact" or (size == "both" and key == "measures.primary")
        text = f"'{section.name}' is not a mean over rows and takes no weights, so it has no exact "
        text += "value; with it, data.test_size must be a number of rows"
        refuse(needed and not has_exact_value(measure), key, text)
        if "limit" in keywords(measure):
            subject = f"'{section.name}' needs learners' limits, which enumerate"
            _check_configurations(study, key, subject)
    if not isinstance(size, int):
        _check_configurations(study, "data.test_size", f'"{size}" enumerates')


def check_judged(study: Study) -> None:
    """Refuse a comparison of measures without pairs of learners, or without a truth for them."""
    text = "a comparison of measures needs at least two learners"
    refuse(len(study.learners) < 2, "learners", text)
    sizes = len(study.data.train_sizes)
    text = f"has one training size, not {sizes}; to compare sizes, use a list of studies"
    refuse(sizes > 1, "data.train_sizes", f"a comparison of measures {text}")
    _check_needs(study, "rows of a test set")
    for key, spec in zip(study.measures.keyed_targets, study.targets, strict=True):
        measure = MEASURES.get(spec.name)
        text = f"'{spec.name}' has no exact value, so it cannot be a target"
        refuse(not has_exact_value(measure), key, text)
        for need in sorted(keywords(measure) & {"limit", "message"}):
            text = f"'{spec.name}' needs {need!r}, which is not available to targets"
            raise KeyedError(key, text)
    _check_fit(study, study.measures.keyed_targets, study.targets)
    _check_configurations(study, "compare", '"measures" enumerates')


def check_estimated(study: Study) -> None:
    """Refuse a comparison of estimators or tests with nothing to compare or to estimate."""
    text = f"a comparison of {study.compare} needs at least one {study.experiment.treatment}"
    refuse(not study.treatments, study.compare, text)
    _check_labels(study.compare, study.treatments)
    for index, learner in enumerate(study.learners):
        text = f"'{learner.name}' receives the truth and is not fitted to rows"
        refuse(knows_model(LEARNERS.get(learner.name)), f"learners[{index}].name", text)
    _check_needs(study, "rows available")
    for key, section in study.measures.keyed.items():
        text = f"'{section.name}' has no exact value to compare estimates with"
        refuse(not has_exact_value(MEASURES.get(section.name)), key, text)
    _check_configurations(study, "compare", f'"{study.compare}" enumerates')


def check_estimated_data(study: Study) -> None:
    """Refuse estimates that rows do not allow, and splits, which estimators make themselves."""
    _check_labels(study.compare, study.treatments)
    _check_needs(study, "rows available")
    for key in sorted(study.resampling.model_fields_set - {"sizes"}):
        stated = getattr(study.resampling, key) is not None
        refuse(stated, f"resampling.{key}", "estimators split the rows themselves; state theirs")


def _check_needs(study: Study, rows: str) -> None:
    """Refuse measures that need more than rows."""
    for key, section in study.measures.keyed.items():
        for name in level_names(section.name):
            for need in sorted(keywords(MEASURES.get(name)) & {*_OF_TRUTH, "message"}):
                raise KeyedError(key, f"'{name}' needs {need!r}, which the {rows} do not provide")


def _check_tables(study: Study) -> None:
    """Refuse models whose probability tables exceed any memory."""
    family = _built_in_family(study)
    if family is None or family.card_limits is not None or family.max_parents is None:
        return  # existing tables fit into memory; others are unknown
    variables, values = family.variables[1], _all_values(family.values, family.class_range)[1]
    digits = math.log10(variables) + (family.max_parents + 1) * math.log10(values)
    text = f"models of {variables:,} variables with {values:,} values and {family.max_parents} "
    text += f"parents each have about 10^{digits:.0f} probabilities; at most 10^{_MAX_DIGITS} are "
    refuse(digits > _MAX_DIGITS, "family", f"{text}possible")


def _check_learners(study: Study) -> None:
    """Refuse learners that are known to fail in this design, or to lack the primary measure."""
    family = _built_in_family(study)
    primary = level_names(study.measured[0].name)[0]
    limited = "limit" in keywords(MEASURES.get(primary))
    for index, spec in enumerate(study.learners):
        with refused_at(f"learners[{index}]"):
            learner = build(LEARNERS, spec)
            if limited and (reason := registry.no_limit(learner)):
                raise ValueError(f"{reason}, as '{primary}' needs; choose another measures.primary")
            if limited and getattr(learner, "takes_weights", True) is False:
                text = f"'{primary}' needs learners that accept row weights, and '{spec.name}' has "
                raise ValueError(f"{text}no sample_weight; choose another measures.primary")
            if family is not None:
                _check_design(learner, _extent(study, family), study.data.train_sizes)


def _check_configurations(study: Study, key: str, subject: str) -> None:
    """Refuse evaluation over the joint distribution if it may be too large."""
    family = _usual_family(study)
    if family is None:
        return  # too large a model is refused when drawn
    extent = _extent(study, family)
    variables, values = extent.variables[1], extent.values[1]
    few_variables = min(variables, 100)  # more have too many configurations anyway
    sizes = extent.cards or [*([values] * (few_variables - 1)), extent.classes[1]]
    few = sum(map(math.log10, sizes)) < 15
    number = math.prod(sizes) if few else math.inf
    text = f"{subject} all joint configurations of a model, at most {MAX_CONFIGURATIONS:,}; models "
    text += f"of {variables} variables with {values} values have "
    refuse(number > MAX_CONFIGURATIONS, key, text + (f"{number:,}" if few else "over 10^15"))


def _all_values(*ranges: _Range) -> _Range:
    """The range of the numbers of values of all variables, the target included."""
    return min(least for least, _ in ranges), max(most for _, most in ranges)


def _usual_family(study: Study) -> Family | None:
    """The family, if its keys have the meaning of those of the built-in ones."""
    cls = registry.FAMILIES.get(study.demanded_family.name)
    return build(registry.FAMILIES, study.demanded_family) if issubclass(cls, Family) else None


def _built_in_family(study: Study) -> Family | None:
    """The family, if it is built in; a third-party family may draw anything."""
    return _usual_family(study) if registry.FAMILIES.is_own(study.source.name) else None


def _check_changes(study: Study) -> None:
    """Refuse changes that do not fit the study."""
    text = f'changes are for studies of learners, not for compare = "{study.compare}"'
    refuse(study.changes and not study.experiment.keeps_answers, "changes", text)
    _check_missing(study)
    family = _built_in_family(study)
    if family is None or not study.changes:
        return
    _extent(study, family)
    rng = np.random.default_rng(study.seed)
    try:
        world = World.of(family.draw(rng))
    except (ValueError, MemoryError):
        return  # refused with a better reason when the study is run
    for index, spec in enumerate(study.changes):  # finds missing attributes and the like
        with refused_at(f"changes[{index}]"):
            world = build(CHANGES, spec).apply(world, rng)


def _extent(study: Study, family: Family) -> Extent:
    """How large models may be after all changes."""
    cards = None if family.card_limits is None else tuple(family.card_limits)
    (fewest, most), (least, largest) = family.variables, family.values
    extent = Extent((fewest, most), (least, largest), family.class_range, cards)
    for index, spec in enumerate(study.changes):
        change = build(CHANGES, spec)
        if isinstance(change, Change):
            with refused_at(f"changes[{index}]"):
                extent = change.extent(extent)
    return extent


def _check_missing(study: Study) -> None:
    """Refuse what missing values do not allow, and their preparation where there are none."""
    makers = [i for i, spec in enumerate(study.changes) if registry.makes_missing([spec.name])]
    if not makers:
        asking = [i for i, spec in enumerate(study.learners) if spec.stated_preparation is not None]
        key = f"learners[{asking[0]}].preparation" if asking else "preparation"
        stated = asking or (study.changes and study.preparation.model_fields_set)
        return refuse(stated, key, "no change in this study creates missing values")
    change = study.changes[makers[0]].name
    text = f"'{change}' creates missing values, and exact evaluation would enumerate all patterns "
    text += "of them; data.test_size must be a number of rows"
    refuse(not isinstance(study.data.test_size, int), f"changes[{makers[0]}]", text)
    for key, section in study.measures.keyed.items():
        text = f"'{section.name}' needs learners' limits, which do not exist with '{change}'"
        refuse("limit" in keywords(MEASURES.get(section.name)), key, text)
    for index, spec in enumerate(study.learners):
        learner = build(LEARNERS, spec)
        preparation, accepts = prepared_for(spec, study.preparation, learner)
        copes = knows_model(learner) or "missing" in accepts or preparation.missing != "ignore"
        text = f"'{spec.label}' does not accept missing values, which '{change}' creates; set "
        refuse(not copes, f"learners[{index}]", text + 'preparation.missing = "mode" or "value"')
