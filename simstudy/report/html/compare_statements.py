"""The tables of claims with their verdicts, one for each study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from markupsafe import Markup

from simstudy.report.claims import NOT_DECIDED, NOT_REPRODUCED, REPRODUCED, Verdict
from simstudy.report.html.tables import Cell, Table, heads, words_cell

_WORDS = {REPRODUCED: "holds", NOT_REPRODUCED: "contradicted", NOT_DECIDED: "open"}
_FEW = 4  # intervals that are shown without being asked for


def claim_tables(claims: Sequence[Verdict]) -> list[Table]:
    """The claims about each study: in words, the verdict, and the intervals it rests on."""
    studies: dict[str, list[Verdict]] = {}
    for verdict in claims:
        studies.setdefault(verdict.claim.study, []).append(verdict)
    return [_table(study, found) for study, found in studies.items()]


def _table(study: str, found: Sequence[Verdict]) -> Table:
    import pandas as pd

    rows: list[tuple[str | None, list[Cell]]] = []
    for verdict in found:
        claim = verdict.claim
        said = [claim.source] * bool(claim.source)
        said += [f"Read as: {claim.reading}"] * bool(claim.reading)
        kind = f"verdict {verdict.verdict.replace(' ', '-')}"
        cells = [words_cell(claim.text, "".join(f"{part}. " for part in said).strip())]
        cells += [Cell(verdict.verdict, kind=kind), Cell(_numbers(verdict), kind="numbers")]
        rows.append((None, cells))
    top = heads("claim", "verdict", "what the intervals say", kind="t")
    data = pd.DataFrame([line for verdict in found for line in _lines(verdict)])
    return Table(f"claims_{study}", f"Claims about {study}", top, rows, data)


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


def _lines(verdict: Verdict) -> list[dict[str, object]]:
    """One line for each interval, with all digits."""
    claim = verdict.claim
    keys = ("id", "study", "text", "source", "reading", "relation", "measure", "margin")
    said = {key: getattr(claim, key) for key in keys}
    said |= {"value": " ".join(f"{value:g}" for value in claim.value or []), "some": claim.some}
    said |= {"verdict": verdict.verdict}
    return [
        said | {"check" if key == "verdict" else key: value for key, value in asdict(check).items()}
        for check in verdict.checks
    ]
