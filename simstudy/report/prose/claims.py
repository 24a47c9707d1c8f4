"""Verdicts on claims and statements, in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from simstudy.analysis.claims import StatementVerdict
from simstudy.analysis.data_claims import DataCheck
from simstudy.analysis.model_claims import ModelCheck
from simstudy.analysis.verdicts import NOT_REPRODUCED, REPRODUCED, VERDICTS, Check
from simstudy.experiments.base import Words
from simstudy.report.prose.numbers import p_value, signed
from simstudy.report.prose.phrases import count_range, listed
from simstudy.study.readings import Reading
from simstudy.texts import counted

Readings = Sequence[tuple[Reading, Sequence[StatementVerdict]]]
MAX_NAMED = 8  # data sets
SHORT = dict(zip(VERDICTS, ("holds", "contradicted", "open"), strict=True))


def numbers(check: Check, unit: str = "") -> str:
    """What was estimated, with its interval or test, or why there is none."""
    if isinstance(check, DataCheck):
        return _of_sets(check)
    assert isinstance(check, ModelCheck)
    what = f"{check.first} over {check.second}" if check.second else f"mean of {check.first}"
    estimate = f"{signed(check.estimate)} {unit}".rstrip()
    found = f"{estimate} [{signed(check.lower)}, {signed(check.upper)}]"
    if not math.isnan(check.p):
        found = f"{estimate} ({p_value(check.p, 'adjusted p')})"
    return f"{what} at {check.size:,} rows: {check.reason or found}"


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
    tested = any(isinstance(one, DataCheck) or not math.isnan(one.p) for one in checks)
    what = "findings" if tested else "intervals"
    return f"of {len(checks)} {what}, {', '.join(parts)}"


def counts(statements: Sequence[StatementVerdict]) -> str:
    """How many statements there are of each verdict."""
    found = Counter(one.verdict for one in statements)
    each = [f"{found[kind]} {'is' if found[kind] == 1 else 'are'} {kind}" for kind in VERDICTS]
    return f"Of {counted(len(statements), 'statement')} about these studies, {listed(each)}."


def not_reproduced(statements: Sequence[StatementVerdict]) -> list[str]:
    """What is not reproduced, and which of several lines contradict it."""
    sentences = []
    for one in statements:
        if one.verdict == NOT_REPRODUCED:
            lines = f"; contradicted: {'; '.join(one.contradicted)}" if one.contradicted else ""
            sentences.append(
                f"Not reproduced: {one.statement.text} ({one.statement.study}{lines})."
            )
    return sentences


def reproduced(statements: Sequence[StatementVerdict]) -> int:
    """The number of statements reproduced."""
    return sum(one.verdict == REPRODUCED for one in statements)


def variants_summary(variants: Readings, kind: Words) -> str:
    """Which findings hold under all variants of a study, and which do not."""
    columns = [*zip(*(found for _, found in variants), strict=True)]
    always = [one for one in columns if all(v.verdict == REPRODUCED for v in one)]
    turned = [one for one in columns if any(v.verdict == NOT_REPRODUCED for v in one)]
    if not columns:
        treatment, number = kind.treatment, len(variants)
        return f"No {treatment} is shown to beat another under any of {number} variants."
    text = (
        f"Of {counted(len(columns), 'finding')} under any of {len(variants)} variants, "
        f"{len(always)} hold under all of them"
    )
    if len(always) == len(columns):
        return f"{text}."
    others = [one for one in columns if one not in always and one not in turned]
    if others:
        names = listed([one[0].statement.text for one in others])
        text += f"; under some the difference is not significant or not studied: {names}"
    if turned:
        names = listed([one[0].statement.text for one in turned])
        text += f"; under some the order is reversed: {names}"
    return f"{text}."


def readings_summary(readings: Readings) -> str:
    """How much the verdicts depend on the reading."""
    before = [reproduced(found) for reading, found in readings if not reading.post_hoc]
    after = [reproduced(found) for reading, found in readings if reading.post_hoc]
    columns = zip(*(found for _, found in readings), strict=True)
    same = sum(len({one.verdict for one in found}) == 1 for found in columns)
    text = (
        f"Under {counted(len(before), 'reading')} of the source, "
        f"{count_range(min(before), max(before))} of {len(readings[0][1])} statements are "
        "reproduced"
    )
    if after:
        many = count_range(min(after), max(after))
        text += f"; under {len(after)} more, chosen after results had been seen, {many}"
    alike = "1 statement has" if same == 1 else f"{same} statements have"
    return f"{text}. {alike} the same verdict under all."


def _of_sets(check: DataCheck) -> str:
    """What was found on data sets, with its test."""
    where = f" on {check.dataset}" if check.dataset else ""
    by = f" by {check.measure}" if check.measure and check.measure != check.first else ""
    pair = f"{check.first} over {check.second}" if check.second else check.first
    if by == "" and check.second:
        pair = f"{check.first} and {check.second}"
    parts = [_estimate(check), _counts(check), _p(check), _named(check), check.reason]
    return f"{pair}{where}{by}: {'; '.join(filter(None, parts))}"


def _estimate(check: DataCheck) -> str:
    if math.isnan(check.estimate):
        return ""
    if math.isnan(check.lower):
        return f"mean difference {signed(check.estimate)}"
    interval = f"[{signed(check.lower)}, {signed(check.upper)}]"
    return f"mean correlation {signed(check.estimate)} {interval}"


def _counts(check: DataCheck) -> str:
    if check.wins < 0:
        return ""
    counts = f"win–draw–loss {check.wins}–{check.draws}–{check.losses}"
    if check.naive:
        naive = "–".join(map(str, check.naive))
        counts += f" ({naive} by the naive paired t test, which is too optimistic)"
    return counts


def _p(check: DataCheck) -> str:
    if math.isnan(check.p):
        return ""
    return f"{'adjusted ' if check.m > 1 else ''}{p_value(check.p, 'p')}"


def _named(check: DataCheck) -> str:
    if not check.named:
        return ""
    shown = [*check.named[:MAX_NAMED]]
    more = len(check.named) - len(shown)
    return f"on {listed([*shown, counted(more, 'other')] if more else shown)}"
