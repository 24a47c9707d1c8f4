"""A study's findings in a few sentences, none beyond what was tested."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from operator import attrgetter

from simstudy.analysis.models import standings as verdicts
from simstudy.analysis.models.findings import Mean, ModelFindings
from simstudy.analysis.models.standings import AHEAD, IDENTICAL, UNTESTED, Pair, Standing
from simstudy.report.prose import pairwise, phrases
from simstudy.report.prose.numbers import brief, number
from simstudy.report.prose.phrases import adjusted_for, count_range, grouped, listed, opening
from simstudy.texts import counted

_MAX_STRETCHES = 3  # stretches of sizes that get a sentence each; more are summarised


def statements(
    findings: ModelFindings, failures: int = 0, cells: int = 0, overtaking: bool = True
) -> list[str]:
    """What the study found by one measure, in at most about five sentences.

    A learner beats another only where the adjusted p value is at most 1 − confidence. One that
    beats all others at a size wins there; otherwise the one with the best mean is named, the
    learners it beats, and those from which it does not differ significantly. One overtakes another
    between the last size at which the other is ahead and the first at which it is, by the same
    tests (`method`).

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
        return [f"{only_learner(findings)}; there is nothing to compare it with.", *lost]
    return [*_leaders(findings), *_changes(findings, overtaking), *_means(findings), *lost]


def only_learner(findings: ModelFindings, intervals: bool = True) -> str:
    """The mean of the only learner, at the smallest and the largest size."""
    ends = dict.fromkeys((findings.means[0], findings.means[-1]))
    scored = [mean for mean in ends if mean.n or mean.infinite]
    each = [f"{mean_text(mean, findings, intervals)} at {mean.size:,} rows" for mean in scored]
    lost = [f"{mean.size:,}" for mean in ends if mean not in scored]
    parts = [f"a mean {findings.info.label} of {listed(each)}"] * bool(each)
    if intervals and any(mean.has_interval for mean in scored):
        parts[0] += f" ({phrases.intervals_of_means(findings)})"
    parts += [f"no score at {listed(lost)} rows"] * bool(lost)
    name, treatment = brief(findings.means[0].learner), findings.design.words.treatment
    return f"{name}, the only {treatment}, has {', and '.join(parts)}"


def mean_text(mean: Mean, findings: ModelFindings, intervals: bool = True) -> str:
    """A mean with its interval, or why it has none."""
    text = phrases.in_unit(number(mean.mean), findings.info)
    if not intervals:
        return text
    if mean.has_interval:
        return f"{text} [{number(mean.lower)}, {number(mean.upper)}]"
    why = "infinite in some model" if mean.infinite else f"over {counted(mean.n, 'model')}"
    return f"{text} (no interval: {why})"


def _leaders(findings: ModelFindings) -> list[str]:
    """Who wins at which sizes: a sentence for each of a few stretches, or a summary."""
    standings = findings.standings
    if not standings:
        treatment = findings.design.words.treatment
        return [f"No {treatment} has a finite mean at any size, so none are compared."]
    if not any(pair.verdict == AHEAD for pair in findings.pairs):
        text = f"At {_where(standings, findings)} {no_differences(findings)}"
        differing = [pair for pair in findings.pairs if pair.verdict not in (UNTESTED, IDENTICAL)]
        if differing:
            most = verdicts.largest_difference(differing)
            largest = pairwise.lead_text(most, findings, named=True)
            which = f"{most.first} over {most.second} at {most.size:,} rows"
            text += f"; the largest mean difference is {largest}, {which}"
        return [f"{text}."]
    stretches = [[*group] for _, group in itertools.groupby(standings, attrgetter("key"))]
    if len(stretches) <= _MAX_STRETCHES:
        return [_stretch(stretch, findings) for stretch in stretches]
    return _summary(standings, findings)


def _where(places: Iterable[Standing | Pair | Mean], findings: ModelFindings) -> str:
    """The sizes of standings, pairs or means, as "50 to 500 and 5,000 rows"."""
    return phrases.row_ranges([place.size for place in places], findings.design.sizes)


def no_differences(findings: ModelFindings) -> str:
    """That no test has any learner ahead of another."""
    failed = phrases.failed_learners(findings)
    learners = [brief(name) for name in findings.design.learners if name not in failed]
    if len(learners) == 1:
        return f"there is nothing to compare {learners[0]} with"
    outcomes = {p.verdict for p in findings.pairs if not {p.first, p.second} & {*failed}}
    few = len(learners) <= phrases.MAX_NAMED + 1
    who = listed(learners) if few else f"the {len(learners)} {findings.design.words.name}"
    if outcomes <= {UNTESTED}:
        return f"{who} could not be compared"
    if outcomes == {IDENTICAL}:
        return f"{who} have the same scores"
    differ = f"{who} do not differ" if len(learners) == 2 else f"no two of {who} differ"
    return f"{differ} significantly" + phrases.AS_FAR * (UNTESTED in outcomes)


