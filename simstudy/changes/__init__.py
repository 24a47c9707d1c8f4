"""Changes: frozen dataclasses of parameters with a method that changes a world."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.lazy import attach, built_in

if built_in("change"):
    from simstudy.sources.changes.duplicate import Duplicate as Duplicate
    from simstudy.sources.changes.irrelevant import Irrelevant as Irrelevant
    from simstudy.sources.changes.label_noise import LabelNoise as LabelNoise
    from simstudy.sources.changes.missing import Missing as Missing
    from simstudy.sources.changes.shift import Shift as Shift

if TYPE_CHECKING:
    from simstudy.sources.changes.base import Change as Change
    from simstudy.sources.changes.base import Extent as Extent
    from simstudy.sources.changes.world import Gaps as Gaps
    from simstudy.sources.changes.world import Population as Population
    from simstudy.sources.changes.world import World as World
else:
    __getattr__, __dir__ = attach(__name__)
