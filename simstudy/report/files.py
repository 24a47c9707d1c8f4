"""The files of a report: beside a study's scores, and figures and tables for papers and talks."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from simstudy.analysis.models.findings import Absent
from simstudy.errors import SimstudyError, reported
from simstudy.report.charts import layout
from simstudy.report.charts.layout import NotDrawnError
from simstudy.report.charts.mpl import SCREEN, STYLES, plain
from simstudy.report.charts.printed import hope_korb
from simstudy.report.charts.spec import wrapped
from simstudy.report.charts.thumbnail import thumbnail
from simstudy.report.methods import documents
from simstudy.report.pages.page import report_page
from simstudy.report.tables.formats import as_latex, as_markdown, markdown_text
from simstudy.results.read.open import Results
from simstudy.results.store import atomic_files
from simstudy.results.store.store import Store
from simstudy.study.constants import PAGE, PICTURE
from simstudy.study.study import Study
from simstudy.texts import as_csv, printable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from simstudy.results.read.model_analyses import ModelResults

CAPTIONS = "captions.md"
FORMATS: dict[str, dict[str, Any]] = {
    "png": {"dpi": 200},
    "svg": {"metadata": {"Date": None}},
    "pdf": {"metadata": {"CreationDate": None}},
}
MAX_FAMILIES = 3  # of the style hope-korb, which fit on a page
_DPI = 300  # of figures for print, where they are pictures
ENDINGS = {"latex": "tex", "markdown": "md", "csv": "csv"}  # of tables


def write_report(results: Results, store: Store) -> None:
    """Write the tables of all measures, the figures of the primary one, and the page."""
    results.check_files()  # here damaged files are an error, not a remark on a page
    tables = results.study.page.files(results)
    files = {name: as_csv(table).encode() for name, table in tables.items()}
    files |= kept_figures(results)
    files[PAGE] = report_page(results).encode()
    results = results.shown
    study, findings = results.study, results.findings()
    files[PICTURE] = printable(thumbnail(study.page.thumbnail(results, findings))).encode()
    number, units = study.page.facts(study)[0]
    card = {"title": study.heading, "finding": study.page.finding(results, findings)}
    card |= {"over": f"{number:,} {units}"}
    store.drop_report()  # it may contain files that are no longer made
    for name, content in files.items():
        store.folder.write(name, content)
    store.record_report([*files], card)


def kept_figures(results: Results) -> dict[str, bytes]:
    """The figures beside the scores in every format, and their captions, by file."""
    files: dict[str, bytes] = {}
    captions: dict[str, str] = {}
    for name, make in results.study.page.kept_figures(results).items():
        try:
            printed = make(results.shown, SCREEN)
        except NotDrawnError:
            continue
        figure = layout.whole_figure(printed, results.study.heading)
        files |= {f"{name}.{format}": made for format, made in render(figure, FORMATS).items()}
        captions[", ".join(f"{name}.{format}" for format in FORMATS)] = printed.caption
    return files | (_captions(results.study, captions) if captions else {})


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
        Whether to run cells again for reliability diagrams even where this executes third-party
        code: the study's plugins, and classifiers that it names by their path.

    Returns
    -------
    written : list of Path
        The files, ``captions.md`` last. The same results give the same bytes.
    skipped : list of str
        A sentence for each figure that the study does not allow.
    """
    import matplotlib

    results.check_files()
    _prepare(directory, format=(format, FORMATS), style=(style, STYLES))
    page, sizes = results.study.page, STYLES[style]
    files: dict[str, bytes] = {}
    captions: dict[str, str] = {}
    skipped = []
    with matplotlib.rc_context(sizes.settings()):
        for name, make in page.figures(results).items():
            if name in page.rerun_figures and results.foreign and not rerun:
                skipped.append(
                    f"{name}: predictions are not stored, and running cells again would execute "
                    f"{', '.join(dict.fromkeys(results.foreign))}; use --rerun to allow it"
                )
                continue
            try:
                printed = make(results.shown, sizes)
            except NotDrawnError as error:
                skipped += [f"{name}: {error}"] * (not name.startswith("learning_curves"))
                continue
            figures, pages = [*printed.lay_out(printed.panels, sizes)], {}
            several = len(figures) > 1
            for number, figure in enumerate(figures, start=1):
                if sizes.titles:
                    title = printed.title + f" ({number})" * several
                    words = plain(wrapped(title, sizes.letters(figure.get_figwidth()) * 0.85))
                    figure.suptitle(words, x=0.01, ha="left", fontsize=sizes.font * 1.15)
                file = f"{name}{f'_{number}' * several}.{format}"
                pages[file] = render(figure, [format], dpi=_DPI)[format]
            files |= pages
            captions[", ".join(pages)] = printed.caption
    files |= _captions(results.study, captions, "Not drawn", skipped)
    return _write_files(directory, files), skipped


