"""Files made from cells are checked when they are read, and made again by `run`, in all studies."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy import SimstudyError, load_study, open_results, run_study
from simstudy.report.files import write_figures, write_report
from simstudy.results.store.columns import cell_files
from simstudy.results.store.store import Store

MODELS = """
name = "{0}"
models = 3
[family]
name = "tan"
variables = [3, 4]
[[learners]]
name = "naive_bayes"
label = "NB"
[[learners]]
name = "prior"
"""
STUDIES = {
    "learners": "keep_answers = true\n"
    + MODELS
    + "[data]\ntrain_sizes = [20, 60]\ntest_size = 100\n",
    "datasets": """
name = "sets"
keep_answers = true
[[datasets]]
path = "table.csv"
[resampling]
folds = 3
[[learners]]
name = "naive_bayes"
label = "NB"
[[learners]]
name = "prior"
""",
    "measures": 'compare = "measures"\n'
    + MODELS
    + """
[data]
train_sizes = [40]
test_sizes = [20, 50]
repeats = 4
[measures]
primary = "information_reward"
also = ["accuracy"]
targets = ["kl_divergence", "accuracy"]
""",
    "estimators": 'compare = "estimators"\n'
    + MODELS
    + """
[data]
train_sizes = [12, 30]
training_sets = 5
[measures]
primary = "accuracy"
[[estimators]]
name = "resubstitution"
[[estimators]]
name = "cross_validation"
folds = 4
""",
    "tests": 'compare = "tests"\n'
    + MODELS
    + """
