"""The content of a study file: its sections read, and completed for its kind of study."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import Field, ValidationError

from simstudy.errors import KeyedError, refuse
from simstudy.experiments import DEFAULT, experiment, foreign_keys, is_known, names
from simstudy.study import sections
from simstudy.study.constants import MAX_MODELS
from simstudy.study.error_messages import explain

File = TypeVar("File", bound=sections.FileSection)
_OF_MODELS = ("models", "changes", "data", "thresholds")  # keys of one kind of study
_OF_DATA = ("resampling", "preparation")


class StudyFile(sections.FileSection):
    """A study file with no names looked up.

    Parameters
    ----------
    name
        The name of the study and of its results.
    title
        A title for reports.
    seed
        The seed of all random streams.
    models
        Number of models drawn; they are the subjects of the ANOVA.
    plugins
        Python files that register families, changes, learners or measures, relative to this file.
    compare
        What is compared: learners; measures, by how often they prefer the truly better of two
        learners; estimators of performance, by their errors; or tests of two learners, by how often
        they reject.
    keep_answers
        Whether the predicted probabilities are kept, for measures added later.
    estimators
        In a comparison of estimators: what is compared.
    tests
        In a comparison of tests: what is compared.
    """

    name: sections.Name
    title: str = ""
    seed: int = Field(default=1, ge=0)
    models: int = Field(default=40, ge=2, le=MAX_MODELS)
    plugins: list[str] = Field(default=[])
    compare: str = Field(default=DEFAULT, json_schema_extra={"enum": [*names()]})
    keep_answers: bool = False
    family: sections.NamedSection | None = None
    changes: list[sections.ChangeSection] = Field(default=[])
    data: sections.Data = sections.Data()
    datasets: list[sections.DataSetSection] = Field(default=[])
    resampling: sections.ResamplingSection = sections.ResamplingSection()
    preparation: sections.PreparationSection = sections.PreparationSection()
    learners: list[sections.LearnerSection] = Field(min_length=1)
    estimators: list[sections.TreatmentSection] = Field(default=[])
    tests: list[sections.TreatmentSection] = Field(default=[])
    measures: sections.MeasuresSection = sections.MeasuresSection()
    analysis: sections.Analysis = sections.Analysis()
    limits: sections.Limits = sections.Limits()
    thresholds: sections.Thresholds = sections.Thresholds()


def read_sections(content: Any, kind: type[File]) -> File:
    """The sections of a file of a kind, their keys and types checked; raises `KeyedError`."""
    try:
        return kind.model_validate_json(json.dumps(content, default=str))
    except ValidationError as error:
        key, message = explain(error, kind)
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
    on_data = experiment(file.compare).data_page_path
    refuse(of_data and not on_data, "compare", text)
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
        analysis = file.analysis.model_copy(update={"adjustment": "holm"})
        file = file.model_copy(update={"analysis": analysis})
    return experiment(file.compare).completed(file)
