"""Sources of problems: the families that draw models, and data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.lazy import attach

if TYPE_CHECKING:
    from simstudy.sources.families.base import Family as Family
    from simstudy.sources.source import Problem as Problem
    from simstudy.sources.source import Source as Source
else:
    __getattr__, __dir__ = attach(__name__, "simstudy.families")
