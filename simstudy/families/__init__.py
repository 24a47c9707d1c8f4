"""Families: frozen dataclasses of parameters with a method to draw random models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.lazy import attach, built_in

if built_in("family"):
    from simstudy.sources.families.aode import AODEFamily as AODEFamily
    from simstudy.sources.families.decision_tree import DecisionTreeFamily as DecisionTreeFamily
    from simstudy.sources.families.fitted import FittedFamily as FittedFamily
    from simstudy.sources.families.kdb import KDBFamily as KDBFamily
    from simstudy.sources.families.latent_class import LatentClassFamily as LatentClassFamily
    from simstudy.sources.families.naive_bayes import NaiveBayesFamily as NaiveBayesFamily
    from simstudy.sources.families.network import NetworkFamily as NetworkFamily
    from simstudy.sources.families.noisy_or import NoisyOrFamily as NoisyOrFamily
    from simstudy.sources.families.random_dag import RandomDAGFamily as RandomDAGFamily
    from simstudy.sources.families.tan import TANFamily as TANFamily

if TYPE_CHECKING:
    from simstudy.networks.model import Component as Component
    from simstudy.networks.model import Model as Model
    from simstudy.sources.families.base import Family as Family
else:
    __getattr__, __dir__ = attach(__name__)
