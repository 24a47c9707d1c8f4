"""The tables of one measure, each built once from its findings; Absent gives a reason."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import pandas as pd

from simstudy.analysis.models.average_ranks import Ranks
from simstudy.analysis.models.findings import Absent, ModelFindings
from simstudy.analysis.models.standings import AHEAD, IDENTICAL, UNTESTED, Pair
from simstudy.analysis.models.thresholds import Course, as_table
from simstudy.report.prose import captions, numbers, phrases
from simstudy.report.prose import pairwise as prose
from simstudy.report.prose.numbers import NONE, fixed, number, p_value, rows
from simstudy.report.tables.table import Row, Table, TableCell, by_size, make_table, table_of, words

MAX_IN_MATRIX = 8  # learners whose pairs are all shown
_MIN_DECIMALS, _MAX_DECIMALS = 2, 6
_MAX_SIZES = 4  # of many that a terminal shows


def decimals(widths: Iterable[float], least: int = _MIN_DECIMALS) -> int:
    """As many decimals as show two digits of the narrowest interval, to 6."""
    narrowest = min((width for width in widths if 0 < width < math.inf), default=1.0)
    return min(max(1 - math.floor(math.log10(narrowest)), least), _MAX_DECIMALS)


def means(findings: ModelFindings, alone: bool = True) -> Table:
    """Means with their intervals, the best of each size marked, learners by sizes.

    Its caption says what intervals and tests are, unless it stands beside `captions.reading`.
    """
    digits = decimals(mean.half_width for mean in findings.means)
    marked, cells = _marks(findings), {}
    marks = [marked.get((mean.learner, mean.size)) for mean in findings.means]
    for mean, mark in zip(findings.means, marks, strict=True):
        more = f"± {number(mean.half_width, digits)}" if mean.has_interval else ""
        if more and findings.info.share:
            more = f"[{fixed(mean.lower, digits)}, {fixed(mean.upper, digits)}]"
        text, best, close = number(mean.mean, digits), mark == "best", mark == "level"
        cells[mean.learner, mean.size] = TableCell(text, more, bold=best, dagger=close)
    over, intervals = captions.models(findings), phrases.intervals_of_means(findings)
    half = "" if findings.info.share else "half-width of "
    caption = f"Means {over}; {captions.beside(findings)} {half}{intervals}. " * alone
    if marked:
        tests = f" ({prose.pair_method(findings)}; α = {numbers.setting(findings.alpha)})" * alone
        caption += "Bold: the best mean at each size; †: not significantly different from it"
        caption += f"{tests}."
    design, kind = findings.design, findings.design.words
    title = _title(findings)
    data = findings.intervals.assign(measure=findings.measure, confidence=design.confidence)
    data["best"] = [mark == "best" for mark in marks]
    data["not_different_from_best"] = [mark == "level" for mark in marks]
    table = by_size("means", title, kind, design.learners, design.sizes, cells, data=data)
    return replace(table, caption=caption.strip())


def _title(findings: ModelFindings) -> str:
    kind = findings.design.words
    return f"Mean {phrases.axis_label(findings.info)} by {kind.treatment} and {kind.dose} rows"


def few_sizes(findings: ModelFindings) -> list[int]:
    """The sizes that a terminal shows: of many, some from the smallest to the largest."""
    sizes, steps = findings.design.sizes, _MAX_SIZES - 1
    if len(sizes) <= _MAX_SIZES:
        return [*sizes]
    return [sizes[round(step * (len(sizes) - 1) / steps)] for step in range(_MAX_SIZES)]


def few_means(findings: ModelFindings) -> Table:
    """Means at a few sizes, of many learners the best, to two digits of their intervals."""
    learners, sizes, kind = findings.design.learners, few_sizes(findings), findings.design.words
    if len(learners) > prose.MAX_COMPARED:
        ranked = [*map(findings.ranked, sizes)]
        best = sorted(learners, key=lambda name: min(order.index(name) for order in ranked))
        learners = tuple(sorted(best[: prose.MAX_LISTED], key=ranked[-1].index))
    cells = {}
    for at in sizes:
        means = [mean for mean in findings.means if mean.size == at and mean.learner in learners]
        widest = max((mean.half_width for mean in means if mean.has_interval), default=1.0)
        digits = decimals([widest], 0)
        for mean in means:
            more = f"± {number(mean.half_width, digits)}" if mean.has_interval else ""
            leads = mean.learner == findings.best_at(at)
            cells[mean.learner, at] = TableCell(number(mean.mean, digits), more, bold=leads)
    return by_size("means", _title(findings), kind, learners, sizes, cells, data=findings.intervals)


def _marks(findings: ModelFindings) -> dict[tuple[str, int], str]:
    """The cells with the "best" mean at a size, and those "level" with it by the tests."""
    marks = {}
    for standing in findings.standings if len(findings.design.learners) > 1 else ():
        marks[standing.leader, standing.size] = "best"
        level_with = (*standing.level, *standing.identical)
        marks |= {(pair.second, standing.size): "level" for pair in level_with}
    return marks


# How the columns of tests of effects are written: of the ANOVA, then of its sphericity.
_COLUMNS: dict[str, Callable[[Row], str]] = {
    "effect": lambda row: row["effect"],
    "df": lambda row: f"{row['df1']:,}, {number(row['df2'], 1).removesuffix('.0')}",
    "F": lambda row: number(row["F"], 2),
    "p": lambda row: p_value(row["p"]),
    "p (G–G)": lambda row: p_value(row["p_gg"]),
    "p (H–F)": lambda row: p_value(row["p_hf"]),
    "η²G": lambda row: number(row["eta2_generalized"], 3),
    "η²p": lambda row: number(row["eta2_partial"], 3),
    "Mauchly's W": lambda row: numbers.share(row["mauchly_w"]),
    "p (W)": lambda row: p_value(row["mauchly_p"]),
    "ε G–G": lambda row: number(row["eps_gg"], 3),
    "ε H–F": lambda row: number(row["eps_hf"], 3),
}


def tests(findings: ModelFindings) -> dict[str, Table | Absent]:
    """The ANOVA, its sphericity and, if cells are missing, a mixed model of all available cells."""
    label, heads = findings.info.label, [*_COLUMNS]

    def effects(name: str, title: str, heads: list[str], data: pd.DataFrame, note: str) -> Table:
        factors = [effect.split(":") for effect in data["effect"]]
        texts = [" × ".join(findings.names.get(name, name) for name in each) for each in factors]
        shown = data.assign(effect=texts).to_dict("records")
        columns = {head: _COLUMNS[head] for head in heads}
        return table_of(shown, name, title, columns, caption=note, data=data)

    fitted, mixed = findings.anova, findings.mixed if findings.incomplete else None
    made: dict[str, Table | Absent] = {}
    if isinstance(fitted, Absent):
        made |= {"anova": fitted, "sphericity": fitted}
    else:
        note = captions.anova(findings, fitted)
        title = f"Repeated-measures ANOVA of {label}"
        made["anova"] = effects("anova", title, heads[:8], fitted.table, note)
        data = fitted.table[["effect", "mauchly_w", "mauchly_p", "eps_gg", "eps_hf"]]
        title, note = f"Sphericity in the ANOVA of {label}", captions.SPHERICITY
        made["sphericity"] = effects("sphericity", title, heads[:1] + heads[8:], data, note)
    if isinstance(mixed, Absent):
        made["mixed_model"] = mixed
    elif mixed:
        title, note = f"Mixed model of {label}, models as random effects", captions.mixed(mixed)
        made["mixed_model"] = effects("mixed_model", title, heads[:4], mixed.table, note)
    return made


def missing_tests(tests: Mapping[str, Table | Absent]) -> list[str]:
    """Why there is no ANOVA or no mixed model, one sentence each."""
    names = {"anova": "ANOVA", "mixed_model": "mixed model"}
    missing = {names[key]: made for key, made in tests.items() if key in names}
    return [f"No {key}: {made.text}." for key, made in missing.items() if isinstance(made, Absent)]


def pairs(findings: ModelFindings, size: int) -> Table:
    """Who beats whom at a size: each pair of learners, or the best of many against the others."""
    learners, ranked = [*findings.design.learners], findings.ranked(size)
    table = findings.pairwise[findings.pairwise["size"] == size]
    compared = findings.pairs_at(size)
    measured = findings.info.unit or findings.info.label
    title = f"{rows(size)} {findings.design.words.dose} rows, differences in {measured}"
    names = [words(label, "", place) for place, label in enumerate(learners)]
    if len(learners) <= MAX_IN_MATRIX:
        ordered = {(p.first, p.second): p.better_first(learners) for p in compared}
        texts = {pair: _verdict(ordered[pair], findings) for pair in ordered}
        lines = []
        for row in names[:-1]:
            cells = [(texts.get((row.text, n.text), ("", "", "none")), n) for n in names[1:]]
            lines.append([row, *(TableCell(*text, n.learners) for text, n in cells)])
        return make_table(f"pairs_{size}", title, [words(""), *names[1:]], lines, data=table)
    best, lines = ranked[0], []
    against = [pair.seen_from(best) for pair in compared if best in (pair.first, pair.second)]
    for pair in sorted(against, key=lambda pair: ranked.index(pair.second)):
        verdict = TableCell(*_verdict(pair.better_first(ranked), findings))
        lines.append([names[learners.index(pair.second)], verdict])
    (mean,) = (mean.mean for mean in findings.means_of(best) if mean.size == size)
    head = f"{best}, best mean" if math.isfinite(mean) else f"{best}; no mean is finite"
    data = table[(table["first"] == best) | (table["second"] == best)]
    return make_table(f"pairs_{size}", title, ["against", head], lines, data=data)


def _verdict(pair: Pair, findings: ModelFindings) -> tuple[str, str, str]:
    """Who beats whom by how much, or that they do not differ: a text, a second line, a kind."""
    if pair.verdict == UNTESTED:
        return "not compared", prose.why_untested(pair), "tie"
    if pair.verdict == IDENTICAL:
        return "identical", f"in all {pair.n} models", "tie"
    if pair.verdict == AHEAD:
        return pair.first, prose.lead_text(pair, findings), "win"
    return "no significant difference", f"{pair.first} {prose.lead_text(pair, findings)}", "tie"


def pairwise(findings: ModelFindings) -> Table | Absent:
    """Paired differences of each pair of learners at each size."""
    table, design, kind = findings.pairwise, findings.design, findings.design.words
    if table.empty:
        return Absent(f"there is only one {kind.treatment}")
    digits = decimals((table["upper"] - table["lower"]) / 2)

    def bounds(row: Row) -> str:
        low, high = number(row["lower"], digits), number(row["upper"], digits)
        return f"[{low}, {high}]" if math.isfinite(row["lower"]) else NONE

    columns: dict[str, Callable[[Row], str]] = {
        "rows": lambda row: rows(row["size"]),
        kind.name: lambda row: f"{row['first']} − {row['second']}",
        "difference": lambda row: number(row["difference"], digits),
        "interval": bounds,
        "t": lambda row: number(row["t"], 2),
        "df": lambda row: number(row["df"], 0),
        "p": lambda row: p_value(row["p_adjusted"]),
    }
    caption = f"{phrases.opening(prose.pair_method(findings))}. "
    caption += "p values are adjusted in the same way."
    caption += " The intervals are Bonferroni-adjusted, since Holm's method has none." * design.holm
    starts = itertools.accumulate(len(findings.pairs_at(size)) for size in design.sizes[:-1])
    data = table.assign(measure=findings.measure, confidence=design.confidence)
    data["adjustment"] = design.adjustment
    title = f"Mean paired differences in {phrases.axis_label(findings.info)} at each {kind.size}"
    made = table_of(table.to_dict("records"), "pairwise", title, columns, 2, data=data)
    return replace(made, caption=caption, rules={*starts})


def thresholds(
    findings: ModelFindings, shown: Sequence[Course] | None = None, alone: bool = True
) -> Table | Absent:
    """Who overtakes whom, and who is ahead where; of all pairs, or of those shown."""
    kind = findings.design.words
    if not findings.courses:
        return Absent(f"two {kind.name} and two {kind.size}s are needed")
    courses = findings.courses if shown is None else shown
    lines = [line for course in courses for line in _course(course, findings.design.learners)]
    notes = [prose.crossing_method(findings, courses, alone), prose.added_sizes(findings)]
    notes.append(f"None: no significant change of the {kind.treatment} ahead.")
    title = f"Who overtakes whom in mean {findings.info.label}, and with how many {kind.dose} rows"
    interval = f"{phrases.level(findings.design.confidence)} interval"
    heads = [kind.treatment, "against", "between", "estimate (rows)", interval]
    heads += ["ahead at", "behind at", "models"]
    caption, data = " ".join(filter(None, notes)), as_table(courses)
    return make_table("thresholds", title, heads, lines, 2, caption=caption, data=data)


def _course(course: Course, learners: Sequence[str]) -> Iterator[list[TableCell]]:
    """The changes of the learner ahead of a pair, or one row that says that there is none."""
    both = [*map(learners.index, (course.first, course.second))]
    for change in course.changes or (None,):
        ahead = change.ahead if change else course.leader or course.first
        behind = course.opponent(ahead)
        between, estimate = "none" if course.analysed else course.note, (NONE, NONE)
        if change:
            between = f"{rows(change.before)}–{rows(change.after)}"
        if change and change.estimated:
            estimate = rows(change.crossing), prose.interval(change)
        sizes = [", ".join(map(rows, course.ahead_at(name))) or NONE for name in (ahead, behind)]
        cells = map(TableCell, (between, *estimate))
        names = words(ahead, "", *both), words(behind)
        yield [*names, *cells, *map(words, sizes), TableCell(f"{course.n:,}")]


def precision(findings: ModelFindings) -> Table:
    """Monte-Carlo standard errors of every mean and every paired difference."""
    errors = findings.precision
    digits = decimals(errors["mcse"])
    columns: dict[str, Callable[[Row], str]] = {
        "rows": lambda row: rows(row["size"]),
        "mean or difference": lambda row: " − ".join(filter(None, (row["first"], row["second"]))),
        "n": lambda row: f"{row['n']:,}",
        "estimate": lambda row: number(row["estimate"], digits),
        "sd": lambda row: number(row["sd"], digits),
        "MCSE": lambda row: number(row["mcse"], digits),
        "error": lambda row: numbers.percent(row["mcse_error"], 0),
    }
    title = f"Precision of means of {phrases.axis_label(findings.info)} and of paired differences"
    made = table_of(errors.to_dict("records"), "precision", title, columns, 2, data=errors)
    rules = {len(findings.means)} - {len(errors)}
    return replace(made, caption=captions.PRECISION, rules=rules)


def standard_errors(findings: ModelFindings) -> Table:
    """Monte-Carlo standard errors of the means, learners by sizes, and the largest of a pair."""
    table, design = findings.precision, findings.design
    digits, largest = decimals(table["mcse"]), "largest of a paired difference"
    named = table.assign(row=table["first"].where(table["kind"] == "mean", largest))
    errors = named.groupby(["row", "size"], sort=False)["mcse"].max()
    cells = {place: TableCell(number(error, digits)) for place, error in errors.items()}
    measure, dose = phrases.with_unit(findings.info), design.words.dose
    title = f"Monte-Carlo standard errors of mean {measure} by {dose} rows"
    labels, sizes = design.learners, design.sizes
    return by_size("precision", title, design.words, labels, sizes, cells, data=table)


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
    every, without = {}, ""
    for at in (*sizes, None) if len(sizes) > 1 else sizes:
        head = "all sizes" if at is None else rows(at)
        if isinstance(ranking := findings.ranks(at), Absent):
            where = f"Over {head}" if at is None else f"At {head} rows"
            without += f" {where} there are no ranks: {ranking.text}."
        else:
            every[head] = ranking
    if not every:
        return Absent(without.strip().removesuffix("."))
    by_learner = [each.table.set_index("learner")["rank"] for each in every.values()]
    lines = [
        [words(label, "", i), *(TableCell(number(ranked[label], 2)) for ranked in by_learner)]
        for i, label in enumerate(learners)
    ]
    facts: dict[str, Callable[[Ranks], str]] = {
        "models": lambda each: f"{each.n:,}",
        "Friedman's χ²": lambda each: number(each.chi2, 2),
        "p": lambda each: p_value(each.p),
        "F": lambda each: number(each.F, 2),
        "p (F)": lambda each: p_value(each.p_F),
        "critical difference": lambda each: number(each.critical_difference, 2),
    }
    for name, fact in facts.items():
        lines.append([words(name), *(TableCell(fact(each)) for each in every.values())])
    keys = ("chi2", "df", "p", "F", "df1", "df2", "p_F", "method", "critical_difference")
    data = pd.concat(
        each.table.assign(size=each.at or "all", **{key: getattr(each, key) for key in keys})
        for each in every.values()
    )
    caption = captions.ranks_table(findings, overall="all sizes" in every) + without
    heads, title = [kind.treatment, *every], f"Average ranks by {findings.info.label}"
    made = make_table("ranks", title, heads, lines, caption=caption, data=data, cut=True)
    return replace(made, rules={len(learners)})
