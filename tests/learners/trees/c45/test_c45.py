"""C4.5 against the worked examples of its literature, and its laws."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.learners.trees.c45.boosting import BoostedC45
from simstudy.learners.trees.c45.grow import Search, counting, first_best, grow
from simstudy.learners.trees.c45.learner import C45
from simstudy.learners.trees.c45.prune import class_limits, error_limits
from simstudy.learners.trees.c45.table import TrainingRows
from simstudy.testing import check_learner


def sample_of(values, cards, target, classes: int) -> Sample:
    """Rows of attribute values and classes; 0 values for a numeric attribute."""
    return Sample.of(np.column_stack([values, target]), Schema.plain([*cards, classes]))


# The weather data of Quinlan (1986): outlook, temperature, humidity, windy, play.
WEATHER = [
    (0, 0, 0, 0, 0),
    (0, 0, 0, 1, 0),
    (1, 0, 0, 0, 1),
    (2, 1, 0, 0, 1),
    (2, 2, 1, 0, 1),
    (2, 2, 1, 1, 0),
    (1, 2, 1, 1, 1),
    (0, 1, 0, 0, 0),
    (0, 2, 1, 0, 1),
    (2, 1, 1, 0, 1),
    (0, 1, 1, 1, 1),
    (1, 1, 0, 1, 1),
    (1, 0, 1, 0, 1),
    (2, 1, 0, 1, 0),
]
WEATHER_CARDS = (3, 3, 2, 2, 2)


@pytest.mark.parametrize(
    "learner", [C45(prune=False, laplace=True), BoostedC45(rounds=4)], ids=repr
)
def test_trees_keep_the_contract(learner: C45 | BoostedC45) -> None:
    # Equal gain ratios go to the lowest index, so the order of the attributes may matter.
    check_learner(learner, permutation=False)


def test_gains_and_ratios_are_those_of_the_weather_data() -> None:
    # Witten & Frank, Data Mining, section 4.3: information 0.940 bits, gains 0.247, 0.029,
    # 0.152 and 0.048; their gain ratios with three digits 0.156, 0.019, 0.152 and 0.049.
    table = TrainingRows(Sample(WEATHER, WEATHER_CARDS))
    splits = Search(table, 2, [True] * 4).splits(table.all_entries(), np.array([[5.0], [9.0]]))
    gains = splits.gained[:, 0] / len(WEATHER)
    np.testing.assert_allclose(gains, [0.247, 0.029, 0.152, 0.048], atol=6e-4)
    np.testing.assert_allclose(splits.ratio[:, 0], [0.156, 0.019, 0.152, 0.049], atol=6e-4)
    assert splits.valid.all()


def test_the_tree_of_the_weather_data_is_the_one_of_the_textbooks() -> None:
    tree = C45().fit(Sample(WEATHER, WEATHER_CARDS)).tree
    # Outlook; sunny asks for humidity, overcast is always yes, rainy asks for wind.
    assert tree.attribute.tolist() == [0, 2, -1, 3, -1, -1, -1, -1]
    np.testing.assert_array_equal(tree.counts.T[4:], [[3, 0], [0, 2], [0, 3], [2, 0]])


def test_error_limits_are_those_of_quinlans_example() -> None:
    # Quinlan (1993, section 4.2): U25%(0, 6) = 0.206, U25%(0, 9) = 0.143, U25%(0, 1) = 0.750,
    # U25%(1, 16) = 0.157.
    rows, errors = np.array([6.0, 9, 1, 16]), np.array([0.0, 0, 0, 1])
    limits = error_limits(rows, errors, 0.25) / rows
    np.testing.assert_allclose(limits[:3], [0.206, 0.143, 0.750], atol=6e-4)
    # The normal approximation of release 8 against the exact binomial 0.157.
    assert limits[3] == pytest.approx(0.157, abs=0.003)


def test_error_limits_rise_without_a_jump() -> None:
    limits = error_limits(np.full(2001, 20.0), np.linspace(0, 10, 2001), 0.25)
    assert (np.diff(limits) > 0).all()
    assert np.diff(limits).max() < 0.02
    assert error_limits(np.zeros(1), np.zeros(1), 0.25) == [0.0]


@pytest.mark.parametrize("confidence", [0.01, 0.25, 0.5])
def test_error_limits_lie_between_the_errors_and_all_rows(confidence: float) -> None:
    errors, right = np.random.default_rng(6).exponential(4.0, size=(2, 2000))
    errors = np.minimum(errors, right)
    limits = error_limits(right + errors, errors, confidence)
    assert (limits >= errors * (1 - 1e-12)).all()
    # Below one error the limit goes towards that of a whole one.
    assert (limits <= np.maximum(right + errors, 1.0) * (1 + 1e-12)).all()


def test_pruning_puts_a_large_branch_in_the_place_of_its_parent() -> None:
    # x1 is tested first, and its larger branch, seven rows, tests x0. With all nine rows in that
    # branch the leaves have 5 rows with 1 error and 4 with 1; without raising they have 3 with 1
    # and 4 with 1, and 2 without error beside it.
    first = [(0, 0, 0, 1), (0, 0, 1, 1), (0, 1, 1, 0), (0, 1, 1, 1), (0, 1, 1, 1)]
    rows = [*first, (1, 1, 0, 0), (1, 1, 0, 1), (1, 1, 1, 0), (1, 1, 1, 0)]
    sample = Sample(rows, (2, 2, 2, 2))
    plain, raised = C45(subtree_raising=False).fit(sample).tree, C45().fit(sample).tree
    assert plain.attribute.tolist() == [1, -1, 0, -1, -1]
    assert raised.attribute.tolist() == [0, -1, -1]
    np.testing.assert_array_equal(raised.counts.T, [[4, 5], [1, 4], [3, 1]])
    with_it = class_limits(np.array([[0.0, 2], [1, 2], [3, 1]]).T, 0.25).sum()
    without = class_limits(np.array([[1.0, 4], [3, 1]]).T, 0.25).sum()
    assert without < with_it + 0.1


def test_a_branch_without_rows_answers_as_its_parent() -> None:
    rows = [(0, 0)] * 4 + [(1, 1)] * 3 + [(1, 0)]
    fitted = C45(prune=False).fit(Sample(rows, (3, 2)))
    np.testing.assert_allclose(
        fitted.predict_proba(np.array([[0], [1], [2]])), [[1, 0], [0.25, 0.75], [5 / 8, 3 / 8]]
    )
    smooth = C45(prune=False, laplace=True).fit(Sample(rows, (3, 2)))
    np.testing.assert_allclose(
        smooth.predict_proba(np.array([[0], [1], [2]])),
        [[5 / 6, 1 / 6], [2 / 6, 4 / 6], [0.6, 0.4]],
    )


def test_a_row_without_a_value_goes_down_all_branches_in_parts() -> None:
    # 6 rows of value 0 (class 0), 3 of value 1 (class 1), one without a value of class 1: it adds
    # 2/3 to the first branch and 1/3 to the second.
    values = np.array([[0.0]] * 6 + [[1.0]] * 3 + [[np.nan]])
    target = np.array([0] * 6 + [1] * 4)
    fitted = C45(prune=False).fit(sample_of(values, (2,), target, 2))
    leaves = [[6 / (6 + 2 / 3), (2 / 3) / (6 + 2 / 3)], [0, 1]]
    asked = [[0.0], [1.0], [np.nan]]
    mixed = (2 / 3) * np.array(leaves[0]) + (1 / 3) * np.array(leaves[1])
    np.testing.assert_allclose(fitted.predict_proba(asked), [*leaves, mixed], rtol=1e-12)


def test_a_number_is_cut_at_a_value_of_the_training_rows() -> None:
    values = np.array([[1.0], [2.0], [3.0], [10.0], [11.0], [12.0]])
    target = np.array([0, 0, 0, 1, 1, 1])
    fitted = C45().fit(sample_of(values, (0,), target, 2))
    # Three cuts leave two rows on each side; naming one costs log2(3)/6 bits of the gain of 1.
    assert fitted.tree.threshold[0] == 3.0
    asked = [[3.0], [3.1], [9.9]]
    np.testing.assert_array_equal(fitted.predict_proba(asked), [[1, 0], [0, 1], [0, 1]])


def test_a_value_a_millionth_above_the_middle_is_a_threshold_if_the_difference_is_less() -> None:
    # The tree of Weka's J48 -U: x0 <= 0 (x1 <= 1.499998: b (3/1), x1 > 1.499998: a (3)), x0 > 0: a.
    # The middle of 1.499988 and 1.500006 is 1.499997, which the value 1.499998 exceeds by 1e-6,
    # rounded to a little less.
    rows = [
        *([2, 1.499992, 0], [0, 1.500006, 0], [-1, np.nan, 0], [1, 1.499998, 0], [2, 1.499992, 0]),
        *([0, 1.499988, 1], [0, 1.500006, 0], [1, 1.499998, 0], [0, 1.499988, 1], [-1, np.nan, 0]),
    ]
    values = np.array(rows)
    fitted = C45(prune=False).fit(sample_of(values[:, :2], (0, 0), values[:, 2].astype(int), 2))
    assert fitted.tree.threshold[:2].tolist() == [0, 1.499998]


def test_the_best_score_is_replaced_only_by_one_that_is_really_greater() -> None:
    scores = np.array([[0.3, 0.3 + 1e-7, 0.1], [0.0, 0.0, 0.0], [0.1, 0.1 + 9e-7, 0.1 + 18e-7]])
    # In the last row 0.1 + 9e-7 does not replace 0.1, but 0.1 + 18e-7 does.
    assert first_best(scores.T).tolist() == [0, -1, 2]


def test_many_nodes_are_searched_in_blocks_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    rows = np.column_stack([rng.integers(0, 3, size=(300, 5)), rng.normal(size=(300, 1))])
    target = (rows[:, 0] + rows[:, 1] + (rows[:, 5] > 0)).astype(np.intp) % 3
    sample = sample_of(rows, (3, 3, 3, 3, 3, 0), target, 3)
    whole = C45(prune=False).fit(sample).predict_proba(sample)
    monkeypatch.setattr("simstudy.learners.trees.c45.grow._MAX_CELLS", 50)
    np.testing.assert_array_equal(C45(prune=False).fit(sample).predict_proba(sample), whole)


def test_sums_over_many_slots_are_those_over_few(monkeypatch: pytest.MonkeyPatch) -> None:
    # A numeric attribute has no slot; the last, of no attribute, is for all rows.
    table = TrainingRows(sample_of(np.full((1, 4), np.nan), (2, 1, 0, 3), [0], 2))
    weights = np.random.default_rng(5).random((2, table.layout.size, 6))
    sums = table.by_attribute(weights)
    by_hand = [weights[:, part].sum(axis=1) for part in (slice(2), [2], slice(3, 6))]
    np.testing.assert_allclose(sums, np.stack(by_hand, axis=1), rtol=1e-12)
    monkeypatch.setattr("simstudy.learners.trees.c45.table._FEW_PAIRS", 0)
    np.testing.assert_allclose(table.by_attribute(weights), sums, rtol=1e-12)


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=60))
def test_nominal_rows_end_at_the_leaves_that_any_rows_do(rows: list[tuple[int, ...]]) -> None:
    table = TrainingRows(Sample(rows, (3, 3, 3, 3)))
    tree = C45(prune=False).fit_table(table).tree
    np.testing.assert_array_equal(
        tree.plain_leaves(table), tree.leaves(table, table.all_entries()).nodes
    )


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([[2.0, 1.0]], "attribute 0 has 2 values.* from 0 to 1"),
        ([[0.5, 1.0]], "codes must be integers"),
        ([[0.0, np.inf]], "finite"),
        ([[0.0]], "one column for each of the 2 attributes"),
        ([0.0, 1.0], "one column for each of the 2 attributes"),
    ],
)
def test_rows_that_make_no_sense_are_refused(values, said) -> None:
    fitted = C45().fit(sample_of([[0, 1.5], [1, 2.5]], (2, 0), [0, 1], 2))
    with pytest.raises(ValueError, match=said):
        fitted.predict_proba(values)


def test_without_attributes_the_class_frequencies_answer() -> None:
    fitted = C45().fit(Sample([[0], [1], [1], [1], [1]], (2,)))
    np.testing.assert_allclose(fitted.predict_proba(np.zeros((2, 0))), [[0.2, 0.8]] * 2)


CARDS = (2, 3, 0, 2)
cells = [st.sampled_from([0.0, 1, np.nan]), st.sampled_from([0.0, 1, 2, np.nan])]
cells += [st.sampled_from([0.5, 1, 1.5, 2, 4, np.nan]), st.integers(0, 1).map(float)]
tables = st.lists(st.tuples(*cells), min_size=1, max_size=40).map(np.array)


def fit(rows: np.ndarray, learner: C45, weights: np.ndarray | None = None) -> np.ndarray:
    """The learner's answers on its own training rows."""
    sample = Sample.of(rows, Schema.plain(CARDS), weights)
    return learner.fit(sample).predict_proba(sample)


