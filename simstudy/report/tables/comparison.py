"""The tables of several studies: designs, differences, statements and readings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import pandas as pd
from markupsafe import Markup

from simstudy.analysis.claims import StatementVerdict, Verdict
from simstudy.analysis.compare import PAIRED, WELCH, clearest_first
from simstudy.analysis.findings import ModelFindings
from simstudy.analysis.model_claims import ModelCheck
from simstudy.analysis.verdicts import REPRODUCED, VERDICTS
from simstudy.experiments import shared_words
from simstudy.experiments.base import Words
from simstudy.report.prose import claims
from simstudy.report.prose.comparison import changes_method, settings
from simstudy.report.prose.crossings import overtaking
from simstudy.report.prose.numbers import NONE, number, p_value, signed
from simstudy.report.prose.phrases import listed, row_range
from simstudy.report.tables.table import Table, TableCell, make_table, words
from simstudy.results.results import Results
from simstudy.study.claims import Claim, ModelClaim
from simstudy.study.readings import Reading

MAX_ROWS = 120  # of the table of differences
_MARKS = dict(zip(VERDICTS, "✓✗?", strict=True))


def designs(studies: Mapping[str, Results]) -> Table:
    """Every setting of the studies, those shaded that are not the same in all."""
    flat = [settings(found) for found in studies.values()]
    lines = []
    for key in dict.fromkeys(key for one in flat for key in one):
        values = [one.get(key, NONE) for one in flat]
        kind = "t differs" if len({*values}) > 1 else "t"
        lines.append([TableCell(text, kind=kind) for text in (key, *values)])
    heads = ["setting", *studies]
    return make_table("designs", "Settings of the studies", heads, lines, texts=len(heads))


def changes(
    table: pd.DataFrame, kind: Words, label: str, confidence: float, places: Mapping[str, int]
) -> Table:
    """The differences between studies, the clearest first."""
    both = {PAIRED, WELCH} <= {*table["test"]}
    shown = clearest_first(table)[:MAX_ROWS].to_dict("records")
    lines = [_change(row, both, places) for row in shown]
    caption = changes_method(table, label, confidence)
    caption += " Degrees of freedom and numbers of models are in the file."
    if len(table) > MAX_ROWS:
        caption += f" {len(table) - MAX_ROWS} more, with smaller |t|, are in the file."
    heads: list[str | TableCell] = [
        kind.treatment,
        "rows",
        "studies",
        "means",
        "difference",
        "interval",
    ]
    heads += ["adjusted p", words("verdict")]
    title = f"Differences in mean {label}"
    return make_table("between_studies", title, heads, lines, caption=caption, data=table)


def _change(
    row: Mapping[Hashable, Any], name_test: bool, places: Mapping[str, int]
) -> list[str | TableCell]:
    tested = row["test"] in (PAIRED, WELCH)
    verdict = "not significant" if tested else row["test"]
    learners = (places[row["learner"]],) if row["learner"] in places else ()
    return [
        words(str(row["learner"]), "", *learners),
        f"{row['size']:,}",
        f"{row['first']} → {row['second']}",
        f"{number(row['mean_first'])} → {number(row['mean_second'])}",
        signed(row["difference"]),
        f"[{signed(row['lower'])}, {signed(row['upper'])}]" if tested else "",
        p_value(row["p_adjusted"]) if tested else "",
        TableCell(
            "differs" if row["changed"] else verdict,
            f"({row['test']})" if name_test and tested else "",
            "win" if row["changed"] else "tie",
        ),
    ]


def statements(verdicts: Sequence[StatementVerdict], studies: Mapping[str, Results]) -> Table:
    """The statements in words, the study and sizes they are about, the verdict, the intervals."""

    def unit(claim: Claim) -> str:
        known = studies.get(claim.study)
        return known.info(claim.measure or None).unit if known else ""

    heads = ["statement", "where", "verdict", "numbers"]
    lines = [_statement(one, unit) for one in verdicts]
    data = pd.DataFrame([row for one in verdicts for row in _checks(one)])
    return make_table("statements", "Statements and verdicts", heads, lines, texts=4, data=data)


def _statement(one: StatementVerdict, unit: Callable[[Claim], str]) -> list[TableCell]:
    checks = [check for line in one.lines for check in line.checks]
    sizes = sorted({check.size for check in checks if isinstance(check, ModelCheck) and check.size})
    where = words(one.statement.study, row_range(sizes) if sizes else "")
    verdict = TableCell(one.verdict, kind=_kind(one.verdict))
    return [
        words(one.statement.text),
        where,
        verdict,
        TableCell(_evidence(one, unit), kind="numbers"),
    ]


def _kind(verdict: str) -> str:
    """The class of a cell with a verdict."""
    return f"verdict {verdict.replace(' ', '-')}"


def _evidence(one: StatementVerdict, unit: Callable[[Claim], str]) -> Markup:
    """How many intervals bear a statement out; folded away, each of them and the source."""
    claimed = [line.claim for line in one.lines]
    notes = [f"{source}." for source in dict.fromkeys(c.source for c in claimed if c.source)]
    readings = [*dict.fromkeys(claim.reading for claim in claimed if claim.reading)]
    notes += [f"Read as: {'; '.join(readings)}."] * bool(readings)
    notes += [one.statement.note] * bool(one.statement.note)
    parts = [_numbers(line, unit(line.claim), len(one.lines) > 1) for line in one.lines]
    parts += [Markup('<p class="from">{}</p>').format(" ".join(notes))] * bool(notes)
    checks = [check for line in one.lines for check in line.checks]
    short = [claims.tally(checks)] if len(checks) > 1 else []
    if not short or one.verdict != REPRODUCED:  # the first interval that decides
        short += [
            claims.numbers(check, unit(line.claim))
            for line in one.lines
            for check in line.checks
            if line.verdict == check.verdict == one.verdict
        ][:1]
    folded = Markup("<details><summary>{}</summary>{}</details>")
    return folded.format("; ".join(short), Markup("").join(parts))


def _numbers(verdict: Verdict, unit: str, named: bool) -> Markup:
    """The intervals of a line of a statement as a list, and what they rest on."""
    made = Markup("<b>{}</b>: {} ").format(verdict.claim.text, verdict.verdict) if named else ""
    if named or len(verdict.checks) > 1:
        text = Markup("<li>{} <em>{}</em></li>")
        given = [(claims.numbers(one, unit), claims.SHORT[one.verdict]) for one in verdict.checks]
        lines = Markup("\n").join(text.format(*one) for one in given)
        made += Markup("<ul>{}</ul>").format(lines)
    if bases := [*dict.fromkeys(filter(None, map(claims.basis, verdict.checks)))]:
        made += Markup('<span class="from">{}</span>').format("; ".join(bases))
    return Markup('<div class="line">{}</div>').format(made)


def _checks(one: StatementVerdict) -> list[dict[str, object]]:
    """One row for each interval, with all digits."""
    rows = []
    for line in one.lines:
        claim = line.claim
        start: dict[str, object] = {
            "statement": one.statement.text,
            "statement_verdict": one.verdict,
        }
        keys = ("id", "study", "text", "source", "reading", "relation", "measure")
        start |= {key: getattr(claim, key) for key in keys}
        if isinstance(claim, ModelClaim):
            start |= {"margin": claim.margin}
            start |= {"value": " ".join(f"{value:g}" for value in claim.value or [])}
            start |= {"some": claim.some}
        start |= {"verdict": line.verdict}
        for check in line.checks:
            values = {name: getattr(check, name) for name in check.columns}
            rows.append({**start, "check": check.verdict, **values})
    return rows


def readings(given: claims.Readings, variants: bool = False) -> Table:
    """One row for each statement, one column for each reading or variant."""
    what = "finding" if variants else "statement"
    heads = [words(what), *(_head(place, one) for place, (one, _) in enumerate(given, 1))]
    lines: list[list[str | TableCell]] = []
    for found in zip(*(verdicts for _, verdicts in given), strict=True):
        statement = found[0].statement
        cells = [_mark(one, found[0]) for one in found]
        study = "" if variants else statement.study
        lines.append([words(statement.short or statement.text, study), *cells])
    totals = [str(claims.reproduced(verdicts)) for _, verdicts in given]
    done = "hold" if variants else "reproduced"
    lines.append([words(done, f"of {len(given[0][1])}"), *totals])
    data = pd.DataFrame(
        {
            "reading": reading.label,
            "settings": reading.settings,
            "post_hoc": reading.post_hoc,
            "study": one.statement.study,
            "statement": one.statement.text,
            "verdict": one.verdict,
            "line": line.claim.text,
            "line_verdict": line.verdict,
        }
        for reading, verdicts in given
        for one in verdicts
        for line in one.lines
    )
    title = "Findings by variant" if variants else "Verdicts by reading"
    return make_table("variants" if variants else "readings", title, heads, lines, data=data)


def sweep(found: Mapping[str, ModelFindings]) -> Table:
    """The winner at each size of each variant, and who overtakes whom."""
    sizes = sorted({size for one in found.values() for size in one.design.sizes})
    heads: list[str | TableCell] = [
        words("variant"),
        *(words(f"{size:,} rows") for size in sizes),
        words("thresholds"),
    ]
    lines: list[list[str | TableCell]] = []
    rows: list[dict[str, object]] = []
    for name, one in found.items():
        best = {standing.size: standing for standing in one.standings}
        cells: list[str | TableCell] = [words(name)]
        for size in sizes:
            standing = best.get(size)
            others = [*standing.contenders][1:] if standing else []
            leader = standing.leader if standing else NONE
            cells.append(words(leader, f"or {listed(others)}" if others else ""))
            told = {"variant": name, "size": size, "best": leader, "or": ", ".join(others)}
            rows.append({**told})
        changes = [change for course in one.courses for change in course.changes]
        told_so = [overtaking(change) for change in changes]
        lines.append([*cells, words("; ".join(told_so) or NONE)])
    title = "Winners and thresholds by variant"
    kind = shared_words([one.design.words for one in found.values()])
    caption = (
        f"The {kind.treatment} with the best mean; below it, those that do not differ "
        "significantly from it."
    )
    data = pd.DataFrame(rows)
    return make_table("sweep", title, heads, lines, texts=len(heads), caption=caption, data=data)


def _head(place: int, reading: Reading) -> TableCell:
    """The number of a reading, with its label for those who do not see the list below."""
    text = Markup('<span title="{}">{}{}<span class="away">: {}</span></span>')
    star = "*" if reading.post_hoc else ""
    return TableCell(text.format(reading.label, place, star, reading.label))


def _mark(one: StatementVerdict, own: StatementVerdict) -> TableCell:
    """A verdict as a mark with its word, and in its tip the lines it comes from."""
    lines = "; ".join(f"{line.claim.text}: {line.verdict}" for line in one.lines)
    text = Markup(
        '<span title="{}"><span aria-hidden="true">{}</span><span class="away">{}</span></span>'
    )
    unlike = " unlike" * (one.verdict != own.verdict)
    made = text.format(lines, _MARKS[one.verdict], one.verdict)
    return TableCell(made, kind=_kind(one.verdict) + unlike)
