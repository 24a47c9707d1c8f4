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
from simstudy.engine.kinds import way_of
from simstudy.engine.seeds import stream, stream_key
from simstudy.errors import SimstudyError
from simstudy.measures.base import has_exact_value
from simstudy.measures.two_level import level_names
from simstudy.sources.data import DataSource
from simstudy.study.kinds import KINDS, LEARNERS_KIND, Kind
from simstudy.study.plugins import PluginFile
from simstudy.study.registry import LEARNERS, MEASURES, makes_missing, registered
from simstudy.study.sizes import rows_of

if TYPE_CHECKING:
    from pydantic import BaseModel

    from simstudy.data.preparation import Preparation
    from simstudy.study.spec import Spec
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


@dataclass(frozen=True)
class Component:
    """A family, change, learner or measure: its name, given parameters, and identity.

    The identities of families and learners seed the random streams.
    """

    name: str
    parameters: dict[str, Any]
    identity: str
    label: str = ""
    preparation: Preparation | None = None  # of rows of data sets
    accepts: frozenset[str] = frozenset()  # what is left unprepared


class Column(NamedTuple):
    """A column of the scores: a measure on a test, exact or sampled."""

    name: str
    measure: str
    test: str
    label: str = ""  # of the measure, which may come twice with different parameters
    parameters: dict[str, Any] = {}  # noqa: RUF012 - never changed


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
    family: Component
    train_sizes: tuple[int, ...]
    test_size: int | str
    training: str
    learners: tuple[Component, ...]
    measures: tuple[Component, ...]
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
    changes: tuple[Component, ...] = ()  # of the models drawn, in order
    # Parameters of the family that are texts of files, and the names of their copies in results.
    files: tuple[tuple[str, str], ...] = field(default=(), compare=False)
    tables: tuple[DataSource, ...] = field(default=(), compare=False)
    resampling: str = ""  # as canonical JSON
    keep_answers: bool = False
    compare: str = LEARNERS_KIND
    # Of a comparison of measures: what says which learner is better, and the test sets.
    targets: tuple[Component, ...] = ()
    test_sizes: tuple[int, ...] = ()
    repeats: int = 0
    # Of a comparison of estimators or of tests; training sets whose mean value is estimated.
    estimators: tuple[Component, ...] = ()
    tests: tuple[Component, ...] = ()
    training_sets: int = 0
    confidence: float = 0.95
    # Registered in an interactive session, so not importable: (kind, name, object).
    interactive: tuple[tuple[str, str, Any], ...] = field(default=(), compare=False)
    # On a cluster, the packages and versions that every process must have.
    environment: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @cached_property
    def columns(self) -> list[Column]:
        """The columns of the scores, the primary one first."""
        return way_of(self).columns(self)

    @property
    def kind(self) -> Kind:
        """What is compared."""
        return KINDS[self.compare]

    @property
    def treatments(self) -> tuple[Component, ...]:
        """What is compared: the learners, or those of another kind."""
        found: tuple[Component, ...] = getattr(self, self.kind.name)
        return found

    @property
    def doses(self) -> tuple[int, ...]:
        """The training sizes, or the doses of another kind."""
        found: tuple[int, ...] = getattr(self, self.kind.doses)
        return found

    def at_doses(self, doses: Iterable[int]) -> Plan:
        """The plan with other doses."""
        changed: dict[str, Any] = {self.kind.doses: tuple(doses)}
        return replace(self, **changed)

    @property
    def component_names(self) -> dict[str, list[str]]:
        """The names of the components of a study, as `registered` takes them."""
        every = (*self.measures, *self.targets)
        measures = dict.fromkeys(level for one in every for level in level_names(one.name))
        kinds = {"families": (self.family,), "changes": self.changes, "learners": self.learners}
        kinds |= {"estimators": self.estimators, "tests": self.tests}
        names = {kind: [one.name for one in components] for kind, components in kinds.items()}
        return {**names, "measures": [*measures]}

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
        later = {
            "measures.positive": self.positive,
            "keep_answers": self.keep_answers,
            "changes": [change.identity for change in self.changes],
        }
        named = {key: value for key, value in later.items() if value != UNNAMED_CONDITIONS[key]}
        named |= {} if self.kind.compares_learners else self._other_kind()
        return (
            (of_data if self.parts else {})
            | named
            | {
                "simstudy": simstudy.__version__,
                "seed": self.seed,
                "models": self.models,
                "family": self.family.identity,
                "data.train_sizes": list(self.train_sizes) if self._sizes_are_set else [],
                "data.test_size": self.test_size,
                "data.training": self.training,
                "learners": [[learner.label, _identity(learner)] for learner in self.learners],
                MEASURED: [one.identity for one in self.targets or self.measures],
                "measures.prior": self.prior if isinstance(self.prior, str) else list(self.prior),
                "measures.cutoff": self.cutoff,
                "measures.base": self.base,
                "measures.reward": self.reward,
                "plugins": [plugin.digest for plugin in self.plugins],
                "source": dict(self.sources),
            }
        )

    @property
    def _sizes_are_set(self) -> bool:
        """Whether training sizes are no doses of another kind, which may grow."""
        return self.kind.compares_learners or self.kind.doses != "train_sizes"

    def _other_kind(self) -> dict[str, Any]:
        """The conditions of a study that compares other things than learners."""
        return {
            "compare": self.compare,
            "treatments": [[one.label, one.identity] for one in self.treatments],
            "doses": list(self.doses),
            "data.repeats": self.repeats,
            **({"data.training_sets": self.training_sets} if self.estimators else {}),
            **({"analysis.confidence": self.confidence} if self.estimators or self.tests else {}),
        }

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


