"""The content of a study file: its sections read, and completed for its kind of study."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ValidationError

from simstudy.experiments import DEFAULT, experiment, foreign_keys, is_known, names
from simstudy.study.explain import KeyedError, explain
from simstudy.study.sections import (
    Analysis,
    Data,
    DataSetSection,
    Limits,
    MeasuresSection,
    PreparationSection,
    ResamplingSection,
    StudyFile,
    Thresholds,
)

_OF_MODELS = ("models", "changes", "data", "thresholds")  # keys of one kind of study
_OF_DATA = ("resampling", "preparation")
_OF_DATASETS = "holm"  # the adjustment of a study of data sets
_KINDS = (
    Data,
    MeasuresSection,
    Analysis,
    Limits,
    Thresholds,
    ResamplingSection,
    PreparationSection,
)
_SECTIONS: dict[str, type[BaseModel]] = {
    "": StudyFile,
    "datasets": DataSetSection,
    "learners.preparation": PreparationSection,
    **{section.__name__.removesuffix("Section").lower(): section for section in _KINDS},
}


def _known_keys(section: str) -> Iterable[str]:
    """The keys of a section, such as ``datasets[0]``."""
    return _SECTIONS[re.sub(r"\[\d+\]", "", section)].model_fields


def read_sections(content: Any) -> StudyFile:
    """The sections of a study, their keys and types checked; raises `KeyedError`."""
    try:
        given = StudyFile.model_validate_json(json.dumps(content, default=str))
    except ValidationError as error:
        key, message = explain(error, _known_keys)
        if key == "models" and error.errors()[0]["type"] == "greater_than_equal":
            message += " (models are the subjects of the ANOVA, which needs two)"
        raise KeyedError(key, message) from error
    return given


def check_kind(given: StudyFile) -> None:
    """Refuse a study without models and data sets, or with keys of the other kind."""
    if not is_known(given.compare):
        *others, last = map(repr, names())
        allowed = f"it must be one of {', '.join(others)} or {last}"
        raise KeyedError("compare", f"{json.dumps(given.compare)} is not allowed; {allowed}")
    if given.family is None and not given.datasets:
        raise KeyedError("family", "a study needs a [family] of models, or [[datasets]]")
    if given.datasets and given.family is not None:
        raise KeyedError("datasets", "a study has a [family] or [[datasets]], not both")
    if given.datasets and given.compare != DEFAULT:
        raise KeyedError("compare", f'"{given.compare}" needs a [family], whose truth is known')
    _check_keys(given)
    alien, whose = (_OF_MODELS, "models") if given.datasets else (_OF_DATA, "data sets")
    for key in alien:
        changed = key == "preparation" and given.changes  # by which values may be missing
        if key in given.model_fields_set and not changed:
            raise KeyedError(key, f"this key is for studies of {whose}")
    for index, learner in enumerate(given.learners):
        if learner.preparation is not None and not (given.datasets or given.changes):
            key = f"learners[{index}].preparation"
            raise KeyedError(key, "this key is for studies of data sets")


def _check_keys(given: StudyFile) -> None:
    """Refuse the keys of other kinds of studies."""
    for key, owners in foreign_keys(experiment(given.compare)).items():
        section, _, last = key.rpartition(".")
        stated = getattr(given, section) if section else given
        if last in stated.model_fields_set:
            whose = " or ".join(f'"{name}"' for name in owners)
            raise KeyedError(key, f"this key is for studies with compare = {whose}")


def completed(given: StudyFile) -> StudyFile:
    """A study of data sets, or of another kind than of learners, with the defaults of its kind."""
    if given.datasets and "adjustment" not in given.analysis.model_fields_set:
        analysis = given.analysis.model_copy(update={"adjustment": _OF_DATASETS})
        return given.model_copy(update={"analysis": analysis})
    return experiment(given.compare).completed(given)
