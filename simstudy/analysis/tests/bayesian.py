"""Bayesian comparisons of two learners with a region of practical equivalence (rope).

Differences within ±rope count as equivalent; the answer is three probabilities.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import stdtr

from simstudy.analysis.tests import outcomes
from simstudy.analysis.tests.adjustment import check, check_share
from simstudy.arrays import ArrayLike, FloatArray
from simstudy.measures.base import Undefined

CHUNK = 10_000  # draws at once
PRIOR = 0.5  # the weight of a pseudo-observation at 0; each data set has weight 1


@dataclass(frozen=True)
class Posterior:
    """Probabilities that the first learner is better, that both are equivalent, or the second.

    The posterior can be unpacked into the three, in that order. In baycomp's words the first
    learner is on the left: its ``two_on_single(x, y)`` and ``two_on_multiple(x, y)`` give the
    probability that x is better first, too.

    Attributes
    ----------
    test : str
        The name of the method.
    p_first_better, p_rope, p_second_better : float
        The probabilities; they sum to 1.
    rope : float
        Half the width of the region of practical equivalence.
    n : int
        The number of differences.
    """

    test: str
    p_first_better: float
    p_rope: float
    p_second_better: float
    rope: float
    n: int

    def __iter__(self) -> Iterator[float]:
        """Unpack into the three probabilities."""
        return iter((self.p_first_better, self.p_rope, self.p_second_better))

    @property
    def reason(self) -> str:
        """Why there are no probabilities; empty if there are."""
        return outcomes.reason_of(self.p_first_better)


@dataclass(frozen=True)
class TPosterior(Posterior):
    """The posterior of the mean difference, a t distribution with a place and a scale."""

    mean: float
    scale: float
    df: int


@dataclass(frozen=True)
class SignedRankPosterior(Posterior):
    """The posterior of Bayesian signed ranks.

    Attributes
    ----------
    draws : int
        The number of Monte-Carlo draws.
    mcse : float
        Monte-Carlo standard error, the largest of the three probabilities.
    """

    draws: int
    mcse: float


def variance_factor(count: int, test_share: float) -> float:
    """Return ``1/J + n_test/n_train`` for J differences and a share of test rows."""
    check_share("test_share", test_share)
    return 1 / max(count, 1) + test_share / (1 - test_share)


def correlated_bayes(differences: ArrayLike, test_share: float, rope: float) -> TPosterior:
    """Bayesian correlated t test of differences over splits that share rows.

    The posterior of the mean difference is a t distribution with J − 1 degrees of freedom, the
    mean as its place and the standard error of `corrected_t` as its scale. If all differences are
    equal, but not 0, it is a point.

    Parameters
    ----------
    differences : array of shape (J,), or repeats × folds
        Differences of scores, first minus second, one for each split; greater is better.
    test_share : float > 0, < 1
        Test rows by all rows of the splits, ``Σ n_test/Σ (n_test + n_train)``.
    rope : float >= 0
        Half the width of the region of practical equivalence.

    References
    ----------
    G. Corani & A. Benavoli (2015). A Bayesian approach for comparing cross-validated algorithms on
    multiple data sets. Machine Learning 100.
    """
    check(0 <= rope < math.inf, "rope", rope, "be a number of at least 0")
    values = outcomes.numbers(differences)
    n, factor = len(values), variance_factor(len(values), test_share)
    name, df = "Bayesian correlated t", max(n - 1, 0)
    reason = outcomes.flaw(values, "differences") or ("" if values.any() else outcomes.ALL_ZERO)
    if reason:
        none = Undefined(reason)
        return TPosterior(name, none, none, none, rope, n, none, none, df)
    mean, scale = float(values.mean()), math.sqrt(factor) * outcomes.spread_of(values)
    first, second = _beyond(mean, scale, df, rope), _beyond(-mean, scale, df, rope)
    within = 0.0 if rope == 0 else max(1.0 - first - second, 0.0)
    return TPosterior(name, first, within, second, rope, n, mean, scale, df)


def signed_rank_bayes(
    table: ArrayLike, rope: float, *, draws: int = 100_000
) -> SignedRankPosterior:
    """Bayesian signed rank test of two learners over data sets.

    Data sets get Dirichlet weights w, and so does a pseudo-observation at 0, with weight ½; θ is
    the weighted share ``Σ wᵢ wⱼ`` of pairs of data sets whose mean difference ``(dᵢ + dⱼ)/2`` is
    above rope, within it, or below −rope, half of it where the mean is on the boundary. Each
    probability is the share of draws in which that θ is the largest.

    Parameters
    ----------
    table : array of shape (n, 2) or (n,)
        Scores with data sets as rows and two learners as columns, greater is better; or
        differences.
    rope : float >= 0
        Half the width of the region of practical equivalence.
    draws : int >= 1
        The number of Monte-Carlo draws, whose seed is fixed.

    References
    ----------
    A. Benavoli, G. Corani, J. Demšar & M. Zaffalon (2017). Time for a change: a tutorial for
    comparing multiple classifiers through Bayesian analysis. JMLR 18.
    """
    check(0 <= rope < math.inf, "rope", rope, "be a number of at least 0")
    check(draws >= 1, "draws", draws, "be at least 1")
    pair = outcomes.pair_of(table)
    n = len(pair.differences)
    reason = pair.flaw or ("" if rope > 0 or pair.differences.any() else outcomes.ALL_ZERO)
    if reason:
        return no_posterior(reason, n, rope, draws)
    above, below = (_pairs_beyond(sign * pair.differences, pair.noise, rope) for sign in (1, -1))
    shares = _shares_of_draws(above, below, np.array([PRIOR] + [1.0] * n), rope > 0, draws)
    mcse = max(math.sqrt(share * (1 - share) / draws) for share in shares)
    return SignedRankPosterior("Bayesian signed rank", *shares, rope, n, draws, mcse)


def no_posterior(reason: str, n: int, rope: float, draws: int = 0) -> SignedRankPosterior:
    """Return the posterior of what has none, with the reason."""
    none = Undefined(reason)
    return SignedRankPosterior("Bayesian signed rank", none, none, none, rope, n, draws, none)


def _beyond(mean: float, scale: float, df: int, rope: float) -> float:
    """Return the probability of a difference above rope."""
    return float(mean > rope) if scale == 0 else float(stdtr(df, (mean - rope) / scale))


def _pairs_beyond(differences: FloatArray, noise: FloatArray, rope: float) -> FloatArray:
    """Return which pairs of observations have a mean above rope, ½ on it; the first is at 0."""
    values, noise = (np.concatenate([[0.0], each]) for each in (differences, noise))
    gaps = values[:, None] + values - 2 * rope
    level = np.abs(gaps) <= np.maximum(noise[:, None], noise)
    return np.where(level, 0.5, (gaps > 0).astype(np.float64))


def _shares_of_draws(
    above: FloatArray, below: FloatArray, alpha: FloatArray, rope: bool, draws: int
) -> tuple[float, float, float]:
    """Return in which shares of draws the first, the rope and the second are ahead."""
    rng, wins = np.random.default_rng(0), np.zeros(3)
    for start in range(0, draws, CHUNK):
        weights = rng.dirichlet(alpha, min(CHUNK, draws - start))
        first, second = (np.einsum("di,di->d", weights @ each, weights) for each in (above, below))
        rest = 1 - first - second if rope else np.full(len(first), -1.0)
        theta = np.stack([first, rest, second])
        ahead = theta >= theta.max(axis=0) - 1e-12
        wins += (ahead / ahead.sum(axis=0)).sum(axis=1)
    first_ahead, within, second_ahead = (wins / draws).tolist()
    return first_ahead, within, second_ahead
