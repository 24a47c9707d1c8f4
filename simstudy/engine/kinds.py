"""How the cells of each kind of study are scored."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from functools import cache
from typing import TYPE_CHECKING

from simstudy.measures.base import MeasureInfo

if TYPE_CHECKING:
    from simstudy.engine.plan import Column, Component, Plan
    from simstudy.engine.task import Task

# Imported when a study of the kind is planned, so that workers import nothing else.
_WAYS = {
    "learners": "simstudy.engine.learning:Learning",
    "measures": "simstudy.engine.picking:Picking",
    "estimators": "simstudy.engine.estimating:Estimating",
    "tests": "simstudy.engine.rejecting:Rejecting",
}


class Way(ABC):
    """How the cells of one kind of study are scored; a cell is (model, dose, treatment)."""

    @abstractmethod
    def columns(self, plan: Plan) -> list[Column]:
        """Return the columns of the scores, the primary one first."""

    @abstractmethod
    def info(self, plan: Plan, column: Column) -> MeasureInfo:
        """Return what reports need to know of a column."""

    @abstractmethod
    def task(self, plan: Plan, model: int) -> Task:
        """Return the task of one model, whose `run_cell` scores a treatment at a dose."""

    @abstractmethod
    def role(self, treatment: Component, dose: int) -> str:
        """Return the role of the random stream that is recorded for a cell."""


def way_of(plan: Plan) -> Way:
    """How the cells of a plan are scored."""
    return _way(plan.compare)


@cache
def _way(compare: str) -> Way:
    module, name = _WAYS[compare].split(":")
    made: Way = getattr(importlib.import_module(module), name)()
    return made
