"""Ties between the classes of training rows with missing values."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.learners import C45
from simstudy.learners.trees.c45 import ties
from simstudy.learners.trees.c45.table import TrainingRows
from simstudy.learners.weka_order import quicksort


@given(arrays.arrays(float, st.integers(0, 60), elements=st.integers(0, 5).map(float)))
def test_quicksort_sorts(values: np.ndarray) -> None:
    order = quicksort(values)
    np.testing.assert_array_equal(np.sort(order), np.arange(len(values)))
    np.testing.assert_array_equal(values[order], np.sort(values))


def test_quicksort_orders_equal_values_by_its_swaps() -> None:
    # 2 1 1 1 2: first, middle and last become 1 1 2, that is rows 2 1 0 3 4; the pivot, row 0, goes
    # to the last place but one: 2 1 3 0 4 ...
    assert quicksort(np.array([2.0, 1, 1, 1, 2])).tolist() == [2, 1, 3, 0, 4]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_ordered_sums_equal_the_probabilities_but_for_rounding(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 3, (60, 5)).astype(float)
    values[:, 1] = rng.normal(size=60).round(1)
    values[:, 4] = (values[:, 0] + rng.integers(0, 2, 60)) % 2
    values[:, :4][rng.random((60, 4)) < 0.15] = np.nan
    kinds = [("a", "abc"), ("b", None), ("c", "abc"), ("d", "abc"), ("class", "ab")]
    schema = Schema(tuple(Variable(n, None if v is None else tuple(v)) for n, v in kinds))
    table = TrainingRows(Sample.of(values, schema), distinct=False)
    table = table.with_weights(rng.random(60) + 0.5)
    fitted = C45().fit_table(table)
    sums = ties.OrderedSums(fitted.tree, table, table).probabilities(np.arange(60))
    np.testing.assert_allclose(sums, fitted.predict_table(table), rtol=0, atol=1e-12)
