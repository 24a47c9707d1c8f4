"""Miscalibration: worked cells, a plain reference, and independence of row order."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from simstudy.measures import calibration
from simstudy.measures.base import score
from simstudy.measures.calibration import (
    calibration_loss,
    expected_calibration_error,
    miscalibration,
    overconfidence,
    refinement_loss,
    underconfidence,
)
from simstudy.measures.scores.losses import brier_score
from simstudy.measures.scores.rewards import good_reward


def binary(*groups):
    """Rows from (probability of the mode, rows, right answers among them), class 0 the mode."""
    q = np.concatenate([np.full(rows, p) for p, rows, _ in groups])
    y = np.concatenate([np.repeat([0, 1], [right, rows - right]) for _, rows, right in groups])
    return np.column_stack([q, 1 - q]), y


def reference(proba, y):
    """Equation 3 of Korb, Hope & Hughes 2001 in plain Python, ties kept together."""
    predictions = {}
    for row, c in zip(proba.tolist(), y.tolist(), strict=True):
        best = row.index(max(row))
        predictions.setdefault(row[best], []).append(1 if best == c else 0)
    cells, open_cell = [], []
    for p in sorted(predictions):
        open_cell += [(p, f) for f in predictions[p]]
        if len(open_cell) >= 10:
            cells.append(open_cell)
            open_cell = []
    if open_cell and cells:
        cells[-1] = cells[-1] + open_cell
    elif open_cell:
        cells = [open_cell]
    total = 0.0
    for cell in cells:
        frequency = sum(f for _, f in cell) / len(cell)
        total += sum((frequency - p) ** 2 for p, _ in cell) / (len(cell) - 1)
    return math.sqrt(total)


def test_cells_close_at_ten_rows_and_keep_ties_together():
    # 25 rows. Cell 1: the 8 rows at .6 are too few, so the 4 at .7 join: 12 rows, 6 right,
    # f = .5, 8 * .1² + 4 * .2² = .24, over 11 = .0218182.
    # Cell 2: the 9 rows at .8 are too few, so the 4 at .9 join: 13 rows, all right,
    # 9 * .2² + 4 * .1² = .4, over 12 = .0333333. Root of .0551515 = .2348436.
    proba, y = binary((0.6, 8, 5), (0.7, 4, 1), (0.8, 9, 9), (0.9, 4, 4))
    assert miscalibration(proba, y) == pytest.approx(math.sqrt(0.24 / 11 + 0.4 / 12))
    assert miscalibration(proba, y) == pytest.approx(0.2348436, abs=1e-7)


def test_a_remainder_joins_the_last_cell():
    # 25 rows. Cell 1: 10 at .6, 5 right, f = .5: 10 * .1² / 9. The 10 at .8 would close, but 5 at
    # .9 remain, too few for a cell: 15 rows, 12 right, f = .8: 5 * .1² / 14.
    proba, y = binary((0.6, 10, 5), (0.8, 10, 8), (0.9, 5, 4))
    assert miscalibration(proba, y) == pytest.approx(math.sqrt(0.1 / 9 + 0.05 / 14))


def test_ten_rows_left_over_make_their_own_cell():
    # 10 * .1² / 9 twice: f = .5 against .6, and f = .8 against .9.
    proba, y = binary((0.6, 10, 5), (0.9, 10, 8))
    assert miscalibration(proba, y) == pytest.approx(math.sqrt(0.2 / 9))


def test_a_great_tie_is_one_cell():
    # 37 equal predictions: all 37 at .75, 28 right; f - p = 28/37 - 3/4 = 1/148.
    proba, y = binary((0.75, 37, 28))
    assert miscalibration(proba, y) == pytest.approx(math.sqrt(37 / 148**2 / 36))


def test_a_tie_across_the_tenth_row_stays_in_the_first_cell():
    # 9 rows at .6 and 12 at .8: the first cell takes all 21. 15 right, f = 5/7.
    proba, y = binary((0.6, 9, 5), (0.8, 12, 10))
    squares = 9 * (5 / 7 - 0.6) ** 2 + 12 * (5 / 7 - 0.8) ** 2
    assert miscalibration(proba, y) == pytest.approx(math.sqrt(squares / 20))


def test_fewer_than_ten_rows_make_one_cell():
    # 4 rows: .6, .6, .8, .8 with 3 right, f = .75: 2 * .15² + 2 * .05² = .05, over 3.
    proba, y = binary((0.6, 2, 1), (0.8, 2, 2))
    assert miscalibration(proba, y) == pytest.approx(math.sqrt(0.05 / 3))


def test_one_row_has_no_miscalibration():
    assert math.isnan(miscalibration(np.array([[0.7, 0.3]]), np.array([0])))


def test_only_the_modal_class_counts_and_ties_go_to_the_lowest():
    # All 10 rows have mode 0 at .4, whether alone or tied with class 1; 4 are of class 0, f = .4.
    proba = np.array([[0.4, 0.4, 0.2], [0.4, 0.3, 0.3]] * 5)
    y = np.array([0, 0, 0, 0, 1, 1, 1, 2, 2, 2])
    assert miscalibration(proba, y) == pytest.approx(0, abs=1e-12)


def test_certainty_that_always_comes_true_is_perfect():
    proba = np.tile([0.0, 1.0], (30, 1))
    assert miscalibration(proba, np.ones(30, dtype=int)) == 0


def test_certainty_that_never_comes_true_is_worst():
    # 10 rows, f = 0 against 1: 10/9.
    proba = np.tile([0.0, 1.0], (10, 1))
    assert miscalibration(proba, np.zeros(10, dtype=int)) == pytest.approx(math.sqrt(10 / 9))


@st.composite
def tied_rows(draw):
    """Predictions taken from a pool of rows, so that many are equal."""
    k = draw(st.integers(2, 4))
    n = draw(st.integers(2, 80))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    pool = rng.dirichlet(np.ones(k), draw(st.integers(1, 40)))
    return pool[rng.integers(0, len(pool), n)], rng.integers(0, k, n)


@settings(max_examples=300)
@given(tied_rows())
def test_agrees_with_the_plain_reference(rows):
    assert miscalibration(*rows) == pytest.approx(reference(*rows), abs=1e-12)


@given(st.integers(2, 300), st.integers(0, 2**32 - 1))
def test_agrees_with_the_plain_reference_without_ties(n, seed):
    rng = np.random.default_rng(seed)
    proba, y = rng.dirichlet(np.ones(3), n), rng.integers(0, 3, n)
    assert miscalibration(proba, y) == pytest.approx(reference(proba, y), abs=1e-12)


@given(tied_rows(), st.randoms(use_true_random=False))
def test_row_order_does_not_matter(rows, random):
    proba, y = rows
    order = list(range(len(y)))
    random.shuffle(order)
    assert miscalibration(proba[order], y[order]) == miscalibration(proba, y)


pytestmark = pytest.mark.filterwarnings("error")
BINNED = [expected_calibration_error, overconfidence, underconfidence]
ALL = [calibration_loss, refinement_loss, *BINNED]


def pooled(seed, n=60, k=3, pool=8):
    """Predictions of which many are equal, true classes and weights, some of them 0."""
    rng = np.random.default_rng(seed)
    rows = rng.dirichlet(np.ones(k), pool)[rng.integers(0, pool, n)]
    weights = rng.integers(0, 4, n).astype(np.float64)
    weights[0] = 1
    return rows, rng.integers(0, k, n), weights


def split(proba, y, weights):
    """Calibration and refinement loss in plain Python."""
    groups = {}
    for row, c, w in zip(proba.tolist(), y.tolist(), weights.tolist(), strict=True):
        mass = groups.setdefault(tuple(row), [0.0] * len(row))
        mass[c] += w
    total, calibrated, refined = sum(weights), 0.0, 0.0
    for row, mass in groups.items():
        size = sum(mass)
        if size:
            f = [m / size for m in mass]
            calibrated += size / total * sum((a - b) ** 2 for a, b in zip(row, f, strict=True))
            refined += size / total * sum(a * (1 - a) for a in f)
    return calibrated, refined


def in_bins(proba, y, bins):
    """Over- and underconfidence in plain Python, bins closed above as Guo et al. have them."""
    over = under = 0.0
    confidence, right = proba.max(axis=1), proba.argmax(axis=1) == y
    for b in range(bins):
        inside = (confidence > b / bins) & (confidence <= (b + 1) / bins)
        if inside.any():
            gap = confidence[inside].mean() - right[inside].mean()
            over += inside.mean() * max(gap, 0)
            under += inside.mean() * max(-gap, 0)
    return over, under


# Calibration and refinement


def test_worked_split():
    # Four rows at (.8, .2), three of class 0: f = (.75, .25). Calibration 2 * .05² = .005,
    # refinement 2 * .75 * .25 = .375; Brier (3 * .08 + 1.28)/4 = .38.
    proba, y = np.tile([0.8, 0.2], (4, 1)), np.array([0, 0, 0, 1])
    assert calibration_loss(proba, y) == pytest.approx(0.005)
    assert refinement_loss(proba, y) == pytest.approx(0.375)
    assert brier_score(proba, y).mean() == pytest.approx(0.38)


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 26]), st.integers(1, 60))
def test_the_parts_are_those_of_plain_python_and_sum_to_the_brier_score(seed, k, pool):
    proba, y, weights = pooled(seed, k=k, pool=pool)
    parts = [score(part, proba, y, weights=weights) for part in (calibration_loss, refinement_loss)]
    assert parts == pytest.approx(split(proba, y, weights), abs=1e-12)
    assert sum(parts) == pytest.approx(score(brier_score, proba, y, weights=weights), abs=1e-11)
    plain = calibration_loss(proba, y) + refinement_loss(proba, y)
    assert plain == pytest.approx(brier_score(proba, y).mean(), abs=1e-11)


@given(st.integers(0, 2**32 - 1))
def test_over_the_joint_distribution_the_frequencies_are_the_true_probabilities(seed):
    # Witten, Frank & Hall, section 5.6: E Σ (p_j - a_j)² = Σ (p_j - p*_j)² + p*_j (1 - p*_j).
    rng = np.random.default_rng(seed)
    configurations, k = 12, 3
    truth, q = rng.dirichlet(np.ones(k), (2, configurations))
    mass = rng.dirichlet(np.ones(configurations))
    proba, y = np.repeat(q, k, axis=0), np.tile(np.arange(k), configurations)
    weights = (mass[:, None] * truth).ravel()
    distance = (mass[:, None] * (q - truth) ** 2).sum()
    variance = (mass[:, None] * truth * (1 - truth)).sum()
    assert calibration_loss(proba, y, weights=weights) == pytest.approx(distance)
    assert refinement_loss(proba, y, weights=weights) == pytest.approx(variance)
    expected = score(brier_score, proba, y, weights=weights)
    assert expected == pytest.approx(distance + variance)
    # The truth itself is calibrated.
    proba = np.repeat(truth, k, axis=0)
    assert calibration_loss(proba, y, weights=weights) == pytest.approx(0, abs=1e-12)


def test_rounding_does_not_split_a_group():
    third = 1 / 3
    proba = np.array([[third, 1 - third], [0.1 + third - 0.1, 1 - third], [third, 2 / 3]])
    assert len(set(proba[:, 0])) > 1
    y = np.array([0, 1, 1])
    assert calibration_loss(proba, y) == pytest.approx(0, abs=1e-12)
    assert refinement_loss(proba, y) == pytest.approx(4 / 9)


def test_zero_has_no_sign():
    proba = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert refinement_loss(proba, np.array([0, 1])) == pytest.approx(0.5)


def test_rows_of_equal_hash_that_differ_are_in_groups_of_their_own():
    # The hash of (a, b) is h(a) + 3 h(b) times a constant; h is x ^ (x >> 29) of the bits.
    def bits(x):
        return int(np.float64(x).view(np.uint64))

    def h(x):
        return x ^ (x >> 29)

    wanted = (h(bits(0.3)) + 3 * (h(bits(0.7)) - h(bits(0.25)))) % 2**64
    other = np.uint64(wanted ^ (wanted >> 29) ^ (wanted >> 58)).view(np.float64)
    assert h(bits(other)) == wanted
    rows = np.array([[0.3, 0.7], [other, 0.25]])[[0, 1, 0, 1, 0, 1]]
    order, starts = calibration._equal_rows(rows)
    assert starts.tolist() == [0, 3]
    assert len(np.unique(rows[order][:3], axis=0)) == len(np.unique(rows[order][3:], axis=0)) == 1


def test_distinct_predictions_are_all_calibration_loss():
    rng = np.random.default_rng(6)
    proba, y = rng.dirichlet(np.ones(3), 50), rng.integers(0, 3, 50)
    assert refinement_loss(proba, y) == 0
    assert calibration_loss(proba, y) == pytest.approx(brier_score(proba, y).mean())


# Bins


def test_worked_bins():
    # Of 10 bins, (.6, .7] has 4 rows at .65, all right: under .35 * 4/10. (.8, .9] has 6 rows at
    # .9, on the boundary, 3 right: over .4 * 6/10.
    q = np.array([0.65] * 4 + [0.9] * 6)
    proba, y = np.column_stack([q, 1 - q]), np.array([0] * 4 + [0, 1] * 3)
    assert underconfidence(proba, y, bins=10) == pytest.approx(0.14)
    assert overconfidence(proba, y, bins=10) == pytest.approx(0.24)
    assert expected_calibration_error(proba, y, bins=10) == pytest.approx(0.38)
    # One bin: mean confidence .8 against accuracy .7.
    assert overconfidence(proba, y, bins=1) == pytest.approx(0.1)
    assert underconfidence(proba, y, bins=1) == 0


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 26]), st.integers(1, 20))
def test_bins_are_those_of_plain_python(seed, k, bins):
    proba, y, _ = pooled(seed, k=k, pool=60)
    over, under = in_bins(proba, y, bins)
    assert overconfidence(proba, y, bins=bins) == pytest.approx(over, abs=1e-12)
    assert underconfidence(proba, y, bins=bins) == pytest.approx(under, abs=1e-12)
    both = expected_calibration_error(proba, y, bins=bins)
    assert both == pytest.approx(over + under, abs=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_the_difference_is_mean_confidence_minus_accuracy_whatever_the_bins(seed, bins):
    proba, y, weights = pooled(seed)
    context = {"bins": bins, "weights": weights}
    signed = overconfidence(proba, y, **context) - underconfidence(proba, y, **context)
    confidence = np.average(proba.max(axis=1), weights=weights)
    accuracy = np.average(proba.argmax(axis=1) == y, weights=weights)
    assert signed == pytest.approx(confidence - accuracy, abs=1e-12)


def test_calibration_error_is_that_of_the_curve_of_scikit_learn():
    rng = np.random.default_rng(7)
    q = rng.uniform(0.5, 1, 400)
    proba, right = np.column_stack([1 - q, q]), rng.random(400) < q**2
    frequency, confidence = calibration_curve(right, q, n_bins=15)
    sizes = np.bincount(np.digitize(q, np.linspace(0, 1, 16)) - 1)
    expected = (sizes[sizes > 0] / 400 * np.abs(frequency - confidence)).sum()
    assert expected_calibration_error(proba, right.astype(int)) == pytest.approx(expected)


def test_a_confidence_on_a_boundary_is_in_the_lower_bin_despite_rounding():
    for bins in range(1, 40):
        for upper in range(1, bins + 1):
            inside = upper / bins
            proba = np.array([[inside, 0.0], [(upper - 0.5) / bins, 0.0]])
            # In one bin, right and wrong rows offset; in two they could not.
            gap = expected_calibration_error(proba, np.array([0, 1]), bins=bins)
            assert gap == pytest.approx(abs(proba[:, 0].mean() - 0.5))


@pytest.mark.parametrize("measure", BINNED)
@pytest.mark.parametrize("bins", [0, -1])
def test_a_wrong_number_of_bins_is_refused(measure, bins):
    with pytest.raises(ValueError, match=rf"bins = {bins} is not allowed; it must be at least 1"):
        measure(np.array([[0.5, 0.5]]), np.array([0]), bins=bins)


# Both


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize("k", [2, 3, 26])
def test_a_row_of_weight_w_counts_as_w_rows(measure, k):
    proba, y, weights = pooled(8, k=k)
    repeated = np.repeat(np.arange(len(y)), weights.astype(int))
    expected = measure(proba[repeated], y[repeated])
    assert measure(proba, y, weights=weights) == pytest.approx(expected, abs=1e-12)
    assert measure(proba, y, weights=weights / 7) == pytest.approx(expected, abs=1e-12)
    assert measure(proba, y, weights=np.ones(len(y))) == pytest.approx(measure(proba, y))


@pytest.mark.parametrize("measure", ALL)
def test_the_value_of_the_population_is_that_of_a_great_sample(measure):
    rng = np.random.default_rng(9)
    proba, y, _ = pooled(9)
    population = rng.dirichlet(np.ones(len(y)))
    rows = rng.choice(len(y), 200_000, p=population)
    exact = measure(proba, y, weights=population)
    assert measure(proba[rows], y[rows]) == pytest.approx(exact, abs=0.01)


@pytest.mark.parametrize("measure", ALL)
def test_row_order_does_not_matter_with_weights(measure):
    proba, y, weights = pooled(10)
    order = np.random.default_rng(0).permutation(len(y))
    value = measure(proba[order], y[order], weights=weights[order])
    assert value == pytest.approx(measure(proba, y, weights=weights), abs=1e-14)


@pytest.mark.parametrize("k", [2, 26])
def test_one_row(k):
    proba = np.full((1, k), 1 / k)
    for c in (0, k - 1):
        y = np.array([c])
        assert calibration_loss(proba, y) == pytest.approx(1 - 1 / k)
        assert refinement_loss(proba, y) == 0
        gap = expected_calibration_error(proba, y)
        assert gap == pytest.approx(1 / k if c else 1 - 1 / k)  # the first of equals is the mode


def test_certainty_that_comes_true_is_perfect_and_probabilities_above_one_count_as_one():
    proba = np.array([[1.0 + 1e-12, 0.0]] * 3)
    for measure in ALL:
        assert measure(proba, np.zeros(3, dtype=int)) == pytest.approx(0, abs=1e-10)
    assert overconfidence(proba, np.ones(3, dtype=int)) == pytest.approx(1)


@given(st.floats(0.01, 0.99))
def test_perfect_calibration_maximises_goods_reward(chance):
    # Korb, Hope & Hughes 2001, section 3, of one report for rows of two classes.
    reports = np.append(np.linspace(0.001, 0.999, 999), chance)
    proba = np.column_stack([reports, 1 - reports])
    rewards = [good_reward(proba, np.full(len(reports), c)) for c in (0, 1)]
    expected = chance * rewards[0] + (1 - chance) * rewards[1]
    assert expected.argmax() == len(reports) - 1 or math.isclose(expected.max(), expected[-1])
    # The derivative by the report is 0 there, and the second one below 0.
    step = 1e-4 * min(chance, 1 - chance)
    around = chance + step * np.array([-1, 0, 1])
    proba = np.column_stack([around, 1 - around])
    of_each = [good_reward(proba, np.full(3, c)) for c in (0, 1)]
    low, middle, high = chance * of_each[0] + (1 - chance) * of_each[1]
    slope = (high - low) / (2 * step)
    assert slope == pytest.approx(0, abs=1e-5)
    assert low - 2 * middle + high < 0
