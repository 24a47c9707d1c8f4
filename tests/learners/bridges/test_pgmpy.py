"""pgmpy's searches can be a study's learners, and what they go by is counted right."""

from __future__ import annotations

import io
import itertools
import logging
import math
import os
import pickle
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from simstudy import SimstudyError, load_study, run_study
from simstudy.components.registry import LEARNERS
from simstudy.data.sample import Sample
from simstudy.learners.bridges.pgmpy import (
    GES,
    PC,
    FittedStructure,
    HillClimbSearch,
    TreeSearch,
)
from simstudy.learners.networks import structure_scores as module
from simstudy.learners.networks.estimated import extension
from simstudy.learners.networks.structure_scores import (
    FamilyScore,
    IndependenceTest,
    mutual_information,
)
from simstudy.testing import check_learner

STUDY = """
name = "searches"
models = 2

[family]
name = "tan"
variables = [3, 4]

[data]
train_sizes = [5, 60]
test_size = 50

[[learners]]
name = "pgmpy:HillClimbSearch"
label = "climb"
score = "bdeu"
max_indegree = 2

[[learners]]
name = "pgmpy:PC"
significance_level = 0.05
"""
SEARCHES = [
    HillClimbSearch(),
    HillClimbSearch(score="bdeu", tabu_length=0),
    HillClimbSearch(score="k2", max_indegree=3),
    GES(),
    GES(score="bdeu"),
    PC(),
    TreeSearch(),
    TreeSearch(estimator_type="tan"),
]
CARDS = (3, 2, 4, 2)


def draw(parents, rows, seed, cards, strength=4.0):
    """Rows of a network in which every variable follows the sum of its parents."""
    rng = np.random.default_rng(seed)
    codes = np.zeros((rows, len(cards)), dtype=int)
    for v in sorted(range(len(cards)), key=lambda v: _depth(parents, v)):
        led = sum((codes[:, u] for u in parents[v]), np.zeros(rows, dtype=int)) % cards[v]
        odds = np.ones((rows, cards[v]))
        if parents[v]:
            odds[np.arange(rows), led] += strength
        cumulated = (odds / odds.sum(axis=1, keepdims=True)).cumsum(axis=1)
        codes[:, v] = (rng.random((rows, 1)) > cumulated[:, :-1]).sum(axis=1)
    return Sample(codes, cards)


def _depth(parents, v):
    return 1 + max((_depth(parents, u) for u in parents[v]), default=0)


