"""Measures of the quality of class probabilities, each a pure function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.lazy import attach, built_in

if built_in("measure"):
    from simstudy.measures.calibration import calibration_loss as calibration_loss
    from simstudy.measures.calibration import (
        expected_calibration_error as expected_calibration_error,
    )
    from simstudy.measures.calibration import miscalibration as miscalibration
    from simstudy.measures.calibration import overconfidence as overconfidence
    from simstudy.measures.calibration import refinement_loss as refinement_loss
    from simstudy.measures.calibration import underconfidence as underconfidence
    from simstudy.measures.decisions.confusion import balanced_accuracy as balanced_accuracy
    from simstudy.measures.decisions.confusion import error_rate as error_rate
    from simstudy.measures.decisions.confusion import kappa as kappa
    from simstudy.measures.decisions.confusion import matthews as matthews
    from simstudy.measures.decisions.confusion import (
        sensitivity_specificity as sensitivity_specificity,
    )
    from simstudy.measures.decisions.costs import average_cost as average_cost
    from simstudy.measures.decisions.costs import cost as cost
    from simstudy.measures.decisions.per_class import f_score as f_score
    from simstudy.measures.decisions.per_class import false_positive_rate as false_positive_rate
    from simstudy.measures.decisions.per_class import precision as precision
    from simstudy.measures.decisions.per_class import recall as recall
    from simstudy.measures.ranking.auc import auc as auc
    from simstudy.measures.ranking.auc import h_measure as h_measure
    from simstudy.measures.ranking.auc import sar as sar
    from simstudy.measures.ranking.retrieval import average_precision as average_precision
    from simstudy.measures.ranking.retrieval import interpolated_precision as interpolated_precision
    from simstudy.measures.ranking.retrieval import lift as lift
    from simstudy.measures.ranking.retrieval import precision_at as precision_at
    from simstudy.measures.ranking.retrieval import recall_at as recall_at
    from simstudy.measures.ranking.scored_auc import probabilistic_auc as probabilistic_auc
    from simstudy.measures.ranking.scored_auc import scored_auc as scored_auc
    from simstudy.measures.scores.errors import class_complexity as class_complexity
    from simstudy.measures.scores.errors import complexity_improvement as complexity_improvement
    from simstudy.measures.scores.errors import (
        kononenko_bratko_relative as kononenko_bratko_relative,
    )
    from simstudy.measures.scores.errors import kononenko_bratko_total as kononenko_bratko_total
    from simstudy.measures.scores.errors import mean_absolute_error as mean_absolute_error
    from simstudy.measures.scores.errors import relative_absolute_error as relative_absolute_error
    from simstudy.measures.scores.errors import rmse as rmse
    from simstudy.measures.scores.errors import (
        root_relative_squared_error as root_relative_squared_error,
    )
    from simstudy.measures.scores.losses import accuracy as accuracy
    from simstudy.measures.scores.losses import brier_score as brier_score
    from simstudy.measures.scores.losses import log_loss as log_loss
    from simstudy.measures.scores.messages import message_length as message_length
    from simstudy.measures.scores.messages import message_length_data as message_length_data
    from simstudy.measures.scores.messages import message_length_theory as message_length_theory
    from simstudy.measures.scores.rewards import good_reward as good_reward
    from simstudy.measures.scores.rewards import information_reward as information_reward
    from simstudy.measures.scores.rewards import information_reward_2002 as information_reward_2002
    from simstudy.measures.scores.rewards import (
        information_reward_2002_modal as information_reward_2002_modal,
    )
    from simstudy.measures.scores.rewards import kononenko_bratko as kononenko_bratko
    from simstudy.measures.scores.truth import estimation as estimation
    from simstudy.measures.scores.truth import kl_divergence as kl_divergence
    from simstudy.measures.scores.truth import regret as regret
    from simstudy.measures.scores.truth import representation as representation

if TYPE_CHECKING:
    from simstudy.measures.base import MeasureInfo as MeasureInfo
    from simstudy.measures.base import measure as measure
    from simstudy.measures.base import modal_class as modal_class
    from simstudy.measures.base import score as score
    from simstudy.measures.decisions.confusion import confusion_matrix as confusion_matrix
    from simstudy.measures.decisions.costs import least_cost_class as least_cost_class
else:
    __getattr__, __dir__ = attach(__name__)
