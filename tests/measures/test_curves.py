"""Curves: Weka's, scikit-learn's, worked examples, and exact against sampled ones."""

import csv
import gzip
import warnings
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve, roc_curve

from simstudy.measures import auc, curves

REAL = Path(__file__).parents[1] / "golden" / "real"

# Witten, Frank & Hall 2011, table 5.6: 13 yes, 6 no.
SCORES = [0.95, 0.93, 0.93, 0.88, 0.86, 0.85, 0.82, 0.80, 0.80, 0.79]
SCORES += [0.77, 0.76, 0.73, 0.65, 0.63, 0.58, 0.56, 0.49, 0.48]
YES = np.array([1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 0, 1, 0, 1], dtype=bool)


def read(name: str) -> list[dict[str, str]]:
    with gzip.open(REAL / name, "rt", newline="") as file:
        return list(csv.DictReader(file))


def weka(learner: str, one: int) -> tuple[np.ndarray, np.ndarray]:
    rows = read(f"probs/{learner}_crx.csv.gz")
    classes = [name[2:] for name in rows[0] if name.startswith("p_")]
    scores = np.array([float(row[f"p_{classes[one]}"]) for row in rows])
    return scores, np.array([row["y"] == classes[one] for row in rows])


def column(rows: list[dict[str, str]], name: str) -> np.ndarray:
    return np.array([float(row[name] or "nan") for row in rows])[::-1]


