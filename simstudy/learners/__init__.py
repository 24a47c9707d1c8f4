"""Learners: frozen dataclasses of parameters with a method to fit a Sample."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.lazy import attach, built_in

if built_in("learner"):
    from simstudy.learners.aode import AODE as AODE
    from simstudy.learners.c45.boosting import BoostedC45 as BoostedC45
    from simstudy.learners.c45.learner import C45 as C45
    from simstudy.learners.calibrated import Calibrated as Calibrated
    from simstudy.learners.camml.learner import CaMML as CaMML
    from simstudy.learners.cost_sensitive import CostSensitive as CostSensitive
    from simstudy.learners.hnb import HNB as HNB
    from simstudy.learners.kdb import KDB as KDB
    from simstudy.learners.lbr import LBR as LBR
    from simstudy.learners.mml.graph import MMLGraph as MMLGraph
    from simstudy.learners.mml.tree import MMLTree as MMLTree
    from simstudy.learners.naive_bayes import NaiveBayes as NaiveBayes
    from simstudy.learners.one_attribute import DecisionStump as DecisionStump
    from simstudy.learners.one_attribute import OneR as OneR
    from simstudy.learners.prior import Prior as Prior
    from simstudy.learners.select import Select as Select
    from simstudy.learners.tan import TAN as TAN
    from simstudy.learners.truth import Truth as Truth

if TYPE_CHECKING:
    from simstudy.learners.base import Generative as Generative
    from simstudy.learners.base import Learner as Learner
else:
    __getattr__, __dir__ = attach(__name__)
