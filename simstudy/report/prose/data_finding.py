"""The findings of a study of data sets in words, no stronger than its adjusted tests."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from simstudy.analysis.across import Friedman, FTest
from simstudy.analysis.data_findings import DataFindings
from simstudy.analysis.over_sets import NEMENYI, POSTERIOR, SIGN, OverSets, SetsPair
from simstudy.analysis.ranking import DRAWS as RANK_DRAWS
from simstudy.analysis.reversals import Reversals
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.numbers import (
    brief,
    digits,
    estimated_share,
    number,
    p_value,
    setting,
)
from simstudy.report.prose.phrases import MAX_NAMED, in_unit, listed, opening
from simstudy.study.study import Study
from simstudy.texts import counted

TESTS = {
    "five_by_two_t": "5×2cv paired t test (Dietterich 1998)",
    "five_by_two_f": "combined 5×2cv F test (Alpaydin 1999)",
    "corrected_t": "corrected resampled t test (Nadeau & Bengio 2003)",
    "naive_t": "naive paired t test (too optimistic)",
}

_DISSENTS = 4  # pairs that are named of those on which a test disagrees


def data_question(study: Study, findings: DataFindings) -> str:
    """The question of a study of data sets in one sentence."""
    sets, learners = findings.datasets, findings.learners
    place = f"On {brief(sets[0])}" if len(sets) == 1 else f"On {len(sets)} data sets"
    if len(learners) == 1:
        return f"{place}, how well does {learners[0]} predict, by {findings.info.label}?"
    which = listed(learners) if len(learners) <= MAX_NAMED + 1 else f"{len(learners)} learners"
    sizes = ", and after how many training rows" if len(study.train_sizes) > 1 else ""
    return f"{place}, which of {which} predicts best, by {findings.info.label}{sizes}?"


def data_finding(findings: DataFindings) -> str:
    """Who has the best mean on how many data sets, who is ahead, and what holds over all."""
    if len(findings.learners) == 1:
        return _alone(findings)
    if not any(findings.best.values()):
        return "No learner has a finite mean on any data set, so that none can be called the best."
    if len(known := findings.with_means) == 1:
        return f"{brief(known[0])} is the only learner with a mean {findings.info.label}."
    if len(findings.datasets) == 1:
        return _on_one(findings)
    parts = [_best_means(findings), _ahead(findings)]
    if findings.over_sets:
        parts.append(_over_sets(findings.over_sets))
    return " ".join(parts)


def _best_means(findings: DataFindings) -> str:
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


def _over_sets(found: OverSets) -> str:
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


def _alone(findings: DataFindings) -> str:
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


def data_statements(findings: DataFindings, failures: int, cells: int) -> list[str]:
    """The findings in detail."""
    sentences = []
    if failures:
        sentences.append(
            f"{failures:,} of {cells:,} cells failed. A learner without a score in a split has no "
            "mean on that data set."
        )
    if len(findings.learners) > 1:
        sentences += _of_tests(findings)
    if found := findings.over_sets:
        sentences += _of_all(found)
        sentences += dissent_sentences(found, findings.info)
    return sentences


def _of_tests(findings: DataFindings) -> list[str]:
    """How many tests on single data sets are significant, and how many could not be made."""
    pairs = findings.winners.pairs
    won, tests = int((pairs["winner"] != "").sum()), len(pairs)
    where = "" if len(findings.datasets) == 1 else " on single data sets"
    sentences = [
        f"Of {counted(tests, 'test')} of two learners{where}, {won} are significant, by the "
        f"{method(findings)}."
    ]
    if findings.untested:
        reasons = [reason for reason in pairs["reason"][pairs["p"].isna()] if reason]
        why = max(dict.fromkeys(reasons), key=reasons.count, default="")
        of = "1 test" if findings.untested == 1 else f"{findings.untested} tests"
        sentences.append(f"{of} cannot be made{f' (mostly: {why})' if why else ''}.")
    return sentences


def _of_all(found: OverSets) -> list[str]:
    """The tests of all learners, and what the number of data sets allows."""
    sentences = []
    if found.left_out:
        names = listed([*map(brief, found.left_out)])
        sentences.append(f"Comparisons over data sets leave out {names}, where a mean is missing.")
    sentences.append(f"Over data sets one rule decides: {over_method(found)}.")
    if len(found.learners) > 2:
        sentences.append(_of_ranks(found))
    if found.too_few:
        sentences.append(
            f"{opening(counted(len(found.datasets), 'data set'))} are too few for Wilcoxon's test: "
            f"the smallest adjusted p that they allow is {p_value(found.least_p)}."
        )
    return sentences


def _of_ranks(found: OverSets) -> str:
    """Friedman's test of all learners, and whether it agrees with the tests of pairs."""
    test, separated = found.friedman, sum(bool(pair.winner) for pair in found.pairs)
    if test.reason:
        return f"There is no test of all average ranks: {test.reason}."
    rejects = found.ranks_differ
    text = (
        f"Friedman's test {'rejects' if rejects else 'does not reject'} that all learners are "
        f"alike (χ²({test.df}) = {number(test.statistic, 2)}, {p_value(test.p, 'p')}, "
        f"{p_method(test, 'χ²')})"
    )
    if rejects and not separated:
        return f"{text}, but does not say which differ, and no pair is separated."
    if separated and not rejects:
        return f"{text}, although Wilcoxon's test separates {counted(separated, 'pair')}."
    return f"{text}."


