"""Comparison of learners over several data sets: all tests of one table of means.

Which of two learners is better is decided by Wilcoxon's signed rank test, adjusted for all pairs.
The other tests are reported beside it; `OverSets.dissents` has the pairs on which they disagree.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pandas as pd

from simstudy.analysis.models.standings import AHEAD, LEVEL, UNTESTED, Pair, Standing
from simstudy.analysis.tests import friedman as ranking
from simstudy.analysis.tests import wilcoxon as pair_tests
from simstudy.analysis.tests.adjustment import is_significant
from simstudy.analysis.tests.bayesian import SignedRankPosterior, no_posterior, signed_rank_bayes

DRAWS = 20_000  # of the posterior of a pair: a Monte-Carlo standard error of .0036 at most
LEAST_SETS = 6  # data sets without which there are no posterior probabilities
NEMENYI, SIGN, POSTERIOR = "Nemenyi", "sign test", "Bayesian signed rank"


@dataclass(frozen=True)
class SetsPair:
    """Two learners over data sets.

    Attributes
    ----------
    first, second : str
        The learners.
    difference : float
        The mean over data sets of the difference, positive if the first is better.
    wilcoxon, sign, posterior
        Wilcoxon's signed rank test, the sign test and the Bayesian signed rank test.
    p_adjusted, p_sign_adjusted : float
        Wilcoxon's p and that of the sign test, adjusted for all pairs.
    winner, loser : str
        Who is significantly better by that p, judged by the rank sums; empty if nobody is.
    """

    first: str
    second: str
    difference: float
    wilcoxon: pair_tests.WilcoxonOutcome
    sign: pair_tests.SignOutcome
    posterior: SignedRankPosterior
    p_adjusted: float
    p_sign_adjusted: float
    winner: str
    loser: str

    @property
    def likelier(self) -> tuple[str, float]:
        """The learner that is better with the greater posterior probability, and that."""
        first, _, second = self.posterior
        return (self.first, first) if first >= second else (self.second, second)


class Dissent(NamedTuple):
    """A test that disagrees with Wilcoxon's test, adjusted, about a pair of learners.

    Attributes
    ----------
    test : str
        ``"Nemenyi"``, ``"sign test"`` or ``"Bayesian signed rank"``.
    pair : SetsPair
        The pair.
    separates : bool
        Whether this test separates the pair, and Wilcoxon's does not; or the reverse.
    """

    test: str
    pair: SetsPair
    separates: bool


@dataclass(frozen=True)
class OverSets:
    """Learners compared over data sets.

    Attributes
    ----------
    learners, datasets : tuple of str
        The learners, and the data sets on which all of them have a mean.
    left_out : tuple of str
        The data sets on which one has none.
    pairs : tuple of SetsPair
        Each pair of learners.
    friedman, iman_davenport, quade, nemenyi
        The tests of all learners.
    adjustment, m, alpha, rope
        How p is adjusted for the m pairs, the level of the tests, and half the width of the region
        of practical equivalence; 0 for none.
    """

    learners: tuple[str, ...]
    datasets: tuple[str, ...]
    left_out: tuple[str, ...]
    pairs: tuple[SetsPair, ...]
    friedman: ranking.Friedman
    iman_davenport: ranking.FTest
    quade: ranking.FTest
    nemenyi: ranking.Nemenyi
    adjustment: str
    m: int
    alpha: float
    rope: float

    @property
    def ranks(self) -> dict[str, float]:
        """The average rank of every learner, 1 for the best."""
        return dict(zip(self.learners, self.friedman.mean_ranks, strict=True))

    @property
    def ranked(self) -> list[tuple[str, float]]:
        """The learners with their average ranks, the best first."""
        return sorted(self.ranks.items(), key=lambda item: item[1])

    def beaten_by(self, learner: str) -> tuple[str, ...]:
        """Return the learners that are significantly worse than one."""
        return tuple(pair.loser for pair in self.pairs if pair.winner == learner)

    def ahead_of(self, learner: str) -> tuple[str, ...]:
        """Return the learners that are significantly better than one."""
        return tuple(pair.winner for pair in self.pairs if pair.loser == learner)

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Maximal groups of learners of which no two are separated, members by average rank.

        Two learners are in a common group if and only if their pair has no winner. A group need
        not be a run of average ranks.
        """
        order = [learner for learner, _ in self.ranked]
        level: dict[str, set[str]] = {name: set() for name in order}
        for pair in self.pairs:
            if not pair.winner:
                level[pair.first].add(pair.second)
                level[pair.second].add(pair.first)
        groups = [sorted(map(order.index, each)) for each in _cliques(level, set(), set(order))]
        return tuple(tuple(order[at] for at in each) for each in sorted(groups) if len(each) > 1)

    @property
    def dissents(self) -> tuple[Dissent, ...]:
        """The pairs on which another test disagrees, test by test."""
        dissents = [
            Dissent(test, pair, separates)
            for pair in self.pairs
            for test, separates in self._further(pair)
            if separates != bool(pair.winner)
        ]
        order = (NEMENYI, SIGN, POSTERIOR)
        return tuple(sorted(dissents, key=lambda it: (order.index(it.test), not it.separates)))

    def apart(self, pair: SetsPair) -> float:
        """Return how far the average ranks of two learners are apart."""
        return abs(self.ranks[pair.first] - self.ranks[pair.second])

    def _further(self, pair: SetsPair) -> Iterator[tuple[str, bool]]:
        """Whether each of the other tests that apply separates two learners."""
        if len(self.learners) > 2 and not self.nemenyi.reason:
            yield NEMENYI, self.apart(pair) >= self.nemenyi.critical_difference
        if not pair.sign.reason:
            yield SIGN, is_significant(pair.p_sign_adjusted, self.alpha)
        if not pair.posterior.reason:
            yield POSTERIOR, pair.likelier[1] >= 1 - self.alpha

    @property
    def leader(self) -> str:
        """The learner that loses to the fewest, beats the most and has the best average rank."""

        def place(learner: str) -> tuple[int, int, float]:
            ahead, beaten = self.ahead_of(learner), self.beaten_by(learner)
            return len(ahead), -len(beaten), self.ranks[learner]

        return min(self.learners, key=place)

    @property
    def standing(self) -> Standing:
        """How the others compare with the leader, over all data sets (size 0)."""
        first, n = self.leader, len(self.datasets)
        against = []
        for second in (name for name, _ in self.ranked if name != first):
            (pair,) = (pair for pair in self.pairs if {pair.first, pair.second} == {first, second})
            far = abs(pair.difference) * (-1 if pair.winner == second else 1)
            verdict = AHEAD if pair.winner else UNTESTED if pair.wilcoxon.reason else LEVEL
            ends = (math.nan, math.nan, pair.p_adjusted, n, 0)
            against.append(Pair(0, first, second, far, *ends, verdict))
        names = (first, *(pair.second for pair in against))
        beaten = frozenset(pair.loser for pair in self.pairs if pair.loser)
        return Standing(0, names, (), tuple(against), beaten)

    @property
    def least_p(self) -> float:
        """The smallest p, adjusted, that the number of data sets allows."""
        return min(1.0, self.m * 2.0 ** (1 - len(self.datasets)))

    @property
    def too_few(self) -> bool:
        """Whether there are too few data sets for any difference to be significant."""
        return not is_significant(self.least_p, self.alpha)

    @property
    def ranks_differ(self) -> bool:
        """Whether Friedman's test rejects that all learners are equivalent."""
        return is_significant(self.friedman.p, self.alpha)

    @property
    def table(self) -> pd.DataFrame:
        """One row per pair of learners, with all tests."""
        return pd.DataFrame([self._row(pair) for pair in self.pairs])

    def _row(self, pair: SetsPair) -> dict[str, object]:
        ranked, sign, (first, rope, second) = pair.wilcoxon, pair.sign, pair.posterior
        row: dict[str, object] = {"first": pair.first, "second": pair.second}
        row |= {"datasets": len(self.datasets), "difference": pair.difference}
        row |= {key: getattr(sign, key) for key in ("wins", "draws", "losses")}
        row |= {key: getattr(ranked, key) for key in ("rank_sum_first", "rank_sum_second")}
        row |= {"p_wilcoxon": ranked.p, "p_adjusted": pair.p_adjusted, "m": self.m}
        row |= {"p_sign": sign.p, "p_sign_adjusted": pair.p_sign_adjusted}
        row |= {"p_first_better": first, "p_rope": rope, "p_second_better": second}
        return row | {"rope": self.rope, "winner": pair.winner, "reason": ranked.reason}


