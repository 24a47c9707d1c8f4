"""Built-in studies, and a file to start from: `simstudy studies`, `new` and `schema`."""

from __future__ import annotations

import json
import tomllib

import jsonschema
import pytest

from simstudy import load_study
from simstudy.study.files import builtin_studies
from simstudy.workflow.run import run_study


def test_studies_lists_each_with_a_line(command):
    done = command("studies")
    *rows, hint = done.stdout.splitlines()
    assert "simstudy run NAME" in hint
    lines = dict(line.split(maxsplit=1) for line in rows)
    assert [*lines] == [*builtin_studies()]
    assert "Hope & Korb" in lines["tan"]


def test_a_built_in_study_runs_by_its_name(command, tmp_path):
    options = ("--models", 2, "--sizes", "20,30", "--jobs", 1, "--no-report", "--quiet")
    assert command("run", "tan", *options).returncode == 0
    assert (tmp_path / "results" / "tan" / "scores.parquet").exists()
    done = command("cell", "tan", "--model", 0, "--size", 50, "--learner", "NB")
    assert "information_reward = " in done.stdout


def test_a_built_in_list_runs_by_its_name(command, tmp_path):
    options = ("--models", 2, "--sizes", "20,30", "--jobs", 1, "--no-report", "--quiet")
    assert command("run", "paper2004", *options).returncode == 0
    assert (tmp_path / "results" / "paper2004" / "aode" / "scores.parquet").exists()


def test_a_built_in_study_is_shown_by_its_name(command, refused):
    assert tomllib.loads(command("show", "aode").stdout)["seed"] == 2004
    refused(command("show", "paper2004"), "paper2004.toml is a list of studies")


def test_the_module_takes_a_name_too(simstudy):
    done = simstudy("true_tree", "--models", 1, module="simstudy.run")
    assert "true_tree.toml, models: 1 is not allowed" in done.stderr


@pytest.mark.parametrize("verb", ["run", "show", "plan", "cell", "vary"])
def test_an_unknown_name_is_one_sentence_with_suggestions(command, refused, tmp_path, verb):
    (tmp_path / "tanned.toml").touch()
    more = {
        "cell": ("--model", 0, "--size", 20, "--learner", "NB"),
        "vary": ("--key", "seed=1,2"),
    }
    done = command(verb, "tann", *more.get(verb, ()))
    refused(done, "tann cannot be read", "'tan'", "'tanned.toml'", "paper2004")


def test_new_writes_a_study_that_runs_as_it_is(command, tmp_path):
    done = command("new", "first.toml")
    assert (done.returncode, done.stderr) == (0, "")
    assert "simstudy run first.toml" in done.stdout
    study = load_study("first.toml")
    assert study.name == "first"
    results = run_study(study, tmp_path / "out", jobs=1, report=False)
    assert results.manifest["failures"] == 0
    assert results.manifest["cells"] <= 200


@pytest.mark.parametrize(
    ("given", "written", "name"),
    [
        ("mine", "mine.toml", "mine"),
        ("my first.toml", "my first.toml", "my-first"),
        ("v1.2", "v1.2.toml", "v1.2"),
        ("deep/er.toml", "deep/er.toml", "er"),
        ("Ωμέγα.toml", "Ωμέγα.toml", "study"),
        ("_x.toml", "_x.toml", "x"),
        (".toml", ".toml.toml", "toml"),
    ],
)
def test_new_names_the_study_after_its_file(command, tmp_path, given, written, name):
    assert command("new", given).returncode == 0
    assert load_study(tmp_path / written).name == name


def test_new_overwrites_nothing(command, refused, tmp_path):
    (tmp_path / "mine.toml").write_text("precious")
    (tmp_path / "link.toml").symlink_to("nowhere")
    refused(command("new", "mine.toml"), "mine.toml already exists")
    refused(command("new", "mine"), "mine.toml already exists")
    refused(command("new", "link.toml"), "link.toml already exists")
    refused(command("new", "mine.toml/x.toml"), "mine.toml/x.toml cannot be written")
    assert (tmp_path / "mine.toml").read_text() == "precious"


@pytest.mark.parametrize(("option", "file"), [((), "tan"), (("--list",), "paper2004")])
def test_schema_prints_a_schema(command, option, file):
    schema = json.loads(command("schema", *option).stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    content = tomllib.loads(builtin_studies()[file].read_text(encoding="utf-8"))
    jsonschema.validate(content, schema)


def test_help_begins_with_what_a_newcomer_needs(command):
    text = command("--help").stdout
    verbs = ("run", "studies", "new", "list", "report", "plan", "merge")
    listed = [line.split()[1] for line in text.splitlines() if line.startswith("│ ")]
    assert [word for word in listed if word in verbs] == [*verbs]
