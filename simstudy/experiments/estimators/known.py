"""What the study `estimators` found: which estimates are nearest to the exact value.

``known.json`` beside this file holds it; ``python benchmarks/known_estimators.py`` makes it anew,
and a test compares it with a run of the study.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from simstudy.components.registry import Spec

FILE = Path(__file__).with_name("known.json")


class Quality(NamedTuple):
    """How near an estimator came to the exact values of a learner over the models of the study."""

    size: int
    learner: str  # as registered
    label: str  # of the learner
    measure: str
    estimator: str
    identity: str
    rmse: float
    farther: bool  # significantly, than the one with the least RMSE


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


def among(rows: Iterable[Quality], specs: Iterable[Spec]) -> list[Quality]:
    """Return those of estimators that a study has, whichever of their intervals it shows."""
    here = {_key(spec.identity) for spec in specs}
    return [row for row in rows if _key(row.identity) in here]


def _key(identity: str) -> str:
    name, parameters = json.loads(identity)
    return json.dumps([name, {k: v for k, v in parameters.items() if k != "interval"}])