@given(tables)
def test_answers_are_distributions(rows: np.ndarray) -> None:
    for learner in (C45(), C45(prune=False, laplace=True)):
        answers = fit(rows, learner)
        np.testing.assert_allclose(answers.sum(axis=1), 1.0, rtol=1e-9)
        assert (answers >= 0).all()


@given(tables, st.integers(0, 2**32 - 1))
def test_weights_count_as_repetitions_of_rows(rows: np.ndarray, seed: int) -> None:
    weights = np.random.default_rng(seed).integers(1, 4, size=len(rows))
    repeated = fit(np.repeat(rows, weights, axis=0), C45())
    first = np.cumsum(weights) - weights
    weighted = fit(rows, C45(), weights.astype(np.float64))
    np.testing.assert_allclose(weighted, repeated[first], atol=1e-9)


@given(tables, st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(rows: np.ndarray, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(rows))
    np.testing.assert_allclose(fit(rows[order], C45()), fit(rows, C45())[order], atol=1e-9)


@given(tables)
def test_only_the_order_of_numbers_matters(rows: np.ndarray) -> None:
    stretched = rows.copy()
    stretched[:, 2] = np.exp(stretched[:, 2])
    np.testing.assert_allclose(fit(stretched, C45()), fit(rows, C45()), atol=1e-9)


@settings(deadline=None)
@given(st.lists(st.tuples(*(st.integers(0, c - 1) for c in (3, 2, 4, 3))), min_size=1, max_size=60))
def test_the_full_tree_is_the_one_grown_node_by_node(rows: list[tuple[int, ...]]) -> None:
    table = TrainingRows(Sample(rows, (3, 2, 4, 3)))
    search = Search(table, 2, counting(table.cards, table.total))
    tree, _ = grow(search, table.all_entries(), 1)

    def agree(node: int, part: list[tuple[int, ...]]) -> None:
        attribute = by_hand(part, len(rows))
        assert tree.attribute[node] == attribute
        if attribute >= 0:
            for value in range((3, 2, 4)[attribute]):
                branch = [row for row in part if row[attribute] == value]
                agree(int(tree.first[node]) + value, branch)

    agree(0, rows)


def by_hand(rows: list[tuple[int, ...]], all_rows: int) -> int:
    """The attribute that C4.5 splits these rows by, from the definitions; −1 for none."""
    classes = [row[-1] for row in rows]
    if len(rows) < 4 or len(set(classes)) == 1:
        return -1
    gains: dict[int, float] = {}
    ratios: dict[int, float] = {}
    for i, card in enumerate((3, 2, 4)):
        bags = [[row[-1] for row in rows if row[i] == v] for v in range(card)]
        if sum(len(bag) >= 2 for bag in bags) < 2:
            continue
        after = sum(len(bag) / len(rows) * entropy(bag) for bag in bags)
        gains[i] = entropy(classes) - after
        gains[i] = 0.0 if abs(gains[i]) * len(rows) < 1e-6 else gains[i]
        ratios[i] = gains[i] / entropy([row[i] for row in rows])
    many = [card >= 0.3 * all_rows for card in (3, 2, 4)]
    averaged = [gain for i, gain in gains.items() if all(many) or not many[i]]
    if not averaged:
        return -1
    best, attribute = 0.0, -1
    for i, gain in gains.items():
        if gain >= sum(averaged) / len(averaged) - 1e-3 and ratios[i] > best + 1e-6:
            best, attribute = ratios[i], i
    return attribute


def entropy(values: list[int]) -> float:
    shares = [values.count(v) / len(values) for v in set(values)]
    return -sum(share * math.log2(share) for share in shares)
