"""The sentences that open a page, no stronger than the tests of the study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simstudy.analysis.data_findings import DataFindings
from simstudy.analysis.findings import ModelFindings
from simstudy.analysis.over_sets import OverSets
from simstudy.analysis.standings import AHEAD, IDENTICAL, UNTESTED, Standing
from simstudy.report.prose.numbers import brief, number
from simstudy.report.prose.phrases import (
    MAX_NAMED,
    consecutive,
    failed_learners,
    in_unit,
    listed,
)
from simstudy.texts import counted

_PLACE = "On these models"
_AS_FAR = ", as far as they could be compared"
_MAX_JOINED = 3  # learners that are joined by "or"; of more, one is named and the rest counted
_MAX_CLAUSES, _MAX_RANGES = 4, 8  # on who does best at which sizes; more are summarised


def finding(findings: ModelFindings) -> str:
    """Who does best with how many rows, by one measure.

    Learners are said to do best at a size where no test has another ahead of them and they do not
    differ significantly from the best mean (`Standing.contenders`); those joined by "or" do not
    differ significantly from each other. With many sizes, whose mean is best, or who does best at
    the ends.
    """
    failed = failed_learners(findings)
    lost = f" {listed([*map(brief, failed)])} failed in every cell." * bool(failed)
    return _of_the_others(findings, failed) + lost


def _of_the_others(findings: ModelFindings, failed: Sequence[str]) -> str:
    """Who does best among the learners that did not fail in every cell."""
    standings, learners = findings.standings, findings.design.learners
    if len(learners) == 1:
        return _alone(findings)
    if not standings:
        one = findings.design.words.treatment
        return f"{_PLACE} no {one} has a finite mean, so that none can be called the best."
    if not any(pair.verdict == AHEAD for pair in findings.pairs):
        return _no_differences(findings, failed)
    decided = [one for one in standings if one.contenders and one.beaten]
    clauses = _clauses(decided, failed)
    leaders = {one.leader: [s.size for s in decided if s.leader == one.leader] for one in decided}
    if _few([clause.sizes for clause in clauses], findings):
        parts = [_best(clauses, findings)] if clauses else []
    elif _few([*leaders.values()], findings):
        parts = [_best_means(leaders, decided, findings)]
    else:
        text = _best(_clauses([decided[0], decided[-1]], failed), findings)
        parts = [f"{text}; in between, the answer changes with the size"]
    return f"{_PLACE} {'; '.join([*parts, *_undecided(findings, failed)])}."


class Clause(NamedTuple):
    """Learners that do best at some sizes, and those that could not be compared there."""

    best: tuple[str, ...]
    untested: tuple[str, ...]
    sizes: list[int]


def _clauses(standings: Sequence[Standing], failed: Sequence[str]) -> list[Clause]:
    """Group the sizes by who does best, in the order of their first sizes."""
    found: dict[tuple[frozenset[str], frozenset[str]], Clause] = {}
    for one in standings:
        best = one.contenders
        untested = tuple(pair.second for pair in one.untested if pair.second not in failed)
        key = frozenset(best), frozenset(untested)
        found.setdefault(key, Clause(best, untested, [])).sizes.append(one.size)
    return list(found.values())


def _best(clauses: Sequence[Clause], findings: ModelFindings) -> str:
    """Who does best with how many rows."""
    texts = []
    for place, clause in enumerate(clauses):
        verb, noun = (" does best", " rows") if place == 0 else ("", "")
        text = f"{_either(clause.best)}{verb} with {_sizes(clause.sizes, findings)}{noun}"
        if clause.untested:
            text += f" ({listed([*map(brief, clause.untested)], 2)} could not be compared)"
        texts.append(text)
    text = _joined(texts)
    several = [clause for clause in clauses if len(clause.best) > 1]
    if several == [clauses[-1]]:
        who = "the two" if len(clauses[-1].best) == 2 else "these"
        return f"{text}, where {who} do not differ significantly"
    name = findings.design.words.name
    return text + f"; {name} joined by “or” do not differ significantly" * bool(several)


def _either(names: Sequence[str]) -> str:
    """Join names as "A", "A or B", "A, B or C"; of more, the first and the number of others."""
    shown = [*map(brief, names)]
    if len(shown) > _MAX_JOINED:
        shown = [shown[0], f"one of {len(shown) - 1} others"]
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _joined(texts: Sequence[str]) -> str:
    """Join clauses; with a comma before the last where they are many or long."""
    *others, last = texts
    if not others:
        return last
    comma = "," * (len(others) > 1 or " or " in f"{others[0]}{last}")
    return f"{', '.join(others)}{comma} and {last}"


def _ranges(sizes: Sequence[int], findings: ModelFindings) -> list[str]:
    """Write some of the sizes studied; three or more in a row as a range."""
    parts: list[str] = []
    for run in consecutive(sizes, findings.design.sizes):
        each = [f"{size:,}" for size in run]
        parts += [f"{each[0]} to {each[-1]}"] if len(each) > 2 else each
    return parts


def _few(groups: Sequence[Sequence[int]], findings: ModelFindings) -> bool:
    """Whether groups of sizes can be listed in a sentence."""
    ranges = sum(len(_ranges(sizes, findings)) for sizes in groups)
    return len(groups) <= _MAX_CLAUSES and ranges <= _MAX_RANGES


def _sizes(sizes: Sequence[int], findings: ModelFindings) -> str:
    """Name all of some sizes."""
    ranges = _ranges(sizes, findings)
    return listed(ranges, most=len(ranges))


def _best_means(
    leaders: dict[str, list[int]], decided: Sequence[Standing], findings: ModelFindings
) -> str:
    """Whose mean is best with how many rows, and at how many sizes it beats every other."""
    texts: list[str] = []
    for name, sizes in leaders.items():
        rows = " rows" * (not texts)
        texts.append(f"{brief(name)}’s with {_sizes(sizes, findings)}{rows}")
    won = sum(one.wins and not one.untested for one in decided)
    return (
        f"the best mean is {_joined(texts)}; it is significantly better than every other at {won} "
        f"of these {len(decided)} sizes"
    )


def _undecided(findings: ModelFindings, failed: Sequence[str]) -> list[str]:
    """At which sizes nobody can be said to do best, and why."""
    found: dict[str, list[int]] = {}
    known = {standing.size: standing for standing in findings.standings}
    kind = findings.design.words
    best = f"the {kind.treatment} of best mean"
    for size in findings.design.sizes:
        if (one := known.get(size)) is None:
            found.setdefault("no mean is finite", []).append(size)
        elif one.contenders and not one.beaten:
            tested = all(
                pair.verdict != UNTESTED or {pair.first, pair.second} & {*failed}
                for pair in findings.pairs_at(size)
            )
            why = f"no two {kind.name} differ significantly{_AS_FAR * (not tested)}"
            found.setdefault(why, []).append(size)
        elif one.leader in one.beaten:
            why = f"{best} is beaten by another over the models that both have"
            found.setdefault(why, []).append(size)
        elif not one.contenders:
            why = f"{best} could not be compared with the others"
            found.setdefault(why, []).append(size)
    texts = []
    for why, sizes in found.items():
        where = f"with {_sizes(sizes, findings)} rows"
        if not _few([sizes], findings):
            where = f"at {len(sizes)} of {len(findings.design.sizes)} sizes"
        texts.append(f"{where} {why}")
    return texts


def _no_differences(findings: ModelFindings, failed: Sequence[str]) -> str:
    """That no test has any learner ahead of another."""
    learners = [brief(name) for name in findings.design.learners if name not in failed]
    if len(learners) == 1:
        return f"{_PLACE} there is nothing to compare {learners[0]} with."
    sizes = [standing.size for standing in findings.standings]
    verdicts = {p.verdict for p in findings.pairs if not {p.first, p.second} & {*failed}}
    who = f"the {len(learners)} {findings.design.words.name}"
    who = listed(learners) if len(learners) <= MAX_NAMED + 1 else who
    where = f"with {_sizes(sizes, findings)} rows"
    if not verdicts - {UNTESTED}:
        return f"{_PLACE} {who} could not be compared."
    if verdicts == {IDENTICAL}:
        return f"{_PLACE} {who} have the same scores {where}."
    who = who if len(learners) == 2 else f"no two of {who}"
    tested = _AS_FAR * (UNTESTED in verdicts)
    verb = "do not differ" if len(learners) == 2 else "differ"
    return f"{_PLACE} {who} {verb} significantly {where}{tested}."


def _alone(findings: ModelFindings) -> str:
    """The means of the only learner at the smallest and the largest size."""
    means = findings.means
    who = f"{brief(means[0].learner)}, the only {findings.design.words.treatment},"
    ends = dict.fromkeys((means[0], means[-1]))
    known = [mean for mean in ends if mean.n or mean.infinite]
    if not known:
        return f"{_PLACE} {who} has no score."
    each = [
        f"{in_unit(number(mean.mean), findings.info)} with {mean.size:,} rows" for mean in known
    ]
    return f"{_PLACE} the mean {findings.info.label} of {who} is {listed(each)}."


# Studies of data sets


def data_finding(findings: DataFindings) -> str:
    """Who has the best mean on how many data sets, who is ahead, and what holds over all."""
    if len(findings.learners) == 1:
        return _alone_on_sets(findings)
    if not any(findings.best.values()):
        return "No learner has a finite mean on any data set, so that none can be called the best."
    if len(known := findings.with_means) == 1:
        return f"{brief(known[0])} is the only learner with a mean {findings.info.label}."
    if len(findings.datasets) == 1:
        return _on_one(findings)
    parts = [_best_on_sets(findings), _ahead(findings)]
    if findings.over_sets:
        parts.append(_over_all_sets(findings.over_sets))
    return " ".join(parts)


def _best_on_sets(findings: DataFindings) -> str:
    """Whose mean is best on how many data sets."""
    found = [one for one in findings.standings if one.best]
    first, *others = found
    sets = len(findings.datasets)
    texts = [f"{brief(first.learner)} has the best mean on {first.best} of {sets} data sets"]
    texts += [f"{brief(one.learner)} on {one.best}" for one in others[:MAX_NAMED]]
    if rest := others[MAX_NAMED:]:
        texts.append(f"{counted(len(rest), 'other')} on {sum(one.best for one in rest)}")
    shared = f" (shared on {findings.tied})" if findings.tied else ""
    return f"By {findings.info.label} {listed(texts, most=len(texts))}{shared}{_gaps(findings)}."


def _gaps(findings: DataFindings) -> str:
    """Where another learner might have had the best mean, had it not failed."""
    where = [*map(brief, findings.incomplete)]
    return f"; on {listed(where, 3)} not every learner has a mean" if where else ""


def by_other_measures(others: Sequence[DataFindings]) -> str:
    """Who has the best mean on how many data sets by the other measures, in brief."""
    texts = []
    for findings in others[:MAX_NAMED]:
        best = [f"{brief(one.learner)} on {one.best}" for one in findings.standings if one.best]
        if len(findings.with_means) > 1 and len(findings.datasets) > 1:
            texts.append(f"By {findings.info.label}: {listed(best)}.")
    return " ".join(texts)


def _ahead(findings: DataFindings) -> str:
    """Who is significantly better than another and worse than none on how many data sets."""
    if not (findings.winners.pairs["winner"] != "").any():
        return "On no single data set do two learners differ significantly."
    shown = [f"{brief(one.learner)} on {one.ahead}" for one in findings.by_ahead if one.ahead]
    if not shown:
        return "On no data set is a learner significantly better than another and worse than none."
    shown = shown[: MAX_NAMED + 1]
    return f"Significantly ahead of another, and behind none, is {listed(shown, most=len(shown))}."


def _over_all_sets(found: OverSets) -> str:
    """Who is significantly better than whom over all data sets."""
    leader, place = found.leader, f"Over {counted(len(found.datasets), 'data set')}"
    if not any(pair.winner for pair in found.pairs):
        who = "the two learners do not" if len(found.learners) == 2 else "no two learners"
        few = "; with so few, no difference could be significant" * found.too_few
        return f"{place} {who} differ significantly{few}."
    beaten, above = found.beaten_by(leader), found.ahead_of(leader)
    level = [name for name in found.learners if name not in (leader, *beaten, *above)]
    text = f"{place} {brief(leader)} is significantly better than {_named(beaten)}"
    if above:
        text += f", and worse than {_named(above)}"
    elif level:
        text += f", and does not differ significantly from {_named(level)}"
    return f"{text}."


def _named(names: Sequence[str]) -> str:
    return listed([*map(brief, names)])


def _on_one(findings: DataFindings) -> str:
    """Who is best on the only data set."""
    (dataset,) = findings.datasets
    best = findings.best[dataset]
    value = in_unit(number(float(findings.means[best[0]][dataset])), findings.info)
    who = f"{_named(best)} {'have' if len(best) > 1 else 'has'}"
    lost = [name for name in findings.learners if name not in findings.with_means]
    gaps = f"; {_named(lost)} {'have' if len(lost) > 1 else 'has'} none" if lost else ""
    text = f"On {brief(dataset)} {who} the best mean {findings.info.label}, {value}{gaps}."
    common = findings.beaten_by_best(dataset)
    others = [name for name in findings.learners if name not in (*best, *common, *lost)]
    it = "It is" if len(best) == 1 else "They are"
    if not (findings.winners.pairs["winner"] != "").any():
        who = "No two learners that have one" if lost else "No two learners"
        return f"{text} {who} differ significantly."
    if not common:
        return f"{text} {it} not significantly better than any other learner."
    rest = f"; a difference from {_named(others)} is not significant" if others else ""
    return f"{text} {it} significantly better than {_named(common)}{rest}."


def _alone_on_sets(findings: DataFindings) -> str:
    """The means of the only learner."""
    name, label = brief(findings.learners[0]), findings.info.label
    known = findings.means.iloc[:, 0].dropna()
    if known.empty:
        return f"{name}, the only learner, has no finite mean on any data set."
    ends = [in_unit(number(value), findings.info) for value in (known.min(), known.max())]
    if len(findings.datasets) == 1:
        return f"The mean {label} of {name}, the only learner, is {ends[0]}."
    low, high = map(brief, findings.ends(findings.learners[0]))
    return (
        f"The mean {label} of {name}, the only learner, is between {ends[0]} ({low}) and "
        f"{ends[1]} ({high})."
    )
