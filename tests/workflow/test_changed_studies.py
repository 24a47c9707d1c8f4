"""Studies with changes: what is drawn, scored, refused, resumed and told."""

from __future__ import annotations

import html
import json
import re
import tomllib
from typing import Any

import numpy as np
import pytest

from simstudy import (
    SimstudyError,
    load_study,
    make_study,
    merge,
    open_results,
    run_cell,
    run_shard,
    run_study,
)
from simstudy.data.codes import configurations
from simstudy.engine.evaluation import population
from simstudy.engine.plan import make_plan
from simstudy.learners import NaiveBayes
from simstudy.workflow.lists import vary_study

STUDY = """
name = "changed"
models = 3

[family]
name = "naive_bayes"
variables = [4, 5]
values = [2, 3]
classes = 2
class_prior = [0.3, 0.7]

[data]
train_sizes = [40, 90]
test_size = 100

[measures]
also = ["kl_divergence"]

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "truth"
"""
NOISE: dict[str, Any] = {"name": "label_noise", "rate": 0.2}
GAPS: dict[str, Any] = {"name": "missing", "rate": 0.2}
ALL = [
    {"name": "irrelevant", "number": 2},
    {"name": "duplicate", "rate": 0.1},
    NOISE,
    {"name": "shift", "class_prior": "uniform"},
    GAPS,
]


def content(*changes: dict[str, Any], **sections: Any) -> dict[str, Any]:
    return {**tomllib.loads(STUDY), **({"changes": [*changes]} if changes else {}), **sections}


def run(tmp_path, name, *changes, **sections):
    study = make_study(content(*changes, **sections))
    return run_study(study, tmp_path / name, jobs=1, report=False)


@pytest.mark.parametrize("size", [100, "exact"])
def test_what_changes_nothing_changes_no_digit(tmp_path, size):
    data = {"train_sizes": [40], "test_size": size}
    measures = {"also": ["kl_divergence", "regret", "representation"], "cutoff": "none"}
    measures["primary"] = "log_loss"
    plain = run(tmp_path, "plain", data=data, measures=measures)
    nothing = [
        {**NOISE, "rate": 0.0},
        {**NOISE, "rate": 0.0, "on": "both"},
        {"name": "shift", "class_prior": [0.3, 0.7]},
    ]
    same = run(tmp_path, "same", *nothing, data=data, measures=measures)
    files = [one.directory / "scores.parquet" for one in (plain, same)]
    assert files[0].read_bytes() == files[1].read_bytes()
    prints = [one.manifest["fingerprint"] for one in (plain, same)]
    assert prints[0] != prints[1]
    assert "changes" not in plain.manifest["conditions"]


def test_missing_values_at_rate_0_change_no_digit(tmp_path):
    plain, same = run(tmp_path, "plain"), run(tmp_path, "same", {**GAPS, "rate": 0.0})
    assert plain.scores.equals(same.scores)


def test_the_truth_is_that_of_the_test_rows_and_never_beaten(tmp_path):
    found = run(tmp_path, "all", *ALL, measures={"also": ["kl_divergence"], "cutoff": "none"})
    truth = found.scores[found.scores["learner"] == "truth"]
    assert (truth["kl_divergence"] == 0).all()
    assert found.manifest["failures"] == 0
    world = found.world(0)
    assert world.test.cards == world.train.cards
    assert len(world.test.cards) in (7, 8)
    np.testing.assert_allclose(world.test.class_prior(), [0.5, 0.5])
    np.testing.assert_allclose(world.train.class_prior(), [0.38, 0.62])  # 0.3, 0.7 with noise
    assert found.model(0) is not world.train.model
    assert found.model(0).digest() == world.train.model.digest()


@pytest.mark.parametrize("change", [NOISE, {"name": "shift", "class_prior": "uniform"}])
def test_limits_are_fitted_to_the_training_population(tmp_path, change):
    measures = {"primary": "representation", "cutoff": "none"}
    data = {"train_sizes": [40], "test_size": "exact"}
    found = run(tmp_path, "limits", change, data=data, measures=measures)
    for index in range(3):
        world = found.world(index)
        rows = configurations(world.test.cards[:-1])
        limit = NaiveBayes().fit(population(world.train)).predict_proba(rows)
        joint = world.test.joint().reshape(len(rows), -1)
        # of two classes, the information reward is log q/p of the true one
        expected = np.sum(joint * (np.log(world.test.posterior(rows)) - np.log(limit)))
        own = found.scores.query(f"model == {index} and learner == 'NB'")
        assert own["representation"].iloc[0] == pytest.approx(expected, rel=1e-9)
        assert expected > 1e-3


