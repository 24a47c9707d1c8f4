"""The information rewards: worked numbers, limits, and what each is greatest at."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.measures.scores.rewards import (
    good_reward,
    information_reward,
    information_reward_2002,
    information_reward_2002_modal,
    kononenko_bratko,
)

WITH_PRIOR = [
    information_reward,
    information_reward_2002,
    information_reward_2002_modal,
    kononenko_bratko,
]
LOG2 = math.log(2)


@pytest.fixture(autouse=True)
def _warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def one(function, q, y, *prior, **options):
    """The reward of a single row."""
    return function(np.array([q]), np.array([y]), *map(np.array, prior), **options)[0]


def expected(function, q, t, *prior):
    """The reward of predicting q, expected over a class drawn from t."""
    k = len(t)
    return t @ function(np.tile(q, (k, 1)), np.arange(k), *prior)


def binary_rows(q):
    """Rows of two classes from the probabilities of the first."""
    q = np.asarray(q)
    return np.column_stack([q, 1 - q])


def simplex(k):
    """Distributions over k classes with every probability well inside (0, 1)."""
    return st.lists(st.floats(0.01, 1), min_size=k, max_size=k).map(lambda w: np.array(w) / sum(w))


distributions = st.integers(2, 5).flatmap(simplex)
two_distributions = st.integers(2, 5).flatmap(lambda k: st.tuples(simplex(k), simplex(k)))
three_distributions = st.integers(2, 5).flatmap(
    lambda k: st.tuples(simplex(k), simplex(k), simplex(k))
)


# A ternary example, with prior (1/2, 1/4, 1/4) and prediction (1/4, 1/2, 1/4).
PRIOR, PREDICTION = [0.5, 0.25, 0.25], [0.25, 0.5, 0.25]


def test_information_reward_of_a_ternary_prediction_by_hand():
    # True class 1: [log(.5/.25) + log(.75/.5) + log(.75/.75)] / 3 = [log 2 + log 1.5] / 3
    assert one(information_reward, PREDICTION, 1, PRIOR) == pytest.approx(math.log(3) / 3)
    # True class 0: [log(.25/.5) + log(.5/.75) + log(.75/.75)] / 3 = -[log 2 + log 1.5] / 3
    assert one(information_reward, PREDICTION, 0, PRIOR) == pytest.approx(-math.log(3) / 3)


def test_sum_over_classes_of_a_ternary_prediction_by_hand():
    # True class 1: log(.5/.25) + log(.75/.5) + log(.75/.75) = log 2 + log 1.5
    summed = one(information_reward, PREDICTION, 1, PRIOR, reward="sum")
    assert summed == pytest.approx(math.log(3))


@given(two_distributions, st.sampled_from([math.e, 2.0]))
def test_sum_over_classes_is_k_times_the_mean(two, base):
    q, prior = two
    k = len(q)
    y = np.arange(k)
    rows = np.tile(q, (k, 1))
    mean = information_reward(rows, y, prior, base=base)
    summed = information_reward(rows, y, prior, base=base, reward="sum")
    np.testing.assert_allclose(summed, k * mean, rtol=1e-12, atol=1e-14)


def test_another_way_to_combine_classes_is_refused():
    with pytest.raises(ValueError, match="reward = 'median' is not allowed; it must be 'mean' or"):
        one(information_reward, PREDICTION, 1, PRIOR, reward="median")


def test_modal_reward_of_2002_of_a_ternary_prediction_by_hand():
    # The modal class is 1. If true: 1 - log(1/2)/log(1/4) = 1 - 1/2.
    assert one(information_reward_2002_modal, PREDICTION, 1, PRIOR) == pytest.approx(0.5)
    # If not: 1 - log(1/2)/log(3/4) = 1 - 0.6931472/0.2876821 = 1 - 2.4094208.
    assert one(information_reward_2002_modal, PREDICTION, 0, PRIOR) == pytest.approx(-1.4094208)


def test_reward_of_2002_of_a_ternary_prediction_by_hand():
    # True class 1: [(1 - log .75/log .5) + (1 - log .5/log .25) + (1 - 1)] / 3
    #             = [(1 - 0.4150375) + 0.5 + 0] / 3
    assert one(information_reward_2002, PREDICTION, 1, PRIOR) == pytest.approx(0.3616542)
    # True class 0: [(1 - log .25/log .5) + (1 - log .5/log .75) + (1 - 1)] / 3
    #             = [-1 - 1.4094208 + 0] / 3
    assert one(information_reward_2002, PREDICTION, 0, PRIOR) == pytest.approx(-0.8031403)


def test_good_reward_of_a_ternary_prediction_by_hand():
    q = [0.125, 0.75, 0.125]
    # 1 + log2(3/4) = log2(3) - 1, and 1 + log2(1/4) = -1.
    assert one(good_reward, q, 1) == pytest.approx(math.log2(3) - 1)
    assert one(good_reward, q, 2) == pytest.approx(-1)


def test_kononenko_bratko_of_a_ternary_prediction_by_hand():
    # True class 1: log .5 - log .25; true class 0: -log(.75) + log(.5); true class 2: q = p.
    assert one(kononenko_bratko, PREDICTION, 1, PRIOR) == pytest.approx(LOG2)
    assert one(kononenko_bratko, PREDICTION, 0, PRIOR) == pytest.approx(math.log(2 / 3))
    assert one(kononenko_bratko, PREDICTION, 2, PRIOR) == 0


def test_every_reward_takes_each_row_by_itself():
    rng = np.random.default_rng(0)
    proba, y = rng.dirichlet(np.ones(4), 50), rng.integers(0, 4, 50)
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    for function in WITH_PRIOR:
        rows = function(proba, y, prior)
        assert rows.shape == (50,)
        np.testing.assert_allclose(
            rows, [one(function, q, c, prior) for q, c in zip(proba, y, strict=True)]
        )


def test_modal_ties_go_to_the_lowest_class():
    # Classes 0 and 1 tie, so class 0 is the answer: right gives 1 + log2(.4), wrong 1 + log2(.6).
    q = [0.4, 0.4, 0.2]
    assert one(good_reward, q, 0) == pytest.approx(1 + math.log2(0.4))
    assert one(good_reward, q, 1) == pytest.approx(1 + math.log2(0.6))
    # With prior (.5, .3, .2), wrong gives 1 - log .6/log .5 = 1 - 0.7369656.
    value = one(information_reward_2002_modal, q, 1, [0.5, 0.3, 0.2])
    assert value == pytest.approx(0.2630344)


# What the authors hold against Good's reward


def test_good_pays_the_lazy_doctor_0_531_bits_a_patient():
    # Hope & Korb 2004, section 3.3: of ten patients one is ill, all are called well at 0.9.
    # 0.9 (1 + log2 .9) + 0.1 (1 + log2 .1) = 0.9 * 0.8479969 - 0.1 * 2.3219281 = 0.5310044
    y = np.array([0] * 9 + [1])
    reward = good_reward(np.tile([0.9, 0.1], (10, 1)), y).mean()
    assert reward == pytest.approx(0.9 * (1 + math.log2(0.9)) + 0.1 * (1 + math.log2(0.1)))
    assert round(reward, 3) == 0.531


def test_the_lazy_doctor_earns_nothing_against_the_prior():
    y = np.array([0] * 9 + [1])
    prior = np.array([0.9, 0.1])
    for function in WITH_PRIOR:
        assert (function(np.tile(prior, (10, 1)), y, prior) == 0).all()


def test_good_punishes_a_right_answer_of_probability_under_one_half():
    # Hope & Korb 2002, section 2: a right answer at 0.4 among three classes; 1 + log2 .4 < 0.
    uniform = np.full(3, 1 / 3)
    assert one(good_reward, [0.4, 0.3, 0.3], 0) < 0
    for function in WITH_PRIOR:
        assert one(function, [0.4, 0.3, 0.3], 0, uniform) > 0


@given(distributions, st.sampled_from("CF"))
def test_uninformed_predictor_scores_exactly_zero(prior, order):
    k = len(prior)
    proba = np.asarray(np.tile(prior, (3 * k, 1)), order=order)
    y = np.arange(3 * k) % k
    for function in WITH_PRIOR:
        assert (function(proba, y, prior) == 0).all()


@given(st.lists(st.floats(1e-6, 1 - 1e-6), min_size=1, max_size=20), st.integers(0, 1))
def test_rewards_of_2002_are_good_s_for_two_classes_and_a_uniform_prior(q, c):
    proba, y, prior = binary_rows(q), np.full(len(q), c), np.array([0.5, 0.5])
    good = good_reward(proba, y)
    np.testing.assert_allclose(information_reward_2002(proba, y, prior), good, atol=1e-9)
    np.testing.assert_allclose(information_reward_2002_modal(proba, y, prior), good, atol=1e-9)


@given(st.lists(st.floats(1e-6, 1 - 1e-6), min_size=1, max_size=20), st.floats(0.05, 0.95))
def test_information_reward_of_two_classes_is_the_log_ratio_of_the_true_class(q, p):
    # With two classes, 1 - q_i of the false class is q_c, so both terms are log(q_c/p_c).
    proba, y = binary_rows(q), np.arange(len(q)) % 2
    prior = np.array([p, 1 - p])
    ratio = np.log(proba[np.arange(len(q)), y] / prior[y])
    np.testing.assert_allclose(information_reward(proba, y, prior), ratio, atol=1e-9)


# Lemmas 1 and 2 and thesis 1 of Hope & Korb 2002. Class 0 is the positive class, prior 0.8.
# Rows 0 and 1 are positive, rows 2 and 3 negative. Products over true positives (w), false
# negatives (z), false positives (x) and true negatives (y) of the probability of the truth:
#   learner 1: w = .75 * .8 = .6, z = 1 (no false negative), x = 1 - .6 = .4, y = .75
#   learner 2: w = .8 * .625 = .5, z = 1, x = 1 (no false positive), y = .875 * .8 = .7
TEST_SET = np.array([0, 0, 1, 1])
LEARNER_1 = binary_rows([0.75, 0.8, 0.6, 0.25])
LEARNER_2 = binary_rows([0.8, 0.625, 0.125, 0.2])
POSITIVE_PRIOR = np.array([0.8, 0.2])


@pytest.mark.parametrize(
    ("learner", "wz", "xy"), [(LEARNER_1, 0.6, 0.3), (LEARNER_2, 0.5, 0.7)], ids=["1", "2"]
)
def test_reversal_learners_have_the_products_of_the_paper(learner, wz, xy):
    assert learner[:2, 0].prod() == pytest.approx(wz)
    assert learner[2:, 1].prod() == pytest.approx(xy)


@pytest.mark.parametrize("function", [information_reward_2002, information_reward_2002_modal])
@pytest.mark.parametrize(
    ("learner", "wz", "xy"), [(LEARNER_1, 0.6, 0.3), (LEARNER_2, 0.5, 0.7)], ids=["1", "2"]
)
def test_cumulative_reward_of_2002_follows_lemma_1(function, learner, wz, xy):
    lemma = 4 - (math.log(wz) / math.log(0.8) + math.log(xy) / math.log(0.2))
    assert function(learner, TEST_SET, POSITIVE_PRIOR).sum() == pytest.approx(lemma)


@pytest.mark.parametrize(
    ("learner", "product"), [(LEARNER_1, 0.18), (LEARNER_2, 0.35)], ids=["1", "2"]
)
def test_cumulative_uniform_reward_follows_lemma_2(learner, product):
    # n + log(wxyz)/log 2 with wxyz = .6 * .3 and .5 * .7
    lemma = 4 + math.log(product) / LOG2
    assert good_reward(learner, TEST_SET).sum() == pytest.approx(lemma)
    uniform = np.array([0.5, 0.5])
    assert information_reward_2002(learner, TEST_SET, uniform).sum() == pytest.approx(lemma)


def test_lemma_1_holds_with_all_four_kinds_of_outcome():
    # TP .9, FN (positive called negative at .7), FP (negative called positive at .55), TN .8
    proba, y = binary_rows([0.9, 0.3, 0.55, 0.2]), np.array([0, 0, 1, 1])
    w, z, x, tn = 0.9, 1 - 0.7, 1 - 0.55, 0.8
    lemma = 4 - (math.log(w * z) / math.log(0.8) + math.log(x * tn) / math.log(0.2))
    for function in (information_reward_2002, information_reward_2002_modal):
        assert function(proba, y, POSITIVE_PRIOR).sum() == pytest.approx(lemma)


def test_prior_reverses_the_ranking_of_two_learners_under_the_rewards_of_2002():
    assert good_reward(LEARNER_1, TEST_SET).sum() < good_reward(LEARNER_2, TEST_SET).sum()
    for function in (information_reward_2002, information_reward_2002_modal):
        first = function(LEARNER_1, TEST_SET, POSITIVE_PRIOR).sum()
        second = function(LEARNER_2, TEST_SET, POSITIVE_PRIOR).sum()
        # Lemma 1: 4 - (2.2892242 + 0.7480704) and 4 - (3.1062837 + 0.2216146)
        assert first == pytest.approx(0.9627054)
        assert second == pytest.approx(0.6721017)
        assert first > second


@pytest.mark.parametrize("p", [0.05, 0.5, 0.8, 0.95])
def test_corrected_reward_of_two_classes_ranks_the_same_whatever_the_prior(p):
    # Its prior terms do not depend on the learner: the difference is log(.18/.35) in any case.
    prior = np.array([p, 1 - p])
    first, second = (information_reward(q, TEST_SET, prior).sum() for q in (LEARNER_1, LEARNER_2))
    assert first - second == pytest.approx(math.log(0.18 / 0.35))


# Where each reward is greatest


@given(three_distributions)
def test_information_reward_is_maximal_at_the_truth(three):
    truth, prior, other = three
    best = expected(information_reward, truth, truth, prior)
    assert best >= expected(information_reward, other, truth, prior) - 1e-12


@given(three_distributions)
def test_information_reward_lost_is_the_mean_divergence_of_each_class_from_the_truth(three):
    # Each class is a yes/no event of its own, whose shortfall is its binary KL divergence.
    t, prior, q = three
    lost = expected(information_reward, t, t, prior) - expected(information_reward, q, t, prior)
    divergence = t * np.log(t / q) + (1 - t) * np.log((1 - t) / (1 - q))
    assert lost == pytest.approx(divergence.mean(), abs=1e-12)


GRID = np.linspace(0.0001, 0.9999, 9999)


def best_on_grid(function, f, p):
    """The probability of class 0 with the greatest expected reward, if it happens with f."""
    prior = np.array([p, 1 - p])
    rows = binary_rows(GRID)
    happens = function(rows, np.zeros(len(GRID), dtype=int), prior)
    fails = function(rows, np.ones(len(GRID), dtype=int), prior)
    return GRID[np.argmax(f * happens + (1 - f) * fails)]


@pytest.mark.parametrize(("f", "p"), [(0.5, 0.8), (0.8, 0.8), (0.3, 0.8), (0.6, 0.1)])
def test_reward_of_2002_is_maximal_where_equation_9_says_and_not_at_the_truth(f, p):
    best = best_on_grid(information_reward_2002, f, p)
    # Hope & Korb 2004, equation 9, f (1 - p') / (p' (1 - f)) = r with r = log p / log(1 - p),
    # solved for p'. For f = .5, p = .8: r = .2231436/1.6094379 = .1386469, p' = .5/.5693234
    # = .8782.
    r = math.log(p) / math.log(1 - p)
    solution = f / (f + (1 - f) * r)
    assert f * (1 - solution) / (solution * (1 - f)) == pytest.approx(r)
    assert best == pytest.approx(solution, abs=1e-4)
    assert abs(best - f) > 0.05


def test_reward_of_2002_sends_a_fair_coin_to_0_8782_under_prior_0_8():
    # From the comment above.
    assert best_on_grid(information_reward_2002, 0.5, 0.8) == pytest.approx(0.8782, abs=1e-4)


@pytest.mark.parametrize(("f", "p"), [(0.5, 0.8), (0.8, 0.8), (0.3, 0.8), (0.6, 0.1)])
def test_information_reward_is_maximal_at_the_truth_on_the_same_grid(f, p):
    assert best_on_grid(information_reward, f, p) == pytest.approx(f, abs=1e-9)


@given(two_distributions)
def test_reward_of_2002_is_maximal_at_the_truth_under_a_uniform_prior(two):
    # With a = log k and b = log(k/(k-1)) its gradient at the truth is (1/a - 1/b)/k in every
    # class, so no direction that keeps the sum at one improves on it; it is concave.
    truth, other = two
    uniform = np.full(len(truth), 1 / len(truth))
    best = expected(information_reward_2002, truth, truth, uniform)
    assert best >= expected(information_reward_2002, other, truth, uniform) - 1e-12


def test_kononenko_bratko_is_not_maximal_at_the_truth():
    # Class 0 has prior .8 and happens with .6. Predicting the truth, .6:
    # .6 [-log .4 + log .2] + .4 [log .4 - log .2] = .6 log .5 + .4 log 2 < 0; predicting .9:
    # .6 [log .9 - log .8] + .4 [-log .9 + log .8] = .2 log(9/8) > 0.
    prior, truth = np.array([0.8, 0.2]), np.array([0.6, 0.4])
    at_truth = expected(kononenko_bratko, truth, truth, prior)
    elsewhere = expected(kononenko_bratko, np.array([0.9, 0.1]), truth, prior)
    assert at_truth == pytest.approx(0.6 * math.log(0.5) + 0.4 * LOG2)
    assert elsewhere == pytest.approx(0.2 * math.log(9 / 8))
    assert elsewhere > at_truth


# Figure 1 of Hope & Korb 2004: three classes, the other two equally likely, class 0 true


def figure_1(function, x, prior, **options):
    x = np.atleast_1d(np.asarray(x, dtype=float))
    proba = np.column_stack([x, (1 - x) / 2, (1 - x) / 2])
    return function(proba, np.zeros(len(x), dtype=int), np.array(prior), **options)


UNIFORM, SKEWED = [1 / 3] * 3, [0.1, 0.45, 0.45]


@pytest.mark.parametrize("prior", [UNIFORM, SKEWED], ids=["uniform", "skewed"])
@pytest.mark.parametrize(
    "function", [information_reward, information_reward_2002, kononenko_bratko]
)
def test_figure_1_curves_rise_and_cross_zero_at_the_prior(function, prior):
    x = np.linspace(0.01, 1, 100)
    assert (np.diff(figure_1(function, x, prior)) > 0).all()
    assert figure_1(function, prior[0], prior) == pytest.approx(0, abs=1e-12)


def test_figure_1_kononenko_bratko_has_a_kink_at_the_prior():
    # Slopes at p' = p = 1/3: 1/(1 - p) = 1.5 from the left, 1/p = 3 from the right.
    h = 1e-6
    left, at, right = figure_1(kononenko_bratko, [1 / 3 - h, 1 / 3, 1 / 3 + h], UNIFORM)
    assert (at - left) / h == pytest.approx(1.5, rel=1e-4)
    assert (right - at) / h == pytest.approx(3, rel=1e-4)


def test_figure_1_information_reward_is_smooth_at_the_prior():
    # It is [log 3x + 2 log(3(1 + x)/4)]/3, of slope [1/x + 2/(1 + x)]/3 = [3 + 1.5]/3 at x = 1/3.
    h = 1e-6
    left, at, right = figure_1(information_reward, [1 / 3 - h, 1 / 3, 1 / 3 + h], UNIFORM)
    assert (at - left) / h == pytest.approx(1.5, rel=1e-4)
    assert (right - at) / h == pytest.approx(1.5, rel=1e-4)


def test_figure_1_old_and_new_reward_are_close_under_the_uniform_prior_in_bits():
    # At x = 1 the old is 1, the new [log2 3 + 2 log2 1.5]/3 = 0.9182958. At x = 0.1 the old is
    # [log .3/log 3 + 2 log .825/log 1.5]/3 = -0.6816, the new [log2 .3 + 2 log2 .825]/3 = -0.7640.
    x = np.linspace(0.1, 1, 91)
    old = figure_1(information_reward_2002, x, UNIFORM)
    new = figure_1(information_reward, x, UNIFORM, base=2)
    assert old[-1] == pytest.approx(1)
    assert new[-1] == pytest.approx(0.9182958)
    assert old[0] == pytest.approx(-0.6816, abs=1e-4)
    assert new[0] == pytest.approx(-0.7640, abs=1e-4)
    assert np.abs(old - new).max() < 0.1


def test_figure_1_old_and_new_reward_part_under_the_skewed_prior():
    # At x = 1 the old is 1 under any prior, the new [log2 10 + 2 log2(1/.55)]/3
    # = [3.3219281 + 2 * 0.8624965]/3 = 1.6823070.
    assert figure_1(information_reward_2002, 1, SKEWED) == pytest.approx(1)
    assert figure_1(information_reward, 1, SKEWED, base=2) == pytest.approx(1.6823070)


def test_figure_2_of_2002_modal_reward_has_a_kink_where_the_mode_changes():
    # Left of 1/3 the mode is a false class of q = (1 - x)/2: 1 - log((1 + x)/2)/log(2/3), of slope
    # 1/((1 + x) log 1.5) = 0.75/0.4054651; right of it 1 - log x/log(1/3), of slope 3/1.0986123.
    h = 1e-6
    x = [1 / 3 - h, 1 / 3 + h]
    left, right = figure_1(information_reward_2002_modal, x, UNIFORM)
    assert -left / h == pytest.approx(1.8497277, rel=1e-4)
    assert right / h == pytest.approx(2.7307177, rel=1e-4)


# Certainty


@pytest.mark.parametrize("function", [information_reward, information_reward_2002])
def test_misplaced_certainty_costs_everything(function):
    assert one(function, [0.0, 1.0, 0.0], 0, PRIOR) == -math.inf  # all on a false class
    assert one(function, [0.0, 0.6, 0.4], 0, PRIOR) == -math.inf  # the truth called impossible
    # A clipped row need not sum to one: a certain false class beside a likely true one.
    assert one(function, [0.5, 1.0, 0.0], 0, PRIOR) == -math.inf


def test_modal_rewards_punish_only_a_certain_mode():
    # Hope & Korb 2002, section 2: the class called impossible is never the modal one.
    # 1 - log(.4)/log(.75) = 1 - 0.9162907/0.2876821 and 1 + log2(.4)
    assert one(information_reward_2002_modal, [0, 0.6, 0.4], 0, PRIOR) == pytest.approx(-2.1850811)
    assert one(good_reward, [0, 0.6, 0.4], 0) == pytest.approx(1 + math.log2(0.4))
    assert one(information_reward_2002_modal, [0.0, 1.0, 0.0], 0, PRIOR) == -math.inf
    assert one(good_reward, [0.0, 1.0, 0.0], 0) == -math.inf


def test_certainty_that_comes_true_earns_a_finite_reward():
    q = [1.0, 0.0, 0.0]
    # [log(1/.5) + 2 log(1/.75)]/3 = [0.6931472 + 0.5753641]/3
    assert one(information_reward, q, 0, PRIOR) == pytest.approx(0.4228371)
    assert one(information_reward_2002, q, 0, PRIOR) == 1
    assert one(information_reward_2002_modal, q, 0, PRIOR) == 1
    assert one(good_reward, q, 0) == 1
    assert one(kononenko_bratko, q, 0, PRIOR) == pytest.approx(LOG2)


def test_kononenko_bratko_never_falls_below_a_floor():
    # -log(1 - 0) + log(1 - p): the finite penalty Hope & Korb object to.
    assert one(kononenko_bratko, [0.0, 1.0, 0.0], 0, PRIOR) == pytest.approx(math.log(0.5))


def test_certain_right_and_certain_wrong_balance_in_kononenko_bratko_at_even_odds():
    right = one(kononenko_bratko, [1.0, 0.0], 0, [0.5, 0.5])
    wrong = one(kononenko_bratko, [0.0, 1.0], 0, [0.5, 0.5])
    assert right + wrong == pytest.approx(0)


def test_probability_that_rounding_put_above_one_counts_as_one():
    above = np.nextafter(1.0, 2.0)
    assert one(information_reward, [0.0, above], 0, [0.5, 0.5]) == -math.inf
    assert one(information_reward, [above, 0.0], 0, [0.5, 0.5]) == pytest.approx(LOG2)


def test_tiny_probability_of_a_false_class_is_not_rounded_away():
    # 1 - 4e-20 is 1 in floating point, but log(1 - 4e-20) is -4e-20. Classes 0 and 2 have q = p:
    # [0 + (-4e-20 + 1e-20) + 0]/3.
    prior = [0.5, 1e-20, 0.5]
    reward = one(information_reward, [0.5, 4e-20, 0.5], 0, prior)
    assert reward == pytest.approx(-1e-20, rel=1e-9, abs=0)


def test_certain_prior_has_the_sign_of_its_limit():
    # As p_c goes to 1, 1 - log q_c/log p_c falls without bound for any q_c < 1.
    assert one(information_reward_2002_modal, [0.9, 0.1], 0, [1.0, 0.0]) == -math.inf
    # log(.9/1) and log((1 - .1)/(1 - 0)) are both log .9.
    assert one(information_reward, [0.9, 0.1], 0, [1.0, 0.0]) == pytest.approx(math.log(0.9))


# Bases


@given(two_distributions, st.integers(0, 1))
def test_base_2_is_base_e_over_the_logarithm_of_2(two, c):
    q, prior = two
    for function in (information_reward, kononenko_bratko):
        natural = one(function, q, c, prior)
        assert one(function, q, c, prior, base=2) == pytest.approx(natural / LOG2)
