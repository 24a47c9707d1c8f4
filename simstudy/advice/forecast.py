"""Forecasts of learners' scores with more rows, from splits of a table and simulated truths.

Scores of the table say where learners stand now; scores on models drawn from the posterior given
the table, and the learning curve of the table, say how much they gain with more rows. A scenario
combines an error of the present scores with one of the two kinds of gain. Values, differences,
intervals and crossings are all read from the same scenarios.

Two corrections rest on experience (benchmarks/advice.py). What a learner gains more than others is
partly chance, mostly so in a curve fitted to a few splits: it is shrunk towards the mean gain of
all. And both kinds of gain can be wrong together: all gains of a scenario have a common factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from simstudy.analysis.tests.bayesian import variance_factor
from simstudy.arrays import FloatArray, IntArray

_EXPONENTS = np.linspace(0.1, 1.5, 29)  # of power laws
SIMULATED_SHARE, FITTED_SHARE = 0.75, 0.25  # of what a learner gains more than the mean, kept
TAILS = (0.025, 0.975)  # of intervals
GAIN_ERROR = 0.3  # the standard deviation of the log factor of all gains


class Present(NamedTuple):
    """Scores on splits of a table, all learners on the same splits.

    Attributes
    ----------
    scores : array of shape (splits, sizes, learners)
        Greater is better; sizes ascend, the last being the whole training part.
    sizes : sequence of int
        The training rows.
    test_share : float
        The share of the rows that a split tests.
    """

    scores: FloatArray
    sizes: tuple[int, ...]
    test_share: float

    @property
    def means(self) -> FloatArray:
        """The mean score of every learner after the whole training part."""
        return self.scores[:, -1].mean(axis=0)

    @property
    def errors(self) -> FloatArray:
        """The covariance matrix of these means, corrected for shared rows.

        Nadeau & Bengio (2003): the variance of a split times 1/J + n_test/n_train.
        """
        last = self.scores[:, -1]
        factor = variance_factor(len(last), self.test_share)
        return np.atleast_2d(np.cov(last, rowvar=False)) * factor


class Simulated(NamedTuple):
    """Scores on models drawn from the posterior given the table.

    Attributes
    ----------
    scores : array of shape (models, sizes, learners)
        Greater is better.
    sizes : sequence of int
        The training rows.
    start : int
        The size that stands for the table's training parts.
    """

    scores: FloatArray
    sizes: tuple[int, ...]
    start: int

    @property
    def gains(self) -> FloatArray:
        """What each size adds to the scores at the start, by model, size and learner."""
        return self.scores - self.scores[:, [self.sizes.index(self.start)]]


class Forecast(NamedTuple):
    """Scenarios of scores with more rows.

    Attributes
    ----------
    sizes : sequence of int
        The training rows.
    values : array of shape (scenarios, sizes, learners)
        The scores.
    """

    sizes: tuple[int, ...]
    values: FloatArray

    @property
    def means(self) -> FloatArray:
        """The predicted score by size and learner."""
        return self.values.mean(axis=0)

    def intervals(self) -> FloatArray:
        """Return the limits that hold 95% of the scenarios, by size and learner."""
        return np.quantile(self.values, TAILS, axis=0)

    def at(self, size: int) -> FloatArray:
        """Return the scores with a number of rows, by scenario and learner."""
        return self.values[:, self.sizes.index(size)]

    def leads(self, first: int, second: int) -> FloatArray:
        """Return the share of scenarios in which one learner is ahead of another, by size."""
        difference = self.values[..., first] - self.values[..., second]
        return (np.sign(difference) + 1).mean(axis=0) / 2


def forecast(
    present: Present,
    simulated: Simulated,
    rng: np.random.Generator,
    scenarios: int = 4000,
    most: float = np.inf,
) -> Forecast:
    """Draw scenarios: half gain as on a simulated truth, half by a power law of the table's curve.

    Parameters
    ----------
    present : Present
        Scores on splits of the table.
    simulated : Simulated
        Scores of the same learners on models drawn given the table.
    rng : Generator
        The random stream.
    scenarios : int
        How many are drawn.
    most : float
        The greatest possible score.
    """
    count = scenarios // 2
    error = _errors(present, rng, 2 * count)
    models = rng.integers(len(simulated.scores), size=count)
    courses = power_laws(present, simulated.sizes, simulated.start, rng, count)
    drawn = shrunk(simulated.gains[models], SIMULATED_SHARE)
    gains = np.concatenate([drawn, shrunk(courses, FITTED_SHARE)])
    factors = np.exp(GAIN_ERROR * rng.standard_normal((2 * count, 1, 1)))
    values = present.means + error[:, None] + factors * gains
    return Forecast(simulated.sizes, np.minimum(values, most))


def _errors(present: Present, rng: np.random.Generator, count: int) -> FloatArray:
    """Draw errors of the present means: Student's t with J − 1 degrees of freedom for J splits.

    That is the posterior of the Bayesian correlated t test (Corani & Benavoli 2015).
    """
    freedom, learners = len(present.scores) - 1, present.scores.shape[2]
    normal = rng.multivariate_normal(np.zeros(learners), present.errors, size=count, method="eigh")
    return normal * np.sqrt(freedom / rng.chisquare(freedom, size=(count, 1)))


def shrunk(gains: FloatArray, share: float) -> FloatArray:
    """Keep a share of what each learner (on the last axis) gains more than the mean of all."""
    mean = gains.mean(axis=-1, keepdims=True)
    return mean + share * (gains - mean)


def power_laws(
    present: Present, sizes: Sequence[int], start: int, rng: np.random.Generator, count: int
) -> FloatArray:
    """Return gains since ``start`` by power laws a − b·n^−c fitted to means of resampled splits.

    b is not negative: more rows never cost. Of the exponents on a grid the best is taken. With
    fewer than three sizes there is no curve, and no gain.
    """
    splits, _, learners = present.scores.shape
    if len(present.sizes) < 3:
        return np.zeros((count, len(sizes), learners))
    picked: IntArray = rng.integers(splits, size=(count, splits))
    weights = np.zeros((count, splits))
    np.add.at(weights, (np.arange(count)[:, None], picked), 1 / splits)
    curves = np.einsum("cs,szl->czl", weights, present.scores)
    rows = np.array(present.sizes, dtype=np.float64)
    best = np.full((count, learners), np.inf)
    gains = np.zeros((count, len(sizes), learners))
    for exponent in _EXPONENTS:
        terms = rows**-exponent
        centred = terms - terms.mean()
        slopes = np.maximum(-np.einsum("z,czl->cl", centred, curves) / (centred @ centred), 0.0)
        residuals = curves - curves.mean(axis=1, keepdims=True)
        residuals = residuals + slopes[:, None] * centred[:, None]
        losses = (residuals**2).sum(axis=1)
        future = float(start) ** -exponent - np.array(sizes, dtype=np.float64) ** -exponent
        better = losses < best
        best = np.where(better, losses, best)
        gains = np.where(better[:, None], slopes[:, None] * future[:, None], gains)
    return gains
