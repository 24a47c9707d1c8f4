"""Verdicts on claims and statements, and the agreement with printed values, in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from simstudy.analysis.claims.datasets import DataCheck
from simstudy.analysis.claims.evidence import NOT_REPRODUCED, REPRODUCED, VERDICTS, Check
from simstudy.analysis.claims.published import Agreement
from simstudy.analysis.claims.verdict import ModelCheck, StatementVerdict, Verdict
from simstudy.experiments.base import Words
from simstudy.report.prose.numbers import estimated, fixed, p_value, plus, signed
from simstudy.report.prose.phrases import count_range, grouped, listed, opening
from simstudy.study.claims import ModelClaim
from simstudy.study.lists import Published, Reading
from simstudy.texts import counted

Readings = Sequence[tuple[Reading, Sequence[StatementVerdict]]]
MAX_NAMED = 8  # data sets
MAX_CHIPS = 9  # statements named on a panel
MARKS = dict(zip(VERDICTS, "✓✗?", strict=True))
SHORT = dict(zip(VERDICTS, ("holds", "contradicted", "open"), strict=True))


def numbers(check: Check, unit: str = "") -> str:
    """What was estimated, with its interval or test, or why there is none."""
    if isinstance(check, DataCheck):
        return _on_sets(check)
    assert isinstance(check, ModelCheck)
    about = f"{check.first} over {check.second}" if check.second else f"mean of {check.first}"
    estimate = estimated(check.estimate, check.lower, check.upper, check.p, unit)
    return f"{about} at {check.size:,} rows: {check.reason or estimate}"


def _on_sets(check: DataCheck) -> str:
    """What was found on data sets, with its test."""
    pair, parts = check.first, []
    by = f" by {check.measure}" if check.measure and check.measure != check.first else ""
    if check.second:
        pair += f" over {check.second}" if by else f" and {check.second}"
    if not math.isnan(check.estimate):
        difference = f"mean difference {signed(check.estimate)}"
        correlation = f"mean correlation {estimated(check.estimate, check.lower, check.upper)}"
        parts.append(difference if math.isnan(check.lower) else correlation)
    if check.wins >= 0:
        parts.append(f"win–draw–loss {check.wins}–{check.draws}–{check.losses}")
        if check.naive:
            naive = "–".join(map(str, check.naive))
            parts[-1] += f" ({naive} by the naive paired t test, which is too optimistic)"
    if not math.isnan(check.p):
        parts.append(p_value(check.p, "adjusted p" if check.m > 1 else "p"))
    if check.named:
        more = len(check.named) - MAX_NAMED
        rest = [counted(more, "other")] * (more > 0)
        parts.append(f"on {listed([*check.named[:MAX_NAMED], *rest])}")
    parts += [check.reason] * bool(check.reason)
    where = f" on {check.dataset}" if check.dataset else ""
    return f"{pair}{where}{by}: {'; '.join(parts)}"


def basis(check: Check) -> str:
    """What the interval or test rests on."""
    if isinstance(check, DataCheck):
        over = "splits" if check.dataset else "data sets"
        return f"{check.test}, {check.n} {over}, m = {check.m}" if check.test else ""
    return "" if check.reason else f"{check.n} models, m = {check.m}"


def tally(checks: Sequence[Check]) -> str:
    """How many of the intervals or tests bear a statement out, contradict it, or leave it open."""
    counts = Counter(check.verdict for check in checks)
    names = zip(VERDICTS, ("hold", "contradicted", "open"), strict=True)
    parts = [f"{counts[kind]} {word}" for kind, word in names if counts[kind]]
    tested = any(isinstance(check, DataCheck) or not math.isnan(check.p) for check in checks)
    noun = "findings" if tested else "intervals"
    return f"of {len(checks)} {noun}, {', '.join(parts)}"


def counts(statements: Sequence[StatementVerdict]) -> str:
    """How many statements there are of each verdict."""
    numbers = Counter(judged.verdict for judged in statements)
    each = [f"{numbers[kind]} {'is' if numbers[kind] == 1 else 'are'} {kind}" for kind in VERDICTS]
    return f"Of {counted(len(statements), 'statement')} about these studies, {listed(each)}."


def not_reproduced(
    statements: Sequence[StatementVerdict], titles: Mapping[str, str] | None = None
) -> list[str]:
    """What is not reproduced, and which of several lines contradict it."""
    failed = [judged for judged in statements if judged.verdict == NOT_REPRODUCED]
    each = [[_contradicted(line) for line in judged.contradicted] for judged in failed]
    lines = [["; ".join(texts)] * bool(texts) for texts in each]
    names = [judged.statement.study for judged in failed]
    studies = [titles[name] for name in names] if titles else names
    return [
        f"Not reproduced: {judged.statement.text} "
        f"({'; contradicted: '.join([study, *contradicted])})."
        for judged, study, contradicted in zip(failed, studies, lines, strict=True)
    ]


def _contradicted(line: Verdict) -> str:
    """A line that is contradicted, with the number that is nearest to what it says."""
    nearest = [each for each in line.checks if isinstance(each, ModelCheck) and not each.second]
    claim = line.claim
    aims = claim.value if isinstance(claim, ModelClaim) and claim.some else ()
    if not (nearest and aims):
        return str(claim.text)
    best = min(nearest, key=lambda each: min(abs(each.estimate - aim) for aim in aims))
    return f"{claim.text}; the nearest is the {numbers(best)}"


def chips(statements: Sequence[StatementVerdict], study: str) -> list[tuple[str, str, str, str]]:
    """The statements about a study for its panel, those that failed first; the rest counted.

    Each has the class of its verdict, the verdict, its mark with few words, and all its words.
    """
    about = [judged for judged in statements if judged.statement.study == study]
    about.sort(key=lambda judged: judged.verdict != NOT_REPRODUCED)
    each = [
        (judged.verdict, judged.statement.short or judged.statement.text, judged.statement.text)
        for judged in about[:MAX_CHIPS]
    ]
    more = Counter(judged.verdict for judged in about[MAX_CHIPS:])
    each += [(kind, f"{number} more", f"{number} more {kind}") for kind, number in more.items()]
    return [
        (kind.replace(" ", "-"), kind, f"{MARKS[kind]} {short}", text) for kind, short, text in each
    ]


def reproduced(statements: Sequence[StatementVerdict]) -> int:
    """The number of statements reproduced."""
    return sum(judged.verdict == REPRODUCED for judged in statements)


def variants_summary(variants: Readings, kind: Words) -> str:
    """Which findings hold under all variants of a study, and which do not."""
    columns = [*zip(*(verdicts for _, verdicts in variants), strict=True)]
    under = f"under any of {len(variants)} variants"
    if not columns:
        return f"No {kind.treatment} significantly beats another {under}."
    groups: dict[str, list[str]] = {"hold": [], "open": [], "reversed": []}
    for column in columns:
        verdicts = {judged.verdict for judged in column}
        key = "hold" if verdicts == {REPRODUCED} else "open"
        key = "reversed" if NOT_REPRODUCED in verdicts else key
        groups[key].append(column[0].statement.text)
    text = f"Of {counted(len(columns), 'finding')} {under}, {len(groups['hold'])} hold under all"
    if names := groups["open"]:
        text += f"; under some the difference is not significant or not studied: {listed(names)}"
    if names := groups["reversed"]:
        text += f"; under some the order is reversed: {listed(names)}"
    return f"{text}."


def keys_summary(variants: Readings) -> list[str]:
    """How many findings change with which key, the others being as they are."""
    settings = [reading.changed for reading, _ in variants]
    columns = [*zip(*(verdicts for _, verdicts in variants), strict=True)]
    counts: dict[str, int] = {}
    for key in settings[0] if columns else ():
        if len({each[key] for each in settings}) > 1:
            rest = [tuple((k, v) for k, v in each.items() if k != key) for each in settings]
            verdicts = [grouped(zip(rest, column, strict=True)).values() for column in columns]
            changes = (
                any(len({j.verdict for j in alike}) > 1 for alike in every) for every in verdicts
            )
            counts[key] = sum(changes)
    ordered = sorted(counts, key=lambda key: -counts[key])
    parts = [f"changing {key} changes {counts[key]}" for key in ordered if counts[key]]
    idle = listed([key for key in ordered if not counts[key]], len(ordered), last="or")
    parts += [f"changing {idle} changes none"] * bool(idle)
    parts[:1] = [f"{part} of {counted(len(columns), 'finding')}" for part in parts[:1]]
    return [opening(f"{'; '.join(parts)}.")] * bool(parts)


def readings_summary(readings: Readings) -> str:
    """How much the verdicts depend on the reading."""
    before = [reproduced(verdicts) for reading, verdicts in readings if not reading.post_hoc]
    after = [reproduced(verdicts) for reading, verdicts in readings if reading.post_hoc]
    columns = zip(*(verdicts for _, verdicts in readings), strict=True)
    same = sum(len({judged.verdict for judged in column}) == 1 for column in columns)
    text = (
        f"Under {counted(len(before), 'reading')} of the source, "
        f"{count_range(min(before), max(before))} of {len(readings[0][1])} statements are "
        "reproduced"
    )
    if after:
        many = count_range(min(after), max(after))
        text += f"; under {len(after)} more, chosen after results had been seen, {many}"
    alike = f"{counted(same, 'statement')} {'has' if same == 1 else 'have'}"
    return f"{text}. {alike} the same verdict under all."


def published_summary(printed: Published, agreement: Agreement) -> list[str]:
    """How our means agree with printed ones, what differs most and why, what is left out."""
    means = agreement.by_learner.set_index("learner")["mean_absolute_difference"]
    each = listed([f"{fixed(mean)} for {learner}" for learner, mean in means.items()])
    number = agreement.cells["dataset"].nunique()
    sentences = [f"Mean absolute difference over {number} data sets: {each}."]
    for dataset in agreement.beyond:
        rows = agreement.cells[(agreement.cells["dataset"] == dataset) & agreement.cells["beyond"]]
        leads = rows.set_index("learner")["difference"]
        parts = listed([f"{learner} {plus(lead)}" for learner, lead in leads.items()])
        why = printed.notes.get(dataset, "The reason is unknown.")
        sentences.append(f"{dataset} differs by more than {agreement.tolerance:g}: {parts}. {why}")
    if agreement.left_out:
        sentences.append(f"Left out because the data set differs: {listed([*agreement.left_out])}.")
    if agreement.missing:
        sentences.append(f"Printed but not studied here: {listed([*agreement.missing])}.")
    return sentences
