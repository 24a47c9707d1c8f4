"""Where a study's results live on disk, and whose they are."""

from __future__ import annotations

import csv
import io
import json
import os
import platform
import re
import shlex
import tomllib
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from simstudy.engine.plan import MEASURED, UNNAMED_CONDITIONS, Plan
from simstudy.engine.task import Cell, CellKey
from simstudy.errors import SimstudyError
from simstudy.results.columns import Columns, Places, parquet
from simstudy.results.files import UNFINISHED, write_files
from simstudy.results.journal import Journal
from simstudy.results.manifest import COMPLETE as COMPLETE
from simstudy.results.manifest import is_manifest, networks, told
from simstudy.study.constants import JOURNAL, MANIFEST, STUDY
from simstudy.study.toml import dumps
from simstudy.texts import csv_value

SCHEMA_VERSION = 1
RUNNING, SHARD = "running", "shard"
_TOLD = ("name", "title", "analysis", "thresholds")  # what a report says of a study
PLUGINS = "plugins"
REFINED = "refined.parquet"  # cells of sizes that were added for the thresholds alone
SCORES = ("scores.parquet", "timings.parquet", "failures.csv", JOURNAL)
PACKAGES = ("simstudy", "numpy", "scipy", "pandas", "pyarrow", "joblib", "scikit-learn", "pgmpy")


