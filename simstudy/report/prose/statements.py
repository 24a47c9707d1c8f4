"""A study's findings in a few sentences, none beyond what was tested."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from simstudy.analysis.findings import Mean, ModelFindings
from simstudy.analysis.standings import (
    AHEAD,
    IDENTICAL,
    UNTESTED,
    Pair,
    Standing,
    largest_difference,
    largest_lead,
    smallest_lead,
)
from simstudy.report.prose import crossings
from simstudy.report.prose.numbers import number, p_value, signed
from simstudy.report.prose.phrases import (
    adjusted_for,
    among,
    count_range,
    failed_learners,
    in_unit,
    intervals_of_means,
    level,
    listed,
    opening,
    paired_tests,
    rows,
    with_unit,
)
from simstudy.texts import counted

_MAX_STRETCHES = 3  # stretches of sizes that get a sentence each; more are summarised


def statements(
    findings: ModelFindings, failures: int = 0, cells: int = 0, overtaking: bool = True
) -> list[str]:
    """What the study found by one measure, in at most about five sentences.

    A learner beats another only where the adjusted p value is at most 1 − confidence. One that
    beats all others at a size wins there; otherwise the one of best mean is named, whom it beats,
    and from whom it does not differ significantly. One overtakes another between the last size at
    which the other is ahead and the first at which it is, by the same tests (`method`).

    Parameters
    ----------
    findings : ModelFindings
        Of the measure.
    failures, cells : int
        How many cells failed, of how many.
    overtaking : bool
        Whether to say who overtakes whom.
    """
    lost = _lost(findings, failures, cells)
    if len(findings.design.learners) == 1:
        return [_alone(findings), *lost]
    return [*_leaders(findings), *_changes(findings, overtaking), *_means(findings), *lost]


def _alone(findings: ModelFindings) -> str:
    """The mean of the only learner, at the smallest and the largest size."""
    means = findings.means
    ends = means[:1] if len(means) == 1 else (means[0], means[-1])
    m = means[0].m
    adjusted = f", Bonferroni-adjusted for m = {m} sizes" if m > 1 else ""
    known = [mean for mean in ends if mean.n or mean.infinite]
    text = f"{means[0].learner}, the only {findings.design.words.treatment}, has "
    if known:
        each = listed([f"{_mean(mean, findings)} at {mean.size:,} rows" for mean in known])
        text += f"a mean {findings.info.label} of {each}"
    if any(mean.has_interval for mean in known):
        text += f" ({intervals_of_means(findings)}{adjusted})"
    lost = [f"{mean.size:,}" for mean in ends if mean not in known]
    text += (", and " * bool(known) + f"no score at {listed(lost)} rows") * bool(lost)
    return f"{text}; there is nothing to compare it with."


def _mean(mean: Mean, findings: ModelFindings) -> str:
    text = in_unit(number(mean.mean), findings.info)
    if mean.has_interval:
        return f"{text} [{number(mean.lower)}, {number(mean.upper)}]"
    why = "infinite in some model" if mean.infinite else f"over {counted(mean.n, 'model')}"
    return f"{text} (no interval: {why})"


def _leaders(findings: ModelFindings) -> list[str]:
    """Who wins at which sizes: a sentence for each of a few stretches, or a summary."""
    standings = findings.standings
    if not standings:
        one = findings.design.words.treatment
        return [f"No {one} has a finite mean at any size, so none are compared."]
    if not any(pair.verdict == AHEAD for pair in findings.pairs):
        return [_no_differences([standing.size for standing in standings], findings)]
    groups = itertools.groupby(standings, lambda standing: standing.key)
    stretches = [[*stretch] for _, stretch in groups]
    if len(stretches) <= _MAX_STRETCHES:
        return [opening(_stretch(stretch, findings)) for stretch in stretches]
    return _summary(standings, findings)


def _no_differences(sizes: list[int], findings: ModelFindings) -> str:
    """That no two learners differ, and how large the largest difference is."""
    failed, where = failed_learners(findings), rows(sizes)
    learners = [name for name in findings.design.learners if name not in failed]
    tested = [pair for pair in findings.pairs if pair.verdict != UNTESTED]
    if not tested:
        return opening(f"{where} {listed(findings.design.learners)} cannot be compared.")
    if all(pair.verdict == IDENTICAL for pair in findings.pairs):
        return opening(f"{where} {listed(learners)} are identical in every model.")
    if all(pair.verdict == IDENTICAL for pair in tested):
        return opening(f"{where} no pair that could be tested differs in any model.")
    whom = f"no two of {listed(learners)} differ" if len(learners) > 2 else ""
    whom = whom or f"{listed(learners)} do not differ"
    most = largest_difference(tested)
    which = f"{most.first} over {most.second} at {most.size:,} rows"
    lead = _lead(most, findings)
    return opening(f"{where} {whom} significantly; the largest mean difference is {lead}, {which}.")


def _lead(pair: Pair, findings: ModelFindings) -> str:
    """A lead with its interval; by Holm's method, which has none, with its p value."""
    lead = f"{signed(pair.lead)} {findings.info.unit or f'in {findings.info.label}'}"
    if findings.design.holm:
        return f"{lead} ({p_value(pair.p, 'adjusted p')})"
    return f"{lead} [{signed(pair.low)}, {signed(pair.high)}]"


