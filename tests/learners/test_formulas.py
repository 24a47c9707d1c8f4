"""Learners compute the published estimates, written out here in exact fractions."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.learners.base import Learner
from simstudy.learners.baselines import Prior
from simstudy.learners.bayes import aode
from simstudy.learners.bayes.aode import AODE
from simstudy.learners.bayes.naive_bayes import NaiveBayes
from simstudy.learners.bayes.tan import TAN
from simstudy.measures.scores.rewards import information_reward

Row = tuple[int, ...]


class Data:
    """Rows to be counted one by one."""

    def __init__(self, rows: list[Row], cards: Row) -> None:
        self.rows, self.cards, self.k = rows, cards, cards[-1]
        self.target = len(cards) - 1

    def n(self, *wanted: tuple[int, int]) -> Fraction:
        return Fraction(sum(all(row[v] == x for v, x in wanted) for row in self.rows))


def prior_score(data: Data, x: Row, c: int, alpha: Fraction) -> Fraction:
    return (data.n((data.target, c)) + alpha) / (data.n() + data.k * alpha)


def naive_bayes_score(data: Data, x: Row, c: int, alpha: Fraction) -> Fraction:
    y = (data.target, c)
    return prior_score(data, x, c, alpha) * prod(
        (data.n(y, (i, value)) + alpha) / (data.n(y) + data.cards[i] * alpha)
        for i, value in enumerate(x)
    )


def tan_score(data: Data, x: Row, c: int, alpha: Fraction, tree: list[int | None]) -> Fraction:
    score = prior_score(data, x, c, alpha)
    for i, parent in enumerate(tree):
        given = [(data.target, c)] + ([] if parent is None else [(parent, x[parent])])
        score *= (data.n(*given, (i, x[i])) + alpha) / (data.n(*given) + data.cards[i] * alpha)
    return score


def aode_score(data: Data, x: Row, c: int, m: Fraction | None, min_frequency: int) -> Fraction:
    y, r = (data.target, c), data.cards
    scores = []
    for i, value in enumerate(x):
        if data.n((i, value)) < min_frequency:
            continue
        n_parent = data.n(y, (i, value))
        if m is None:
            score = (n_parent + 1) / (data.n() + data.k * r[i])
        else:
            score = (n_parent + m / (data.k * r[i])) / (data.n() + m)
        for j, other in enumerate(x):
            if j == i:
                continue
            n_both = data.n(y, (i, value), (j, other))
            if m is None:
                score *= (n_both + 1) / (n_parent + r[j])
            else:
                score *= (n_both + m / r[j]) / (n_parent + m)
        scores.append(score)
    if not scores:
        return naive_bayes_score(data, x, c, Fraction(1))
    return sum(scores, Fraction(0)) / len(scores)


def data_sets() -> dict[str, Data]:
    rng = np.random.default_rng(2004)

    def draw(rows: int, cards: Row, classes: int) -> Data:
        codes = rng.integers(0, (*cards[:-1], classes), size=(rows, len(cards)))
        return Data([tuple(row) for row in codes.tolist()], cards)

    return {
        "ordinary": draw(12, (2, 3, 2, 3), 3),
        "an absent class": draw(9, (3, 2, 3), 2),
        "one row": draw(1, (2, 3, 2), 2),
        "one attribute": draw(8, (4, 3), 3),
        "an attribute of one value": draw(8, (1, 3, 2), 2),
        "absent values": Data([(0, 1, 0), (0, 1, 1), (2, 1, 1), (2, 1, 0)], (4, 3, 2)),
        "frequent values": Data([(0, 0, 0)] * 31 + [(1, 0, 1)] * 5 + [(0, 1, 1)] * 4, (2, 2, 2)),
    }


DATA = data_sets()
ONE, HALF = Fraction(1), Fraction(1, 2)
Score = Callable[[Data, Row, int], Fraction]
CASES: list[tuple[Learner, Score]] = [
    (Prior(), lambda d, x, c: prior_score(d, x, c, HALF) / prod(d.cards[:-1])),
    (Prior(alpha=1), lambda d, x, c: prior_score(d, x, c, ONE) / prod(d.cards[:-1])),
    (NaiveBayes(), lambda d, x, c: naive_bayes_score(d, x, c, ONE)),
    (NaiveBayes(alpha=0.5), lambda d, x, c: naive_bayes_score(d, x, c, HALF)),
    (AODE(), lambda d, x, c: aode_score(d, x, c, None, 1)),
    (AODE(min_frequency=0), lambda d, x, c: aode_score(d, x, c, None, 0)),
    (AODE(min_frequency=5), lambda d, x, c: aode_score(d, x, c, None, 5)),
    (AODE(min_frequency=30), lambda d, x, c: aode_score(d, x, c, None, 30)),
    (AODE(m=1), lambda d, x, c: aode_score(d, x, c, ONE, 1)),
    (AODE(m=0.5, min_frequency=3), lambda d, x, c: aode_score(d, x, c, HALF, 3)),
]


def agrees(learner: Learner, data: Data, score: Score) -> None:
    """Compare on every possible row, both the joint and the posterior."""
    rows = list(product(*map(range, data.cards[:-1])))
    exact = [[score(data, x, c) for c in range(data.k)] for x in rows]
    posterior = [[float(s / sum(scores)) for s in scores] for scores in exact]
    fitted = learner.fit(Sample(data.rows, data.cards))
    np.testing.assert_allclose(fitted.predict_proba(np.array(rows)), posterior, rtol=1e-12)
    log_joint = fitted.log_joint(np.array(rows))  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.exp(log_joint), np.array(exact, dtype=float), rtol=1e-12)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize(
    ("learner", "score"),
    CASES,
    ids=[repr(learner) for learner, _ in CASES],
)
def test_probabilities_are_those_of_the_formula(name: str, learner: Learner, score: Score) -> None:
    agrees(learner, DATA[name], score)


@pytest.mark.parametrize("alpha", [HALF, ONE])
@pytest.mark.parametrize("tree", [[None, 0, 1], [1, 2, None], [2, 0, None], [None, None, None]])
def test_tan_probabilities_are_those_of_the_formula(
    alpha: Fraction, tree: list[int | None]
) -> None:
    learner = TAN(alpha=float(alpha), tree=tree)
    agrees(learner, DATA["ordinary"], lambda d, x, c: tan_score(d, x, c, alpha, tree))


@pytest.mark.parametrize("search", ["cmi", "superparent", "likelihood"])
@pytest.mark.parametrize("name", DATA)
def test_tan_uses_the_tree_it_says_it_found(name: str, search: str) -> None:
    data = DATA[name]
    learner = TAN(search=search)  # type: ignore[arg-type]
    tree = learner.fit(Sample(data.rows, data.cards)).tree
    agrees(learner, data, lambda d, x, c: tan_score(d, x, c, HALF, list(tree)))


def test_a_tan_without_arcs_is_naive_bayes() -> None:
    data = DATA["ordinary"]
    sample = Sample(data.rows, data.cards)
    codes = np.array(list(product(*map(range, data.cards[:-1]))))
    tan = TAN(alpha=1, tree=(None, None, None)).fit(sample)
    np.testing.assert_allclose(
        tan.predict_proba(codes), NaiveBayes().fit(sample).predict_proba(codes), rtol=1e-12
    )


@pytest.mark.parametrize(("how", "value"), [("_SMALL", 1.0), ("_BLOCK_SIZE", 1)])
@pytest.mark.parametrize("name", DATA)
def test_aode_is_the_same_by_logarithms_and_in_smaller_parts(
    name: str, how: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aode, how, value)
    for learner, score in CASES:
        if isinstance(learner, AODE):
            agrees(learner, DATA[name], score)


def test_aode_of_many_attributes_has_no_number_too_small() -> None:
    # Every attribute repeats the class in 9 of 10 rows: the answer is sure, and finite.
    target = np.arange(40) % 2
    flipped = (np.arange(40)[:, None] + np.arange(400)) % 10 == 0
    sample = Sample(np.column_stack([target[:, None] ^ flipped, target]), (2,) * 401)
    fitted = AODE().fit(sample)
    rows = np.array([[0] * 400, [1] * 400])
    assert np.isfinite(fitted.log_joint(rows)).all()
    assert fitted.log_joint(rows).max(axis=1).max() < -30
    np.testing.assert_allclose(fitted.predict_proba(rows), np.eye(2), atol=1e-12)


def test_aode_answers_as_naive_bayes_where_no_value_is_frequent_enough() -> None:
    data = DATA["ordinary"]
    sample = Sample(data.rows, data.cards)
    codes = np.array(list(product(*map(range, data.cards[:-1]))))
    aode = AODE(m=1, min_frequency=30).fit(sample)
    np.testing.assert_array_equal(
        aode.predict_proba(codes), NaiveBayes().fit(sample).predict_proba(codes)
    )


def test_no_rows_at_all_leave_naive_bayes_uniform() -> None:
    sample = Sample(np.empty((0, 3), dtype=int), (2, 3, 4))
    for learner in (Prior(), NaiveBayes(), AODE(), AODE(m=1), TAN(tree=(None, 0))):
        proba = learner.fit(sample).predict_proba(np.array([[0, 2], [1, 1]]))
        np.testing.assert_allclose(proba, 0.25, rtol=1e-12)


@pytest.mark.parametrize("rows", [1, 7, 50])
def test_the_uninformed_learner_earns_nothing(rows: int) -> None:
    rng = np.random.default_rng(rows)
    codes = rng.integers(0, (2, 3, 4), size=(rows, 3))
    sample = Sample(codes, (2, 3, 4))
    prior = (sample.class_counts + 0.5) / (rows + 2)
    test = rng.integers(0, (2, 3), size=(200, 2))
    proba = Prior(alpha=0.5).fit(sample).predict_proba(test)
    reward = information_reward(proba, rng.integers(0, 4, size=200), prior=prior)
    np.testing.assert_allclose(reward, 0, atol=1e-15)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: NaiveBayes(alpha=0), "alpha = 0 is not allowed; it must be above 0"),
        (lambda: Prior(alpha=-1), "alpha = -1 is not allowed"),
        (lambda: TAN(alpha=0), "alpha = 0 is not allowed"),
        (lambda: TAN(search="cmii"), "search = 'cmii' is not allowed; it must be one of cmi, sup"),
        (lambda: AODE(m=0), "m = 0 is not allowed; it must be above 0 and finite, or left out"),
        (lambda: AODE(min_frequency=-1), "min_frequency = -1 is not allowed"),
        (lambda: TAN(tree=(1, 0)), "its arcs must not form a cycle"),
        (lambda: TAN(tree=(0,)), "its arcs must not form a cycle"),
        (lambda: TAN(tree=(None, 2)), "parents go from 0 to 1, or -1 for none"),
        (lambda: TAN(tree=(None, -2)), "parents go from 0 to 1"),
    ],
)
def test_parameters_out_of_range_are_refused_in_words(
    make: Callable[[], Learner], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: NaiveBayes(alpha=float("inf")),
        lambda: Prior(alpha=float("inf")),
        lambda: TAN(alpha=float("inf")),
        lambda: AODE(m=float("inf")),
    ],
)
def test_infinite_smoothing_is_refused(make: Callable[[], Learner]) -> None:
    with pytest.raises(ValueError, match="not allowed"):
        make()


def test_a_tree_of_another_size_is_refused() -> None:
    sample = Sample([[0, 0, 0]], (2, 2, 2))
    with pytest.raises(ValueError, match="a parent for each of the 2 attributes"):
        TAN(tree=(None, 0, 1)).fit(sample)


def test_a_tree_may_say_minus_one_for_no_parent() -> None:
    assert TAN(tree=[-1, 0]) == TAN(tree=(None, 0))
    assert hash(TAN(tree=[-1, 0])) == hash(TAN(tree=(None, 0)))


@pytest.mark.parametrize("codes", [[[0]], [[0, 0, 0]], [0, 0], [[0, 3]], [[-2, 0]]])
def test_rows_that_do_not_fit_are_refused(codes: list[object]) -> None:
    fitted = NaiveBayes().fit(Sample([[0, 0, 0]], (2, 3, 2)))
    with pytest.raises(ValueError, match=r"codes must have one column|attribute"):
        fitted.predict_proba(np.array(codes))
