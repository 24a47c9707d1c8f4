"""Estimators and tests of two learners that plugins or sessions register."""

from __future__ import annotations

import json
from dataclasses import dataclass

import pytest

from simstudy import SimstudyError, make_study, open_results, register_test, run_study
from simstudy.components.describe import find_components
from simstudy.components.registry import TESTS
from simstudy.estimators import Decision, LearnerTest

PLUGIN = """
from dataclasses import dataclass
from simstudy import register_estimator, register_test
from simstudy.estimators import Decision, Estimate, Estimator, LearnerTest

@register_estimator("seen")
@dataclass(frozen=True)
class Seen(Estimator):
    "The value on the rows seen, shrunk."
    factor: float = 0.5

    def estimate(self, bench, judge, confidence=0.95):
        return Estimate(self.factor * judge.value(bench.whole()))

@register_estimator("scribbling")
@dataclass(frozen=True)
class Scribbling(Estimator):
    "Writes into what it is given."

    def estimate(self, bench, judge, confidence=0.95):
        bench.whole().answers[:] = 0.5
        return Estimate(0.0)

@register_estimator("failing")
@dataclass(frozen=True)
class Failing(Estimator):
    "Raises."

    def estimate(self, bench, judge, confidence=0.95):
        raise KeyError("no luck")

@register_estimator("short")
@dataclass(frozen=True)
class Short(Estimator):
    "Takes no confidence."

    def estimate(self, bench, judge):
        return Estimate(0.0)

@register_test("never")
@dataclass(frozen=True)
class Never(LearnerTest):
    "Rejects nothing."

    def test(self, first, second, judge):
        return Decision(1.0, judge.value(first.whole()) - judge.value(second.whole()))
"""


def study(place, compare="estimators", plugin=PLUGIN, **changes):
    (place / "mine.py").write_text(plugin)
    content = {
        "name": "mine",
        "plugins": ["mine.py"],
        "compare": compare,
        "models": 3,
        "family": {"name": "tan", "variables": [3, 4], "values": [2, 3]},
        "data": {"train_sizes": [20], **DATA[compare]},
        "learners": [{"name": "naive_bayes"}, {"name": "prior"}],
        "measures": {"primary": "accuracy"},
        **TREATMENTS[compare],
    }
    return make_study(content | changes, place)


DATA = {"estimators": {"training_sets": 3}, "tests": {"repeats": 2}}
TREATMENTS = {
    "estimators": {"estimators": [{"name": "seen"}, {"name": "resubstitution"}]},
    "tests": {"tests": [{"name": "never"}, {"name": "mcnemar"}]},
}


@pytest.mark.parametrize(("compare", "name"), [("estimators", "seen"), ("tests", "never")])
def test_workers_get_them_and_results_know_them(tmp_path, compare, name):
    made = [
        run_study(study(tmp_path, compare), tmp_path / f"{jobs}", jobs=jobs, report=False)
        for jobs in (1, 2)
    ]
    assert len({(one.directory / "scores.parquet").read_bytes() for one in made}) == 1
    scores = made[0].scores
    assert set(scores["status"]) == {"ok"}
    if compare == "tests":
        shares = scores.filter(regex="^(type_1|power|wrong)")
        assert (shares[scores["learner"] == name] == 0).all(axis=None)
    else:
        table = made[0].estimates.pivot_table("estimate", ["model", "learner"], "estimator")
        assert table["seen"].tolist() == pytest.approx((table["resubstitution"] / 2).tolist())
    manifest = json.loads((made[0].directory / "manifest.json").read_text())
    assert [*manifest["conditions"]["source"]] == [name]
    assert manifest["session"] == {}
    assert open_results(made[0].directory).foreign == ["plugins/0_mine.py", name]
    assert find_components(name)[0].kind == compare.removesuffix("s")


def test_what_is_another_estimator_is_not_mixed_with_the_first(tmp_path):
    first = PLUGIN.partition('@register_estimator("scribbling")')[0].replace('"seen"', '"changing"')
    for plugin, out in ((first, "out"), (first.replace("0.5\n", "0.25\n"), "again")):
        changed = study(tmp_path, plugin=plugin, estimators=[{"name": "changing"}])
        made = run_study(changed, tmp_path / out, jobs=1, report=False)
        assert made.settings["estimators"][0]["factor"] == (0.5 if out == "out" else 0.25)
    with pytest.raises(SimstudyError, match="holds the results of a different study"):
        run_study(changed, tmp_path / "out", jobs=1, report=False)


def test_one_that_misbehaves_costs_its_own_cells(tmp_path):
    names = ["scribbling", "failing", "resubstitution"]
    estimators = [{"name": name} for name in names]
    mixed = run_study(
        study(tmp_path, estimators=estimators), tmp_path / "mixed", jobs=1, report=False
    ).scores
    assert set(mixed.loc[mixed["learner"] != "resubstitution", "status"]) == {"error"}
    alone = run_study(
        study(tmp_path, estimators=estimators[2:]), tmp_path / "alone", jobs=1, report=False
    ).scores
    kept = mixed[mixed["learner"] == "resubstitution"].reset_index(drop=True)
    assert kept.equals(alone)


def test_one_that_cannot_be_called_is_refused(tmp_path):
    with pytest.raises(SimstudyError, match=r"cannot be called as estimate\(bench, judge, confid"):
        study(tmp_path, estimators=[{"name": "short"}])


def test_a_session_registers_one(tmp_path, monkeypatch):
    monkeypatch.setattr(TESTS, "_registered", {**TESTS._registered})

    @register_test("of_session")
    @dataclass(frozen=True)
    class OfSession(LearnerTest):
        """Always rejects in favour of the first."""

        def test(self, first, second, judge):
            return Decision(0.0, 1.0)

    made = run_study(
        study(tmp_path, "tests", plugins=[], tests=[{"name": "of_session"}]),
        tmp_path / "out",
        jobs=2,
        report=False,
    )
    assert (made.scores.filter(regex="^type_1") == 1).all(axis=None)
    digest = made.manifest["conditions"]["source"]["of_session"]
    assert made.manifest["session"] == {"test of_session": digest}
