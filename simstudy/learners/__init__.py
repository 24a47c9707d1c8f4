"""Learners: frozen dataclasses of parameters with a method to fit a Sample."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.lazy import find

if TYPE_CHECKING:
    from simstudy.learners.aode import AODE
    from simstudy.learners.base import Generative, Learner
    from simstudy.learners.c45.boosting import BoostedC45
    from simstudy.learners.c45.learner import C45
    from simstudy.learners.calibrated import Calibrated
    from simstudy.learners.camml.learner import CaMML
    from simstudy.learners.cost_sensitive import CostSensitive
    from simstudy.learners.hnb import HNB
    from simstudy.learners.kdb import KDB
    from simstudy.learners.lbr import LBR
    from simstudy.learners.mml.graph import MMLGraph
    from simstudy.learners.mml.tree import MMLTree
    from simstudy.learners.naive_bayes import NaiveBayes
    from simstudy.learners.one_attribute import DecisionStump, OneR
    from simstudy.learners.prior import Prior
    from simstudy.learners.select import Select
    from simstudy.learners.tan import TAN
    from simstudy.learners.truth import Truth

_HOMES = {
    "simstudy.learners.aode": ["AODE"],
    "simstudy.learners.base": ["Generative", "Learner"],
    "simstudy.learners.c45.boosting": ["BoostedC45"],
    "simstudy.learners.c45.learner": ["C45"],
    "simstudy.learners.calibrated": ["Calibrated"],
    "simstudy.learners.camml.learner": ["CaMML"],
    "simstudy.learners.cost_sensitive": ["CostSensitive"],
    "simstudy.learners.hnb": ["HNB"],
    "simstudy.learners.kdb": ["KDB"],
    "simstudy.learners.lbr": ["LBR"],
    "simstudy.learners.mml.graph": ["MMLGraph"],
    "simstudy.learners.mml.tree": ["MMLTree"],
    "simstudy.learners.naive_bayes": ["NaiveBayes"],
    "simstudy.learners.one_attribute": ["DecisionStump", "OneR"],
    "simstudy.learners.prior": ["Prior"],
    "simstudy.learners.select": ["Select"],
    "simstudy.learners.tan": ["TAN"],
    "simstudy.learners.truth": ["Truth"],
}

__all__ = [
    "AODE",
    "C45",
    "HNB",
    "KDB",
    "LBR",
    "TAN",
    "BoostedC45",
    "CaMML",
    "Calibrated",
    "CostSensitive",
    "DecisionStump",
    "Generative",
    "Learner",
    "MMLGraph",
    "MMLTree",
    "NaiveBayes",
    "OneR",
    "Prior",
    "Select",
    "Truth",
]


def __getattr__(name: str) -> Any:
    return find(name, __name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
