"""No page contradicts itself or the scores: what it says of pairs is read and computed again."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path

import pytest

from simstudy import Results, open_results
from simstudy.cli.app import app
from simstudy.report.page import report_page
from tests.report.agreement import studies
from tests.report.agreement.page import Page, terminal
from tests.report.agreement.said import Said
from tests.report.agreement.truth import Truth

pytestmark = pytest.mark.xdist_group("agreement")  # the studies are run once


def command(*arguments: object) -> str:
    """Run a command in this process; return what it prints, without wrapping."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setenv("COLUMNS", "2000")
        app([*map(str, arguments)], standalone_mode=False)
    return printed.getvalue()


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    directory = tmp_path_factory.mktemp("agreement")
    studies.write(directory)
    return directory


@pytest.fixture(scope="session")
def ran(place) -> Callable[[str], tuple[Path, str]]:
    """Run a study once; return its results and what the run printed."""
    known: dict[str, tuple[Path, str]] = {}

    def run(name: str) -> tuple[Path, str]:
        if name not in known:
            out = place / "out" / name
            more = ["--refine"] if name == "close" else []
            known[name] = out, command("run", place / f"{name}.toml", "--out", out, "--jobs", 1, *more)
        return known[name]

    return run


def faults(said: dict[int, list[Said]], directory: Path) -> dict[str, list[str]]:
    """Return what the scores contradict, by the part of the page that says it."""
    found: dict[str, list[str]] = {}
    for at, each in said.items():
        truth = Truth(directory, at)
        for one in each:
            if wrong := truth.fault(one):
                found.setdefault(one.where, []).append(f"{truth.column}: {wrong}")
    return found


def page_of(directory: Path, text: str = "") -> dict[int, list[Said]]:
    """Read a report; that of the directory if none is given."""
    text = text or (directory / "report.html").read_text(encoding="utf-8")
    return Page(text, Truth(directory).sizes).said()


@pytest.mark.parametrize("name", studies.STUDIES)
def test_the_page_says_what_the_scores_say(ran, name):
    directory, _ = ran(name)
    said = page_of(directory)
    assert faults(said, directory) == {}


@pytest.mark.parametrize("name", studies.STUDIES)
def test_the_terminal_says_what_the_scores_say(ran, name):
    directory, printed = ran(name)
    truth = Truth(directory)
    said = terminal(printed, truth.learners, truth.sizes)
    assert faults({0: said}, directory) == {}
