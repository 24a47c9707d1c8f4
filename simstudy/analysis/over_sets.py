"""Comparison of learners over several data sets: all tests of one table of means."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from simstudy.analysis.across import (
    Friedman,
    FTest,
    Nemenyi,
    friedman,
    iman_davenport,
    nemenyi,
    quade,
)
from simstudy.analysis.adjusted import over_pairs
from simstudy.analysis.posteriors import SignedRankPosterior, signed_rank_bayes
from simstudy.analysis.signed import SignOutcome, WilcoxonOutcome, sign_test, wilcoxon

DRAWS = 20_000  # of the posterior of a pair: a Monte-Carlo standard error of .0036 at most


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
    p_adjusted : float
        Wilcoxon's p, adjusted for all pairs.
    winner, loser : str
        Who is significantly better by that p, judged by the rank sums; empty if nobody is.
    """

    first: str
    second: str
    difference: float
    wilcoxon: WilcoxonOutcome
    sign: SignOutcome
    posterior: SignedRankPosterior
    p_adjusted: float
    winner: str
    loser: str


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
        Every two learners.
    friedman, iman_davenport, quade, nemenyi
        The tests of all learners.
    adjustment, m, alpha, rope
        How p is adjusted for the m pairs, the level of the tests, and half the width of the region
        of practical equivalence.
    """

    learners: tuple[str, ...]
    datasets: tuple[str, ...]
    left_out: tuple[str, ...]
    pairs: tuple[SetsPair, ...]
    friedman: Friedman
    iman_davenport: FTest
    quade: FTest
    nemenyi: Nemenyi
    adjustment: str
    m: int
    alpha: float
    rope: float

    @property
    def ranks(self) -> dict[str, float]:
        """The average rank of every learner, 1 for the best."""
        return dict(zip(self.learners, self.friedman.mean_ranks, strict=True))

    def beaten_by(self, learner: str) -> tuple[str, ...]:
        """Return the learners that are significantly worse than one."""
        return tuple(pair.loser for pair in self.pairs if pair.winner == learner)

    def ahead_of(self, learner: str) -> tuple[str, ...]:
        """Return the learners that are significantly better than one."""
        return tuple(pair.winner for pair in self.pairs if pair.loser == learner)

    @property
    def leader(self) -> str:
        """The learner that loses to the fewest, beats the most and has the best average rank."""
        return min(
            self.learners,
            key=lambda one: (len(self.ahead_of(one)), -len(self.beaten_by(one)), self.ranks[one]),
        )

    @property
    def least_p(self) -> float:
        """The smallest p, adjusted, that the number of data sets allows."""
        return min(1.0, self.m * 2.0 ** (1 - len(self.datasets)))

    @property
    def table(self) -> pd.DataFrame:
        """One row per pair of learners, with all tests."""
        columns = ["first", "second", "datasets", "difference", "wins", "draws", "losses"]
        columns += ["rank_sum_first", "rank_sum_second", "p_wilcoxon", "p_adjusted", "m", "p_sign"]
        columns += ["p_first_better", "p_rope", "p_second_better", "rope", "winner", "reason"]
        return pd.DataFrame([self._row(pair) for pair in self.pairs], columns=columns)

    def _row(self, pair: SetsPair) -> list[object]:
        ranked, sign = pair.wilcoxon, pair.sign
        row: list[object] = [pair.first, pair.second, len(self.datasets), pair.difference]
        row += [sign.wins, sign.draws, sign.losses, ranked.rank_sum_first, ranked.rank_sum_second]
        row += [ranked.p, pair.p_adjusted, self.m, sign.p, *pair.posterior, self.rope]
        return [*row, pair.winner, ranked.reason]


def over_sets(
    means: pd.DataFrame, adjustment: str = "holm", alpha: float = 0.05, rope: float = 0.01
) -> OverSets | None:
    """Compare learners over the data sets on which all of them have a mean.

    Which of two learners is significantly better is decided by Wilcoxon's signed rank test, whose
    answer, unlike that of average ranks, does not depend on the other learners.

    Parameters
    ----------
    means
        Mean scores, data sets × learners, greater is better; see `within.means_table`.
    adjustment
        Of Wilcoxon's p over the pairs: ``"holm"``, ``"bonferroni"`` or ``"none"``.
    alpha
        The level of the tests.
    rope
        Half the width of the region of practical equivalence.

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
    learners = tuple(map(str, complete.columns))
    tested = over_pairs(complete.to_numpy(), wilcoxon, adjustment)
    pairs = []
    for (one, other), test in zip(combinations(range(len(learners)), 2), tested.pairs, strict=True):
        both = complete.iloc[:, [one, other]].to_numpy()
        names = (learners[one], learners[other])
        assert isinstance(test.outcome, WilcoxonOutcome)
        pairs.append(
            SetsPair(
                *names,
                float((both[:, 0] - both[:, 1]).mean()),
                test.outcome,
                sign_test(both),
                signed_rank_bayes(both, rope, draws=DRAWS),
                float(test.p_adjusted),
                *_decided(names, test.outcome, test.p_adjusted, alpha),
            )
        )
    return OverSets(
        learners,
        tuple(map(str, complete.index)),
        tuple(str(name) for name in means.index if name not in complete.index),
        tuple(pairs),
        friedman(complete),
        iman_davenport(complete),
        quade(complete),
        nemenyi(complete, 1 - alpha),
        adjustment,
        tested.m,
        alpha,
        rope,
    )


def _decided(
    names: tuple[str, str], test: WilcoxonOutcome, p: float, alpha: float
) -> tuple[str, str]:
    """Return the winner and the loser by the rank sums, if p is small."""
    lead = test.rank_sum_first - test.rank_sum_second
    if math.isnan(p) or p > alpha or lead == 0:
        return "", ""
    return names if lead > 0 else names[::-1]
