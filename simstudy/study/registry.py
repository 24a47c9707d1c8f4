"""Registries of families, changes, learners, measures, estimators and tests."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import inspect
import sys
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from simstudy.errors import SimstudyError, describe, suggestion
from simstudy.study.plugins import is_plugin, plugin_digest, read_plugin

Component = TypeVar("Component")


class UnknownNameError(SimstudyError):
    """A name that nothing is registered under."""


class Registry:
    """The components of one kind, built in or registered by plugins.

    Built-in components are imported on demand. A dotted path is passed to the function that
    ``by_path`` has for its package, or for "".
    """

    def __init__(
        self,
        kind: str,
        plural: str,
        builtin: Mapping[str, str],
        reserved: Sequence[str] = (),
        by_path: Mapping[str, str] | None = None,
        by_path_help: str = "",
        known_paths: Sequence[str] = (),
    ) -> None:
        self.by_path_help, self.known_paths = by_path_help, known_paths
        self.kind, self.plural, self.reserved, self._by_path = kind, plural, reserved, by_path
        self._builtin = dict(builtin)
        self._registered: dict[str, Any] = {}

    def register(self, name: str, component: Component) -> Component:
        """Add a component under a new name."""
        if name in self.reserved:
            raise SimstudyError(
                f"a {self.kind} cannot be named '{name}': the scores have a column of that name"
            )
        previous = self._registered.get(name)
        if name in self._builtin or (previous is not None and not _same(previous, component)):
            origin = "simstudy" if name in self._builtin else previous.__module__
            raise SimstudyError(f"a {self.kind} named '{name}' is registered already, by {origin}")
        self._registered[name] = component
        return component

    def get(self, name: str) -> Any:
        """The component of this name; an error with suggestions if unknown."""
        if name in self._builtin:
            return _import(self._builtin[name])
        if self._by_path is not None and ":" in name:
            return _import(self._by_path.get(_package(name), self._by_path[""]))(name)
        if name not in self._registered:
            _load_entry_points()
        if name not in self._registered:
            raise UnknownNameError(f"unknown {self.kind} '{name}'{suggestion(name, self.names())}")
        return self._registered[name]

    def loaded(self, name: str) -> Any:
        """The component of this name if a plugin registered it already; else None."""
        return self._registered.get(name)

    def is_own(self, name: str) -> bool:
        """Whether a name is built in; looking up any other may execute plugins."""
        return name in self._builtin

    def names(self) -> list[str]:
        """All names, built-ins first."""
        _load_entry_points()
        return [*self._builtin, *self._registered]

    def interactive(self, name: str) -> bool:
        """Whether a component cannot be imported by a worker process."""
        module = getattr(self._registered.get(name), "__module__", "")
        return name in self._registered and not is_plugin(module)

    def in_session(self, name: str) -> bool:
        """Whether only the running session registers a component: no plugin, no package does."""
        package = str(getattr(self._registered.get(name), "__module__", "")).partition(".")[0]
        return self.interactive(name) and package not in _announcing_packages()

    def source_digest(self, name: str) -> str | None:
        """A digest of a component's source, or its package's version; None if built in."""
        if name in self._builtin:
            return None
        if ":" in name:
            version = getattr(importlib.import_module(_package(name)), "__version__", None)
            if version:
                return str(version)
            module = importlib.import_module(name.partition(":")[0])
            return _file_digest(module.__name__) or ""
        # unknown: never equal
        return self.known_digest(name) or hashlib.sha256(uuid.uuid4().bytes).hexdigest()

    def known_digest(self, name: str) -> str | None:
        """A digest of a registered component's source; None if it cannot be read."""
        component = self.get(name)
        if is_plugin(component.__module__):
            return plugin_digest(component.__module__)
        digest = _file_digest(component.__module__)
        if digest is None:
            with contextlib.suppress(OSError, TypeError):
                # in a notebook there is no file, only the definition
                digest = hashlib.sha256(inspect.getsource(component).encode()).hexdigest()
        return digest


