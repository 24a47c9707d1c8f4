"""Whatever a study file, a directory of results or a name holds: an answer, or one sentence."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import logging
import os
import shutil
import signal
import sys
import tempfile
import tomllib
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simstudy.cli.app import app, run_app
from simstudy.study.study import load_study
from simstudy.workflow.run import run_study

QUICK = settings.default.max_examples < 100
STUDY = """
name = "small"
title = "A small study"
seed = 7
models = 3
plugins = []

[family]
name = "tan"
variables = [3, 4]

[data]
train_sizes = [20, 60]
test_size = 100
training = "nested"

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "tan"

[measures]
primary = "log_loss"
also = ["accuracy", "regret"]
prior = "train"
cutoff = "mml"
base = "e"
reward = "sum"

[analysis]
confidence = 0.95
adjustment = "holm"

[limits]

[thresholds]
refine = false
"""
FAILING = """
from dataclasses import dataclass
import simstudy
@simstudy.register_learner("fuzz_failing")
@dataclass(frozen=True)
class Failing:
    "Fails."
    def fit(self, sample, rng):
        raise ValueError("=no\\x1b[31m luck\\r")
"""
FILES = ("manifest.json", "study.toml", "cells.jsonl", "failures.csv", "scores.parquet")
HUGE = "a number of 6,000 digits"  # which Python would not write
VERBS = (
    "run",
    "show",
    "plan",
    "report",
    "figures",
    "failures",
    "tables",
    "compare",
    "cell",
    "list",
    "studies",
    "schema",
)
TEXTS = st.text(max_size=8) | st.sampled_from(
    (
        *("", "NA", "None", "nan", "=1+1", "-", "@x", "'", "\x00", "\x1b[31m", "\u202e", "../x"),
        *("a\nb", "[/red]", "$\\frac{$", "<b>", "{{ 7 }}", "%s", "é", "\ufffe", "x" * 300),
    )
)
NUMBERS = (
    st.integers(-3, 12)
    | st.floats()
    | st.sampled_from([2**31, 2**63, -(2**64), 10**400, 1e308, 5e-324, HUGE])
)
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3)
)


def often(times: float) -> Callable[[Any], Any]:
    """So many times as many examples as a law has; the same ones each time, unless thorough."""
    return settings(
        max_examples=int(times * settings.default.max_examples),
        derandomize=QUICK,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@contextlib.contextmanager
def patience(seconds: int) -> Iterator[None]:
    """An error if something takes too long."""

    def late(*_: object) -> None:
        raise TimeoutError(f"nothing after {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def told(*arguments: object) -> tuple[int, str]:
    """The exit code and the output of a command, which must be good manners."""
    logging.disable()
    said, complained = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["simstudy", *map(str, arguments)]
    try:
        with (
            contextlib.redirect_stdout(said),
            contextlib.redirect_stderr(complained),
            pytest.raises(SystemExit) as ended,
            patience(120),
        ):
            run_app(app)
    finally:
        sys.argv = before
    code, out, err = ended.value.code, said.getvalue(), complained.getvalue()
    assert code in (0, 2, 3), (code, err)
    assert "Traceback" not in err or (arguments[0] == "cell" and code == 3), err
    if code == 2:
        assert err.startswith("simstudy: "), err
        assert len(err.splitlines()) == 1, err
    assert not {letter for letter in out + err if ord(letter) < 32} - {"\n", "\t"}
    return code, out


@contextlib.contextmanager
def somewhere() -> Iterator[Path]:
    """An empty working directory."""
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        yield Path(place)


def small(text: str) -> bool:
    """Whether a study, as it is shown, takes little time and memory to run."""
    study = tomllib.loads(text)
    family, rows = study["family"], study["data"]["test_size"]
    return (
        study["models"] <= 12
        and max(study["data"]["train_sizes"]) <= 100
        and (rows if isinstance(rows, int) else 100) <= 1000
        and family.get("variables", [9])[-1] <= 5
        and family.get("values", [9])[-1] <= 4
        and "limits" not in study
    )


def tried(path: Path, verb: str) -> None:
    """Show a study; run it too, or one cell of it, if that takes no time."""
    code, out = told("show", path)
    cell = ("cell", path, "--model", 0, "--size", 20, "--learner", "NB")
    if code == 0 and small(out):
        told(*(cell if verb == "cell" else ("run", path, "--jobs", 1, "--no-report")))
    elif code == 2:
        assert told(*(cell if verb == "cell" else (verb, path)))[0] == 2


def as_toml(value: Any) -> str:
    """A value in TOML's words, whatever it is."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{as_toml(str(k))} = {as_toml(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if value == HUGE:
        return hex(1 << 20000)
    if value is None:
        return "1979-05-27"
    return str(value) if isinstance(value, float) else json.dumps(value)


