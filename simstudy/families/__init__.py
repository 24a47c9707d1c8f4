"""Families: frozen dataclasses of parameters with a method to draw random models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.lazy import find

if TYPE_CHECKING:
    from simstudy.networks.model import Component, Model
    from simstudy.sources.aode import AODEFamily
    from simstudy.sources.base import Family
    from simstudy.sources.kdb import KDBFamily
    from simstudy.sources.naive_bayes import NaiveBayesFamily
    from simstudy.sources.tan import TANFamily

_HOMES = {
    "simstudy.sources.aode": ["AODEFamily"],
    "simstudy.sources.base": ["Family"],
    "simstudy.sources.kdb": ["KDBFamily"],
    "simstudy.networks.model": ["Component", "Model"],
    "simstudy.sources.naive_bayes": ["NaiveBayesFamily"],
    "simstudy.sources.tan": ["TANFamily"],
}

__all__ = [
    "AODEFamily",
    "Component",
    "Family",
    "KDBFamily",
    "Model",
    "NaiveBayesFamily",
    "TANFamily",
]


def __getattr__(name: str) -> Any:
    return find(name, __name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
