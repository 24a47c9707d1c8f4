"""Statistical and MML classes against a direct implementation in exact arithmetic."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from decimal import Decimal, localcontext
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.learners.networks.camml.costs import NodeCosts, members
from simstudy.learners.networks.camml.equivalence import (
    StatisticalClass,
    divergences,
    mml_classes,
    statistical_classes,
)
from simstudy.learners.networks.estimated import EstimatedNetwork

Partition = dict[tuple[int, ...], set[tuple[int, ...]]]


def slow_join(classes: Sequence[StatisticalClass], sample: Sample) -> Partition:
    """The members, as DAGs, of every MML class by its representative's DAG.

    The gains are differences of r ln r, and r may span thousands of nits: with as many digits as
    that takes, and 40 more.
    """
    chosen: list[StatisticalClass] = []
    while len(chosen) < min(30, len(classes)) and sum(c.posterior for c in chosen) <= 0.999:
        chosen.append(classes[len(chosen)])
    networks = [EstimatedNetwork(sample, c.parents) for c in chosen]
    with localcontext() as context:
        costs = [n.data_cost for n in networks]
        context.prec = 60 + int((max(costs) - min(costs)) / math.log(10))
        n_kl = [[Decimal(x) * Decimal(sample.total) for x in row] for row in divergences(networks)]
        first = Decimal(networks[0].data_cost), Decimal(chosen[0].posterior)
        r = [
            (Decimal(n.data_cost) - first[0]).exp() * Decimal(c.posterior) / first[1]
            for n, c in zip(networks, chosen, strict=True)
        ]
        groups = {i: {i} for i in range(len(chosen))}
        gains: dict[tuple[int, int], Decimal] = {}

        def update(touched: Sequence[int]) -> None:
            for i in groups:
                for j in groups:
                    allowed = i != j and chosen[i].arcs <= chosen[j].arcs
                    if allowed and (i in touched or j in touched):
                        both = r[i] + r[j]
                        apart = r[i] * r[i].ln() + r[j] * r[j].ln()
                        gains[i, j] = both * both.ln() - apart - r[j] * n_kl[j][i]

        update(list(groups))
        while gains:
            i, j = max(gains, key=lambda pair: (gains[pair], -pair[0], -pair[1]))
            if gains[i, j] <= 0:
                break
            groups[i] |= groups.pop(j)
            r[i] += r[j]
            gains = {pair: gain for pair, gain in gains.items() if j not in pair}
            update([i])
    return {chosen[i].parents: {chosen[k].parents for k in group} for i, group in groups.items()}


def join(
    classes: Sequence[StatisticalClass], sample: Sample, arithmetic: str = "stable"
) -> Partition:
    network = partial(EstimatedNetwork, sample)
    found = mml_classes(classes, network, sample.total, arithmetic)
    assert [c.posterior for c in found] == sorted((c.posterior for c in found), reverse=True)
    for each in found:
        assert each.posterior == pytest.approx(sum(c.posterior for c in each.members), rel=1e-12)
        assert each.representative.arcs == min(c.arcs for c in each.members)
    return {c.representative.parents: {m.parents for m in c.members} for c in found}


@st.composite
def inputs(draw: st.DrawFn, rows: int, most: int) -> tuple[list[StatisticalClass], Sample]:
    """Some different DAGs with posteriors of any kind, and rows to learn them from."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    cards = rng.integers(2, 4, size=4)
    codes = rng.integers(0, cards, size=(draw(st.integers(1, rows)), 4))
    codes[:, 1] = np.where(rng.random(len(codes)) < 0.6, codes[:, 0] % cards[1], codes[:, 1])
    dags = set()
    for _ in range(draw(st.integers(1, most))):
        order = rng.permutation(4)
        parents = [0] * 4
        for place, v in enumerate(order):
            for u in order[:place]:
                parents[v] |= int(rng.random() < 0.4) << int(u)
        dags.add(tuple(parents))
    posteriors = np.sort(rng.dirichlet(np.full(len(dags), draw(st.sampled_from([0.2, 1, 5])))))
    posteriors = np.maximum(posteriors, 1e-7)
    classes = [
        StatisticalClass(float(p), dag, float(p), 1)
        for p, dag in zip(posteriors[::-1], sorted(dags), strict=True)
    ]
    return classes, Sample(codes, cards)


@settings(max_examples=30, deadline=None)
@given(inputs(rows=15, most=40))
@pytest.mark.slow
def test_classes_are_joined_as_in_exact_arithmetic(
    case: tuple[list[StatisticalClass], Sample],
) -> None:
    assert join(*case) == slow_join(*case)


@settings(max_examples=30, deadline=None)
@given(inputs(rows=1000, most=12))
def test_classes_of_very_different_cost_are_joined_as_in_exact_arithmetic(
    case: tuple[list[StatisticalClass], Sample],
) -> None:
    assert join(*case) == slow_join(*case)