def _file_digest(module: str) -> str | None:
    """A digest of a module's file and of what it imports from its directory; None if unknown."""
    file = getattr(sys.modules.get(module), "__file__", None)
    with contextlib.suppress(SimstudyError):
        return read_plugin(Path(file)).digest if file else None
    return None


def _import(path: str) -> Any:
    module, attribute = path.split(":")
    return getattr(importlib.import_module(module), attribute)


def _package(path: str) -> str:
    """The package of a dotted path such as ``sklearn.tree:DecisionTreeClassifier``."""
    return path.partition(":")[0].partition(".")[0]


def _same(one: Any, other: Any) -> bool:
    """Whether two objects are one definition executed twice."""
    return (one.__module__, one.__qualname__) == (other.__module__, other.__qualname__)


_SOURCES = "simstudy.sources"
FAMILIES = Registry(
    "family",
    "families",
    {
        "naive_bayes": f"{_SOURCES}.naive_bayes:NaiveBayesFamily",
        "tan": f"{_SOURCES}.tan:TANFamily",
        "aode": f"{_SOURCES}.aode:AODEFamily",
        "kdb": f"{_SOURCES}.kdb:KDBFamily",
        "fitted": f"{_SOURCES}.fitted:FittedFamily",
        "network": f"{_SOURCES}.network:NetworkFamily",
        "random_dag": f"{_SOURCES}.random_dag:RandomDAGFamily",
        "latent_class": f"{_SOURCES}.latent_class:LatentClassFamily",
        "noisy_or": f"{_SOURCES}.noisy_or:NoisyOrFamily",
        "decision_tree": f"{_SOURCES}.decision_tree:DecisionTreeFamily",
    },
)
_CHANGES = f"{_SOURCES}.changes"
CHANGES = Registry(
    "change",
    "changes",
    {
        "irrelevant": f"{_CHANGES}.irrelevant:Irrelevant",
        "duplicate": f"{_CHANGES}.duplicate:Duplicate",
        "label_noise": f"{_CHANGES}.label_noise:LabelNoise",
        "missing": f"{_CHANGES}.missing:Missing",
        "shift": f"{_CHANGES}.shift:Shift",
    },
)
_LEARNERS = "simstudy.learners"
_SEARCHES = ("pgmpy:HillClimbSearch", "pgmpy:GES", "pgmpy:PC", "pgmpy:TreeSearch")
LEARNERS = Registry(
    "learner",
    "learners",
    {
        "truth": f"{_LEARNERS}.truth:Truth",
        "prior": f"{_LEARNERS}.prior:Prior",
        "naive_bayes": f"{_LEARNERS}.naive_bayes:NaiveBayes",
        "tan": f"{_LEARNERS}.tan:TAN",
        "aode": f"{_LEARNERS}.aode:AODE",
        "kdb": f"{_LEARNERS}.kdb:KDB",
        "camml": f"{_LEARNERS}.camml.learner:CaMML",
        "hnb": f"{_LEARNERS}.hnb:HNB",
        "lbr": f"{_LEARNERS}.lbr:LBR",
        "c45": f"{_LEARNERS}.c45.learner:C45",
        "boosted_c45": f"{_LEARNERS}.c45.boosting:BoostedC45",
        "mml_tree": f"{_LEARNERS}.mml.tree:MMLTree",
        "mml_graph": f"{_LEARNERS}.mml.graph:MMLGraph",
        "decision_stump": f"{_LEARNERS}.one_attribute:DecisionStump",
        "one_r": f"{_LEARNERS}.one_attribute:OneR",
        "calibrated": f"{_LEARNERS}.calibrated:Calibrated",
        "select": f"{_LEARNERS}.select:Select",
        "cost_sensitive": f"{_LEARNERS}.cost_sensitive:CostSensitive",
    },
    by_path={"pgmpy": f"{_LEARNERS}.pgmpy:pgmpy_learner", "": f"{_LEARNERS}.scikit:scikit_learner"},
    by_path_help='any classifier by its path, "sklearn.ensemble:RandomForestClassifier", and '
    f"pgmpy's searches: {', '.join(_SEARCHES)}",
    known_paths=_SEARCHES,
)
_MEASURES = "simstudy.measures"
MEASURES = Registry(
    "measure",
    "measures",
    {
        "information_reward": f"{_MEASURES}.rewards:information_reward",
        "information_reward_2002": f"{_MEASURES}.rewards:information_reward_2002",
        "information_reward_2002_modal": f"{_MEASURES}.rewards:information_reward_2002_modal",
        "good_reward": f"{_MEASURES}.rewards:good_reward",
        "kononenko_bratko": f"{_MEASURES}.rewards:kononenko_bratko",
        "accuracy": f"{_MEASURES}.losses:accuracy",
        "log_loss": f"{_MEASURES}.losses:log_loss",
        "brier_score": f"{_MEASURES}.losses:brier_score",
        "mean_absolute_error": f"{_MEASURES}.errors:mean_absolute_error",
        "rmse": f"{_MEASURES}.errors:rmse",
        "relative_absolute_error": f"{_MEASURES}.errors:relative_absolute_error",
        "root_relative_squared_error": f"{_MEASURES}.errors:root_relative_squared_error",
        "kononenko_bratko_total": f"{_MEASURES}.errors:kononenko_bratko_total",
        "kononenko_bratko_relative": f"{_MEASURES}.errors:kononenko_bratko_relative",
        "class_complexity": f"{_MEASURES}.errors:class_complexity",
        "complexity_improvement": f"{_MEASURES}.errors:complexity_improvement",
        "miscalibration": f"{_MEASURES}.calibration:miscalibration",
        "error_rate": f"{_MEASURES}.decisions:error_rate",
        "kappa": f"{_MEASURES}.decisions:kappa",
        "precision": f"{_MEASURES}.per_class:precision",
        "recall": f"{_MEASURES}.per_class:recall",
        "false_positive_rate": f"{_MEASURES}.per_class:false_positive_rate",
        "f_score": f"{_MEASURES}.per_class:f_score",
        "balanced_accuracy": f"{_MEASURES}.decisions:balanced_accuracy",
        "matthews": f"{_MEASURES}.decisions:matthews",
        "sensitivity_specificity": f"{_MEASURES}.decisions:sensitivity_specificity",
        "cost": f"{_MEASURES}.costs:cost",
        "average_cost": f"{_MEASURES}.costs:average_cost",
        "auc": f"{_MEASURES}.ranking:auc",
        "scored_auc": f"{_MEASURES}.scored_ranking:scored_auc",
        "probabilistic_auc": f"{_MEASURES}.scored_ranking:probabilistic_auc",
        "average_precision": f"{_MEASURES}.retrieval:average_precision",
        "interpolated_precision": f"{_MEASURES}.retrieval:interpolated_precision",
        "precision_at": f"{_MEASURES}.retrieval:precision_at",
        "recall_at": f"{_MEASURES}.retrieval:recall_at",
        "lift": f"{_MEASURES}.retrieval:lift",
        "h_measure": f"{_MEASURES}.ranking:h_measure",
        "sar": f"{_MEASURES}.ranking:sar",
        "calibration_loss": f"{_MEASURES}.calibration:calibration_loss",
        "refinement_loss": f"{_MEASURES}.calibration:refinement_loss",
        "expected_calibration_error": f"{_MEASURES}.calibration:expected_calibration_error",
        "overconfidence": f"{_MEASURES}.calibration:overconfidence",
        "underconfidence": f"{_MEASURES}.calibration:underconfidence",
        "kl_divergence": f"{_MEASURES}.truth:kl_divergence",
        "regret": f"{_MEASURES}.truth:regret",
        "representation": f"{_MEASURES}.truth:representation",
        "estimation": f"{_MEASURES}.truth:estimation",
        "message_length": f"{_MEASURES}.messages:message_length",
        "message_length_theory": f"{_MEASURES}.messages:message_length_theory",
        "message_length_data": f"{_MEASURES}.messages:message_length_data",
    },
    reserved=("family", "model", "size", "learner", "status", "measure"),
)
_ESTIMATORS = "simstudy.estimators"
ESTIMATORS = Registry(
    "estimator",
    "estimators",
    {
        "resubstitution": f"{_ESTIMATORS}.splitting:ResubstitutionEstimator",
        "holdout": f"{_ESTIMATORS}.splitting:HoldoutEstimator",
        "cross_validation": f"{_ESTIMATORS}.splitting:CrossValidationEstimator",
        "leave_one_out": f"{_ESTIMATORS}.splitting:LeaveOneOutEstimator",
        "five_by_two": f"{_ESTIMATORS}.splitting:FiveByTwoEstimator",
        "bootstrap_632": f"{_ESTIMATORS}.bootstrap:BootstrapEstimator",
        "nested_cross_validation": f"{_ESTIMATORS}.nested:NestedEstimator",
    },
)
TESTS = Registry(
    "test",
    "tests",
    {
        "cross_validated_t": f"{_ESTIMATORS}.comparing:CrossValidatedT",
        "resampled_t": f"{_ESTIMATORS}.comparing:ResampledT",
        "five_by_two_t": f"{_ESTIMATORS}.comparing:FiveByTwoT",
        "five_by_two_f": f"{_ESTIMATORS}.comparing:FiveByTwoF",
        "mcnemar": f"{_ESTIMATORS}.comparing:McNemarTest",
    },
)
REGISTRIES = (FAMILIES, CHANGES, LEARNERS, MEASURES, ESTIMATORS, TESTS)
DATA = "data"  # stands in place of a family in studies of data sets


