"""Seconds over data sets, and the Pareto front against its definition."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.analysis.models.computing_time import pareto_front, total_seconds

# few values, so that many are equal
POINTS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=8)


@given(POINTS, st.booleans())
def test_the_front_has_those_that_none_is_better_than_in_both(points, greater):
    scores = {f"{place}": float(score) for place, (score, _) in enumerate(points)}
    seconds = {f"{place}": float(time) for place, (_, time) in enumerate(points)}

    def beats(a, b):
        gain = scores[a] - scores[b] if greater else scores[b] - scores[a]
        faster = seconds[b] - seconds[a]
        return gain >= 0 and faster >= 0 and (gain > 0 or faster > 0)

    expected = [name for name in scores if not any(beats(rival, name) for rival in scores)]
    front = pareto_front(scores, seconds, greater)
    assert sorted(front) == sorted(expected)
    assert [seconds[name] for name in front] == sorted(seconds[name] for name in front)


def test_learners_without_a_mean_or_a_time_are_not_on_it():
    scores, seconds = {"a": 1.0, "b": math.nan, "c": 2.0}, {"a": 1.0, "b": 0.5, "c": math.nan}
    assert pareto_front(scores, seconds) == ["a"]


def test_seconds_are_medians_of_splits_summed_over_data_sets():
    rows = [("x", "a", 1.0, 2.0), ("x", "a", 3.0, 4.0), ("x", "a", 9.0, 9.0), ("y", "a", 5.0, 1.0)]
    rows += [("x", "b", 1.0, 1.0), ("y", "b", math.nan, math.nan)]
    timings = pd.DataFrame(rows, columns=["dataset", "learner", "fit_seconds", "predict_seconds"])
    totals = total_seconds(timings)
    assert totals["a"] == pytest.approx((3.0 + 4.0) + (5.0 + 1.0))  # medians 3 and 4; 5 and 1
    assert math.isnan(totals["b"])
