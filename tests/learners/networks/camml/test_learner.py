"""What a user sees of CaMML, odd samples, and the whole population."""

import pickle
import re
import sys
from collections.abc import Callable
from itertools import product
from math import inf, log
from typing import Any

import numpy as np
import pytest

from simstudy.components.registry import LEARNERS
from simstudy.data.sample import Sample
from simstudy.learners.networks.camml.learner import CaMML
from simstudy.networks.model import Model
from simstudy.sources.families.base import Family
from simstudy.sources.families.naive_bayes import NaiveBayesFamily
from simstudy.sources.families.tan import TANFamily

Draw = Callable[..., Sample]
SELECTIONS: tuple[Any, ...] = ("mmlec", "map", "sec", "average", "sec_average")
SEARCHES: tuple[Any, ...] = ("exact", "sample")


def is_acyclic(dag: tuple[tuple[int, ...], ...]) -> bool:
    placed: set[int] = set()
    while len(placed) < len(dag):
        ready = {v for v in range(len(dag)) if v not in placed and placed >= set(dag[v])}
        if not ready:
            return False
        placed |= ready
    return True


def check_fit(sample: Sample, select: Any, search: Any) -> np.ndarray:
    """Fit, look at everything, and return the answers on all attribute values (or some)."""
    fitted = CaMML(select=select, search=search).fit(sample, np.random.default_rng(0))
    variables = len(sample.cards)
    assert len(fitted.dag) == variables
    assert is_acyclic(fitted.dag)
    assert 0 < fitted.arc_probability < 1
    assert np.isfinite(fitted.best_cost)
    assert fitted.arc_posteriors.shape == (variables, variables)
    assert fitted.sec_table()["posterior"].sum() == pytest.approx(1, abs=1e-3)
    codes = np.array(list(product(*map(range, sample.cards[:-1]))))[:500]
    proba = fitted.predict_proba(codes)
    assert proba.shape == (len(codes), sample.classes)
    assert (proba > 0).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
    return proba


def odd_samples() -> dict[str, Sample]:
    rng = np.random.default_rng(2004)
    column = rng.integers(0, 3, size=(40, 1))
    codes = rng.integers(0, (3, 2, 4, 3), size=(40, 4))
    return {
        "a single attribute": Sample(np.hstack([column, column]), (3, 3)),
        "a single attribute, unrelated": Sample(codes[:, :2], (3, 2)),
        "an attribute of one value": Sample(np.hstack([column * 0, codes]), (1, 3, 2, 4, 3)),
        "a class of one value": Sample(np.hstack([codes, column * 0]), (3, 2, 4, 3, 1)),
        "a constant class": Sample(np.hstack([codes, column * 0 + 1]), (3, 2, 4, 3, 3)),
        "classes never seen": Sample(codes, (3, 2, 4, 7)),
        "duplicate columns": Sample(np.hstack([column] * 4), (3, 3, 3, 3)),
        "a duplicate of the class": Sample(np.hstack([codes, codes[:, -1:]]), (3, 2, 4, 3, 3)),
        "constant columns": Sample(np.zeros((20, 4), dtype=int), (2, 3, 1, 2)),
        "five rows": Sample(codes[:5], (3, 2, 4, 3)),
        "one row": Sample(codes[:1], (3, 2, 4, 3)),
        "no rows": Sample(codes[:0], (3, 2, 4, 3)),
        "weights": Sample(codes, (3, 2, 4, 3), rng.random(40) * 4),
        "weights of zero": Sample(codes, (3, 2, 4, 3), np.zeros(40)),
    }


ODD = odd_samples()


@pytest.mark.parametrize("select", SELECTIONS)
@pytest.mark.parametrize("name", ODD)
def test_odd_samples_are_learned(name: str, select: Any) -> None:
    check_fit(ODD[name], select, "exact")


@pytest.mark.slow
@pytest.mark.parametrize("select", ["mmlec", "average"])
@pytest.mark.parametrize("name", ODD)
def test_odd_samples_are_learned_by_sampling(name: str, select: Any) -> None:
    check_fit(ODD[name], select, "sample")


@pytest.mark.slow
def test_the_class_alone_is_learned() -> None:
    sample = Sample([[0], [1], [1], [2]], (3,))
    for select, search in product(SELECTIONS, SEARCHES):
        fitted = CaMML(select=select, search=search).fit(sample)  # type: ignore[arg-type]
        assert fitted.dag == ((),)
        joint = np.exp(fitted.log_joint(np.zeros((1, 0), dtype=int)))
        np.testing.assert_allclose(joint, [[1.5 / 5.5, 2.5 / 5.5, 1.5 / 5.5]], rtol=1e-12)


