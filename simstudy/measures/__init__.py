"""Measures of the quality of class probabilities, each a pure function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.lazy import find

if TYPE_CHECKING:
    from simstudy.measures.base import MeasureInfo, measure, score
    from simstudy.measures.calibration import miscalibration
    from simstudy.measures.losses import accuracy, brier_score, log_loss
    from simstudy.measures.messages import (
        message_length,
        message_length_data,
        message_length_theory,
    )
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
    "simstudy.measures.calibration": ["miscalibration"],
    "simstudy.measures.losses": ["accuracy", "brier_score", "log_loss"],
    "simstudy.measures.messages": [
        "message_length",
        "message_length_data",
        "message_length_theory",
    ],
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
    "estimation",
    "good_reward",
    "information_reward",
    "information_reward_2002",
    "information_reward_2002_modal",
    "kl_divergence",
    "kononenko_bratko",
    "log_loss",
    "measure",
    "message_length",
    "message_length_data",
    "message_length_theory",
    "miscalibration",
    "regret",
    "representation",
    "score",
]


def __getattr__(name: str) -> Any:
    return find(name, __name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