@st.composite
def edited(draw: st.DrawFn, text: str) -> str:
    """Text with some places of it cut out, doubled, or overwritten."""
    odd = TEXTS | VALUES.map(as_toml) | st.sampled_from(["[" * 600, "9" * 5000, "=", '"""', "]]"])
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        end = min(len(text), start + draw(st.integers(0, 30)))
        kept = draw(st.sampled_from(["", text[start:end] * 2]) | odd)
        text = text[:start] + kept + text[end:]
    return text


@st.composite
def with_odd_values(draw: st.DrawFn, tree: Any) -> Any:
    """A tree with something else in one of its places, or nothing there at all."""
    whole = json.loads(json.dumps(tree))
    part = whole
    while True:
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        if not keys:
            return whole
        key = draw(st.sampled_from(keys))
        if isinstance(part[key], dict | list) and part[key] and draw(st.integers(0, 3)):
            part = part[key]
            continue
        action = draw(st.integers(0, 4))
        if action == 0:
            del part[key]
        elif action == 1 and isinstance(part, dict):
            part[draw(TEXTS)] = draw(VALUES)
        else:
            part[key] = draw(VALUES)
        return whole


def written(tree: dict[str, Any]) -> str:
    """A tree of two levels as TOML."""
    return "".join(f"{as_toml(key)} = {as_toml(value)}\n" for key, value in tree.items())


RUNS = st.sampled_from(["run", "plan", "cell"])
CONTENTS = st.binary(max_size=200) | edited(STUDY).map(lambda text: text.encode(errors="replace"))


@pytest.mark.slow
@given(CONTENTS, RUNS)
@often(5)
def test_a_study_file_of_any_bytes_is_run_or_refused_in_a_sentence(content, verb):
    with somewhere() as place:
        (place / "study.toml").write_bytes(content)
        tried(place / "study.toml", verb)


