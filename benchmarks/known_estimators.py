"""Record which estimators the study `estimators` finds nearest to the exact values, and coverage.

    python benchmarks/known_estimators.py

Pages of estimates on data sets quote it: simstudy/experiments/estimators/known.json.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from typing import Any

from simstudy import load_study, run_study
from simstudy.analysis.models.standings import AHEAD
from simstudy.experiments.estimators.known import FILE, Quality, settings_of
from simstudy.experiments.estimators.results import EstimatorResults
from simstudy.study.study import Study

_SHARES = ("coverage", "coverage_lower", "coverage_upper")


def known(results: EstimatorResults) -> dict[str, Any]:
    """Return what is recorded of results of the study."""
    study, table, rows = results.study, results.estimator_quality(), list[Quality]()
    settings = {spec.label: settings_of(spec) for spec in study.estimators}
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
                    errors = settings[label], round(rmse, 6), label in far
                    rows.append(Quality(*of, *errors, coverage))
    facts = {"study": study.name, "digest": digest(study), "models": study.models}
    facts["confidence"] = study.analysis.confidence
    return {**facts, "family": study.source.name, "rows": [[*row] for row in rows]}


def digest(study: Study) -> str:
    """Return a digest of a study with all its defaults."""
    return hashlib.sha256(study.to_toml().encode()).hexdigest()


def main() -> None:
    """Run the study and write the file."""
    with tempfile.TemporaryDirectory() as place:
        content = known(run_study(load_study("estimators"), place + "/out", report=False))
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in content.pop("rows"))
    head = json.dumps(content, ensure_ascii=False, indent=1).removesuffix("\n}")
    FILE.write_text(f'{head},\n "rows": [\n{rows}\n]}}\n', encoding="utf-8")


if __name__ == "__main__":
    main()