def drawn(seed: int, n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores with many ties, labels that depend on them, and weights, some 0."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 25, n) / 24
    return scores, rng.random(n) < scores, rng.integers(0, 4, n) * rng.random(n)


each_curve = pytest.mark.parametrize(
    ("learner", "one"), [("NB", 0), ("NB", 1), ("J48", 0), ("J48", 1)]
)


@each_curve
def test_threshold_curve_is_that_of_weka(learner, one):
    rows, (scores, positive) = (
        read(f"curves/threshold_{learner}_crx_{one}.csv.gz"),
        weka(learner, one),
    )
    found = curves.roc(scores, positive)
    same = np.testing.assert_array_equal
    same(found.true_positives, column(rows, "True Positives"))
    same(found.false_positives, column(rows, "False Positives"))
    same(found.true_negatives, column(rows, "True Negatives"))
    same(found.false_negatives, column(rows, "False Negatives"))
    close = np.testing.assert_allclose
    close(found.thresholds[1:], column(rows, "Threshold")[1:], rtol=1e-11)
    close(found.false_positive_rate, column(rows, "False Positive Rate"), atol=1e-15)
    close(found.true_positive_rate, column(rows, "True Positive Rate"), atol=1e-15)
    close(found.recall, column(rows, "Recall"), atol=1e-15)
    close(found.precision[1:], column(rows, "Precision")[1:], atol=1e-15)
    close(found.false_discovery_rate[1:], column(rows, "Fallout")[1:], atol=1e-15)
    close(found.f_measure, column(rows, "FMeasure"), atol=1e-15)
    close(found.share, column(rows, "Sample Size"), atol=1e-15)
    there = np.isfinite(column(rows, "Lift"))
    assert there.sum() > len(there) / 2
    close(found.lift[there], column(rows, "Lift")[there], atol=1e-12)


@each_curve
def test_cost_curve_is_that_of_weka(learner, one):
    rows, found = (
        read(f"curves/cost_{learner}_crx_{one}.csv.gz"),
        curves.cost_curve(*weka(learner, one)),
    )
    left = [row for row in rows if float(row["Probability Cost Function"]) == 0]
    right = [row for row in rows if float(row["Probability Cost Function"]) == 1]
    close = np.testing.assert_allclose
    close(found.false_positive_rate, column(left, "Normalized Expected Cost"), atol=1e-15)
    close(found.false_negative_rate, column(right, "Normalized Expected Cost"), atol=1e-15)
    grid = np.linspace(0, 1, 501)
    close(found.at(grid), found.lines(grid).min(axis=0), atol=1e-14)
    for place, (a, b) in zip(found.places, pairwise(found.probability_cost), strict=True):
        close(found.lines([(a + b) / 2])[place, 0], found.at((a + b) / 2), atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_roc_and_precision_recall_are_those_of_scikit_learn(seed, weighted):
    scores, positive, drawn_weights = drawn(seed)
    weights = drawn_weights if weighted else None
    kept = drawn_weights > 0 if weighted else np.ones(len(scores), bool)
    its = None if weights is None else weights[kept]
    close = np.testing.assert_allclose
    found = curves.roc(scores, positive, weights)
    false, true, thresholds = roc_curve(
        positive[kept], scores[kept], sample_weight=its, drop_intermediate=False
    )
    close(found.false_positive_rate, false, atol=1e-12)
    close(found.true_positive_rate, true, atol=1e-12)
    close(found.thresholds, thresholds, atol=0)
    both = curves.precision_recall(scores, positive, weights)
    precision, recall, thresholds = precision_recall_curve(
        positive[kept], scores[kept], sample_weight=its
    )
    close(both.precision[1:], precision[-2::-1], atol=1e-12)
    close(both.recall, recall[::-1], atol=1e-12)
    close(both.thresholds[1:], thresholds[::-1], atol=0)


@pytest.mark.parametrize("seed", range(5))
def test_area_of_an_exact_curve_is_the_exact_auc(seed):
    scores, positive, weights = drawn(seed)
    weights /= weights.sum()
    proba = np.column_stack([1 - scores, scores])
    found, exact = curves.roc(scores, positive, weights), Fraction(0)
    each = [Fraction(w) for w in weights]
    for place in np.flatnonzero(positive):
        above = [each[i] for i in np.flatnonzero(~positive & (scores < scores[place]))]
        equal = [each[i] for i in np.flatnonzero(~positive & (scores == scores[place]))]
        exact += each[place] * (sum(above) + sum(equal) / 2)
    totals = [sum(each[i] for i in np.flatnonzero(positive == one)) for one in (False, True)]
    assert found.area == pytest.approx(float(exact / totals[0] / totals[1]), abs=1e-12)
    assert found.area == auc(proba, positive.astype(int), weights=weights, positive=1)
    assert curves.roc(scores, positive, 1e9 * weights).area == pytest.approx(found.area, abs=1e-12)


def test_a_sampled_curve_lies_on_the_exact_one_within_its_error():
    rng = np.random.default_rng(1)
    cells, n = 500, 1_000_000
    score, chance = rng.integers(0, 60, cells) / 60, rng.dirichlet(np.ones(cells))
    true = np.clip(score + rng.normal(0, 0.2, cells), 0.02, 0.98)
    exact = curves.roc(
        np.tile(score, 2),
        np.repeat([False, True], cells),
        np.r_[chance * (1 - true), chance * true],
    )
    rows = rng.choice(cells, n, p=chance)
    sampled = curves.roc(score[rows], rng.random(n) < true[rows])
    np.testing.assert_array_equal(exact.thresholds, sampled.thresholds)
    # Binomial errors of the two rates; of 120 figures none is beyond 4.5 standard errors.
    for name, rows_of_class in [
        ("true_positive_rate", sampled.true_positives[-1]),
        ("false_positive_rate", sampled.false_positives[-1]),
    ]:
        rate = getattr(exact, name)
        error = np.sqrt(rate * (1 - rate) / rows_of_class)
        assert (np.abs(getattr(sampled, name) - rate) <= 4.5 * error + 1e-12).all()
    assert sampled.area == pytest.approx(exact.area, abs=0.003)


def test_table_5_6_has_an_area_of_49_of_78():
    found = curves.roc(SCORES, YES)
    assert found.area == pytest.approx(49 / 78, abs=1e-15)
    assert len(found.thresholds) == 18  # 17 distinct probabilities
    assert found.thresholds[0] == np.inf


def test_lift_at_ten_rows_of_table_5_6_is_as_worked():
    # The first ten have 8 yes of 13 in 19: (8/10)/(13/19).
    lifted = curves.lift(SCORES, YES)
    place = np.flatnonzero(lifted.share == 10 / 19)[0]
    assert lifted.true_positives[place] == 8
    assert lifted.lift[place] == pytest.approx((8 / 10) / (13 / 19))
    assert lifted.at(10 / 19) == pytest.approx(8 / 13)


def test_hull_leaves_out_points_below_it():
    points = [(0.4, 0.6), (0.1, 0.5), (0.3, 0.8), (0.6, 0.7), (0.5, 0.9), (0.8, 0.95)]
    hull = curves.roc_hull(points)
    # Slopes 5, 1.5, 0.5 and 0.2; (0.8, 0.95) is below the line from (0.5, 0.9) to (1, 1).
    np.testing.assert_allclose(hull.false_positive_rate, [0, 0.1, 0.3, 0.5, 1])
    np.testing.assert_allclose(hull.true_positive_rate, [0, 0.5, 0.8, 0.9, 1])
    np.testing.assert_array_equal(hull.places, [-1, 1, 2, 4, -1])
    # Trapezoids: 0.1·0.25 + 0.2·0.65 + 0.2·0.85 + 0.5·0.95
    assert hull.area == pytest.approx(0.025 + 0.13 + 0.17 + 0.475)


def test_hull_of_a_ranking_worse_than_chance_is_the_diagonal():
    hull = curves.roc_hull(curves.roc([0.1, 0.9], [1, 0]))
    np.testing.assert_array_equal(hull.false_positive_rate, [0, 1])
    np.testing.assert_array_equal(hull.places, [0, 2])


@pytest.mark.parametrize("seed", range(5))
def test_hull_contains_its_curve_and_is_concave(seed):
    found = curves.roc(*drawn(seed))
    hull = curves.roc_hull(found)
    height = np.interp(found.false_positive_rate, hull.false_positive_rate, hull.true_positive_rate)
    assert (found.true_positive_rate <= height + 1e-12).all()
    run, rise = np.diff(hull.false_positive_rate), np.diff(hull.true_positive_rate)
    assert (rise[:-1] * run[1:] >= rise[1:] * run[:-1] - 1e-15).all()
    np.testing.assert_array_equal(hull.false_positive_rate, found.false_positive_rate[hull.places])


def test_mixture_is_on_the_line_between_two_classifiers():
    # A combination of (0.1, 0.5) and (0.3, 0.8): a quarter of the answers by the second.
    assert curves.mixture((0.1, 0.5), (0.3, 0.8), 0.25) == pytest.approx((0.15, 0.575))
    assert curves.mixture((0.1, 0.5), (0.3, 0.8), 0) == (0.1, 0.5)
    with pytest.raises(ValueError, match="share"):
        curves.mixture((0, 0), (1, 1), 1.5)


def test_cost_curve_of_one_classifier_is_useful_between_its_error_rates():
    # Three of four right in both classes: fp = fn = 0.25.
    scores, positive = [1, 1, 1, 0, 1, 0, 0, 0], [1, 1, 1, 1, 0, 0, 0, 0]
    found = curves.cost_curve(scores, positive)
    np.testing.assert_array_equal(found.false_positive_rate, [0, 0.25, 1])
    np.testing.assert_array_equal(found.false_negative_rate, [1, 0.25, 0])
    np.testing.assert_allclose(found.probability_cost, [0, 0.25, 0.75, 1])
    np.testing.assert_allclose(found.cost, [0, 0.25, 0.25, 0])
    assert found.useful == pytest.approx((0.25, 0.75))
    np.testing.assert_array_equal(found.places, [0, 1, 2])
    assert np.isnan(curves.cost_curve([0, 1], [1, 0]).useful).all()


def test_probability_cost_weighs_the_prior_with_costs():
    assert curves.probability_cost(0.3) == pytest.approx(0.3)
    assert curves.probability_cost(0.2, 8, 2) == pytest.approx(1.6 / 3.2)
    with pytest.raises(ValueError, match="costs"):
        curves.probability_cost(0.2, -1, 1)


def test_profit_of_a_mailing():
    # Four of ten respond; a million households, 15 from each response, 0.5 for each letter.
    scores, positive = np.arange(10, 0, -1) / 10, [1, 1, 0, 1, 0, 0, 1, 0, 0, 0]
    found = curves.profit(
        scores, positive, benefit=15, cost=0.5, fixed=20_000, population=1_000_000
    )
    assert found.profit[0] == 0
    assert found.profit[1] == 100_000 * 14.5 - 20_000
    assert found.profit[found.best] == 100_000 * (4 * 15 - 7 * 0.5) - 20_000
    assert found.share[found.best] == pytest.approx(0.7)


def test_reliability_by_bins():
    found = curves.reliability([0.05, 0.15, 0.15, 1.0], [0, 0, 1, 1], [1, 1, 3, 5])
    np.testing.assert_allclose(found.low, [0, 0.1, 0.9])
    np.testing.assert_allclose(found.share, [0.1, 0.4, 0.5])
    np.testing.assert_allclose(found.predicted, [0.05, 0.15, 1])
    np.testing.assert_allclose(found.observed, [0, 0.75, 1])


def test_vertical_average_takes_the_upper_end_of_a_vertical_piece():
    one = curves.roc([4, 3, 2, 1], [1, 0, 1, 0])  # (0, .5), (.5, .5), (.5, 1)
    other = curves.roc([1, 1, 1, 1], [1, 0, 1, 0])  # the diagonal
    missing = curves.roc([1, 2], [1, 1])
    found = curves.average_vertically([one, other, missing], [0, 0.25, 0.5, 1])
    np.testing.assert_allclose(found.each, [[0.5, 0.5, 1, 1], [0, 0.25, 0.5, 1]])
    np.testing.assert_allclose(found.true_positive_rate, [0.25, 0.375, 0.75, 1])
    np.testing.assert_allclose(found.standard_deviation[0], 0.5 / 2**0.5)
    np.testing.assert_allclose(one.at([0, 0.25, 0.5, 1]), found.each[0])


def test_precision_between_thresholds_is_that_of_numbers_of_rows():
    # After the first threshold 2 positive and 1 negative rows, after the second 4 and 9.
    scores, positive = [2] * 3 + [1] * 10, [1, 1, 0, 1, 1] + [0] * 8
    found = curves.precision_recall(scores, positive)
    np.testing.assert_allclose(found.at([0, 0.5, 0.75, 1]), [2 / 3, 2 / 3, 3 / 8, 4 / 13])


@pytest.mark.parametrize(("label", "reason"), [(0, "no row"), (1, "all rows")])
def test_a_missing_class_has_no_rates(label, reason):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = curves.roc([0.2, 0.7, 0.7], [label] * 3)
        assert reason in found.undefined
        assert np.isnan(found.area)
        assert reason in found.area.reason
        rate = found.true_positive_rate if label == 0 else found.false_positive_rate
        assert np.isnan(rate).all()
        assert np.isnan(curves.roc_hull(found).area)
        cost = curves.cost_curve([0.2, 0.7, 0.7], [label] * 3)
        assert np.isnan(cost.at([0.5])).all()
        assert np.isnan(curves.average_vertically([found]).true_positive_rate).all()
        curves.lift([0.2, 0.7], [label] * 2).at([0.5])
        curves.precision_recall([0.2, 0.7], [label] * 2).at([0.5])


def test_rows_of_no_weight_are_left_out():
    found = curves.roc([0.9, 0.5, 0.1], [1, 0, 0], [1, 0, 1])
    np.testing.assert_array_equal(found.thresholds, [np.inf, 0.9, 0.1])


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (([0.1, np.nan], [0, 1]), "NaN"),
        (([0.1, 0.2], [0, 2]), "booleans"),
        (([0.1, 0.2], [0, 1, 1]), "shape"),
        (([0.1, 0.2], [0, 1], [1, -1]), "negative"),
        (([0.1, 0.2], [0, 1], [0, 0]), "no rows"),
        (([], []), "no rows"),
    ],
)
def test_unusable_rows_are_refused(arguments, word):
    with pytest.raises(ValueError, match=word):
        curves.roc(*arguments)