@pytest.mark.parametrize("search", SEARCHES)
def test_a_copy_of_the_class_is_found(search: Any) -> None:
    column = np.random.default_rng(0).integers(0, 3, size=(40, 1))
    fitted = CaMML(search=search).fit(Sample(np.hstack([column, column]), (3, 3)))
    assert sorted(fitted.dag) in ([(), (0,)], [(), (1,)])
    assert (fitted.predict_proba(np.array([[0], [1], [2]])).argmax(axis=1) == [0, 1, 2]).all()
    assert fitted.arc_posteriors.sum() == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("select", SELECTIONS)
def test_no_rows_leave_the_classes_equally_probable(select: Any) -> None:
    proba = check_fit(Sample(np.empty((0, 3), dtype=int), (2, 3, 4)), select, "exact")
    np.testing.assert_allclose(proba, 0.25, rtol=1e-12)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("select", SELECTIONS)
def test_whole_weights_are_repeated_rows(draw_sample: Draw, select: Any, search: Any) -> None:
    sample = draw_sample(9, 5)
    weights = np.random.default_rng(9).integers(0, 4, size=len(sample))
    weighted = Sample(sample.codes, sample.cards, weights)
    repeated = Sample(np.repeat(sample.codes, weights, axis=0), sample.cards)
    np.testing.assert_allclose(
        check_fit(weighted, select, search), check_fit(repeated, select, search), atol=1e-9
    )


def population(model: Model) -> Sample:
    """The model itself as a sample: every configuration, weighted to a billion rows."""
    codes = np.array(list(product(*map(range, model.cards))))
    return Sample(codes, model.cards, 1e9 * model.joint().ravel())


