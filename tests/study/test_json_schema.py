"""The JSON Schema of study files and lists: it accepts what simstudy does, and refuses slips."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator, ValidationError

from simstudy import SimstudyError, load_collection, make_study
from simstudy.components.describe import parameters_of
from simstudy.components.registry import FAMILIES, LEARNERS
from simstudy.experiments import DEFAULT, experiment, names
from simstudy.study.content import StudyFile
from simstudy.study.files import builtin_studies
from simstudy.study.json_schema import list_schema, study_schema
from simstudy.study.lists import is_collection
from simstudy.study.sections import Analysis, Data, Limits, MeasuresSection, Thresholds

STARTER = Path(__file__).parents[2] / "simstudy" / "study" / "starter.toml"
STUDY = """
name = "x"
[family]
name = "tan"
[[learners]]
name = "tan"
"""


@pytest.fixture(scope="module")
def study() -> Draft202012Validator:
    schema = study_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.fixture(scope="module")
def listing() -> Draft202012Validator:
    schema = list_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.slow
@pytest.mark.parametrize("name", builtin_studies())
def test_every_built_in_study_is_valid(study, listing, name):
    content = tomllib.loads(builtin_studies()[name].read_text(encoding="utf-8"))
    (listing if is_collection(content) else study).validate(content)


def alternatives() -> list[str]:
    """The starter, and the starter with each alternative in it in use."""
    lines = STARTER.read_text(encoding="utf-8").splitlines()
    found = ["\n".join(lines)]
    for place, line in enumerate(lines):
        if not re.match(r"#[a-z\[]", line):
            continue
        used = [*lines]
        used[place] = line[1:]
        if line.startswith("#["):  # with all of its section
            rest = place + 1
            while rest < len(lines) and lines[rest].startswith("#"):
                used[rest] = lines[rest][1:]
                rest += 1
        else:
            key = line[1:].partition(" ")[0]
            above = [*range(place - 1, -1, -1)]
            start = next((at for at in above if re.match(r"#?\[", lines[at])), 0)
            if start and lines[start].startswith("#"):
                continue  # belongs to a section that is not in use
            replaced = [at for at in above if at > start and lines[at].startswith(f"{key} =")]
            for at in replaced:
                used[at] = ""
        found.append("\n".join(used))
    return found


@pytest.mark.parametrize("text", alternatives())
def test_the_starter_and_each_of_its_alternatives_are_valid(study, text):
    content = tomllib.loads(text)
    study.validate(content)
    assert make_study(content).models == 20


def test_the_starter_has_every_key_of_a_study():
    text = STARTER.read_text(encoding="utf-8")
    assert len(alternatives()) > 15
    sections = [StudyFile, Data, MeasuresSection, Analysis, Limits, Thresholds]
    keys = {key for section in sections for key in section.model_fields}
    keys |= {one.name for one in parameters_of(FAMILIES.get("tan"))}
    keys -= {"compare", "datasets", "resampling", "preparation"}  # of data sets
    others = [experiment(name) for name in names() if name != DEFAULT]
    keys -= {key.rpartition(".")[2] for kind in others for key in kind.own_keys}
    for key in keys:
        assert re.search(rf"^#?(\[*{key}\]|{key} = )", text, flags=re.MULTILINE), key


def changed(changes: dict[str, str], more: str) -> dict[str, object]:
    text = STUDY
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return tomllib.loads(text + more)


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        ({'name = "x"': 'name = "x y"'}, ""),
        ({'name = "x"\n': ""}, ""),
        ({'name = "x"': 'name = "x"\nmodels = 1'}, ""),
        ({'name = "x"': 'name = "x"\nmodles = 9'}, ""),
        ({"[family]": "[familiy]"}, ""),
        ({}, "serach = 'cmi'"),
        ({}, "search = 'cim'"),
        ({}, "alpha = 0"),
        ({}, "alpha = 'much'"),
        ({}, "k = 2"),
        ({'"tan"\n[[': '"tan"\nk = 2\n[['}, ""),
        ({'"tan"\n[[': '"tan"\nvariables = [1, 3]\n[['}, ""),
        ({'"tan"\n[[': '"tan"\nvariables = [2, 3, 4]\n[['}, ""),
        ({'"tan"\n[[': '"tna"\n[['}, ""),
        ({'[[learners]]\nname = "tan"': '[[learners]]\nname = "tna"'}, ""),
        ({'[[learners]]\nname = "tan"': '[[learners]]\nlabel = "tan"'}, ""),
        ({'[[learners]]\nname = "tan"': '[[learners]]\nname = "pgmpy:PC"\nmax_cond_vars = -1'}, ""),
        ({}, "[measures]\nprimary = 'reward'"),
        ({}, "[measures]\nalso = ['acuracy']"),
        ({}, "[measures]\nprior = 'trian'"),
        ({}, "[measures]\nbase = 1"),
        ({}, "[data]\ntest_size = 'exactly'"),
        ({}, "[data]\ntest_size = 0"),
        ({}, "[data]\ntrain_sizes = []"),
        ({}, "[limits]\ntimeout = 0"),
        ({}, "[analysis]\nconfidence = 95"),
    ],
)
def test_what_simstudy_refuses_is_not_valid(study, changes, more):
    content = changed(changes, more)
    assert not study.is_valid(content)
    with pytest.raises(SimstudyError):
        make_study(content)


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        ({'name = "x"': 'name = "x"\nplugins = ["a.py"]', '"tan"\n[[': '"mine"\nany = 1\n[['}, ""),
        ({'name = "x"': 'name = "x"\nplugins = ["a.py"]'}, "[measures]\nprimary = 'mine'"),
        (
            {
                'name = "x"': 'name = "x"\nplugins = ["a.py"]',
                '[[learners]]\nname = "tan"': '[[learners]]\nname = "mine"\nalpha = "much"',
            },
            "",
        ),
        (
            {'[[learners]]\nname = "tan"': '[[learners]]\nname = "a.b:C"\nk = [1]\nlabel = "C"'},
            "",
        ),
        ({}, "tree = 'true'"),
        ({}, "tree = [-1, 0, 1]"),
        ({}, "[measures]\nprior = [0.5, 0.5]\nbase = 2\nalso = ['regret']"),
    ],
)
def test_plugins_paths_and_all_forms_of_a_value_are_valid(study, changes, more):
    study.validate(changed(changes, more))


@pytest.mark.parametrize(
    "given",
    [
        'name = "x"',
        'name = "x"\nstudies = []',
        'name = "x"\nstudies = ["tan"]\nof = "y"',
        'name = "x"\nof = "paper2004"\nreadings = []',
        'name = "x"\nof = "paper2004"\nstudies = ["tan"]\n[[readings]]\nid = "a"\nlabel = "A"',
        'name = "x"\nof = "paper2004"\n[[readings]]\nid = "a"',
        'name = "x"\nstudies = ["tan"]\n[[claims]]\ntext = "y"',
        'name = "x"\nstudies = ["tan"]\n[[statements]]\nstudy = "tan"',
        'name = "x"\nstudies = ["tan"]\n[[statements]]\ntext = "y"\nrelation = "bests"',
    ],
)
def test_lists_that_simstudy_refuses_are_not_valid(listing, tmp_path, given):
    assert not listing.is_valid(tomllib.loads(given))
    (tmp_path / "list.toml").write_text(given)
    with pytest.raises(SimstudyError):
        load_collection(tmp_path / "list.toml")


def test_editors_that_know_no_conditions_find_every_key_and_value(study):
    """Those that only follow properties and anyOf."""
    sections = study.schema["$defs"]
    for section, registry in (("NamedSection", FAMILIES), ("LearnerSection", LEARNERS)):
        properties = sections[section]["allOf"][0]["properties"]
        offered = [one.get("const") for one in properties["name"]["anyOf"]]
        assert {name for name in registry.names() if registry.is_own(name)} <= {*offered}
    search = properties["search"]["anyOf"]
    assert {"cmi", "superparent"} <= {word for one in search for word in one.get("enum", ())}


def test_every_key_is_described(study, listing):
    def described(schema: dict[str, object], path: str) -> None:
        for key, inner in schema.get("properties", {}).items():
            assert inner.get("description") or "$ref" in inner or "$ref" in inner["items"], (
                path,
                key,
            )

    for validator in (study, listing):
        described(validator.schema, "")
        for name, section in validator.schema["$defs"].items():
            described(section, name)


def test_a_measure_with_parameters_is_valid_and_a_wrong_one_is_not(study):
    content = tomllib.loads(STUDY)
    named = {"name": "auc", "label": "of_yes", "positive": "yes"}
    also = ["kappa", named, {"name": "cost", "matrix": [[0]]}]
    study.validate(content | {"measures": {"also": also}})
    for wrong in ({"name": "cost", "matrx": []}, {"name": "f_score", "beta": "x"}, 5):
        with pytest.raises(ValidationError):
            study.validate(content | {"measures": {"also": [wrong]}})
