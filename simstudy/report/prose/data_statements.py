"""The findings of a study of data sets in words, no stronger than its adjusted tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter

from simstudy.analysis.datasets.across_datasets import NEMENYI, POSTERIOR, SIGN, OverSets, SetsPair
from simstudy.analysis.datasets.findings import DataFindings
from simstudy.analysis.datasets.split_power import resolutions
from simstudy.analysis.datasets.two_measures import Reversals
from simstudy.analysis.models.computing_time import pareto_front
from simstudy.analysis.tests.friedman import DRAWS as RANK_DRAWS
from simstudy.analysis.tests.friedman import Friedman, FTest
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.design import stated_repeats
from simstudy.report.prose.finding import ahead_on_sets
from simstudy.report.prose.numbers import brief, digits, estimated_share, number, p_value, setting
from simstudy.report.prose.phrases import in_unit, listed, opening
from simstudy.study.study import Study
from simstudy.texts import counted

TESTS = {
    "five_by_two_t": "5×2cv paired t test (Dietterich 1998)",
    "five_by_two_f": "combined 5×2cv F test (Alpaydin 1999)",
    "corrected_t": "corrected resampled t test (Nadeau & Bengio 2003)",
    "naive_t": "naive paired t test (too optimistic)",
}

_DISSENTS = 4  # pairs that are named of those on which a test disagrees


def data_statements(findings: DataFindings, failures: int, cells: int) -> list[str]:
    """The findings in detail."""
    failed = (
        f"{failures:,} of {cells:,} cells failed. A learner without a score in a split has no mean "
        "on that data set."
    )
    sentences = [failed] * bool(failures)
    if len(findings.learners) > 1:
        sentences += _tests_on_sets(findings)
    if over := findings.over_sets:
        sentences += [*_tests_over_sets(over), *dissent_sentences(over, findings.info)]
    return sentences


def _tests_on_sets(findings: DataFindings) -> list[str]:
    """How many tests on single data sets are significant, and how many could not be made."""
    pairs = findings.winners.pairs
    won, tests = int((pairs["winner"] != "").sum()), len(pairs)
    where = " on single data sets" * (len(findings.datasets) > 1)
    text = f"Of {tests} pairwise tests{where}, {won} {'is' if won == 1 else 'are'} significant"
    if tests == 1:
        text = f"The only pairwise test is {'' if won else 'not '}significant"
    sentences = [f"{text} by the {method(findings)}."]
    if where and won:
        sentences.append(ahead_on_sets(findings))
    if findings.untested:
        reasons = [reason for reason in pairs["reason"][pairs["p"].isna()] if reason]
        why = f" (mostly: {max(reasons, key=reasons.count)})" if reasons else ""
        sentences.append(f"{counted(findings.untested, 'test')} cannot be computed{why}.")
    return sentences


def resolution_sentences(findings: DataFindings, study: Study) -> list[str]:
    """What tests on single data sets cannot find with these splits, and could with more repeats."""
    found = [each for each in resolutions(findings) if each.repeats]
    if not found or not stated_repeats(study, 1):
        return []
    where = f" on {len(found)} data sets" * (len(findings.datasets) > 1)
    more = [each.repeats for each in found]
    pairs = "median of" if len(found) == 1 else "medians of"
    now = _extent([each.least for each in found], findings.info)
    then = _extent([each.further for each in found], findings.info)
    repeats = stated_repeats(study, " to ".join(map(str, sorted({min(more), max(more)}))))
    return [
        f"With these splits only a difference above {now} ({pairs} the pairs that are not "
        f"significant) could be significant{where}; with {repeats} it could be from {then} on, if "
        "the standard deviation between splits stays the same."
    ]


def _extent(values: list[float], info: MeasureInfo) -> str:
    """The least and the greatest of some differences."""
    texts = [digits(value, 2) for value in sorted({min(values), max(values)})]
    return " to ".join([*texts[:-1], in_unit(texts[-1], info)])


def _tests_over_sets(over: OverSets) -> list[str]:
    """The tests of all learners, and what the number of data sets allows."""
    names = listed([*map(brief, over.left_out)])
    left_out = f"Comparisons over data sets leave out {names}, where a mean is missing."
    rule = f"Tests over data sets: {over_method(over)}."
    sentences = [left_out, rule] if names else [rule]
    if len(over.learners) > 2:
        sentences.append(_ranks(over))
    if over.too_few:
        sentences.append(
            f"{counted(len(over.datasets), 'data set')} are too few for Wilcoxon's test: the "
            f"smallest possible adjusted p is {p_value(over.least_p)}."
        )
    return sentences


def _ranks(over: OverSets) -> str:
    """Friedman's test of all learners, and whether it agrees with the tests of pairs."""
    test, separated = over.friedman, sum(bool(pair.winner) for pair in over.pairs)
    if test.reason:
        return f"There is no test of all average ranks: {test.reason}."
    text = (
        f"Friedman's test {'rejects' if over.ranks_differ else 'does not reject'} that all "
        f"learners are equivalent (χ²({test.df}) = {number(test.statistic, 2)}, "
        f"{p_value(test.p, 'p')}, {p_method(test)})"
    )
    if over.ranks_differ and not separated:
        text += ", but does not say which differ, and no pair differs significantly"
    if separated and not over.ranks_differ:
        text += f", although Wilcoxon's test separates {counted(separated, 'pair')}"
    return f"{text}."


