"""Rates of rejection of tests: which keep their level, and which of these detect most."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from simstudy.analysis.models.findings import Mean, ModelFindings
from simstudy.analysis.models.standings import Standing, standing_at


@dataclass(frozen=True)
class Rejections:
    """How often a test rejects with so many rows.

    Attributes
    ----------
    test, size
        The test and the rows.
    error : Mean
        Its type I error under the null hypothesis of which that is greatest.
    power : Mean
        How often it prefers the better of two learners.
    exceeds : bool
        Whether the interval of its type I error lies above the level under any null hypothesis.
    """

    test: str
    size: int
    error: Mean
    power: Mean
    exceeds: bool


def rejections(
    nulls: Sequence[ModelFindings], power: ModelFindings, level: float
) -> list[Rejections]:
    """Return the rates of every test at every size, whose means are all finite."""
    errors = [{(mean.learner, mean.size): mean for mean in null.means} for null in nulls]
    cells = []
    for detected in power.means:
        each = [error[detected.learner, detected.size] for error in errors]
        if all(mean.has_interval for mean in (*each, detected)):
            worst = max(each, key=lambda mean: mean.mean)
            exceeds = any(mean.lower > level for mean in each)
            cells.append(Rejections(detected.learner, detected.size, worst, detected, exceeds))
    return cells


def most_powerful(power: ModelFindings, tests: Collection[str]) -> list[Standing]:
    """Return the standing of some tests by their power at each size, by the tests of all."""
    pairs = [pair for pair in power.pairs if {pair.first, pair.second} <= {*tests}]
    means = power.intervals[power.intervals["learner"].isin(tests)]
    each = (standing_at(size, pairs, means, True) for size in power.design.sizes if len(means))
    return [standing for standing in each if standing is not None]
