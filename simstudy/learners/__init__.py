"""Learners: frozen dataclasses of parameters with a method to fit a Sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.lazy import attach, built_in

if built_in("learner"):
    from simstudy.learners.baselines import Prior as Prior
    from simstudy.learners.baselines import Truth as Truth
    from simstudy.learners.bayes.aode import AODE as AODE
    from simstudy.learners.bayes.discretized import (
        DiscretizedNaiveBayes as DiscretizedNaiveBayes,
    )
    from simstudy.learners.bayes.hnb import HNB as HNB
    from simstudy.learners.bayes.kdb import KDB as KDB
    from simstudy.learners.bayes.lbr import LBR as LBR
    from simstudy.learners.bayes.naive_bayes import NaiveBayes as NaiveBayes
    from simstudy.learners.bayes.tan import TAN as TAN
    from simstudy.learners.networks.camml.learner import CaMML as CaMML
    from simstudy.learners.rules.one_attribute import DecisionStump as DecisionStump
    from simstudy.learners.rules.one_attribute import OneR as OneR
    from simstudy.learners.trees.c45.boosting import BoostedC45 as BoostedC45
    from simstudy.learners.trees.c45.learner import C45 as C45
    from simstudy.learners.trees.mml.graph import MMLGraph as MMLGraph
    from simstudy.learners.trees.mml.tree import MMLTree as MMLTree
    from simstudy.learners.wrappers.calibrated import Calibrated as Calibrated
    from simstudy.learners.wrappers.cost_sensitive import CostSensitive as CostSensitive
    from simstudy.learners.wrappers.select import Select as Select

if TYPE_CHECKING:
    from simstudy.learners.base import Generative as Generative
    from simstudy.learners.base import Learner as Learner
else:
    __getattr__, __dir__ = attach(__name__)
