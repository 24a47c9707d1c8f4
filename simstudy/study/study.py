"""A study: the validated content of one TOML file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simstudy.errors import SimstudyError
from simstudy.experiments import DEFAULT, experiment, foreign_keys, names
from simstudy.experiments.base import Experiment
from simstudy.sources.models import Models
from simstudy.sources.source import Registered, Source
from simstudy.study.builtin import study_path
from simstudy.study.checks import check_study
from simstudy.study.constants import DOSES
from simstudy.study.content import check_kind, completed, read_sections
from simstudy.study.digests import recorded_digests
from simstudy.study.explain import KeyedError
from simstudy.study.measured import (
    resolve_measures,
    resolve_targets,
    stated_measures,
    stated_targets,
)
from simstudy.study.plugins import PluginFile, directory_restored, load_plugin
from simstudy.study.registry import (
    CHANGES,
    ESTIMATORS,
    FAMILIES,
    LEARNERS,
    TESTS,
    AnyRegistry,
)
from simstudy.study.resolving import plain, resolve_spec, stated_spec
from simstudy.study.sections import (
    Analysis,
    Data,
    DataSetSection,
    Limits,
    MeasureSection,
    MeasuresSection,
    PreparationSection,
    ResamplingSection,
    StudyFile,
    Thresholds,
    TreatmentSection,
)
from simstudy.study.sizes import WHOLE, Size
from simstudy.study.spec import Spec
from simstudy.study.toml import dumps, read_toml, set_dotted
from simstudy.texts import counted, summary

if TYPE_CHECKING:
    from pydantic import BaseModel

    from simstudy.experiments.page import Page
    from simstudy.sources.tables import DataSet


@dataclass(frozen=True)
class Study:
    """The validated content of one study file, every name looked up; see `load_study`.

    Attributes
    ----------
    name, title : str
        The name of its results, and a title for reports.
    seed : int
        The seed of all random streams.
    plugins : sequence of str
        Files that define further components: families, learners and so on.
    source : Source
        Where its problems come from: models of a family, or splits of data sets.
    family : Spec, optional
        The family that models are drawn from; None in a study of data sets.
    learners : sequence of Spec
        The learners to fit.
    measured : sequence of Spec
        The measures with their parameters, the primary one first.
    data, measures, analysis, limits, thresholds
        The sections of these names.
    keep_answers : bool
        Whether the predicted probabilities are kept.
    datasets, resampling, preparation
        The sections of a study of data sets.
    compare : str
        What is compared: "learners", "measures", "estimators" or "tests".
    targets : sequence of Spec
        In a comparison of measures, those whose exact values say which learner is better.
    estimators, tests : sequence of Spec
        In a comparison of estimators or of tests, what is compared.
    plugin_files : sequence of PluginFile
        The content of the plugins.
    """

    name: str
    title: str
    seed: int
    plugins: tuple[str, ...]
    source: Source
    family: Spec | None
    learners: tuple[Spec, ...]
    measured: tuple[Spec, ...]
    data: Data
    measures: MeasuresSection
    analysis: Analysis
    limits: Limits
    thresholds: Thresholds
    datasets: tuple[DataSetSection, ...]
    resampling: ResamplingSection
    preparation: PreparationSection
    keep_answers: bool
    compare: str = DEFAULT
    targets: tuple[Spec, ...] = ()
    estimators: tuple[Spec, ...] = ()
    tests: tuple[Spec, ...] = ()
    plugin_files: tuple[PluginFile, ...] = ()

    def __repr__(self) -> str:
        if self.datasets:
            sets = counted(len(self.datasets), "data set")
            return summary(self, f"{self.name!r}: {sets}", ", ".join(self.labels))
        models = f"{self.name!r}: {counted(self.problems, 'model')} of {self.source.name}"
        models += "".join(f" + {change.name}" for change in self.changes)
        sizes = ", ".join(map(str, self.doses))
        return summary(self, models, f"{sizes} {self.experiment.dose} rows", ", ".join(self.labels))

    def demand_models(self, what: str) -> None:
        """Refuse what is for studies of models alone."""
        if self.datasets:
            raise SimstudyError(
                f"'{self.name}' is a study of data sets; {what} needs one of models"
            )

    @property
    def heading(self) -> str:
        """The title, or else the name; where the title tells another number of data sets, both."""
        told = {int(number) for number in re.findall(r"\b(\d{1,6}) data sets?\b", self.title)}
        if self.datasets and told - {len(self.datasets)}:
            return f"{self.title}: {counted(len(self.datasets), 'data set')} here"
        return self.title or self.name

    @property
    def experiment(self) -> Experiment:
        """What is compared, and the words for it."""
        return experiment(self.compare)

    @property
    def demanded_family(self) -> Spec:
        """The family, of a study of models."""
        if self.family is None:
            self.demand_models("a family")
        assert self.family is not None
        return self.family

    @property
    def problems(self) -> int:
        """The number of problems: of models, or of splits."""
        return self.source.count

    @property
    def models(self) -> int:
        """The number of models; a study of data sets has none."""
        self.demand_models("a number of models")
        return self.source.count

    @property
    def changes(self) -> tuple[Spec, ...]:
        """The changes made to each model, in order."""
        return self.source.changes

    @property
    def tables(self) -> tuple[DataSet, ...]:
        """The data sets as read."""
        return self.source.tables

    @property
    def page(self) -> Page[Any, Any]:
        """What reports of the study say and show."""
        return self.experiment.page(self)

    @property
    def train_sizes(self) -> tuple[int, ...]:
        """The training sizes, as stored."""
        return self.source.train_sizes(self.data.train_sizes)

    @property
    def test_sizes(self) -> tuple[int, ...]:
        """The test sizes of a comparison of measures."""
        return tuple(self.data.test_sizes or ())

    @property
    def treatments(self) -> tuple[Spec, ...]:
        """What is compared."""
        return self.experiment.treatments(self)

    @property
    def labels(self) -> list[str]:
        """The labels of the treatments."""
        return [spec.label for spec in self.treatments]

    @property
    def doses(self) -> list[int]:
        """The doses, such as training sizes."""
        return list(self.experiment.doses(self))

    @property
    def columns(self) -> list[str]:
        """The names of the scores, the primary one first."""
        return self.experiment.score_names(self)

    def as_dict(self) -> dict[str, Any]:
        """The study with every default filled in, in the order of the file's sections."""
        content: dict[str, Any] = {"name": self.name, "title": self.title}
        if self.compare != DEFAULT:
            content["compare"] = self.compare
        content["seed"] = self.seed
        if not self.datasets:
            content["models"] = self.models
        content |= {"keep_answers": self.keep_answers, "plugins": self.plugins}
        sections: dict[str, BaseModel] = {"data": self.data}
        alien = foreign_keys(self.experiment)
        if self.datasets:
            sections = {"resampling": self.resampling, "preparation": self.preparation}
            content["datasets"] = [one.model_dump(exclude_none=True) for one in self.datasets]
        else:
            family = self.demanded_family
            content["family"] = {"name": family.name, **family.resolved}
        if self.changes:
            content["changes"] = [{"name": one.name, **one.resolved} for one in self.changes]
            if self.preparation != PreparationSection():  # else no value may be missing
                sections["preparation"] = self.preparation
        sections |= {"measures": self.measures, "analysis": self.analysis}
        for name, section in sections.items():
            kept = section.model_dump(exclude_none=True)
            content[name] = {k: v for k, v in kept.items() if f"{name}.{k}" not in alien}
        content["measures"] |= _stated(self.measures)
        if limits := self.limits.model_dump(exclude_none=True):
            content["limits"] = limits
        if self.thresholds.refine:
            content["thresholds"] = self.thresholds.model_dump()
        content["learners"] = [
            {"name": spec.name, "label": spec.label, **_own_preparation(spec), **spec.resolved}
            for spec in self.learners
        ]
        for key, specs in (("estimators", self.estimators), ("tests", self.tests)):
            if specs:
                content[key] = [
                    {"name": spec.name, "label": spec.label, **spec.resolved} for spec in specs
                ]
        return plain(content)

    def to_toml(self) -> str:
        """The study as TOML, every default filled in."""
        return dumps(self.as_dict())


