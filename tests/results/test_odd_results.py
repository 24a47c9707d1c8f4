"""Results of any content with the right checksums are told of, or refused in a sentence.

A checksum says that a file is as it was written, not that simstudy wrote it.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import random
import shutil
import sys
import zlib
from collections import Counter
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy import load_study, run_study
from simstudy.cli.app import app, run_app
from simstudy.engine.evaluation import pack
from tests.results.test_cell_files import STUDIES, write_studies

ODD: tuple[Any, ...] = (
    *(None, True, -1, 0, 1, 3, 0.5, 2**31, 2**52, 2**53, 10**400, 1e308, 5e-324),
    *(float("nan"), float("inf"), "", "x", "NB", "ok", "AAAA", "=1+1", "\x1b[31m", "\u202e", "é"),
    *("../x", "nan", "[]", "{}", "\ud800", [], [3], [[0.1]], {}, {"x": 3}, [None] * 3),
)
TABLES = ("scores", "timings", "answers", "picks", "estimates")


def odd_answers(rng: random.Random) -> str:
    """Packed predictions of some shape and some values."""
    rows, classes = rng.choice([1, 2, 30, 100]), rng.choice([1, 2, 3])
    proba = np.full((rows, classes), rng.choice([1 / classes, 0.0, -1.0, 2.0, np.nan, np.inf]))
    target = np.full(rows, rng.choice([-1, 0, 1, 7, 2**62, -(2**62)]))
    return pack(np.arange(rows), target, proba)


def changed(rng: random.Random, tree: Any) -> None:
    """Change something in one place of a tree."""
    while True:
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        if not keys:
            return
        key = "answers" if "answers" in keys and rng.random() < 0.3 else rng.choice(keys)
        if isinstance(tree[key], dict | list) and tree[key] and rng.random() < 0.8:
            tree = tree[key]
            continue
        how = rng.random()
        if how < 0.15:
            del tree[key]
        elif how < 0.25 and isinstance(tree, list):
            tree.append(deepcopy(tree[key]))
        elif how < 0.4 and isinstance(tree[key], list):
            rng.shuffle(tree[key])
        elif key == "answers" and how < 0.7:
            tree[key] = odd_answers(rng)
        else:
            tree[key] = deepcopy(rng.choice(ODD))
        return


def change_journal(rng: random.Random, path: Path) -> None:
    """Change some lines; their checksums go with them."""
    lines = [json.loads(line[9:]) for line in path.read_text().splitlines()]
    for _ in range(rng.randint(1, 3)):
        changed(rng, rng.choice([lines, *(one for one in lines if isinstance(one, dict | list))]))
    texts = [json.dumps(line) for line in lines]
    path.write_text("".join(f"{zlib.crc32(text.encode()):08x} {text}\n" for text in texts))


def change_manifest(rng: random.Random, path: Path) -> None:
    """Change some keys."""
    tree = json.loads(path.read_text())
    for _ in range(rng.randint(1, 2)):
        changed(rng, rng.choice([tree, *(one for one in tree.values() if isinstance(one, dict))]))
    path.write_text(json.dumps(tree))


def change_table(rng: random.Random, path: Path) -> None:
    """Change a table of the cells, and its checksum in the manifest."""
    table = pd.read_parquet(path)
    column = rng.choice(list(table))
    odd = rng.choice([one for one in ODD if one != 10**400 and one != "\ud800"])
    makers = [
        lambda: table.drop(columns=column),
        lambda: table.astype({column: str}),
        lambda: table.assign(**{column: [odd] * len(table)}),
        lambda: table.sample(rng.randint(1, 5), random_state=1),
        lambda: table.iloc[:0],
        lambda: pd.concat([table, table]),
        lambda: table.iloc[::-1],
        lambda: table.assign(**{column: np.roll(table[column], 1)}),
    ]
    with contextlib.suppress(Exception):  # what no such file can hold
        rng.choice(makers)().to_parquet(path)
    manifest = json.loads((path.parent / "manifest.json").read_text())
    manifest["checksums"][path.name] = zlib.crc32(path.read_bytes())
    (path.parent / "manifest.json").write_text(json.dumps(manifest))


def told(*arguments: object) -> int:
    """The exit code of a command in this process, which shows no traceback."""
    complaints, before = io.StringIO(), sys.argv
    sys.argv = ["simstudy", *map(str, arguments)]
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(complaints),
            pytest.raises(SystemExit) as ended,
        ):
            run_app(app)
    finally:
        sys.argv = before
    text = complaints.getvalue()
    assert ended.value.code in (0, 2, 3), text
    assert "Traceback" not in text
    if ended.value.code == 2:
        assert text.splitlines()[-1].startswith("simstudy: "), text
        assert text.count("\nsimstudy: ") == 0, text
    return int(ended.value.code)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Results of each kind, without pages."""
    place = tmp_path_factory.mktemp("made")
    for path in write_studies(place):
        run_study(load_study(path), place / path.stem, jobs=1, report=False)
    return place


COMMANDS = {
    "score": ("score", "{0}", "--measure", "kappa", "--no-report"),
    "merge": ("merge", "{0}", "--out", "merged"),
    "compare": ("compare", "{0}", "{1}", "--out", "page.html"),
    "report": ("report", "{0}"),
    "figures": ("figures", "{0}", "--format", "svg", "--out", "drawn"),
}
OFTEN = {"score": 9, "merge": 9, "compare": 6, "report": 2, "figures": 1}


@pytest.mark.parametrize("examples", [40, pytest.param(2000, marks=pytest.mark.slow)])
def test_odd_results_are_told_of_or_refused_in_a_sentence(made, tmp_path, monkeypatch, examples):
    logging.disable()
    monkeypatch.chdir(tmp_path)
    codes: Counter[int] = Counter()
    for example in range(examples):
        rng = random.Random(example)
        kind = rng.choice(list(STUDIES))
        verb = rng.choices(list(OFTEN), list(OFTEN.values()))[0]
        out = made / "odd"  # beside the data that the results are of
        shutil.copytree(made / kind, out)
        tables = [out / f"{name}.parquet" for name in TABLES if (out / f"{name}.parquet").exists()]
        what = rng.choice(["journal", "journal", "manifest", "table"])
        if what == "journal":
            change_journal(rng, out / "cells.jsonl")
            (out / "scores.parquet").unlink() if rng.random() < 0.5 else None
        elif what == "manifest":
            change_manifest(rng, out / "manifest.json")
        else:
            change_table(rng, rng.choice(tables))
        arguments = [word.format(out, made / kind) for word in COMMANDS[verb]]
        with monkeypatch.context() as patch:
            if verb == "merge":  # its page takes as long as that of report
                patch.setattr("simstudy.report.files.write_report", lambda *_: None)
            try:
                codes[told(*arguments)] += 1
            except BaseException:
                print(f"example {example}: {kind}, {what}, {verb}")
                raise
        shutil.rmtree(out)
        shutil.rmtree("merged", ignore_errors=True)
    logging.disable(logging.NOTSET)
    assert min(codes[0], codes[2]) > examples / 20, codes
    print(codes)  # shown by pytest -rP
