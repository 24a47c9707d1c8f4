"""The content of a study file: its sections read, and completed for its kind of study."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from simstudy.errors import KeyedError, refuse
from simstudy.experiments import DEFAULT, experiment, foreign_keys, is_known, names
from simstudy.study.error_messages import explain
from simstudy.study.sections import StudyFile

_OF_MODELS = ("models", "changes", "data", "thresholds")  # keys of one kind of study
_OF_DATA = ("resampling", "preparation")
_OF_DATASETS = "holm"  # the adjustment of a study of data sets


def read_sections(content: Any) -> StudyFile:
    """The sections of a study, their keys and types checked; raises `KeyedError`."""
    try:
        return StudyFile.model_validate_json(json.dumps(content, default=str))
    except ValidationError as error:
        key, message = explain(error, StudyFile)
        if key == "models" and error.errors()[0]["type"] == "greater_than_equal":
            message += " (models are the subjects of the ANOVA, which needs two)"
        raise KeyedError(key, message) from error


def check_kind(file: StudyFile) -> None:
    """Refuse a study without models and data sets, or with keys of the other kind."""
    if not is_known(file.compare):
        *first, last = map(repr, names())
        allowed = f"it must be one of {', '.join(first)} or {last}"
        raise KeyedError("compare", f"{json.dumps(file.compare)} is not allowed; {allowed}")
    of_data, of_models = bool(file.datasets), file.family is not None
    text = "a study needs a [family] of models, or [[datasets]]"
    refuse(not (of_models or of_data), "family", text)
    text = "a study has a [family] or [[datasets]], not both"
    refuse(of_models and of_data, "datasets", text)
    text = f'"{file.compare}" needs a [family], whose truth is known'
    refuse(of_data and file.compare != DEFAULT, "compare", text)
    for key, owners in foreign_keys(experiment(file.compare)).items():
        section, _, last = key.rpartition(".")
        stated = getattr(file, section) if section else file
        whose = " or ".join(f'"{name}"' for name in owners)
        text = f"this key is for studies with compare = {whose}"
        refuse(last in stated.model_fields_set, key, text)
    alien, whose = (_OF_MODELS, "models") if of_data else (_OF_DATA, "data sets")
    for key in alien:
        changed = key == "preparation" and file.changes  # by which values may be missing
        stated = key in file.model_fields_set and not changed
        refuse(stated, key, f"this key is for studies of {whose}")
    for index, learner in enumerate(file.learners):
        stated = learner.preparation is not None and not (of_data or file.changes)
        key = f"learners[{index}].preparation"
        refuse(stated, key, "this key is for studies of data sets")


def completed(file: StudyFile) -> StudyFile:
    """A study of data sets, or of another kind than of learners, with the defaults of its kind."""
    if file.datasets and "adjustment" not in file.analysis.model_fields_set:
        analysis = file.analysis.model_copy(update={"adjustment": _OF_DATASETS})
        return file.model_copy(update={"analysis": analysis})
    return experiment(file.compare).completed(file)