def test_a_cell_is_computed_alone_to_the_same_digits(tmp_path):
    found = run(tmp_path, "all", *ALL)
    cell = run_cell(make_study(content(*ALL)), 1, 90, "NB")
    kept = found.scores.query("model == 1 and size == 90 and learner == 'NB'").iloc[0]
    assert cell["information_reward"] == kept["information_reward"]


def test_shards_join_to_the_same_scores_and_a_page_that_names_the_changes(tmp_path):
    whole, study = run(tmp_path, "whole", *ALL), make_study(content(*ALL))
    pieces = [run_shard(study, (k, 2), tmp_path / f"{k}", jobs=1).directory for k in (1, 2)]
    joined = merge(pieces, tmp_path / "joined")
    assert joined.scores.equals(whole.scores)
    page = (tmp_path / "joined" / "report.html").read_text(encoding="utf-8")
    told = html.unescape(re.sub(r"<[^>]+>", "", page))
    for text in ("irrelevant (number = 2", "label_noise (rate = 0.2", "missing (rate = 0.2"):
        assert text in told
    assert "Labels are wrong in some rows" in told
    assert {*joined.manifest["about"]["change"]} == {change["name"] for change in ALL}
    assert run_study(study, tmp_path / "whole", jobs=1, report=False).reused
    kept = open_results(tmp_path / "whole").study.changes[2]
    assert kept.parameters == {"rate": 0.2, "on": "train"}
    again = load_study(tmp_path / "whole" / "study.toml")
    assert make_plan(again).fingerprint() == whole.manifest["fingerprint"]
    other = make_study(content(*ALL[:2], {**NOISE, "rate": 0.3}, *ALL[3:]))
    with pytest.raises(SimstudyError, match="changes"):
        run_study(other, tmp_path / "whole", jobs=1, report=False)


CAMML = {"learners": [{"name": "camml"}]}


