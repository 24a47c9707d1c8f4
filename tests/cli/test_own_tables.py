"""What is odd about a table is said alike by data, run, read_data and advise."""

from __future__ import annotations

import html
import os

import numpy as np
import pytest

import simstudy
from simstudy.data.files.read import read_data_set
from simstudy.errors import SimstudyError
from simstudy.networks import read_xmlbif

ROWS = 120
STUDY = """
name = "own"
[[datasets]]
path = "own.csv"
target = "unfaithful"
KEYS
[resampling]
folds = 2
[[learners]]
name = "naive_bayes"
[[learners]]
name = "c45"
"""
SAID = (
    "'NA' among numbers is taken for a missing value: income",
    "1 column determines the target, as if copied from it: affairs; ",
    "1 column names the rows, as identifiers do: id; ",
    "1 column has a single value or none: country",
    "rows equal to an earlier row, target included",
)


@pytest.fixture
def own(command, tmp_path):
    """A table with an identifier, a column that decides the target, and rows that occur twice."""
    rng = np.random.default_rng(3)
    affairs = np.where(rng.random(ROWS) < 0.5, 0, rng.integers(1, 13, ROWS))
    lines = [
        f"{row + 1},{rng.integers(18, 70)},{count},x,"
        f"{'NA' if rng.random() < 0.3 else round(rng.normal(), 3)},{'no' if count == 0 else 'yes'}"
        for row, count in enumerate(affairs)
    ]
    text = "id,age,affairs,country,income,unfaithful\n" + "\n".join(lines)
    (tmp_path / "own.csv").write_text(text)
    repeated = "\n".join(line.partition(",")[2] for line in [text.splitlines()[0], *lines])
    repeated += "\n" + "\n".join(line.partition(",")[2] for line in lines[:40])
    (tmp_path / "twice.csv").write_text(repeated)
    return command


def words(text: str) -> str:
    return " ".join(text.split())


def test_data_and_read_data_say_what_is_odd(own):
    for name, sentences in (("own.csv", SAID[:4]), ("twice.csv", SAID[4:])):
        said = words(own("data", name).stdout)
        with pytest.warns(UserWarning, match=name) as warned:
            simstudy.read_data(name)
        warnings = [str(warning.message) for warning in warned]
        for sentence in sentences:
            assert sentence in said
            assert any(sentence in warning for warning in warnings)
    kept = words(own("data", "own.csv", "--keep", "affairs", "--keep", "id").stdout)
    assert "column decides" not in kept
    assert "column names" not in kept


def test_run_says_what_is_odd_and_leaves_out_what_it_is_told_to(own, tmp_path):
    (tmp_path / "own.toml").write_text(STUDY.replace("KEYS", ""))
    said = own("run", "own.toml", "--jobs", 1)
    assert said.returncode == 0
    page = html.unescape((tmp_path / "results" / "own" / "report.html").read_text())
    for sentence in SAID[:4]:
        assert sentence in words(said.stdout)
        assert sentence in words(page)
    told = 'ignore = ["affairs", "country"]\nkeep = ["id"]'
    (tmp_path / "told.toml").write_text(STUDY.replace("KEYS", told).replace('"own"', '"told"'))
    said = words(own("run", "told.toml", "--jobs", 1).stdout)
    assert "column decides" not in said
    assert "column names" not in said
    accuracy = simstudy.open_results("results/own").dataset_means("information_reward")
    without = simstudy.open_results("results/told").dataset_means("information_reward")
    by_learner = [table.set_index("learner")["mean"] for table in (accuracy, without)]
    assert by_learner[0]["c45"] > 0.5 > by_learner[1]["c45"]  # the column decides the target


def test_advise_says_what_is_odd_and_leaves_it_out(own, monkeypatch):
    from simstudy.advice import advise

    monkeypatch.setattr(advise, "_SPLIT_ROWS", 1)
    said = own(
        "advise", "own.csv", "--target", "unfaithful", "--models", 10, "--jobs", 1, "--out", "out"
    )
    assert said.returncode == 0
    for sentence in SAID[:4]:
        assert sentence[1:] in words(said.stdout)  # begins with a capital letter
    assert "affairs; left out unless named in keep" in words(said.stdout)
    schema = read_data_set("out/data.arff").sample.schema
    assert [variable.name for variable in schema.attributes] == ["age", "income"]