def p_method(test: Friedman | FTest, approximation: str) -> str:
    """Where the p of a test of all learners comes from."""
    return {
        "exact": "exact",
        "permutation": f"by {RANK_DRAWS:,} permutations",
        "approximate": f"by the {approximation} distribution",
    }[test.method]


def dissent_sentences(found: OverSets, info: MeasureInfo) -> list[str]:
    """The tests that disagree with Wilcoxon's test about pairs of learners, and by how much."""
    names = {
        NEMENYI: "Nemenyi's test (critical difference "
        f"{number(found.nemenyi.critical_difference, 2)})",
        SIGN: f"The sign test ({_adjusted(found.adjustment, found.m)})",
        POSTERIOR: f"The Bayesian signed rank test ({equivalence(found.rope, info)})",
    }
    sentences = []
    for (test, separates), group in groupby(found.dissents, lambda one: (one.test, one.separates)):
        pairs = [one.pair for one in group]
        texts = [f"{_pair(pair)} ({_by_how_much(found, test, pair)})" for pair in pairs[:_DISSENTS]]
        if rest := pairs[_DISSENTS:]:
            texts.append(counted(len(rest), "other pair"))
        verb = "separates, as Wilcoxon’s does not," if separates else "does not separate"
        sentences.append(f"{names[test]} {verb} {'; '.join(texts)}.")
    return sentences


def _pair(pair: SetsPair) -> str:
    return f"{brief(pair.first)} and {brief(pair.second)}"


def _by_how_much(found: OverSets, test: str, pair: SetsPair) -> str:
    """What another test says of a pair."""
    if test == NEMENYI:
        return f"average ranks {number(found.apart(pair), 2)} apart"
    if test == SIGN:
        sign = pair.sign
        return f"won/drawn/lost {sign.wins}/{sign.draws}/{sign.losses}, " + p_value(
            pair.p_sign_adjusted, "p"
        )
    (better, share), (_, equal, _) = pair.likelier, pair.posterior
    level = f", equivalent {estimated_share(equal)}" if found.rope else ""
    return f"{brief(better)} better with probability {estimated_share(share)}{level}"


def equivalence(rope: float, info: MeasureInfo) -> str:
    """The region of practical equivalence, in the unit of the measure."""
    if not rope:
        return f"no region of equivalence is defined for {info.label}"
    return f"equivalent: within ±{in_unit(digits(rope, 2), info)}"


def method(findings: DataFindings) -> str:
    """How pairs of learners are tested on each data set."""
    found = findings.winners
    of = " on all data sets" if len(findings.datasets) > 1 else ""
    adjusted = _adjusted(found.adjustment, found.m, of)
    return f"{TESTS[found.test]}, {adjusted}, α = {setting(found.alpha)}"


def over_method(found: OverSets) -> str:
    """How pairs of learners are tested over data sets."""
    adjusted = _adjusted(found.adjustment, found.m, " of learners")
    return f"Wilcoxon's signed rank test, exact, {adjusted}, α = {setting(found.alpha)}"


def _adjusted(adjustment: str, m: int, of: str = "") -> str:
    if adjustment == "none":
        return "not adjusted for the number of pairs"
    return f"{adjustment.capitalize()}-adjusted over m = {counted(m, 'pair')}{of}"


def reversal_sentence(found: Reversals, labels: tuple[str, str]) -> str:
    """On how many data sets two measures name different winners."""
    both = f"{opening(labels[0])} and {labels[1]}"
    if not found.datasets:
        return f"{both} cannot be compared: on no data set have two learners a mean by both."
    among = " among the learners with both" if found.partial else ""
    number, sets = len(found.found), counted(found.datasets, "data set")
    if not number:
        where = "" if found.datasets == 1 else f" on all of {sets}"
        return f"{both} name the same winner{where}{among}."
    sure = sum(one.significant_first and one.significant_second for one in found.found)
    if found.datasets == 1:
        verb = "both differences are" if sure else "the differences are not both"
        return f"{both} name different winners{among}; {verb} significant."
    return (
        f"{both} name different winners on {number} of {sets}{among}; both differences are "
        f"significant on {sure or 'none'}."
    )