def _names(pairs: Iterable[Pair]) -> str:
    return listed([pair.second for pair in pairs])


def _stretch(stretch: Sequence[Standing], findings: ModelFindings) -> str:
    """What holds at every size of a stretch."""
    first, sizes = stretch[0], _where(stretch, findings)
    text = f"At {sizes} {first.leader}"
    if first.wins:
        leads = [lead for standing in stretch for lead in standing.beats]
        every = f"every other {findings.design.words.treatment}"
        whom = first.beats[0].second if len(first.beats) == 1 else every
        whom = f"{every} that it could be tested against" if first.untested else whom
        by = ", by" if len(leads) == 1 else "; its smallest lead is"
        least = _placed(verdicts.smallest_lead(leads), stretch, first.beats, findings)
        return f"{text} beats {whom}{by} {least}."
    if first.shared_with:
        text = f"At {sizes} {listed([first.leader, *first.shared_with])} share the best mean"
        text += f"; {first.leader}" * bool(first.beats or first.level or first.beaten_by)
    else:
        text += " has the best mean" + " and" * bool(first.beats)
    if first.beats:
        text += f" beats {_names(first.beats)}"
    if first.level:
        leads = [lead for standing in stretch for lead in standing.level]
        lead = "its largest lead: " * (len(leads) > 1)
        lead += _placed(verdicts.largest_lead(leads), stretch, first.level, findings)
        text += ", but" * bool(first.beats or not first.shared_with)
        text += f" does not differ significantly from {_names(first.level)} ({lead})"
    if first.beaten_by:
        verb = "beats" if len(first.beaten_by) == 1 else "beat"
        text += f", yet {_names(first.beaten_by)} {verb} it over the models that both have"
    if first.untested and not (first.beats or first.level or first.identical or first.beaten_by):
        text += " but cannot be compared with the others"
    return f"{text}."


def _placed(
    pair: Pair, stretch: Sequence[Standing], rivals: Sequence[Pair], findings: ModelFindings
) -> str:
    """A lead, with the rival and the size where there are several."""
    where = f" over {pair.second}" * (len(rivals) > 1)
    where += f" at {pair.size:,} rows" * (len(stretch) > 1)
    return pairwise.lead_text(pair, findings, named=True) + f",{where}" * bool(where)


def best_means(standings: Sequence[Standing], findings: ModelFindings) -> str:
    """Who has the best mean where."""
    best = grouped((standing.leader, standing) for standing in standings)
    return listed([f"{name}'s at {_where(at, findings)}" for name, at in best.items()])


def _summary(standings: Sequence[Standing], findings: ModelFindings) -> list[str]:
    """Who has the best mean where, where it wins, and from whom it does not differ elsewhere."""

    def placed(pair: Pair) -> str:
        return _placed(pair, standings, findings.pairs, findings)

    tied = [standing for standing in standings if standing.shared_with]
    won = [standing for standing in standings if standing.wins]
    level = [standing for standing in standings if standing.level]
    owners = best_means(standings, findings)
    owners += f", shared with others at {_where(tied, findings)}" if tied else ""
    text = f"The {findings.design.words.treatment} with the best mean beats "
    if won:
        tested = " that it could be tested against" * any(standing.untested for standing in won)
        least = verdicts.smallest_lead(pair for standing in won for pair in standing.beats)
        text += f"every other{tested} at {_where(won, findings)} "
        text += f"(its smallest lead there is {placed(least)})"
    else:
        text += "all others at no size studied"
    if level:
        counts = [len(standing.level) for standing in level]
        rivals = f"{count_range(min(counts), max(counts))} of the others"
        verb = "does" if max(counts) == 1 else "do"
        most = verdicts.largest_lead(lead for standing in level for lead in standing.level)
        text += f"; at {_where(level, findings)} {rivals} {verb} not differ significantly from it "
        text += f"(the largest such lead is {placed(most)})"
    if any(standing.beaten_by for standing in standings):
        text += "; where models are missing, another beats it over the models that both have"
    return [f"The best mean is {owners}.", f"{text}."]


