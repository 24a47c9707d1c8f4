"""The sentences that open a page, no stronger than the tests of the study."""

from __future__ import annotations

from collections.abc import Sequence

from simstudy.analysis.datasets.across_datasets import OverSets
from simstudy.analysis.datasets.findings import DataFindings
from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.standings import AHEAD, UNTESTED, Standing
from simstudy.measures.scores.rewards import PRIOR
from simstudy.report.prose import phrases
from simstudy.report.prose.numbers import brief, number
from simstudy.report.prose.phrases import MAX_NAMED, failed_learners, grouped, in_unit, listed
from simstudy.report.prose.statements import best_means, no_differences, only_learner
from simstudy.texts import counted

_MAX_JOINED = 3  # learners that are joined by "or"; of more, it is said who is worse
_MAX_CLAUSES, _MAX_RANGES = 4, 8  # on who does best at which sizes; more are summarised


def finding(findings: ModelFindings) -> str:
    """Who does best with how many rows, by one measure.

    Learners are said to do best at a size where no test has another ahead of them and they do not
    differ significantly from the best mean (`Standing.contenders`); those joined by "or" do not
    differ significantly from each other. With many sizes, whose mean is best, or who does best at
    the ends.
    """
    failed, standings = failed_learners(findings), findings.standings
    sizes = [standing.size for standing in standings]
    if len(findings.design.learners) == 1:
        text = only_learner(findings, intervals=False)
    elif not standings:
        treatment = findings.design.words.treatment
        text = f"no {treatment} has a finite mean, so none can be called the best"
    elif any(pair.verdict == AHEAD for pair in findings.pairs):
        text = _best_at_sizes(findings, failed)
    else:
        text = f"{no_differences(findings)} with {_sizes(sizes, findings)} rows"
    lost = f" {_named(failed)} failed in every cell." * bool(failed)
    return f"On these models {text}.{lost}"


def _best_at_sizes(findings: ModelFindings, failed: Sequence[str]) -> str:
    """Who does best at which sizes, where tests decide; else whose mean is best."""
    decided = [at for at in findings.standings if at.contenders and at.beaten]
    groups = _groups(decided, failed)
    if _few([[at.size for at in group] for group in groups], findings):
        parts = [_best(groups, failed, findings)] if groups else []
    elif _few([*grouped((at.leader, at.size) for at in decided).values()], findings):
        won = sum(standing.wins and not standing.untested for standing in decided)
        where = f"at {won} of these {len(decided)} sizes" if won else "at none of these sizes"
        better = f"it is significantly better than every other {where}"
        parts = [f"the best mean is {best_means(decided, findings)}; {better}"]
    else:
        text = _best(_groups([decided[0], decided[-1]], failed), failed, findings)
        parts = [f"{text}; in between, the answer changes with the size"]
    return "; ".join([*parts, *_undecided(findings, failed)])


def _untested(standing: Standing, failed: Sequence[str]) -> list[str]:
    """The learners that could not be compared with the best, but did not always fail."""
    return [pair.second for pair in standing.untested if pair.second not in failed]


def _groups(standings: Sequence[Standing], failed: Sequence[str]) -> list[list[Standing]]:
    """Group the sizes by who does best, in the order of their first sizes."""
    keys = []
    for at in standings:
        leader = at.leader * (len(at.contenders) > _MAX_JOINED)
        keys.append((frozenset(at.contenders), frozenset(_untested(at, failed)), leader))
    return [*grouped(zip(keys, standings, strict=True)).values()]


def _best(
    groups: Sequence[Sequence[Standing]], failed: Sequence[str], findings: ModelFindings
) -> str:
    """Who does best with how many rows; where that may be many, whose mean is best, who is worse.

    Those of many come last.
    """
    texts, parts = list[str](), list[str]()
    few = [group for group in groups if len(group[0].contenders) <= _MAX_JOINED]
    crowds = grouped((g[0].leader, at) for g in groups if g not in few for at in g)
    for group in [*few, *crowds.values()]:
        names = [*map(brief, group[0].contenders)]
        untested = [*dict.fromkeys(name for at in group for name in _untested(at, failed))]
        sizes = _sizes(sorted(standing.size for standing in group), findings)
        verb, noun = ("", "") if texts else (" does best", " rows")
        text = f"{listed(names, last='or')}{verb} with {sizes}{noun}"
        if group not in few:
            leader = brief(group[0].leader)
            text = f"{leader} has the best mean with {sizes} rows, where {_worse(group, failed)}"
        text += f" ({_named(untested, 2)} could not be compared)" * bool(untested)
        (texts if group in few else parts).append(text)
    if not texts:
        return "; ".join(parts)
    *before, last = texts
    comma = "," * (len(before) > 1 or " or " in f"{texts[0]}{last}")
    text = f"{', '.join(before)}{comma} and {last}" if before else last
    several = [group for group in few if len(group[0].contenders) > 1]
    if several == [few[-1]]:
        who = "the two" if len(few[-1][0].contenders) == 2 else "these"
        text += f", where {who} do not differ significantly"
    elif several:
        parts.insert(0, f"{findings.design.words.name} joined by “or” do not differ significantly")
    return "; ".join([text, *parts])