@pytest.mark.parametrize(
    ("changes", "sections", "text"),
    [
        (
            [{"name": "label_nois"}],
            {},
            r"changes\[0\].name: unknown change 'label_nois'; did you m",
        ),
        ([{**NOISE, "rat": 1}], {}, r"changes\[0\].rat: unknown key; did you mean 'rate'"),
        ([{**NOISE, "rate": 2.0}], {}, r"changes\[0\]: rate = 2.0 is not allowed"),
        ([{**NOISE, "rate": "x"}], {}, r'changes\[0\].rate: "x" is not a number'),
        ([NOISE, {"name": "shift"}], {}, r"changes\[1\]: a shift needs a class_prior or marginals"),
        (
            [{"name": "shift", "class_prior": [0.2, 0.3, 0.5]}],
            {},
            r"changes\[0\]: class_prior is for 3 classes, and models have 2",
        ),
        (
            [{"name": "label_noise", "confusion": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}],
            {},
            r"changes\[0\]: confusion is for 3 classes, and models have 2",
        ),
        (
            [{"name": "missing", "given": "x9"}],
            {},
            r"changes\[0\]: no attribute is named 'x9'; did you mean 'x2'",
        ),
        (
            [GAPS, {"name": "irrelevant"}],
            {},
            r"changes\[1\]: the attributes must be changed before",
        ),
        (
            [GAPS],
            {"data": {"test_size": "exact"}},
            r"changes\[0\]: 'missing' creates .* number of rows",
        ),
        (
            [GAPS],
            {"measures": {"also": ["regret", "representation"]}},
            r"measures.also\[1\]: 'representation' needs learners' limits",
        ),
        (
            [GAPS],
            CAMML,
            r"learners\[0\]: 'camml' does not accept missing values, which 'missing' creates; set",
        ),
        (
            [NOISE],
            {"preparation": {"missing": "mode"}},
            "preparation: no change in this study creates",
        ),
        ([], {"preparation": {"missing": "mode"}}, "preparation: this key is for studies of data"),
        (
            [{"name": "irrelevant", "number": 30}],
            {"data": {"test_size": "exact"}},
            "data.test_size: .* of 35 variables",
        ),
        (
            [{"name": "irrelevant"}],
            {"learners": [{"name": "tan", "tree": "true"}]},
            "learners\\[0\\].tree: .* the change 'irrelevant' produces other models",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(changes, sections, text):
    with pytest.raises(SimstudyError, match=text) as error:
        make_study(content(*changes, **sections))
    assert "\n" not in str(error.value)


def test_learners_that_take_no_missing_values_get_prepared_rows(tmp_path):
    prepared = {"missing": "value"}
    found = run(tmp_path, "camml", GAPS, preparation=prepared, **CAMML)
    assert found.manifest["failures"] == 0
    assert tomllib.loads((found.directory / "study.toml").read_text())["preparation"] == {
        "discretize": "mdl",
        "bins": 10,
        "missing": "value",
    }
    mode = run(tmp_path, "mode", GAPS, preparation={"missing": "mode"}, **CAMML)
    assert not mode.scores.equals(found.scores)


def test_a_change_of_one_s_own_is_a_plugin(tmp_path):
    (tmp_path / "blunt.py").write_text(
        "from dataclasses import dataclass\n"
        "from simstudy import Change, register_change\n"
        "from simstudy.changes import LabelNoise\n\n\n"
        "@register_change('blunt')\n"
        "@dataclass(frozen=True)\n"
        "class Blunt(Change):\n"
        "    '''Half of the labels.'''\n\n"
        "    def apply(self, world, rng):\n"
        "        return LabelNoise(0.5).apply(world, rng)\n"
    )
    given = content({"name": "blunt"}, plugins=["blunt.py"])
    study = make_study(given, tmp_path)
    found = run_study(study, tmp_path / "own", jobs=1, report=False)
    same = run(tmp_path, "noise", {**NOISE, "rate": 0.5})
    columns = ["information_reward", "kl_divergence"]
    assert found.scores[columns].equals(same.scores[columns])
    assert "blunt" in found.manifest["conditions"]["source"]
    assert (found.directory / "plugins" / "0_blunt.py").exists()


def test_a_sweep_shows_how_winners_and_thresholds_move(tmp_path):
    path = tmp_path / "changed.toml"
    path.write_text(STUDY + '\n[[changes]]\nname = "label_noise"\n')
    keys = ["changes[0].rate=0,0.3"]
    page, found = vary_study(path, keys, tmp_path / "out", jobs=1, report=False)
    assert [one.study.changes[0].resolved["rate"] for one in found] == [0, 0.3]
    text = page.read_text(encoding="utf-8")
    assert "Winners and thresholds" in text
    for place, results in enumerate(found):
        for standing in results.findings().standings:
            label = ("rate 0", "rate 0.3")[place]
            assert f"{label}, {standing.size:,} rows: {standing.leader}" in text
    plain = run(tmp_path, "plain")
    assert found[0].scores["information_reward"].equals(plain.scores["information_reward"])
    for key in ("changes[1].rate=0", "changes[0].rat=0", "changes.rate=0"):
        with pytest.raises(SimstudyError, match="--key"):
            vary_study(path, [key], tmp_path / "bad", jobs=1, report=False)


def test_an_override_may_name_one_of_several_sections(tmp_path):
    path = tmp_path / "changed.toml"
    path.write_text(STUDY + '\n[[changes]]\nname = "label_noise"\n')
    study = load_study(path, {"changes[0].rate": 0.3, "learners[0].label": "naive"})
    assert study.changes[0].parameters == {"rate": 0.3}
    assert study.labels == ["naive", "truth"]
    with pytest.raises(SimstudyError, match="changes"):
        load_study(path, {"changes[3].rate": 0.3})


def test_kept_answers_of_rows_with_gaps_give_measures_and_curves_later(tmp_path):
    from simstudy.workflow.score import add_measures

    found = run(tmp_path, "kept", GAPS, NOISE, keep_answers=True)
    curves = found.curves("roc")
    assert len(curves.truth)
    added = add_measures(found.directory, ["accuracy"])
    own = content(GAPS, NOISE, measures={"also": ["kl_divergence", "accuracy"]})
    again = run_study(make_study(own), tmp_path / "again", jobs=1, report=False)
    assert added.scores["accuracy"].equals(again.scores["accuracy"])


def test_the_identity_of_a_change_is_its_name_and_what_is_not_default():
    plan = make_plan(make_study(content({**NOISE, "rate": 0.1}, GAPS)))
    assert [json.loads(change.identity) for change in plan.source.changes] == [
        ["label_noise", {}],
        ["missing", {"rate": 0.2}],
    ]
