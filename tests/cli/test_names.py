"""Names, labels and texts of errors that would be something else where they are shown."""

from __future__ import annotations

import csv
import io
import re
from xml.etree import ElementTree

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simstudy.report.files import write_figures, write_tables
from simstudy.study.study import load_study
from simstudy.texts import as_csv, csv_text, csv_value, on_one_line, printable
from simstudy.workflow.run import run_study
from tests.report.packed import files as packed_files

FAILING = """
from dataclasses import dataclass
import simstudy
@simstudy.register_learner("failing_by_name")
@dataclass(frozen=True)
class Failing:
    "Fails."
    def fit(self, sample, rng):
        if len(sample.codes) > 50:
            raise ValueError("=cmd|' /C calc'!A0 \\x1b]0;title\\x07\\rend")
        from simstudy.learners.bayes.naive_bayes import NaiveBayes
        return NaiveBayes().fit(sample, rng)
"""
TITLE = r"A \u001b[31mred\u0007 \u0000 \ufffe \u202e title"
LABELS = (r"=1+1\u001b[2J", "NA", "None")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Results whose names and errors are all of them traps."""
    place = tmp_path_factory.mktemp("hostile")
    (place / "failing.py").write_text(FAILING)
    learners = "".join(
        f'[[learners]]\nname = "{name}"\nlabel = "{label}"\n'
        for name, label in zip(("naive_bayes", "tan", "failing_by_name"), LABELS, strict=True)
    )
    (place / "study.toml").write_text(
        f'name = "hostile"\ntitle = "{TITLE}"\nmodels = 3\nplugins = ["failing.py"]\n'
        '[family]\nname = "tan"\nvariables = [3, 4]\n[data]\ntrain_sizes = [20, 60]\n'
        f"test_size = 100\n{learners}"
    )
    return run_study(load_study(place / "study.toml"), place / "out", jobs=1)


def controls(text):
    return {letter for letter in text if re.match("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", letter)}


@pytest.mark.slow
def test_labels_that_look_like_missing_values_are_labels(hostile):
    assert set(hostile.failures["learner"]) == {"None"}
    assert hostile.failures["model"].tolist() == [0, 1, 2]
    page = (hostile.directory / "report.html").read_text(encoding="utf-8")
    told = page[page.index("Failed cells") :]
    assert re.search(r"<t[hd][^>]*>(<span[^>]*>)?None</span>", told)
    assert not re.search(r">\s*nan\s*<", page)


@pytest.mark.slow
def test_no_control_character_reaches_a_terminal(hostile, simstudy):
    study = hostile.directory / "study.toml"
    for arguments in (
        ("run", study, "--out", hostile.directory),
        ("show", study),
        ("failures", hostile.directory),
        ("cell", study, "--model", 0, "--size", 20, "--learner", "\x1b[31m"),
        ("cell", study, "--model", 0, "--size", 60, "--learner", "None"),
        ("report", "\x1b[31m"),
    ):
        done = simstudy(*arguments)
        assert done.stdout + done.stderr
        assert not controls(done.stdout + done.stderr), arguments


@pytest.mark.slow
def test_pictures_are_well_formed(hostile, tmp_path):
    written, _ = write_figures(hostile, tmp_path, "svg")
    pictures = [*hostile.directory.glob("*.svg"), *(p for p in written if p.suffix == ".svg")]
    assert len(pictures) > 3
    for path in pictures:
        ElementTree.parse(path)


@pytest.mark.slow
def test_pages_have_no_control_characters_and_their_pictures_are_well_formed(hostile):
    page = (hostile.directory / "report.html").read_text(encoding="utf-8")
    assert not controls(page)
    pictures = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert pictures
    for picture in pictures:
        ElementTree.fromstring(picture)


def formulas(text):
    """The fields of a CSV file that a spreadsheet would compute."""
    found = [field for row in csv.reader(io.StringIO(text)) for field in row]
    assert found
    return [one for one in found if re.match(r"[=+@\-](?![\d.]+(e-?\d+)?$|inf$)", one)]


@pytest.mark.slow
def test_no_csv_file_has_a_formula(hostile, tmp_path):
    written = write_tables(hostile, tmp_path, "csv")
    files = [*hostile.directory.glob("*.csv"), *(p for p in written if p.suffix == ".csv")]
    assert {"failures.csv", "intervals.csv", "pairwise.csv"} <= {path.name for path in files}
    marked = [path.name for path in files if "'=1+1" in path.read_text(encoding="utf-8")]
    assert "intervals.csv" in marked
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert not formulas(text), path.name
        assert not controls(text), path.name
    page = (hostile.directory / "report.html").read_text(encoding="utf-8")
    held = {name: text for name, text in packed_files(page).items() if name.endswith(".csv")}
    assert "means_information_reward.csv" in held
    for name, text in held.items():
        assert not formulas(text), name


@pytest.mark.slow
def test_failures_are_read_back_as_they_were(hostile):
    assert (
        hostile.failures["error"].tolist()
        == ["ValueError: =cmd|' /C calc'!A0 \\u001b]0;title\\u0007\\u000dend"] * 3
    )
    assert hostile.failures["traceback"].str.startswith("Traceback").all()


@given(st.text())
def test_texts_come_back_from_csv_and_are_never_formulas(text):
    there = csv_value(text)
    assert csv_text(there) == printable(text)
    assert not there.startswith(("=", "@"))
    assert not there.startswith(("+", "-")) or float(there) is not None


# Those of Unicode's Default_Ignorable_Code_Point that Python takes for printable.
IGNORABLE = [0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x180E), 0x180F, 0x3164]
IGNORABLE += [*range(0xFE00, 0xFE10), 0xFFA0, *range(0xE0100, 0xE01F0)]


def test_characters_that_are_never_drawn_are_escaped():
    for character in map(chr, IGNORABLE):
        assert character.isprintable()
        assert printable(character).startswith("\\")


@given(st.text())
@example("a\u034fb")
def test_printable_text_has_no_control_characters(text):
    assert not controls(printable(text))
    assert len(on_one_line(text).splitlines()) <= 1
    if text.isprintable() and not {*IGNORABLE} & {*map(ord, text)}:
        assert printable(text) == text


def test_numbers_in_csv_are_left_alone():
    table = pd.DataFrame({"=x": [-1.5, float("nan")], "y": ["-1.5", "+a"], "z": [-3, 4]})
    assert as_csv(table) == "'=x,y,z\n-1.5,-1.5,-3\n,'+a,4\n"