def _worse(crowd: Sequence[Standing], failed: Sequence[str]) -> str:
    """Which few are significantly worse, or how many at each size."""
    each = [at.beaten.difference(_untested(at, failed)) for at in crowd]
    worse = [name for name in crowd[0].ranked if name in each[0]]
    number = phrases.count_range(*(end(map(len, each)) for end in (min, max)))
    many = f"{number} of {len(crowd[0].ranked) - 1 - len(failed)} others"
    who = many if len({*each}) > 1 or len(worse) > MAX_NAMED + 1 else f"only {_named(worse)}"
    return f"{who} {'is' if number == '1' else 'are'} significantly worse than another"


def _few(groups: Sequence[Sequence[int]], findings: ModelFindings) -> bool:
    """Whether groups of sizes can be listed in a sentence."""
    number = sum(len(phrases.ranges(sizes, findings.design.sizes)) for sizes in groups)
    return len(groups) <= _MAX_CLAUSES and number <= _MAX_RANGES


def _sizes(sizes: Sequence[int], findings: ModelFindings) -> str:
    """Name all of some sizes."""
    return listed(phrases.ranges(sizes, findings.design.sizes), most=len(sizes))


def _undecided(findings: ModelFindings, failed: Sequence[str]) -> list[str]:
    """At which sizes no learner can be said to do best, and why."""
    reasons: list[tuple[str, int]] = []
    standings = {standing.size: standing for standing in findings.standings}
    kind = findings.design.words
    best = f"the {kind.treatment} with the best mean"
    for size in findings.design.sizes:
        standing = standings.get(size)
        if standing is None:
            why = "no mean is finite"
        elif standing.contenders and not standing.beaten:
            pairs = [pair for pair in findings.pairs_at(size) if pair.verdict == UNTESTED]
            skipped = any(not {pair.first, pair.second} & {*failed} for pair in pairs)
            why = f"no two {kind.name} differ significantly{phrases.AS_FAR * skipped}"
        elif standing.leader in standing.beaten:
            why = f"{best} is beaten by another over the models that both have"
        elif not standing.contenders:
            why = f"{best} could not be compared with the others"
        else:
            continue
        reasons.append((why, size))
    return [
        f"with {_sizes(sizes, findings)} rows {why}"
        if _few([sizes], findings)
        else f"at {len(sizes)} of {len(findings.design.sizes)} sizes {why}"
        for why, sizes in grouped(reasons).items()
    ]


def _named(names: Sequence[str], most: int = MAX_NAMED) -> str:
    return listed([*map(brief, names)], most)


# Studies of data sets


def data_finding(findings: DataFindings) -> str:
    """What holds over all data sets, who has the best mean on how many, and who is ahead."""
    if len(findings.learners) == 1:
        return _alone_on_sets(findings)
    if not any(findings.best.values()):
        return "No learner has a finite mean on any data set, so none can be called the best."
    if len(scored := findings.with_means) == 1:
        return f"{brief(scored[0])} is the only learner with a mean {findings.info.label}."
    if len(findings.datasets) == 1:
        return _on_one(findings)
    over = [_over_all_sets(findings.over_sets)] if findings.over_sets else []
    return " ".join([*over, _best_on_sets(findings)])


