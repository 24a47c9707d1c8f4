"""Columns of a frame have the types that their values show, as pandas reads them from a file."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from simstudy.data.schema import Variable
from simstudy.learners.bridges.attribute_frame import attribute_frame, is_whole, typed_labels

CSV = """whole,part,flag,gap,text
1,0.5,False,True,x
20,1,True,,y
3,2,True,False,x
"""


def test_types_are_those_that_pandas_reads():
    variables = (
        Variable("whole"),
        Variable("part"),
        Variable("flag", ("False", "True")),
        Variable("gap", ("False", "True")),
        Variable("text", ("x", "y")),
    )
    rows = np.array([[1, 0.5, 0, 1, 0], [20, 1, 1, np.nan, 1], [3, 2, 1, 0, 0]])
    whole = np.array([True, False, False, False, False])
    frame = attribute_frame(rows, variables, whole)
    expected = pd.read_csv(io.StringIO(CSV))
    expected["text"] = expected["text"].astype(object)
    pd.testing.assert_frame_equal(frame.assign(text=frame["text"].astype(object)), expected)


def test_later_rows_that_are_not_whole_stay_as_they_are():
    for value in (0.5, np.nan):
        column = attribute_frame(np.array([[value]]), [Variable("x")], np.array([True]))["x"]
        np.testing.assert_array_equal(column, [value])


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (("-1", "0", "12"), "i"),
        (("False", "True"), "b"),
        (("007", "8"), "U"),
        (("1", "x"), "U"),
        (("1.5", "2"), "U"),
        ((), "U"),
    ],
)
def test_labels_are_numbers_or_booleans_only_if_all_are_written_so(labels, kind):
    typed = typed_labels(labels)
    assert typed.dtype.kind == kind
    assert tuple(map(str, typed)) == labels


def test_numbers_that_an_integer_cannot_hold_are_not_whole():
    assert is_whole(np.array([-3.0, 0.0, 4.0]))
    for value in (0.5, np.nan, np.inf, 2.0**53):
        assert not is_whole(np.array([1.0, value]))
