"""Who overtakes whom, in words: one sentence for each pair, from sizes that tests decide."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simstudy.analysis.curves import MAX_RATIO
from simstudy.analysis.findings import ModelFindings
from simstudy.analysis.thresholds import Course, Overtaking
from simstudy.report.prose.phrases import adjusted_for, level, listed, opening, paired_tests

_MAX_NAMED = 3  # pairs that the headline names; more are counted
_MAX_SIZES = 6  # at which a learner is ahead that are named; more are counted


def overtakes(findings: ModelFindings) -> str:
    """What it means that one treatment overtakes another."""
    return (
        f"one {findings.design.words.treatment} overtakes another between the last size where the "
        "other is significantly ahead and the first where it is"
    )


def course_sentences(findings: ModelFindings) -> list[str]:
    """One sentence for each pair; one that could not use all models says how many it used."""
    models, sentences = findings.design.models, []
    for course in findings.courses:
        used = f", over {course.n} of {models} models" if course.n < models else ""
        sentences.append(course_sentence(course) + used)
    return sentences


def course_sentence(course: Course) -> str:
    """What the tests support about a pair over the sizes."""
    if not course.analysed:
        return f"{course.first} and {course.second}: {course.note}"
    if course.changes:
        return ", and ".join(map(overtaking, course.changes))
    if (leader := course.leader) is None:
        return f"neither {course.first} nor {course.second} is significantly ahead at any size"
    sizes = [f"{size:,.0f}" for size in course.ahead_at(leader)]
    where = f"{listed(sizes, _MAX_SIZES)} rows"
    if len(sizes) > _MAX_SIZES + 1:
        where = f"{', '.join(sizes[:_MAX_SIZES])} rows and {len(sizes) - _MAX_SIZES} further sizes"
    other = course.other(leader)
    return f"{leader} is ahead of {other} at {where}; {other} is never significantly ahead"


def overtaking(change: Overtaking) -> str:
    """Between which sizes one learner overtakes the other, with the estimate if there is one."""
    text = f"{change.ahead} overtakes {change.behind} between {bracket(change)} rows"
    return f"{text}, at about {estimate(change)}" if change.estimated else text


def bracket(change: Overtaking) -> str:
    """The sizes between which the learner ahead changes."""
    return f"{change.before:,.0f} and {change.after:,.0f}"


def estimate(change: Overtaking) -> str:
    """The estimated size with its interval."""
    return f"{change.crossing:,.0f} {interval(change)}"


def interval(change: Overtaking) -> str:
    """The interval of the estimate, its limits rounded outwards."""
    return f"[{math.floor(change.lower):,}, {math.ceil(change.upper):,}]"


def changes_sentence(findings: ModelFindings, leaders: set[str]) -> str:
    """Name a few pairs in which one learner overtakes the other, for the headline."""
    sizes, one = findings.design.sizes, findings.design.words.treatment
    changed = [course for course in findings.courses if course.changes]
    if not changed:
        return f"between {sizes[0]:,} and {sizes[-1]:,} rows no {one} is shown to overtake another"
    changed.sort(key=lambda course: -len({course.first, course.second} & leaders))
    named = sorted(changed[:_MAX_NAMED], key=lambda course: course.changes[0].after)
    text = "; ".join(map(_brief, named))
    more = len(changed) - len(named)
    noun = "pair changes places" if more == 1 else "pairs change places"
    return text + (f"; {more} more {noun}: see the table of thresholds" if more else "")


def _brief(course: Course) -> str:
    """What the tests support about a pair; of more than two changes, only their number."""
    if len(course.changes) <= 2:
        return course_sentence(course)
    start, end = course.changes[0].before, course.changes[-1].after
    number, sizes = len(course.changes), f"between {start:,.0f} and {end:,.0f} rows"
    return f"{course.first} and {course.second} change places {number} times {sizes}"


def tests(findings: ModelFindings) -> str:
    """The tests that decide who is ahead, and their adjustment."""
    design = findings.design
    scope = adjusted_for(design.adjustment, findings.pair_tests)
    return f"{paired_tests(findings)} at {level(design.confidence)} confidence, {scope}"


def method(
    findings: ModelFindings, shown: Sequence[Course] | None = None, alone: bool = True
) -> str:
    """How to read statements of who overtakes whom; without the tests unless it stands alone."""
    if not any(course.analysed for course in findings.courses):
        return ""
    courses = findings.courses if shown is None else shown
    changes = [change for course in courses for change in course.changes]
    text = f"Ahead: by {tests(findings)}. " * alone + f"{opening(overtakes(findings))}."
    if any(change.estimated for change in changes):
        text += (
            " In brackets: intervals, adjusted likewise, for the size at which the mean difference "
            "is 0; they allow for the shape of the curve between sizes."
        )
    if any("no estimate in between" in change.note for change in changes):
        text += (
            f" A crossing is not estimated where neighbouring sizes differ by more than a factor "
            f"of {MAX_RATIO:g}; --refine adds sizes."
        )
    return text


def added_sizes(findings: ModelFindings) -> str:
    """Name the sizes that were added around crossings."""
    if not findings.added_sizes:
        return ""
    where = listed([f"{size:,}" for size in findings.added_sizes], most=20)
    return f"Sizes added around crossings, which count among the tests: {where}."
