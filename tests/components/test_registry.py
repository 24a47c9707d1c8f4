"""How things are named, found and plugged in."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from simstudy import SimstudyError, load_study
from simstudy.components.plugins import load_plugin, read_plugin
from simstudy.components.registry import LEARNERS, REGISTRIES, Registry

FAMILY = """
from dataclasses import dataclass
from simstudy import Family, register_family

@register_family("{name}")
@dataclass(frozen=True)
class Mine(Family):
    "A family of one's own."
    depth: int = {depth}

    def draw(self, rng):
        cards = self.draw_cards(rng)
        target = len(cards) - 1
        return self.draw_model(rng, cards, [[target]] * target + [[]])
"""


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.kind)
def test_every_built_in_can_be_found_and_says_what_it_is(registry):
    built_in = [name for name in registry.names() if registry.source_digest(name) is None]
    assert len(built_in) >= 4
    for name in built_in:
        first_line = registry.get(name).__doc__.strip().split("\n")[0]
        assert 10 < len(first_line) <= 100, (name, first_line)
        assert first_line.endswith("."), (name, first_line)


def test_a_second_registration_of_one_name_is_refused():
    registry = Registry("thing", "things", {"old": "math:pi"})
    registry.register("new", int)
    with pytest.raises(SimstudyError, match="a thing named 'old' is already registered by simst"):
        registry.register("old", int)
    with pytest.raises(SimstudyError, match="a thing named 'new' is already registered by builti"):
        registry.register("new", str)
    registry = Registry("estimator", "estimators", {"old": "math:pi"})
    with pytest.raises(SimstudyError, match=r"^an estimator named 'old' is already registered"):
        registry.register("old", int)


def test_a_definition_executed_again_replaces_the_first():
    registry = Registry("thing", "things", {})

    def define():
        @dataclass(frozen=True)
        class Thing:
            pass

        return registry.register("thing", Thing)

    define()
    second = define()
    assert registry.get("thing") is second


def test_an_unknown_name_lists_the_catalogue():
    registry = Registry("thing", "things", {"pie": "math:pi"})
    with pytest.raises(SimstudyError, match="unknown thing 'pi'; did you mean 'pie'\\? known: pie"):
        registry.get("pi")


def test_a_path_goes_to_what_makes_the_things_of_its_package():
    paths = {"numpy": "builtins:len", "": "builtins:str"}
    registry = Registry("thing", "things", {}, by_path=paths)
    assert registry.get("numpy:pi") == len("numpy:pi")
    assert registry.get("numpy.x:y") == len("numpy.x:y")
    assert registry.get("numpyx:pi") == "numpyx:pi"
    assert registry.source_digest("numpy:pi") == registry.source_digest("numpy.x:y")


def test_a_classifier_of_a_module_without_a_version_counts_by_its_source(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "versionless.py").write_text("import versionless_base")
    digests = []
    for text in ("", "x = 1"):
        (tmp_path / "versionless_base.py").write_text(text)
        digests.append(LEARNERS.source_digest("versionless:Classifier"))
    assert all(digests)
    assert digests[0] != digests[1]


def test_installed_modules_do_not_belong_to_one_another(tmp_path):
    place = tmp_path / "site-packages"
    place.mkdir()
    (place / "one.py").write_text("import two")
    (place / "two.py").write_text("")
    assert read_plugin(place / "one.py").files == ()


def test_a_study_names_a_family_of_the_users_own_file(write_study, tmp_path):
    (tmp_path / "mine.py").write_text(FAMILY.format(name="own_file", depth=3))
    changes = {"seed = 7": 'seed = 7\nplugins = ["mine.py"]', '"tan"\nvar': '"own_file"\nvar'}
    study = load_study(write_study(changes))
    assert study.family.resolved["depth"] == 3


def test_a_changed_plugin_is_loaded_again(tmp_path):
    from simstudy.components.registry import FAMILIES

    path = tmp_path / "mine.py"
    path.write_text(FAMILY.format(name="changing", depth=1))
    first = load_plugin(path)
    path.write_text(FAMILY.format(name="changing", depth=2))
    assert load_plugin(path) != first
    assert FAMILIES.get("changing")().depth == 2


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("import nothing_of_this_name", r"ModuleNotFoundError: No module named .* \(line 1\)"),
        ("x = 1\nx = = 2", r"SyntaxError: invalid syntax \(line 2\)"),
        ("def f():\n    return 1 / 0\n\nf()", r"ZeroDivisionError: division by zero \(line 2\)"),
    ],
)
def test_a_plugin_that_fails_to_load_is_named_with_its_line(write_study, tmp_path, content, said):
    (tmp_path / "broken.py").write_text(content)
    with pytest.raises(SimstudyError, match=rf"plugins\[0\]: plugin .*broken.py fails .*{said}"):
        load_study(write_study({"seed = 7": 'seed = 7\nplugins = ["broken.py"]'}))


def test_a_plugin_that_is_not_there_is_named(write_study):
    with pytest.raises(SimstudyError, match=r"plugins\[0\]: plugin .*none.py cannot be read"):
        load_study(write_study({"seed = 7": 'seed = 7\nplugins = ["none.py"]'}))


def test_a_thing_that_is_no_dataclass_is_refused(write_study, tmp_path):
    (tmp_path / "odd.py").write_text(
        "import simstudy\n@simstudy.register_learner('odd')\nclass Odd: 'Odd.'\n"
    )
    changes = {"seed = 7": 'seed = 7\nplugins = ["odd.py"]', '"naive_bayes"': '"odd"'}
    with pytest.raises(SimstudyError, match=r"learners\[0\]: the learner 'odd' is not a dataclass"):
        load_study(write_study(changes))


def test_a_parameter_without_default_must_be_given(write_study, tmp_path):
    (tmp_path / "needy.py").write_text(
        "from dataclasses import dataclass\nimport simstudy\n"
        "@simstudy.register_learner('needy')\n@dataclass(frozen=True)\nclass Needy:\n"
        "    'Needy.'\n    strength: float\n"
    )
    changes = {"seed = 7": 'seed = 7\nplugins = ["needy.py"]', '"naive_bayes"': '"needy"'}
    with pytest.raises(SimstudyError, match=r"learners\[0\].strength: .* needs the key 'strength'"):
        load_study(write_study(changes))


@pytest.mark.parametrize("name", ["family", "model", "size", "learner", "status"])
def test_a_measure_cannot_take_the_name_of_a_score_column(name):
    from simstudy import register_measure

    with pytest.raises(SimstudyError, match=f"a measure cannot be named '{name}'"):
        register_measure(name, greater_is_better=True)(lambda proba, y: y)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines"),
    ],
)
def test_whatever_a_plugin_does_is_one_sentence(tmp_path, body, said):
    path = tmp_path / "rude.py"
    path.write_text(body)
    with pytest.raises(SimstudyError, match=said):
        load_plugin(path)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("    def __post_init__(self): raise KeyError('k')", "KeyError: 'k'"),
        ("    def __post_init__(self): assert False, 'no'", "AssertionError: no"),
        ("    x: 'NoSuchType' = 1", "NameError: name 'NoSuchType' is not defined"),
    ],
)
def test_a_things_own_errors_are_told_with_its_key(write_study, tmp_path, body, said):
    name = f"odd{abs(hash(body))}"
    (tmp_path / "odd.py").write_text(
        "from dataclasses import dataclass\nimport simstudy\n"
        f"@simstudy.register_learner('{name}')\n@dataclass(frozen=True)\nclass Odd:\n"
        f"    'Odd.'\n{body}\n"
    )
    changes = {"seed = 7": 'seed = 7\nplugins = ["odd.py"]', '"naive_bayes"': f'"{name}"'}
    with pytest.raises(SimstudyError, match=rf"learners\[0\]: {said}"):
        load_study(write_study(changes))