def _stated(measures: MeasuresSection) -> dict[str, object]:
    """The measures as a file states them: by name, or with parameters."""

    def stated(one: str | MeasureSection) -> str | dict[str, object]:
        if isinstance(one, str):
            return one
        return {key: value for key, value in one.model_dump().items() if value != ""}

    also = [stated(one) for one in measures.also]
    found: dict[str, object] = {"primary": stated(measures.primary), "also": also}
    return found | ({"targets": [*map(stated, measures.targets)]} if measures.targets else {})


def _own_preparation(spec: Spec) -> dict[str, object]:
    own = spec.stated_preparation
    return {} if own is None else {"preparation": PreparationSection(**own).model_dump()}


def stated_study(content: object) -> Study:
    """The study that a dictionary states; files are not read and no name is looked up."""
    given = read_sections(content)
    check_kind(given)
    given = completed(given)
    learners = [stated_spec(learner, LEARNERS) for learner in given.learners]
    family = None if given.family is None else stated_spec(given.family, FAMILIES)
    changes = [stated_spec(change, CHANGES) for change in given.changes]
    study = _study(given, family, changes, learners, stated_measures(given.measures))
    return replace(
        study,
        targets=stated_targets(given.measures),
        estimators=tuple(stated_spec(one, ESTIMATORS) for one in given.estimators),
        tests=tuple(stated_spec(one, TESTS) for one in given.tests),
    )


