"""Changes: frozen dataclasses of parameters with a method that changes a world."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simstudy.lazy import find

if TYPE_CHECKING:
    from simstudy.sources.changes.base import Change, Extent
    from simstudy.sources.changes.duplicate import Duplicate
    from simstudy.sources.changes.irrelevant import Irrelevant
    from simstudy.sources.changes.label_noise import LabelNoise
    from simstudy.sources.changes.missing import Missing
    from simstudy.sources.changes.shift import Shift
    from simstudy.sources.changes.world import Gaps, Population, World

_PLACE = "simstudy.sources.changes"
_HOMES = {
    f"{_PLACE}.base": ["Change", "Extent"],
    f"{_PLACE}.duplicate": ["Duplicate"],
    f"{_PLACE}.irrelevant": ["Irrelevant"],
    f"{_PLACE}.label_noise": ["LabelNoise"],
    f"{_PLACE}.missing": ["Missing"],
    f"{_PLACE}.shift": ["Shift"],
    f"{_PLACE}.world": ["Gaps", "Population", "World"],
}

__all__ = [
    "Change",
    "Duplicate",
    "Extent",
    "Gaps",
    "Irrelevant",
    "LabelNoise",
    "Missing",
    "Population",
    "Shift",
    "World",
]


def __getattr__(name: str) -> Any:
    return find(name, __name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
