"""Families: frozen dataclasses of parameters that draw random models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.lazy import find

if TYPE_CHECKING:
    from simstudy.families.aode import AODEFamily
    from simstudy.families.base import Family
    from simstudy.families.kdb import KDBFamily
    from simstudy.families.model import Component, Model
    from simstudy.families.naive_bayes import NaiveBayesFamily
    from simstudy.families.tan import TANFamily

_HOMES = {
    "simstudy.families.aode": ["AODEFamily"],
    "simstudy.families.base": ["Family"],
    "simstudy.families.kdb": ["KDBFamily"],
    "simstudy.families.model": ["Component", "Model"],
    "simstudy.families.naive_bayes": ["NaiveBayesFamily"],
    "simstudy.families.tan": ["TANFamily"],
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
