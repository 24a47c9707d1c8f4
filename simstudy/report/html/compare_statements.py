"""The tables of statements with their verdicts, one for each study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from markupsafe import Markup

from simstudy.analysis.claims import (
    NOT_DECIDED,
    NOT_REPRODUCED,
    REPRODUCED,
    StatementVerdict,
    Verdict,
)
from simstudy.report.html.tables import Cell, Table, heads, words_cell

_WORDS = {REPRODUCED: "holds", NOT_REPRODUCED: "contradicted", NOT_DECIDED: "open"}
_FEW = 4  # intervals that are shown without being asked for


def statement_tables(statements: Sequence[StatementVerdict]) -> list[Table]:
    """The statements about each study: in words, the verdict, and the intervals it rests on."""
    studies: dict[str, list[StatementVerdict]] = {}
    for found in statements:
        studies.setdefault(found.statement.study, []).append(found)
    return [_table(study, found) for study, found in studies.items()]


def verdict_kind(verdict: str) -> str:
    """The class of a cell with a verdict."""
    return f"verdict {verdict.replace(' ', '-')}"


def _table(study: str, found: Sequence[StatementVerdict]) -> Table:
    import pandas as pd

    rows: list[tuple[str | None, list[Cell]]] = []
    for one in found:
        claims = [line.claim for line in one.lines]
        said = [*dict.fromkeys(claim.source for claim in claims if claim.source)]
        readings = [*dict.fromkeys(claim.reading for claim in claims if claim.reading)]
        said += [f"Read as: {'; '.join(readings)}"] * bool(readings)
        more = " ".join([*(f"{part}." for part in said), one.statement.note]).strip()
        cells = [words_cell(one.statement.text, more)]
        cells.append(Cell(one.verdict, kind=verdict_kind(one.verdict)))
        cells.append(Cell(_lines(one), kind="numbers"))
        rows.append((None, cells))
    top = heads("statement", "verdict", "what the intervals say", kind="t")
    data = pd.DataFrame([row for one in found for row in _data(one)])
    return Table(f"statements_{study}", f"Statements about {study}", top, rows, data)


def _lines(found: StatementVerdict) -> Markup:
    """The lines of a statement, each with its verdict if there are several."""
    if len(found.lines) == 1:
        return _numbers(found.lines[0])
    one = Markup('<div class="line"><b>{}</b>: <span class="{}">{}</span> {}</div>')
    return Markup("").join(
        one.format(
            line.claim.text,
            verdict_kind(line.verdict),
            line.verdict,
            _numbers(line),
        )
        for line in found.lines
    )


def _numbers(verdict: Verdict) -> Markup:
    """The intervals as a list, folded away if they are many."""
    checks, several = verdict.checks, len(verdict.checks) > 1
    lines = [
        Markup("<li>{} <em>{}</em></li>").format(check.numbers, _WORDS[check.verdict])
        if several
        else Markup("<li>{}</li>").format(check.numbers)
        for check in checks
    ]
    made = Markup("<ul>{}</ul>").format(Markup("\n").join(lines))
    bases = [*dict.fromkeys(check.basis for check in checks if check.basis)]
    if bases:
        made += Markup(' <span class="from">{}</span>').format("; ".join(bases))
    if len(checks) > _FEW:
        folded = Markup("<details><summary>{}</summary> {}</details>")
        made = folded.format(verdict.tally, made)
    return made


def _data(found: StatementVerdict) -> list[dict[str, object]]:
    """One row for each interval, with all digits."""
    rows = []
    for line in found.lines:
        claim = line.claim
        said: dict[str, object] = {"statement": found.statement.text}
        said |= {"statement_verdict": found.verdict}
        keys = ("id", "study", "text", "source", "reading", "relation", "measure", "margin")
        said |= {key: getattr(claim, key) for key in keys}
        said |= {"value": " ".join(f"{value:g}" for value in claim.value or [])}
        said |= {"some": claim.some, "verdict": line.verdict}
        for check in line.checks:
            values = asdict(check)
            rows.append(said | {"check": values.pop("verdict")} | values)
    return rows
