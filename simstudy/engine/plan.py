"""The plan of a study: all that a worker needs, as plain data that is cheap to send."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

import simstudy
from simstudy.components.plugins import PluginFile
from simstudy.components.registry import LEARNERS, MEASURES, Definition, Spec, build, registered
from simstudy.engine.seeds import stream, stream_key
from simstudy.experiments import DEFAULT, experiment
from simstudy.experiments.base import Experiment, ScoreColumn
from simstudy.learners.bridges.tables import paths_in
from simstudy.measures.base import has_exact_value
from simstudy.measures.theory.two_level import level_names
from simstudy.sources.source import Registered, Source

if TYPE_CHECKING:
    from simstudy.study.study import Study

MEASURED = "measures.primary and also"
# Conditions that results of earlier versions do not record, and the values they used. At these
# values a condition is left out of the fingerprint, so that such results keep theirs.
UNNAMED_CONDITIONS: dict[str, object] = {
    "measures.reward": "mean",
    "measures.positive": None,
    "keep_answers": False,
    "changes": [],
}
# Attributes that a plan has from its study.
_STATED = ["seed", "train_sizes", "learners", "measured", "keep_answers", "compare", "targets"]
_STATED += ["test_sizes", "estimators", "tests"]


@dataclass(frozen=True)
class Plan:
    """All cells of a study; a task is the cells of one problem."""

    seed: int
    origin: Source | Registered
    train_sizes: tuple[int, ...]
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
    keep_answers: bool = False
    compare: str = DEFAULT
    # For comparisons of measures: targets, which decide which learner is better, and test sets.
    targets: tuple[Spec, ...] = ()
    test_sizes: tuple[int, ...] = ()
    repeats: int = 0
    # For comparisons of estimators or tests; training sets over which the exact value is averaged.
    estimators: tuple[Spec, ...] = ()
    tests: tuple[Spec, ...] = ()
    training_sets: int = 0
    confidence: float = 0.95
    # Registered in an interactive session, so not importable: (kind, name, object).
    interactive: tuple[tuple[str, str, Definition], ...] = field(default=(), compare=False)
    # On a cluster, the packages and versions that every process must have.
    environment: tuple[tuple[str, str], ...] = field(default=(), compare=False)

    @cached_property
    def columns(self) -> list[ScoreColumn]:
        """The columns of the scores, the primary one first."""
        return self.experiment.columns(self)

    @cached_property
    def uses_weights(self) -> dict[str, bool]:
        """Whether learners use weights of rows, by identity; filled as this process tries them."""
        return {}

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

    @property
    def component_names(self) -> dict[str, list[str]]:
        """The names of the components of a study, as `registered` takes them."""
        kinds = {"changes": self.source.changes, "learners": self.learners}
        kinds |= {"estimators": self.estimators, "tests": self.tests}
        names = {kind: [spec.name for spec in specs] for kind, specs in kinds.items()}
        levels = [level_names(spec.name) for spec in (*self.measured, *self.targets)]
        measures = [*dict.fromkeys(chain(*levels))]
        return {"families": [self.source.name], **names, "measures": measures}

    @property
    def source(self) -> Source:
        """Where its problems come from."""
        return self.origin.resolved()

    @property
    def problems(self) -> int:
        """The number of problems."""
        return self.source.count

    @property
    def cells(self) -> int:
        """The number of cells."""
        return self.problems * self.cells_each

    @property
    def cells_each(self) -> int:
        """The number of cells of a problem."""
        return len(self.doses) * len(self.treatments)

    @property
    def trusted(self) -> bool:
        """Whether all components are built in and no limits are set."""
        return not (self.sources or self.plugins or self.timeout or self.memory)

    def conditions(self) -> dict[str, object]:
        """Everything that the scores depend on, by the keys of a study file."""
        later: dict[str, object] = {
            "measures.positive": self.positive,
            "keep_answers": self.keep_answers,
            "changes": [change.identity for change in self.source.changes],
        }
        compared = self.experiment.conditions(self)
        # doses may grow: training sizes are a condition of their own only if they are no doses
        fixed = "doses" not in compared or self.experiment.dose_key != "train_sizes"
        return {
            **self.source.conditions(),
            **{key: value for key, value in later.items() if value != UNNAMED_CONDITIONS[key]},
            **compared,
            "simstudy": simstudy.__version__,
            "seed": self.seed,
            "models": self.problems,
            "family": self.source.identity,
            "data.train_sizes": list(self.train_sizes) if fixed else [],
            **self.source.drawn(),
            "learners": [[learner.label, _identity(learner)] for learner in self.learners],
            MEASURED: [spec.identity for spec in self.targets or self.measured],
            "measures.prior": self.prior if isinstance(self.prior, str) else list(self.prior),
            "measures.cutoff": self.cutoff,
            "measures.base": self.base,
            "measures.reward": self.reward,
            "plugins": [plugin.digest for plugin in self.plugins],
            "source": dict(self.sources),
        }

    def stream(self, problem: int, role: str) -> np.random.Generator:
        """The random stream of one role in one problem."""
        return stream(self.seed, *self.source.subject(problem), role)

    def stream_key(self, problem: int, role: str) -> str:
        """The purpose of that stream, as the text that seeds it."""
        return stream_key(self.seed, *self.source.subject(problem), role)

    def fingerprint(self) -> str:
        """A digest of the conditions: runs with the same fingerprint have the same scores."""
        named = {
            key: value
            for key, value in self.conditions().items()
            if key not in UNNAMED_CONDITIONS or value != UNNAMED_CONDITIONS[key]
        }
        return hashlib.sha256(json.dumps(named).encode()).hexdigest()


def _identity(learner: Spec) -> str:
    """The identity of a learner, with how its rows are prepared."""
    if learner.preparation is None:
        return learner.identity
    prepared = {**asdict(learner.preparation), "accepts": sorted(learner.accepts)}
    return json.dumps([learner.identity, prepared], sort_keys=True)


def make_plan(study: Study) -> Plan:
    """The plan of a validated study."""
    plan = stated_plan(study)
    names = registered(plan.component_names)
    digests = [(name, registry.source_digest(name)) for registry, name in names]
    nested = {path for spec in study.learners for path in paths_in(spec.parameters)}
    digests += [(path, LEARNERS.source_digest(path)) for path in sorted(nested - {*dict(digests)})]
    learners = list(study.learners)
    for place, spec in enumerate(learners if study.source.prepares else ()):
        from simstudy.study.checks import prepared_for

        preparation, accepts = prepared_for(spec, study.preparation, build(LEARNERS, spec))
        learners[place] = replace(spec, preparation=preparation, accepts=accepts)
    return replace(
        plan,
        learners=tuple(learners),
        exact=tuple(
            spec.label
            for spec in study.measured
            if all(has_exact_value(MEASURES.get(level)) for level in level_names(spec.name))
        ),
        plugins=study.plugin_files,
        sources=tuple((name, digest) for name, digest in digests if digest is not None),
        interactive=tuple(
            (registry.kind, name, registry.get(name))
            for registry, name in names
            if registry.interactive(name)
        ),
    )


def stated_plan(study: Study) -> Plan:
    """The part of a plan that the study file states; no name is looked up."""
    measures = study.measures
    prior = measures.prior
    return Plan(
        **{name: getattr(study, name) for name in _STATED},
        origin=study.source.sent(study.family),
        repeats=study.data.repeats or 0,
        training_sets=study.data.training_sets or 0,
        confidence=study.analysis.confidence,
        positive=measures.positive,
        prior=prior if isinstance(prior, str) else tuple(prior),
        cutoff=measures.cutoff,
        base=math.e if measures.base == "e" else float(measures.base),
        reward=measures.reward,
        timeout=study.limits.timeout,
        memory=study.limits.memory,
    )
