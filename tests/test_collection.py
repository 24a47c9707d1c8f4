"""Lists of studies are checked before anything runs, and run into one directory."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path

import pytest

from simstudy import SimstudyError
from simstudy.collection import is_collection, load_collection, run_collection

STUDIES = Path(__file__).parents[1] / "studies"
STUDY = """
name = "NAME"
models = 3
seed = 5

[family]
name = "tan"
attributes = [3, 4]

[data]
train_sizes = [20, 60]
test_size = 50

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "prior"
"""
LIST = """
name = "both"
title = "Two studies"
citation = "Somebody (2004)"
studies = ["one.toml", "two.toml"]

[[claims]]
id = "first"
study = "one"
text = "NB is better than nothing"
relation = "beats"
learners = ["NB"]
against = ["prior"]
sizes = [20, 60]
"""


@pytest.fixture
def write(tmp_path):
    """Write two studies and a list of them, with some text replaced; return the list's path."""
    for name in ("one", "two"):
        text = STUDY.replace("NAME", name)
        (tmp_path / f"{name}.toml").write_text(text, encoding="utf-8")

    def write(old="", new=""):
        assert old in LIST
        path = tmp_path / "both.toml"
        path.write_text(LIST.replace(old, new) if old else LIST, encoding="utf-8")
        return path

    return write


def test_a_list_is_told_from_a_study_by_its_studies(write, tmp_path):
    assert is_collection(write())
    assert not is_collection(tmp_path / "one.toml")
    assert not is_collection(tmp_path / "missing.toml")
    (tmp_path / "broken.toml").write_text("studies = [")
    assert not is_collection(tmp_path / "broken.toml")


def test_a_list_holds_its_studies_and_claims(write):
    found = load_collection(write())
    assert (found.name, found.title, found.citation) == ("both", "Two studies", "Somebody (2004)")
    assert [study.name for study in found.studies] == ["one", "two"]
    (claim,) = found.claims
    assert (claim.relation, claim.learners, claim.sizes) == ("beats", ["NB"], [20, 60])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "both"', "", "both.toml, name: this key is missing"),
        ('name = "both"', 'name = "a b"', 'both.toml, name: "a b" is not allowed'),
        ("title", "titel", "both.toml, titel: unknown key; did you mean 'title'?"),
        ('["one.toml", "two.toml"]', "[]", "both.toml, studies: at least 1 is needed"),
        ('"two.toml"', '"three.toml"', "both.toml, studies[1]: "),
        ('"two.toml"', '"one.toml"', "studies[1]: two studies have the name 'one'"),
        ('"two.toml"', '"both.toml"', 'studies[1]: "both.toml" is a list of studies itself'),
        ("learners =", "lerners =", "claims[0].lerners: unknown key; did you mean 'learners'?"),
        ('study = "one"', "", "claims[0].study: this key is missing"),
        ('study = "one"', 'study = "tree"', "claims[0].study: no study 'tree'"),
        ('"beats"', '"beat"', "claims[0].relation: \"beat\" is not allowed; it must be one of"),
        ('["NB"]', '"NB"', 'claims[0].learners: "NB" is not a list in square brackets'),
        ('["NB"]', '["NBC"]', "claims[0].learners: the study 'one' has no learner 'NBC'"),
        ('["NB"]', "[]", "claims[0].learners: at least 1 is needed"),
        ('against = ["prior"]', "", 'claims[0].against: "beats" needs learners to compare with'),
        ('["prior"]', '["NB"]', "claims[0].learners: \"beats\" needs two learners"),
        ('["prior"]', '["prior", "NB"]', "claims[0].against: a learner is compared with itself"),
        ("[20, 60]", "[50]", "claims[0].sizes: the study 'one' has no size 50; it has 20, 60"),
        ("[20, 60]", "[20]\nvalue = [1.0]", 'claims[0].value: "beats" needs no numbers, not 1'),
        ("[20, 60]", "[20]\nmargin = -1.0", "claims[0].margin: -1.0 is not allowed"),
        ("[20, 60]", '[20]\nmeasure = "accuracy"', "claims[0].measure: the study 'one' has no"),
        ('"beats"', '"level"', 'claims[0].margin: "level" needs a margin above 0'),
        ('"beats"', '"below"', 'claims[0].value: "below" needs 1 number, not 0'),
        ('"beats"', '"between"\nvalue = [0.0, 1.0]', 'claims[0].against: "between" is said of a'),
        ('"beats"\nlearners = ["NB"]\nagainst = ["prior"]',
         '"between"\nlearners = ["NB"]\nvalue = [0.1, -0.3]',
         'claims[0].value: "between" needs the lower number first; 0.1 is not below -0.3'),
        ("[[claims]]", "[claims]", "both.toml, claims: "),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence_with_file_and_key(write, old, new, said):
    with pytest.raises(SimstudyError) as error:
        load_collection(write(old, new))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_cannot_be_read_is_said_to(tmp_path):
    with pytest.raises(SimstudyError, match="cannot be read"):
        load_collection(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("studies = [")
    with pytest.raises(SimstudyError, match="is not valid TOML"):
        load_collection(tmp_path / "bad.toml")


def test_what_is_overridden_is_so_in_every_study_and_claims_are_kept(write):
    found = load_collection(write(), {"models": 2, "data.train_sizes": [30]})
    assert [study.models for study in found.studies] == [2, 2]
    assert found.claims[0].sizes == [20, 60]


def test_a_list_runs_into_one_directory_and_is_not_run_twice(write, tmp_path, monkeypatch):
    # The figures of each study take long and are tested elsewhere.
    monkeypatch.setattr("simstudy.report.files.write_report", lambda *_: None)
    watched = []

    @contextmanager
    def watch(study):
        yield lambda step: watched.append((study.name, step.models))

    collection = load_collection(write())
    results = run_collection(collection, tmp_path / "out", jobs=1, watch=watch)
    assert [found.directory for found in results] == [
        tmp_path / "out" / "both" / name for name in ("one", "two")
    ]
    assert [found.settings["name"] for found in results] == ["one", "two"]
    assert watched[-1] == ("two", 3)
    page = (tmp_path / "out" / "both" / "compare.html").read_text(encoding="utf-8")
    assert "Two studies" in page
    assert "NB is better than nothing" in page
    again = run_collection(collection, tmp_path / "out", jobs=1)
    assert all(found.reused for found in again)


def test_without_a_report_there_is_no_page(write, tmp_path):
    collection = load_collection(write(), {"data.train_sizes": [20]})
    run_collection(collection, tmp_path / "out", jobs=1, report=False)
    assert not (tmp_path / "out" / "both" / "compare.html").exists()


def test_the_paper_of_2004_is_a_list_whose_claims_cite_it():
    paper = load_collection(STUDIES / "paper2004.toml")
    assert [study.name for study in paper.studies] == ["naive_bayes", "tan", "aode"]
    assert all("section 5.1" in claim.source for claim in paper.claims)
    assert len({claim.id for claim in paper.claims}) == len(paper.claims)