@pytest.mark.slow
@given(with_odd_values(tomllib.loads(STUDY)), RUNS)
@often(5)
def test_a_study_of_any_values_is_run_or_refused_in_a_sentence(tree, verb):
    with somewhere() as place:
        (place / "study.toml").write_text(written(tree), encoding="utf-8", errors="replace")
        tried(place / "study.toml", verb)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results, some cells of which failed."""
    place = tmp_path_factory.mktemp("finished")
    (place / "failing.py").write_text(FAILING)
    failing = '[[learners]]\nname = "fuzz_failing"\nlabel = "NA"\n\n[measures]'
    changes = {"plugins = []": 'plugins = ["failing.py"]', "[measures]": failing}
    text = STUDY
    for old, new in changes.items():
        text = text.replace(old, new)
    (place / "study.toml").write_text(text)
    results = run_study(load_study(place / "study.toml"), place / "out", jobs=1, report=False)
    assert results.manifest["failures"] == 6
    return results.directory


def journalled(trees: list[Any]) -> str:
    """Lines of a journal, each with its checksum."""
    texts = [json.dumps(tree) for tree in trees]
    return "".join(f"{zlib.crc32(text.encode()):08x} {text}\n" for text in texts)


def damaged(draw: st.DrawFn, directory: Path) -> None:
    """Do something to one of the files of results."""
    path = directory / draw(st.sampled_from(FILES))
    how = draw(st.sampled_from(["bytes", "values", "values", "values", "missing", "other"]))
    if how == "missing":
        path.unlink()
    elif how == "other":
        path.unlink()
        target = draw(st.sampled_from([path.name, "nowhere", "/dev/null", ".", ""]))
        os.symlink(target, path) if target else path.mkdir()
    elif how == "bytes":
        content = path.read_bytes().decode("latin-1")
        path.write_bytes(draw(edited(content)).encode("latin-1", "replace"))
    elif path.suffix == ".json":
        path.write_text(json.dumps(draw(with_odd_values(json.loads(path.read_text())))))
    elif path.suffix == ".toml":
        tree = tomllib.loads(path.read_text())
        path.write_text(written(draw(with_odd_values(tree))), encoding="utf-8", errors="replace")
    elif path.suffix == ".jsonl":
        lines = [json.loads(line[9:]) for line in path.read_text().splitlines()]
        path.write_text(journalled(draw(with_odd_values(lines))))
    elif path.suffix == ".csv":
        rows = list(csv.reader(io.StringIO(path.read_text())))
        with path.open("w", encoding="utf-8", errors="replace", newline="") as file:
            csv.writer(file).writerows(
                row for row in draw(with_odd_values(rows)) if isinstance(row, list)
            )
    else:
        odd_scores(draw, path)


def odd_scores(draw: st.DrawFn, path: Path) -> None:
    """Write scores of another shape, and the checksum that goes with them."""
    scores = pd.read_parquet(path)
    column = draw(st.sampled_from(list(scores)))
    how = draw(st.sampled_from(["without", "as text", "constant", "few", "none", "twice", "nan"]))
    changed = {
        "without": lambda: scores.drop(columns=column),
        "as text": lambda: scores.astype({column: str}),
        "constant": lambda: scores.assign(**{column: draw(LEAVES.filter(lambda v: v != 10**400))}),
        "few": lambda: scores.sample(draw(st.integers(1, 5)), random_state=1),
        "none": lambda: scores.iloc[:0],
        "twice": lambda: pd.concat([scores, scores]),
        "nan": lambda: scores.assign(**{column: float("nan")}),
    }[how]()
    with contextlib.suppress(Exception):  # what no such file can hold
        changed.to_parquet(path)
    manifest = json.loads((path.parent / "manifest.json").read_text())
    manifest["checksums"]["scores.parquet"] = zlib.crc32(path.read_bytes())
    (path.parent / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.slow
@given(st.data())
@often(3)
def test_results_of_any_content_are_told_of_or_refused_in_a_sentence(finished, data):
    with somewhere() as place:
        directory = place / "results"
        shutil.copytree(finished, directory)
        damaged(data.draw, directory)
        commands = [
            ("failures", directory),
            ("tables", directory, "--format", "csv"),
            ("tables", directory, "--format", "markdown"),
            ("compare", directory, finished),
            ("show", directory / "study.toml"),
            ("run", directory / "study.toml", "--out", directory, "--no-report", "--jobs", 1),
        ]
        told(*data.draw(st.sampled_from(commands)))


@pytest.mark.slow
@given(st.data())
@often(0.1)
def test_a_report_of_any_results_is_written_or_refused_in_a_sentence(finished, data):
    with somewhere() as place:
        directory = place / "results"
        shutil.copytree(finished, directory)
        damaged(data.draw, directory)
        told("report", directory)


@given(title=TEXTS, labels=st.lists(TEXTS, min_size=2, max_size=2), out=TEXTS, model=NUMBERS)
@often(0.5)
def test_any_name_is_shown_or_refused_in_a_sentence(title, labels, out, model):
    with somewhere() as place:
        study = tomllib.loads(STUDY) | {"title": title}
        for learner, label in zip(study["learners"], labels, strict=True):
            learner["label"] = label
        text = written(study)
        (place / "study.toml").write_text(text, encoding="utf-8", errors="replace")
        directory = place / "x{}".format(out.replace("/", "|"))
        code, _ = told("run", place / "study.toml", "--jobs", 1, "--no-report", "--out", directory)
        label = labels[0].replace("\0", "")
        told("cell", place / "study.toml", "--model", model, "--size", 20, "--learner", label)
        told("run", place / f"{title}.toml")
        if code == 0:
            told("tables", directory, "--format", "latex")
            told("compare", directory, directory, "--out", place / f"y{directory.name}")


@given(st.lists(TEXTS | NUMBERS.map(str), max_size=2), st.sampled_from(sorted(VERBS)))
@often(1)
def test_any_arguments_are_taken_or_refused_in_a_sentence(arguments, verb):
    with somewhere():
        told(verb, *(text for text in arguments if not text.startswith("/")))
