"""Variants of a study: what is run, what is shared, and which findings hold under all."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

from simstudy import SimstudyError, load_study
from simstudy.analysis.models.standings import AHEAD
from simstudy.engine import task
from simstudy.report.prose.claims import keys_summary
from simstudy.study.constants import JOURNAL
from simstudy.workflow.lists import parse_key, variants, vary_study


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("measures.prior=train,test", ("measures.prior", ["train", "test"])),
        ("family.concentration=0.5,1", ("family.concentration", [0.5, 1])),
        ("data.train_sizes=[20, 60],[30]", ("data.train_sizes", [[20, 60], [30]])),
        ('title="a, b",c', ("title", ["a, b", "c"])),
        ("learners.TAN.search=cmi", ("learners.TAN.search", ["cmi"])),
    ],
)
def test_a_key_is_read_with_its_values(text, expected):
    assert parse_key(text) == expected


@pytest.mark.parametrize("text", ["measures.prior", "=train", "measures.prior="])
def test_a_key_without_values_is_refused(text):
    with pytest.raises(SimstudyError, match="--key"):
        parse_key(text)


def test_every_combination_is_a_variant_with_a_name_of_its_own():
    found = variants([("a.b", [1, 2]), ("c", ["x", "y", "z"])])
    assert [one.override for one in found[:2]] == [
        {"a": {"b": 1}, "c": "x"},
        {"a": {"b": 1}, "c": "y"},
    ]
    assert len({one.id for one in found}) == len(found) == 6
    with pytest.raises(SimstudyError, match="30 variants; 24 are allowed"):
        variants([("a", range(5)), ("b", range(6))])


def test_the_page_has_every_finding_under_every_variant(write_study, tmp_path):
    path = write_study({"models = 4": "models = 30", "[20, 60]": "[20, 200, 900]"})
    keys = ["measures.prior=train,uniform", "learners.TAN.search=cmi,likelihood"]
    page, found = vary_study(path, keys, tmp_path, jobs=1, report=False)
    searches = [one.study.learners[1].resolved["search"] for one in found]
    assert [one.study.measures.prior for one in found] == ["train"] * 2 + ["uniform"] * 2
    assert searches == ["cmi", "likelihood"] * 2
    beats = set()
    for results in found:
        for pair in results.findings().pairs:
            if pair.verdict == AHEAD:
                ahead = pair if pair.lead > 0 else pair.turned()
                beats.add(f"{ahead.first} beats {ahead.second} at {ahead.size:,} rows")
    text = page.read_text(encoding="utf-8")
    assert {*re.findall(r"\w+ beats \w+ at \d+ rows", text)} == beats
    for label in ("prior train, search cmi", "prior uniform, search likelihood"):
        assert label in text
    each = [
        {(p.winner, p.seen_from(p.winner).second, p.size) for p in one.findings().pairs if p.winner}
        for one in found
    ]
    pairs = {"measures.prior": [(0, 2), (1, 3)], "learners.TAN.search": [(0, 1), (2, 3)]}
    for key, alike in pairs.items():
        changing = set().union(*(each[a] ^ each[b] for a, b in alike))
        keys = rf"[\w. ]*{re.escape(key)}[\w. ]*" if not changing else re.escape(key)
        assert re.search(f"hanging {keys} changes {len(changing) or 'none'}", text)


def test_the_headline_names_the_keys_that_change_findings():
    def judged(*verdicts):
        return [SimpleNamespace(verdict=verdict) for verdict in verdicts]

    keys = [("a.b", [1, 2]), ("c", ["x", "y"]), ("d", [0])]
    yes, no, maybe = "reproduced", "not reproduced", "not decided"
    columns = [judged(yes, yes, no), judged(yes, maybe, no)] + [judged(yes, yes, yes)] * 2
    readings = [*zip(variants(keys), columns, strict=True)]
    assert keys_summary(readings) == ["Changing a.b changes 2 of 3 findings; changing c changes 1."]
    same = [(reading, judged(yes, yes)) for reading, _ in readings]
    assert keys_summary(same) == ["Changing a.b or c changes none of 2 findings."]
    assert keys_summary([(reading, []) for reading, _ in readings]) == []
    assert keys_summary(readings[:1]) == []


def test_a_variant_scores_as_the_study_run_alone_does(write_study, tmp_path):
    from simstudy import run_study

    _, found = vary_study(
        write_study(), ["measures.prior=test"], tmp_path / "v", jobs=1, report=False
    )
    study = load_study(write_study(), {"measures.prior": "test"})
    alone = run_study(study, tmp_path / "alone", jobs=1, report=False)
    assert found[0].scores.equals(alone.scores)


def test_variants_of_the_analysis_alone_share_their_cells(write_study, tmp_path, monkeypatch):
    drawn = []
    real = task.Task.__init__

    def counted(self, plan, model):
        drawn.append(model)
        real(self, plan, model)

    monkeypatch.setattr(task.Task, "__init__", counted)
    _, found = vary_study(
        write_study(), ["analysis.confidence=0.9,0.95,0.99"], tmp_path, jobs=1, report=False
    )
    assert sorted(drawn) == [0, 1, 2, 3]  # once
    first, *others = ((one.directory / JOURNAL).read_bytes() for one in found)
    assert all(other == first for other in others)
    assert [one.findings().design.confidence for one in found] == [0.9, 0.95, 0.99]


@pytest.mark.slow
def test_the_command_says_where_the_page_is_and_what_is_wrong(simstudy, write_study):
    path = write_study()
    done = simstudy("vary", path, "--key", "measures.prior=train,test", "--models", 3, "--jobs", 1)
    assert done.returncode == 0, done.stderr
    assert "small-varied/compare.html" in done.stdout
    bad = simstudy("vary", path, "--key", "measures.prio=train")
    assert bad.returncode == 2
    assert "measures.prio" in bad.stderr
    assert "prior" in bad.stderr
    assert len(bad.stderr.splitlines()) == 1
