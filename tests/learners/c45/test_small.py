"""The trees of small tables are those that any table gets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.learners.c45 import small
from simstudy.learners.c45.bits import limits
from simstudy.learners.c45.few import MAX_FEW
from simstudy.learners.c45.grow import grow
from simstudy.learners.c45.learner import C45
from simstudy.learners.c45.prune import Pruner
from simstudy.learners.c45.table import Entries, TrainingRows
from simstudy.learners.c45.tree import Tree

SIZES = [0, 1, 2, 3, 5, 20, 50, MAX_FEW, MAX_FEW + 1, 300, 600]
learners = st.builds(
    C45,
    confidence=st.sampled_from([0.01, 0.25, 0.5]),
    min_leaf=st.sampled_from([0.5, 1, 1.5, 2, 5]),
    prune=st.booleans(),
    subtree_raising=st.booleans(),
)


def random_table(seed: int, rows: int) -> TrainingRows:
    """A table whose class depends on some attributes, with noise, or on none."""
    rng = np.random.default_rng(seed)
    cards = rng.integers(1, 6, size=rng.integers(1, 8)).tolist()
    classes = int(rng.integers(1, 5))
    values = rng.integers(0, cards, size=(rows, len(cards)))
    used = values[:, rng.random(len(cards)) < 0.6].sum(axis=1)
    noise = rng.integers(0, classes, size=rows) * (rng.random(rows) < rng.choice([0.0, 0.2, 1.0]))
    if rng.random() < 0.2:  # more values than are worth counting in the average gain
        cards[0] = 40
    rows_with_class = np.column_stack([values, (used + noise) % classes])
    return TrainingRows(Sample(rows_with_class, [*cards, classes]), distinct=False)


def assert_same(one: Tree, other: Tree) -> None:
    for name in ("attribute", "first", "branches", "counts", "depth"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 2**32 - 1), st.sampled_from(SIZES), learners)
def test_small_tables_get_the_tree_of_any_table(seed: int, rows: int, learner: C45) -> None:
    table = random_table(seed, rows)
    assert small.is_small(table)
    node_by_node = learner.fit_table(table).tree
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small, "is_small", lambda table: False)
        assert_same(node_by_node, learner.fit_table(table).tree)


@pytest.mark.parametrize("max_few", [-1, MAX_FEW])
@settings(deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1), rows=st.integers(0, 150), min_leaf=st.sampled_from([1, 2, 7])
)
def test_levels_and_nodes_grow_the_same_tree(max_few, seed, rows, min_leaf) -> None:
    table = random_table(seed, rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small, "MAX_FEW", max_few)
        nodes = small.grow(table, min_leaf)
    tree, _ = grow(table, min_leaf)
    tree.compact()
    assert_same(nodes.tree(), tree)


@pytest.mark.parametrize("confidence", [0.01, 0.25, 0.5])
def test_limits_of_single_leaves_are_those_of_many(confidence: float) -> None:
    table = random_table(0, 10)
    rows, errors = np.indices((60, 40)).reshape(2, -1)
    possible = 2 * errors <= rows
    rows, errors = rows[possible], errors[possible]
    together = Pruner(grow(table, 2)[0], table, confidence, True).limit(
        np.stack([rows - errors, errors]).astype(np.float64)
    )
    limit = limits(confidence)
    one_by_one = [limit(*leaf) for leaf in zip(rows.tolist(), errors.tolist(), strict=True)]
    np.testing.assert_allclose(one_by_one, together, rtol=1e-13)


@pytest.mark.parametrize(
    ("values", "cards", "weights"),
    [
        (np.zeros((small.MAX_ROWS + 1, 1), dtype=np.intp), [2], None),
        (np.zeros((4, 1), dtype=np.intp), [2], np.ones(4)),
        (np.zeros((4, 1)), [0], None),
        (np.full((4, 1), np.nan), [2], None),
        (np.zeros((4, 0), dtype=np.intp), [], None),
        (np.zeros((4, 1), dtype=np.intp), [10**4], None),
        (np.zeros((4, 300), dtype=np.intp), [2] * 300, None),
    ],
    ids=[
        "rows",
        "weights",
        "numeric",
        "missing",
        "none",
        "values",
        "attributes",
    ],
)
def test_other_tables_are_not_small(values, cards, weights) -> None:
    target = np.arange(len(values)) % 2
    rows = np.column_stack([values, target])
    sample = Sample.of(rows, Schema.plain([*cards, 2]), weights)
    table = TrainingRows(sample, distinct=weights is not None)
    assert not small.is_small(table)
    # Constant attributes, or none: the class frequencies answer.
    answers = C45().fit_table(table).predict_proba(values)
    np.testing.assert_allclose(answers, [[1 - target.mean(), target.mean()]] * len(values))


def test_other_weights_make_a_table_weighted() -> None:
    table = random_table(1, 10)
    assert small.is_small(table)
    assert not small.is_small(table.with_weights(np.full(10, 2.0)))


@given(st.integers(0, 2**32 - 1))
def test_nominal_rows_end_at_the_leaves_that_any_rows_do(seed: int) -> None:
    table = random_table(seed, 200)
    tree = C45(prune=False).fit_table(table).tree
    every = Entries(np.arange(200), np.zeros(200, dtype=np.intp), np.ones(200))
    np.testing.assert_array_equal(tree.plain_leaves(table), tree.leaves(table, every).nodes)
