"""Lists, sizes, labels and methods as they stand in a sentence."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TypeVar

from simstudy.analysis.models.findings import ModelFindings
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.numbers import setting
from simstudy.texts import counted

EXACT_TESTS = "exact McNemar tests"
AS_FAR = " (where they could be compared)"
K = TypeVar("K")
V = TypeVar("V")
MAX_NAMED = 4  # members of a list that are named before the rest are counted


def indefinite(noun: str) -> str:
    """Write a noun with its article: "a learner", "an estimator"."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def listed(names: Sequence[str], most: int = MAX_NAMED, last: str = "and") -> str:
    """Join names as "A, B and C"; of a longer list, the first and the number of others.

    Names with commas are joined by semicolons.
    """
    shown = list(names)
    if len(shown) > most + 1:
        shown = [*shown[:most], f"{len(shown) - most} others"]
    comma = ";" if any(", " in name for name in shown) else ","
    ends = f"{comma[comma == ',' :]} {last} "
    return ends.join([f"{comma} ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def grouped(items: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """Collect values by their keys, in the order of the first of each key."""
    groups: dict[K, list[V]] = {}
    for key, value in items:
        groups.setdefault(key, []).append(value)
    return groups


def failed_learners(findings: ModelFindings) -> list[str]:
    """Return the learners that failed in every cell, of which there is nothing else to say."""
    scores = findings.scores
    if "status" not in scores or not (scores["status"] == "ok").any():
        return []
    succeeded = {*scores.loc[scores["status"] == "ok", "learner"]}
    return [learner for learner in findings.design.learners if learner not in succeeded]


def all_sizes(sizes: Sequence[int]) -> str:
    """Join all sizes as "50, 500 and 5,000"."""
    return listed([f"{size:,}" for size in sizes], most=len(sizes))


def ranges(sizes: Sequence[int], studied: Sequence[int]) -> list[str]:
    """Write some of the sizes studied; three or more in a row as a range."""
    texts: list[str] = []
    numbered = [(studied.index(size) - order, f"{size:,}") for order, size in enumerate(sizes)]
    for _, run in itertools.groupby(numbered, lambda pair: pair[0]):
        each = [text for _, text in run]
        texts += [f"{each[0]} to {each[-1]}"] if len(each) > 2 else each
    return texts


def row_ranges(sizes: Sequence[int], studied: Sequence[int]) -> str:
    """Write some of the sizes studied as "50 rows" or "50 to 500 and 5,000 rows"."""
    return f"{listed(ranges(sizes, studied))} rows"


def opening(text: str) -> str:
    """Begin a sentence with a capital letter."""
    return text[:1].upper() + text[1:]


def count_range(least: int, most: int) -> str:
    """Write the range of a count: "4" or "2 to 4"."""
    return f"{least}" if least == most else f"{least} to {most}"


def level(confidence: float) -> str:
    """Write a confidence as a percentage."""
    return f"{setting(100 * confidence)}%"


def adjusted_for(adjustment: str, m: int) -> str:
    """Name the family that tests of pairs are adjusted for."""
    pairs, tests = f"m = {counted(m, 'pair')}", f"m = {counted(m, 'test')}"
    return {
        "bonferroni_all": f"Bonferroni-adjusted for {tests}, all pairs at all sizes",
        "bonferroni": f"Bonferroni-adjusted for {pairs} at each size",
        "holm": f"Holm-adjusted over {pairs} at each size",
        "none": "not adjusted for the number of tests",
    }[adjustment]


def interval_family(findings: ModelFindings) -> str:
    """Name the family of intervals of pairs; for Holm's method, which has none, Bonferroni's."""
    adjustment = "bonferroni" if findings.design.holm else findings.design.adjustment
    return adjusted_for(adjustment, findings.pair_tests)


def intervals_of_means(findings: ModelFindings) -> str:
    """Name the intervals of the means, with their confidence and adjustment."""
    kind, m = "Clopper–Pearson" if findings.info.share else "t", findings.means[0].m
    family = f"Bonferroni-adjusted for m = {m} cells" if m > 1 else "not adjusted"
    return f"{level(findings.design.confidence)} {kind} intervals between models, {family}"


def over_models(findings: ModelFindings) -> str:
    """Say which models means are over."""
    (least, most), whole = findings.models_used, findings.design.models
    if least == most:
        failed = " without a failed cell (left_out.csv)" * (least < whole)
        return f"over {f'the {least} of {whole}' if failed else whole} models{failed}"
    return f"over the models that each cell has, {least} to {most} of {whole} (left_out.csv)"


def paired_tests(findings: ModelFindings) -> str:
    """Name the tests of paired differences."""
    if not findings.info.share:
        return "paired t tests"
    if findings.scores[findings.measure].dropna().isin((0, 1)).all():
        return EXACT_TESTS
    return "paired t tests (sign tests where all differences are equal)"


def in_unit(number: str, info: MeasureInfo) -> str:
    """Write a number with the unit of its measure, if it has one."""
    return f"{number} {info.unit}" if info.unit else number


def with_unit(info: MeasureInfo) -> str:
    """Name a measure with its unit, if it has one."""
    return f"{info.label} ({info.unit})" if info.unit else info.label


def axis_label(info: MeasureInfo) -> str:
    """Name a measure with its unit and, where lower is better, its direction."""
    notes = [info.unit] * bool(info.unit) + ["lower is better"] * (not info.greater_is_better)
    return info.label + f" ({', '.join(notes)})" * bool(notes)
