"""The results of a study on disk, from the first cell to the report."""

from __future__ import annotations

import platform
import tomllib
import zlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from simstudy.engine.plan import MEASURED, Plan
from simstudy.errors import SimstudyError
from simstudy.results.store import manifest as manifests
from simstudy.results.store.atomic_files import UNFINISHED, usable
from simstudy.results.store.cells import RecordedCells
from simstudy.results.store.columns import cell_files, failures_csv, parquet, written_files
from simstudy.results.store.folder import RUNNING, SCHEMA_VERSION, Folder
from simstudy.results.store.manifest import COMPLETE, changed, covers
from simstudy.study.constants import FAILURES, FILES, JOURNAL, MANIFEST, REFINED, STUDY
from simstudy.study.files import dumps

SHARD = "shard"
_REPORTED = ("name", "title", "analysis", "thresholds")  # settings that a report shows
PACKAGES = ("simstudy", "numpy", "scipy", "pandas", "pyarrow", "joblib", "scikit-learn", "pgmpy")


@cache
def _versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in PACKAGES}


def _packages(plan: Plan) -> dict[str, str]:
    """The versions of further packages that a plan's components come from."""
    named = [(name.partition(":")[0].partition(".")[0], version) for name, version in plan.sources]
    return {name: version for name, version in named if "." in version and name != "sklearn"}