def test_a_target_of_many_numbers_is_refused_by_all(command, refused, tmp_path):
    rows = "".join(f"{row % 5},{row * 1.5}\n" for row in range(60))
    (tmp_path / "own.csv").write_text(f"a,unfaithful\n{rows}")
    (tmp_path / "own.toml").write_text(STUDY.replace("KEYS", ""))
    sentence = "the target 'unfaithful' has 60 different numbers, more than 50"
    described = command("data", "own.csv")
    assert described.returncode == 0
    assert "a           numeric        0  0 to 4" in described.stdout.splitlines()
    for part in (
        "'unfaithful' would be refused as a target",
        sentence,
        "another column in target",
    ):
        assert part in words(described.stdout)
    assert "1.7%" not in described.stdout  # no table of classes
    refused(command("run", "own.toml"), sentence)
    refused(command("advise", "own.csv", "--target", "unfaithful"), sentence)
    assert command("data", "own.csv", "--nominal", "unfaithful").returncode == 0


@pytest.mark.parametrize("target", ["5", "1e400", "[]"])
def test_a_target_of_a_catalogue_must_be_a_name(own, refused, tmp_path, target):
    (tmp_path / "catalogue.json").write_text(
        f'{{"datasets": {{"own.csv": {{"target": {target}, "variables": []}}}}}}'
    )
    refused(own("data", "own.csv"), "catalogue.json", "the target of 'own.csv' is", "a column")


def test_null_characters_in_paths_are_refused_in_a_sentence(own, refused, tmp_path):
    null = "\\u0000"
    (tmp_path / "own.toml").write_text(STUDY.replace("KEYS", "").replace("own.csv", f"o{null}.csv"))
    refused(own("run", "own.toml"), "datasets[0].path", "is not a path: embedded null byte")
    (tmp_path / "splits.toml").write_text(
        STUDY.replace("KEYS", "").replace("folds = 2", f'splits = "a{null}.csv"')
    )
    refused(own("run", "splits.toml"), "resampling.splits", "embedded null byte")
    (tmp_path / "own.toml").write_text(STUDY.replace("KEYS", ""))
    (tmp_path / "list.toml").write_text(
        'name = "all"\nstudies = ["own.toml"]\n'
        f'[[published]]\nstudy = "own"\nfile = "a{null}.csv"\n'
    )
    refused(own("run", "list.toml"), "published[0].file", "embedded null byte")
    os.mkfifo(tmp_path / "pipe.csv")
    pipe = (tmp_path / "list.toml").read_text().replace(f"a{null}.csv", "pipe.csv")
    (tmp_path / "list.toml").write_text(pipe)
    refused(own("run", "list.toml"), "pipe.csv cannot be read: it is not a regular file")


def test_a_pipe_is_refused_at_once(own, refused, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    refused(own("data", "pipe.csv"), "pipe.csv cannot be read: it is not a regular file")
    os.mkfifo(tmp_path / "pipe.parquet")
    refused(own("data", "pipe.parquet"), "pipe.parquet cannot be read: it is not a regular file")
    os.mkfifo(tmp_path / "pipe.bif")
    with pytest.raises(SimstudyError, match="not a regular file"):
        simstudy.networks.read_bif(tmp_path / "pipe.bif")


def test_an_attribute_of_an_arff_file_may_have_many_values_and_no_long_index(
    own, refused, tmp_path
):
    values = [f"v{number}" for number in range(60_000)]
    head = f"@relation r\n@attribute a {{{','.join(values)}}}\n@attribute class {{p,q}}\n@data\n"
    rows = "".join(f"{values[row]},{'pq'[row % 2]}\n" for row in range(40))
    (tmp_path / "many.arff").write_text(head + rows)
    sample = simstudy.read_data(tmp_path / "many.arff")
    assert sample.schema.variables[0].values == tuple(values)
    (tmp_path / "twice.arff").write_text(head.replace("v59999", "v7") + rows)
    refused(own("data", "twice.arff"), "line 2: 'a' has the value 'v7' twice")
    (tmp_path / "long.arff").write_text(head + f"{{{'7' * 5000} p}}\n")
    refused(own("data", "long.arff"), "line 5: it has a value of attribute 777", "of 2, counted")


@pytest.mark.parametrize("encoding", ["no-such-encoding", "x-user-defined", "shift_jis"])
def test_a_network_in_an_unknown_encoding_is_refused(tmp_path, encoding):
    text = (
        f'<?xml version="1.0" encoding="{encoding}"?><BIF><NETWORK><NAME>é</NAME></NETWORK></BIF>'
    )
    (tmp_path / "a.xml").write_text(text)
    with pytest.raises(SimstudyError, match=f"a.xml, line 1: the encoding '{encoding}' is not"):
        read_xmlbif(tmp_path / "a.xml")
