"""Studies run once, and pages with one place changed."""

from __future__ import annotations

import contextlib
import io
import pkgutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from simstudy import Results, open_results
from simstudy.cli.app import app
from simstudy.report import files
from tests.report.agreement import studies
from tests.report.agreement.said import Said

Faults = dict[str, list[tuple[str, str]]]


def command(*arguments: object) -> str:
    """Run a command in this process; return what it prints, without wrapping."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(printed):
        patch.setenv("COLUMNS", "2000")
        patch.setattr(files, "kept_figures", lambda results: {})  # which take long
        app([*map(str, arguments)], standalone_mode=False)
    return printed.getvalue()


class Runner:
    """Runs the studies of a directory when they are asked for, each once."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.known: dict[str, tuple[Path, str]] = {}
        self._results: dict[str, Results] = {}
        studies.write(directory)

    def __call__(self, name: str) -> tuple[Path, str]:
        """Return where the results of a study or list are, and what its run printed."""
        if name not in self.known:
            out = self.directory / "out"
            more = ["--jobs", 1, "--details", *["--refine"] * (name == "close")]
            where = out if name == "list" else out / name
            printed = command("run", self.directory / f"{name}.toml", "--out", where, *more)
            self.known[name] = out / name, printed
        return self.known[name]

    def results(self, name: str) -> Results:
        """Return the results of a study, which compute each analysis once."""
        if name not in self._results:
            self._results[name] = open_results(self(name)[0])
        return self._results[name]


def collected(pairs: Iterable[tuple[Said, str]]) -> Faults:
    """Return the kinds of statements that are wrong, and why, by where they stand."""
    found: Faults = {}
    for said, wrong in pairs:
        if wrong:
            found.setdefault(said.where, []).append((said.kind, wrong))
    return found


def mutate(monkeypatch: pytest.MonkeyPatch, target: str, change: Callable[..., Any]) -> None:
    """Change a function or property, named by its path; ``change`` is given the real one."""
    holder, _, name = target.rpartition(".")
    place = pkgutil.resolve_name(holder)
    monkeypatch.setattr(place, name, change(getattr(place, name)))


def of(change: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return a mutation that calls a function of findings with changed ones."""
    return lambda real: lambda findings, *rest, **more: real(change(findings), *rest, **more)


def also(*sentences: str) -> Callable[..., Any]:
    """Return a mutation that adds sentences to a list of them."""
    return lambda real: lambda *rest, **more: [*real(*rest, **more), *sentences]
