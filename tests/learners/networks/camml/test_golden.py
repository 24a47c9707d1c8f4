"""The exact search finds what the Java CaMML samples (tests/golden/camml)."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from simstudy.engine.scoring import clip
from simstudy.learners.base import normalise
from simstudy.learners.networks.camml.costs import members
from simstudy.learners.networks.camml.equivalence import (
    MMLClass,
    StatisticalClass,
    divergences,
    mml_classes,
)
from simstudy.learners.networks.estimated import EstimatedNetwork
from simstudy.measures.scores.rewards import information_reward

# Sets in which another DAG is chosen, each explained by a test below.
OTHERS = ("tan_02_50", "aode_01_500", "aode_02_500")
# Sets in which rounding decides what the program's own arithmetic joins.
ROUNDED = ("aode_01_500", "aode_02_500")


def masks(parents: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(sum(1 << u for u in each) for each in parents)


def structure_cost(golden: Any, parents: Sequence[int]) -> float:
    variables, p = len(parents), golden.fitted.arc_probability
    arcs = sum(mask.bit_count() for mask in parents)
    pairs = variables * (variables - 1) // 2
    return -arcs * math.log(p) - (pairs - arcs) * math.log(1 - p)


def total_cost(golden: Any, parents: Sequence[int]) -> float:
    fitted = golden.fitted
    nodes = sum(fitted.node_cost(v, members(mask)) for v, mask in enumerate(parents))
    return nodes + structure_cost(golden, parents)


def class_key(golden: Any, parents: Sequence[int]) -> tuple[frozenset[frozenset[int]], int]:
    edges = frozenset(frozenset((u, v)) for v, mask in enumerate(parents) for u in members(mask))
    likelihood = golden.posterior.likelihood
    return edges, math.floor(128 * sum(likelihood(v, mask) for v, mask in enumerate(parents)))


def class_posterior(golden: Any, parents: Sequence[int]) -> float:
    key = class_key(golden, parents)
    classes = golden.fitted.statistical_classes
    return sum(c.posterior for c in classes if class_key(golden, c.parents) == key)


def test_the_arc_probability_is_the_java_programs(golden: Any) -> None:
    expected = golden.figures["arc_prob"]
    assert golden.fitted.arc_probability == pytest.approx(expected, rel=0, abs=1e-12)


def test_the_best_tom_is_the_java_programs(golden: Any) -> None:
    expected = golden.figures["best_tom_cost"]
    assert golden.fitted.best_cost == pytest.approx(expected, rel=0, abs=1e-8)
    parents = masks(golden.figures["best_tom_parents"])
    assert total_cost(golden, parents) == pytest.approx(expected, rel=0, abs=1e-8)


def test_the_costs_of_its_dag_are_the_java_programs(golden: Any) -> None:
    figures, dag = golden.figures, golden.masks
    likelihood = golden.posterior.likelihood
    likelihoods = sum(likelihood(v, mask) for v, mask in enumerate(dag))
    assert total_cost(golden, dag) == pytest.approx(figures["rep_dag_cost"], rel=0, abs=1e-8)
    assert likelihoods == pytest.approx(figures["rep_clean_ml"], rel=0, abs=1e-8)
    data_cost = EstimatedNetwork(golden.sample, dag).data_cost
    assert data_cost == pytest.approx(figures["rep_data_cost"], rel=0, abs=1e-8)


def test_predictions_given_its_dag_are_the_java_programs(golden: Any) -> None:
    proba = normalise(EstimatedNetwork(golden.sample, golden.masks).log_joint(golden.test[:, :-1]))
    expected = golden.figures["test_proba_first_20"]
    np.testing.assert_allclose(proba[:20], expected, rtol=0, atol=1e-12)
    rewards = information_reward(
        clip(proba, "mml", len(golden.sample)),
        golden.test[:, -1],
        prior=golden.sample.class_frequencies(0.5),
    )
    expected = golden.figures["information_reward"]
    assert rewards.mean() == pytest.approx(expected, rel=0, abs=1e-9)


def test_the_chosen_network_predicts_as_its_dag_says(golden: Any) -> None:
    codes = golden.test[:, :-1]
    network = EstimatedNetwork(golden.sample, masks(golden.fitted.dag))
    np.testing.assert_array_equal(
        golden.fitted.predict_proba(codes), normalise(network.log_joint(codes))
    )


def test_posteriors_of_its_dag_are_the_java_programs_but_for_its_sampling(golden: Any) -> None:
    # The largest differences are .023 at 50 rows and .013 beyond.
    tolerance = 0.06 if len(golden.sample) == 50 else 0.02
    figures = golden.figures
    found = class_posterior(golden, golden.masks)
    assert found == pytest.approx(figures["rep_sec_posterior"], rel=0, abs=tolerance)
    dags, mass = golden.posterior.clean_dags
    place = np.flatnonzero((dags == golden.masks).all(axis=1))
    assert mass[place[0]] == pytest.approx(figures["rep_dag_posterior"], rel=0, abs=tolerance)


def test_nearly_all_of_the_posterior_is_listed(golden: Any) -> None:
    assert 1 - 1e-3 <= golden.fitted.listed_posterior <= 1 + 1e-9


def test_the_chosen_dag_is_the_java_programs(golden: Any) -> None:
    if golden.name not in OTHERS:
        assert masks(golden.fitted.dag) == golden.masks


def test_the_dag_of_tan_02_50_is_another_of_the_same_class(
    golden_named: Callable[[str], Any],
) -> None:
    # Both choose the same SEC, of posterior .0237 (sampled: .0236). Its two heaviest DAGs, y → x1
    # and x1 → y, hold .00934 and .00905 of it; the program's sampling (.00907 for the latter) puts
    # them the other way round.
    golden = golden_named("tan_02_50")
    chosen = masks(golden.fitted.dag)
    assert class_key(golden, chosen) == class_key(golden, golden.masks)
    dags, mass = golden.posterior.clean_dags
    of_dag = {tuple(dag): m for dag, m in zip(dags.tolist(), mass.tolist(), strict=True)}
    assert of_dag[golden.masks] == pytest.approx(of_dag[chosen], rel=0.04)


def chosen_in_doubles(
    classes: Sequence[StatisticalClass], costs: np.ndarray, n_kl: np.ndarray
) -> tuple[int, ...]:
    """The choice when the gain of joining is computed in double precision.

    The order of operations is that of the program's source (MetropolisSearch.joinByKLDistance in
    the public repository).
    """
    posterior = np.array([c.posterior for c in classes])
    arcs = np.array([c.arcs for c in classes])
    r = np.exp(costs - costs[0]) * posterior / posterior[0]
    allowed = (arcs[:, None] <= arcs) & ~np.eye(len(arcs), dtype=bool)
    while True:
        both, own = r[:, None] + r, r * np.log(r)
        gain = -(own[:, None] + own) - (-(both * np.log(both)) + r * n_kl.T)
        gain[~allowed] = -np.inf
        i, j = np.unravel_index(gain.argmax(), gain.shape)
        if gain[i, j] <= 0:
            return classes[int(posterior.argmax())].parents
        posterior[i] += posterior[j]
        posterior[j] = 0
        r[i] += r[j]
        allowed[j] = allowed[:, j] = False


def choices_under_noise(
    golden: Any, posterior_noise: float, draws: int | None, runs: int = 40
) -> list[tuple[int, ...]]:
    """What is chosen when posteriors, or divergences estimated from draws, are a little off."""
    rng = np.random.default_rng(0)
    classes = golden.fitted.statistical_classes[:30]
    networks = [EstimatedNetwork(golden.sample, c.parents) for c in classes]
    costs = np.array([n.data_cost for n in networks])
    logs = np.array([n.log_density() for n in networks])
    exact = divergences(networks)
    choices = []
    for _ in range(runs):
        noise = np.exp(posterior_noise * rng.standard_normal(len(classes)))
        noisy = [c._replace(posterior=c.posterior * x) for c, x in zip(classes, noise, strict=True)]
        if draws is None:
            kl = exact
        else:
            shares = [rng.multinomial(draws, np.exp(log)) / draws for log in logs]
            kl = np.array([(logs[j] - logs) @ share for j, share in enumerate(shares)])
        order = sorted(range(len(classes)), key=lambda i: -noisy[i].posterior)
        kl = kl[np.ix_(order, order)] * golden.sample.total
        choices.append(chosen_in_doubles([noisy[i] for i in order], costs[order], kl))
    return choices


def test_the_dag_of_aode_01_500_is_chosen_when_divergences_are_sampled(
    golden_named: Callable[[str], Any],
) -> None:
    # The program estimates KL from draws. Some 27 SECs take part, in about 20 joins one after the
    # other whose gains hang on N·KL; with KL from 500 draws its DAG comes out in 6 of 100 runs,
    # beside 17 other DAGs; with exact KL never, even if posteriors are 3 % off.
    golden = golden_named("aode_01_500")
    assert golden.masks not in choices_under_noise(golden, 0.03, draws=None)
    sampled = choices_under_noise(golden, 0.03, draws=500, runs=100)
    assert golden.masks in sampled
    assert len(set(sampled)) > 5


def test_the_dag_of_aode_02_500_is_chosen_by_rounding(golden_named: Callable[[str], Any]) -> None:
    # r spans 10⁻²⁴ … 10¹⁰, so that (r_i + r_j) ln(r_i + r_j) − r_i ln r_i in double precision is
    # off by 10⁻⁴ where the true gain of joining a class of r = 10⁻⁸ is 10⁻⁷: rounding decides. In
    # exact arithmetic all SECs join the empty network; in doubles, with posteriors 3 % off (the
    # program's own are 6 % off here), the program's DAG comes out in four of ten runs.
    golden = golden_named("aode_02_500")
    choices = choices_under_noise(golden, 0.03, draws=None)
    assert golden.masks in choices
    assert len(set(choices)) > 1


def joined(
    golden: Any, arithmetic: str, classes: Sequence[StatisticalClass] | None = None
) -> list[MMLClass]:
    """The MML classes of a golden set under one of the arithmetics."""
    return mml_classes(
        classes or golden.fitted.statistical_classes,
        lambda parents: EstimatedNetwork(golden.sample, parents),
        golden.sample.total,
        arithmetic,
    )


def test_the_programs_arithmetic_chooses_as_the_formula_in_doubles(golden: Any) -> None:
    classes = golden.fitted.statistical_classes
    total = np.cumsum([c.posterior for c in classes])
    classes = classes[: min(30, int(np.searchsorted(total, 0.999, side="right")) + 1)]
    networks = [EstimatedNetwork(golden.sample, c.parents) for c in classes]
    costs = np.array([n.data_cost for n in networks])
    n_kl = divergences(networks) * golden.sample.total
    found = joined(golden, "program")[0].representative.parents
    assert found == chosen_in_doubles(classes, costs, n_kl)


def test_the_programs_arithmetic_matters_only_where_rounding_decides(golden: Any) -> None:
    # Elsewhere both choose the same DAG, that of the program or, in tan_02_50, another of its SEC.
    if golden.name not in ROUNDED:
        found = joined(golden, "program")
        assert found[0].representative.parents == masks(golden.fitted.dag)
        assert len(found) == len(golden.fitted.mml_classes)


def test_the_programs_arithmetic_joins_aode_02_500_as_the_program_does_but_for_rounding(
    golden_named: Callable[[str], Any],
) -> None:
    # The program has 5 MML classes, the best of 3 SECs. In exact arithmetic all 16 SECs make one.
    # In doubles there are several, the best of about 3 SECs; which they are hangs on the last
    # digits: with posteriors that differ by 10⁻¹² the program's DAG comes out in four of ten runs.
    golden = golden_named("aode_02_500")
    assert golden.figures["n_mmlec"] == 5
    assert golden.figures["n_sec_in_best_mmlec"] == 3
    assert len(joined(golden, "stable")) == 1
    assert 4 <= len(joined(golden, "program")) <= 9
    rng = np.random.default_rng(0)
    chosen: dict[str, list[tuple[int, ...]]] = {"stable": [], "program": []}
    for _ in range(40):
        noise = np.exp(1e-12 * rng.standard_normal(16))
        classes = [
            c._replace(posterior=c.posterior * x)
            for c, x in zip(golden.fitted.statistical_classes[:16], noise, strict=True)
        ]
        for arithmetic, choices in chosen.items():
            choices.append(joined(golden, arithmetic, classes)[0].representative.parents)
    assert set(chosen["stable"]) == {(0,) * 8}
    assert 5 <= chosen["program"].count(golden.masks) <= 35
