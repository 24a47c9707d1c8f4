"""What the study `estimators` found: which estimates are nearest, which intervals cover the value.

``known.json`` beside this file holds it; ``python benchmarks/known_estimators.py`` makes it anew,
and a test compares it with a run of the study.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from simstudy.components.registry import Spec
from simstudy.texts import counted

FILE = Path(__file__).with_name("known.json")


class Quality(NamedTuple):
    """How near an estimator came to the exact values of a learner over the models of the study."""

    size: int
    learner: str  # as registered
    label: str  # of the learner
    measure: str
    estimator: str
    settings: Mapping[str, object]
    rmse: float
    farther: bool  # significantly, than the one with the least RMSE
    coverage: Mapping[str, Sequence[float]]  # of the exact value by each interval, and its limits


@cache
def recorded() -> dict[str, Any]:
    """Return what is recorded."""
    return dict(json.loads(FILE.read_text(encoding="utf-8")))


def qualities(rows: int, learner: str, measure: str) -> list[list[Quality]]:
    """Return the qualities at the studied size nearest to a number of rows, the best first.

    A list for the learner or, if it was not studied, for each that was; none of other measures.
    """
    every = [Quality(*row) for row in recorded()["rows"]]
    every = [row for row in every if row.measure == measure]
    if not every:
        return []
    size = min({row.size for row in every}, key=lambda size: abs(math.log(size / rows)))
    studied = dict.fromkeys(row.learner for row in every)
    names = [learner] if learner in studied else studied
    at = [row for row in every if row.size == size]
    return [[row for row in at if row.learner == name] for name in names]


def quality_of(spec: Spec, rows: Sequence[Quality]) -> Quality | None:
    """Return what is recorded of an estimator of a study, whichever of its intervals it shows.

    If it was studied with other numbers of repeats only, of the nearest number.
    """
    own = settings_of(spec)
    same = [row for row in rows if {**row.settings, "repeats": 1} == {**own, "repeats": 1}]
    times = [abs(math.log(_repeats(row.settings) / _repeats(own))) for row in same]
    return same[times.index(min(times))] if same else None


def other_repeats(spec: Spec, row: Quality) -> str:
    """Say how many repeats were studied, if they are others than those of an estimator."""
    number = _repeats(row.settings)
    return f" with {counted(number, 'repeat')}" * (number != _repeats(settings_of(spec)))


def settings_of(spec: Spec) -> dict[str, object]:
    """Return the name and all parameters of an estimator but for its interval."""
    resolved = {key: value for key, value in spec.resolved.items() if key != "interval"}
    return {"name": spec.name, **resolved}


def _repeats(settings: Mapping[str, Any]) -> int:
    return int(settings.get("repeats", 1))
