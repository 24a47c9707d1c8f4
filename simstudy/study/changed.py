"""Checks of the changes of a study: what they allow, and how large models become."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from simstudy.measures.base import keywords
from simstudy.sources.base import Family
from simstudy.sources.changes.base import Change, Extent
from simstudy.sources.changes.world import World
from simstudy.study.explain import KeyedError
from simstudy.study.measured import measure_keys
from simstudy.study.registry import (
    CHANGES,
    FAMILIES,
    LEARNERS,
    MEASURES,
    knows_model,
    makes_missing,
)
from simstudy.study.resolving import refusal
from simstudy.study.spec import Spec, build

if TYPE_CHECKING:
    from simstudy.study.study import Study


def check_changes(study: Study, family: Family | None) -> None:
    """Refuse changes that do not fit the study: `KeyedError` with the key at fault."""
    if study.changes and not study.experiment.keeps_answers:
        raise KeyedError(
            "changes", f'changes are for studies of learners, not for compare = "{study.compare}"'
        )
    _check_missing(study)
    if family is None or not FAMILIES.is_own(study.source.name):
        return  # another family may draw anything
    extent_of(study, family)
    if study.changes:
        _try_out(study, family)


def extent_of(study: Study, family: Family) -> Extent:
    """How large models may be after all changes."""
    cards = None if family.card_limits is None else tuple(family.card_limits)
    (fewest, most), (least, largest) = family.variables, family.values
    extent = Extent((fewest, most), (least, largest), family.class_range, cards)
    for index, spec in enumerate(study.changes):
        change = build(CHANGES, spec)
        if isinstance(change, Change):
            try:
                extent = change.extent(extent)
            except ValueError as error:
                raise KeyedError(f"changes[{index}]", refusal(error)) from error
    return extent


def without_trees(study: Study) -> str:
    """Which change makes models that are no trees, as the subject of a sentence; or empty."""
    made = [(one.name, build(CHANGES, one)) for one in study.changes]
    others = [name for name, change in made if not getattr(change, "keeps_trees", True)]
    return f"the change '{others[0]}' makes" if others else ""


def _try_out(study: Study, family: Family) -> None:
    """Change a model of the family, to find attributes that are not there and the like."""
    rng = np.random.default_rng(study.seed)
    try:
        world = World.of(family.draw(rng))
    except (ValueError, MemoryError):
        return  # refused with a better reason when the study is run
    for index, spec in enumerate(study.changes):
        try:
            world = build(CHANGES, spec).apply(world, rng)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # a plugin may raise anything
            raise KeyedError(f"changes[{index}]", refusal(error)) from error


def _check_missing(study: Study) -> None:
    """Refuse what missing values do not allow, and their preparation where there are none."""
    makers = [index for index, one in enumerate(study.changes) if makes_missing([one.name])]
    if not makers:
        own = [i for i, one in enumerate(study.learners) if one.stated_preparation is not None]
        if own or (study.changes and study.preparation.model_fields_set):
            key = f"learners[{own[0]}].preparation" if own else "preparation"
            raise KeyedError(key, "no change of this study makes values missing")
        return
    key, name = f"changes[{makers[0]}]", study.changes[makers[0]].name
    if not isinstance(study.data.test_size, int):
        raise KeyedError(
            key,
            f"'{name}' makes values missing, and exact evaluation would go through all patterns of "
            "them; data.test_size must be a number of rows",
        )
    for where, measure in zip(measure_keys(study.measures), study.measures.names, strict=True):
        if "limit" in keywords(MEASURES.get(measure)):
            raise KeyedError(
                where, f"'{measure}' needs learners' limits, which do not exist with '{name}'"
            )
    for index, spec in enumerate(study.learners):
        _check_learner(study, index, spec, name)


def _check_learner(study: Study, index: int, spec: Spec, change: str) -> None:
    """Refuse a learner that takes no missing values, if they are left to it."""
    from simstudy.study.datasets import prepared_for  # which imports all that reads data

    learner = build(LEARNERS, spec)
    preparation, accepts = prepared_for(spec, study.preparation, learner)
    if not knows_model(learner) and "missing" not in accepts and preparation.missing == "ignore":
        raise KeyedError(
            f"learners[{index}]",
            f"'{spec.label}' takes no missing values, which '{change}' makes; set "
            'preparation.missing = "mode" or "value"',
        )