def sparse_sample(seed, rows=9, weighted=False):
    """Few rows, in which no row has the last value of variable 2 and configurations are rare."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, (3, 2, 3, 2), size=(rows, 4))
    return Sample(codes, CARDS, rng.integers(0, 4, size=rows) if weighted else None)


def families(variables=4):
    for v in range(variables):
        others = [u for u in range(variables) if u != v]
        for size in range(variables):
            yield from ((v, chosen) for chosen in itertools.combinations(others, size))


def exact_score(sample, score, v, parents, size):
    """The definition, configuration by configuration, with fractions where there are any."""
    weights = np.ones(len(sample)) if sample.weights is None else sample.weights
    q, r = math.prod(CARDS[u] for u in parents), CARDS[v]
    likelihood, penalised = Fraction(1), 0.0
    for configuration in itertools.product(*(range(CARDS[u]) for u in parents)):
        fits = (sample.codes[:, list(parents)] == configuration).all(axis=1)
        n = [int(weights[fits & (sample.codes[:, v] == k)].sum()) for k in range(r)]
        prior = Fraction(1) if score == "k2" else Fraction(size, q * r)
        for count in n:
            likelihood *= math.prod((prior + k for k in range(count)), start=Fraction(1))
        likelihood /= math.prod((prior * r + k for k in range(sum(n))), start=Fraction(1))
        penalised += sum(count * math.log(count / sum(n)) for count in n if count)
        penalised -= math.log(weights.sum()) / 2 * (r - 1)
    logarithm = math.log(likelihood.numerator) - math.log(likelihood.denominator)
    return penalised if score == "bic" else logarithm


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("score", "size"), [("bic", 1), ("k2", 1), ("bdeu", 10), ("bdeu", 1)])
@pytest.mark.parametrize("cached", [0, 2**10])
def test_scores_are_their_definitions_also_for_what_was_not_seen(
    monkeypatch, score, size, weighted, cached
):
    monkeypatch.setattr(module, "_CACHED_CELLS", cached)  # both ways to count
    for seed in range(3):
        sample = sparse_sample(seed, weighted=weighted)
        found = FamilyScore(sample, score, size)
        for v, parents in families():
            expected = exact_score(sample, score, v, parents, size)
            assert found(v, parents[::-1]) == pytest.approx(expected, abs=1e-6)


def as_text(sample):
    """The sample for pgmpy, and the names of all states."""
    states = {v: [str(k) for k in range(card)] for v, card in enumerate(sample.cards)}
    frame = pd.DataFrame({v: sample.codes[:, v].astype(str) for v in states})
    return frame, states


def test_pgmpys_scores_are_the_same_where_everything_was_seen():
    from pgmpy.structure_score import BIC, K2, BDeu

    every = Sample(np.array(list(itertools.product(*map(range, CARDS)))), CARDS)
    frame, _ = as_text(every)
    for name, score in (("bic", BIC(frame)), ("k2", K2(frame)), ("bdeu", BDeu(frame))):
        for v, parents in families():
            expected = score.local_score(v, parents)
            assert FamilyScore(every, name)(v, parents) == pytest.approx(expected, abs=1e-6)


def test_pgmpys_scores_are_wrong_by_what_the_module_says():
    import pgmpy
    from pgmpy.structure_score import BIC, K2, BDeu

    if pgmpy.__version__ != "1.1.2":
        pytest.skip("said of pgmpy 1.1.2")
    sample = sparse_sample(0)
    frame, states = as_text(sample)
    scores = {name: FamilyScore(sample, name) for name in ("bic", "k2", "bdeu")}
    for v, parents in families():
        q, r = math.prod(CARDS[u] for u in parents), CARDS[v]
        seen = len(np.unique(sample.codes[:, list(parents)], axis=0))
        never = r - len(np.unique(sample.codes[:, v]))
        too_much = (q - seen) * math.lgamma(r)
        found = K2(frame, state_names=states).local_score(v, parents)
        assert found - scores["k2"](v, parents) == pytest.approx(too_much, abs=1e-6)
        too_little = never * seen * math.lgamma(10 / (q * r)) if parents else 0.0
        found = BDeu(frame, state_names=states).local_score(v, parents)
        assert found - scores["bdeu"](v, parents) == pytest.approx(-too_little, abs=1e-6)
        found = BIC(frame, state_names=states).local_score(v, parents)
        assert found == pytest.approx(scores["bic"](v, parents), abs=1e-6)
    # Untold, as by the searches, it takes variable 2 to have three values.
    assert BIC(frame).local_score(2, ()) > scores["bic"](2, ()) + 1


@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_equivalent_structures_have_equal_scores_to_the_last_digit(score):
    found = FamilyScore(sparse_sample(1, rows=30), score)
    for u, v in itertools.combinations(range(4), 2):
        assert found(u, (v,)) + found(v, ()) == found(v, (u,)) + found(u, ())


# x0 → x1 → x2 ← x3, x2 → y: one collider, so that the pattern is not a tree's.
TRUTH = [(), (0,), (1, 3), (), (2,)]


def skeleton(parents):
    return {frozenset((u, v)) for v, others in enumerate(parents) for u in others}


@pytest.mark.parametrize("learner", SEARCHES[:6], ids=repr)
def test_the_skeleton_and_the_collider_are_found_from_5000_rows(learner):
    fitted = learner.fit(draw(TRUTH, 5000, 1, (3, 2, 4, 2, 3)))
    assert skeleton(fitted.dag) == skeleton(TRUTH)
    assert {1, 3} <= set(fitted.dag[2])


def test_a_tree_is_found_by_chow_and_liu():
    chain = [(1,), (), (1,), (2,), (2,)]
    for cards in ((3, 2, 4, 2, 3), (2, 2, 2, 2, 2)):
        fitted = TreeSearch().fit(draw(chain, 5000, 2, cards))
        assert skeleton(fitted.dag) == skeleton(chain)


def test_a_tan_is_that_of_simstudy_with_its_edges_the_same():
    from simstudy.learners.bayes.tan import TAN

    sample = draw([(5,), (0, 5), (1, 5), (1, 5), (3, 5), ()], 400, 3, (3, 2, 4, 2, 3, 3))
    fitted = TreeSearch(estimator_type="tan").fit(sample)
    assert all(5 in others for others in fitted.dag[:5])
    own = [() if parent is None else (parent,) for parent in TAN().fit(sample).tree]
    without_class = [tuple(set(others) - {5}) for others in fitted.dag[:5]]
    assert skeleton(own) == skeleton(without_class)


def test_a_tree_spans_variables_that_tell_nothing():
    # Two pairs, each equal within and balanced between: pgmpy alone loses the pair off the root.
    codes = np.array([[a, a, b, b] for a in range(2) for b in range(2)])
    information = mutual_information(Sample(codes, (2, 2, 2, 2)))
    np.testing.assert_allclose(information[0], [0, math.log(2), 0, 0], atol=1e-15)
    fitted = TreeSearch().fit(Sample(codes, (2, 2, 2, 2)))
    assert {frozenset((0, 1)), frozenset((2, 3))} < skeleton(fitted.dag)


def total(score, parents):
    return sum(score(v, others) for v, others in enumerate(parents))


def acyclic(parents):
    left = set(range(len(parents)))
    while sinkless := {v for v in left if not left & set(parents[v])}:
        left -= sinkless
    return not left


def neighbours(parents):
    """All DAGs one arc away."""
    for u, v in itertools.permutations(range(len(parents)), 2):
        others = [set(p) for p in parents]
        if u in others[v]:
            others[v].remove(u)
            yield others
            turned = [set(p) for p in others]
            turned[u].add(v)
            yield turned
        elif v not in others[u]:
            others[v].add(u)
            yield others


@pytest.mark.parametrize("name", ["bic", "bdeu", "k2"])
def test_no_single_arc_improves_what_the_climb_found(name):
    for seed in range(3):
        sample = draw(TRUTH, 150, seed, (3, 2, 4, 2, 3), strength=2.0)
        score = FamilyScore(sample, name)
        found = HillClimbSearch(score=name, tabu_length=0).fit(sample).dag
        best = total(score, found)
        assert best > total(score, [()] * 5)
        for parents in neighbours(found):
            if acyclic(parents):
                assert total(score, parents) < best + 1e-4


def test_the_climb_keeps_to_the_parents_and_cells_allowed(monkeypatch):
    sample = draw(TRUTH, 5000, 1, (3, 2, 4, 2, 3))
    assert max(map(len, HillClimbSearch(max_indegree=1).fit(sample).dag)) == 1
    monkeypatch.setattr(module, "MAX_CELLS", 12)
    for learner in (HillClimbSearch(), GES()):
        fitted = learner.fit(sample)
        sizes = [math.prod(sample.cards[u] for u in axes) for axes in fitted.network.axes]
        assert max(sizes) == 12
    with pytest.raises(ValueError, match=r"variable 2 .* 2 parents .* 16 cells; at most 12 "):
        PC().fit(sample)


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_predictions_are_those_of_pgmpy_on_the_same_structure():
    from pgmpy.estimators import BayesianEstimator
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteBayesianNetwork

    sample = draw(TRUTH, 300, 1, (3, 2, 4, 2, 3))
    fitted = HillClimbSearch(alpha=0.7).fit(sample)
    frame, states = as_text(sample)
    frame.columns = names = list("abcde")
    model = DiscreteBayesianNetwork()
    model.add_nodes_from(names)
    model.add_edges_from((names[u], names[v]) for v, p in enumerate(fitted.dag) for u in p)
    shapes = [
        (sample.cards[v], math.prod(sample.cards[u] for u in p)) for v, p in enumerate(fitted.dag)
    ]
    pseudo = {name: np.full(shape, 0.7) for name, shape in zip(names, shapes, strict=True)}
    named = {names[v]: values for v, values in states.items()}
    estimator = BayesianEstimator(model, frame, state_names=named)
    model.add_cpds(
        *(estimator.estimate_cpd(v, prior_type="dirichlet", pseudo_counts=pseudo[v]) for v in names)
    )
    inference = VariableElimination(model)
    codes = np.array(list(itertools.product(range(3), range(2), range(4), range(2))))[::5]
    for row, proba in zip(codes, fitted.predict_proba(codes), strict=True):
        evidence = {name: str(x) for name, x in zip("abcd", row, strict=True)}
        answer = inference.query(["e"], evidence, show_progress=False)
        expected = [answer.get_value(e=str(k)) for k in range(3)]
        np.testing.assert_allclose(proba, expected, atol=1e-9)


def test_p_values_are_those_of_pgmpy_but_for_constants():
    from pgmpy.ci_tests import ChiSquare

    for sample in (draw(TRUTH[:4], 200, 4, CARDS, strength=1.0), sparse_sample(2, rows=60)):
        test, other = IndependenceTest(sample), ChiSquare(as_text(sample)[0])
        for v, given in families():
            for u in {0, 1, 2, 3} - {v, *given}:
                other.run_test(u, v, list(given))
                assert test.p_value(u, v, given) == pytest.approx(other.p_value_, abs=1e-9)
    constant = Sample(np.column_stack([sample.codes, np.zeros(60, dtype=int)]), (*CARDS, 2))
    assert IndependenceTest(constant).p_value(4, 1) == 1.0
    assert PC().fit(constant).dag[4] == ()


def test_weights_count_in_p_values_and_mutual_information():
    sample = sparse_sample(5, rows=40, weighted=True)
    repeated = Sample(np.repeat(sample.codes, sample.weights.astype(int), axis=0), CARDS)
    for given in ((), (2,), (2, 3)):
        expected = IndependenceTest(repeated).p_value(0, 1, given)
        assert IndependenceTest(sample).p_value(0, 1, given) == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(mutual_information(sample), mutual_information(repeated))


def random_dag(rng, variables, density):
    order = rng.permutation(variables).tolist()
    pairs = itertools.combinations(range(variables), 2)
    return [(order[i], order[j]) for i, j in pairs if rng.random() < density]


def test_the_extension_of_a_pattern_is_that_of_pgmpy():
    from pgmpy.base import DAG

    rng = np.random.default_rng(0)
    for _ in range(60):
        dag = DAG()
        dag.add_nodes_from(range(6))
        dag.add_edges_from(random_dag(rng, 6, rng.random()))
        pattern = dag.to_pdag()
        found = extension(6, pattern.edges())
        assert set(found) == set(pattern.to_dag().edges())
        again = DAG()
        again.add_nodes_from(range(6))
        again.add_edges_from(found)
        assert set(again.to_pdag().edges()) == set(pattern.edges())


def test_a_pattern_without_extension_still_gives_a_dag_with_all_its_edges():
    rng = np.random.default_rng(1)
    square = [(0, 1), (1, 2), (2, 3), (3, 0)]  # undirected: any direction makes a collider
    patterns = [square + [(v, u) for u, v in square], square]  # the second is a directed circle
    for _ in range(60):
        pairs = list(itertools.permutations(range(5), 2))
        patterns.append([pair for pair in pairs if rng.random() < rng.random()])
    for pattern in patterns:
        parents = [[] for _ in range(5)]
        for u, v in extension(5, pattern):
            parents[v].append(u)
        assert acyclic(parents)
        assert skeleton(parents) == {frozenset(pair) for pair in pattern}


PRINT_STRUCTURES = """
import sys
import numpy as np
from simstudy.sources.families.kdb import KDBFamily
from simstudy.learners.bridges.pgmpy import GES, PC, HillClimbSearch, TreeSearch
from simstudy.components.registry import LEARNERS
assert LEARNERS.get("pgmpy:PC") is PC
assert "pgmpy" not in sys.modules
scores = ("bic", "bdeu", "k2")
learners = [*(HillClimbSearch(score=s) for s in scores), GES(), GES(score="bdeu")]
learners += [PC(significance_level=0.2), TreeSearch(), TreeSearch(estimator_type="tan")]
for seed in range(3):
    rng = np.random.default_rng(seed)
    sample = KDBFamily(variables=(7, 7)).draw(rng).sample(80, rng)
    for learner in learners:
        print(learner.fit(sample).dag)
