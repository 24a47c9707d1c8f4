"""Hidden Naive Bayes against Weka 3.6.14 and against its formulas row by row."""

from itertools import permutations
from math import log2
from pathlib import Path

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.learners.bayes.hnb import HNB

WEKA = Path(__file__).parents[2] / "golden" / "weka"
Row = tuple[int, ...]


@pytest.mark.parametrize("rows", [50, 500, 5000])
@pytest.mark.parametrize("model", [0, 1, 2])
@pytest.mark.parametrize("family", ["nb", "tan", "aode"])
def test_probabilities_are_those_of_weka(family: str, model: int, rows: int) -> None:
    with np.load(WEKA / f"{family}_{model:02d}.npz") as file:
        sample = Sample(file[f"train_{rows}"], file["cards"])
        test = file["test"][:20]
    with np.load(WEKA / "hnb.npz") as file:
        expected = file[f"{family}_{model:02d}_{rows}"]
    proba = HNB().fit(sample).predict_proba(test)
    np.testing.assert_allclose(proba, expected, rtol=0, atol=1e-12)


def test_rare_values_are_left_out_of_the_information_as_in_weka() -> None:
    # 5000 rows with products of probabilities below 10^-6, above it and, 5/5000 · 5/5000, just
    # there; with all cells counted the probabilities would differ by up to 0.19.
    with np.load(WEKA / "hnb.npz") as file:
        sample = Sample(file["rare_rows"], file["rare_cards"], file["rare_counts"])
        test, expected = file["rare_test"], file["rare"]
    np.testing.assert_allclose(HNB().fit(sample).predict_proba(test), expected, rtol=0, atol=1e-12)


def count(rows: list[Row], **values: int) -> int:
    """Rows with these values; ``x0=1`` is value 1 of variable 0."""
    return sum(all(row[int(name[1:])] == x for name, x in values.items()) for row in rows)


def shared(rows: list[Row], cards: Row, i: int, j: int) -> float:
    """I(X_i; X_j | C) in bits; so few rows that no cell is below Weka's 10^-6."""
    total, target = 0.0, len(cards) - 1
    for row in rows:
        c = {f"x{target}": row[target]}
        xi, xj = {f"x{i}": row[i]}, {f"x{j}": row[j]}
        ratio = count(rows, **c, **xi, **xj) * count(rows, **c)
        total += log2(ratio / (count(rows, **c, **xi) * count(rows, **c, **xj))) / len(rows)
    return total


def test_log_joint_is_the_formula() -> None:
    rng = np.random.default_rng(8)
    cards = (2, 3, 4, 3)
    codes = rng.integers(0, cards, size=(40, 4))
    codes[:, 1] = np.where(rng.random(40) < 0.6, (codes[:, 0] + codes[:, 3]) % 3, codes[:, 1])
    rows = [tuple(row) for row in codes.tolist()]
    log_joint = HNB().fit(Sample(codes, cards)).log_joint(codes[:10, :3])
    information = {(i, j): shared(rows, cards, i, j) for i, j in permutations(range(3), 2)}
    for row, found in zip(rows[:10], log_joint, strict=True):
        for label in range(3):
            expected = (count(rows, x3=label) + 1 / 3) / (len(rows) + 1)
            for i in range(3):
                others = [j for j in range(3) if j != i]
                weights = [information[i, j] for j in others]
                blend = 0.0
                for j, weight in zip(others, weights, strict=True):
                    given = {f"x{j}": row[j], "x3": label}
                    above = count(rows, **given, **{f"x{i}": row[i]}) + 1 / cards[i]
                    blend += weight * above / (count(rows, **given) + 1)
                expected *= blend / sum(weights)
            assert np.isclose(np.exp(found[label]), expected, rtol=1e-10, atol=0)


@pytest.mark.parametrize("constant", [False, True])
def test_an_attribute_that_shares_nothing_has_no_hidden_parent(constant: bool) -> None:
    # P(c) = (n_c + 1/2)/(N + 1), P(x|c) = (n + 1/3)/(n_c + 1): 4 rows of class 0 with values
    # 0, 0, 1, 2 and 2 rows of class 1 with value 2. A second attribute that is always 0, one of
    # two values, shares nothing: (4 + 1/2)/5 and (2 + 1/2)/3.
    column, target = np.array([0, 0, 1, 2, 2, 2]), np.array([0, 0, 0, 0, 1, 1])
    first = np.array([[7 / 3 / 5, 4 / 3 / 5, 4 / 3 / 5], [1 / 3 / 3, 1 / 3 / 3, 7 / 3 / 3]])
    expected = (np.array([4.5, 2.5]) / 7)[:, None] * first
    if constant:
        sample = Sample(np.column_stack([column, 0 * column, target]), (3, 2, 2))
        asked = np.array([(0, 0), (1, 0), (2, 0)])
        expected *= np.array([4.5 / 5, 2.5 / 3])[:, None]
    else:
        sample = Sample(np.column_stack([column, target]), (3, 2))
        asked = np.array([(0,), (1,), (2,)])
    log_joint = HNB().fit(sample).log_joint(asked)
    np.testing.assert_allclose(np.exp(log_joint), expected.T, rtol=1e-12)
