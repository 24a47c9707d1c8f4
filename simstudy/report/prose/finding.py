"""The finding of a study in one plain sentence, no stronger than its tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from simstudy.analysis.findings import Findings
from simstudy.analysis.standings import AHEAD, IDENTICAL, UNTESTED, Standing
from simstudy.report.prose.numbers import brief, number
from simstudy.report.prose.phrases import (
    MAX_NAMED,
    consecutive,
    failed_learners,
    in_unit,
    listed,
)

_PLACE = "On these models"
_AS_FAR = ", as far as they could be compared"
_MAX_JOINED = 3  # learners that are joined by "or"; of more, one is named and the rest counted
_MAX_CLAUSES, _MAX_RANGES = 4, 8  # on who does best at which sizes; more are summarised


def finding(findings: Findings) -> str:
    """Who does best with how many rows, by one measure.

    Learners are said to do best at a size where no test has another ahead of them and they do not
    differ significantly from the best mean (`Standing.contenders`); those joined by "or" do not
    differ significantly from each other. With many sizes, whose mean is best, or who does best at
    the ends.
    """
    failed = failed_learners(findings)
    lost = f" {listed([*map(brief, failed)])} failed in every cell." * bool(failed)
    return _of_the_others(findings, failed) + lost


def _of_the_others(findings: Findings, failed: Sequence[str]) -> str:
    """Who does best among the learners that did not fail in every cell."""
    standings, learners = findings.standings, findings.design.learners
    if len(learners) == 1:
        return _alone(findings)
    if not standings:
        one = findings.design.kind.treatment
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


def _best(clauses: Sequence[Clause], findings: Findings) -> str:
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
    name = findings.design.kind.name
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


def _ranges(sizes: Sequence[int], findings: Findings) -> list[str]:
    """Write some of the sizes studied; three or more in a row as a range."""
    parts: list[str] = []
    for run in consecutive(sizes, findings.design.sizes):
        each = [f"{size:,}" for size in run]
        parts += [f"{each[0]} to {each[-1]}"] if len(each) > 2 else each
    return parts


def _few(groups: Sequence[Sequence[int]], findings: Findings) -> bool:
    """Whether groups of sizes can be listed in a sentence."""
    ranges = sum(len(_ranges(sizes, findings)) for sizes in groups)
    return len(groups) <= _MAX_CLAUSES and ranges <= _MAX_RANGES


def _sizes(sizes: Sequence[int], findings: Findings) -> str:
    """Name all of some sizes."""
    ranges = _ranges(sizes, findings)
    return listed(ranges, most=len(ranges))


def _best_means(
    leaders: dict[str, list[int]], decided: Sequence[Standing], findings: Findings
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


def _undecided(findings: Findings, failed: Sequence[str]) -> list[str]:
    """At which sizes nobody can be said to do best, and why."""
    found: dict[str, list[int]] = {}
    known = {standing.size: standing for standing in findings.standings}
    kind = findings.design.kind
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


def _no_differences(findings: Findings, failed: Sequence[str]) -> str:
    """That no test has any learner ahead of another."""
    learners = [brief(name) for name in findings.design.learners if name not in failed]
    if len(learners) == 1:
        return f"{_PLACE} there is nothing to compare {learners[0]} with."
    sizes = [standing.size for standing in findings.standings]
    verdicts = {p.verdict for p in findings.pairs if not {p.first, p.second} & {*failed}}
    who = f"the {len(learners)} {findings.design.kind.name}"
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


def _alone(findings: Findings) -> str:
    """The means of the only learner at the smallest and the largest size."""
    means = findings.means
    who = f"{brief(means[0].learner)}, the only {findings.design.kind.treatment},"
    ends = dict.fromkeys((means[0], means[-1]))
    known = [mean for mean in ends if mean.n or mean.infinite]
    if not known:
        return f"{_PLACE} {who} has no score."
    each = [
        f"{in_unit(number(mean.mean), findings.info)} with {mean.size:,} rows" for mean in known
    ]
    return f"{_PLACE} the mean {findings.info.label} of {who} is {listed(each)}."
