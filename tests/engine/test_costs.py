"""Tables that learners share are charged to each of them."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from simstudy import make_study
from simstudy.data import sample as sample_module
from simstudy.data.sample import Sample
from simstudy.engine import task as task_module
from simstudy.engine.plan import make_plan
from simstudy.engine.task import run_task

# The counting functions of a sample, and seconds that tell their sums apart.
COUNTING = {
    "_count": 1.0,
    "_count_classes": 100.0,
    "_count_slots": 1_000.0,
    "_pairs_at_once": 10_000.0,
    "_pairs_by_products": 100_000.0,
    "_pairs_one_by_one": 1_000_000.0,
    "_find_distinct": 10_000_000.0,
}
LEARNERS = [
    {"name": "prior"},
    {"name": "naive_bayes"},
    {"name": "tan"},
    {"name": "tan", "label": "superparent", "search": "superparent"},
    {"name": "aode"},
    {"name": "kdb", "k": 2},
    {"name": "hnb"},
    {"name": "lbr"},
    {"name": "c45"},
    {"name": "boosted_c45"},
    {"name": "mml_tree"},
    {"name": "mml_graph"},
    {"name": "decision_stump"},
    {"name": "one_r"},
    {"name": "camml"},
    {"name": "camml", "label": "map", "select": "map"},
    {"name": "truth"},
]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Callable[[], float]:
    """A clock that stands still except while a table is counted."""
    now = 0.0

    def slow(count: Callable[..., Any], seconds: float) -> Callable[..., Any]:
        def counting(*arguments: Any) -> Any:
            nonlocal now
            now += seconds
            return count(*arguments)

        return counting

    for name, seconds in COUNTING.items():
        monkeypatch.setattr(Sample, name, slow(getattr(Sample, name), seconds))
    for module in (sample_module, task_module):
        monkeypatch.setattr(module, "perf_counter", lambda: now)
    return lambda: now


def charged(learners: Sequence[dict[str, Any]]) -> dict[tuple[str, int], tuple[float, float]]:
    """The seconds of the cells of one model, by learner and size."""
    study = make_study(
        {
            "name": "costs",
            "seed": 5,
            "models": 2,
            "family": {"name": "tan", "variables": [5, 5], "values": [2, 3]},
            "data": {"train_sizes": [40, 4000], "test_size": 50},
            "learners": list(learners),
        }
    )
    cells = list(run_task(make_plan(study), 0))
    assert all(cell.status == "ok" for cell in cells)
    return {(c.learner, c.size): (c.fit_seconds, c.predict_seconds) for c in cells}


def test_the_order_of_learners_changes_no_charge(clock: Callable[[], float]) -> None:
    alone = {key: value for one in LEARNERS for key, value in charged([one]).items()}
    shuffled = random.Random(1).sample(LEARNERS, len(LEARNERS))
    for order in (LEARNERS, LEARNERS[::-1], shuffled):
        assert charged(order) == alone


def test_learners_are_charged_for_the_tables_that_they_use(clock: Callable[[], float]) -> None:
    seconds = charged(LEARNERS)
    # Naive Bayes: classes and slots. TAN: pairs, whose diagonals are its slots, and classes.
    # TAN by SuperParent: those of TAN, and distinct rows.
    assert seconds["naive_bayes", 40] == (1_100.0, 0.0)
    assert seconds["tan", 40] == (10_100.0, 0.0)
    assert seconds["tan", 4000] == (100_100.0, 0.0)
    assert seconds["superparent", 4000] == (10_100_100.0, 0.0)
    assert seconds["truth", 40] == (0.0, 0.0)
    # The network of five variables is counted as it predicts.
    assert seconds["map", 40] == (0.0, 5.0)


def test_shared_tables_are_counted_once(clock: Callable[[], float]) -> None:
    before = clock()
    shared = charged([{"name": "naive_bayes"}, {"name": "naive_bayes", "label": "again"}])
    assert clock() - before == 2 * 1_100.0  # one time for each training size
    assert shared["naive_bayes", 40] == shared["again", 40] == (1_100.0, 0.0)


def test_a_table_is_charged_once_to_each_user(clock: Callable[[], float]) -> None:
    rng = np.random.default_rng(3)
    cards, rows = (3, 2, 3, 2), 20_000
    sample = Sample(rng.integers(0, cards, (rows, 4)), cards, rng.random(rows))
    first = sample.metered()
    pairs = first.pair_counts  # from the slots and the tables of three pairs with the target
    assert first.shared_seconds == 0.0
    second = sample.metered()
    second.counts(0, 3, 1)
    assert second.shared_seconds == 1.0  # the table of variables 0, 1 and 3, in any order
    assert second.pair_counts is pairs
    second.counts(1, 0, 3)
    assert second.slot_counts is first.slot_counts
    assert second.shared_seconds == 1_001_003.0
    assert second.distinct.weights is not None
    assert second.shared_seconds == 1_001_003.0
    assert first.distinct.codes is second.distinct.codes
    assert first.shared_seconds == 10_000_000.0