def registered(
    family: str, learners: Iterable[str], measures: Iterable[str], changes: Iterable[str] = ()
) -> list[tuple[Registry, str]]:
    """The components of a study, each with its registry; data sets are none."""
    named = ((CHANGES, changes), (LEARNERS, learners), (MEASURES, measures))
    found = [(kind, name) for kind, names in named for name in names]
    return found if family == DATA else [(FAMILIES, family), *found]


def first_line(registry: Registry, name: str) -> str:
    """The first line of a component's docstring."""
    text = getattr(registry.get(name), "__doc__", None)
    return str(text or "").strip().split("\n")[0]


def makes_missing(changes: Iterable[str]) -> bool:
    """Whether rows have missing values after these changes."""
    return any(getattr(CHANGES.get(name), "makes_missing", False) for name in changes)


def register_family(name: str) -> Callable[[type[Component]], type[Component]]:
    """Make a family known to studies under ``name`` (a class decorator)."""
    return lambda cls: FAMILIES.register(name, cls)


def register_change(name: str) -> Callable[[type[Component]], type[Component]]:
    """Make a change known to studies under ``name`` (a class decorator)."""
    return lambda cls: CHANGES.register(name, cls)


def register_learner(name: str) -> Callable[[type[Component]], type[Component]]:
    """Make a learner known to studies under ``name`` (a class decorator)."""
    return lambda cls: LEARNERS.register(name, cls)


def register_measure(
    name: str, *, greater_is_better: bool, **info: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a measure known to studies under ``name`` (a function decorator).

    The keywords are those of `simstudy.measures.base.measure`.
    """
    from simstudy.measures.base import measure

    attach = measure(greater_is_better=greater_is_better, **info)
    return lambda function: MEASURES.register(name, attach(function))


_GROUP = "simstudy.plugins"  # of entry points
_entry_points_loaded = False


@cache
def _announcing_packages() -> frozenset[str]:
    """The installed packages that announce plugins."""
    from importlib.metadata import entry_points

    return frozenset(_package(point.value) for point in entry_points(group=_GROUP))


def _load_entry_points() -> None:
    """Import the plugins of installed packages, once."""
    global _entry_points_loaded
    if _entry_points_loaded:
        return
    _entry_points_loaded = True
    from importlib.metadata import entry_points

    for point in entry_points(group=_GROUP):
        try:
            point.load()
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise SimstudyError(
                f"installed plugin '{point.name}' ({point.value}) fails to load: {describe(error)}"
            ) from error