def over_sets(
    means: pd.DataFrame, adjustment: str = "holm", alpha: float = 0.05, rope: float = 0.01
) -> OverSets | None:
    """Compare learners over the data sets on which all of them have a mean.

    Which of two learners is significantly better is decided by Wilcoxon's signed rank test, whose
    result, unlike that of average ranks, does not depend on the other learners.

    Parameters
    ----------
    means
        Mean scores, data sets × learners, greater is better; see `within.means_table`.
    adjustment
        Of p over the pairs: ``"holm"``, ``"bonferroni"`` or ``"none"``.
    alpha
        The level of the tests.
    rope
        Half the width of the region of practical equivalence, in the unit of the means; 0 for none.
        With fewer than six data sets there are no posterior probabilities.

    Returns
    -------
    OverSets or None
        None with fewer than two learners, or two data sets on which all have a mean.

    References
    ----------
    J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets. JMLR 7.

    A. Benavoli, G. Corani & F. Mangili (2016). Should we really use post-hoc tests based on
    mean-ranks? JMLR 17.
    """
    complete = means[means.notna().all(axis=1)]
    if means.shape[1] < 2 or len(complete) < 2:
        return None
    complete = complete.rename(columns=str)
    tested, signs = (
        pair_tests.over_pairs(complete, test, adjustment)
        for test in (pair_tests.wilcoxon, pair_tests.sign_test)
    )
    pairs = []
    for test, sign in zip(tested.pairs, signs.pairs, strict=True):
        both = (str(test.first), str(test.second))
        scores = complete[[*both]].to_numpy()
        difference = float((scores[:, 0] - scores[:, 1]).mean())
        assert isinstance(test.outcome, pair_tests.WilcoxonOutcome)
        assert isinstance(sign.outcome, pair_tests.SignOutcome)
        posterior = no_posterior(f"fewer than {LEAST_SETS} data sets", len(scores), rope)
        if len(scores) >= LEAST_SETS:
            posterior = signed_rank_bayes(scores, rope, draws=DRAWS)
        outcomes = (test.outcome, sign.outcome, posterior)
        p = float(test.p_adjusted), float(sign.p_adjusted)
        winner = test.winner(alpha)
        decided = ("", "") if winner is None else both if winner == both[0] else both[::-1]
        pairs.append(SetsPair(both[0], both[1], difference, *outcomes, *p, *decided))
    left_out = tuple(str(name) for name in means.index if name not in complete.index)
    names = (tuple(complete.columns), tuple(map(str, complete.index)), left_out)
    tests = (ranking.friedman(complete), ranking.iman_davenport(complete), ranking.quade(complete))
    nemenyi = ranking.nemenyi(complete, 1 - alpha)
    return OverSets(*names, tuple(pairs), *tests, nemenyi, adjustment, tested.m, alpha, rope)


def _cliques(
    level: dict[str, set[str]], chosen: set[str], free: set[str], done: frozenset[str] = frozenset()
) -> Iterator[set[str]]:
    """Yield the maximal cliques of a graph (Bron & Kerbosch 1973, with a pivot)."""
    if not free and not done:
        yield chosen
        return
    pivot = max(sorted(free | done), key=lambda name: len(level[name] & free))
    for name in sorted(free - level[pivot]):
        yield from _cliques(level, chosen | {name}, free & level[name], done & level[name])
        free, done = free - {name}, done | {name}