@pytest.mark.parametrize("select", SELECTIONS)
@pytest.mark.parametrize("family", [NaiveBayesFamily, TANFamily])
@pytest.mark.parametrize("seed", range(3))
def test_a_billion_rows_of_a_network_give_its_posterior(
    family: type[Family], seed: int, select: Any
) -> None:
    drawn = family(variables=(4, 5), values=(2, 3), concentration=3.0)
    model = drawn.draw(np.random.default_rng(seed))
    codes = np.array(list(product(*map(range, model.cards[:-1]))))
    proba = CaMML(select=select, search="exact").fit(population(model)).predict_proba(codes)
    np.testing.assert_allclose(proba, model.posterior(codes), rtol=0, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_billion_rows_give_the_models_own_edges(seed: int) -> None:
    drawn = NaiveBayesFamily(variables=(4, 5), values=(2, 3), concentration=3.0)
    model = drawn.draw(np.random.default_rng(seed))
    fitted = CaMML(search="exact").fit(population(model))
    target = len(model.cards) - 1
    edges = {frozenset((u, v)) for v, parents in enumerate(fitted.dag) for u in parents}
    assert edges == {frozenset((v, target)) for v in range(target)}


def test_a_billion_rows_can_be_sampled_too() -> None:
    drawn = TANFamily(variables=(4, 4), values=(2, 3), concentration=3.0)
    model = drawn.draw(np.random.default_rng(1))
    codes = np.array(list(product(*map(range, model.cards[:-1]))))
    fitted = CaMML(search="sample").fit(population(model), np.random.default_rng(0))
    assert np.isfinite(fitted.arc_posteriors).all()
    np.testing.assert_allclose(
        fitted.predict_proba(codes), model.posterior(codes), rtol=0, atol=1e-4
    )


@pytest.fixture(params=SEARCHES)
def fitted(request: pytest.FixtureRequest, draw_sample: Draw) -> Any:
    return CaMML(search=request.param).fit(draw_sample(2, 5, rows=60), np.random.default_rng(0))


def test_the_best_cost_is_the_sum_of_node_and_arc_costs(draw_sample: Draw) -> None:
    fitted = CaMML(select="map", search="exact").fit(draw_sample(2, 5, rows=60))
    arcs = sum(map(len, fitted.dag))
    p = fitted.arc_probability
    assert p == (arcs + 0.5) / 11
    nodes = sum(fitted.node_cost(v, parents) for v, parents in enumerate(fitted.dag))
    structure = -arcs * log(p) - (10 - arcs) * log(1 - p)
    assert fitted.best_cost == pytest.approx(nodes + structure, rel=1e-12)


def test_parents_may_be_given_in_any_order_and_twice(fitted: Any) -> None:
    cost = fitted.node_cost(3, [0, 2, 4])
    assert 0 < cost < inf
    assert fitted.node_cost(3, (4, 0, 2)) == cost
    assert fitted.node_cost(3, [4, 0, 2, 0, 4]) == cost
    assert fitted.node_cost(3, np.array([4, 0, 2])) == cost
    assert fitted.node_cost(3, []) != cost


def test_node_costs_are_the_same_however_searched(draw_sample: Draw) -> None:
    sample = draw_sample(2, 5, rows=60)
    exact, sampled = (CaMML(search=search).fit(sample) for search in SEARCHES)
    for child, parents in [(0, []), (0, [1]), (4, [0, 1, 2, 3]), (2, [4, 0])]:
        one, other = (fit.node_cost(child, parents) for fit in (exact, sampled))
        assert one == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize(("child", "parents"), [(0, [5]), (5, [0]), (0, [-1]), (-1, [0])])
def test_the_cost_of_a_variable_that_is_not_there_is_refused(
    fitted: Any, child: int, parents: list[int]
) -> None:
    with pytest.raises(ValueError, match="variables go from 0 to 4"):
        fitted.node_cost(child, parents)


def test_the_table_of_classes_tells_where_the_posterior_lies(fitted: Any) -> None:
    table = fitted.sec_table()
    assert list(table) == ["posterior", "dag_posterior", "dags", "arcs", "mmlec", "parents"]
    assert table["posterior"].is_monotonic_decreasing
    assert table["posterior"].sum() == pytest.approx(1, abs=1e-3)
    assert (table["dag_posterior"] <= table["posterior"] + 1e-12).all()
    assert (table["dags"] >= 1).all()
    assert table["arcs"].tolist() == [sum(map(len, dag)) for dag in table["parents"]]
    assert all(is_acyclic(dag) for dag in table["parents"])
    joined = table[table["mmlec"] >= 0]
    assert set(joined["mmlec"]) == set(range(len(fitted.mml_classes)))
    sums = joined.groupby("mmlec")["posterior"].sum().tolist()
    assert sums == pytest.approx([c.posterior for c in fitted.mml_classes], rel=1e-12)
    assert sums == sorted(sums, reverse=True)
    assert len(joined) <= 30
    best = joined[joined["mmlec"] == 0]
    assert fitted.dag in best["parents"].tolist()
    assert sum(map(len, fitted.dag)) == best["arcs"].min()


def test_how_much_of_the_posterior_is_listed_is_told(fitted: Any) -> None:
    assert fitted.listed_posterior == pytest.approx(fitted.sec_table()["posterior"].sum())
    assert 0.999 < fitted.listed_posterior <= 1 + 1e-9


def test_each_selection_chooses_the_dag_it_says(draw_sample: Draw) -> None:
    sample = draw_sample(2, 5, rows=60)
    fits = {
        select: CaMML(select=select, search="exact").fit(sample)  # type: ignore[arg-type]
        for select in SELECTIONS
    }
    table = fits["sec"].sec_table()
    assert fits["sec"].dag == table["parents"][0]
    assert fits["average"].dag == fits["sec_average"].dag == fits["sec"].dag
    assert fits["map"].arc_probability == fits["mmlec"].arc_probability


def test_the_mixture_of_classes_is_the_sum_of_their_networks(draw_sample: Draw) -> None:
    sample = draw_sample(2, 4, rows=40)
    fitted = CaMML(select="sec_average", search="exact").fit(sample)
    codes = np.array(list(product(*map(range, sample.cards[:-1]))))
    total = np.zeros((len(codes), sample.classes))
    for c in fitted.statistical_classes:
        if c.posterior >= 1e-6:
            logs = np.zeros_like(total)
            for v, mask in enumerate(c.parents):
                axes = (*(u for u in range(4) if mask >> u & 1), v)
                counts = sample.counts(*axes)
                table = (counts + 0.5) / (counts + 0.5).sum(axis=-1, keepdims=True)
                columns = [*codes.T[:, :, None], np.arange(sample.classes)[None]]
                logs += np.log(table)[tuple(columns[u] for u in axes)]
            total += c.posterior * np.exp(logs)
    expected = total / total.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(fitted.predict_proba(codes), expected, rtol=1e-10)


def test_the_network_for_pgmpy_is_the_chosen_one(fitted: Any) -> None:
    network = fitted.to_pgmpy()
    assert network.check_model()
    assert list(network.nodes) == ["x0", "x1", "x2", "x3", "y"]
    names = [*network.nodes]
    arcs = {(names[u], names[v]) for v, parents in enumerate(fitted.dag) for u in parents}
    assert set(network.edges) == arcs
    assert set(fitted.to_pgmpy("abcde").nodes) == set("abcde")


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("select", SELECTIONS)
def test_a_fit_pickles_before_and_after_it_is_used(
    draw_sample: Draw, select: Any, search: Any
) -> None:
    sample = draw_sample(3, 4)
    fitted = CaMML(select=select, search=search).fit(sample, np.random.default_rng(1))
    unused = pickle.loads(pickle.dumps(fitted))
    proba = fitted.predict_proba(sample.attributes)
    table = fitted.sec_table()
    used = pickle.loads(pickle.dumps(fitted))
    for copy in (unused, used):
        np.testing.assert_array_equal(copy.predict_proba(sample.attributes), proba)
        assert copy.dag == fitted.dag
        assert copy.sec_table().equals(table)
        np.testing.assert_array_equal(copy.arc_posteriors, fitted.arc_posteriors)
        assert copy.node_cost(0, [1, 2]) == fitted.node_cost(0, [1, 2])


def test_an_unknown_selection_search_or_arithmetic_is_refused_with_the_known_ones() -> None:
    words = (
        "select = 'best' is not allowed; it must be one of mmlec, map, sec, average, sec_average"
    )
    with pytest.raises(ValueError, match=re.escape(words)):
        CaMML(select="best")  # type: ignore[arg-type]
    words = "search = 'full' is not allowed; it must be one of auto, exact, sample"
    with pytest.raises(ValueError, match=re.escape(words)):
        CaMML(search="full")  # type: ignore[arg-type]
    words = "arithmetic = 'exact' is not allowed; it must be one of stable, program"
    with pytest.raises(ValueError, match=re.escape(words)):
        CaMML(arithmetic="exact")  # type: ignore[arg-type]


def noise(variables: int, rows: int = 30) -> Sample:
    codes = np.random.default_rng(variables).integers(0, 2, size=(rows, variables))
    return Sample(codes, [2] * variables)


def test_an_exact_search_of_thirteen_variables_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"13 variables .* use 'auto' or 'sample'"):
        CaMML(search="exact").fit(noise(13))


