"""The verdicts on statements under several readings, as one narrow table."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from simstudy.analysis.claims import NOT_DECIDED, NOT_REPRODUCED, REPRODUCED, StatementVerdict
from simstudy.report.html.compare_statements import verdict_kind
from simstudy.report.html.tables import Cell, Table, words_cell
from simstudy.study.readings import Reading

_MARKS = {REPRODUCED: "✓", NOT_REPRODUCED: "✗", NOT_DECIDED: "?"}
Readings = Sequence[tuple[Reading, Sequence[StatementVerdict]]]


def readings_table(readings: Readings) -> Table:
    """One row for each statement, one column for each reading; the first is the page's own."""
    import pandas as pd

    top = [words_cell("statement"), *(_head(*pair) for pair in enumerate(readings, 1))]
    rows: list[tuple[str | None, list[Cell]]] = []
    for found in zip(*(verdicts for _, verdicts in readings), strict=True):
        statement = found[0].statement
        cells = [words_cell(statement.short or statement.text, statement.study)]
        cells += [_cell(one, found[0]) for one in found]
        rows.append((None, cells))
    totals = [Cell(str(_reproduced(verdicts))) for _, verdicts in readings]
    rows.append((None, [words_cell("reproduced", f"of {len(readings[0][1])}"), *totals]))
    lines = [
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
        for reading, verdicts in readings
        for one in verdicts
        for line in one.lines
    ]
    return Table("readings", "Verdicts by reading", top, rows, pd.DataFrame(lines))


def summary(readings: Readings) -> str:
    """How much the verdicts depend on the reading, in words."""
    before = [verdicts for reading, verdicts in readings if not reading.post_hoc]
    after = [verdicts for reading, verdicts in readings if reading.post_hoc]
    columns = zip(*(verdicts for _, verdicts in readings), strict=True)
    same = sum(len({one.verdict for one in found}) == 1 for found in columns)
    many = f"{len(before)} reading{'s' * (len(before) != 1)}"
    said = f"Under {many} of the source, {_range(before)} of {len(before[0])} statements are "
    said += "reproduced"
    if after:
        said += f"; under {len(after)} more, chosen after results had been seen, {_range(after)}"
    alike = "1 statement has" if same == 1 else f"{same} statements have"
    return f"{said}. {alike} the same verdict under all."


def _range(readings: Sequence[Sequence[StatementVerdict]]) -> str:
    """The least and the greatest number of statements reproduced."""
    counts = [*map(_reproduced, readings)]
    least, most = min(counts), max(counts)
    return f"{least}" if least == most else f"{least} to {most}"


def _reproduced(verdicts: Sequence[StatementVerdict]) -> int:
    return sum(found.verdict == REPRODUCED for found in verdicts)


def _head(number: int, given: tuple[Reading, Sequence[StatementVerdict]]) -> Cell:
    """The number of a reading, with its label for those who do not see the list below."""
    reading, _ = given
    text = Markup('<span title="{}">{}{}<span class="away">: {}</span></span>')
    star = "*" if reading.post_hoc else ""
    return Cell(text.format(reading.label, number, star, reading.label))


def _cell(found: StatementVerdict, own: StatementVerdict) -> Cell:
    """A verdict as a mark with its word, and in its tip the lines it comes from."""
    lines = "; ".join(f"{line.claim.text}: {line.verdict}" for line in found.lines)
    text = Markup(
        '<span title="{}"><span aria-hidden="true">{}</span><span class="away">{}</span></span>'
    )
    unlike = " unlike" if found.verdict != own.verdict else ""
    made = text.format(lines, _MARKS[found.verdict], found.verdict)
    return Cell(made, kind=verdict_kind(found.verdict) + unlike)
