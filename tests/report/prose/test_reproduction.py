"""The page claims to be reproducible from its file only where it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest

from simstudy import load_study, merge, register_learner, register_measure, run_shard, run_study
from simstudy.components.registry import LEARNERS, MEASURES
from simstudy.learners import NaiveBayes
from simstudy.report.prose.reproduction import needed, same_scores

NOTHING = {"plugins": [], "plugin_files": [], "session": {}, "conditions": {"source": {}}}


def test_a_study_of_built_in_names_needs_nothing():
    assert needed(NOTHING) == []
    assert "definitions" not in same_scores(NOTHING)


def test_plugin_files_are_named():
    files = {"plugins": ["plugins/0/a.py"], "plugin_files": ["plugins/0/b.csv"]}
    (sentence,) = needed({**NOTHING, **files})
    assert "plugins/0/a.py, plugins/0/b.csv" in sentence


def test_a_module_without_a_version_is_named_with_its_digest():
    source = {"sklearn.svm:SVC": "1.7.1", "own.nets:Net": "ab" * 32, "own.nets:Other": "ab" * 32}
    (sentence,) = needed({**NOTHING, "conditions": {"source": source}})
    assert sentence.count("own.nets (source digest abababababab)") == 1
    assert "sklearn" not in sentence


def test_what_a_session_registered_is_named_with_its_digest():
    session = {"learner mine": "abcdef0123456789", "measure odd one": ""}
    (sentence,) = needed({**NOTHING, "session": session})
    assert "cannot be run" in sentence
    assert "the learner “mine” (source digest abcdef012345) and the measure “odd one”" in sentence
    assert "definitions" in same_scores({**NOTHING, "session": session})


@pytest.fixture
def registered(monkeypatch):
    """A learner and a measure that no plugin defines; unregistered at the end."""
    for registry in (LEARNERS, MEASURES):
        monkeypatch.setattr(registry, "_registered", {**registry._registered})

    @register_learner("of_session")
    @dataclass(frozen=True)
    class OfSession(NaiveBayes):
        """Defined in a test."""

    @register_measure("certainty_of_session", greater_is_better=True)
    def certainty(proba, y):
        return np.max(proba, axis=1)


@pytest.mark.slow
def test_the_page_of_a_session_claims_less(registered, write_study, tmp_path):
    changes = {'"naive_bayes"': '"of_session"'}
    also = {"measures.also": ["certainty_of_session"]}
    study = load_study(write_study(changes), also)
    # Shards, because merging writes the page too and looks nothing up.
    pieces = [run_shard(study, (n, 2), tmp_path / str(n), jobs=1).directory for n in (1, 2)]
    results = merge(pieces, tmp_path / "merged")
    session = results.manifest["session"]
    assert [*session] == ["learner of_session", "measure certainty_of_session"]
    assert session["learner of_session"] == results.manifest["conditions"]["source"]["of_session"]
    page = (results.directory / "report.html").read_text()
    part = re.search(r'<section id="reproduce">.*?</section>', page, re.DOTALL).group()
    assert "It cannot be run from its file" in part
    assert session["learner of_session"][:12] in part
    assert "simstudy run study.toml" not in part
    plain = run_study(load_study(write_study()), tmp_path / "plain", jobs=1)
    assert plain.manifest["session"] == {}
    assert "simstudy run study.toml" in (plain.directory / "report.html").read_text()
