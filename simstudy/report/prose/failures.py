"""The cells that failed, for the terminal."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from simstudy.data.sizes import size_text
from simstudy.experiments import DEFAULT, experiment
from simstudy.results.store.cells import RecordedCells
from simstudy.results.store.folder import Folder


def failure_lines(directory: Path) -> list[str]:
    """How many cells failed, which they are and why, and how to run one of them again."""
    cells = RecordedCells(Folder(directory))
    failed = cells.failed()
    if not failed:
        return [f"No cell in {directory} failed."]
    treatment = experiment(cells.folder.required()["conditions"].get("compare", DEFAULT)).treatment
    counts = Counter((cell.learner, cell.status) for cell in failed)
    lines = [f"{len(failed):,} cells failed:"]
    lines += [
        f"  {number:>5,} × {learner}: {status}" for (learner, status), number in counts.items()
    ]
    width = max(max(len(cell.learner) for cell in failed), len(treatment))
    lines += ["", f"model     size  {treatment:<{width}}  status   error"]
    lines += [
        f"{cell.model:>5}  {size_text(cell.size):>7}  {cell.learner:<{width}}  {cell.status:<7}  "
        + " ".join(cell.error.split())
        for cell in failed
    ]
    note = "Tracebacks are in failures.csv once the study is finished. To rerun the first cell:"
    return [*lines, "", note, f"  {cells.command(failed[0])}"]