def _changes(findings: ModelFindings, overtaking: bool) -> list[str]:
    """Who overtakes whom, and which pairs never differ, or could not be tested."""
    sizes, parts = findings.design.sizes, []
    if overtaking and any(course.analysed for course in findings.courses):
        leaders = {standing.leader for standing in findings.standings}
        parts.append(pairwise.changes_sentence(findings, leaders))
    compared = grouped(((pair.first, pair.second), pair) for pair in findings.pairs)
    every_two = itertools.combinations(findings.design.learners, 2)
    by_pair = {names: compared.get(names, []) for names in every_two}
    whole = counted(len(by_pair), "pair")
    differ = {names for names, at in by_pair.items() if any(p.verdict == AHEAD for p in at)}
    tested = {names: sum(p.verdict != UNTESTED for p in at) for names, at in by_pair.items()}
    same = {names: [p for p in at if p.verdict == IDENTICAL] for names, at in by_pair.items()}
    never = [n for n in by_pair if n not in differ and tested[n] > len(same[n])]
    if never and differ and len(sizes) > 1:
        whom = listed(never[0]) if len(never) == 1 else f"{len(never)} of {whole}"
        every = all(tested[names] == len(sizes) for names in never)
        where = "studied" if every else "at which they could be tested"
        parts.append(f"{whom} do not differ significantly at any size {where}")
    if sum(map(len, same.values())) < sum(tested.values()):  # else the leaders' sentence covers it
        parts += _identical({n: at for n, at in same.items() if at}, whole, findings)
    untested = sum(number == 0 for number in tested.values())
    partly = sum(1 <= number < len(sizes) for number in tested.values())
    if untested and any(tested.values()):
        parts.append(f"{untested} of {whole} could not be tested")
    if partly:
        parts.append(f"{partly} of {whole} could be tested only at some sizes")
    text = "; ".join(parts)
    # A label at the start stays as it is.
    text = text if text.startswith(findings.design.learners) else opening(text)
    return [f"{text}."] if parts else []


def _identical(
    same: dict[tuple[str, str], list[Pair]], whole: str, findings: ModelFindings
) -> list[str]:
    """Which pairs have the same score in every model."""
    sizes, models = len(findings.design.sizes), findings.design.models
    if len(same) > _MAX_STRETCHES:
        every = [pair for at in same.values() for pair in at]
        text = f"{len(same)} of {whole} are identical in {pairwise.every_model(every, models)}"
        return [text + " at some sizes" * (len(every) < len(same) * sizes)]
    parts = []
    for names, at in same.items():
        where = f" at {_where(at, findings)}" * (len(at) < sizes)
        parts.append(f"{listed(names)} are identical in {pairwise.every_model(at, models)}{where}")
    return parts


def method(findings: ModelFindings, overtaking: bool = True) -> str:
    """What the statements rest on."""
    design, info = findings.design, findings.info
    if findings.pairs_used is None:
        return "No pair could be tested: scores are infinite, or fewer than two models are common."
    least, most = findings.pairs_used
    fewer = least < design.models
    used = count_range(least, most) + f" of {design.models}" * fewer
    used += " models" + ", those that both have," * fewer
    better = "" if info.greater_is_better else ", where lower is better"
    scope = adjusted_for(design.adjustment, findings.pair_tests)
    text = (
        f"{opening(phrases.paired_tests(findings))} over {used} at "
        f"{phrases.level(design.confidence)} confidence, {scope}; numbers are differences in mean "
        f"{phrases.with_unit(info)}{better}, in favour of the {design.words.treatment} named first."
    )
    courses = findings.courses if overtaking else ()
    if changes := [change for course in courses for change in course.changes]:
        estimated = any(change.estimated for change in changes)
        brackets = "; in brackets, intervals of crossings, adjusted likewise" * estimated
        text += f" By the same tests, {pairwise.overtakes(findings)}{brackets}."
    return text


def _means(findings: ModelFindings) -> list[str]:
    """Which models means are over, where that is not all of them."""
    least, most = findings.models_used
    order = ", which may affect their order" * (least < most)
    text = f"Means are {phrases.over_models(findings)}{order}."
    return [text] * (least < findings.design.models)


def _lost(findings: ModelFindings, failures: int, cells: int) -> list[str]:
    """Which cells failed or are infinite, and so are not compared."""
    parts = []
    if failures:
        every = phrases.failed_learners(findings)
        all_of = f", among them all of {listed(every)}" * bool(every)
        parts.append(f"{failures:,} of {cells:,} cells failed{all_of}")
    if infinite := grouped((mean.learner, mean) for mean in findings.means if mean.infinite):
        names = [f"{learner} at {_where(at, findings)}" for learner, at in infinite.items()]
        parts.append(f"infinite scores, which are not tested: {listed(names)}")
    return [opening("; ".join(parts)) + "."] if parts else []
