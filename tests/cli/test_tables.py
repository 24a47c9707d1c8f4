"""`simstudy tables`."""

from __future__ import annotations

import re
import shutil

import pandas as pd
import pytest

from simstudy.report.files import write_tables

pytestmark = [pytest.mark.xdist_group("cli_out"), pytest.mark.slow]  # its results are made once

ENDINGS = {"latex": "tex", "markdown": "md", "csv": "csv"}
NAMES = (
    *("means", "means_accuracy", "anova", "sphericity"),
    *("pairwise", "thresholds", "precision", "ranks"),
)


@pytest.fixture(scope="module")
def written(place, run_simstudy, tmp_path_factory):
    """The directory of the tables in each format, and the paths that the command printed.

    LaTeX, beside the results, is what it writes without options.
    """
    root = tmp_path_factory.mktemp("tables")
    shutil.copytree(place / "out", root / "out")
    made = {}
    for format in ENDINGS:
        options = () if format == "latex" else ("--format", format, "--out", format)
        done = run_simstudy(root, "tables", "out", *options)
        assert (done.returncode, done.stderr) == (0, "")
        out = root / "out" / "tables" if format == "latex" else root / format
        made[format] = out, [root / line for line in done.stdout.splitlines()]
    return made


def rows(text):
    """The rows of the printed table: words of the first two columns, and all numbers."""
    found = []
    for line in text.splitlines():
        if line.startswith("| ") or line.endswith(r"\\"):
            plain = line.replace("−", "-").replace("$-$", "-").removeprefix(r"\midrule ")
            words = [re.sub(r"[*{}\\]|\btextbf\b", "", cell).strip() for cell in cells(plain)]
            found.append((words[:2], re.findall(r"-?\d+\.\d+", plain)))
    return found


def cells(line):
    if line.startswith("|"):
        return line.strip("| ").split(" | ")
    return line.removesuffix(r"\\").split(" & ")


def check(shown, value):
    """The number is what the value is when rounded to the digits that are shown."""
    digits = len(shown.partition(".")[2])
    assert digits >= 2
    assert abs(float(shown) - value) <= 0.5 * 10**-digits * (1 + 1e-6)


@pytest.mark.parametrize("format", ENDINGS)
def test_every_table_is_a_file_that_is_printed_and_has_a_caption(written, format):
    out, printed = written[format]
    tables = [f"{name}.{ENDINGS[format]}" for name in NAMES]
    assert printed == [out / name for name in (*tables, "captions.md")]
    assert {path.name for path in out.iterdir()} == {*tables, "captions.md"}
    captions = (out / "captions.md").read_text(encoding="utf-8")
    assert all(name in captions for name in tables)


def test_csv_has_every_digit_of_the_results(written, results):
    out, _ = written["csv"]
    for name, expected in (
        ("means", results.intervals()),
        ("means_accuracy", results.intervals("accuracy")),
        ("anova", results.anova()),
        ("pairwise", results.pairwise()),
        ("precision", results.precision()),
    ):
        found = pd.read_csv(out / f"{name}.csv")
        if name == "precision":
            found["second"] = found["second"].fillna("")
        pd.testing.assert_frame_equal(
            found[expected.columns], expected, check_dtype=False, rtol=1e-14
        )


@pytest.mark.parametrize("format", ["latex", "markdown"])
@pytest.mark.parametrize(("name", "measure"), [("means", None), ("means_accuracy", "accuracy")])
def test_means_are_printed_with_half_the_width_of_their_intervals(
    written, results, format, name, measure
):
    out, _ = written[format]
    text = (out / f"{name}.{ENDINGS[format]}").read_text(encoding="utf-8")
    printed = {words[0]: numbers for words, numbers in rows(text)}
    for learner, found in results.intervals(measure).groupby("learner"):
        assert len(printed[learner]) == 2 * len(results.sizes)
        for place, row in enumerate(found.itertuples()):
            check(printed[learner][2 * place], row.mean)
            check(printed[learner][2 * place + 1], (row.upper - row.lower) / 2)


@pytest.mark.parametrize("format", ["latex", "markdown"])
def test_pairs_are_printed_with_their_differences_and_intervals(written, results, format):
    out, _ = written[format]
    text = (out / f"pairwise.{ENDINGS[format]}").read_text(encoding="utf-8")
    printed = {tuple(words): numbers for words, numbers in rows(text)}
    pairs = results.pairwise()
    for row in pairs.itertuples():
        numbers = printed[str(row.size), f"{row.first} - {row.second}"]
        expected = (row.difference, row.lower, row.upper, row.t, row.p_adjusted)
        for shown, value in zip(numbers, expected, strict=True):
            check(shown, value)


@pytest.mark.parametrize("format", ["latex", "markdown"])
def test_the_anova_is_printed_with_its_tests(written, results, format):
    out, _ = written[format]
    text = (out / f"anova.{ENDINGS[format]}").read_text(encoding="utf-8")
    printed = [numbers for _, numbers in rows(text) if numbers]
    keys = ["F", "p", "p_gg", "p_hf", "eta2_generalized", "eta2_partial"]
    for numbers, row in zip(printed, results.anova().to_dict("records"), strict=True):
        for shown, key in zip(numbers, keys, strict=True):
            check(shown, row[key])


def test_written_again_the_bytes_are_the_same(written, results, tmp_path):
    out, _ = written["latex"]
    write_tables(results, tmp_path, "latex")
    once = {path.name: path.read_bytes() for path in out.iterdir()}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == once


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("out", "--format", "word"), ("word", *ENDINGS)),
        (("nowhere",), ("nowhere",)),
    ],
)
def test_wrong_input_is_refused(simstudy, copy, refused, tmp_path, arguments, words):
    before = {*tmp_path.rglob("*")}
    refused(simstudy("tables", *arguments), *words)
    assert {*tmp_path.rglob("*")} == before
