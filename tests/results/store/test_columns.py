"""Cells held as columns are the cells that were added, the latest of each."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy import make_study
from simstudy.engine.plan import Plan, make_plan
from simstudy.engine.task import Cell
from simstudy.results.store.columns import Columns


def small_plan(models: int) -> Plan:
    return make_plan(
        make_study(
            {
                "name": "small",
                "models": models,
                "family": {"name": "tan"},
                "data": {"train_sizes": [20, 60]},
                "learners": [{"name": "naive_bayes", "label": "NB"}, {"name": "aode"}],
                "measures": {"also": ["accuracy"]},
            }
        )
    )


PLAN = small_plan(5)
LABELS = [part.label for part in PLAN.learners]
numbers = st.floats(-5, 5) | st.just(float("nan")) | st.just(float("-inf"))
some_cells = st.builds(
    Cell,
    model=st.integers(0, 6),  # the last two are not the plan's
    size=st.sampled_from([20, 60, 500]),
    learner=st.sampled_from([*LABELS, "another"]),
    values=st.tuples(numbers, numbers),
    status=st.sampled_from(["ok", "error", "timeout"]),
    fit_seconds=numbers,
    predict_seconds=numbers,
    warning=st.sampled_from(["", "", "UserWarning: hm"]),
)


@settings(deadline=None)
@given(st.lists(some_cells, max_size=60))
def test_the_tables_are_those_of_the_latest_cells(cells: list[Cell]) -> None:
    columns = Columns(PLAN)
    latest: dict[tuple[int, int, int], Cell] = {}
    for cell in cells:
        columns.add(cell)
        if cell.model < 5 and cell.size in (20, 60) and cell.learner in LABELS:
            latest[cell.model, cell.size, LABELS.index(cell.learner)] = cell
    assert columns.present.sum() == len(latest)
    for key in ((m, s, i) for m in range(5) for s in (20, 60) for i in range(2)):
        if key not in latest:
            cell = Cell(key[0], key[1], LABELS[key[2]], (0.5, 0.5), fit_seconds=1.0)
            latest[key] = cell
            columns.add(cell)
    ordered = [latest[key] for key in sorted(latest)]
    scores = columns.scores().to_pandas()
    rewards, accuracies = zip(*(cell.values for cell in ordered), strict=True)  # noqa: PD011
    expected = pd.DataFrame(
        {
            "family": "tan",
            "model": [cell.model for cell in ordered],
            "size": [cell.size for cell in ordered],
            "learner": [cell.learner for cell in ordered],
            "information_reward": rewards,
            "accuracy": accuracies,
            "status": [cell.status for cell in ordered],
        }
    )
    pd.testing.assert_frame_equal(scores, expected, check_dtype=False)
    timings = columns.timings().to_pandas()
    assert [*timings] == ["model", "size", "learner", "fit_seconds", "predict_seconds"]
    seconds = [(cell.fit_seconds, cell.predict_seconds) for cell in ordered]
    np.testing.assert_array_equal(timings[["fit_seconds", "predict_seconds"]], seconds)
    assert columns.failures() == [cell for cell in ordered if cell.status != "ok"]
    warned = [f"{cell.learner}: {cell.warning}" for cell in ordered if cell.warning]
    assert sorted(columns.warnings().elements()) == sorted(warned)
