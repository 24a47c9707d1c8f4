"""The trees of small samples are those that any sample gets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.learners.trees.c45 import learner as c45
from simstudy.learners.trees.c45.learner import C45
from simstudy.learners.trees.c45.small_samples import is_small
from simstudy.learners.trees.c45.table import TrainingRows

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


@settings(deadline=None, max_examples=300)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 3, 5, 20, 50, 300, 600]), learners)
def test_small_samples_get_the_tree_of_any_sample(seed: int, rows: int, learner: C45) -> None:
    table = random_table(seed, rows)
    assert is_small(table)
    tree = learner.fit_table(table).tree
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(c45, "is_small", lambda table: False)
        expected = learner.fit_table(table).tree
    for name in ("attribute", "first", "branches", "counts", "depth"):
        np.testing.assert_array_equal(getattr(tree, name), getattr(expected, name), err_msg=name)


@pytest.mark.parametrize(
    ("values", "cards", "weights"),
    [
        (np.zeros((10**4, 1), dtype=np.intp), [2], None),
        (np.zeros((4, 1), dtype=np.intp), [2], np.ones(4)),
        (np.zeros((4, 1)), [0], None),
        (np.full((4, 1), np.nan), [2], None),
        (np.zeros((4, 0), dtype=np.intp), [], None),
        (np.zeros((4, 1), dtype=np.intp), [10**4], None),
        (np.zeros((4, 110), dtype=np.intp), [2] * 110, None),
    ],
    ids=["rows", "weights", "numeric", "missing", "none", "values", "attributes"],
)
def test_other_samples_are_not_small(values, cards, weights) -> None:
    target = np.arange(len(values)) % 2
    sample = Sample.of(np.column_stack([values, target]), Schema.plain([*cards, 2]), weights)
    table = TrainingRows(sample, distinct=weights is not None)
    assert not is_small(table)
    # Constant attributes, or none: the class frequencies answer.
    answers = C45().fit_table(table).predict_proba(values)
    np.testing.assert_allclose(answers, [[1 - target.mean(), target.mean()]] * len(values))


def test_reweighted_samples_are_not_small() -> None:
    table = random_table(1, 10)
    assert is_small(table)
    assert not is_small(table.with_weights(np.full(10, 2.0)))