def p_method(test: Friedman | FTest) -> str:
    """Where the p of a test of all learners comes from."""
    approximation = "F" if isinstance(test, FTest) else "χ²"
    return {
        "exact": "exact",
        "permutation": f"by {RANK_DRAWS:,} permutations",
        "approximate": f"by the {approximation} distribution",
    }[test.method]


def dissent_sentences(over: OverSets, info: MeasureInfo) -> list[str]:
    """The tests that disagree with Wilcoxon's test about pairs of learners, and by how much."""
    names = {
        NEMENYI: "Nemenyi's test (critical difference "
        f"{number(over.nemenyi.critical_difference, 2)})",
        SIGN: f"The sign test ({_adjusted(over.adjustment, over.m)})",
        POSTERIOR: f"The Bayesian signed rank test ({equivalence(over.rope, info)})",
    }
    sentences = []
    for (test, separates), group in groupby(over.dissents, attrgetter("test", "separates")):
        pairs = [dissent.pair for dissent in group]
        texts = [
            f"{brief(pair.first)} and {brief(pair.second)} ({_evidence(over, test, pair)})"
            for pair in pairs[:_DISSENTS]
        ]
        texts += [counted(len(pairs) - _DISSENTS, "other pair")] * (len(pairs) > _DISSENTS)
        verb = "separates, unlike Wilcoxon’s," if separates else "does not separate"
        sentences.append(f"{names[test]} {verb} {'; '.join(texts)}.")
    return sentences


def _evidence(over: OverSets, test: str, pair: SetsPair) -> str:
    """What another test says of a pair."""
    if test == NEMENYI:
        return f"average ranks {number(over.apart(pair), 2)} apart"
    if test == SIGN:
        counts = f"{pair.sign.wins}/{pair.sign.draws}/{pair.sign.losses}"
        return f"won/drawn/lost {counts}, {p_value(pair.p_sign_adjusted, 'p')}"
    better, share = pair.likelier
    equal = f", equivalent {estimated_share(pair.posterior.p_rope)}" * bool(over.rope)
    return f"{brief(better)} better with probability {estimated_share(share)}{equal}"


def equivalence(rope: float, info: MeasureInfo) -> str:
    """The region of practical equivalence, in the unit of the measure."""
    if not rope:
        return f"no region of equivalence is defined for {info.label}"
    return f"equivalent: within ±{in_unit(digits(rope, 2), info)}"


def method(findings: DataFindings) -> str:
    """How pairs of learners are tested on each data set."""
    winners = findings.winners
    of = " on all data sets" if len(findings.datasets) > 1 else ""
    adjusted = _adjusted(winners.adjustment, winners.m, of)
    return f"{TESTS[winners.test]}, {adjusted}, α = {setting(winners.alpha)}"


def over_method(over: OverSets) -> str:
    """How pairs of learners are tested over data sets."""
    adjusted = _adjusted(over.adjustment, over.m, " of learners")
    return f"Wilcoxon's signed rank test, exact, {adjusted}, α = {setting(over.alpha)}"


def _adjusted(adjustment: str, m: int, of: str = "") -> str:
    if adjustment == "none":
        return "not adjusted for the number of pairs"
    return f"{adjustment.capitalize()}-adjusted over m = {counted(m, 'pair')}{of}"


def reversal_sentence(reversals: Reversals, labels: tuple[str, str]) -> str:
    """On how many data sets two measures name different winners."""
    both = f"{opening(labels[0])} and {labels[1]}"
    if not reversals.datasets:
        return f"{both} cannot be compared: on no data set do two learners have a mean by both."
    among = " among the learners with both" * reversals.partial
    number, sets = len(reversals.cases), counted(reversals.datasets, "data set")
    if not number:
        where = f" on all of {sets}" * (reversals.datasets > 1)
        return f"{both} name the same winner{where}{among}."
    sure = sum(case.significant_first and case.significant_second for case in reversals.cases)
    if reversals.datasets == 1:
        leads = "both leads are" if sure else "the leads are not both"
        return f"{both} name different winners{among}; {leads} significant."
    leads = f"on {sure or 'none'} of them are both leads significant"
    return f"{both} name different winners on {number} of {sets}{among}; {leads}."


def against_time(
    every: Sequence[DataFindings], seconds: Mapping[str, float], platform: str = ""
) -> str:
    """What scores against seconds show, and who is on the Pareto front by each measure."""
    fronts = []
    for findings in every:
        better = findings.info.greater_is_better
        front = pareto_front(findings.overall, seconds, better)
        fronts.append(f"by {findings.info.label} {listed(front, 9) or 'no learner'}")
    sets = len(every[0].datasets)
    where = f" over {sets} data sets" * (sets > 1)
    split = "a split" if sets == 1 else "one split of every data set"
    return (
        f"Mean scores{where} against the time to fit and predict {split} (medians over splits, "
        "without cutting numbers and replacing missing values before; logarithmic). Joined: the "
        "Pareto front, the learners that no other beats in one without being worse in the other: "
        f"{'; '.join(fronts)}. Whether scores differ significantly is not shown here; times differ "
        f"from run to run{f' (here on {platform})' * bool(platform)}."
    )
