"""What the study `estimators` found: which estimates are nearest, which intervals cover the value.

``known.json`` beside this file holds it; ``python benchmarks/known_estimators.py`` makes it anew,
and a test compares it with a run of the study.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from simstudy.analysis.models.standings import AHEAD
from simstudy.components.registry import Spec
from simstudy.experiments.estimators.results import EstimatorResults
from simstudy.study.study import Study
from simstudy.texts import counted

_SHARES = ("coverage", "coverage_lower", "coverage_upper")
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


def known(results: EstimatorResults) -> dict[str, Any]:
    """Return what is recorded of results of the study."""
    study, table, rows = results.study, results.estimator_quality(), list[Quality]()
    settings = {spec.label: _settings(spec) for spec in study.estimators}
    intervals = results.interval_quality().set_index(["size", "learner", "measure", "estimator"])
    intervals = intervals.sort_index()
    for learner in study.learners:
        for measure in study.measured:
            findings = results.findings(f"squared_error_{measure.label}_{learner.label}")
            for at in findings.standings:
                far = {pair.second for pair in at.against if pair.verdict == AHEAD}
                own = table[(table["size"] == at.size) & (table["learner"] == learner.label)]
                own = own[own["measure"] == measure.label].sort_values("rmse")
                for label, rmse in zip(own["estimator"], own["rmse"], strict=True):
                    of = at.size, learner.name, learner.label, measure.label, label
                    shares = intervals.loc[[(at.size, learner.label, measure.label, label)]]
                    shares = shares.set_index("interval")[[*_SHARES]].round(4)
                    coverage = {str(key): row.tolist() for key, row in shares.iterrows()}
                    of_errors = settings[label], round(rmse, 6), label in far
                    rows.append(Quality(*of, *of_errors, coverage))
    facts = {"study": study.name, "digest": digest(study), "models": study.models}
    facts["confidence"] = study.analysis.confidence
    return {**facts, "family": study.source.name, "rows": [[*row] for row in rows]}


def digest(study: Study) -> str:
    """Return a digest of a study with all its defaults."""
    return hashlib.sha256(study.to_toml().encode()).hexdigest()


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
    own = _settings(spec)
    times = [_repeats(row.settings) / _repeats(own) for row in rows]
    same = [
        (abs(math.log(ratio)), at)
        for at, ratio in enumerate(times)
        if {**own, "repeats": 1} == {**rows[at].settings, "repeats": 1}
    ]
    return rows[min(same)[1]] if same else None


def other_repeats(spec: Spec, row: Quality) -> str:
    """Say how many repeats were studied, if they are others than those of an estimator."""
    studied = _repeats(row.settings)
    return (
        ""
        if studied == _repeats(_settings(spec))
        else f"(studied with {counted(studied, 'repeat')})"
    )


def _settings(spec: Spec) -> dict[str, object]:
    resolved = {key: value for key, value in spec.resolved.items() if key != "interval"}
    return {"name": spec.name, **resolved}


def _repeats(settings: Mapping[str, Any]) -> int:
    return int(settings.get("repeats", 1))