@settings(max_examples=30, deadline=None)
@given(inputs(rows=15, most=40))
def test_the_programs_arithmetic_joins_few_rows_as_exact_arithmetic(
    case: tuple[list[StatisticalClass], Sample],
) -> None:
    # With 15 rows r spans at most some ten orders of magnitude, and gains keep their digits.
    assert join(*case, "program") == slow_join(*case)


@pytest.mark.parametrize(
    "golden",
    [
        pytest.param(f"{family}_{model:02d}_{rows}", marks=marks)
        for family, marks in (("nb", ()), ("tan", pytest.mark.slow), ("aode", pytest.mark.slow))
        for model in (0, 1, 2)
        for rows in (50, 500, 5000)
    ],
    indirect=True,
)
def test_classes_of_the_golden_sets_are_joined_as_in_exact_arithmetic(golden: Any) -> None:
    classes = golden.fitted.statistical_classes
    assert join(classes, golden.sample) == slow_join(classes, golden.sample)


@pytest.mark.slow
def test_classes_thousands_of_nits_apart_are_joined_without_overflow() -> None:
    # 20 × 20 values: 361 parameters tell dependence from independence, at some nits each, and
    # here the posterior holds both for equally probable.
    rng = np.random.default_rng(0)
    cards = (20, 20, 2)
    codes = rng.integers(0, cards, size=(5000, 3))
    codes[:, 1] = np.where(rng.random(5000) < 0.6, codes[:, 0], codes[:, 1])
    sample = Sample(codes, cards)
    apart = StatisticalClass(0.5, (0, 0, 0), 0.5, 1)
    together = StatisticalClass(0.5, (0, 1, 0), 0.5, 1)
    for classes in ([apart, together], [together, apart]):
        with np.errstate(all="raise", under="ignore"):
            assert join(classes, sample) == slow_join(classes, sample)


@pytest.mark.slow
def test_the_programs_arithmetic_joins_nothing_that_overflows() -> None:
    # x1 repeats x0: independence costs thousands of nits more than an arc, and exp of that is
    # beyond any double; the other way round it is 0, of which r ln r is not a number.
    rng = np.random.default_rng(0)
    codes = np.repeat(rng.integers(0, 4, size=(5000, 1)), 2, axis=1)
    sample = Sample(np.column_stack([codes, rng.integers(0, 2, size=5000)]), (4, 4, 2))
    apart = StatisticalClass(0.5, (0, 0, 0), 0.5, 1)
    together = StatisticalClass(0.5, (0, 1, 0), 0.5, 1)
    for classes in ([apart, together], [together, apart]):
        costs = [EstimatedNetwork(sample, c.parents).data_cost for c in classes]
        assert abs(costs[0] - costs[1]) > 2000
        with np.errstate(all="raise"):
            assert len(join(classes, sample, "program")) == 2
        assert len(join(classes, sample)) == len(slow_join(classes, sample))


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**32))
def test_statistical_classes_share_skeleton_and_likelihood(
    all_toms: Callable[[int], np.ndarray], seed: int
) -> None:
    rng = np.random.default_rng(seed)
    sample = Sample(rng.integers(0, 2, size=(20, 4)), [2] * 4)
    costs = NodeCosts(sample)
    dags = rng.permutation(np.unique(all_toms(4), axis=0))
    assert len(dags) == 543
    mass = np.sort(rng.dirichlet(np.ones(543)))[::-1]
    groups: dict[Any, list[int]] = defaultdict(list)
    for i, dag in enumerate(dags.tolist()):
        edges = frozenset(frozenset((u, v)) for v, mask in enumerate(dag) for u in members(mask))
        cost = sum(costs.likelihood[v, mask] for v, mask in enumerate(dag))
        groups[edges, math.floor(128 * cost)].append(i)
    found = statistical_classes(dags, mass, lambda v, mask: costs.likelihood[v, mask])
    expected = {
        tuple(dags[group[0]].tolist()): (mass[group].sum(), mass[group[0]], len(group))
        for group in groups.values()
    }
    assert {c.parents for c in found} == expected.keys()
    for c in found:
        assert (c.posterior, c.dag_posterior, c.dags) == pytest.approx(expected[c.parents])
    assert sum(c.posterior for c in found) == pytest.approx(1)
    assert all(one.posterior >= other.posterior for one, other in pairwise(found))


def test_one_class_needs_no_joining(draw_sample: Callable[..., Sample]) -> None:
    only = StatisticalClass(1.0, (0, 0, 0, 0), 1.0, 1)
    assert join([only], draw_sample(0)) == {(0, 0, 0, 0): {(0, 0, 0, 0)}}


def test_classes_beyond_thirty_or_beyond_999_of_1000_are_not_joined(
    draw_sample: Callable[..., Sample],
) -> None:
    sample = draw_sample(0)
    dags = list(np.ndindex(1, 2, 4, 8))[:40]
    flat = [StatisticalClass(1 / 40, dag, 1 / 40, 1) for dag in dags]
    assert sum(map(len, join(flat, sample).values())) == 30
    steep = [
        StatisticalClass(p, dag, p, 1) for p, dag in zip((0.9, 0.0995, 5e-4), dags, strict=False)
    ]
    assert sum(map(len, join(steep, sample).values())) == 2
