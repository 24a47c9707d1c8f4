"""`simstudy advise`: one clear sentence about each table that allows no advice."""

from __future__ import annotations

import numpy as np
import pytest

RNG = np.random.default_rng(0)


def csv(rows: int, target: str = "class", classes: int = 2) -> str:
    lines = [f"a,b,{target}"]
    for _ in range(rows):
        label = RNG.integers(classes)
        lines.append(f"{(label + RNG.integers(2)) % 3},{RNG.normal(label):.3f},k{label}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (csv(20), ["--target", "class"], ["20 rows", "at least 50"]),
        (
            "class,b\n" + "".join(f"k{row % 2},{row / 3}\n" for row in range(80)),
            [],
            ["the target 'b' has 80 different numbers", "name another column in target"],
        ),
        (csv(80), ["--target", "clas"], ["'clas'", "did you mean 'class'?"]),
        (csv(80, classes=1), ["--target", "class"], ["one class"]),
        (csv(80), ["--target", "b"], ["80 different numbers", "ranges"]),
        (csv(80), ["--target", "class", "--rows", "50"], ["--rows", "50", "80"]),
        (csv(80), ["--target", "class", "--models", "2"], ["models = 2", "10"]),
        (csv(80), ["--target", "class", "--fitter", "tree"], ["--fitter", "camml"]),
        ("", ["--target", "class"], ["empty"]),
    ],
)
def test_a_table_that_allows_no_advice_is_refused_in_a_sentence(
    text, arguments, words, command, refused, tmp_path
):
    (tmp_path / "mine.csv").write_text(text)
    refused(command("advise", "mine.csv", *arguments), *words)


def test_a_file_that_is_not_there_is_named(command, refused):
    refused(command("advise", "mine.csv", "--target", "class"), "mine.csv", "cannot be read")


@pytest.mark.slow
def test_advice_is_printed_and_its_page_is_written(command, tmp_path):
    (tmp_path / "mine.csv").write_text(csv(60))
    done = command("advise", "mine.csv", "--target", "class", "--models", 10, "--jobs", 2)
    assert done.returncode == 0
    assert "With your 60 rows" in " ".join(done.stdout.split())
    assert (tmp_path / "results" / "advise-mine" / "advice.html").exists()
