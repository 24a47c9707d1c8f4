"""A study's findings as tables for papers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from simstudy.analysis.curves import MAX_RATIO
from simstudy.analysis.standings import judged, standing_at
from simstudy.errors import SimstudyError
from simstudy.report import overtaking, words
from simstudy.report.numbers import NONE, p_value, share
from simstudy.report.paper.drawn import make_directory, rank_tables, write_files
from simstudy.report.paper.markup import Cell, Table, as_latex, as_markdown, markdown_text
from simstudy.report.paper.printed import (
    cells_of,
    digits_of,
    effect_of,
    fixed,
    mean_of,
    name_of,
)
from simstudy.texts import as_csv

if TYPE_CHECKING:
    from simstudy.results.results import Results

ENDINGS = {"latex": "tex", "markdown": "md", "csv": "csv"}
CAPTIONS = "captions.md"


class NotMadeError(Exception):
    """Why a study does not allow a table, in one sentence."""


def write_tables(results: Results, directory: Path, format: str = "latex") -> list[Path]:
    """Write a study's findings as tables: means of every measure, and the tests of the primary.

    Parameters
    ----------
    results : Results
        What the study found.
    directory : Path
        Where to write; made if it is not there.
    format : str
        ``"latex"`` (with booktabs), ``"markdown"`` or ``"csv"``; the last has all digits.

    Returns
    -------
    list of Path
        The files. ``captions.md``, the last, has the captions of all of them and says which tables
        the study does not allow, and why.
    """
    if format not in ENDINGS:
        raise SimstudyError(f"unknown format '{format}'; it must be one of {', '.join(ENDINGS)}")
    make_directory(directory)
    files: dict[str, bytes] = {}
    told = [f"# {markdown_text(results.settings['title'] or results.settings['name'])}"]
    absent: list[str] = []
    for make in _makers(results):
        try:
            table = make()
        except NotMadeError as error:
            absent.append(f"- {markdown_text(str(error))}")
            continue
        name = f"{table.name}.{ENDINGS[format]}"
        files[name] = _written(table, format, results.settings["name"]).encode()
        told.append(f"## {name}\n\n{markdown_text(table.caption)}")
    told += ["## Not made\n\n" + "\n".join(absent)] * bool(absent)
    files[CAPTIONS] = ("\n\n".join(told) + "\n").encode()
    return write_files(directory, files)


def _written(table: Table, format: str, study: str) -> str:
    if format == "latex":
        return as_latex(table, f"tab:{study}-{table.name}")
    if format == "markdown":
        return as_markdown(table)
    return as_csv(table.data)


def _makers(results: Results) -> Iterable[Callable[[], Table]]:
    """What makes each table, in their order."""

    def means_of(measure: str) -> Callable[[], Table]:
        return lambda: means(results, measure)

    yield from (means_of(measure) for measure in results.measures)
    for make in (anova, sphericity, pairwise, thresholds, precision, ranks):
        yield lambda make=make: make(results)  # type: ignore[misc]


def means(results: Results, measure: str) -> Table:
    """Means with their intervals, the best marked, learners by sizes."""
    found = results.intervals(measure)
    info, learners, sizes = results.info(measure), results.learners, results.sizes
    standing = _standing(results, measure, found)
    half = (found["upper"] - found["lower"]) / 2
    digits = digits_of(half)
    cells = {}
    for row, width in zip(found.to_dict("records"), half, strict=True):
        key = (row["learner"], row["size"])
        said = standing.get(key, "")
        text = mean_of(row, width, digits)
        cells[key] = Cell(text, bold=said == "best", dagger=said == "level")
    turned = len(sizes) > 5 and len(learners) <= 5
    lines: list[Any] = sizes if turned else learners
    across: list[Any] = learners if turned else sizes
    rows = [
        [Cell(name_of(line)), *(cells[(a, line) if turned else (line, a)] for a in across)]
        for line in lines
    ]
    keys = list(zip(found["learner"], found["size"], strict=True))
    data = found.assign(
        measure=measure,
        confidence=results.settings["analysis"]["confidence"],
        best=[standing.get(key) == "best" for key in keys],
        not_told_apart_from_best=[standing.get(key) == "level" for key in keys],
    )
    caption = (
        f"Mean {words.axis_label(info)} by {'' if turned else 'learner and '}training rows, "
        f"{words.models_words(results, found)}; ± half-width of "
        f"{words.interval_words(results, found)}. {_marks_words(results, measure, standing)}"
        f"{words.design(results)}; {words.conventions(results)}."
    )
    name = "means" if measure == results.measures[0] else f"means_{measure}"
    head = ["training rows" if turned else "learner", *map(name_of, across)]
    return Table(name, caption, head, rows, data, cut=True)


def _standing(results: Results, measure: str, found: pd.DataFrame) -> dict[tuple[str, int], str]:
    """Of each cell whether it is the "best" at its size, or "level": not told apart from that."""
    if len(results.learners) < 2:
        return {}
    info, pairs = results.info(measure), results.pairwise(measure)
    level = 1 - results.settings["analysis"]["confidence"]
    compared = judged(pairs, info.greater_is_better, level)
    standing: dict[tuple[str, int], str] = {}
    for size in results.sizes:
        here = standing_at(size, compared, found, info.greater_is_better)
        if here is not None:
            standing[here.leader, size] = "best"
            standing |= {(other, size): "level" for other in here.not_told_apart()}
    return standing


def _marks_words(results: Results, measure: str, standing: dict[Any, str]) -> str:
    if not standing:
        return ""
    tests = words.pair_words(results, results.pairwise(measure))
    return (
        f"Bold: the best mean at each size; †: not told apart from it ({tests}; α = "
        f"{1 - results.settings['analysis']['confidence']:.10g}). "
    )


def anova(results: Results) -> Table:
    """The tests of the analysis of variance."""
    found = _anova(results, "anova")
    columns = ["effect", "df", "F", "p", "p (G–G)", "p (H–F)", "η²G", "η²p"]
    rows = []
    for row in found.to_dict("records"):
        p_values = [p_value(row[key]) for key in ("p", "p_gg", "p_hf")]
        etas = [fixed(row[key], 3) for key in ("eta2_generalized", "eta2_partial")]
        degrees = f"{row['df1']:,.0f}, {row['df2']:,.0f}"
        rows.append([effect_of(row), degrees, fixed(row["F"], 2), *p_values, *etas])
    caption = (
        f"Repeated-measures ANOVA of {results.info().label}, {found.attrs['subjects']} of "
        f"{results.settings['models']} models as subjects. G–G, H–F: Greenhouse–Geisser's and "
        "Huynh–Feldt's corrections for departures from sphericity; η²G, η²p: generalized and "
        f"partial eta squared. {words.design(results)}; {words.conventions(results)}."
    )
    return Table("anova", caption, columns, cells_of(rows), found)


def sphericity(results: Results) -> Table:
    """How far the analysis of variance is from what it supposes."""
    found = _anova(results, "sphericity")
    columns = ["effect", "Mauchly's W", "p (W)", "ε G–G", "ε H–F"]
    rows = [
        [
            effect_of(row),
            share(row["mauchly_w"]),
            p_value(row["mauchly_p"]),
            *(fixed(row[key], 3) for key in ("eps_gg", "eps_hf")),
        ]
        for row in found.to_dict("records")
    ]
    caption = (
        f"Sphericity in the ANOVA of {results.info().label}: Mauchly's W with its p, and the ε of "
        "Greenhouse–Geisser and Huynh–Feldt (uncapped). A single contrast is spherical by nature "
        "and has no W; nor is there one with more contrasts than degrees of freedom. "
        f"{found.attrs['subjects']} of {results.settings['models']} models."
    )
    kept = ["effect", "mauchly_w", "mauchly_p", "eps_gg", "eps_hf"]
    return Table("sphericity", caption, columns, cells_of(rows), found[kept])


def _anova(results: Results, name: str) -> pd.DataFrame:
    try:
        found = results.anova()
    except ValueError as error:
        raise NotMadeError(f"{name}: {error}") from error
    if found.empty:
        raise NotMadeError(f"{name}: one learner at one size leaves nothing to compare")
    return found


def pairwise(results: Results) -> Table:
    """Paired differences at each size."""
    found = results.pairwise()
    if found.empty:
        raise NotMadeError("pairwise: there is one learner only")
    digits = digits_of((found["upper"] - found["lower"]) / 2)
    rows = []
    for row in found.to_dict("records"):
        limits = NONE
        if np.isfinite(row["lower"]):
            limits = f"[{fixed(row['lower'], digits)}, {fixed(row['upper'], digits)}]"
        rows.append(
            [
                name_of(row["size"]),
                f"{row['first']} − {row['second']}",
                fixed(row["difference"], digits),
                limits,
                fixed(row["t"], 2),
                name_of(row["df"]),
                p_value(row["p_adjusted"]),
            ]
        )
    holm = results.settings["analysis"]["adjustment"] == "holm"
    more = " The intervals are Bonferroni's: Holm's method has none." if holm else ""
    caption = (
        f"Mean paired differences in {words.axis_label(results.info())} between learners at each "
        f"training size: {words.pair_words(results, found)}. p is adjusted likewise.{more} "
        f"{words.design(results)}; {words.conventions(results)}."
    )
    columns = ["rows", "learners", "difference", "interval", "t", "df", "p"]
    data = found.assign(measure=results.measures[0], **results.settings["analysis"])
    rules = _rules(found)
    return Table("pairwise", caption, columns, cells_of(rows), data, texts=2, rules=rules)


def _rules(found: pd.DataFrame) -> set[int]:
    """Where another size begins."""
    sizes = found["size"].to_numpy()
    return {int(place) + 1 for place in np.flatnonzero(sizes[1:] != sizes[:-1])}


def thresholds(results: Results) -> Table:
    """Where learners overtake each other."""
    found = results.thresholds()
    if found.empty:
        raise NotMadeError("thresholds: they need two learners and two training sizes")
    level = words.confidence_level(results)
    rows = [_threshold(row) for row in found.to_dict("records")]
    caption = (
        f"Who overtakes whom in mean {results.info().label}: between the last size at which the "
        "one and the first at which the other is ahead, by "
        f"{overtaking.tests_words(found, level)}; "
        f"estimate: where the mean difference is 0, with an interval ({level} for all together) "
        "that allows for the course of the curve between the sizes, given where neighbouring sizes "
        f"are within a factor of {MAX_RATIO:g}. “None”: no change of who is ahead is shown. "
        f"{words.design(results)}. {overtaking.refined_words(results)}"
    ).rstrip()
    columns = ["ahead", "behind", "between", "rows", "interval", "ahead at", "models"]
    return Table("thresholds", caption, columns, cells_of(rows), found, texts=2)


def _threshold(row: dict[Any, Any]) -> list[str]:
    """One change of the learner ahead, or a pair without one."""
    models = name_of(row["n"])
    if not isinstance(row["ahead"], str):
        why = row["note"] if row["note"].startswith("not analysed") else "none shown"
        return [row["first"], row["second"], why, NONE, NONE, NONE, models]
    ahead, other = row["ahead"], overtaking.behind(row)
    where = ", ".join(f"{size:,}" for size in overtaking.ahead_at(row, ahead)) or NONE
    if not overtaking.has_change(row):
        return [ahead, other, "none", NONE, NONE, where, models]
    between = f"{row['before']:,.0f}–{row['after']:,.0f}"
    if math.isnan(row["crossing"]):
        return [ahead, other, between, NONE, NONE, where, models]
    numbers = [f"{row['crossing']:,.0f}", overtaking.interval(row)]
    return [ahead, other, between, *numbers, where, models]


def precision(results: Results) -> Table:
    """Monte-Carlo standard errors."""
    found = results.precision()
    digits = digits_of(found["mcse"])
    rows = [
        [
            name_of(row["size"]),
            row["first"] + (f" − {row['second']}" if row["second"] else ""),
            name_of(row["n"]),
            *(fixed(row[key], digits) for key in ("estimate", "sd", "mcse")),
            NONE if math.isnan(row["mcse_error"]) else f"{100 * row['mcse_error']:.0f}%",
        ]
        for row in found.to_dict("records")
    ]
    changes = np.flatnonzero((found["kind"] == "difference").to_numpy())
    caption = (
        f"Precision of the means of {words.axis_label(results.info())} and of the paired "
        "differences: n, models; sd, standard deviation between models; MCSE, Monte-Carlo "
        "standard error, sd/√n; error, the relative standard error of sd and MCSE. "
        f"{words.design(results)}."
    )
    columns = ["rows", "mean or difference", "n", "estimate", "sd", "MCSE", "error"]
    rules = {int(changes[0])} if len(changes) else set()
    return Table("precision", caption, columns, cells_of(rows), found, texts=2, rules=rules)


def ranks(results: Results) -> Table:
    """Average ranks at each size and over all, with Friedman's test."""
    if len(results.learners) < 2:
        raise NotMadeError("ranks: they need at least two learners")
    found, without = rank_tables(results, [*results.sizes, None])
    if not found:
        raise NotMadeError(f"ranks: {without}")
    places = list(found)
    columns = ["learner", *("all sizes" if at is None else name_of(at) for at in places)]
    by_learner = {at: table.set_index("learner")["rank"] for at, table in found.items()}
    rows = [
        [learner, *(f"{by_learner[at][learner]:.2f}" for at in places)]
        for learner in results.learners
    ]
    tests = [found[at].attrs for at in places]
    rows += [
        ["models", *(name_of(test["n"]) for test in tests)],
        ["Friedman's χ²", *(fixed(test["chi2"], 2) for test in tests)],
        ["p", *(p_value(test["p"]) for test in tests)],
        ["F", *(fixed(test["F"], 2) for test in tests)],
        ["p (F)", *(p_value(test["p_F"]) for test in tests)],
        ["critical difference", *(f"{test['critical_difference']:.2f}" for test in tests)],
    ]
    k = len(results.learners)
    alpha = 1 - results.settings["analysis"]["confidence"]
    caption = (
        f"Average ranks by {results.info().label} over the models, 1 for the best, at each "
        f"training size{' and of the scores averaged over all sizes' * (None in places)}. "
        f"Friedman's test, corrected for ties, has {k - 1} degrees of freedom; F is Iman & "
        f"Davenport's form of it, with {k - 1} and {k - 1} × (models − 1). Learners whose average "
        "ranks differ by the critical difference are told apart by Nemenyi's test, for all m = "
        f"{math.comb(k, 2)} pairs together at α = {alpha:.10g} (Demšar 2006). {without}"
        f"{words.design(results)}."
    )
    tests_of = ("chi2", "df", "p", "F", "df1", "df2", "p_F", "critical_difference")
    data = pd.concat(
        [
            table.assign(
                size="all" if at is None else at, **{key: table.attrs[key] for key in tests_of}
            )
            for at, table in found.items()
        ]
    )
    data.attrs = {}
    table = Table("ranks", caption, columns, cells_of(rows), data, cut=True)
    table.rules = {len(results.learners)}
    return table
