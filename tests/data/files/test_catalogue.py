"""The data sets of studies/data/uci: the files, their catalogue and their page agree."""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

from simstudy import SimstudyError, read_data
from simstudy.data.files.assembly import ReadOptions
from simstudy.data.files.read import read_data_set

ROOT = Path(__file__).parents[3]
UCI = ROOT / "studies" / "data" / "uci"
SETS = json.loads((UCI / "catalogue.json").read_text(encoding="utf-8"))["datasets"]
ZERO_R = json.loads((ROOT / "tests/golden/real/reading/zero_r.json").read_text(encoding="utf-8"))
each_set = pytest.mark.parametrize("name", SETS)


def test_the_catalogue_lists_the_files_that_are_there():
    assert {path.name for path in UCI.glob("*.gz")} == {*SETS}
    assert len(SETS) == 31
    assert sum(path.stat().st_size for path in UCI.iterdir()) < 2e6


@each_set
def test_a_file_is_what_the_catalogue_says(name):
    entry, raw = SETS[name], (UCI / name).read_bytes()
    assert hashlib.sha256(raw).hexdigest() == entry["sha256"]
    assert raw[3:8] == bytes(5)  # neither name nor time: the same bytes whenever it is compressed
    header, *rows = csv.reader(gzip.decompress(raw).decode("utf-8").splitlines())
    variables = entry["variables"]
    assert header == [variable["name"] for variable in variables]
    assert header[-1] == entry["target"]
    assert len(rows) == entry["rows"]
    for variable, column in zip(variables, zip(*rows, strict=True), strict=True):
        assert column.count("") == variable["missing"]
        known = {*column} - {""}
        if variable["kind"] == "numeric":
            assert np.isfinite([float(cell) for cell in known]).all()
        else:
            assert known <= {*variable["values"]}
    labels = [row[-1] for row in rows]
    assert entry["classes"] == {label: labels.count(label) for label in variables[-1]["values"]}
    assert entry["missing_values"] == sum(variable["missing"] for variable in variables)
    assert all(entry[key] for key in ("title", "source", "licence", "citation"))


@each_set
def test_kinds_and_values_are_read_from_the_catalogue(name):
    sample, entry = read_data(UCI / name), SETS[name]
    read = [(variable.name, variable.values) for variable in sample.schema.variables]
    assert read == [
        (v["name"], tuple(v["values"]) if v["kind"] == "nominal" else None)
        for v in entry["variables"]
    ]
    missing = [v["missing"] for v in entry["variables"]]
    np.testing.assert_array_equal(np.isnan(sample.values).sum(axis=0), missing)
    assert sample.class_counts.tolist() == [*entry["classes"].values()]


@pytest.mark.parametrize("name", ZERO_R)
def test_classes_and_rows_are_in_the_order_that_weka_saw(name):
    sample, weka = read_data(UCI / f"{name}.csv.gz"), ZERO_R[name]
    assert sample.schema.target.values == tuple(weka["probabilities"])
    test = np.arange(len(sample)) % 3 == 0
    answers = sample.take(~test).class_frequencies(1.0)
    np.testing.assert_allclose(answers, [*weka["probabilities"].values()], atol=1e-12)
    labels = [sample.schema.target.values[code] for code in sample.target[test]]
    assert labels == weka["classes_of_test_rows"]


def test_the_page_has_the_counts_of_the_catalogue():
    page = (UCI / "README.md").read_text(encoding="utf-8")
    for name, entry in SETS.items():
        attributes = entry["variables"][:-1]
        numeric = sum(variable["kind"] == "numeric" for variable in attributes)
        share = max(entry["classes"].values()) / entry["rows"]
        counts = f"{entry['rows']:,} | {numeric} | {len(attributes) - numeric} | "
        counts += f"{len(entry['classes'])} | {share:.1%} | {entry['missing_values']:,}"
        assert f"| `{name}` | {counts} |" in page
        (text,) = re.findall(
            rf"^## {name.removesuffix('.csv.gz')}\n(.*?)(?=^## |\Z)", page, re.M | re.S
        )
        assert all(entry[key] in text for key in ("title", "source", "licence", "citation"))


