"""The tables of several studies: designs, differences, statements, readings, printed values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
from markupsafe import Markup

from simstudy.analysis.claims.evidence import REPRODUCED, VERDICTS
from simstudy.analysis.claims.published import Agreement
from simstudy.analysis.claims.verdict import ModelCheck, StatementVerdict, Verdict
from simstudy.analysis.models.compare_studies import PAIRED, WELCH, clearest_first
from simstudy.analysis.models.findings import ModelFindings
from simstudy.experiments import shared_words
from simstudy.experiments.base import Words
from simstudy.report.prose import claims
from simstudy.report.prose.comparison import changes_method, settings
from simstudy.report.prose.numbers import NONE, fixed, number, p_value, signed
from simstudy.report.prose.pairwise import overtaking
from simstudy.report.prose.phrases import listed, row_ranges
from simstudy.report.tables.table import Row, Table, TableCell, Text, make_table, table_of, words
from simstudy.results.read.open import Results
from simstudy.study.claims import Claim, ModelClaim
from simstudy.study.lists import Published, Reading

MAX_ROWS = 120  # of the table of differences
_KINDS = {verdict: f"verdict {verdict.replace(' ', '-')}" for verdict in VERDICTS}  # of cells


def designs(studies: Mapping[str, Results]) -> Table:
    """Every setting of the studies, those shaded that are not the same in all."""
    each = [settings(results) for results in studies.values()]
    lines = []
    for key in dict.fromkeys(key for study in each for key in study):
        values = [study.get(key, NONE) for study in each]
        kind = "t differs" if len({*values}) > 1 else "t"
        lines.append([TableCell(text, kind=kind) for text in (key, *values)])
    heads = ["setting", *studies]
    return make_table("designs", "Settings of the studies", heads, lines, texts=len(heads))


def changes(
    table: pd.DataFrame, kind: Words, label: str, confidence: float, learners: Sequence[str]
) -> Table:
    """The differences between studies, the clearest first."""
    both = {PAIRED, WELCH} <= {*table["test"]}

    def tested(row: Row, text: str) -> str:
        return text if row["test"] in (PAIRED, WELCH) else ""

    def verdict(row: Row) -> TableCell:
        test = tested(row, f"({row['test']})") if both else ""
        if row["changed"]:
            return TableCell("differs", test, "win")
        return TableCell(tested(row, "not significant") or row["test"], test, "tie")

    columns: dict[str, Callable[[Row], Text]] = {
        kind.treatment: lambda row: words(row["learner"], "", learners.index(row["learner"])),
        "rows": lambda row: f"{row['size']:,}",
        "studies": lambda row: f"{row['first']} → {row['second']}",
        "means": lambda row: f"{number(row['mean_first'])} → {number(row['mean_second'])}",
        "difference": lambda row: signed(row["difference"]),
        "interval": lambda row: tested(row, f"[{signed(row['lower'])}, {signed(row['upper'])}]"),
        "adjusted p": lambda row: tested(row, p_value(row["p_adjusted"])),
        "verdict": verdict,
    }
    caption = changes_method(table, label, confidence)
    caption += " Degrees of freedom and numbers of models are in the file."
    if len(table) > MAX_ROWS:
        caption += f" {len(table) - MAX_ROWS} more, with smaller |t|, are in the file."
    rows = clearest_first(table)[:MAX_ROWS].to_dict("records")
    title = f"Differences in mean {label}"
    return table_of(rows, "between_studies", title, columns, caption=caption, data=table)


def statements(
    verdicts: Sequence[StatementVerdict], studies: Mapping[str, Results], titles: Mapping[str, str]
) -> Table:
    """The statements in words, the study and sizes they are about, the verdict, the intervals."""

    def unit(claim: Claim) -> str:
        results = studies.get(claim.study)
        return results.info(claim.measure or None).unit if results else ""

    def where(judged: StatementVerdict) -> TableCell:
        checks = [check for line in judged.lines for check in line.checks]
        sizes = sorted({check.size for check in checks if isinstance(check, ModelCheck)} - {0})
        return words(titles[judged.statement.study], row_ranges(sizes, sizes) if sizes else "")

    columns: dict[str, Callable[[StatementVerdict], Text]] = {
        "statement": lambda judged: judged.statement.text,
        "where": where,
        "verdict": lambda judged: TableCell(judged.verdict, kind=_KINDS[judged.verdict]),
        "numbers": lambda judged: TableCell(_evidence(judged, unit), kind="numbers"),
    }
    data = pd.DataFrame([row for judged in verdicts for row in _checks(judged)])
    title = "Statements and verdicts"
    return table_of(verdicts, "statements", title, columns, texts=4, data=data)


def _evidence(judged: StatementVerdict, unit: Callable[[Claim], str]) -> Markup:
    """How many intervals bear a statement out; folded away, each of them and the source."""
    claimed = [line.claim for line in judged.lines]
    notes = [f"{source}." for source in dict.fromkeys(c.source for c in claimed if c.source)]
    readings = [*dict.fromkeys(claim.reading for claim in claimed if claim.reading)]
    notes += [f"Read as: {'; '.join(readings)}."] * bool(readings)
    notes += [judged.statement.note] * bool(judged.statement.note)
    parts = [_numbers(line, unit(line.claim), len(judged.lines) > 1) for line in judged.lines]
    parts += [Markup('<p class="from">{}</p>').format(" ".join(notes))] * bool(notes)
    checks = [(line, check) for line in judged.lines for check in line.checks]
    short = [claims.tally([check for _, check in checks])] if len(checks) > 1 else []
    if not short or judged.verdict != REPRODUCED:  # the first interval that decides
        deciding = [pair for pair in checks if pair[0].verdict == pair[1].verdict == judged.verdict]
        short += [claims.numbers(check, unit(line.claim)) for line, check in deciding[:1]]
    folded = Markup("<details><summary>{}</summary>{}</details>")
    return folded.format("; ".join(short), Markup("").join(parts))


def _numbers(verdict: Verdict, unit: str, named: bool) -> Markup:
    """The intervals of a line of a statement as a list, and what they rest on."""
    made = Markup("<b>{}</b>: {} ").format(verdict.claim.text, verdict.verdict) if named else ""
    if named or len(verdict.checks) > 1:
        item, checks = Markup("<li>{} <em>{}</em></li>"), verdict.checks
        items = [item.format(claims.numbers(c, unit), claims.SHORT[c.verdict]) for c in checks]
        made += Markup("<ul>{}</ul>").format(Markup("\n").join(items))
    if bases := [*dict.fromkeys(filter(None, map(claims.basis, verdict.checks)))]:
        made += Markup('<span class="from">{}</span>').format("; ".join(bases))
    return Markup('<div class="line">{}</div>').format(made)


def _checks(judged: StatementVerdict) -> list[dict[str, object]]:
    """One row for each interval, with all digits."""
    rows = []
    start: dict[str, object]
    for line in judged.lines:
        claim = line.claim
        keys = ("id", "study", "text", "source", "reading", "relation", "measure")
        start = {"statement": judged.statement.text, "statement_verdict": judged.verdict}
        start |= {key: getattr(claim, key) for key in keys}
        if isinstance(claim, ModelClaim):
            values = " ".join(f"{value:g}" for value in claim.value or [])
            start |= {"margin": claim.margin, "value": values, "some": claim.some}
        for check in line.checks:
            numbers = {name: getattr(check, name) for name in check.columns}
            rows.append(start | {"verdict": line.verdict, "check": check.verdict} | numbers)
    return rows


def readings(columns: claims.Readings, titles: Mapping[str, str], variants: bool = False) -> Table:
    """One row for each statement, one column for each reading or variant."""
    noun, done = ("finding", "hold") if variants else ("statement", "reproduced")
    heads = [_head(place, reading) for place, (reading, _) in enumerate(columns, 1)]
    lines: list[list[Text]] = []
    for row in zip(*(verdicts for _, verdicts in columns), strict=True):
        statement = row[0].statement
        where = "" if variants else titles[statement.study]
        name = words(statement.short or statement.text, where)
        lines.append([name, *(_mark(judged, row[0]) for judged in row)])
    totals = [str(claims.reproduced(verdicts)) for _, verdicts in columns]
    lines.append([words(done, f"of {len(columns[0][1])}"), *totals])
    rows = []
    for reading, verdicts in columns:
        for judged in verdicts:
            about = reading.label, reading.settings, reading.post_hoc, judged.statement.study
            verdict = judged.statement.text, judged.verdict
            rows += [(*about, *verdict, line.claim.text, line.verdict) for line in judged.lines]
    names = ["reading", "settings", "post_hoc", "study", "statement", "verdict"]
    table = pd.DataFrame(rows, columns=[*names, "line", "line_verdict"])
    title = "Findings by variant" if variants else "Verdicts by reading"
    file = "variants" if variants else "readings"
    return make_table(file, title, [noun, *heads], lines, data=table)


def _head(place: int, reading: Reading) -> TableCell:
    """The number of a reading, with its label for those who do not see the list below."""
    text = Markup('<span title="{0}">{1}<span class="away">: {0}</span></span>')
    return TableCell(text.format(reading.label, f"{place}{'*' * reading.post_hoc}"))


def _mark(judged: StatementVerdict, first: StatementVerdict) -> TableCell:
    """A verdict as a mark with its word, and in its tip the lines it comes from."""
    lines = "; ".join(f"{line.claim.text}: {line.verdict}" for line in judged.lines)
    text = Markup(
        '<span title="{}"><span aria-hidden="true">{}</span><span class="away">{}</span></span>'
    )
    unlike = " unlike" * (judged.verdict != first.verdict)
    made = text.format(lines, claims.MARKS[judged.verdict], judged.verdict)
    return TableCell(made, kind=_KINDS[judged.verdict] + unlike)


def sweep(variants: Mapping[str, ModelFindings]) -> Table:
    """The winner at each size of each variant, and who overtakes whom."""
    sizes = sorted({size for findings in variants.values() for size in findings.design.sizes})
    lines, rows = [], []
    for name, findings in variants.items():
        leading = {each.size: (each.leader, each.contenders[1:]) for each in findings.standings}
        cells = [words(name)]
        for size in sizes:
            best, level = leading.get(size, (NONE, ()))
            cells.append(words(best, f"or {listed(level)}" if level else ""))
            rows.append({"variant": name, "size": size, "best": best, "or": ", ".join(level)})
        changes = [overtaking(c) for course in findings.courses for c in course.changes]
        lines.append([*cells, words("; ".join(changes) or NONE)])
    kind = shared_words([findings.design.words for findings in variants.values()])
    caption = f"The {kind.treatment} with the best mean; below it, those that do not differ "
    caption += "significantly from it."
    title, data = "Winners and thresholds by variant", pd.DataFrame(rows)
    heads = ["variant", *(f"{size:,} rows" for size in sizes), "thresholds"]
    return make_table("sweep", title, heads, lines, len(heads), caption=caption, data=data)


def published(printed: Published, agreement: Agreement) -> Table:
    """Ours and the difference from the printed value, data sets × learners; and their means."""
    rows: list[list[Text]] = []
    for dataset, part in agreement.cells.groupby("dataset", sort=False):
        kinds = ["n beyond" if beyond else "n" for beyond in part["beyond"]]
        values = zip(map(fixed, part["ours"]), map(signed, part["difference"]), kinds, strict=True)
        rows.append([str(dataset), *(TableCell(*value) for value in values)])
    means = map(fixed, agreement.by_learner["mean_absolute_difference"])
    rows.append(["mean absolute difference", *means])
    caption = f"Our mean over splits, and below it ours minus the printed value ({printed.source})"
    caption += f"; shaded: beyond {agreement.tolerance:g}."
    name = f"published_{printed.study}_{printed.measure or 'primary'}"
    title = f"{printed.measure or 'Primary measure'} of {printed.study} beside printed values"
    heads, data = ["data set", *map(str, agreement.by_learner["learner"])], agreement.cells
    return make_table(name, title.capitalize(), heads, rows, caption=caption, data=data, cut=True)
