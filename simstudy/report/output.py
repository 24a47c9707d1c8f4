"""Files that a report writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from simstudy.errors import SimstudyError
from simstudy.report.tables.markdown import markdown_text
from simstudy.results import files as whole
from simstudy.study.study import Study

CAPTIONS = "captions.md"


def make_directory(directory: Path) -> None:
    """Create a directory, before anything is computed that could not be written there."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimstudyError(f"{directory} cannot be made: {error.strerror}") from error


def write_files(
    directory: Path, files: Mapping[str, bytes], study: Study, captions: Sequence[str]
) -> list[Path]:
    """Write files by their names, and the sections of their captions; all or none."""
    sections = [f"# {markdown_text(study.heading)}", *captions]
    files = {**files, CAPTIONS: ("\n\n".join(sections) + "\n").encode()}
    paths = {directory / name: content for name, content in files.items()}
    try:
        whole.write_files(paths)
    except OSError as error:
        reason = error.strerror or error
        raise SimstudyError(f"{directory} cannot be written to: {reason}") from error
    return list(paths)


def section(heading: str, text: str) -> str:
    """The caption of a file."""
    return f"## {heading}\n\n{markdown_text(text)}"


def missing(heading: str, reasons: Sequence[str]) -> list[str]:
    """A section on what the study does not allow, if there is such."""
    lines = "\n".join(f"- {markdown_text(reason)}" for reason in reasons)
    return [f"## {heading}\n\n{lines}"] * bool(reasons)
