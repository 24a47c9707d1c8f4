"""The tables of several studies: designs, differences, statements and readings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import pandas as pd
from markupsafe import Markup

from simstudy.analysis.claims import VERDICTS, StatementVerdict, Verdict
from simstudy.analysis.compare import PAIRED, WELCH
from simstudy.report.prose import claims
from simstudy.report.prose.comparison import changes_method, settings
from simstudy.report.prose.numbers import NONE, number, p_value, signed
from simstudy.report.tables.table import Cell, Table, make_table, words
from simstudy.results.results import Results
from simstudy.study.readings import Reading

MAX_ROWS = 120  # of the table of differences
_FEW = 4  # intervals that are not folded away
_MARKS = dict(zip(VERDICTS, "✓✗?", strict=True))


def designs(studies: Mapping[str, Results]) -> Table:
    """Every setting of the studies, those shaded that are not the same in all."""
    flat = [settings(found) for found in studies.values()]
    lines = []
    for key in dict.fromkeys(key for one in flat for key in one):
        values = [one.get(key, NONE) for one in flat]
        kind = "t differs" if len({*values}) > 1 else "t"
        lines.append([Cell(text, kind=kind) for text in (key, *values)])
    heads = ["setting", *studies]
    return make_table("designs", "Settings of the studies", heads, lines, texts=len(heads))


def changes(table: pd.DataFrame, label: str, confidence: float, places: Mapping[str, int]) -> Table:
    """The differences between studies, the clearest first."""
    order = table["t"].abs().fillna(-1.0).sort_values(ascending=False, kind="stable").index
    both = {PAIRED, WELCH} <= {*table["test"]}
    lines = [_change(row, both, places) for row in table.loc[order[:MAX_ROWS]].to_dict("records")]
    caption = changes_method(table, label, confidence)
    if len(table) > MAX_ROWS:
        caption += f" {len(table) - MAX_ROWS} more, with smaller |t|, are in the file."
    heads: list[str | Cell] = ["learner", "rows", "studies", "means", "difference", "interval"]
    heads += ["df", "adjusted p", "models", words("verdict")]
    title = f"Differences in mean {label}"
    return make_table("between_studies", title, heads, lines, caption=caption, data=table)


def _change(row: dict[Any, Any], name_test: bool, places: Mapping[str, int]) -> list[str | Cell]:
    tested = row["test"] in (PAIRED, WELCH)
    verdict = "no significant difference" if tested else row["test"]
    counts = f"{row['n_first']}" + f", {row['n_second']}" * (row["n_first"] != row["n_second"])
    learners = (places[row["learner"]],) if row["learner"] in places else ()
    return [
        words(str(row["learner"]), "", *learners),
        f"{row['size']:,}",
        f"{row['first']} → {row['second']}",
        f"{number(row['mean_first'])} → {number(row['mean_second'])}",
        signed(row["difference"]),
        f"[{signed(row['lower'])}, {signed(row['upper'])}]" if tested else "",
        number(row["df"], 1).removesuffix(".0") if tested else "",
        p_value(row["p_adjusted"]) if tested else "",
        counts,
        Cell(
            "differs" if row["changed"] else verdict,
            f"({row['test']})" if name_test and tested else "",
            "win" if row["changed"] else "tie",
        ),
    ]


def statements(verdicts: Sequence[StatementVerdict]) -> list[Table]:
    """For each study its statements: in words, the verdict, and the intervals it rests on."""
    studies: dict[str, list[StatementVerdict]] = {}
    for one in verdicts:
        studies.setdefault(one.statement.study, []).append(one)
    heads = ["statement", "verdict", "what the intervals say"]
    tables = []
    for study, found in studies.items():
        name, title = f"statements_{study}", f"Statements about {study}"
        lines = map(_statement, found)
        data = pd.DataFrame([row for one in found for row in _checks(one)])
        tables.append(make_table(name, title, heads, lines, texts=3, data=data))
    return tables


def _statement(one: StatementVerdict) -> list[Cell]:
    claimed = [line.claim for line in one.lines]
    notes = [*dict.fromkeys(claim.source for claim in claimed if claim.source)]
    readings = [*dict.fromkeys(claim.reading for claim in claimed if claim.reading)]
    notes += [f"Read as: {'; '.join(readings)}"] * bool(readings)
    more = " ".join([*(f"{note}." for note in notes), one.statement.note]).strip()
    numbers = _lines(one) if len(one.lines) > 1 else _numbers(one.lines[0])
    verdict = Cell(one.verdict, kind=_kind(one.verdict))
    return [words(one.statement.text, more), verdict, Cell(numbers, kind="numbers")]


def _kind(verdict: str) -> str:
    """The class of a cell with a verdict."""
    return f"verdict {verdict.replace(' ', '-')}"


def _lines(one: StatementVerdict) -> Markup:
    """The lines of a statement, each with its verdict."""
    text = Markup('<div class="line"><b>{}</b>: <span class="{}">{}</span> {}</div>')
    return Markup("").join(
        text.format(line.claim.text, _kind(line.verdict), line.verdict, _numbers(line))
        for line in one.lines
    )


def _numbers(verdict: Verdict) -> Markup:
    """The intervals as a list, folded away if they are many."""
    checks = verdict.checks
    several = Markup("<li>{} <em>{}</em></li>")
    text = several if len(checks) > 1 else Markup("<li>{}</li>")
    lines = [text.format(claims.numbers(one), claims.SHORT[one.verdict]) for one in checks]
    made = Markup("<ul>{}</ul>").format(Markup("\n").join(lines))
    if bases := [*dict.fromkeys(filter(None, map(claims.basis, checks)))]:
        made += Markup(' <span class="from">{}</span>').format("; ".join(bases))
    if len(checks) > _FEW:
        folded = Markup("<details><summary>{}</summary> {}</details>")
        made = folded.format(claims.tally(verdict), made)
    return made


def _checks(one: StatementVerdict) -> list[dict[str, object]]:
    """One row for each interval, with all digits."""
    rows = []
    for line in one.lines:
        claim = line.claim
        start: dict[str, object] = {
            "statement": one.statement.text,
            "statement_verdict": one.verdict,
        }
        keys = ("id", "study", "text", "source", "reading", "relation", "measure", "margin")
        start |= {key: getattr(claim, key) for key in keys}
        start |= {"value": " ".join(f"{value:g}" for value in claim.value or [])}
        start |= {"some": claim.some, "verdict": line.verdict}
        for check in line.checks:
            values = asdict(check)
            rows.append({**start, "check": values.pop("verdict"), **values})
    return rows


def readings(given: claims.Readings, variants: bool = False) -> Table:
    """One row for each statement, one column for each reading or variant."""
    what = "finding" if variants else "statement"
    heads = [words(what), *(_head(place, one) for place, (one, _) in enumerate(given, 1))]
    lines: list[list[str | Cell]] = []
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


def _head(place: int, reading: Reading) -> Cell:
    """The number of a reading, with its label for those who do not see the list below."""
    text = Markup('<span title="{}">{}{}<span class="away">: {}</span></span>')
    star = "*" if reading.post_hoc else ""
    return Cell(text.format(reading.label, place, star, reading.label))


def _mark(one: StatementVerdict, own: StatementVerdict) -> Cell:
    """A verdict as a mark with its word, and in its tip the lines it comes from."""
    lines = "; ".join(f"{line.claim.text}: {line.verdict}" for line in one.lines)
    text = Markup(
        '<span title="{}"><span aria-hidden="true">{}</span><span class="away">{}</span></span>'
    )
    unlike = " unlike" * (one.verdict != own.verdict)
    made = text.format(lines, _MARKS[one.verdict], one.verdict)
    return Cell(made, kind=_kind(one.verdict) + unlike)