class Store:
    """The directory of one study's results; every file appears in it whole or not at all."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.notes: list[str] = []  # what a user should know of how the results were made
        self.refused: dict[str, str] = {}  # workers that would have computed differently, and why
        self._drawn: dict[int, str] = {}  # the digest of each model that has cells
        self._before: dict[str, bytes] = {}  # what complete results say of themselves
        self.told: dict[str, Any] | None = None  # what the manifest tells, if nothing is looked up

    def manifest(self) -> dict[str, Any] | None:
        """The record of what made these results; None where there is no such record.

        Where it is missing or damaged, what the journal says of its cells stands for it.
        """
        content = self._written_manifest()
        return self._from_journal() if content is None else content

    def _from_journal(self) -> dict[str, Any] | None:
        """What the journal says of its cells, as a manifest."""
        with self._said():
            whose = Journal(self.directory).whose()
        if whose is None:
            return None
        return {**whose, "status": RUNNING, "fingerprint": "", "from_journal": True}

    def _written_manifest(self) -> dict[str, Any] | None:
        path = self.directory / MANIFEST
        with self._said():
            if not path.exists():
                return None
            text = path.read_bytes()
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            return None
        schema = content.get("schema") if isinstance(content, dict) else None
        if isinstance(schema, int) and schema != SCHEMA_VERSION:
            raise SimstudyError(
                f"{path} is of schema {schema}; this version of simstudy reads schema "
                f"{SCHEMA_VERSION}"
            )
        return content if schema == SCHEMA_VERSION and is_manifest(content) else None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other runs out of the directory while this one is in it, where there are locks.

        The directory is made if it is not there.
        """
        try:
            import fcntl
        except ImportError:
            yield
            return
        with self._said():
            is_file = self.directory.is_file()
        if is_file:
            raise SimstudyError(
                f"the output directory {self.directory} cannot be used: it is a file"
            )
        with self._said():
            self.directory.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.directory, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(handle)
            raise SimstudyError(
                f"another run is at work in {self.directory}; wait until it has finished, or "
                "choose another place with --out"
            ) from error
        except OSError:
            pass  # a file system without locks
        try:
            yield
        finally:
            os.close(handle)

    def holds(self, plan: Plan, overwrite: bool = False) -> bool:
        """Whether the complete results of this plan are here and are to be kept.

        Another study's results are refused, unless they are to be overwritten; files that are
        no study's results are always refused.
        """
        manifest = self.manifest()
        if manifest is None:
            with self._said():
                occupied = self.directory.is_dir() and any(
                    path.suffix != UNFINISHED for path in self.directory.iterdir()
                )
            if occupied:
                raise SimstudyError(
                    f"{self.directory} holds files that are not a study's results; "
                    "choose another place with --out"
                )
            return False
        if overwrite:
            self._forget()
            return False
        changed = self._changed(plan, manifest)
        if changed and (noted := self._from_journal()) and not self._changed(plan, noted):
            manifest, changed = noted, {}  # the manifest alone is damaged
        if [*changed] == [MEASURED]:
            self.notes.append("the measures are other ones: all cells were computed again")
            self._forget()
            return False
        if changed:
            raise SimstudyError(
                f"{self._refusal(manifest, changed)}; choose another place with --out, or replace "
                "them with --overwrite"
            )
        met_limits = manifest.get("failures") and manifest.get("limits") != _limits(plan)
        if (
            manifest["status"] == COMPLETE
            and manifest["fingerprint"] == plan.fingerprint()
            and not met_limits
        ):
            damaged = self.damaged(manifest)
        elif "from_journal" in manifest:
            damaged = [MANIFEST]
        else:
            return False
        for name in damaged:
            self.notes.append(
                f"{self.directory / name} was damaged or missing; it was made again from {JOURNAL}"
            )
        return not damaged

    def damaged(self, manifest: dict[str, Any]) -> list[str]:
        """The files made from the cells that are not as they were written."""
        return [name for name in SCORES[:3] if not self.is_as_written(name, manifest)]

    def is_as_written(self, name: str, manifest: dict[str, Any]) -> bool:
        """Whether a file made from the cells has the checksum that the manifest gives."""
        checksums = {
            SCORES[0]: manifest.get("scores_checksum"),
            REFINED: manifest.get("refined", {}).get("checksum"),
            **manifest.get("checksums", {}),
        }
        try:
            content = (self.directory / name).read_bytes()
        except OSError:
            return False
        checksum = checksums.get(name)
        return checksum is None or zlib.crc32(content) == checksum

    def found(self) -> dict[str, Any]:
        """The manifest; that there are no results is an error."""
        manifest = self.manifest()
        if manifest is None:
            raise SimstudyError(f"{self.directory} holds no results of a study")
        return manifest

    def check(self, plan: Plan) -> None:
        """Refuse what is not this study's: no results at all, or another study's."""
        manifest = self.found()
        if changed := self._changed(plan, manifest, exactly=True):
            raise SimstudyError(self._refusal(manifest, changed))

    @staticmethod
    def _changed(plan: Plan, manifest: dict[str, Any], exactly: bool = False) -> dict[str, str]:
        """The conditions under which the cells here are not, or not all, the plan's."""
        here = {**UNNAMED_CONDITIONS, **manifest["conditions"]}
        asked = json.loads(json.dumps(plan.conditions()))
        return {
            key: f"{key} ({here.get(key)} there, {asked[key]} asked)"
            for key in asked
            if here.get(key) != asked[key]
            and (exactly or not _extends(key, here.get(key), asked[key]))
        }

    def _refusal(self, manifest: dict[str, Any], changed: dict[str, str]) -> str:
        what = "the results" if manifest["status"] == COMPLETE else "an unfinished run"
        differ = "; ".join(changed.values())
        return f"{self.directory} holds {what} of a different study; these differ: {differ}"

    def _forget(self) -> None:
        """Take away the cells of earlier runs."""
        with self._said():
            (self.directory / JOURNAL).unlink(missing_ok=True)

    def todo(self, plan: Plan) -> dict[int, list[CellKey]]:
        """The cells of each model that are not there yet."""
        journal, damaged = Journal(self.directory), 0
        done, places = np.zeros(plan.cells, dtype=bool), Places(plan)
        with self._said():
            for said in journal.lines():
                if said is None:
                    damaged += 1
                for cell in said if isinstance(said, list) else ():
                    if (place := places.of(cell)) is not None:
                        done[place] = True
                        self._check_model(plan, cell)
            if damaged:
                journal.mend()
        if damaged:
            self.notes.append(
                f"{damaged} lines of {self.directory / JOURNAL} were damaged, or not finished; "
                "their cells were computed again"
            )
        missing = ~done.reshape(plan.models, plan.cells_each)
        todo = {}
        for model in np.flatnonzero(missing.any(axis=1)).tolist():
            lacking = np.flatnonzero(missing[model]).tolist()
            # Where all cells are missing, one list serves all models.
            whole = len(lacking) == len(places.keys)
            todo[model] = places.keys if whole else [places.keys[i] for i in lacking]
        return todo

    def _check_model(self, plan: Plan, cell: Cell) -> None:
        """Refuse a cell of a model that came out differently when its other cells were run."""
        if not cell.drawn:  # not drawn at all, or by an earlier version
            return
        known = self._drawn.setdefault(cell.model, cell.drawn)
        if known != cell.drawn:
            for name, content in self._before.items():
                self.write(name, content)
            raise SimstudyError(
                f"model {cell.model} came out differently when it was drawn again, so its cells "
                f"in {self.directory} cannot be compared with new ones: either the family "
                f"'{plan.family.name}' does not draw from the generator that it is given alone, "
                "or numpy has changed; what is there is left as it is; choose another place with "
                "--out"
            )

    @contextmanager
    def keeping(self, plan: Plan) -> Iterator[Callable[[Sequence[Cell]], None]]:
        """A function that keeps the cells of a finished task: no kill of this process loses them.

        All are on disk when this is left.
        """
        more = "; what is finished is kept, and the same command goes on from there"
        with ExitStack() as stack:
            with self._said(more):
                add = stack.enter_context(Journal(self.directory).adding())

            def keep(cells: Sequence[Cell]) -> None:
                for cell in cells:
                    self._check_model(plan, cell)
                with self._said(more):
                    add(cells)

            yield keep
            with self._said(more):
                stack.close()

    def failed_cells(self) -> list[Cell]:
        """The cells that failed so far, whether the study is finished or not."""
        self.found()
        with self._said():
            failed: dict[tuple[int, int, str], Cell] = {}
            for cell in Journal(self.directory).cells():
                failed.pop((cell.model, cell.size, cell.learner), None)
                if cell.status != "ok":
                    failed[cell.model, cell.size, cell.learner] = cell
        return [failed[key] for key in sorted(failed)]

    def cell_command(self, cell: Cell) -> str:
        """The command that runs one cell again."""
        options = ["--model", str(cell.model), "--size", str(cell.size), "--learner", cell.learner]
        return shlex.join(["simstudy", "cell", str(self.directory / "study.toml"), *options])

    def take(self, plan: Plan, others: Sequence[Store]) -> None:
        """Add the cells of the same study that other places hold."""
        places, mine = Places(plan), self.columns(plan)
        added: set[tuple[int, int, str]] = set()
        with self.keeping(plan) as keep:
            for other in others:
                for cells in other._tasks():
                    new = []
                    for cell in cells:
                        if (place := places.of(cell)) is None:
                            key = (cell.model, cell.size, cell.learner)
                            if cell.model < plan.models and key not in added:
                                added.add(key)  # of a size that was added, or of another plan
                                new.append(cell)
                            continue
                        ok = cell.status == "ok"
                        if not mine.there[place] or (place in mine.failed and ok):
                            mine.add(cell)
                            new.append(cell)
                        elif ok and not np.array_equal(
                            mine.values[place], cell.values, equal_nan=True
                        ):
                            raise SimstudyError(
                                f"{other.directory} has another score than the others for model "
                                f"{cell.model}, {cell.size} rows, {cell.learner}: perhaps another "
                                "version of a package, or another kind of processor"
                            )
                    if new:
                        keep(new)

    def set_status(self, plan: Plan, status: str) -> None:
        """Say in the manifest how far the results are."""
        self._write_manifest(plan, status, {"networks": networks(plan, self._drawn)})

    def _tasks(self) -> Iterator[list[Cell]]:
        """The cells there are, task by task."""
        with self._said():
            yield from Journal(self.directory).tasks()

    def columns(self, plan: Plan) -> Columns:
        """The cells there are that belong to a plan; of a cell written twice, the later."""
        columns = Columns(plan)
        for cells in self._tasks():
            for cell in cells:
                columns.add(cell)
                self._check_model(plan, cell)
        return columns

    def begin(self, settings: Mapping[str, Any], plan: Plan) -> None:
        """Make the place ready for a run of a study as resolved and say in it whose it is.

        Earlier scores stay until the new ones replace them.
        """
        if (self.manifest() or {}).get("status") == COMPLETE:
            with self._said():
                for path in (self.directory / STUDY, self.directory / MANIFEST):
                    self._before |= {path.name: path.read_bytes()} if path.exists() else {}
        with self._said():
            if (self.manifest() or {}).get("limits") != _limits(plan):
                self._retry()
        earlier = self.manifest() or {}
        self._write_manifest(plan, RUNNING, {"report": earlier.get("report", [])})
        with self._said():
            Journal(self.directory).say(self._whose(plan))
        with self._said():
            if (self.directory / PLUGINS).is_symlink():  # which would lead elsewhere
                (self.directory / PLUGINS).unlink()
        for name, plugin in zip(self._plugin_names(plan), plan.plugins, strict=True):
            self.write(name, plugin.content)
        for name in {*earlier.get("plugins", [])} - {*self._plugin_names(plan)}:
            self._remove(f"{PLUGINS}/{Path(name).name}")
        self.write_study(settings, plan)

    def _retry(self) -> None:
        """Take away the cells that met a limit which is no longer the same."""
        dropped = Journal(self.directory).drop(
            lambda cell: cell.status in ("timeout", "crashed") or "MemoryError" in cell.error
        )
        if dropped:
            self.notes.append(f"the limits are other ones: {dropped} cells that met them ran again")

    def forget_failures(self) -> bool:
        """Take away the cells that failed, so that they are run again; whether there were any."""
        with self._said():
            dropped = Journal(self.directory).drop(lambda cell: cell.status != "ok")
        if dropped:
            self.notes.append(f"{dropped} cells that had failed were run again")
        return bool(dropped)

    def _whose(self, plan: Plan) -> dict[str, Any]:
        """What must be known of the cells should the manifest be lost."""
        return {
            "conditions": plan.conditions(),
            "limits": _limits(plan),
            "plugins": self._plugin_names(plan),
        }

    def write_study(self, settings: Mapping[str, Any], plan: Plan) -> None:
        """Write the study as resolved; its plugins are the copies kept beside it.

        What is there already is left alone; a report under another title or confidence is not.
        """
        asked = {**settings, "plugins": self._plugin_names(plan)}
        there = self._written_study()
        if there == asked:
            return
        if any(there.get(key) != asked.get(key) for key in _TOLD):
            self.drop_report()
        self.write(STUDY, dumps(asked).encode())

    def _written_study(self) -> dict[str, Any]:
        """The study that is there; nothing where it is missing or damaged."""
        try:
            return tomllib.loads((self.directory / STUDY).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}

    @staticmethod
    def _plugin_names(plan: Plan) -> list[str]:
        # A study run from an earlier result's copy does not gain a number each time.
        plain = [re.sub(r"^\d+_", "", plugin.path.name) for plugin in plan.plugins]
        return [f"{PLUGINS}/{index}_{name}" for index, name in enumerate(plain)]

    def finish(self, plan: Plan, facts: dict[str, Any]) -> None:
        """Write the scores, and at the very end that they are complete."""
        cells = self.columns(plan)
        if missing := plan.cells - np.count_nonzero(cells.there):
            raise SimstudyError(
                f"{missing} of {plan.cells} cells are missing from "
                f"{self.directory / JOURNAL}, which something else has changed; run the study again"
            )
        self.drop_report()  # that of earlier scores
        scores = parquet(cells.scores())
        self.write("scores.parquet", scores)
        timings = parquet(cells.timings())
        self.write("timings.parquet", timings)
        failures = cells.failures()
        written = self._write_failures(failures)
        self._remove(REFINED)
        if self.told is None:
            facts = {**facts, "networks": networks(plan, self._drawn)}
        facts = {
            **facts,
            "scores_checksum": zlib.crc32(scores),
            "checksums": {SCORES[1]: zlib.crc32(timings), SCORES[2]: written},
            "failures": len(failures),
            "warnings": dict(cells.warnings().most_common(20)),
        }
        self._write_manifest(plan, COMPLETE, facts)

    def write_refined(
        self, plan: Plan, wide: Plan, learners: Mapping[int, Collection[str]]
    ) -> bool:
        """Write the cells of sizes that were added, of some learners each; whether they are new.

        Without any, what was written before is taken away. ``wide`` is the plan of these sizes.
        """
        manifest = self.manifest() or {}
        own = self.columns(plan).failures()
        content, facts, failed = b"", {}, []
        if learners:
            cells = self.columns(wide)
            content = parquet(cells.scores(learners))
            failed = [cell for cell in cells.failures() if cell.learner in learners[cell.size]]
            sizes = {str(size): sorted(labels) for size, labels in sorted(learners.items())}
            facts = {"checksum": zlib.crc32(content), "sizes": sizes, "failures": len(failed)}
        if manifest.get("refined", {}) == facts and self._refined_checksum() == facts.get(
            "checksum"
        ):
            return False
        self.drop_report()
        manifest.pop("report", None)
        self._remove(REFINED)
        if learners:
            self.write(REFINED, content)
        checksums = {**manifest.get("checksums", {})}
        checksums[SCORES[2]] = self._write_failures([*own, *failed])
        added = plan.models * sum(map(len, learners.values()))
        counts = {"cells": plan.cells + added, "failures": len(own) + len(failed)}
        manifest |= {**counts, "refined": facts, "checksums": checksums}
        manifest["refused_workers"] = {**manifest.get("refused_workers", {}), **self.refused}
        self.write(MANIFEST, json.dumps(manifest, indent=2).encode())
        return True

    def _refined_checksum(self) -> int | None:
        try:
            return zlib.crc32((self.directory / REFINED).read_bytes())
        except OSError:
            return None

    def _write_failures(self, failures: Sequence[Cell]) -> int:
        """Write the cells that failed; the checksum of the file."""
        columns = ["model", "size", "learner", "status", "error", "stream", "traceback"]
        rows = [[getattr(cell, key) for key in columns] for cell in failures]
        return self.write_csv("failures.csv", columns, rows)

    def _write_manifest(self, plan: Plan, status: str, facts: dict[str, Any]) -> None:
        content = {
            "schema": SCHEMA_VERSION,
            "status": status,
            "fingerprint": plan.fingerprint(),
            "conditions": plan.conditions(),
            "cells": plan.cells,
            "limits": _limits(plan),
            "plugins": self._plugin_names(plan),
            **(told(plan) if self.told is None else self.told),
            "packages": _versions(),
            "python": platform.python_version(),
            "platform": platform.platform(),
            "processor": platform.machine(),
            "refused_workers": self.refused,
            **facts,
        }
        self.write(MANIFEST, json.dumps(content, indent=2).encode())

    def has_report(self) -> bool:
        """Whether tables and figures were made, and all of them are still there."""
        made = (self.manifest() or {}).get("report", [])
        return bool(made) and all((self.directory / name).exists() for name in made)

    def record_report(self, names: Sequence[str]) -> None:
        """Note which tables and figures there are, once all are written."""
        manifest = self.manifest() or {}
        self.write(MANIFEST, json.dumps({**manifest, "report": list(names)}, indent=2).encode())

    def drop_report(self) -> None:
        """Take away tables and figures that no longer tell of the study."""
        if made := (self.manifest() or {}).get("report"):
            for name in {*made} - {MANIFEST, STUDY, *SCORES, REFINED}:
                self._remove(name)
            self.record_report([])

    def _remove(self, name: str) -> None:
        with self._said():
            (self.directory / name).unlink(missing_ok=True)

    def write_csv(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
        """Write a small table as text; the checksum of the file."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([csv_value(value) for value in row] for row in rows)
        content = text.getvalue().encode(errors="backslashreplace")
        self.write(name, content)
        return zlib.crc32(content)

    def write(self, name: str, content: bytes) -> None:
        """Write a file, whole or not at all."""
        with self._said():
            write_files({self.directory / name: content})

    @contextmanager
    def _said(self, more: str = "") -> Iterator[None]:
        """Turn the system's refusals into a sentence."""
        try:
            yield
        except OSError as error:
            raise SimstudyError(
                f"the output directory {self.directory} cannot be used: "
                f"{error.strerror or error}{more}"
            ) from error


def _extends(key: str, here: Any, asked: Any) -> bool:
    """Whether what is asked leaves the cells that are here as they are."""
    if key == "models":
        return isinstance(here, int) and here <= asked
    if key in ("data.train_sizes", "learners", "plugins"):
        return isinstance(here, list) and all(part in asked for part in here)
    if key == "source":
        return isinstance(here, dict) and all(asked.get(name) == here[name] for name in here)
    return bool(here == asked)


@cache
def _versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in PACKAGES}


def _limits(plan: Plan) -> dict[str, float | None]:
    return {"timeout": plan.timeout, "memory": plan.memory}