def _stretch(stretch: Sequence[Standing], findings: ModelFindings) -> str:
    """What holds at every size of a stretch."""
    first, where = stretch[0], rows([standing.size for standing in stretch])
    if first.wins:
        leads = [lead for one in stretch for lead in one.beats]
        least = smallest_lead(leads)
        every = f"every other {findings.design.words.treatment}"
        whom = first.beats[0].second if len(first.beats) == 1 else every
        whom = f"{every} that it could be tested against" if first.untested else whom
        text = f"{where} {first.leader} beats {whom}"
        if len(leads) == 1:
            return f"{text}, by {_lead(least, findings)}."
        return (
            f"{text}; its smallest lead is {_placed(least, stretch, len(first.beats), findings)}."
        )
    if first.shared_with:
        text = f"{where} {listed([first.leader, *first.shared_with])} share the best mean"
        text += f"; {first.leader}" * bool(first.beats or first.level or first.beaten_by)
    else:
        text = f"{where} {first.leader} has the best mean" + " and" * bool(first.beats)
    if first.beats:
        text += f" beats {listed([pair.second for pair in first.beats])}"
    but = first.beats or not first.shared_with
    if first.level:
        names = listed([pair.second for pair in first.level])
        text += ", but" * bool(but)
        text += f" does not differ significantly from {names} ({_largest(stretch, findings)})"
    if first.beaten_by:
        names = listed([pair.second for pair in first.beaten_by])
        verb = "beats" if len(first.beaten_by) == 1 else "beat"
        text += f", yet {names} {verb} it over the models that both have"
    if first.untested and not (first.beats or first.level or first.identical or first.beaten_by):
        text += " but cannot be compared with the others"
    return f"{text}."


def _largest(stretch: Sequence[Standing], findings: ModelFindings) -> str:
    """The largest lead over those from whom the leader does not differ; if one, just that."""
    leads = [lead for one in stretch for lead in one.level]
    most = largest_lead(leads)
    if len(leads) == 1:
        return _lead(most, findings)
    rivals = len(stretch[0].level)
    whom = "these" if rivals > 1 else most.second
    return f"its largest lead over {whom}: {_placed(most, stretch, rivals, findings)}"


def _placed(pair: Pair, stretch: Sequence[Standing], rivals: int, findings: ModelFindings) -> str:
    """A lead, with the rival and the size where there are several."""
    where = [f"over {pair.second}"] * (rivals > 1) + [f"at {pair.size:,} rows"] * (len(stretch) > 1)
    return f"{_lead(pair, findings)}, {' '.join(where)}"


def _summary(standings: Sequence[Standing], findings: ModelFindings) -> list[str]:
    """Who has the best mean where, where it wins, and from whom it does not differ elsewhere."""
    sizes, treatment = [standing.size for standing in standings], findings.design.words.treatment
    best: dict[str, list[int]] = {}
    for standing in standings:
        best.setdefault(standing.leader, []).append(standing.size)
    owners = listed([f"{name}'s {among(at, sizes)}" for name, at in best.items()])
    tied = [standing.size for standing in standings if standing.shared_with]
    owners += f", shared with others {among(tied, sizes)}" if tied else ""
    won = [standing for standing in standings if standing.wins]
    if won:
        tested = " that it could be tested against" * any(one.untested for one in won)
        where = among([standing.size for standing in won], sizes)
        least = smallest_lead(pair for one in won for pair in one.beats)
        text = f"The {treatment} of best mean beats every other{tested} {where} "
        text += f"(its smallest lead there is {_placed(least, standings, 2, findings)})"
    else:
        text = f"The {treatment} of best mean beats all others at no size studied"
    level = [lead for standing in standings for lead in standing.level]
    if level:
        most = largest_lead(level)
        counts = {len(standing.level) for standing in standings if standing.level}
        others = count_range(min(counts), max(counts))
        where = among([standing.size for standing in standings if standing.level], sizes)
        text += f"; {where} {others} of the others "
        text += "does" if counts == {1} else "do"
        text += " not differ significantly from it "
        text += f"(the largest lead over such a one is {_placed(most, standings, 2, findings)})"
    if any(standing.beaten_by for standing in standings):
        text += "; where models are missing, another beats it over the models that both have"
    return [f"The best mean is {owners}.", f"{text}."]