def write_hope_korb(studies: Sequence[Results], directory: Path, format: str) -> list[Path]:
    """Write one figure of one to three studies, as Hope & Korb (2004) have them, and its caption.

    Each row has an example of a network and learning curves, the simplest models first.
    """
    import matplotlib

    if len(studies) > MAX_FAMILIES:
        raise SimstudyError(f"style hope-korb draws at most {MAX_FAMILIES} studies together")
    for results in studies:
        results.check_files()
    _prepare(directory, format=(format, FORMATS))
    with matplotlib.rc_context(STYLES["paper"].settings()):
        figure, caption = hope_korb(cast("Sequence[ModelResults]", studies), STYLES["paper"])
        name = f"hope_korb.{format}"
        files = {name: render(figure, [format], dpi=_DPI)[format]}
    return _write_files(directory, files | _captions(studies[0].study, {name: caption}))


def write_tables(results: Results, directory: Path, format: str = "latex") -> list[Path]:
    """Write a study's findings as tables: means of every measure, and the tests of the primary.

    Parameters
    ----------
    results : Results
        The results of the study.
    directory : Path
        Where to write; created if needed.
    format : str
        ``"latex"`` (with booktabs), ``"markdown"`` or ``"csv"``; the last has all digits.

    Returns
    -------
    list of Path
        The files. ``captions.md``, the last, has the captions of all of them and says which tables
        the study does not allow, and why.
    """
    _prepare(directory, format=(format, ENDINGS))
    study, page, absent = results.study, results.study.page, []
    files: dict[str, bytes] = {}
    captions: dict[str, str] = {}
    for name, table in page.tables(results.shown).items():
        if isinstance(table, Absent):
            absent.append(f"{name}: {table.text}")
            continue
        table = table if format == "csv" else table.filled
        file, note = f"{name}.{ENDINGS[format]}", f"{table.caption} {page.made(study)}".strip()
        captions[file] = f"{table.title}.\n{note}"
        if format == "latex":
            text = as_latex(table, note, f"tab:{study.name}-{name}")
        else:
            text = as_markdown(table, note) if format == "markdown" else table.csv
        files[file] = text.encode()
    return _write_files(directory, files | _captions(study, captions, "Not made", absent))


def write_methods(results: Results, directory: Path, format: str = "latex") -> list[Path]:
    """Write the methods and results of a study in words, and their references as BibTeX.

    Parameters
    ----------
    results : Results
        The results of the study.
    directory : Path
        Where to write; created if needed.
    format : str
        ``"latex"`` (with booktabs) or ``"markdown"`` (with citations as Pandoc reads them).
    """
    _prepare(directory, format=(format, [*ENDINGS][:2]))
    texts, ending = documents(results), ENDINGS[format]
    files = {f"methods.{ending}": texts[ending], "references.bib": texts["bib"]}
    return _write_files(directory, {name: printable(files[name]).encode() for name in files})


def render(figure: Figure, formats: Iterable[str], **options: Any) -> dict[str, bytes]:
    """Lay out a figure once and write it in several formats, the same bytes each time."""
    import matplotlib

    settings: dict[Any, Any] = {"svg.hashsalt": "simstudy", "pdf.fonttype": 42}
    settings |= {"figure.autolayout": False, "figure.constrained_layout.use": False}
    contents = {}
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # A crowded layout and a letter that the font lacks show in the picture itself.
        warnings.simplefilter("ignore", UserWarning)
        figure.set_dpi(72)
        figure.draw_without_rendering()
        figure.set_layout_engine(None)  # with any other, `savefig` draws everything twice
        for ax in figure.axes:  # the last digits of a layout are not always the same
            left, bottom, width, height = (round(part, 7) for part in ax.get_position().bounds)
            ax.set_position((left, bottom, width, height))
        for format in formats:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=format, **{**FORMATS[format], **options})
            contents[format] = buffer.getvalue()
    if "svg" in contents:  # whose comments repeat its texts
        contents["svg"] = printable(contents["svg"].decode()).encode()
    return contents


def _prepare(directory: Path, **options: tuple[str, Iterable[str]]) -> None:
    """Check options and create a directory, before computing what could not be written there."""
    for option, (name, allowed) in options.items():
        if name not in allowed:
            listed = ", ".join(allowed)
            raise SimstudyError(f"unknown {option} '{name}'; it must be one of {listed}")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimstudyError(f"{directory} cannot be created: {error.strerror}") from error


def _write_files(directory: Path, files: Mapping[str, bytes]) -> list[Path]:
    """Write files by their names, all or none."""
    paths = {directory / name: content for name, content in files.items()}
    with reported(f"{directory} cannot be written to", OSError):
        atomic_files.write_files(paths)
    return list(paths)


def _captions(
    study: Study, captions: Mapping[str, str], heading: str = "", absent: Sequence[str] = ()
) -> dict[str, bytes]:
    """A file of captions by their files in Markdown, and why others are absent."""
    texts = {name: text.splitlines() for name, text in captions.items()}
    sections = ["\n\n".join([f"## {name}", *map(markdown_text, texts[name])]) for name in texts]
    lines = "\n".join(f"- {markdown_text(reason)}" for reason in absent)
    sections += [f"## {heading}\n\n{lines}"] * bool(absent)
    text = "\n\n".join([f"# {markdown_text(study.heading)}", *sections])
    return {CAPTIONS: f"{text}\n".encode()}
