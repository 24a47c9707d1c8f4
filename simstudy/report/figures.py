"""Figures for papers and talks, and those that a study leaves beside its scores."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simstudy.errors import SimstudyError
from simstudy.report.charts import layout, mpl
from simstudy.report.charts.mpl import STYLES, Style
from simstudy.report.charts.spec import wrapped
from simstudy.report.output import make_directory, missing, section, write_files
from simstudy.report.printed import NotDrawnError, Printed
from simstudy.results.results import Results
from simstudy.texts import printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 200},
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None}},
}
_DPI = 300  # of figures for print, where they are pictures


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
        The results of the study.
    directory : Path
        Where to write; created if needed.
    format : str
        ``"pdf"``, ``"svg"`` or ``"png"``; letters are embedded.
    style : str
        ``"paper"``: as wide as one or two columns (3.4 to 7 inches), letters of 8 to 9 points, no
        titles, since papers have captions; ``"talk"``: 10 × 5.6 inches, letters of 16 points and
        more, with titles.
    rerun : bool
        Whether to run cells again for reliability diagrams also where this executes code that is
        not simstudy's own: the study's plugins, and classifiers that it names by their path.

    Returns
    -------
    written : list of Path
        The files, ``captions.md`` last. The same results give the same bytes.
    skipped : list of str
        A sentence for each figure that the study does not allow.
    """
    import matplotlib

    for what, given, allowed in (("format", format, FORMATS), ("style", style, STYLES)):
        if given not in allowed:
            raise SimstudyError(f"unknown {what} '{given}'; it must be one of {', '.join(allowed)}")
    results.check_files()
    make_directory(directory)
    page = results.study.page
    files: dict[str, bytes] = {}
    sections, skipped = [], []
    with matplotlib.rc_context(STYLES[style].settings()):
        for name, make in page.figures(results).items():
            if name in page.rerun_figures and results.foreign and not rerun:
                skipped.append(
                    f"{name}: predictions are not stored, and running cells again would execute "
                    f"{', '.join(dict.fromkeys(results.foreign))}; --rerun does that"
                )
                continue
            try:
                found = make(results, STYLES[style])
            except NotDrawnError as error:
                skipped += [f"{name}: {error}"] * (not name.startswith("learning_curves"))
                continue
            pages = {
                f"{page}.{format}": content
                for page, figure in _numbered(name, found, STYLES[style])
                for content in render(figure, [format], dpi=_DPI)
            }
            files |= pages
            sections.append(section(", ".join(pages), found.caption))
    sections += missing("Not drawn", skipped)
    return write_files(directory, files, results.study, sections), skipped


def render(figure: Figure, formats: Iterable[str], **options: Any) -> Iterator[bytes]:
    """Lay out a figure once and write it in several formats, the same bytes each time."""
    import matplotlib

    settings: dict[Any, Any] = {"svg.hashsalt": "simstudy", "pdf.fonttype": 42}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # A crowded layout and a letter that the font lacks show in the picture itself.
        warnings.simplefilter("ignore", UserWarning)
        figure.set_dpi(72)
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
        for ax in figure.axes:  # the last digits of a layout are not always the same
            left, bottom, width, height = (round(part, 7) for part in ax.get_position().bounds)
            ax.set_position((left, bottom, width, height))
        for format in formats:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=format, **{**FORMATS[format], **options})
            content = buffer.getvalue()
            if format == "svg":  # whose comments repeat its texts
                content = printable(content.decode()).encode()
            yield content


def kept_figures(results: Results) -> dict[str, bytes]:
    """The figures beside the scores in every format, by file: title, key, caption."""
    files: dict[str, bytes] = {}
    for name, make in results.study.page.kept_figures(results).items():
        try:
            found = make(results, mpl.SCREEN)
        except NotDrawnError:
            continue
        figure = layout.whole_figure(found.panels, results.study.heading, found.caption)
        contents = zip(FORMATS, render(figure, FORMATS), strict=True)
        files |= {f"{name}.{format}": content for format, content in contents}
    return files


def _numbered(name: str, printed: Printed, style: Style) -> Iterator[tuple[str, Figure]]:
    """The pages of a figure, on slides with their title; numbered if there are several."""
    figures = [*printed.lay_out(printed.panels, style)]
    for number, figure in enumerate(figures, start=1):
        if style.titles:
            title = printed.title + f" ({number})" * (len(figures) > 1)
            words = mpl.plain(wrapped(title, style.letters(figure.get_figwidth()) * 0.85))
            figure.suptitle(words, x=0.01, ha="left", fontsize=style.font * 1.15)
        yield f"{name}_{number}" if len(figures) > 1 else name, figure
