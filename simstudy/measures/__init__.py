"""Measures of the quality of class probabilities, each a pure function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.lazy import find

if TYPE_CHECKING:
    from simstudy.measures.base import MeasureInfo, measure, modal_class, score
    from simstudy.measures.calibration import (
        calibration_loss,
        expected_calibration_error,
        miscalibration,
        overconfidence,
        refinement_loss,
        underconfidence,
    )
    from simstudy.measures.costs import average_cost, cost, least_cost_class
    from simstudy.measures.decisions import (
        balanced_accuracy,
        confusion_matrix,
        error_rate,
        kappa,
        matthews,
        sensitivity_specificity,
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
    from simstudy.measures.messages import (
        message_length,
        message_length_data,
        message_length_theory,
    )
    from simstudy.measures.per_class import f_score, false_positive_rate, precision, recall
    from simstudy.measures.ranking import auc, h_measure, sar
    from simstudy.measures.retrieval import (
        average_precision,
        interpolated_precision,
        lift,
        precision_at,
        recall_at,
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
    "simstudy.measures.base": ["MeasureInfo", "measure", "modal_class", "score"],
    "simstudy.measures.calibration": [
        "calibration_loss",
        "expected_calibration_error",
        "miscalibration",
        "overconfidence",
        "refinement_loss",
        "underconfidence",
    ],
    "simstudy.measures.costs": ["average_cost", "cost", "least_cost_class"],
    "simstudy.measures.decisions": [
        "balanced_accuracy",
        "confusion_matrix",
        "error_rate",
        "kappa",
        "matthews",
        "sensitivity_specificity",
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
    "simstudy.measures.messages": [
        "message_length",
        "message_length_data",
        "message_length_theory",
    ],
    "simstudy.measures.per_class": ["f_score", "false_positive_rate", "precision", "recall"],
    "simstudy.measures.ranking": ["auc", "h_measure", "sar"],
    "simstudy.measures.retrieval": [
        "average_precision",
        "interpolated_precision",
        "lift",
        "precision_at",
        "recall_at",
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
    "auc",
    "average_cost",
    "average_precision",
    "balanced_accuracy",
    "brier_score",
    "calibration_loss",
    "class_complexity",
    "complexity_improvement",
    "confusion_matrix",
    "cost",
    "error_rate",
    "estimation",
    "expected_calibration_error",
    "f_score",
    "false_positive_rate",
    "good_reward",
    "h_measure",
    "information_reward",
    "information_reward_2002",
    "information_reward_2002_modal",
    "interpolated_precision",
    "kappa",
    "kl_divergence",
    "kononenko_bratko",
    "kononenko_bratko_relative",
    "kononenko_bratko_total",
    "least_cost_class",
    "lift",
    "log_loss",
    "matthews",
    "mean_absolute_error",
    "measure",
    "message_length",
    "message_length_data",
    "message_length_theory",
    "miscalibration",
    "modal_class",
    "overconfidence",
    "precision",
    "precision_at",
    "recall",
    "recall_at",
    "refinement_loss",
    "regret",
    "relative_absolute_error",
    "representation",
    "rmse",
    "root_relative_squared_error",
    "sar",
    "score",
    "sensitivity_specificity",
    "underconfidence",
]


def __getattr__(name: str) -> Any:
    return find(name, __name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
