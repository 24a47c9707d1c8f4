"""Sources of problems: the families that draw models, and data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.lazy import find

if TYPE_CHECKING:
    from simstudy.sources.aode import AODEFamily
    from simstudy.sources.base import Family
    from simstudy.sources.data import DataSource
    from simstudy.sources.decision_tree import DecisionTreeFamily
    from simstudy.sources.fitted import FittedFamily
    from simstudy.sources.kdb import KDBFamily
    from simstudy.sources.latent_class import LatentClassFamily
    from simstudy.sources.naive_bayes import NaiveBayesFamily
    from simstudy.sources.network import NetworkFamily
    from simstudy.sources.noisy_or import NoisyOrFamily
    from simstudy.sources.random_dag import RandomDAGFamily
    from simstudy.sources.tan import TANFamily

_HOMES = {
    "simstudy.sources.aode": ["AODEFamily"],
    "simstudy.sources.base": ["Family"],
    "simstudy.sources.data": ["DataSource"],
    "simstudy.sources.fitted": ["FittedFamily"],
    "simstudy.sources.kdb": ["KDBFamily"],
    "simstudy.sources.naive_bayes": ["NaiveBayesFamily"],
    "simstudy.sources.decision_tree": ["DecisionTreeFamily"],
    "simstudy.sources.latent_class": ["LatentClassFamily"],
    "simstudy.sources.network": ["NetworkFamily"],
    "simstudy.sources.noisy_or": ["NoisyOrFamily"],
    "simstudy.sources.random_dag": ["RandomDAGFamily"],
    "simstudy.sources.tan": ["TANFamily"],
}

__all__ = [
    "AODEFamily",
    "DataSource",
    "DecisionTreeFamily",
    "Family",
    "FittedFamily",
    "KDBFamily",
    "LatentClassFamily",
    "NaiveBayesFamily",
    "NetworkFamily",
    "NoisyOrFamily",
    "RandomDAGFamily",
    "TANFamily",
]


def __getattr__(name: str) -> object:
    return find(name, __name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
