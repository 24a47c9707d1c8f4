"""Who beats whom and who overtakes whom: a sentence for each pair, where tests decide."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from simstudy.analysis.models.difference_curves import MAX_RATIO
from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.standings import AHEAD, IDENTICAL, UNTESTED, Pair
from simstudy.analysis.models.thresholds import Course, Overtaking
from simstudy.report.prose import phrases
from simstudy.report.prose.numbers import brief, estimated
from simstudy.report.prose.phrases import adjusted_for, level, listed, opening, paired_tests
from simstudy.texts import counted

MAX_COMPARED = 5  # learners; of more, only the best at each size is compared in words
_MAX_NAMED = 3  # pairs that the headline names; more are counted
MAX_LISTED = 4  # of more than these, those whose means a terminal shows
_MAX_NEAR = 2  # treatments that are named as not separated from the best of many
_MAX_SIZES = 7  # sizes that are listed; more are counted


def pair_method(findings: ModelFindings) -> str:
    """The tests of paired differences, which decide who is ahead, and their adjustment."""
    scope = adjusted_for(findings.design.adjustment, findings.pair_tests)
    confidence = level(findings.design.confidence)
    return f"{paired_tests(findings)} between models at {confidence} confidence, {scope}"


# Who beats whom


def who_beats_whom(won: Iterable[tuple[str, str]], ranked: Sequence[str], treatment: str) -> str:
    """Who beats whom of a few treatments, given pairs of winners and losers, in few words."""
    lost = phrases.grouped(won)
    rivals, texts = len(ranked) - 1, []
    for name in (name for name in ranked if name in lost):
        whom = listed([brief(each) for each in ranked if each in lost[name]], most=rivals)
        whom = "all others" if len(lost[name]) == rivals > 1 else whom
        texts.append(f"{brief(name)} beats {whom}")
    return "; ".join(texts) or f"no two {treatment}s differ significantly"


def beaten_at(findings: ModelFindings, size: int) -> str:
    """Who beats whom at a size; of many treatments, whom the best mean beats and whom not."""
    ranked, kind, pairs = findings.ranked(size), findings.design.words, findings.pairs_at(size)
    if len(ranked) <= MAX_COMPARED:
        won = [pair.better_first(ranked) for pair in pairs if pair.verdict == AHEAD]
        text = who_beats_whom([(pair.first, pair.second) for pair in won], ranked, kind.treatment)
        untested = [pair for pair in pairs if pair.verdict == UNTESTED]
        return text + f"; {counted(len(untested), 'pair')} not compared" * bool(untested)
    standing = next((each for each in findings.standings if each.size == size), None)
    if standing is None:
        return "no mean is finite"
    near, rivals = [*standing.level, *standing.identical], len(ranked) - 1
    but = listed([brief(pair.second) for pair in near])
    whom = f"{len(standing.beats)} of {rivals} others"
    if len(standing.beats) + len(near) == rivals and len(near) <= _MAX_NEAR:
        whom = f"all others{' but ' * bool(near)}{but}"
    parts = {"is beaten by": standing.beaten_by, "is not compared with": standing.untested}
    against = {verb: listed([brief(pair.second) for pair in parts[verb]]) for verb in parts}
    more = [f"it {verb} {names}" for verb, names in against.items() if names]
    return "; ".join([f"{brief(standing.leader)} beats {whom}", *more])


def brief_method(findings: ModelFindings, sizes: int) -> str:
    """Say in brief how means and pairs are tested, and how much of them is shown."""
    design, kind = findings.design, findings.design.words
    half, m = "half-widths of " * findings.info.share, findings.means[0].m
    interval = phrases.intervals_of_means(findings).partition(" between")[0]
    parts = [f"±: {half}{interval}{f' (Bonferroni, m = {m})' * (m > 1)}"]
    if (number := len(design.learners)) > 1:
        tests = phrases.paired_tests(findings).partition(" (")[0]
        parts.append(f"{tests}, {adjusted_for(design.adjustment, findings.pair_tests)}")
        parts += ["no other pair differs significantly"] * (number <= MAX_COMPARED)
    every = {
        kind.name: (MAX_LISTED if number > MAX_COMPARED else number, number),
        "sizes": (sizes, len(design.sizes)),
    }
    shown = [f"{some} of {most} {what}" for what, (some, most) in every.items() if some < most]
    parts += [f"{listed(shown)} shown"] * bool(shown)
    return f"{'; '.join(parts)}."


def verdicts(findings: ModelFindings) -> dict[int, list[str]]:
    """For each size, who beats whom by how much, and who does not differ; better learner first."""
    sentences: dict[int, list[str]] = {}
    for size in findings.design.sizes:
        ranked = findings.ranked(size)
        leaders = ranked[:1] if len(ranked) > MAX_COMPARED else ranked
        compared = [pair.better_first(ranked) for pair in findings.pairs_at(size)]
        compared = [pair for pair in compared if {pair.first, pair.second} & {*leaders}]
        compared.sort(key=lambda pair: sorted(map(ranked.index, (pair.first, pair.second))))
        if compared:
            sentences[size] = [_verdict(pair, findings) for pair in compared]
    return sentences


def _verdict(pair: Pair, findings: ModelFindings) -> str:
    """What the test supports about a pair, the better learner first."""
    both, models = f"{pair.first} and {pair.second}", findings.design.models
    if pair.verdict == UNTESTED:
        return f"{both} are not compared: {why_untested(pair)}"
    if pair.verdict == IDENTICAL:
        return f"{both} are identical in {every_model([pair], models)}"
    numbers = lead_text(pair, findings) + _used(pair.n, models)
    if pair.verdict == AHEAD:
        return f"{pair.first} beats {pair.second} by {numbers}"
    return f"{both} do not differ significantly: {numbers}"


def lead_text(pair: Pair, findings: ModelFindings, named: bool = False) -> str:
    """A lead with its interval or, by Holm's method, which has none, its adjusted p value.

    Its unit, or else its measure, may be named.
    """
    unit = (findings.info.unit or f"in {findings.info.label}") * named
    p = pair.p if findings.design.holm else math.nan
    return estimated(pair.lead, pair.low, pair.high, p, unit)


def every_model(pairs: Sequence[Pair], models: int) -> str:
    """All models, or those that both learners of a pair have."""
    used = {pair.n for pair in pairs}
    if used == {models}:
        return "every model"
    return (
        f"all {min(used)} models that both have" if len(used) == 1 else "all models that both have"
    )


def _used(used: int, models: int) -> str:
    """Over how many models a comparison is, where these are not all."""
    return f", over {used} of {models} models" * (used < models)


def why_untested(pair: Pair) -> str:
    """Why a pair was not tested."""
    if pair.infinite:
        return f"infinite in {pair.infinite} models"
    return "no model has both" if math.isnan(pair.lead) else f"{pair.n} model has both"


# Who overtakes whom


def overtakes(findings: ModelFindings) -> str:
    """What it means that one treatment overtakes another."""
    return (
        f"one {findings.design.words.treatment} overtakes another between the last size where the "
        "other is significantly ahead and the first where it is"
    )


def course_sentences(findings: ModelFindings) -> list[str]:
    """One sentence for each pair; one that could not use all models says how many it used."""
    models = findings.design.models
    return [_course(course) + _used(course.n, models) for course in findings.courses]


def _course(course: Course) -> str:
    """What the tests support about a pair over the sizes."""
    if not course.analysed:
        return f"{course.first} and {course.second}: {course.note}"
    if course.changes:
        return ", and ".join(map(overtaking, course.changes))
    if (leader := course.leader) is None:
        return f"neither {course.first} nor {course.second} is significantly ahead at any size"
    sizes, behind = [f"{size:,.0f}" for size in course.ahead_at(leader)], course.opponent(leader)
    few = len(sizes) <= _MAX_SIZES
    where = f"{listed(sizes, _MAX_SIZES)} rows" if few else f"{len(sizes)} sizes"
    return f"{leader} is ahead of {behind} at {where}; {behind} is never significantly ahead"


def unchanged(courses: Sequence[Course]) -> str:
    """The pairs in which no change of the lead is shown, in one sentence, if there are any."""
    still = [course for course in courses if not course.changes]
    ahead = [(c.leader, c.opponent(c.leader)) for c in still if c.leader is not None]
    parts = [
        f"{leader} is ahead of {listed(behind)} wherever they differ significantly"
        for leader, behind in phrases.grouped(ahead).items()
    ]
    for tested, words in ((True, "at no size"), (False, "in no test that could be made")):
        level = [c for c in still if c.leader is None and c.analysed == tested]
        if level:
            names = listed([f"{course.first} and {course.second}" for course in level])
            parts.append(f"{names} differ significantly {words}")
    pairs = "1 pair" if len(still) == 1 else f"{len(still)} pairs"
    return f"No change of the lead is established in {pairs}: {'; '.join(parts)}." if still else ""


def overtaking(change: Overtaking) -> str:
    """Between which sizes one learner overtakes the other, with the estimate if there is one."""
    sizes = f"between {change.before:,.0f} and {change.after:,.0f} rows"
    about = f", at about {estimate(change)}" if change.estimated else ""
    return f"{change.ahead} overtakes {change.behind} {sizes}{about}"


def estimate(change: Overtaking) -> str:
    """The estimated size with its interval."""
    return f"{change.crossing:,.0f} {interval(change)}"


def interval(change: Overtaking) -> str:
    """The interval of the estimate, its limits rounded outwards."""
    return f"[{math.floor(change.lower):,}, {math.ceil(change.upper):,}]"


def changes_sentence(findings: ModelFindings, leaders: set[str]) -> str:
    """Name a few pairs in which one learner overtakes the other, for the headline."""
    sizes, treatment = findings.design.sizes, findings.design.words.treatment
    changed = [course for course in findings.courses if course.changes]
    if not changed:
        where = f"between {sizes[0]:,} and {sizes[-1]:,} rows"
        return f"{where} no {treatment} is shown to overtake another"
    changed.sort(key=lambda course: -len({course.first, course.second} & leaders))
    named = sorted(changed[:_MAX_NAMED], key=lambda course: course.changes[0].after)
    more = len(changed) - len(named)
    noun = "pair changes places" if more == 1 else "pairs change places"
    counted = [f"{more} more {noun}: see the table of thresholds"] * bool(more)
    return "; ".join([*map(_brief, named), *counted])


def _brief(course: Course) -> str:
    """What the tests support about a pair; of more than two changes, only their number."""
    if len(course.changes) <= 2:
        return _course(course)
    start, end = course.changes[0].before, course.changes[-1].after
    times = f"{len(course.changes)} times between {start:,.0f} and {end:,.0f} rows"
    return f"{course.first} and {course.second} change places {times}"


def crossing_method(
    findings: ModelFindings, shown: Sequence[Course] | None = None, alone: bool = True
) -> str:
    """How to read statements of who overtakes whom; without the tests unless it stands alone."""
    if not any(course.analysed for course in findings.courses):
        return ""
    courses = findings.courses if shown is None else shown
    changes = [change for course in courses for change in course.changes]
    text = f"Ahead: by {pair_method(findings)}. " * alone + f"{opening(overtakes(findings))}."
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
    where = listed([f"{size:,}" for size in findings.added_sizes], most=20)
    return f"Sizes added around crossings, which count among the tests: {where}." if where else ""