"""


@pytest.mark.slow
def test_structures_do_not_depend_on_the_hash_seed_and_finding_a_name_imports_nothing():
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PRINT_STRUCTURES],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in (0, 1)
    ]
    (first, noise), (second, _) = (process.communicate(timeout=120) for process in running)
    assert noise == ""
    assert first.count("\n") == 24
    assert first == second


@pytest.mark.slow
@pytest.mark.parametrize("learner", SEARCHES, ids=repr)
def test_searches_keep_the_contract_of_learners(learner):
    attributes = 8 if isinstance(learner, GES) else 20
    check_learner(learner, max_attributes=attributes, permutation=False)


def test_no_rows_say_nothing():
    for learner in SEARCHES:
        fitted = learner.fit(Sample(np.zeros((0, 4), dtype=int), CARDS))
        np.testing.assert_allclose(fitted.predict_proba(np.zeros((1, 3), dtype=int)), [[0.5, 0.5]])


def test_fitting_is_silent_and_leaves_the_logger_as_it_was(capfd, caplog):
    logger = logging.getLogger("pgmpy")
    level = logger.level
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for learner in SEARCHES:
            learner.fit(sparse_sample(0))
    assert logger.level == level
    assert capfd.readouterr() == ("", "")
    assert not caplog.records


def test_a_fitted_structure_holds_nothing_of_pgmpy():
    modules = set()

    class Watching(pickle.Unpickler):
        def find_class(self, module, name):
            modules.add(module.split(".")[0])
            return super().find_class(module, name)

    fitted = HillClimbSearch().fit(sparse_sample(0))
    assert isinstance(fitted, FittedStructure)
    Watching(io.BytesIO(pickle.dumps(fitted))).load()
    assert modules <= {"simstudy", "numpy", "builtins"}


@pytest.mark.slow
def test_searches_run_by_toml_alone(write_study, tmp_path):
    study = load_study(write_study(text=STUDY))
    results = run_study(study, tmp_path / "results", jobs=1, report=False)
    assert set(results.scores["status"]) == {"ok"}
    again = load_study(results.directory / "study.toml")
    assert [spec.identity for spec in again.learners] == [s.identity for s in study.learners]


def test_another_version_of_pgmpy_is_another_study(write_study):
    import pgmpy

    from simstudy.engine.plan import make_plan

    sources = dict(make_plan(load_study(write_study(text=STUDY))).sources)
    versions = {"pgmpy:HillClimbSearch": pgmpy.__version__, "pgmpy:PC": pgmpy.__version__}
    assert sources == versions


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "HillClimbSearch",
            "HilClimb",
            "learners[0]: unknown learner 'pgmpy:HilClimb': not a supported pgmpy search; did you "
            "mean 'pgmpy:HillClimbSearch'? known: pgmpy:GES, pgmpy:HillClimbSearch, pgmpy:PC, "
            "pgmpy:TreeSearch",
        ),
        ("pgmpy:Hill", "pgmpy.estimators:Hill", "did you mean 'pgmpy:HillClimbSearch'?"),
        ("HillClimbSearch", "MmhcEstimator", "known: pgmpy:GES, pgmpy:HillClimbSearch, pgmpy:PC"),
        ('"bdeu"', '"bde"', "learners[0].score: \"bde\" is not allowed; it must be one of 'bic', "),
        ("max_indegree", "max_parents", "learners[0].max_parents: unknown key"),
        ("max_indegree = 2", "max_indegree = -1", "max_indegree = -1 is not allowed; it must be"),
        ("max_indegree = 2", "max_indegree = 0.5", "learners[0].max_indegree: 0.5 is not a whole"),
        ("max_indegree = 2", "epsilon = 0.0", "epsilon = 0.0 is not allowed; it must be above 0"),
        ("max_indegree = 2", "equivalent_sample_size = 0", "equivalent_sample_size = 0"),
        ("level = 0.05", "level = 1.5", "significance_level = 1.5 is not allowed; it must be betw"),
    ],
)
def test_a_wrong_name_or_parameter_is_one_sentence_before_anything_runs(
    write_study, old, new, said
):
    with pytest.raises(SimstudyError) as caught:
        load_study(write_study({old: new}, text=STUDY))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "options", "said"),
    [
        ("HillClimbSearch", {"score": "aic"}, "score = 'aic' .* one of bic, bdeu, k2"),
        ("GES", {"score": "k2"}, "score = 'k2' .* one of bic, bdeu$"),
        ("GES", {"min_improvement": 0.0}, "min_improvement = 0.0 .* above 0"),
        ("PC", {"max_cond_vars": -1}, "max_cond_vars = -1 .* at least 0"),
        ("TreeSearch", {"estimator_type": "tree"}, "estimator_type = 'tree' .* chow-liu, tan"),
        ("PC", {"alpha": 0}, "alpha = 0 .* above 0"),
    ],
)
def test_a_wrong_value_is_refused_with_what_is_allowed(name, options, said):
    with pytest.raises(ValueError, match=said):
        LEARNERS.get(f"pgmpy:{name}")(**options)
