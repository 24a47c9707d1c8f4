"""Estimates of a learner's performance from the rows available, and their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.lazy import attach, built_in

if built_in("estimator"):
    from simstudy.estimators.bootstrap import BootstrapEstimator as BootstrapEstimator
    from simstudy.estimators.splitting import CrossValidationEstimator as CrossValidationEstimator
    from simstudy.estimators.splitting import FiveByTwoEstimator as FiveByTwoEstimator
    from simstudy.estimators.splitting import HoldoutEstimator as HoldoutEstimator
    from simstudy.estimators.splitting import LeaveOneOutEstimator as LeaveOneOutEstimator
    from simstudy.estimators.splitting import NestedEstimator as NestedEstimator
    from simstudy.estimators.splitting import ResubstitutionEstimator as ResubstitutionEstimator

if built_in("test"):
    from simstudy.estimators.comparing import CrossValidatedT as CrossValidatedT
    from simstudy.estimators.comparing import FiveByTwoF as FiveByTwoF
    from simstudy.estimators.comparing import FiveByTwoT as FiveByTwoT
    from simstudy.estimators.comparing import McNemarTest as McNemarTest
    from simstudy.estimators.comparing import ResampledT as ResampledT

if TYPE_CHECKING:
    from simstudy.estimators.bench import Bench as Bench
    from simstudy.estimators.bench import Estimate as Estimate
    from simstudy.estimators.bench import Estimator as Estimator
    from simstudy.estimators.bench import Judge as Judge
    from simstudy.estimators.bench import Outcome as Outcome
    from simstudy.estimators.comparing import Decision as Decision
    from simstudy.estimators.comparing import LearnerTest as LearnerTest
else:
    __getattr__, __dir__ = attach(__name__)