[data]
train_sizes = [30, 60]
repeats = 2
[measures]
primary = "accuracy"
[[tests]]
name = "five_by_two_t"
[[tests]]
name = "mcnemar"
""",
}
OTHERS = {"learners": "answers", "datasets": "answers", "measures": "picks"}
OTHERS["estimators"] = "estimates"  # read by the attribute of this name


def write_studies(place: Path) -> list[Path]:
    """Write a study of each kind, and a table that one of them is of."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 90)
    table = pd.DataFrame({"x": y + rng.normal(0, 1, 90), "y": np.array(["no", "yes"])[y]})
    table.to_csv(place / "table.csv", index=False)
    for kind, text in STUDIES.items():
        (place / f"{kind}.toml").write_text(text.format(kind))
    return [place / f"{kind}.toml" for kind in STUDIES]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A study of each kind, with its results."""
    place = tmp_path_factory.mktemp("made")
    for path in write_studies(place):
        kind = path.stem
        out = run_study(load_study(path), place / kind, jobs=1, report=False).directory
        (out / "manifest.json").unlink()  # with the seconds that cells took, which the page has
        run_study(load_study(path), out, jobs=1)
    return place


@pytest.fixture
def out(made, kind):
    """A copy of results, beside the table that they are of."""
    copy = shutil.copytree(made / kind, made / f"{kind}-copy")
    yield copy
    shutil.rmtree(copy)


def contents(directory: Path) -> dict[str, bytes]:
    """The files of results but the manifest; the page names the directory."""
    files = {path.name: path.read_bytes() for path in directory.iterdir()}
    del files["manifest.json"]
    files["report.html"] = re.sub(rb"--out [\w-]+", b"", files.get("report.html", b""))
    return files


DAMAGES = ("changed", "missing", "without a checksum")


@pytest.mark.parametrize("kind", STUDIES)
@pytest.mark.parametrize(
    "damage", [DAMAGES[0], *(pytest.param(way, marks=pytest.mark.slow) for way in DAMAGES[1:])]
)
def test_run_makes_every_file_again_that_is_made_from_cells(made, kind, out, damage):
    study = load_study(made / f"{kind}.toml")
    before, manifest = contents(out), json.loads((out / "manifest.json").read_text())
    assert {*manifest["checksums"]} == {*cell_files(study)}
    # Without that of the scores, a manifest is one of an earlier version, which lacks the others.
    lost = [name for name in cell_files(study) if damage in DAMAGES[:2] or name != "scores.parquet"]
    for name in lost:
        if damage == "missing":
            (out / name).unlink()
        elif damage == "changed":
            (out / name).write_bytes(before[name][:-9] + b"x" + before[name][-8:])
        else:
            del manifest["checksums"][name]
            (out / "manifest.json").write_text(json.dumps(manifest))
    results = open_results(out)
    with pytest.raises(SimstudyError, match="missing or damaged; run the study again"):
        write_report(results, Store(out))
    with pytest.raises(SimstudyError, match="missing or damaged; run the study again"):
        write_figures(results, made / "figures")
    tables = ("scores", "timings", "failures", *filter(None, [OTHERS.get(kind)]))
    for attribute in tables[damage not in DAMAGES[:2] :]:
        with pytest.raises(SimstudyError, match=r"missing or damaged; run the study again"):
            getattr(results, attribute)
    restored = run_study(study, out, jobs=1, report=False)
    assert f"{out / lost[0]} was damaged or missing" in restored.note
    after = contents(out)
    assert {name: after[name] for name in cell_files(study)} == {
        name: before[name] for name in cell_files(study)
    }
    assert not run_study(study, out, jobs=1).note
    assert contents(out) == before


def test_rolled_answers_are_not_drawn(made):
    """Probabilities of the wrong classes look like any others."""
    out = shutil.copytree(made / "learners", made / "rolled")
    answers = pd.read_parquet(out / "answers.parquet")
    answers["probabilities"] = answers["probabilities"].map(lambda row: np.roll(row, 1))
    answers.to_parquet(out / "answers.parquet")
    with pytest.raises(SimstudyError, match=r"answers\.parquet is missing or damaged"):
        open_results(out).curves("roc")
    restored = run_study(load_study(made / "learners.toml"), out, jobs=1, report=False)
    expected = open_results(made / "learners").curves("roc").table
    pd.testing.assert_frame_equal(restored.curves("roc").table, expected)


def test_results_without_some_checksums_are_read_and_completed(made):
    """As earlier versions wrote them: a checksum of the scores apart, and none of answers."""
    out = shutil.copytree(made / "learners", made / "earlier")
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["checksums"]["answers.parquet"]
    manifest["scores_checksum"] = manifest["checksums"].pop("scores.parquet")
    (out / "manifest.json").write_text(json.dumps(manifest))
    results = open_results(out)
    assert len(results.answers) == 3 * 2 * 2 * 100
    assert len(results.scores) == 12
    note = run_study(load_study(made / "learners.toml"), out, jobs=1, report=False).note
    assert "answers.parquet was damaged or missing" in note
    (out / "scores.parquet").write_bytes((out / "timings.parquet").read_bytes())
    (out / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SimstudyError, match=r"scores\.parquet is missing or damaged"):
        _ = open_results(out).scores


# Ends itself at every so many-th moment of writing: with half a file, before a file gets its name,
# and after. Forking spares the imports.
KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from simstudy import load_study, run_study
from simstudy.results.store import atomic_files
import simstudy.report.files, matplotlib.pyplot

study, start, out, kills = load_study(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
moments, last = 0, None
sync, rename = os.fsync, Path.replace

def passed(before=lambda: None):
    global moments
    moments += 1
    if moments == last:
        before()
        os.kill(os.getpid(), signal.SIGKILL)

def half_written(number):
    path = os.readlink(f"/proc/self/fd/{number}")
    passed(lambda: os.truncate(path, os.stat(path).st_size // 2))
    sync(number)

def renamed(old, new):
    passed()
    rename(old, new)
    passed()

os.fsync, Path.replace = half_written, renamed
shutil.copytree(start, f"{out}-all")
run_study(study, f"{out}-all", jobs=1)
every = moments
for kill in range(kills):
    moments, last = 0, 1 + kill * every // kills
    shutil.copytree(start, f"{out}-{kill}")
    if not (child := os.fork()):
        run_study(study, f"{out}-{kill}", jobs=1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
print(every)
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")
@pytest.mark.parametrize(
    ("kind", "kills"),
    [("learners", 4), *(pytest.param(kind, 20, marks=pytest.mark.slow) for kind in STUDIES)],
)
def test_a_run_killed_while_it_writes_is_completed_by_the_next(made, kind, tmp_path, kills):
    study, start = made / f"{kind}.toml", tmp_path / "start"
    start.mkdir()
    shutil.copy(made / kind / "cells.jsonl", start)  # all else is to be written
    command = [sys.executable, "-c", KILLED, study, start, made / "killed", kills]
    one = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*map(str, command)], env={**os.environ, **one}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 30
    expected = contents(made / "killed-all")
    assert expected.keys() == contents(made / kind).keys()
    for kill in range(kills):
        out = made / f"killed-{kill}"
        with suppress(SimstudyError):  # before it is completed: no results, or the right ones
            assert open_results(out).scores.equals(open_results(made / "killed-all").scores)
        run_study(load_study(study), out, jobs=1)
        assert contents(out) == expected, kill
    for path in made.glob("killed-*"):
        shutil.rmtree(path)