def _identity(learner: Component) -> str:
    """The identity of a learner, with how its rows are prepared."""
    if learner.preparation is None:
        return learner.identity
    prepared = {**asdict(learner.preparation), "accepts": sorted(learner.accepts)}
    return json.dumps([learner.identity, prepared], sort_keys=True)


def _prepared(component: Component, spec: Spec, study: Study) -> Component:
    """A learner of a study in which values may be missing, with how rows are prepared for it."""
    from simstudy.study.datasets import prepared_for

    learner = LEARNERS.get(spec.name)(**spec.parameters)
    preparation, accepts = prepared_for(spec, study.preparation, learner)
    return replace(component, preparation=preparation, accepts=accepts)


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
    names = registered(plan.component_names)
    if study.tables:
        from simstudy.engine.splits import parts_of

        plan = replace(
            plan,
            datasets=tuple((table.name, table.digest) for table in study.tables),
            parts=parts_of(study.tables, plan.seed, plan.resampling),
        )
        _check_sizes(plan)
    if study.tables or makes_missing(change.name for change in study.changes):
        learners = tuple(map(_prepared, plan.learners, study.learners, repeat(study)))
        plan = replace(plan, learners=learners)
    return replace(
        plan,
        tables=study.tables,
        measures=tuple(map(_component, study.measured)),
        targets=tuple(map(_component, study.targets)),
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
        family=_component(family),
        changes=tuple(map(_component, study.changes)),
        files=family.files,
        train_sizes=tuple(study.data.train_sizes),
        test_size=study.data.test_size,
        training=study.data.training,
        learners=tuple(map(_component, study.learners)),
        resampling=_canonical(study.resampling) if study.datasets else "",
        keep_answers=study.keep_answers,
        compare=study.compare,
        targets=tuple(map(_component, study.targets)),
        test_sizes=tuple(study.data.test_sizes or ()),
        repeats=study.data.repeats or 0,
        estimators=tuple(map(_component, study.estimators)),
        tests=tuple(map(_component, study.tests)),
        training_sets=study.data.training_sets or 0,
        confidence=study.analysis.confidence,
        measures=tuple(map(_component, study.measured)),
        positive=measures.positive,
        prior=prior if isinstance(prior, str) else tuple(prior),
        cutoff=measures.cutoff,
        base=math.e if measures.base == "e" else float(measures.base),
        reward=measures.reward,
        timeout=study.limits.timeout,
        memory=study.limits.memory,
    )


def _component(spec: Spec) -> Component:
    return Component(spec.name, dict(spec.parameters), spec.identity, spec.label)


def _has_exact_value(name: str) -> bool:
    return all(has_exact_value(MEASURES.get(level)) for level in level_names(name))


def _canonical(section: BaseModel) -> str:
    given = section.model_dump(exclude={"sizes"}, exclude_none=True)
    return json.dumps(given, sort_keys=True)
