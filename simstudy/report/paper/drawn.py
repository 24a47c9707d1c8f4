"""What a figure for print is made of, which learners and sizes it has room for; its files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from simstudy.analysis.standings import ranked_at
from simstudy.errors import SimstudyError
from simstudy.report.paper.style import Style
from simstudy.results.files import write_files as write_whole

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from simstudy.results.results import Results


class NotDrawnError(Exception):
    """Why a study does not allow a figure, in one sentence."""


@dataclass
class Drawn:
    """A figure, on one or more pages, with what is to be said of it."""

    name: str
    title: str
    caption: str
    figures: list[Figure] = field(default_factory=list)


def make_directory(directory: Path) -> None:
    """Make a directory for files, before anything is drawn that could not be written there."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimstudyError(f"{directory} cannot be made: {error.strerror}") from error


def write_files(directory: Path, files: dict[str, bytes]) -> list[Path]:
    """Write files by their names, all or none."""
    paths = {directory / name: content for name, content in files.items()}
    try:
        write_whole(paths)
    except OSError as error:
        reason = error.strerror or error
        raise SimstudyError(f"{directory} cannot be written to: {reason}") from error
    return list(paths)


def spaced(sizes: Sequence[int], most: int) -> list[int]:
    """At most so many of the sizes, the first and the last among them."""
    places = np.linspace(0, len(sizes) - 1, min(most, len(sizes))).round().astype(int)
    return [sizes[place] for place in np.unique(places)]


def leading(results: Results, style: Style) -> tuple[list[str], str]:
    """The learners that there is room for, the best by mean at the largest size, and a sentence.

    The sentence says which they are; it is empty if all are shown.
    """
    if len(results.learners) <= style.learners:
        return results.learners, ""
    kept = ranked(results)[: style.learners]
    sentence = (
        f"Shown: the {style.learners} of {len(results.learners)} learners with the best means at "
        f"{results.sizes[-1]:,} rows. "
    )
    return [learner for learner in results.learners if learner in kept], sentence


def rank_tables(
    results: Results, places: Sequence[int | None]
) -> tuple[dict[int | None, pd.DataFrame], str]:
    """Average ranks at each size that has them, None for all sizes, and why others have none."""
    found: dict[int | None, pd.DataFrame] = {}
    without = ""
    for at in places:
        if at is None and len(results.sizes) == 1:
            continue
        try:
            found[at] = results.ranks(at)
        except ValueError as error:
            where = "Over all sizes" if at is None else f"At {at:,} rows"
            without += f"{where} there are no ranks: {error}. "
    return found, without


def ranked(results: Results) -> list[str]:
    """The learners by their mean at the largest size, the best first."""
    down = results.info().greater_is_better
    return ranked_at(results.sizes[-1], results.intervals(), down)