def test_glass2_is_derived_from_glass():
    # Holte's (1993) two-class glass: types 1 and 3 are float processed, type 2 is not.
    found = read_data_set(
        UCI / "glass.csv.gz", ReadOptions(classes={"float": ["1", "3"], "non-float": ["2"]})
    )
    assert found.sample.schema.target.values == ("float", "non-float")
    assert found.sample.class_counts.tolist() == [70 + 17, 76]
    assert found.other_classes == {"5": 13, "6": 9, "7": 29}
    assert found.dropped == ["51 rows of other classes dropped: '5' (13), '6' (9), '7' (29)"]
    whole = read_data(UCI / "glass.csv.gz")
    np.testing.assert_array_equal(found.rows, np.flatnonzero(whole.target < 3))
    np.testing.assert_array_equal(found.sample.values[:, :-1], whole.values[found.rows, :-1])


def test_v1_is_the_votes_without_one():
    votes = read_data(UCI / "house-votes-84.csv.gz")
    fewer = read_data(UCI / "house-votes-84.csv.gz", ignore=["physician-fee-freeze"])
    (place,) = (p for p, v in enumerate(votes.schema.variables) if v not in fewer.schema.variables)
    assert votes.schema.variables[place].name == "physician-fee-freeze"
    np.testing.assert_array_equal(np.delete(votes.values, place, axis=1), fewer.values)


def test_the_caller_comes_before_the_catalogue(tmp_path):
    (tmp_path / "my.csv").write_text("y,a,b\np,2,1\nq,1,2\n")
    catalogue = {
        "target": "y",
        "variables": [
            {"name": "a", "kind": "nominal", "values": ["3", "2", "1"]},
            {"name": "y", "kind": "nominal", "values": ["q", "p"]},
        ],
    }
    (tmp_path / "catalogue.json").write_text(json.dumps({"datasets": {"my.csv": catalogue}}))
    sample = read_data(tmp_path / "my.csv")
    assert [v.values for v in sample.schema.variables] == [("3", "2", "1"), None, ("q", "p")]
    assert sample.schema.target.name == "y"
    sample = read_data(tmp_path / "my.csv", "b", numeric=["a"], values={"y": ["p", "q", "r"]})
    assert [v.values for v in sample.schema.variables] == [("p", "q", "r"), None, ("1", "2")]


def test_a_target_of_the_catalogue_may_be_left_out(tmp_path):
    (tmp_path / "my.csv").write_text("y,a,b\np,2,1\nq,1,2\n")
    entry = {"target": "y", "variables": [{"name": "y", "kind": "nominal"}]}
    (tmp_path / "catalogue.json").write_text(json.dumps({"datasets": {"my.csv": entry}}))
    for options in ({"ignore": ["y"]}, {"groups": "y"}):
        sample = read_data(tmp_path / "my.csv", **options)
        assert [variable.name for variable in sample.schema.variables] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "it is not JSON in UTF-8: Expecting"),
        ("[]", "it must be a mapping with the key 'datasets'"),
        ("{}", "the key 'datasets' is missing"),
        ('{"datasets": {"my.csv": {}}}', "the key 'variables' is missing"),
        (
            '{"datasets": {"my.csv": {"variables": [{"name": "a", "kind": "x"}]}}}',
            "the kind of 'a' must be numeric or nominal",
        ),
        (
            '{"datasets": {"my.csv": {"variables": '
            '[{"name": "a", "kind": "nominal", "values": "xy"}]}}}',
            "the values of 'a' must be a list",
        ),
        ("[" * 100_000, "it is nested too deeply"),
        (b"\xff", "it is not JSON in UTF-8: 'utf-8' codec"),
        ('{"datasets": %s}' % ("7" * 5000), "it has a number of too many digits$"),
    ],
)
def test_a_catalogue_that_is_none_is_refused(tmp_path, text, words):
    (tmp_path / "my.csv").write_text("a,y\n2,p\n1,q\n")
    content = text.encode() if isinstance(text, str) else text
    (tmp_path / "catalogue.json").write_bytes(content)
    with pytest.raises(
        SimstudyError, match=rf"catalogue\.json is not a catalogue of data sets: {words}"
    ):
        read_data(tmp_path / "my.csv")