def _best_on_sets(findings: DataFindings) -> str:
    """Whose mean is best on how many data sets, and where a learner without one might have been."""
    first, *rivals = [standing for standing in findings.standings if standing.best]
    sets, gaps = len(findings.datasets), _named(findings.incomplete, 3)
    texts = [f"{brief(first.learner)} has the best mean on {first.best} of {sets} data sets"]
    texts += [f"{brief(rival.learner)} on {rival.best}" for rival in rivals[:MAX_NAMED]]
    if rest := rivals[MAX_NAMED:]:
        texts.append(f"{counted(len(rest), 'other')} on {sum(rival.best for rival in rest)}")
    text = f"By {findings.info.label} {listed(texts, most=len(texts))}"
    text += f" (shared on {findings.tied})" * bool(findings.tied)
    text += f"; on {gaps} not every learner has a mean" * bool(gaps)
    sure = sum(bool(findings.beaten_by_best(at)) for at in findings.datasets if findings.best[at])
    where = f"{sure or 'none'} of the {sets}"
    return f"{text}; on {where} the best mean is significantly better than at least one other."


def by_other_measures(further: Sequence[DataFindings]) -> str:
    """Who has the best mean on how many data sets by the other measures, in brief."""
    texts = []
    for findings in further[:MAX_NAMED]:
        best = [f"{brief(each.learner)} on {each.best}" for each in findings.standings if each.best]
        if len(findings.with_means) > 1 and len(findings.datasets) > 1:
            texts.append(f"Best means by {findings.info.label}: {listed(best)}.")
    return " ".join(texts)


def ahead_on_sets(findings: DataFindings) -> str:
    """Who is significantly better than another and worse than none on how many data sets."""
    ahead = [f"{brief(each.learner)} on {each.ahead}" for each in findings.by_ahead if each.ahead]
    if not ahead:
        return "On no data set is a learner significantly better than another and worse than none."
    shown = listed(ahead[: MAX_NAMED + 1])
    return f"Significantly ahead of another learner, and behind none: {shown}."


def _over_all_sets(over: OverSets) -> str:
    """Who is significantly better than whom over all data sets."""
    leader, place = over.leader, f"Over {counted(len(over.datasets), 'data set')}"
    if not any(pair.winner for pair in over.pairs):
        who = "the two learners do not" if len(over.learners) == 2 else "no two learners"
        few = "; with so few, no difference could be significant" * over.too_few
        return f"{place} {who} differ significantly{few}."
    beaten, above = over.beaten_by(leader), over.ahead_of(leader)
    level = [name for name in over.learners if name not in (leader, *beaten, *above)]
    text = f"{place} {brief(leader)} is significantly better than {_named(beaten)}"
    if above:
        text += f", and worse than {_named(above)}"
    elif level:
        text += f", and does not differ significantly from {_named(level)}"
    return f"{text}."


def _on_one(findings: DataFindings) -> str:
    """Who is best on the only data set."""
    (dataset,) = findings.datasets
    best, beaten = findings.best[dataset], findings.beaten_by_best(dataset)
    lost = [name for name in findings.learners if name not in findings.with_means]
    level = [name for name in findings.learners if name not in (*best, *beaten, *lost)]
    value = in_unit(number(float(findings.means[best[0]][dataset])), findings.info)
    has, it = ("has", "It is") if len(best) == 1 else ("have", "They are")
    text = f"On {brief(dataset)}, {_named(best)} {has} the best mean {findings.info.label}, {value}"
    text += f"; {_named(lost)} {'have' if len(lost) > 1 else 'has'} none." if lost else "."
    rest = f"; the difference from {_named(level)} is not significant" * bool(level)
    if not (findings.winners.pairs["winner"] != "").any():
        text += f" No two learners{' that have one' * bool(lost)} differ significantly."
    elif beaten:
        text += f" {it} significantly better than {_named(beaten)}{rest}."
    else:
        text += f" {it} not significantly better than any other learner."
    if findings.info.zero == PRIOR and findings.means[best[0]][dataset] <= 0:
        text += " No mean is above 0, the score of the prior (by default the class frequencies)."
    return text


def _alone_on_sets(findings: DataFindings) -> str:
    """The means of the only learner."""
    (learner,), scored = findings.learners, findings.means.iloc[:, 0].dropna()
    name = f"{brief(learner)}, the only learner,"
    if scored.empty:
        return f"{name} has no finite mean on any data set."
    low, high = (in_unit(number(value), findings.info) for value in (scored.min(), scored.max()))
    text = f"{name} has a mean {findings.info.label} of {low}"
    if len(findings.datasets) > 1:
        ends = [*map(brief, findings.ends(learner))]
        text += f" ({ends[0]}) to {high} ({ends[1]})"
    return f"{text}."
