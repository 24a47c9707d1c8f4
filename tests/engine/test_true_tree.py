"""TAN given the tree of the model that a study drew."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

from simstudy import SimstudyError, load_study, make_study, run_study
from simstudy.components.registry import FAMILIES
from simstudy.data.sample import Sample
from simstudy.engine.evaluation import evaluation
from simstudy.engine.plan import make_plan
from simstudy.engine.seeds import stream
from simstudy.engine.task import run_task
from simstudy.learners.bayes.tan import TAN
from simstudy.networks.model import Component, Model
from simstudy.sources.families.aode import AODEFamily
from simstudy.sources.families.kdb import KDBFamily
from simstudy.sources.families.naive_bayes import NaiveBayesFamily
from simstudy.sources.families.tan import TANFamily
from tests.engine.scorers import scorer

MEASURES = ["information_reward", "regret", "representation", "estimation"]


def study_of(family: dict[str, object], test_size: int | str = "exact", **learner: object):
    return make_study(
        {
            "name": "trees",
            "seed": 11,
            "models": 4,
            "family": {"variables": [4, 6], "values": [2, 4], **family},
            "data": {"train_sizes": [30, 1000], "test_size": test_size},
            "learners": [{"name": "tan", "tree": "true", **learner}],
            "measures": {"also": MEASURES[1:]},
        }
    )


def tree_of(model: Model) -> tuple[int | None, ...]:
    """The parent of each attribute that is not the target, found arc by arc."""
    (component,) = model.components
    target = len(model.cards) - 1
    tree: list[int | None] = [None] * target
    for child in range(target):
        for parent in component.parents[child]:
            if parent != target:
                tree[child] = parent
    return tuple(tree)


@pytest.mark.parametrize("test_size", ["exact", 300])
@pytest.mark.parametrize(
    "family",
    [{"name": "tan"}, {"name": "naive_bayes"}, {"name": "kdb", "k": 1}],
    ids=lambda f: f["name"],
)
def test_it_is_the_tan_of_the_models_own_tree_to_the_last_bit(family, test_size):
    study = study_of(family, test_size, alpha=0.7)
    plan = make_plan(study)
    for index in range(plan.problems):

        def rng(role: str, index: int = index) -> np.random.Generator:
            return stream(plan.seed, plan.source.identity, index, role)

        model = FAMILIES.get(family["name"])(**study.family.parameters).draw(rng("model"))
        judged = evaluation(model, plan.source.test_size, rng("test"))
        columns = [column for column in plan.columns if column.measure in MEASURES[:2]]
        score = scorer(columns, model, judged, plan.prior, plan.cutoff, plan.base)
        learner = TAN(alpha=0.7, tree=tree_of(model))
        for cell in run_task(plan, index):
            assert cell.status == "ok", cell.error
            train = model.sample(cell.size, rng(f"train/{cell.size}"))
            fitted = learner.fit(train)
            exact = test_size == "exact"
            proba = fitted.predict_grid() if exact else fitted.predict_proba(judged.rows)
            assert list(cell.values[:2]) == score(proba, train)


@pytest.mark.parametrize("family", ["tan", "naive_bayes"])
def test_its_limit_is_the_oracle(family):
    plan = make_plan(study_of({"name": family}))
    for index in range(plan.problems):
        for cell in run_task(plan, index):
            assert cell.warning == ""
            of = dict(zip(MEASURES, cell.values, strict=True))
            assert abs(of["representation"]) < 1e-9
            assert of["representation"] + of["estimation"] == pytest.approx(of["regret"], abs=1e-12)
            assert of["estimation"] > 0


def test_a_naive_bayes_model_has_a_tree_without_arcs():
    model = NaiveBayesFamily().draw(np.random.default_rng(0))
    learner = TAN(tree="true").given_structure([c.parents for c in model.components])
    assert learner.tree == (None,) * (len(model.cards) - 1)


@pytest.mark.parametrize("tree", [None, (None, 0, 1)])
def test_a_learner_that_does_not_ask_keeps_its_own_tree(tree):
    learner = TAN(tree=tree)
    assert learner.given_structure([[[3, 1], [3], [3, 0], []]]) is learner


def draws_a_tree(model: Model) -> bool:
    try:
        TAN(tree="true").given_structure([c.parents for c in model.components])
    except ValueError:
        return False
    return True


@pytest.mark.parametrize(
    "family",
    [
        *(NaiveBayesFamily((n, n)) for n in (2, 5)),
        *(TANFamily((n, n)) for n in (2, 5)),
        *(AODEFamily((n, n)) for n in (2, 3, 5)),
        *(KDBFamily((n, n), (2, 3), k=k) for n in (2, 3, 4, 6) for k in (0, 1, 2, 3)),
    ],
    ids=repr,
)
def test_families_say_whether_their_models_are_trees(family):
    drawn = {draws_a_tree(family.draw(np.random.default_rng(seed))) for seed in range(10)}
    assert drawn == {family.draws_trees}


def model_of(parents: Sequence[Sequence[int]]) -> Model:
    shapes = [(*(2 for _ in above), 2) for above in parents]
    cpts = tuple(np.full(shape, 0.5) for shape in shapes)
    return Model([2] * len(parents), [Component(1.0, tuple(map(tuple, parents)), cpts)])


@pytest.mark.parametrize(
    ("parents", "tree"),
    [
        ([[2], [2, 0], []], True),
        ([[2], [0, 2], []], True),
        ([[2], [0], []], False),  # the target is no parent of the second attribute
        ([[], [2, 0], [0]], False),  # nor a root
        ([[3], [3, 0], [3, 0, 1], []], False),
    ],
)
def test_the_target_must_be_a_root_and_a_parent_of_all(parents, tree):
    assert draws_a_tree(model_of(parents)) is tree


@pytest.mark.parametrize("family", [{"name": "aode"}, {"name": "kdb"}, {"name": "kdb", "k": 3}])
def test_families_without_trees_are_refused_when_the_study_is_loaded(family):
    said = rf'learners\[0\].tree: "true" needs models .* the family \'{family["name"]}\' draws oth'
    with pytest.raises(SimstudyError, match=said):
        study_of(family)


def test_other_families_without_trees_cost_the_cell(tmp_path, write_study):
    (tmp_path / "theirs.py").write_text(
        "from dataclasses import dataclass\nfrom simstudy import Family, register_family\n"
        "@register_family('dense')\n@dataclass(frozen=True)\nclass Dense(Family):\n    'Dense.'\n"
        "    def draw(self, rng):\n"
        "        return self.draw_model(rng, (2, 2, 2, 2), [[3], [0, 3], [0, 1, 3], []])\n"
    )
    changes = {
        "seed = 7": 'seed = 7\nplugins = ["theirs.py"]',
        'name = "tan"\nvariables = [3, 4]': 'name = "dense"',
        'label = "TAN"': 'label = "TAN"\ntree = "true"',
    }
    results = run_study(load_study(write_study(changes)), tmp_path / "out", jobs=1, report=False)
    status = results.scores.groupby("learner")["status"].agg(set).to_dict()
    assert status == {"NB": {"ok"}, "TAN": {"error"}}
    (error,) = set(results.failures["error"])
    assert error.startswith("ValueError: tree = 'true' needs a model that is a single network")


def test_the_true_tree_is_part_of_the_identity_and_reads_back():
    study = study_of({"name": "tan"})
    assert study.learners[0].identity == json.dumps(["tan", {"tree": "true"}])
    assert 'tree = "true"' in study.to_toml()


def test_no_sample_tells_the_tree():
    sample = Sample([[0, 1, 0], [1, 0, 1]], (2, 2, 2))
    with pytest.raises(ValueError, match="tree = 'true' is for studies only"):
        TAN(tree="true").fit(sample)


def test_another_word_is_refused(write_study):
    with pytest.raises(SimstudyError, match=r"tree = 'ture' is not allowed; it must be 'true' or"):
        load_study(write_study({'label = "TAN"': 'tree = "ture"'}))
