"""Miscalibration: worked cells, a plain reference, and independence of row order."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.measures.calibration import miscalibration


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
