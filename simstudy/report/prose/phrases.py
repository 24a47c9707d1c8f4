"""Lists, sizes, labels and methods as they stand in a sentence."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.numbers import setting
from simstudy.texts import counted

if TYPE_CHECKING:
    from simstudy.analysis.findings import ModelFindings

EXACT_TESTS = "exact McNemar tests"
MAX_NAMED = 4  # members of a list that are named before the rest are counted


def indefinite(noun: str) -> str:
    """Write a noun with its article: "a learner", "an estimator"."""
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def listed(names: Sequence[str], most: int = MAX_NAMED) -> str:
    """Join names as "A, B and C"; of a longer list, the first and the number of others."""
    shown = list(names)
    if len(shown) > most + 1:
        shown = [*shown[:most], f"{len(shown) - most} others"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


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


def row_range(sizes: Sequence[int]) -> str:
    """Write sizes as "50 rows", "50 and 500 rows" or "50 to 5,000 rows"."""
    if len(sizes) < 3:
        return f"{listed([f'{size:,}' for size in sizes])} rows"
    return f"{sizes[0]:,} to {sizes[-1]:,} rows"


def rows(sizes: Sequence[int]) -> str:
    """Write consecutive sizes of a study as "at 50 rows" or "from 50 to 5,000 rows"."""
    return f"{'at' if len(sizes) < 3 else 'from'} {row_range(sizes)}"


def consecutive(sizes: Sequence[int], studied: Sequence[int]) -> list[list[int]]:
    """Group some of the sizes studied by runs without a gap."""
    numbered = [(studied.index(size) - order, size) for order, size in enumerate(sizes)]
    groups = itertools.groupby(numbered, lambda pair: pair[0])
    return [[size for _, size in run] for _, run in groups]


def among(sizes: Sequence[int], studied: Sequence[int]) -> str:
    """Write some of the sizes studied, consecutive ones as a range."""
    ranges = consecutive(sizes, studied)
    parts = [f"{run[0]:,} to {run[-1]:,}" if len(run) > 1 else f"{run[0]:,}" for run in ranges]
    return f"at {listed(parts)} rows"


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


def intervals_of_means(findings: ModelFindings) -> str:
    """Name the intervals of the means, with their confidence."""
    kind = "Clopper–Pearson" if findings.info.share else "t"
    return f"{level(findings.design.confidence)} {kind} intervals between models"


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
    notes = [info.unit] if info.unit else []
    if not info.greater_is_better:
        notes.append("lower is better")
    return info.label + (f" ({', '.join(notes)})" if notes else "")