def _resolved_study(given: StudyFile, directory: Path, digests: Sequence[str] | None) -> Study:
    """Load the plugins and look up every name; raises `KeyedError` with the key at fault."""
    files = []
    for index, plugin in enumerate(given.plugins):
        try:
            path = Path(os.path.realpath(directory / plugin))
            digest = None if digests is None else "".join(digests[index : index + 1])
            files.append(load_plugin(path, digest))
        except (OSError, ValueError, RuntimeError) as error:
            raise KeyedError(f"plugins[{index}]", str(error)) from error
    check_kind(given)  # plugins may have registered an experiment
    family = None
    if given.family is not None:
        family = resolve_spec(given.family, FAMILIES, "family", directory)
    learners = [
        resolve_spec(learner, LEARNERS, f"learners[{index}]")
        for index, learner in enumerate(given.learners)
    ]
    given = completed(given)
    orders = experiment(given.compare).takes_orders
    measured = resolve_measures(given.measures, ordering=orders)
    changes = [
        resolve_spec(change, CHANGES, f"changes[{index}]")
        for index, change in enumerate(given.changes)
    ]
    study = _study(given, family, changes, learners, measured, files)
    study = replace(
        study,
        targets=resolve_targets(given.measures),
        estimators=_treatments(given.estimators, ESTIMATORS),
        tests=_treatments(given.tests, TESTS),
    )
    if study.datasets:
        from simstudy.study.datasets import with_tables

        study = with_tables(study, directory)
    check_study(study)
    return study


def _treatments(sections: Sequence[TreatmentSection], registry: AnyRegistry) -> tuple[Spec, ...]:
    """Look up estimators or tests."""
    return tuple(
        resolve_spec(one, registry, f"{registry.plural}[{index}]")
        for index, one in enumerate(sections)
    )


def _study(
    given: StudyFile,
    family: Spec | None,
    changes: Sequence[Spec],
    learners: Sequence[Spec],
    measured: Sequence[Spec],
    files: Sequence[PluginFile] = (),
) -> Study:
    return Study(
        name=given.name,
        title=given.title,
        seed=given.seed,
        keep_answers=given.keep_answers,
        compare=given.compare,
        data=given.data,
        measures=given.measures,
        analysis=given.analysis,
        limits=given.limits,
        thresholds=given.thresholds,
        resampling=given.resampling,
        preparation=given.preparation,
        datasets=tuple(given.datasets),
        plugins=tuple(given.plugins),
        family=family,
        source=_source(given, family, changes),
        learners=tuple(learners),
        measured=tuple(measured),
        plugin_files=tuple(files),
    )


def _source(given: StudyFile, family: Spec | None, changes: Sequence[Spec]) -> Source:
    """Where the problems come from, as far as the file says it."""
    if family is None:
        from simstudy.sources.tables import Tables

        sizes = [*map(Size, given.resampling.sizes)] or [WHOLE]
        resampling = given.resampling.model_dump(exclude={"sizes"}, exclude_none=True)
        return Tables(len(given.datasets), json.dumps(resampling, sort_keys=True), tuple(sizes))
    own = FAMILIES.loaded(family.name)
    if isinstance(own, type) and issubclass(own, Source):  # problems that are no models
        if changes:
            raise KeyedError("changes", f"changes are for models, not for '{family.name}'")
        return Registered(family, given.models).resolved()
    drawn = given.data
    return Models(family, given.models, drawn.test_size, drawn.training, tuple(changes))


def load_study(
    path: str | Path,
    overrides: Mapping[str, object] | None = None,
    content: Mapping[str, object] | None = None,
) -> Study:
    """Read and check a study file.

    Parameters
    ----------
    path : str or Path
        The TOML file, or the name of a built-in study, e.g. ``"tan"``.
    overrides : mapping, optional
        Values that replace the file's, by dotted key: ``{"data.train_sizes": [50, 500]}``.
    content : mapping, optional
        The content of the file, if already read, e.g. from a pipe.

    Raises
    ------
    SimstudyError
        Names the file, the key, the value, and what is allowed.
    """
    path = study_path(path)
    if content is None:
        content = read_toml(path)
    if isinstance(content.get("studies"), list) or isinstance(content.get("readings"), list):
        raise SimstudyError(f"{path} is a list of studies; run it, or name one of its studies")
    digests = recorded_digests(path) if content.get("plugins") else None
    return make_study(content, path.parent, str(path), overrides, digests)


def _doses_key(raw: Mapping[str, object]) -> str:
    """The key of the doses in a study file of any kind."""
    compare = raw.get("compare")
    named = compare if isinstance(compare, str) and compare in names() else DEFAULT
    return f"data.{experiment(named).dose_key}"


def make_study(
    content: Mapping[str, object],
    directory: Path | None = None,
    origin: str = "the study",
    overrides: Mapping[str, object] | None = None,
    digests: Sequence[str] | None = None,
) -> Study:
    """Check a study given as a dictionary; plugins are relative to ``directory``.

    With ``digests``, plugins with other digests are refused.
    """
    try:
        raw: dict[str, object] = json.loads(json.dumps(content, default=str))
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits, deep nesting
        raise SimstudyError(f"{origin} cannot be used: {error}") from error
    for key, value in (overrides or {}).items():
        set_dotted(raw, _doses_key(raw) if key == DOSES else key, value)
    try:
        given = read_sections(raw)
        with directory_restored():
            return _resolved_study(given, directory or Path(), digests)
    except KeyedError as error:
        raise SimstudyError(f"{origin}, {error.key}: {error}") from error
