"""Everything that is registered keeps the published contract of its kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simstudy.components.registry import REGISTRIES, AnyRegistry
from simstudy.testing import (
    check_change,
    check_estimate,
    check_family,
    check_learner,
    check_measure,
    check_test,
)

CHECKS: dict[str, Callable[..., None]] = {
    "family": check_family,
    "change": check_change,
    "learner": check_learner,
    "measure": check_measure,
    "estimator": check_estimate,
    "test": check_test,
}
EVERYTHING = [
    pytest.param(registry, name, id=f"{registry.kind}-{name}")
    for registry in REGISTRIES
    for name in registry.names()
    if registry.is_own(name)
]
ASIA = str(Path(__file__).parents[2] / "studies" / "networks" / "asia.bif")
TABLE = "@relation t\n@attribute a {p,q}\n@attribute b {u,v}\n@attribute class {x,y}\n@data\n"
# Parameters of those that have none by default, or are slow with their own.
PARAMETERS: dict[tuple[str, str], dict[str, Any]] = {
    ("family", "network"): {"file": ASIA, "target": "lung"},
    ("family", "fitted"): {"data": TABLE + "p,u,x\nq,v,y\np,v,x\nq,u,y\n" * 3, "target": "class"},
    ("change", "shift"): {"class_prior": "random"},
    ("estimator", "nested_cross_validation"): {"repeats": 10},
}
# Points of the contract that some waive, and limits for what takes long.
ORDER = {"permutation": False}  # ties are broken by the order of the attributes
OPTIONS: dict[tuple[str, str], dict[str, Any]] = {
    ("family", "network"): {"draws": 2, "varied": False},
    ("family", "fitted"): {"draws": 3},
    ("change", "missing"): {"draws": 2},
    ("learner", "camml"): {"max_attributes": 11, **ORDER},
    ("learner", "kdb"): {"max_attributes": 30},
    ("learner", "cost_sensitive"): {"max_attributes": 20},
    ("learner", "calibrated"): {"max_attributes": 20, "weights": False},
    ("learner", "select"): {"max_attributes": 20, "weights": False, **ORDER},
} | {
    ("learner", name): ORDER
    for name in ("lbr", "c45", "boosted_c45", "mml_tree", "mml_graph", "one_r", "decision_stump")
}


@pytest.mark.parametrize(("registry", "name"), EVERYTHING)
def test_everything_registered_keeps_its_contract(registry: AnyRegistry, name: str) -> None:
    component: Any = registry.get(name)
    key = registry.kind, name
    if registry.kind != "measure":
        component = component(**PARAMETERS.get(key, {}))
    if getattr(component, "knows_model", False):
        with pytest.raises(AssertionError, match="for studies only"):
            check_learner(component)
    else:
        CHECKS[registry.kind](component, **OPTIONS.get(key, {}))


def test_what_is_waived_is_registered() -> None:
    everything = {(registry.kind, name) for registry in REGISTRIES for name in registry.names()}
    assert {*PARAMETERS, *OPTIONS} <= everything
