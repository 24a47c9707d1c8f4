"""What a worker needs of a study, as plain data that is cheap to send and to read."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import simstudy
from simstudy.engine.seeds import stream, stream_key
from simstudy.errors import SimstudyError
from simstudy.experiments import DEFAULT, experiment
from simstudy.experiments.base import Experiment, ScoreColumn
from simstudy.measures.base import has_exact_value
from simstudy.measures.two_level import level_names
from simstudy.sources.data import DataSource
from simstudy.study.plugins import PluginFile
from simstudy.study.registry import LEARNERS, MEASURES, makes_missing, registered
from simstudy.study.sizes import rows_of
from simstudy.study.spec import Spec

if TYPE_CHECKING:
    from pydantic import BaseModel

    from simstudy.study.study import Study

MEASURED = "measures.primary and also"
# Conditions that results of earlier versions do not record, and the values they used. At these
# values a condition is left out of the fingerprint, so that such results keep theirs.
UNNAMED_CONDITIONS: dict[str, Any] = {
    "measures.reward": "mean",
    "measures.positive": None,
    "keep_answers": False,
    "changes": [],
}


class Part(NamedTuple):
    """One split of a data set: what takes the place of a model."""

    dataset: str
    number: int  # among the splits of its data set
    repeat: int
    fold: int
    train: int  # rows
    test: int


@dataclass(frozen=True)
class Plan:
    """All cells of a study; a task is the cells of one model, or of one split of a data set."""

    seed: int
    models: int
    family: Spec
    train_sizes: tuple[int, ...]
    test_size: int | str
    training: str
    learners: tuple[Spec, ...]
    measured: tuple[Spec, ...]
    prior: str | tuple[float, ...]
    cutoff: str
    base: float
    reward: str = "mean"
    positive: str | int | None = None  # the positive class, where a measure needs one
    exact: tuple[str, ...] = ()  # labels of measures with an exact value
    # Limits of one cell: seconds, and gigabytes beyond those of an idle worker.
    timeout: float | None = None
    memory: float | None = None
    plugins: tuple[PluginFile, ...] = ()
    # Names of components that are not built in, with digests of their source.
    sources: tuple[tuple[str, str], ...] = ()
    parts: tuple[Part, ...] = ()  # of a study of data sets
    datasets: tuple[tuple[str, str], ...] = ()  # their names and digests
    changes: tuple[Spec, ...] = ()  # of the models drawn, in order
    # Parameters of the family that are texts of files, and the names of their copies in results.
    files: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    tables: tuple[DataSource, ...] = field(default=(), compare=False)
    resampling: str = ""  # as canonical JSON
    keep_answers: bool = False
    compare: str = DEFAULT
    # Of a comparison of measures: what says which learner is better, and the test sets.
    targets: tuple[Spec, ...] = ()
    test_sizes: tuple[int, ...] = ()
    repeats: int = 0
    # Of a comparison of estimators or of tests; training sets whose mean value is estimated.
    estimators: tuple[Spec, ...] = ()
    tests: tuple[Spec, ...] = ()
    training_sets: int = 0
    confidence: float = 0.95
    # Registered in an interactive session, so not importable: (kind, name, object).
    interactive: tuple[tuple[str, str, Any], ...] = field(default=(), compare=False)
    # On a cluster, the packages and versions that every process must have.
    environment: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @cached_property
    def columns(self) -> list[ScoreColumn]:
        """The columns of the scores, the primary one first."""
        return self.experiment.columns(self)

    @property
    def experiment(self) -> Experiment:
        """What is compared, and how."""
        return experiment(self.compare)

    @property
    def treatments(self) -> tuple[Spec, ...]:
        """What is compared."""
        return self.experiment.treatments(self)

    @property
    def doses(self) -> tuple[int, ...]:
        """The doses, such as training sizes."""
        return self.experiment.doses(self)

    def at_doses(self, doses: Iterable[int]) -> Plan:
        """The plan with other doses."""
        return self.experiment.at_doses(self, doses)

    @property
    def component_names(self) -> tuple[str, list[str], list[str], list[str]]:
        """The names of the components of a study, as `registered` takes them."""
        every = (*self.measured, *self.targets)
        measures = dict.fromkeys(level for one in every for level in level_names(one.name))
        learners, changes = ([one.name for one in kind] for kind in (self.learners, self.changes))
        return self.family.name, learners, [*measures], changes

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.models * self.cells_each

    @property
    def cells_each(self) -> int:
        """The number of cells of a model."""
        return len(self.doses) * len(self.treatments)

    @property
    def trusted(self) -> bool:
        """Whether all components are built in and no limits are set."""
        return not (self.sources or self.plugins or self.timeout or self.memory)

    def conditions(self) -> dict[str, Any]:
        """Everything that the scores depend on, by the keys of a study file."""
        of_data = {
            "datasets": [list(dataset) for dataset in self.datasets],
            "resampling": self.resampling,
        }
        later: dict[str, object] = {
            "measures.positive": self.positive,
            "keep_answers": self.keep_answers,
            "changes": [change.identity for change in self.changes],
        }
        named = {key: value for key, value in later.items() if value != UNNAMED_CONDITIONS[key]}
        compared = self.experiment.conditions(self)
        named |= compared
        # doses may grow: training sizes are a condition of their own only if they are no doses
        fixed = "doses" not in compared or self.experiment.dose_key != "train_sizes"
        return (
            (of_data if self.parts else {})
            | named
            | {
                "simstudy": simstudy.__version__,
                "seed": self.seed,
                "models": self.models,
                "family": self.family.identity,
                "data.train_sizes": list(self.train_sizes) if fixed else [],
                "data.test_size": self.test_size,
                "data.training": self.training,
                "learners": [[learner.label, _identity(learner)] for learner in self.learners],
                MEASURED: [one.identity for one in self.targets or self.measured],
                "measures.prior": self.prior if isinstance(self.prior, str) else list(self.prior),
                "measures.cutoff": self.cutoff,
                "measures.base": self.base,
                "measures.reward": self.reward,
                "plugins": [plugin.digest for plugin in self.plugins],
                "source": dict(self.sources),
            }
        )

    def stream(self, model: int, role: str) -> np.random.Generator:
        """The random stream of one role in one model, or in one split of a data set."""
        return stream(self.seed, *self._subject(model), role)

    def stream_key(self, model: int, role: str) -> str:
        """The purpose of that stream, as the text that seeds it."""
        return stream_key(self.seed, *self._subject(model), role)

    def _subject(self, model: int) -> tuple[str, int]:
        """The source of a problem and its number there: other data sets change no stream."""
        if not self.parts:
            return self.family.identity, model
        part = self.parts[model]
        return data_identity(self.table(part)), part.number

    def table(self, part: Part) -> DataSource:
        """The data set of a split."""
        return next(table for table in self.tables if table.name == part.dataset)

    def fingerprint(self) -> str:
        """A digest of the conditions: runs with the same fingerprint have the same scores."""
        named = {
            key: value
            for key, value in self.conditions().items()
            if key not in UNNAMED_CONDITIONS or value != UNNAMED_CONDITIONS[key]
        }
        return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def data_identity(table: DataSource) -> str:
    """What a data set is called in random streams: by its content alone."""
    return json.dumps(["data", table.digest])


def _identity(learner: Spec) -> str:
    """The identity of a learner, with how its rows are prepared."""
    if learner.preparation is None:
        return learner.identity
    prepared = {**asdict(learner.preparation), "accepts": sorted(learner.accepts)}
    return json.dumps([learner.identity, prepared], sort_keys=True)


def _prepared(spec: Spec, study: Study) -> Spec:
    """A learner of a study in which values may be missing, with how rows are prepared for it."""
    from simstudy.study.datasets import prepared_for

    learner = LEARNERS.get(spec.name)(**spec.parameters)
    preparation, accepts = prepared_for(spec, study.preparation, learner)
    return replace(spec, preparation=preparation, accepts=accepts)


def _check_sizes(plan: Plan) -> None:
    """Refuse training sizes that a training part lacks: those of groups are of any size."""
    for size in plan.train_sizes:
        for part in plan.parts:
            if rows_of(size, part.train) > part.train:
                raise SimstudyError(
                    f"resampling.sizes: {size} does not fit '{part.dataset}', whose training part "
                    f"in repeat {part.repeat}, fold {part.fold} has {part.train} rows"
                )


def make_plan(study: Study) -> Plan:
    """The plan of a validated study."""
    plan = stated_plan(study)
    names = registered(*plan.component_names)
    if study.tables:
        from simstudy.engine.splits import parts_of

        plan = replace(
            plan,
            datasets=tuple((table.name, table.digest) for table in study.tables),
            parts=parts_of(study.tables, plan.seed, plan.resampling),
        )
        _check_sizes(plan)
    if study.tables or makes_missing(change.name for change in study.changes):
        plan = replace(plan, learners=tuple(map(_prepared, study.learners, repeat(study))))
    return replace(
        plan,
        tables=study.tables,
        measured=study.measured,
        targets=study.targets,
        exact=tuple(one.label for one in study.measured if _has_exact_value(one.name)),
        plugins=study.plugin_files,
        sources=tuple(
            (name, digest)
            for registry, name in names
            if (digest := registry.source_digest(name)) is not None
        ),
        interactive=tuple(
            (registry.kind, name, registry.get(name))
            for registry, name in names
            if registry.interactive(name)
        ),
    )


def stated_plan(study: Study) -> Plan:
    """The plan as far as the study file states it, with no name looked up."""
    family, measures = study.family, study.measures
    prior = measures.prior
    return Plan(
        seed=study.seed,
        models=study.models,
        family=family,
        changes=study.changes,
        files=family.files,
        train_sizes=study.train_sizes,
        test_size=study.data.test_size,
        training=study.data.training,
        learners=study.learners,
        resampling=_canonical(study.resampling) if study.datasets else "",
        keep_answers=study.keep_answers,
        compare=study.compare,
        targets=study.targets,
        test_sizes=study.test_sizes,
        repeats=study.data.repeats or 0,
        estimators=study.estimators,
        tests=study.tests,
        training_sets=study.data.training_sets or 0,
        confidence=study.analysis.confidence,
        measured=study.measured,
        positive=measures.positive,
        prior=prior if isinstance(prior, str) else tuple(prior),
        cutoff=measures.cutoff,
        base=math.e if measures.base == "e" else float(measures.base),
        reward=measures.reward,
        timeout=study.limits.timeout,
        memory=study.limits.memory,
    )


def _has_exact_value(name: str) -> bool:
    return all(has_exact_value(MEASURES.get(level)) for level in level_names(name))


def _canonical(section: BaseModel) -> str:
    given = section.model_dump(exclude={"sizes"}, exclude_none=True)
    return json.dumps(given, sort_keys=True)
