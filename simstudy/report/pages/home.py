"""The page of all studies in a directory: read from their manifests, nothing is executed."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from simstudy.components.registry import DATA
from simstudy.errors import SimstudyError, check_regular, describe
from simstudy.report.pages.page import render
from simstudy.results.store.atomic_files import write_files
from simstudy.results.store.folder import SCHEMA_VERSION
from simstudy.results.store.manifest import COMPLETE, Manifest, filled, fits
from simstudy.study.constants import MANIFEST, PAGE, PICTURE, SCORES
from simstudy.texts import counted

HOME, COMPARISON, RESULTS = "index.html", "compare.html", "results"
MARK = '<meta name="simstudy:page" content="home">'  # in pages that may be replaced
_START = 2000  # bytes that have the mark


class Card(NamedTuple):
    """What is shown of a study; of one that cannot be read, its place and the reason."""

    place: str
    link: str = ""  # empty if there is no page
    picture: str = ""
    comparison: str = ""  # the page of its list
    title: str = ""
    finding: str = ""
    facts: str = ""
    lost: str = ""  # cells
    note: str = ""
    learners: tuple[str, ...] = ()
    family: str = ""
    written: float = 0.0  # when


def studies_in(directory: Path) -> list[Path]:
    """The directories of studies here, and in lists of studies."""
    return sorted(
        {path.parent for each in ("*", "*/*") for path in directory.glob(f"{each}/{MANIFEST}")}
    )


def update_home(directory: Path) -> list[str]:
    """Rewrite the page above results, if they are under ``results``; why it could not be."""
    above = Path(os.path.abspath(directory)).parents[:2]
    home = next((place for place in above if place.name == RESULTS), None)
    try:
        if home is not None:
            write_home(home)
    except Exception as error:  # a page beside the results never fails a run
        return [str(error) if isinstance(error, SimstudyError) else f"{HOME}: {describe(error)}"]
    return []


def write_home(directory: Path) -> Path:
    """Write the page of all studies in a directory, unless there is a page of someone else."""
    page = directory / HOME
    check_regular(page)
    if page.exists():
        with page.open("rb") as file:
            if MARK.encode() not in file.read(_START):
                raise SimstudyError(
                    f"{page} was not written by simstudy, so it was left alone; remove or rename "
                    "it to get a page of all studies"
                )
    cards = [_card(directory, place) for place in studies_in(directory)]
    cards.sort(key=lambda card: (-card.written, card.place))
    learners = dict.fromkeys(label for card in cards for label in card.learners)
    families = dict.fromkeys(card.family for card in cards if card.family)
    content = {"cards": cards, "learners": [*learners], "families": [*families], "mark": MARK}
    write_files({page: render("home.html", title="Results", **content).encode()})
    return page


def _card(directory: Path, place: Path) -> Card:
    """The card of a study; any damage is a note on it."""
    name = place.relative_to(directory).as_posix()
    try:
        check_regular(place / MANIFEST)
        content = json.loads((place / MANIFEST).read_bytes())
        if content.get("schema") != SCHEMA_VERSION:
            return Card(name, note="Written by another version of simstudy.")
        if fits(Manifest, content):
            return _card_of(directory, place, name, filled(content))
    except (OSError, ValueError, AttributeError, LookupError, TypeError, RecursionError):
        pass
    return Card(name, note="Its files are damaged.")


def _card_of(directory: Path, place: Path, name: str, manifest: Mapping[str, Any]) -> Card:
    conditions, status = manifest["conditions"], manifest["status"]
    done, reported = status == COMPLETE, PAGE in manifest["report"] and (place / PAGE).is_file()
    card = (manifest["card"] if done and reported else None) or {}
    written = (place / (SCORES if done else MANIFEST)).stat().st_mtime
    identity = conditions["family"]  # of a family: its name and parameters as JSON
    family = "data sets" if identity == DATA else str(json.loads(identity)[0])
    date, failures = datetime.fromtimestamp(written, UTC), manifest["failures"]
    lost = f"{failures:,} of {counted(manifest['cells'], 'cell')} failed" if failures else ""
    compared = place.parent != directory and (place.parent / COMPARISON).is_file()
    note = "Report of an earlier version." if reported else "No report."
    return Card(
        name,
        quote(f"{name}/{PAGE}") * reported,
        quote(f"{name}/{PICTURE}") * (bool(card) and (place / PICTURE).is_file()),
        quote(f"{place.parent.name}/{COMPARISON}") * compared,
        card.get("title", ""),
        card.get("finding", ""),
        " · ".join(filter(None, (card.get("over"), f"{date.day} " + date.strftime("%b %Y")))),
        lost,
        note if done else f"Not finished: {status}.",
        tuple(label for label, _ in conditions["learners"]),
        family,
        written,
    )