def _changes(findings: ModelFindings, overtaking: bool) -> list[str]:
    """Who overtakes whom, and which pairs never differ, or could not be tested."""
    sizes, models = findings.design.sizes, findings.design.models
    parts = []
    if overtaking and any(course.analysed for course in findings.courses):
        leaders = {standing.leader for standing in findings.standings}
        parts.append(crossings.changes_sentence(findings, leaders))
    by_pair: dict[tuple[str, str], list[Pair]] = {
        (one, other): [] for one, other in itertools.combinations(findings.design.learners, 2)
    }
    for pair in findings.pairs:
        by_pair.setdefault((pair.first, pair.second), []).append(pair)
    whole = len(by_pair)
    differ = {names for names, at in by_pair.items() if any(p.verdict == AHEAD for p in at)}
    tested = {names: sum(p.verdict != UNTESTED for p in at) for names, at in by_pair.items()}
    same = {names: [p for p in at if p.verdict == IDENTICAL] for names, at in by_pair.items()}
    never = [n for n in by_pair if n not in differ and tested[n] > len(same[n])]
    if never and differ and len(sizes) > 1:
        whom = listed(never[0]) if len(never) == 1 else f"{len(never)} of {whole} pairs"
        every = all(tested[names] == len(sizes) for names in never)
        where = "studied" if every else "at which they could be tested"
        parts.append(f"{whom} do not differ significantly at any size {where}")
    if sum(map(len, same.values())) < sum(tested.values()):  # else the leaders' sentence covers it
        parts += _identical({n: at for n, at in same.items() if at}, whole, sizes, models)
    without = sum(number == 0 for number in tested.values())
    some = sum(1 <= number < len(sizes) for number in tested.values())
    if without and any(tested.values()):
        parts.append(f"{without} of {counted(whole, 'pair')} could not be tested")
    if some:
        parts.append(f"{some} of {counted(whole, 'pair')} could be tested at some sizes only")
    text = "; ".join(parts)
    # A label at the start stays as it is.
    text = text if text.startswith(findings.design.learners) else opening(text)
    return [f"{text}."] if parts else []


def _identical(
    same: dict[tuple[str, str], list[Pair]], whole: int, sizes: Sequence[int], models: int
) -> list[str]:
    """Which pairs have the same score in every model."""
    if len(same) > _MAX_STRETCHES:
        every = [pair for at in same.values() for pair in at]
        text = f"{len(same)} of {whole} pairs are identical in {_every(every, models)}"
        return [text if len(every) == len(same) * len(sizes) else f"{text} at some sizes"]
    parts = []
    for names, at in same.items():
        where = "" if len(at) == len(sizes) else " " + among([pair.size for pair in at], sizes)
        parts.append(f"{listed(names)} are identical in {_every(at, models)}{where}")
    return parts


def _every(pairs: list[Pair], models: int) -> str:
    """All models, or those that both of a pair have."""
    least, most = min(pair.n for pair in pairs), max(pair.n for pair in pairs)
    if least == models:
        return "every model"
    return f"all {least} models that both have" if least == most else "all models that both have"


def method(findings: ModelFindings, overtaking: bool = True) -> str:
    """What the statements rest on."""
    design, info = findings.design, findings.info
    if findings.pairs_used is None:
        return (
            "No pair could be tested: each has an infinite score, or fewer than two models in "
            "common."
        )
    least, most = findings.pairs_used
    fewer = least < design.models
    used = count_range(least, most) + f" of {design.models}" * fewer
    used += " models" + ", those that both have," * fewer
    better = "" if info.greater_is_better else ", where lower is better"
    scope = adjusted_for(design.adjustment, findings.pair_tests)
    text = (
        f"{opening(paired_tests(findings))} over {used} at {level(design.confidence)} confidence, "
        f"{scope}; numbers are differences in mean {with_unit(info)}{better}, in favour of the "
        f"{design.words.treatment} named first."
    )
    courses = findings.courses if overtaking else ()
    changes = [change for course in courses for change in course.changes]
    if changes:
        text += f" By the same tests, {crossings.overtakes(findings)}"
        if any(change.estimated for change in changes):
            text += "; in brackets, intervals of crossings, adjusted likewise"
        text += "."
    return text


def _means(findings: ModelFindings) -> list[str]:
    """Which models means are over, where that is not all of them."""
    (least, most), models = findings.models_used, findings.design.models
    if least == most:
        if least >= models:
            return []
        return [f"Means are over the {least} of {models} models without a failed cell."]
    each = findings.design.words.treatment
    text = f"those that each {each} has at each size, {least} to {most} of {models}"
    return [f"Means are over different models ({text}), which may affect their order."]


def _lost(findings: ModelFindings, failures: int, cells: int) -> list[str]:
    """Which cells failed or are infinite, and so are not compared."""
    parts = []
    if failures:
        every = failed_learners(findings)
        all_of = f", among them all of {listed(every)}" * bool(every)
        parts.append(f"{failures:,} of {cells:,} cells failed{all_of}")
    infinite: dict[str, list[int]] = {}
    for mean in findings.means:
        if mean.infinite:
            infinite.setdefault(mean.learner, []).append(mean.size)
    if infinite:
        sizes = findings.design.sizes
        names = [f"{learner} {among(at, sizes)}" for learner, at in infinite.items()]
        parts.append(f"infinite scores, which are not tested: {listed(names)}")
    return [opening("; ".join(parts)) + "."] if parts else []