def test_twelve_variables_can_be_searched_exactly() -> None:
    fitted = CaMML(select="map", search="exact").fit(noise(12))
    assert fitted.predict_proba(np.zeros((2, 11), dtype=int)).shape == (2, 2)


@pytest.mark.parametrize(("variables", "kind"), [(10, "Exact"), (11, "Sampled")])
def test_more_than_ten_variables_are_sampled_unless_told_otherwise(
    variables: int, kind: str
) -> None:
    fitted = CaMML().fit(noise(variables))
    assert type(fitted._posterior).__name__ == f"{kind}Posterior"


@pytest.mark.parametrize("variables", [64, 70])
def test_more_variables_than_a_set_can_hold_are_refused_in_words(
    monkeypatch: pytest.MonkeyPatch, variables: int
) -> None:
    # A set of variables is a 64-bit mask with a sign: variable 63 would turn it negative.
    from simstudy.learners.networks.camml import sampling

    def search(*_: Any) -> Any:
        raise AssertionError("the search was begun")

    monkeypatch.setattr(sampling, "anneal", search)
    with pytest.raises(ValueError, match=f"{variables} variables"):
        CaMML().fit(noise(variables))


def test_camml_is_a_built_in_learner() -> None:
    assert LEARNERS.get("camml") is CaMML


@pytest.mark.parametrize("search", SEARCHES)
def test_a_variable_of_too_many_values_is_refused_in_words(search: Any) -> None:
    sample = Sample([[0, 0], [64_000, 1]], (64_001, 2))
    with pytest.raises(ValueError, match="64001 values; at most 64000 "):
        CaMML(search=search).fit(sample)


def without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)  # as if it were not installed


@pytest.mark.parametrize("learner", [CaMML(), CaMML(search="exact")])
def test_few_variables_need_no_numba(
    monkeypatch: pytest.MonkeyPatch, draw_sample: Draw, learner: CaMML
) -> None:
    expected = learner.fit(draw_sample(2, 5, rows=60)).dag
    without_numba(monkeypatch)
    learner.warm_up()
    assert learner.fit(draw_sample(2, 5, rows=60)).dag == expected


@pytest.mark.parametrize(("learner", "variables"), [(CaMML(), 11), (CaMML(search="sample"), 3)])
def test_sampling_without_numba_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, learner: CaMML, variables: int
) -> None:
    without_numba(monkeypatch)
    sample = Sample(np.zeros((4, variables), dtype=int), (2,) * variables)
    with pytest.raises(ValueError, match=re.escape("pip install 'simstudy[sampling]'")):
        learner.fit(sample)