class Store:
    """The results of one study: the cells recorded in a directory, and the files made from them."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.folder = directory, Folder(directory)
        self.cells = RecordedCells(self.folder)
        self.notes = self.cells.notes
        self.refused: dict[str, str] = {}  # workers with another environment, and why
        self.descriptions: dict[str, Any] | None = None  # for the manifest, instead of looking up

    def holds(self, plan: Plan, overwrite: bool = False) -> bool:
        """Whether the complete results of this plan are here and can be reused.

        Results of another study are refused unless ``overwrite`` is set; other files always are.
        """
        manifest = self.folder.manifest()
        if manifest is None:
            with usable(self.directory):
                paths = self.directory.iterdir() if self.directory.is_dir() else ()
                occupied = any(path.suffix != UNFINISHED and path.name != FILES for path in paths)
            if occupied:
                raise SimstudyError(
                    f"{self.directory} holds files that are not a study's results; "
                    "choose another directory with --out (in Python: out=)"
                )
            return False
        if overwrite:
            self.folder.remove(JOURNAL)
            return False
        differing, content = changed(plan, manifest), ""
        if differing and (noted := self.folder.from_journal()) and not changed(plan, noted):
            manifest, differing = noted, {}  # only the manifest is damaged
        if not differing and manifest["fingerprint"] != plan.fingerprint():
            content = "cells kept from an earlier run"
            for record in self.folder.journal.owners():
                differing |= changed(plan, record)
        if [*differing] == [MEASURED]:
            if all(covers(plan, record) for record in (manifest, *self.folder.journal.owners())):
                self.notes.append("measures changed; all cells recomputed")
                self.folder.remove(JOURNAL)
                return False
            differing[MEASURED] += "; this study would not recompute all existing cells"
        if differing:
            raise SimstudyError(
                f"{self._refusal(manifest, differing, content)}; choose another directory with "
                "--out (in Python: out=), or replace them with --overwrite (overwrite=True)"
            )
        complete = (manifest["status"], manifest["fingerprint"]) == (COMPLETE, plan.fingerprint())
        met_limits = manifest.get("failures") and manifest.get("limits") != manifests.limits(plan)
        if complete and not met_limits:
            # missing, changed or without a checksum
            damaged = [
                name
                for name in written_files(plan, manifest)
                if name not in manifest.get("checksums", {})
                or not self.folder.is_as_written(name, manifest)
            ]
        elif "from_journal" in manifest:
            damaged = [MANIFEST]
        else:
            return False
        restored = f"was damaged or missing; it was restored from {JOURNAL}"
        self.notes += [f"{self.directory / name} {restored}" for name in damaged]
        return not damaged

    def check(self, plan: Plan) -> None:
        """Refuse a directory without results of this study."""
        manifest = self.folder.required()
        if differing := changed(plan, manifest, exactly=True):
            raise SimstudyError(self._refusal(manifest, differing))

    def _refusal(self, manifest: dict[str, Any], changes: dict[str, str], content: str = "") -> str:
        whole = "the results" if manifest["status"] == COMPLETE else "an unfinished run"
        return (
            f"{self.directory} holds {content or whole} of a different study; these differ: "
            f"{'; '.join(changes.values())}"
        )

    def begin(self, settings: Mapping[str, Any], plan: Plan) -> None:
        """Prepare the directory for a run and record the study that owns it.

        Earlier scores stay until the new ones replace them.
        """
        earlier = self.folder.manifest() or {}
        if earlier.get("status") == COMPLETE:
            with usable(self.directory):
                for path in (self.directory / STUDY, self.directory / MANIFEST):
                    self.cells.earlier |= {path.name: path.read_bytes()} if path.exists() else {}
        if earlier.get("limits") != manifests.limits(plan):
            self.cells.retry()
        journal = self.folder.journal
        if earlier and journal.owner() is None and journal.path.exists():  # its line is damaged
            record = {key: earlier[key] for key in manifests.Owner.model_fields if key in earlier}
            journal.record_owner(record)
        self._write_manifest(plan, RUNNING, {"report": earlier.get("report", [])})
        journal.record_owner(manifests.owner(plan))
        copies = manifests.plugin_copies(plan)
        for name in {*earlier.get("plugins", []), *earlier.get("plugin_files", [])} - {*copies}:
            self.folder.remove_below(name)
        copies |= plan.source.copies()
        for name, content in copies.items():
            self.folder.remove_links_above(name)
            self.folder.write(name, content)
        self.write_study(settings, plan)

    def set_status(self, plan: Plan, status: str) -> None:
        """Record the status of the results in the manifest."""
        self._write_manifest(plan, status, {"networks": manifests.networks(plan, self.cells.drawn)})

    def write_study(self, settings: Mapping[str, Any], plan: Plan) -> None:
        """Write the study as resolved, with the paths of its plugins' copies.

        An identical file is left alone; a report of other settings is removed.
        """
        placed = plan.source.placed(settings, self.directory)
        asked = {**settings, "plugins": manifests.plugin_names(plan), **placed}
        try:
            written = tomllib.loads((self.directory / STUDY).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):  # missing or damaged
            written = {}
        if written == asked:
            return
        if any(written.get(key) != asked.get(key) for key in _REPORTED):
            self.drop_report()
        self.folder.write(STUDY, dumps(asked).encode())

    def finish(self, plan: Plan, facts: dict[str, Any]) -> None:
        """Write the scores and, last, a manifest of complete results."""
        cells = self.cells.columns(plan)
        if missing := plan.cells - np.count_nonzero(cells.present):
            raise SimstudyError(
                f"{missing} of {plan.cells} cells are missing from {self.directory / JOURNAL}, "
                "which was modified during the run; run the study again"
            )
        self.drop_report()  # of earlier scores
        self.folder.remove(REFINED)
        checksums = {}
        for name, make in cell_files(plan).items():
            content = make(cells)
            self.folder.write(name, content)
            checksums[name] = zlib.crc32(content)
        if self.descriptions is None:
            facts = {**facts, "networks": manifests.networks(plan, self.cells.drawn)}
        warnings = dict(cells.warnings().most_common(20))
        counts = {"checksums": checksums, "failures": len(cells.failed), "warnings": warnings}
        self._write_manifest(plan, COMPLETE, {**facts, **counts})

    def write_refined(self, plan: Plan, wide: Plan, learners: Mapping[int, set[str]]) -> bool:
        """Write the cells of added sizes, by size for some learners; whether anything changed.

        Without any, earlier ones are removed. ``wide`` is the plan of these sizes.
        """
        manifest = self.folder.manifest() or {}
        unrefined = self.cells.columns(plan).failures()
        content, facts, failed = b"", {}, []
        if learners:
            cells = self.cells.columns(wide)
            content = parquet(cells.scores(learners))
            failed = [cell for cell in cells.failures() if cell.learner in learners[cell.size]]
            sizes = {str(size): sorted(labels) for size, labels in sorted(learners.items())}
            facts = {"sizes": sizes, "failures": len(failed)}
        unchanged = self.folder.is_as_written(REFINED, manifest) == bool(facts)
        if unchanged and manifest.get("refined", {}) == facts:
            return False
        self.drop_report()
        manifest.pop("report", None)
        self.folder.remove(REFINED)
        failures = failures_csv([*unrefined, *failed])
        self.folder.write(FAILURES, failures)
        checksums = {**manifest.get("checksums", {}), FAILURES: zlib.crc32(failures)}
        checksums.pop(REFINED, None)
        if learners:
            self.folder.write(REFINED, content)
            checksums[REFINED] = zlib.crc32(content)
        added = plan.problems * sum(map(len, learners.values()))
        counts = {"cells": plan.cells + added, "failures": len(unrefined) + len(failed)}
        manifest |= {**counts, "refined": facts, "checksums": checksums}
        manifest["refused_workers"] = {**manifest.get("refused_workers", {}), **self.refused}
        self.folder.write_manifest(manifest)
        return True

    def _write_manifest(self, plan: Plan, status: str, facts: dict[str, Any]) -> None:
        content = {
            "schema": SCHEMA_VERSION,
            "status": status,
            "fingerprint": plan.fingerprint(),
            **manifests.owner(plan),
            "cells": plan.cells,
            **(manifests.descriptions(plan) if self.descriptions is None else self.descriptions),
            "packages": _versions() | _packages(plan),
            "python": platform.python_version(),
            "platform": platform.platform(),
            "processor": platform.machine(),
            "refused_workers": self.refused,
            **facts,
        }
        self.folder.write_manifest(content)

    def has_report(self) -> bool:
        """Whether all tables and figures of the report exist."""
        made = (self.folder.manifest() or {}).get("report", [])
        return bool(made) and all((self.directory / name).exists() for name in made)

    def record_report(self, names: Sequence[str], card: Mapping[str, str] | None = None) -> None:
        """Record the tables and figures, once all are written, and what the home page says."""
        manifest = {**(self.folder.manifest() or {}), "report": list(names)}
        self.folder.write_manifest(manifest | ({"card": card} if card else {}))

    def drop_report(self) -> None:
        """Remove tables and figures that are out of date."""
        manifest = self.folder.manifest() or {}
        if made := manifest.get("report"):
            for name in {*made} - {MANIFEST, STUDY, JOURNAL, *manifest.get("checksums", ())}:
                self.folder.remove(name)
            self.record_report([])
