"""Forecasts of scores with more rows: hand-made numbers."""

from __future__ import annotations

import numpy as np
import pytest

from simstudy.advice.facts import Outlook, crossing_rows
from simstudy.advice.forecast import (
    Forecast,
    Present,
    Simulated,
    forecast,
    power_laws,
    shrunk,
)
from simstudy.analysis.tests.resampled import corrected_t
from simstudy.measures.base import MeasureInfo

SIZES = (20, 40, 80, 160)


def curve(size: float) -> float:
    return 0.5 - 0.8 * size**-0.5


def present(noise: float = 0.0, splits: int = 10) -> Present:
    rng = np.random.default_rng(0)
    exact = np.array([[curve(size), 0.3] for size in SIZES])
    return Present(exact + noise * rng.standard_normal((splits, 4, 2)), SIZES, 0.1)


def test_the_error_of_a_difference_is_that_of_the_corrected_t_test() -> None:
    now = present(noise=0.02)
    differences = now.scores[:, -1, 0] - now.scores[:, -1, 1]
    test = corrected_t(differences, 0.1)
    contrast = np.array([1.0, -1.0])
    error = np.sqrt(contrast @ now.errors @ contrast)
    assert differences.mean() / error == pytest.approx(test.statistic)


def test_a_power_law_is_continued_and_a_level_course_stays_level() -> None:
    gains = power_laws(present(), (160, 1000, 10_000), 160, np.random.default_rng(0), 5)
    expected = [curve(size) - curve(160) for size in (160, 1000, 10_000)]
    assert gains[..., 0] == pytest.approx(np.tile(expected, (5, 1)), abs=1e-9)
    assert gains[..., 1] == pytest.approx(np.zeros((5, 3)), abs=1e-12)


def test_two_sizes_have_no_course() -> None:
    short = Present(present().scores[:, :2], SIZES[:2], 0.1)
    assert not power_laws(short, (40, 80), 40, np.random.default_rng(0), 3).any()


def test_shrinking_keeps_the_mean_gain() -> None:
    gains = np.array([[0.0, 0.2, 0.4]])
    assert shrunk(gains, 0.5) == pytest.approx(np.array([[0.1, 0.2, 0.3]]))


def test_scenarios_start_from_the_present_and_gain_as_on_simulated_truths() -> None:
    now = present()
    sizes = (160, 1600)
    # Every truth gains 0.1 with ten times the rows, and so does a power law of exponent ½ nearly.
    drawn = Simulated(np.array([[[0.2, 0.2], [0.3, 0.3]]] * 3), sizes, 160)
    found = forecast(now, drawn, np.random.default_rng(0))
    assert found.values[:, 0] == pytest.approx(np.tile(now.means, (4000, 1)))
    half = found.values[:2000, 1] - now.means  # the simulated half; its error is log-normal
    assert np.median(half) == pytest.approx(0.1, rel=0.03)
    assert np.log(half[:, 0]).std() == pytest.approx(0.3, rel=0.06)
    low, high = found.intervals()
    assert (low <= found.means + 1e-12).all()
    assert (found.means <= high + 1e-12).all()


def test_no_score_is_above_the_greatest() -> None:
    drawn = Simulated(np.array([[[0.2, 0.2], [0.9, 0.9]]] * 3), (160, 1600), 160)
    found = forecast(present(), drawn, np.random.default_rng(0), most=1.0)
    assert found.values.max() == 1.0


def two_learners(second: list[list[float]]) -> Forecast:
    values = np.zeros((len(second), 3, 2))
    values[..., 1] = second
    return Forecast((100, 200, 400), values)


def test_where_a_learner_comes_to_stay_ahead() -> None:
    found = two_learners([[-1, 1, 2], [1, 1, 1], [-1, -1, -1], [1, -1, 3]])
    places = crossing_rows(found, 1, 0, 100)
    # Halfway between 100 and 200 in log rows; from the start; never; a quarter of the last step.
    assert places == pytest.approx([100 * 2**0.5, 0.0, np.inf, 200 * 2**0.25])
    assert found.leads(1, 0) == pytest.approx([0.5, 0.5, 0.75])
    assert (found.at(400) - found.at(100)).mean(axis=0) == pytest.approx([0.0, 1.25])


def outlook(values: np.ndarray) -> Outlook:
    now = present(noise=0.01)
    drawn = np.tile(now.scores.mean(axis=0), (5, 1, 1)) + np.arange(5)[:, None, None] * 0.01
    sizes = (*SIZES, 180, 1800)
    drawn = np.concatenate([drawn, drawn[:, -2:] + 0.05], axis=1)
    return Outlook(
        "information_reward",
        MeasureInfo(True, label="information reward", unit="nats"),
        ("A", "B"),
        180,
        now,
        Simulated(drawn, sizes, 160),
        Forecast(sizes, values),
        drawn.max(axis=2) + 0.1,
    )


def test_only_crossings_that_scenarios_agree_on_are_named() -> None:
    ahead = np.zeros((100, 6, 2))
    ahead[:, 4], ahead[:, 5] = [0.2, 0.1], [0.2, 0.3]
    (crossing,) = outlook(ahead).crossings
    assert (crossing.ahead, crossing.behind, crossing.share) == ("B", "A", 1.0)
    assert crossing.rows == pytest.approx(180 * 10**0.5)
    ahead[:20, 5, 1] = 0.1  # a fifth of the scenarios disagree
    assert outlook(ahead).crossings == []


def test_the_check_finds_simulated_truths_that_do_not_explain_the_table() -> None:
    one = outlook(np.zeros((4, 6, 2)))
    assert one.check.verdict == "well"
    far = Simulated(one.simulated.scores - 0.5, one.simulated.sizes, 160)
    from dataclasses import replace

    assert replace(one, simulated=far).check.verdict == "poorly"
    assert one.check.measured_gain == pytest.approx(one.check.simulated_gain, abs=1e-9)


def test_the_ceiling_is_above_the_best_learner_by_its_way_to_the_truth() -> None:
    one = outlook(np.zeros((4, 6, 2)))
    best = one.present.means.max()
    missing = one.truth[:, -1] - one.simulated.scores[:, 3, int(one.present.means.argmax())]
    assert one.ceiling.value == pytest.approx(best + missing.mean())
