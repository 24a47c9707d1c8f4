"""Batches hand out every task once, and grow with how quickly tasks are done."""

from hypothesis import given
from hypothesis import strategies as st

from simstudy.engine.workers.batches import Batches


@given(
    tasks=st.integers(0, 2000),
    workers=st.integers(1, 40),
    seconds=st.floats(1e-6, 100),
)
def test_every_task_is_handed_out_once_and_in_order(
    tasks: int, workers: int, seconds: float
) -> None:
    every = [(model, None) for model in range(tasks)]
    batches = Batches(every, workers)
    handed = []
    for batch in batches:
        assert batch
        handed += batch
        batches.note(len(batch), seconds * len(batch))
    assert handed == every


def test_batches_of_quick_tasks_grow_and_those_of_slow_ones_do_not() -> None:
    for seconds, largest in ((0.001, 256), (0.01, 30), (1.0, 1)):
        batches = Batches([(model, None) for model in range(100_000)], 2)
        sizes = []
        for batch in batches:
            sizes.append(len(batch))
            batches.note(len(batch), seconds * len(batch))
        assert sizes[0] == 1  # nothing is known yet
        assert max(sizes) == largest


def test_the_last_tasks_are_shared_among_the_workers() -> None:
    batches = Batches([(model, None) for model in range(1000)], 4)
    sizes = []
    for batch in batches:
        sizes.append(len(batch))
        batches.note(len(batch), 1e-6)
    # No batch is more than a third of one worker's share of what was left.
    left = 1000
    for size in sizes:
        assert size <= -(-left // 12)
        left -= size
    assert sizes[-1] == 1
