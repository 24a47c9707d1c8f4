"""A study: the validated content of one TOML file."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simstudy.components import registry as registries
from simstudy.components.plugins import PluginFile, directory_restored, load_plugin
from simstudy.components.registry import AnyRegistry, Spec
from simstudy.data.sizes import WHOLE, Size
from simstudy.errors import KeyedError, SimstudyError, at_key
from simstudy.experiments import DEFAULT, experiment, foreign_keys, names
from simstudy.experiments.base import Experiment
from simstudy.sources.models import Models
from simstudy.sources.source import Registered, Source
from simstudy.study import files, sections
from simstudy.study.checks import check_study
from simstudy.study.components import component_spec, measure_specs, plain
from simstudy.study.constants import DOSES
from simstudy.study.content import StudyFile, check_kind, completed, read_sections
from simstudy.texts import counted, summary

if TYPE_CHECKING:
    from simstudy.experiments.page import Page
    from simstudy.sources.tables import DataSet

# What a study has as its file states it.
_STATED = ["name", "title", "seed", "keep_answers", "compare", "data", "measures", "analysis"]
_STATED += ["limits", "thresholds", "resampling", "preparation"]


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
    data: sections.Data
    measures: sections.MeasuresSection
    analysis: sections.Analysis
    limits: sections.Limits
    thresholds: sections.Thresholds
    datasets: tuple[sections.DataSetSection, ...]
    resampling: sections.ResamplingSection
    preparation: sections.PreparationSection
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

    def demand_models(self, purpose: str) -> None:
        """Refuse what is only for studies of models."""
        if self.datasets:
            text = f"'{self.name}' is a study of data sets; {purpose} needs one of models"
            raise SimstudyError(text)

    @property
    def heading(self) -> str:
        """The title, or else the name; if the title states another number of data sets, both."""
        stated = {int(number) for number in re.findall(r"\b(\d{1,6}) data sets?\b", self.title)}
        if self.datasets and stated - {len(self.datasets)}:
            return f"{self.title}: {counted(len(self.datasets), 'data set')} here"
        return self.title or self.name

    @property
    def experiment(self) -> Experiment:
        """What is compared, and the words for it."""
        return experiment(self.compare)

    @property
    def demanded_family(self) -> Spec:
        """The family, of a study of models."""
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
    def names(self) -> tuple[str, ...]:
        """The registered names of the treatments; empty for those that are no learners."""
        learners = self.experiment.treatments_key == "learners"
        return tuple(spec.name if learners else "" for spec in self.treatments)

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
        content: dict[str, Any] = {
            "name": self.name,
            "title": self.title,
            "compare": None if self.compare == DEFAULT else self.compare,
            "seed": self.seed,
            "models": None if self.datasets else self.models,
            "keep_answers": self.keep_answers,
            "plugins": self.plugins,
            "datasets": [section.model_dump(exclude_none=True) for section in self.datasets],
            "family": _entry(self.family) if self.family else None,
            "changes": [*map(_entry, self.changes)],
            **self._settings(),
            "limits": self.limits.model_dump(exclude_none=True),
            "thresholds": self.thresholds.model_dump() if self.thresholds.refine else None,
            "learners": [*map(_entry, self.learners)],
            "estimators": [*map(_entry, self.estimators)],
            "tests": [*map(_entry, self.tests)],
        }
        return plain({key: value for key, value in content.items() if value not in (None, [], {})})

    def _settings(self) -> dict[str, object]:
        """The sections that its kind of study has, without the keys of others."""
        kept = ["resampling", "preparation"] if self.datasets else ["data"]
        if self.changes and self.preparation != sections.PreparationSection():
            kept.append("preparation")  # else no value may be missing
        kept += ["measures", "analysis"]
        dumped = {name: getattr(self, name).model_dump(exclude_none=True) for name in kept}
        for key in foreign_keys(self.experiment):
            section, _, last = key.partition(".")
            dumped.get(section, {}).pop(last, None)
        return dumped

    def to_toml(self) -> str:
        """The study as TOML, every default filled in."""
        return files.dumps(self.as_dict())


def _entry(spec: Spec) -> dict[str, object]:
    """A component as a study file has it."""
    entry: dict[str, object] = {"name": spec.name}
    if spec.label:
        entry["label"] = spec.label
    if (stated := spec.stated_preparation) is not None:
        entry["preparation"] = sections.PreparationSection(**stated).model_dump()
    return {**entry, **spec.resolved}


def stated_study(content: object) -> Study:
    """The study that a dictionary states; files are not read and no name is looked up."""
    file = read_sections(content, StudyFile)
    check_kind(file)
    return _study(file, None)


def _resolved_study(file: StudyFile, directory: Path, digests: Sequence[str] | None) -> Study:
    """Load the plugins and look up every name; raises `KeyedError` with the key at fault."""
    plugins = []
    for index, plugin in enumerate(file.plugins):
        with at_key(f"plugins[{index}]", OSError, ValueError, RuntimeError):
            path = Path(os.path.realpath(directory / plugin))
            digest = None if digests is None else "".join(digests[index : index + 1])
            plugins.append(load_plugin(path, digest))
    check_kind(file)  # plugins may have registered an experiment
    study = _study(file, directory, plugins)
    if study.datasets:
        from simstudy.study.datasets import with_tables

        study = with_tables(study, directory)
    check_study(study)
    return study


def _study(file: StudyFile, directory: Path | None, plugins: Sequence[PluginFile] = ()) -> Study:
    """The study of a file; without a directory, no file is read and no name is looked up."""

    def specs(registry: AnyRegistry) -> tuple[Spec, ...]:
        key, listed = registry.plural, enumerate(getattr(file, registry.plural))
        return tuple(component_spec(each, registry, f"{key}[{i}]", directory) for i, each in listed)

    family, look_up = None, directory is not None
    if file.family is not None:
        family = component_spec(file.family, registries.FAMILIES, "family", directory)
    learners, file = specs(registries.LEARNERS), completed(file)
    ordering = experiment(file.compare).takes_orders
    measured = measure_specs(file.measures.keyed, ordering, look_up)
    return Study(
        **{key: getattr(file, key) for key in _STATED},
        datasets=tuple(file.datasets),
        plugins=tuple(file.plugins),
        family=family,
        source=_source(file, family, specs(registries.CHANGES)),
        learners=learners,
        measured=measured,
        targets=measure_specs(file.measures.keyed_targets, False, look_up),
        estimators=specs(registries.ESTIMATORS),
        tests=specs(registries.TESTS),
        plugin_files=tuple(plugins),
    )


def _source(file: StudyFile, family: Spec | None, changes: tuple[Spec, ...]) -> Source:
    """Where the problems come from, according to the file."""
    if family is None:
        from simstudy.data.splits.resampling import scheme_name
        from simstudy.sources.tables import Tables

        sizes = [*map(Size, file.resampling.sizes)] or [WHOLE]
        resampling = file.resampling.model_dump(exclude={"sizes"}, exclude_none=True)
        if "splits" not in resampling and scheme_name(resampling) == "repeated_cv":
            resampling["scheme"] = "repeated_cv"
        return Tables(len(file.datasets), json.dumps(resampling, sort_keys=True), tuple(sizes))
    cls = registries.FAMILIES.loaded(family.name)
    if isinstance(cls, type) and issubclass(cls, Source):  # problems that are no models
        if changes:
            raise KeyedError("changes", f"changes are for models, not for '{family.name}'")
        return Registered(family, file.models).resolved()
    return Models(family, file.models, file.data.test_size, file.data.training, changes)


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
    hint = "load_study reads a file, or a built-in study by its name; make_study takes a dictionary"
    files.demand(path, str | os.PathLike, hint)
    path = files.study_path(path)
    if content is None:
        content = files.read_toml(path)
    if any(isinstance(content.get(key), list) for key in ("studies", "readings")):
        raise SimstudyError(f"{path} is a list of studies; run it, or name one of its studies")
    digests = files.recorded_digests(path, content)
    return checked_study(content, path.parent, str(path), overrides, digests)


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
) -> Study:
    """Make a study of a dictionary with the keys of a study file.

    Parameters
    ----------
    content : mapping
        The study. Its learners may be all that `simstudy.compare` takes.
    directory : Path, optional
        Paths in the study are relative to it.
    origin : str
        What errors call the study.
    overrides : mapping, optional
        Values that replace those of the study, by dotted key.
    """
    files.demand(content, Mapping, "make_study takes a dictionary; load_study reads a study file")
    from simstudy.study.objects import learner_sections

    if content.get("learners"):
        content = {**content, "learners": learner_sections(content["learners"])}
    return checked_study(content, directory, origin, overrides)


def checked_study(
    content: Mapping[str, object],
    directory: Path | None = None,
    origin: str = "the study",
    overrides: Mapping[str, object] | None = None,
    digests: Sequence[str] | None = None,
) -> Study:
    """Check a study of the values that a file has; plugins with other digests are refused."""
    raw = files.plain_content(content, origin)
    for key, value in (overrides or {}).items():
        files.set_dotted(raw, _doses_key(raw) if key == DOSES else key, value)
    try:
        file = read_sections(raw, StudyFile)
        with directory_restored():
            return _resolved_study(file, directory or Path(), digests)
    except KeyedError as error:
        raise SimstudyError(f"{origin}, {error.key}: {error}") from error
