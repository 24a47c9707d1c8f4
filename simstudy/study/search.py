"""The table ``search`` of a learner in a study file, which makes it the learner ``select``."""

from __future__ import annotations

import itertools
import math
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, field_validator

from simstudy.errors import KeyedError
from simstudy.study.error_messages import explain
from simstudy.study.sections import FileSection, LearnerSection

MAX_SETTINGS = 1000


class SearchSection(FileSection):
    """A search among settings of a learner, within each training part.

    Parameters
    ----------
    grid
        The values to try, by parameter: all combinations are.
    measure
        What selects.
    measure_parameters
        The parameters of that measure.
    validation
        Whether on all training rows by cross-validation, or on a part of them.
    folds
        Number of folds.
    share
        The share of rows that settings are fitted to in a holdout.
    """

    grid: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field(min_length=1)
    measure: str = "information_reward"
    measure_parameters: dict[str, Any] | None = None
    validation: Literal["cv", "holdout"] = "cv"
    folds: int = 5
    share: float = 2 / 3

    @field_validator("grid")
    @classmethod
    def _few(cls, grid: dict[str, list[Any]]) -> dict[str, list[Any]]:
        if (number := math.prod(map(len, grid.values()))) > MAX_SETTINGS:
            raise ValueError(f"it has {number:,} combinations; {MAX_SETTINGS:,} are allowed")
        return grid


def selecting(section: LearnerSection) -> LearnerSection:
    """The section as that of the learner ``select``, if it has a table ``search``."""
    stated = dict(section.model_extra or {})
    if not isinstance(stated.get("search"), dict):  # a parameter of some learners
        return section
    try:
        search = SearchSection.model_validate(stated.pop("search"))
    except ValidationError as error:
        key, message = explain(error, SearchSection)
        raise KeyedError(f"search.{key}", message) from error
    grid, keys = search.grid, search.model_dump(exclude={"grid"}, exclude_unset=True)
    settings = (dict(zip(grid, row, strict=True)) for row in itertools.product(*grid.values()))
    candidates = ({"learner": section.name, "parameters": stated | row} for row in settings)
    keys |= {"candidates": [*candidates], "label": section.label or f"{section.name}, tuned"}
    return LearnerSection(name="select", preparation=section.preparation, **keys)
