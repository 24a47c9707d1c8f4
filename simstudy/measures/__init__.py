"""Measures of the quality of class probabilities, each a pure function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.lazy import find

if TYPE_CHECKING:
    from simstudy.measures.base import MeasureInfo, measure, score
    from simstudy.measures.calibration import (
        calibration_loss,
        expected_calibration_error,
        miscalibration,
        overconfidence,
        refinement_loss,
        underconfidence,
    )
    from simstudy.measures.errors import (
        class_complexity,
        complexity_improvement,
        kononenko_bratko_relative,
        kononenko_bratko_total,
        mean_absolute_error,
        relative_absolute_error,
        rmse,
        root_relative_squared_error,
    )
    from simstudy.measures.losses import accuracy, brier_score, log_loss
    from simstudy.measures.rewards import (
        good_reward,
        information_reward,
        information_reward_2002,
        information_reward_2002_modal,
        kononenko_bratko,
    )
    from simstudy.measures.truth import estimation, kl_divergence, regret, representation

_HOMES = {
    "simstudy.measures.base": ["MeasureInfo", "measure", "score"],
    "simstudy.measures.calibration": [
        "calibration_loss",
        "expected_calibration_error",
        "miscalibration",
        "overconfidence",
        "refinement_loss",
        "underconfidence",
    ],
    "simstudy.measures.errors": [
        "class_complexity",
        "complexity_improvement",
        "kononenko_bratko_relative",
        "kononenko_bratko_total",
        "mean_absolute_error",
        "relative_absolute_error",
        "rmse",
        "root_relative_squared_error",
    ],
    "simstudy.measures.losses": ["accuracy", "brier_score", "log_loss"],
    "simstudy.measures.rewards": [
        "good_reward",
        "information_reward",
        "information_reward_2002",
        "information_reward_2002_modal",
        "kononenko_bratko",
    ],
    "simstudy.measures.truth": ["estimation", "kl_divergence", "regret", "representation"],
}

__all__ = [
    "MeasureInfo",
    "accuracy",
    "brier_score",
    "calibration_loss",
    "class_complexity",
    "complexity_improvement",
    "estimation",
    "expected_calibration_error",
    "good_reward",
    "information_reward",
    "information_reward_2002",
    "information_reward_2002_modal",
    "kl_divergence",
    "kononenko_bratko",
    "kononenko_bratko_relative",
    "kononenko_bratko_total",
    "log_loss",
    "mean_absolute_error",
    "measure",
    "miscalibration",
    "overconfidence",
    "refinement_loss",
    "regret",
    "relative_absolute_error",
    "representation",
    "rmse",
    "root_relative_squared_error",
    "score",
    "underconfidence",
]


def __getattr__(name: str) -> Any:
    return find(name, __name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
