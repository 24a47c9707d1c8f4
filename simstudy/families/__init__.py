"""Families: frozen dataclasses of parameters with a method to draw random models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.lazy import find

if TYPE_CHECKING:
    from simstudy.networks.model import Component, Model
    from simstudy.sources import (
        AODEFamily,
        DecisionTreeFamily,
        Family,
        FittedFamily,
        KDBFamily,
        LatentClassFamily,
        NaiveBayesFamily,
        NetworkFamily,
        NoisyOrFamily,
        RandomDAGFamily,
        TANFamily,
    )

_HOMES = {
    "simstudy.networks.model": ["Component", "Model"],
    "simstudy.sources": [
        "AODEFamily",
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
    ],
}

__all__ = [
    "AODEFamily",
    "Component",
    "DecisionTreeFamily",
    "Family",
    "FittedFamily",
    "KDBFamily",
    "LatentClassFamily",
    "Model",
    "NaiveBayesFamily",
    "NetworkFamily",
    "NoisyOrFamily",
    "RandomDAGFamily",
    "TANFamily",
]


def __getattr__(name: str) -> Any:
    return find(name, __name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
