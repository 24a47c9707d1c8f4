"""Where a study's results live on disk, from the first cell to the report."""

from __future__ import annotations

import json
import platform
import tomllib
import zlib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from simstudy.engine.plan import MEASURED, Plan
from simstudy.engine.task import Cell
from simstudy.errors import SimstudyError
from simstudy.results.cells import CellFolder
from simstudy.results.columns import parquet
from simstudy.results.files import UNFINISHED
from simstudy.results.folder import RUNNING, SCHEMA_VERSION
from simstudy.results.identity import PLUGINS, changed, limits, plugin_names, whose
from simstudy.results.journal import Journal
from simstudy.results.manifest import COMPLETE as COMPLETE
from simstudy.results.manifest import networks, told
from simstudy.study.constants import JOURNAL, MANIFEST, STUDY
from simstudy.study.toml import dumps

SHARD = "shard"
_TOLD = ("name", "title", "analysis", "thresholds")  # what a report says of a study
REFINED = "refined.parquet"  # cells of sizes that were added for the thresholds alone
SCORES = ("scores.parquet", "timings.parquet", "failures.csv", JOURNAL)
PACKAGES = ("simstudy", "numpy", "scipy", "pandas", "pyarrow", "joblib", "scikit-learn", "pgmpy")


class Store(CellFolder):
    """The directory of one study's results: taken, filled, finished, and told of."""

    def __init__(self, directory: Path) -> None:
        super().__init__(directory)
        self.refused: dict[str, str] = {}  # workers that would have computed differently, and why
        self.told: dict[str, Any] | None = None  # what the manifest tells, if nothing is looked up

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
        differing = changed(plan, manifest)
        if differing and (noted := self._from_journal()) and not changed(plan, noted):
            manifest, differing = noted, {}  # the manifest alone is damaged
        if [*differing] == [MEASURED]:
            self.notes.append("the measures are other ones: all cells were computed again")
            self._forget()
            return False
        if differing:
            raise SimstudyError(
                f"{self._refusal(manifest, differing)}; choose another place with --out, or "
                "replace them with --overwrite"
            )
        met_limits = manifest.get("failures") and manifest.get("limits") != limits(plan)
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

    def check(self, plan: Plan) -> None:
        """Refuse what is not this study's: no results at all, or another study's."""
        manifest = self.found()
        if differing := changed(plan, manifest, exactly=True):
            raise SimstudyError(self._refusal(manifest, differing))

    def _refusal(self, manifest: dict[str, Any], differing: dict[str, str]) -> str:
        what = "the results" if manifest["status"] == COMPLETE else "an unfinished run"
        parts = "; ".join(differing.values())
        return f"{self.directory} holds {what} of a different study; these differ: {parts}"

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

    def begin(self, settings: Mapping[str, Any], plan: Plan) -> None:
        """Make the place ready for a run of a study as resolved and say in it whose it is.

        Earlier scores stay until the new ones replace them.
        """
        if (self.manifest() or {}).get("status") == COMPLETE:
            with self._said():
                for path in (self.directory / STUDY, self.directory / MANIFEST):
                    self._before |= {path.name: path.read_bytes()} if path.exists() else {}
        with self._said():
            if (self.manifest() or {}).get("limits") != limits(plan):
                self._retry()
        earlier = self.manifest() or {}
        self._write_manifest(plan, RUNNING, {"report": earlier.get("report", [])})
        with self._said():
            Journal(self.directory).say(whose(plan))
        with self._said():
            if (self.directory / PLUGINS).is_symlink():  # which would lead elsewhere
                (self.directory / PLUGINS).unlink()
        for name, plugin in zip(plugin_names(plan), plan.plugins, strict=True):
            self.write(name, plugin.content)
        for name in {*earlier.get("plugins", [])} - {*plugin_names(plan)}:
            self._remove(f"{PLUGINS}/{Path(name).name}")
        self.write_study(settings, plan)

    def set_status(self, plan: Plan, status: str) -> None:
        """Say in the manifest how far the results are."""
        self._write_manifest(plan, status, {"networks": networks(plan, self._drawn)})

    def write_study(self, settings: Mapping[str, Any], plan: Plan) -> None:
        """Write the study as resolved; its plugins are the copies kept beside it.

        What is there already is left alone; a report under another title or confidence is not.
        """
        asked = {**settings, "plugins": plugin_names(plan)}
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
            **whose(plan),
            "cells": plan.cells,
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


@cache
def _versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in PACKAGES}
