"""Whatever is in a directory of results, the answer is what it holds or one sentence."""

from __future__ import annotations

import copy
import json
import os
import shutil
import zlib

import pytest

from simstudy import SimstudyError, load_study, merge, open_results, run_study
from simstudy.engine import task
from simstudy.report.pages.page import report_page
from simstudy.report.prose.failures import failure_lines
from simstudy.workflow.compare import compare_studies

NOT_FILES = "scores.parquet", "timings.parquet", "failures.csv", "manifest.json", "study.toml"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A small study, and where its results are."""
    from tests.conftest import SMALL_STUDY

    place = tmp_path_factory.mktemp("made")
    (place / "s.toml").write_text(SMALL_STUDY)
    run_study(load_study(place / "s.toml"), place / "out", jobs=1)
    return place


@pytest.fixture
def out(made, tmp_path):
    return shutil.copytree(made / "out", tmp_path / "out")


def told(out) -> bool:
    """Whether results can be told of; if not, that is said in a sentence."""
    said = sentence(lambda: tell(out))
    sentence(lambda: failure_lines(out))
    return not said


def tell(out) -> None:
    results = open_results(out)
    report_page(results)
    compare_studies([results, results])
    results.thresholds()


def sentence(what) -> str:
    """What is said of something that cannot be done; empty if it can."""
    try:
        what()
    except SimstudyError as error:
        said = str(error)
    else:
        said = ""
    assert "\n" not in said
    assert "overwrite" not in said
    return said


def damaged(manifest):
    """Manifests with a key left out or with something else in its place, two levels deep."""
    for key in manifest:
        yield {k: v for k, v in manifest.items() if k != key}
        for value in (
            None,
            3,
            -1,
            1.5,
            True,
            "x",
            "\ud800",
            [],
            [3],
            {},
            {"x": 3},
            {"x": {}},
            1e999,
        ):
            yield {**manifest, key: value}
        if isinstance(manifest[key], dict):
            for inner in manifest[key]:
                made = copy.deepcopy(manifest)
                del made[key][inner]
                yield made
                for value in (None, 3, "x", [], [[3]], {}, {"x": None}):
                    made = copy.deepcopy(manifest)
                    made[key][inner] = value
                    yield made


@pytest.mark.slow
def test_a_manifest_without_a_key_or_with_nonsense(made, out, monkeypatch):
    study = load_study(made / "s.toml")
    content = json.loads((out / "manifest.json").read_text())
    scores = (out / "scores.parquet").read_bytes()
    monkeypatch.setattr(task.Task, "run_cell", None)  # nothing may be computed
    answers = []
    for tried, manifest in enumerate([*damaged(content)][::2]):  # half of them will do
        (out / "manifest.json").write_text(json.dumps(manifest))
        # A page takes a while: it is made of those that may differ in what is told.
        if tried % 5 == 0:
            answers.append(told(out))
        said = sentence(lambda: run_study(study, out, jobs=1, report=False))
        assert ("has schema" in said) == (manifest.get("schema", 1) in (3, -1)), manifest
        assert said == "" or "has schema" in said
        assert (out / "scores.parquet").read_bytes() == scores
    assert True in answers
    assert False in answers


@pytest.mark.parametrize("name", [*NOT_FILES, "cells.jsonl"])
@pytest.mark.parametrize("what", ["a loop", "a directory", "a link to nothing", "binary"])
def test_what_is_no_file(made, out, name, what):
    (out / name).unlink()
    if what == "a loop":
        (out / name).symlink_to(out / name)
    elif what == "a link to nothing":
        (out / name).symlink_to(out / "nothing")
    elif what == "a directory":
        (out / name).mkdir()
    else:
        (out / name).write_bytes(bytes(range(256)))
    told(out)
    study = load_study(made / "s.toml")
    if said := sentence(lambda: run_study(study, out, jobs=1, report=False)):
        assert "cannot be used" in said
        assert what in ("a loop", "a directory")
    else:
        results = open_results(out)
        assert len(results.scores) == len(results.timings) == 16


@pytest.mark.slow
def test_a_loop_in_place_of_the_directory(made, tmp_path, simstudy):
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    study = made / "s.toml"
    for asked in (
        ("run", study, "--out", loop),
        ("report", loop),
        ("tables", loop),
        ("failures", loop),
        ("merge", loop, "--out", "new"),
        ("merge", made / "out", "--out", loop),
        ("merge", made / "out", "--out", loop, "--overwrite"),
        ("show", loop / "study.toml"),
    ):
        done = simstudy(*asked)
        assert done.returncode == 2, asked
        assert len(done.stderr.splitlines()) == 1, done.stderr


def test_scores_of_another_study_are_not_taken(made, out, tmp_path):
    other = run_study(load_study(made / "s.toml", {"models": 3}), tmp_path / "o", jobs=1)
    manifest = json.loads((out / "manifest.json").read_text())
    for name in ("scores.parquet", "timings.parquet"):
        content = (other.directory / name).read_bytes()
        (out / name).write_bytes(content)
        manifest["checksums"][name] = zlib.crc32(content)
    (out / "manifest.json").write_text(json.dumps(manifest))
    for table in ("scores", "timings"):
        with pytest.raises(SimstudyError, match=rf"{table}.parquet is missing or damaged; run"):
            getattr(open_results(out), table)


def test_a_study_file_with_nonsense(out):
    text = (out / "study.toml").read_text()
    assert told(out)
    for changed in (
        text.replace('title = "A small study"', "title = 3"),
        text.replace("models = 4", "models = 5"),
        text.replace("[data]", "[nothing]"),
        text.replace('label = "NB"', 'label = "TAN"'),
        text.replace("train_sizes = [20, 60]", "train_sizes = []"),
        text.split("[[learners]]")[0],
        "x = [" * 600,
        "",
    ):
        assert changed != text
        (out / "study.toml").write_text(changed)
        assert not told(out)


@pytest.mark.slow
@pytest.mark.parametrize(
    "wrong",
    [
        {"model": 10**400},
        {"model": -1},
        {"model": True},
        {"size": 0},
        {"values": [10**400]},
        {"values": ["1"]},
        {"values": "1"},
        {"values": [True]},
        {"fit_seconds": 10**400},
        {"status": 3},
        {"status": "\ud800"},
        {"error": ["x"]},
        {"error": "\ud800", "status": "error"},
        {"drawn": None},
        {"learner": {}},
    ],
)
def test_a_line_with_a_right_checksum_and_a_wrong_value(made, out, wrong):
    lines = (out / "cells.jsonl").read_text().splitlines()
    cells = json.loads(lines[1].partition(" ")[2])
    cells[0] |= wrong
    text = json.dumps(cells)
    line = f"{zlib.crc32(text.encode()):08x} {text}"
    (out / "cells.jsonl").write_text("\n".join([*lines, line]) + "\n")
    failure_lines(out)
    scores = (out / "scores.parquet").read_bytes()
    (out / "scores.parquet").unlink()
    assert merge([out], out.with_name("merged")).manifest["failures"] == 0
    results = run_study(load_study(made / "s.toml"), out, jobs=1, report=False)
    assert (out / "scores.parquet").read_bytes() == scores
    assert "1 lines of" in results.note


@pytest.mark.parametrize(
    "whose", [{}, {"conditions": {}}, {"conditions": 3}, {"plugins": [[]]}, {"limits": [3]}]
)
def test_a_line_that_says_nonsense_of_whose_the_cells_are(made, out, whose):
    lines = (out / "cells.jsonl").read_text().splitlines()
    said = json.loads(lines[0].partition(" ")[2])
    text = json.dumps({**said, **whose} if whose else {})
    (out / "cells.jsonl").write_text(
        "\n".join([*lines, f"{zlib.crc32(text.encode()):08x} {text}"]) + "\n"
    )
    (out / "manifest.json").unlink()
    results = run_study(load_study(made / "s.toml"), out, jobs=1, report=False)
    assert len(results.scores) == 16


@pytest.mark.slow
@pytest.mark.parametrize(
    "place",
    [
        *("/proc/x", "file/x", "closed/x"),
        *(pytest.param(place, marks=pytest.mark.slow) for place in ("file", "s" * 300)),
        pytest.param("/" + "s/" * 2100, marks=pytest.mark.slow),
    ],
)
def test_a_place_that_cannot_be_written_to(simstudy, made, tmp_path, place):
    (tmp_path / "file").write_text("dear")
    (tmp_path / "closed").mkdir(mode=0o500)
    if place == "closed/x" and os.access(tmp_path / "closed", os.W_OK):
        pytest.skip("nothing is forbidden to this user")
    for asked in (
        ("run", made / "s.toml", "--jobs", 1),
        ("run", made / "s.toml", "--jobs", 1, "--shard", "1/2"),
        ("run", made / "s.toml", "--jobs", 1, "--overwrite"),
        ("merge", made / "out"),
        ("tables", made / "out"),
        ("figures", made / "out"),
    ):
        done = simstudy(*asked, "--out", place)
        assert done.returncode == 2, done.stderr
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert "overwrite" not in done.stderr
    assert (tmp_path / "file").read_text() == "dear"
