"""Figures for papers and talks, as files."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl

from simstudy.errors import SimstudyError
from simstudy.report.files import FORMATS, well_formed
from simstudy.report.paper import overviews, panels
from simstudy.report.paper.drawn import Drawn, NotDrawnError, make_directory, write_files
from simstudy.report.paper.markup import markdown_text
from simstudy.report.paper.style import STYLES, Style, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simstudy.results.results import Results

MAKERS: tuple[Callable[[Results, Style], Drawn], ...] = (
    panels.differences,
    overviews.thresholds,
    overviews.scores,
    overviews.ranks,
    panels.reliability,
    panels.regret,
    panels.divergence,
)
CAPTIONS = "captions.md"
_DOTS = 300  # to the inch, where a figure is a picture


def write_figures(
    results: Results,
    directory: Path,
    format: str = "pdf",
    style: str = "paper",
    rerun: bool = False,
) -> tuple[list[Path], list[str]]:
    """Write every figure that a study's data allow, and their captions.

    Parameters
    ----------
    results : Results
        What the study found.
    directory : Path
        Where to write; made if it is not there.
    format : str
        ``"pdf"``, ``"svg"`` or ``"png"``; letters are embedded.
    style : str
        ``"paper"``: as wide as one or two columns (3.4 to 7 inches), letters of 8 to 9 points, no
        titles, since papers have captions; ``"talk"``: 10 × 5.6 inches, letters of 16 points and
        more, with titles.
    rerun : bool
        Whether to draw what runs cells again also where this executes code that is not
        simstudy's own: the study's plugins, and classifiers that it names by their path.

    Returns
    -------
    written : list of Path
        The files, ``captions.md`` last. The same results give the same bytes.
    skipped : list of str
        A sentence for each figure that the study does not allow.
    """
    for what, given, allowed in (("format", format, FORMATS), ("style", style, STYLES)):
        _check(what, given, allowed)
    look = STYLES[style]
    make_directory(directory)
    files: dict[str, bytes] = {}
    told = [f"# {markdown_text(results.settings['title'] or results.settings['name'])}"]
    skipped: list[str] = []
    with mpl.rc_context(look.settings()):
        for found in _drawn(results, look, rerun):
            if isinstance(found, str):
                skipped.append(found)
                continue
            pages = {
                f"{name}.{format}": _bytes(figure, format)
                for name, figure in _numbered(found, look)
            }
            files |= pages
            told.append(f"## {', '.join(pages)}\n\n{markdown_text(found.caption)}")
    if skipped:
        said = "\n".join(f"- {markdown_text(sentence)}" for sentence in skipped)
        told.append(f"## Not drawn\n\n{said}")
    files[CAPTIONS] = ("\n\n".join(told) + "\n").encode()
    return write_files(directory, files), skipped


def _drawn(results: Results, style: Style, rerun: bool) -> Iterator[Drawn | str]:
    """Each figure, or why there is none."""
    yield from overviews.curves(results, style)
    for make in MAKERS:
        if make is panels.reliability and results.foreign and not rerun:
            yield (
                "reliability: predictions are not stored, and to run cells again would execute "
                f"{', '.join(dict.fromkeys(results.foreign))}; --rerun does it"
            )
            continue
        try:
            yield make(results, style)
        except NotDrawnError as error:
            yield str(error)


def _numbered(drawn: Drawn, style: Style) -> Iterator[tuple[str, Figure]]:
    """The pages of a figure, finished, each with its name; numbered if there are several."""
    several = len(drawn.figures) > 1
    for number, figure in enumerate(drawn.figures, start=1):
        finish(figure, style, drawn.title + (f" ({number})" if several else ""))
        yield f"{drawn.name}_{number}" if several else drawn.name, figure


def _bytes(figure: Figure, format: str) -> bytes:
    """The figure in one format, the same bytes each time."""
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        # A crowded layout and a letter that the font lacks show in the picture itself.
        warnings.simplefilter("ignore", UserWarning)
        figure.savefig(buffer, format=format, **{**FORMATS[format], "dpi": _DOTS})
    content = buffer.getvalue()
    return well_formed(content) if format == "svg" else content


def _check(what: str, given: str, allowed: Collection[str]) -> None:
    if given not in allowed:
        raise SimstudyError(f"unknown {what} '{given}'; it must be one of {', '.join(allowed)}")
