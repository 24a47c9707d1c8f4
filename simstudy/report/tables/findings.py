"""The tables of one measure, each built once from its findings; Absent says why one is not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from simstudy.analysis.findings import Absent, Findings
from simstudy.analysis.standings import AHEAD, IDENTICAL, UNTESTED, Pair
from simstudy.analysis.thresholds import Course, as_table
from simstudy.report.prose import captions, crossings
from simstudy.report.prose.numbers import NONE, number, p_value, rows, share, signed
from simstudy.report.prose.phrases import axis_label, level, opening
from simstudy.report.prose.verdicts import pair_method, why_untested
from simstudy.report.tables.table import Cell, Table, make_table, words

MAX_IN_MATRIX = 8  # learners whose pairs are all shown
_MIN_DECIMALS, _MAX_DECIMALS = 4, 6
_MANY_SIZES, _FEW_LEARNERS = 5, 5  # with more sizes and no more learners, sizes are the rows


def decimals(widths: Iterable[float]) -> int:
    """As many decimals as show two digits of the narrowest interval, from 4 to 6."""
    known = [width for width in widths if 0 < width < math.inf]
    needed = 1 - math.floor(math.log10(min(known))) if known else 0
    return min(max(needed, _MIN_DECIMALS), _MAX_DECIMALS)


def means(findings: Findings) -> Table:
    """Means with their intervals, the best of each size marked, learners by sizes."""
    design, found = findings.design, findings.means
    digits = decimals(mean.half_width for mean in found)
    marks = _marks(findings)
    turned = len(design.sizes) > _MANY_SIZES and len(design.learners) <= _FEW_LEARNERS
    numbers = {label: place for place, label in enumerate(design.learners)}
    cells = {
        (mean.learner, mean.size): Cell(
            number(mean.mean, digits),
            f"± {number(mean.half_width, digits)}" if mean.has_interval else "",
            learners=(numbers[mean.learner],) if turned else (),
            bold=marks.get((mean.learner, mean.size)) == "best",
            dagger=marks.get((mean.learner, mean.size)) == "level",
        )
        for mean in found
    }
    names = [words(label, "", place) for label, place in numbers.items()]
    if turned:
        heads: list[str | Cell] = ["training rows", *(Cell(n.text, "", "n", n.learners) for n in names)]
        lines = [[rows(at), *(cells[label, at] for label in numbers)] for at in design.sizes]
    else:
        heads = ["learner", *map(rows, design.sizes)]
        lines = [[n, *(cells[n.text, at] for at in design.sizes)] for n in names]
    caption = f"{opening(captions.half_widths(findings))}."
    if marks:
        caption += (
            " Bold: the best mean at each size; †: not significantly different from it "
            f"({pair_method(findings)}; α = {findings.alpha:.10g})."
        )
    keys = [(mean.learner, mean.size) for mean in found]
    data = findings.intervals.assign(
        measure=findings.measure,
        confidence=design.confidence,
        best=[marks.get(key) == "best" for key in keys],
        not_different_from_best=[marks.get(key) == "level" for key in keys],
    )
    title = f"Mean {axis_label(findings.info)} by learner and training rows"
    return make_table("means", title, heads, lines, caption=caption, data=data, cut=True)


def _marks(findings: Findings) -> dict[tuple[str, int], str]:
    """The cells with the "best" mean at a size, and those "level" with it by the tests."""
    marks: dict[tuple[str, int], str] = {}
    for standing in findings.standings if len(findings.design.learners) > 1 else ():
        marks[standing.leader, standing.size] = "best"
        level_with = (*standing.level, *standing.identical)
        marks |= {(pair.second, standing.size): "level" for pair in level_with}
    return marks


def _effect(row: dict[Any, Any]) -> str:
    return str(row["effect"]).replace(":", " × ")


def anova(findings: Findings) -> Table | Absent:
    """The tests of the analysis of variance."""
    if isinstance(found := findings.anova, Absent):
        return found
    lines = [
        [
            _effect(row),
            f"{row['df1']:,}, {row['df2']:,}",
            number(row["F"], 2),
            *(p_value(row[key]) for key in ("p", "p_gg", "p_hf")),
            *(number(row[key], 3) for key in ("eta2_generalized", "eta2_partial")),
        ]
        for row in found.table.to_dict("records")
    ]
    heads = ["effect", "df", "F", "p", "p (G–G)", "p (H–F)", "η²G", "η²p"]
    title = f"Repeated-measures ANOVA of {findings.info.label}"
    caption = captions.anova(found.subjects, findings.design.models)
    caption = f"{caption} {captions.left_out(found.left_out)}".strip()
    return make_table("anova", title, heads, lines, caption=caption, data=found.table)


def sphericity(findings: Findings) -> Table | Absent:
    """How far the analysis of variance is from sphericity."""
    if isinstance(found := findings.anova, Absent):
        return found
    keys = ["effect", "mauchly_w", "mauchly_p", "eps_gg", "eps_hf"]
    lines = [
        [
            _effect(row),
            share(row["mauchly_w"]),
            p_value(row["mauchly_p"]),
            *(number(row[key], 3) for key in ("eps_gg", "eps_hf")),
        ]
        for row in found.table.to_dict("records")
    ]
    heads = ["effect", "Mauchly's W", "p (W)", "ε G–G", "ε H–F"]
    title = f"Sphericity in the ANOVA of {findings.info.label}"
    more = {"caption": captions.sphericity(), "data": found.table[keys]}
    return make_table("sphericity", title, heads, lines, **more)


def mixed(findings: Findings) -> Table | Absent:
    """The same effects by a mixed model of all cells there are."""
    if isinstance(found := findings.mixed, Absent):
        return found
    lines = [
        [_effect(row), f"{row['df1']:,}, {row['df2']:,.1f}", number(row["F"], 2), p_value(row["p"])]
        for row in found.table.to_dict("records")
    ]
    title = f"Mixed model of {findings.info.label}, models as random effects"
    more = {"caption": captions.mixed(found), "data": found.table}
    return make_table("mixed_model", title, ["effect", "df", "F", "p"], lines, **more)


def pairs(findings: Findings, size: int) -> Table:
    """Who beats whom at a size: every two learners, or the best of many against the others."""
    learners, ranked = list(findings.design.learners), findings.ranked(size)
    found, table = findings.pairs_at(size), findings.pairwise
    table = table[table["size"] == size]
    holm, title = findings.design.holm, f"{rows(size)} training rows"
    if len(learners) <= MAX_IN_MATRIX:
        verdicts = {(p.first, p.second): _verdict(p.better_first(learners), holm) for p in found}
        heads = [words(""), *(words(label, "", i) for i, label in enumerate(learners) if i)]
        lines = []
        for index, first in enumerate(learners[:-1]):
            line = [words(first, "", index)]
            for other, second in enumerate(learners[1:], start=1):
                text, more, kind = verdicts.get((first, second), ("", "", "none"))
                line.append(Cell(text, more, kind, (other,)))
            lines.append(line)
        return make_table(f"pairs_{size}", title, heads, lines, data=table)
    best = ranked[0]
    against = [pair.seen_from(best) for pair in found if best in (pair.first, pair.second)]
    against.sort(key=lambda pair: ranked.index(pair.second))
    lines = [
        [
            words(pair.second, "", learners.index(pair.second)),
            Cell(*_verdict(pair.better_first(ranked), holm)),
        ]
        for pair in against
    ]
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


def pairwise(findings: Findings) -> Table | Absent:
    """Paired differences of every two learners at each size."""
    found, design = findings.pairwise, findings.design
    if found.empty:
        return Absent("there is one learner only")
    digits = decimals((found["upper"] - found["lower"]) / 2)
    lines = []
    for row in found.to_dict("records"):
        limits = f"[{number(row['lower'], digits)}, {number(row['upper'], digits)}]"
        lines.append(
            [
                rows(row["size"]),
                f"{row['first']} − {row['second']}",
                number(row["difference"], digits),
                limits if math.isfinite(row["lower"]) else NONE,
                number(row["t"], 2),
                number(row["df"], 0),
                p_value(row["p_adjusted"]),
            ]
        )
    caption = f"{opening(pair_method(findings))}. p is adjusted likewise."
    caption += " The intervals are Bonferroni's: Holm's method has none." * design.holm
    starts = itertools.accumulate(len(findings.pairs_at(size)) for size in design.sizes[:-1])
    given = {"measure": findings.measure, "confidence": design.confidence}
    return make_table(
        "pairwise",
        f"Mean paired differences in {axis_label(findings.info)} at each training size",
        ["rows", "learners", "difference", "interval", "t", "df", "p"],
        lines,
        texts=2,
        caption=caption,
        data=found.assign(**given, adjustment=design.adjustment),
        rules={*starts},
    )


def thresholds(findings: Findings, shown: Sequence[Course] | None = None) -> Table | Absent:
    """Who overtakes whom, and who is ahead where; of all pairs, or of those shown."""
    if not findings.courses:
        return Absent("two learners and two training sizes are needed")
    courses = findings.courses if shown is None else shown
    places = {label: place for place, label in enumerate(findings.design.learners)}
    lines = [[*line] for course in courses for line in _course(course, places)]
    caption = [crossings.method(findings, courses), crossings.added_sizes(findings)]
    caption.append("None: no change of the learner ahead is shown.")
    return make_table(
        "thresholds",
        f"Who overtakes whom in mean {findings.info.label}",
        [
            *("ahead", "behind", "between", "estimate (rows)"),
            *(f"{level(findings.design.confidence)} interval", "ahead at", "behind at", "models"),
        ],
        lines,
        texts=2,
        caption=" ".join(part for part in caption if part),
        data=as_table(courses),
    )


def _course(course: Course, places: dict[str, int]) -> Iterator[list[str | Cell]]:
    """The changes of the learner ahead of a pair, or one row that says that there is none."""
    why = course.note if not course.analysed else "none shown" if course.leader is None else "none"
    ahead = course.first if course.leader is None else course.leader
    both = (places[course.first], places[course.second])
    for change in course.changes or (None,):
        one = ahead if change is None else change.ahead
        other = course.other(one)
        line: list[str | Cell] = [words(one, "", *both), words(other)]
        line.append(why if change is None else f"{rows(change.before)}–{rows(change.after)}")
        known = change is not None and change.estimated
        line += [rows(change.crossing), crossings.interval(change)] if known else [NONE, NONE]
        for learner in (one, other):
            line.append(words(", ".join(map(rows, course.ahead_at(learner))) or NONE))
        yield [*line, f"{course.n:,}"]


def precision(findings: Findings) -> Table:
    """Monte-Carlo standard errors of every mean and every paired difference."""
    found = findings.precision
    digits = decimals(found["mcse"])
    lines = [
        [
            rows(row["size"]),
            row["first"] + (f" − {row['second']}" if row["second"] else ""),
            f"{row['n']:,}",
            *(number(row[key], digits) for key in ("estimate", "sd", "mcse")),
            NONE if math.isnan(row["mcse_error"]) else f"{100 * row['mcse_error']:.0f}%",
        ]
        for row in found.to_dict("records")
    ]
    heads = ["rows", "mean or difference", "n", "estimate", "sd", "MCSE", "error"]
    title = f"Precision of means of {axis_label(findings.info)} and of paired differences"
    only_means = len(found) == len(findings.means)
    rules = set[int]() if only_means else {len(findings.means)}
    more = {"caption": captions.PRECISION, "data": found, "rules": rules}
    return make_table("precision", title, heads, lines, texts=2, **more)


def standard_errors(findings: Findings) -> Table:
    """Monte-Carlo standard errors of the means, learners by sizes, and the largest of a pair."""
    found, design = findings.precision, findings.design
    digits = decimals(found["mcse"])
    of_means = found[found["kind"] == "mean"].set_index(["first", "size"])["mcse"]
    lines: list[list[str | Cell]] = [
        [words(label, "", i), *(number(of_means[label, at], digits) for at in design.sizes)]
        for i, label in enumerate(design.learners)
    ]
    largest = found[found["kind"] == "difference"].groupby("size")["mcse"].max()
    if len(largest):
        each = [number(largest[at], digits) for at in design.sizes]
        lines.append(["largest of a paired difference", *each])
    unit = f" ({findings.info.unit})" if findings.info.unit else ""
    title = f"Monte-Carlo standard errors of mean {findings.info.label}{unit} by training rows"
    more = {"data": found, "rules": {len(design.learners)}, "cut": True}
    return make_table("precision", title, ["learner", *map(rows, design.sizes)], lines, **more)


def models_needed(findings: Findings) -> Table | Absent:
    """How many models would reach a few round standard errors."""
    if not (needed := findings.models_needed):
        return Absent("no standard error is known")
    lines = [
        [f"{target:g}", *(NONE if count is None else f"{count:,}" for count in counts)]
        for target, *counts in needed
    ]
    heads = ["for a standard error of", "of every mean", "of every paired difference"]
    return make_table("models_needed", "Models needed", heads, lines)


def ranks(findings: Findings) -> Table | Absent:
    """Average ranks at each size and over all, with Friedman's test."""
    import pandas as pd

    learners, sizes = findings.design.learners, findings.design.sizes
    if len(learners) < 2:
        return Absent("at least two learners are needed")
    found, without = [], ""
    for at in (*sizes, None) if len(sizes) > 1 else sizes:
        if isinstance(one := findings.ranks(at), Absent):
            where = "Over all sizes" if at is None else f"At {rows(at)} rows"
            without += f" {where} there are no ranks: {one.reason}."
        else:
            found.append(one)
    if not found:
        return Absent(without.strip().removesuffix("."))
    heads = ["learner", *("all sizes" if one.at is None else rows(one.at) for one in found)]
    by_learner = [one.table.set_index("learner")["rank"] for one in found]
    lines: list[list[str | Cell]] = [
        [words(label, "", i), *(f"{ranked[label]:.2f}" for ranked in by_learner)]
        for i, label in enumerate(learners)
    ]
    lines += [
        ["models", *(f"{one.n:,}" for one in found)],
        ["Friedman's χ²", *(number(one.chi2, 2) for one in found)],
        ["p", *(p_value(one.p) for one in found)],
        ["F", *(number(one.F, 2) for one in found)],
        ["p (F)", *(p_value(one.p_F) for one in found)],
        ["critical difference", *(f"{one.critical_difference:.2f}" for one in found)],
    ]
    keys = ("chi2", "df", "p", "F", "df1", "df2", "p_F", "critical_difference")
    data = pd.concat(
        one.table.assign(
            size="all" if one.at is None else one.at, **{key: getattr(one, key) for key in keys}
        )
        for one in found
    )
    title = f"Average ranks by {findings.info.label}"
    caption = captions.ranks_table(findings, overall=found[-1].at is None) + without
    more = {"caption": caption, "data": data, "cut": True, "rules": {len(learners)}}
    return make_table("ranks", title, heads, lines, **more)
