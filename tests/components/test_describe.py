"""Descriptions of components: complete, and true of what the components accept."""

from __future__ import annotations

import inspect
import re
import typing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from simstudy import SimstudyError
from simstudy.components.describe import (
    REQUIRED,
    describe_component,
    find_components,
    limits,
    parameters_of,
    plain_text,
)
from simstudy.components.registry import FAMILIES, MEASURES, REGISTRIES, Registry

BUILT_IN = [
    (registry, name)
    for registry in REGISTRIES
    for name in (*registry.names(), *registry.known_paths)
    if registry.is_own(name) or name in registry.known_paths
]
ASIA = str(Path(__file__).parents[2] / "studies" / "networks" / "asia.bif")
TABLE = "@relation t\n@attribute a {p,q}\n@attribute b {u,v}\n@attribute class {x,y}\n@data\n"
TABLE += "p,u,x\nq,v,y\np,v,x\nq,u,y\n"
NEEDED = {
    "NetworkFamily": {"file": ASIA, "target": "lung", "cpts": "dirichlet"},
    "FittedFamily": {"data": TABLE, "target": "class"},
}
NOBODYS = {"truth", "prior", "accuracy"}  # no paper proposed these
DESCRIPTIONS = {
    (registry.kind, name): describe_component(registry, name) for registry, name in BUILT_IN
}
PARAMETERS = [
    pytest.param(registry.get(name), parameter, id=f"{registry.kind} {name}, {parameter.name}")
    for registry, name in BUILT_IN
    if registry is not MEASURES
    for parameter in DESCRIPTIONS[registry.kind, name].parameters
]


@pytest.mark.parametrize("description", DESCRIPTIONS.values(), ids=map(str, DESCRIPTIONS))
def test_every_component_is_described_in_full(description):
    assert description.summary.endswith(".")
    for parameter in description.parameters:
        assert parameter.meaning.endswith("."), parameter.name
        assert not parameter.meaning.startswith("See "), parameter.name
        assert parameter.type, parameter.name
        needed = parameter.default is REQUIRED
        may_be = description.kind == "measure" or description.name in ("network", "fitted")
        assert not needed or may_be, parameter.name
    if description.name not in NOBODYS:
        assert description.references
        assert all(re.search(r" \(\d{4}\)\. ", text) for text in description.references)
    if description.kind == "measure":
        assert "``" in inspect.getdoc(MEASURES.get(description.name))  # a formula
        assert description.info is not None


@pytest.mark.parametrize(("registry", "name"), BUILT_IN)
def test_every_parameter_is_among_those_described(registry, name):
    signature = {*inspect.signature(registry.get(name)).parameters} - {"proba", "y"}
    described = {one.name for one in DESCRIPTIONS[registry.kind, name].parameters}
    assert described == signature


def accepts(cls: type, name: str, value: object) -> bool:
    try:
        cls(**{**NEEDED.get(cls.__name__, {}), name: value})
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(("cls", "parameter"), PARAMETERS)
def test_the_stated_limits_are_those_of_the_component(cls, parameter):
    options = typing.get_args(parameter.hint) or (parameter.hint,)
    pair = typing.get_origin(parameter.hint) is tuple
    whole = int in options
    if not (whole or float in options) or str in options:
        assert not limits(parameter.type)
        return
    stated = limits(parameter.type)
    assert stated
    for sign, bound in stated:
        step = (1 if whole else 1e-6) * (1 if sign[0] == ">" else -1)
        inside, outside = (bound, bound - step) if "=" in sign else (bound + step, bound)
        for value, allowed in ((inside, True), (outside, False)):
            given = (value, value) if pair else value
            assert accepts(cls, parameter.name, given) is allowed, (parameter.name, given)
    if not any(sign[0] == "<" for sign, _ in stated):
        assert accepts(cls, parameter.name, 10**9)


@pytest.mark.parametrize(("cls", "parameter"), PARAMETERS)
def test_the_stated_alternatives_are_those_of_the_component(cls, parameter):
    if typing.get_origin(parameter.hint) is not typing.Literal:
        assert not parameter.type.startswith("{")
        return
    stated = re.fullmatch(r'\{("\w[^"]*"(?:, "\w[^"]*")*)\}', parameter.type)
    assert stated is not None
    words = re.findall(r'"([^"]+)"', stated[1])
    assert sorted(words) == sorted(typing.get_args(parameter.hint))
    assert all(accepts(cls, parameter.name, word) for word in words)
    assert not accepts(cls, parameter.name, "nonsense")


def test_a_name_of_two_kinds_is_described_twice():
    assert [one.kind for one in find_components("tan")] == ["family", "learner"]
    assert [one.kind for one in find_components("regret")] == ["measure"]


def test_an_unknown_name_gets_suggestions_of_all_kinds():
    with pytest.raises(SimstudyError, match="'informtion_reward'; did you mean 'information_rewar"):
        find_components("informtion_reward")
    with pytest.raises(SimstudyError, match="did you mean 'camml'"):
        find_components("caml")


@pytest.mark.parametrize("path", ["no_such_package:X", "sklearn.tree:No", "pgmpy:No", ".:x", ":"])
def test_an_unknown_path_is_one_sentence(path):
    with pytest.raises(SimstudyError):
        find_components(path)


def test_a_classifier_of_scikit_learn_is_described_by_its_own_docstring():
    (forest,) = find_components("sklearn.ensemble:RandomForestClassifier")
    by_name = {one.name: one for one in forest.parameters}
    assert by_name["n_estimators"].default == 100
    assert by_name["n_estimators"].type == "int"
    assert "number of trees" in by_name["n_estimators"].meaning
    assert by_name["encode"].default_text == '"auto"'
    assert any("random_state" in note for note in forest.notes)
    assert "`" not in " ".join((*forest.text, *(one.meaning for one in forest.parameters)))


def test_a_component_without_docstrings_has_its_fields_and_types():
    @dataclass(frozen=True)
    class Bare:
        needed: float
        depth: int = 3
        kind: typing.Literal["a", "b"] = "a"
        often: int | None = None
        sizes: list[int] = field(default_factory=lambda: [1, 2])
        odd: typing.Any = None

    registry = Registry("thing", "things", {})
    registry.register("bare", Bare)
    found = {one.name: one for one in describe_component(registry, "bare").parameters}
    assert describe_component(registry, "bare").summary == ""
    assert found["needed"].default is REQUIRED
    assert (found["depth"].default_text, found["depth"].type) == ("3", "int")
    assert (found["kind"].default_text, found["kind"].type) == ('"a"', '{"a", "b"}')
    assert (found["often"].default_text, found["often"].type) == ("", "int, optional")
    assert (found["sizes"].default_text, found["sizes"].type) == ("[1, 2]", "list[int]")
    assert found["odd"].type == ""
    assert all(one.meaning == "" for one in found.values())


def test_a_subclass_documents_its_own_parameters_and_inherits_the_others():
    found = {one.name: one for one in parameters_of(FAMILIES.get("kdb"))}
    assert [*found][:2] == ["variables", "values"]
    assert "target included" in found["variables"].meaning
    assert found["k"].default == 2


def test_markup_is_taken_away():
    text = "See :class:`~a.b.C`, :ref:`the guide <guide>`,\n  ``x = 1`` and `y`."
    assert plain_text(text) == "See a.b.C, the guide, x = 1 and y."


def test_limits_are_read_from_types():
    assert limits("float > 0, <= 0.5") == [(">", 0), ("<=", 0.5)]
    assert limits("(int, int), each >= 2") == [(">=", 2)]
