"""What claims about data sets are held against, in words."""

from __future__ import annotations

import math

from simstudy.analysis.data_claims import DataCheck
from simstudy.report.prose.numbers import p_value, signed
from simstudy.report.prose.phrases import listed
from simstudy.texts import counted

MAX_NAMED = 8  # data sets


def data_numbers(check: DataCheck) -> str:
    """What was found, with its test."""
    where = f" on {check.dataset}" if check.dataset else ""
    by = f" by {check.measure}" if check.measure and check.measure != check.first else ""
    pair = f"{check.first} over {check.second}" if check.second else check.first
    if by == "" and check.second:
        pair = f"{check.first} and {check.second}"
    parts = [_estimate(check), _counts(check), _p(check), _named(check), check.reason]
    return f"{pair}{where}{by}: {'; '.join(filter(None, parts))}"


def data_basis(check: DataCheck) -> str:
    """What the finding rests on."""
    over = "splits" if check.dataset else "data sets"
    return f"{check.test}, {check.n} {over}, m = {check.m}" if check.test else ""


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
