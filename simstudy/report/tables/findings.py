"""The tables of one measure, each built once from its findings; Absent gives a reason."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import pandas as pd

from simstudy.analysis.findings import Absent, ModelFindings
from simstudy.analysis.standings import AHEAD, IDENTICAL, UNTESTED, Pair
from simstudy.analysis.thresholds import Course, as_table
from simstudy.report.prose import captions, crossings
from simstudy.report.prose.numbers import (
    NONE,
    fixed,
    number,
    p_value,
    percent,
    rows,
    setting,
    share,
    signed,
)
from simstudy.report.prose.phrases import axis_label, level, opening, with_unit
from simstudy.report.prose.verdicts import pair_method, why_untested
from simstudy.report.tables.table import Options, Table, TableCell, by_size, make_table, words

MAX_IN_MATRIX = 8  # learners whose pairs are all shown
_MIN_DECIMALS, _MAX_DECIMALS = 4, 6
Row: TypeAlias = Mapping[Hashable, Any]  # of a data frame


def decimals(widths: Iterable[float]) -> int:
    """As many decimals as show two digits of the narrowest interval, from 4 to 6."""
    known = [width for width in widths if 0 < width < math.inf]
    needed = 1 - math.floor(math.log10(min(known))) if known else 0
    return min(max(needed, _MIN_DECIMALS), _MAX_DECIMALS)


def means(findings: ModelFindings, alone: bool = True) -> Table:
    """Means with their intervals, the best of each size marked, learners by sizes.

    Its caption says what intervals and tests are, unless it stands beside `captions.reading`.
    """
    digits = decimals(mean.half_width for mean in findings.means)
    marks = _marks(findings)
    cells, best, level_with = {}, [], []
    for mean in findings.means:
        mark = marks.get((mean.learner, mean.size))
        best.append(mark == "best")
        level_with.append(mark == "level")
        more = f"± {number(mean.half_width, digits)}" if mean.has_interval else ""
        if more and findings.info.share:
            more = f"[{fixed(mean.lower, digits)}, {fixed(mean.upper, digits)}]"
        text = number(mean.mean, digits)
        cells[mean.learner, mean.size] = TableCell(text, more, bold=best[-1], dagger=level_with[-1])
    over, intervals = captions.models(findings), captions.intervals(findings)
    half = "" if findings.info.share else "half-width of "
    caption = f"Means {over}; {captions.beside(findings)} {half}{intervals}. " * alone
    if marks:
        tests = f" ({pair_method(findings)}; α = {setting(findings.alpha)})" * alone
        caption += (
            f"Bold: the best mean at each size; †: not significantly different from it{tests}."
        )
    data = findings.intervals.assign(
        measure=findings.measure, confidence=findings.design.confidence
    )
    data = data.assign(best=best, not_different_from_best=level_with)
    design, kind = findings.design, findings.design.words
    title = f"Mean {axis_label(findings.info)} by {kind.treatment} and {kind.dose} rows"
    options: Options = {"caption": caption.strip(), "data": data}
    return by_size("means", title, kind, design.learners, design.sizes, cells, **options)


def _marks(findings: ModelFindings) -> dict[tuple[str, int], str]:
    """The cells with the "best" mean at a size, and those "level" with it by the tests."""
    marks: dict[tuple[str, int], str] = {}
    for standing in findings.standings if len(findings.design.learners) > 1 else ():
        marks[standing.leader, standing.size] = "best"
        level_with = (*standing.level, *standing.identical)
        marks |= {(pair.second, standing.size): "level" for pair in level_with}
    return marks


def _test(key: str) -> Callable[[Row], str]:
    return lambda row: p_value(row[key])


def _share(key: str) -> Callable[[Row], str]:
    return lambda row: number(row[key], 3)


# How the columns of tests of effects are written.
_COLUMNS: dict[str, Callable[[Row], str]] = {
    "effect": lambda row: row["effect"],
    "df": lambda row: f"{row['df1']:,}, {number(row['df2'], 1).removesuffix('.0')}",
    "F": lambda row: number(row["F"], 2),
    "p": _test("p"),
    "p (G–G)": _test("p_gg"),
    "p (H–F)": _test("p_hf"),
    "η²G": _share("eta2_generalized"),
    "η²p": _share("eta2_partial"),
    "Mauchly's W": lambda row: share(row["mauchly_w"]),
    "p (W)": _test("mauchly_p"),
    "ε G–G": _share("eps_gg"),
    "ε H–F": _share("eps_hf"),
}


def _effects(
    findings: ModelFindings,
    name: str,
    title: str,
    heads: Sequence[str],
    data: pd.DataFrame,
    note: str,
) -> Table:
    names = findings.names
    effects = [[names.get(one, one) for one in effect.split(":")] for effect in data["effect"]]
    shown = data.assign(effect=[" × ".join(factors) for factors in effects])
    lines = [[_COLUMNS[head](row) for head in heads] for row in shown.to_dict("records")]
    return make_table(name, title, heads, lines, caption=note, data=data)


def anova(findings: ModelFindings) -> Table | Absent:
    """The tests of the analysis of variance."""
    if isinstance(found := findings.anova, Absent):
        return found
    heads = ["effect", "df", "F", "p", "p (G–G)", "p (H–F)", "η²G", "η²p"]
    note = captions.anova(found.subjects, findings.design.models)
    note = f"{note} {captions.left_out(findings, found.left_out)}".strip()
    title = f"Repeated-measures ANOVA of {findings.info.label}"
    return _effects(findings, "anova", title, heads, found.table, note)


def sphericity(findings: ModelFindings) -> Table | Absent:
    """How far the analysis of variance is from sphericity."""
    if isinstance(found := findings.anova, Absent):
        return found
    heads = ["effect", "Mauchly's W", "p (W)", "ε G–G", "ε H–F"]
    data = found.table[["effect", "mauchly_w", "mauchly_p", "eps_gg", "eps_hf"]]
    title = f"Sphericity in the ANOVA of {findings.info.label}"
    return _effects(findings, "sphericity", title, heads, data, captions.SPHERICITY)


def mixed(findings: ModelFindings) -> Table | Absent:
    """The same effects by a mixed model of all cells there are."""
    if isinstance(found := findings.mixed, Absent):
        return found
    title = f"Mixed model of {findings.info.label}, models as random effects"
    heads = ["effect", "df", "F", "p"]
    return _effects(findings, "mixed_model", title, heads, found.table, captions.mixed(found))


def tests(findings: ModelFindings) -> dict[str, Table | Absent]:
    """The ANOVA, its sphericity and, if cells are missing, a mixed model."""
    found = {"anova": anova(findings), "sphericity": sphericity(findings)}
    return found | ({"mixed_model": mixed(findings)} if findings.incomplete else {})


def missing_tests(tests: dict[str, Table | Absent]) -> list[str]:
    """Why there is no ANOVA or no mixed model, one sentence each."""
    names = {"anova": "ANOVA", "mixed_model": "mixed model"}
    missing = {names[key]: one for key, one in tests.items() if key in names}
    return [f"No {key}: {one.text}." for key, one in missing.items() if isinstance(one, Absent)]


def pairs(findings: ModelFindings, size: int) -> Table:
    """Who beats whom at a size: every two learners, or the best of many against the others."""
    learners, ranked = list(findings.design.learners), findings.ranked(size)
    found, table = findings.pairs_at(size), findings.pairwise
    table = table[table["size"] == size]
    info, holm = findings.info, findings.design.holm
    dose = findings.design.words.dose
    title = f"{rows(size)} {dose} rows, differences in {info.unit or info.label}"
    if len(learners) <= MAX_IN_MATRIX:
        verdicts = {(p.first, p.second): _verdict(p.better_first(learners), holm) for p in found}
        heads = [words(""), *(words(label, "", i) for i, label in enumerate(learners) if i)]
        lines = []
        for index, first in enumerate(learners[:-1]):
            line = [words(first, "", index)]
            for other, second in enumerate(learners[1:], start=1):
                text, more, kind = verdicts.get((first, second), ("", "", "none"))
                line.append(TableCell(text, more, kind, (other,)))
            lines.append(line)
        return make_table(f"pairs_{size}", title, heads, lines, data=table)
    best = ranked[0]
    against = [pair.seen_from(best) for pair in found if best in (pair.first, pair.second)]
    against.sort(key=lambda pair: ranked.index(pair.second))
    lines = []
    for pair in against:
        name = words(pair.second, "", learners.index(pair.second))
        lines.append([name, TableCell(*_verdict(pair.better_first(ranked), holm))])
    (mean,) = (mean.mean for mean in findings.means_of(best) if mean.size == size)
    what = f"{best}, of best mean" if math.isfinite(mean) else f"{best}; no mean is finite"
    data = table[(table["first"] == best) | (table["second"] == best)]
    return make_table(f"pairs_{size}", title, ["against", words(what)], lines, data=data)


def _verdict(pair: Pair, holm: bool) -> tuple[str, str, str]:
    """Who beats whom by how much, or that they do not differ: a text, a second line, a kind."""
    if pair.verdict == UNTESTED:
        return "not compared", why_untested(pair), "tie"
    if pair.verdict == IDENTICAL:
        return "identical", f"in all of {pair.n} models", "tie"
    interval = f"[{signed(pair.low)}, {signed(pair.high)}]"
    numbers = f"{signed(pair.lead)} " + (p_value(pair.p, "p") if holm else interval)
    if pair.verdict == AHEAD:
        return pair.first, numbers, "win"
    return "no significant difference", f"{pair.first} {numbers}", "tie"


def pairwise(findings: ModelFindings) -> Table | Absent:
    """Paired differences of every two learners at each size."""
    found, design, kind = findings.pairwise, findings.design, findings.design.words
    if found.empty:
        return Absent(f"there is one {kind.treatment} only")
    digits = decimals((found["upper"] - found["lower"]) / 2)
    lines = []
    for row in found.to_dict("records"):
        pair = f"{row['first']} − {row['second']}"
        low, value, high = (number(row[key], digits) for key in ("lower", "difference", "upper"))
        interval = f"[{low}, {high}]" if math.isfinite(row["lower"]) else NONE
        test = number(row["t"], 2), number(row["df"], 0), p_value(row["p_adjusted"])
        lines.append([rows(row["size"]), pair, value, interval, *test])
    caption = f"{opening(pair_method(findings))}. p is adjusted likewise."
    caption += " The intervals are Bonferroni's: Holm's method has none." * design.holm
    starts = itertools.accumulate(len(findings.pairs_at(size)) for size in design.sizes[:-1])
    data = found.assign(measure=findings.measure, confidence=design.confidence)
    data = data.assign(adjustment=design.adjustment)
    title = f"Mean paired differences in {axis_label(findings.info)} at each {kind.size}"
    heads = ["rows", kind.name, "difference", "interval", "t", "df", "p"]
    options: Options = {"caption": caption, "data": data, "rules": {*starts}}
    return make_table("pairwise", title, heads, lines, texts=2, **options)


def thresholds(
    findings: ModelFindings, shown: Sequence[Course] | None = None, alone: bool = True
) -> Table | Absent:
    """Who overtakes whom, and who is ahead where; of all pairs, or of those shown."""
    kind = findings.design.words
    if not findings.courses:
        return Absent(f"two {kind.name} and two {kind.size}s are needed")
    courses = findings.courses if shown is None else shown
    places = {label: place for place, label in enumerate(findings.design.learners)}
    lines = [line for course in courses for line in _course(course, places)]
    notes = [crossings.method(findings, courses, alone), crossings.added_sizes(findings)]
    notes.append(f"None: no change of the {kind.treatment} ahead is shown.")
    title = f"Who overtakes whom in mean {findings.info.label}, and with how many {kind.dose} rows"
    heads: list[str | TableCell] = [kind.treatment, "against", "between", "estimate (rows)"]
    heads += [f"{level(findings.design.confidence)} interval"]
    heads += [words("ahead at"), words("behind at"), "models"]
    options: Options = {"caption": " ".join(filter(None, notes)), "data": as_table(courses)}
    return make_table("thresholds", title, heads, lines, texts=2, **options)


def _course(course: Course, places: dict[str, int]) -> Iterator[list[str | TableCell]]:
    """The changes of the learner ahead of a pair, or one row that says that there is none."""
    why = course.note if not course.analysed else "none"
    ahead = course.first if course.leader is None else course.leader
    both = (places[course.first], places[course.second])
    for change in course.changes or (None,):
        one = ahead if change is None else change.ahead
        other = course.other(one)
        line: list[str | TableCell] = [words(one, "", *both), words(other)]
        line.append(why if change is None else f"{rows(change.before)}–{rows(change.after)}")
        if change is not None and change.estimated:
            line += [rows(change.crossing), crossings.interval(change)]
        else:
            line += [NONE, NONE]
        for learner in (one, other):
            line.append(words(", ".join(map(rows, course.ahead_at(learner))) or NONE))
        yield [*line, f"{course.n:,}"]


def precision(findings: ModelFindings) -> Table:
    """Monte-Carlo standard errors of every mean and every paired difference."""
    found = findings.precision
    digits = decimals(found["mcse"])
    lines = []
    for row in found.to_dict("records"):
        what = row["first"] + (f" − {row['second']}" if row["second"] else "")
        numbers = [number(row[key], digits) for key in ("estimate", "sd", "mcse")]
        error = percent(row["mcse_error"], 0)
        lines.append([rows(row["size"]), what, f"{row['n']:,}", *numbers, error])
    heads = ["rows", "mean or difference", "n", "estimate", "sd", "MCSE", "error"]
    title = f"Precision of means of {axis_label(findings.info)} and of paired differences"
    rules = {len(findings.means)} - {len(found)}
    options: Options = {"caption": captions.PRECISION, "data": found, "rules": rules}
    return make_table("precision", title, heads, lines, texts=2, **options)


def standard_errors(findings: ModelFindings) -> Table:
    """Monte-Carlo standard errors of the means, learners by sizes, and the largest of a pair."""
    found, design = findings.precision, findings.design
    digits, largest = decimals(found["mcse"]), "largest of a paired difference"
    known = found.assign(row=found["first"].where(found["kind"] == "mean", largest))
    errors = known.groupby(["row", "size"], sort=False)["mcse"].max()
    cells = {place: TableCell(number(error, digits)) for place, error in errors.items()}
    rows_of = f"{design.words.dose} rows"
    title = f"Monte-Carlo standard errors of mean {with_unit(findings.info)} by {rows_of}"
    labels, sizes = design.learners, design.sizes
    return by_size("precision", title, design.words, labels, sizes, cells, data=found)


def models_needed(findings: ModelFindings) -> Table | Absent:
    """How many models would reach a few round standard errors."""
    if not (needed := findings.models_needed):
        return Absent("no standard error is known")
    lines = [
        [f"{target:g}", *(NONE if count is None else f"{count:,}" for count in counts)]
        for target, *counts in needed
    ]
    unit = f" ({findings.info.unit})" if findings.info.unit else ""
    heads = [f"for a standard error of{unit}", "of every mean", "of every paired difference"]
    return make_table("models_needed", "Models needed", heads, lines)


def ranks(findings: ModelFindings) -> Table | Absent:
    """Average ranks at each size and over all, with Friedman's test."""
    learners, sizes = findings.design.learners, findings.design.sizes
    kind = findings.design.words
    if len(learners) < 2:
        return Absent(f"at least two {kind.name} are needed")
    found, without = [], ""
    for at in (*sizes, None) if len(sizes) > 1 else sizes:
        if isinstance(one := findings.ranks(at), Absent):
            where = "Over all sizes" if at is None else f"At {rows(at)} rows"
            without += f" {where} there are no ranks: {one.text}."
        else:
            found.append(one)
    if not found:
        return Absent(without.strip().removesuffix("."))
    heads = [kind.treatment, *("all sizes" if one.at is None else rows(one.at) for one in found)]
    by_learner = [one.table.set_index("learner")["rank"] for one in found]
    lines: list[list[str | TableCell]] = [
        [words(label, "", i), *(number(ranked[label], 2) for ranked in by_learner)]
        for i, label in enumerate(learners)
    ]
    lines += [
        ["models", *(f"{one.n:,}" for one in found)],
        ["Friedman's χ²", *(number(one.chi2, 2) for one in found)],
        ["p", *(p_value(one.p) for one in found)],
        ["F", *(number(one.F, 2) for one in found)],
        ["p (F)", *(p_value(one.p_F) for one in found)],
        ["critical difference", *(number(one.critical_difference, 2) for one in found)],
    ]
    keys = ("chi2", "df", "p", "F", "df1", "df2", "p_F", "method", "critical_difference")
    parts = []
    for one in found:
        own = {key: getattr(one, key) for key in keys}
        parts.append(one.table.assign(size="all" if one.at is None else one.at, **own))
    data = pd.concat(parts)
    title = f"Average ranks by {findings.info.label}"
    caption = captions.ranks_table(findings, overall=found[-1].at is None) + without
    options: Options = {"caption": caption, "data": data, "cut": True, "rules": {len(learners)}}
    return make_table("ranks", title, heads, lines, **options)
