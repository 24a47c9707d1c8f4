"""Sources of problems: the families that draw models, and data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.lazy import find

if TYPE_CHECKING:
    from simstudy.sources.aode import AODEFamily
    from simstudy.sources.base import Family
    from simstudy.sources.data import DataSource
    from simstudy.sources.kdb import KDBFamily
    from simstudy.sources.naive_bayes import NaiveBayesFamily
    from simstudy.sources.tan import TANFamily

_HOMES = {
    "simstudy.sources.aode": ["AODEFamily"],
    "simstudy.sources.base": ["Family"],
    "simstudy.sources.data": ["DataSource"],
    "simstudy.sources.kdb": ["KDBFamily"],
    "simstudy.sources.naive_bayes": ["NaiveBayesFamily"],
    "simstudy.sources.tan": ["TANFamily"],
}

__all__ = [
    "AODEFamily",
    "DataSource",
    "Family",
    "KDBFamily",
    "NaiveBayesFamily",
    "TANFamily",
]


def __getattr__(name: str) -> Any:
    return find(name, __name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
