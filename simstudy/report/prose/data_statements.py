"""The findings of a study of data sets in words, no stronger than its adjusted tests."""

from __future__ import annotations

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
from simstudy.report.prose.phrases import in_unit, listed, opening
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
