"""What is written as ARFF text is read again as the same rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy.data.files.arff import sample_text
from simstudy.data.files.assembly import ReadOptions
from simstudy.data.files.read import read_text_set
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.errors import SimstudyError

NAN = float("nan")
NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=4)
VALUES = st.lists(NAMES.filter(str.strip), min_size=2, max_size=4, unique=True)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def samples(draw: st.DrawFn) -> Sample:
    """Small samples of odd names, values and numbers, some of which are missing."""
    names = draw(st.lists(NAMES.filter(str.strip), min_size=2, max_size=4, unique=True))
    variables = [Variable(names[0])]
    variables += [Variable(name, tuple(draw(VALUES))) for name in names[1:]]
    cells = [
        st.just(NAN) | (FLOATS if one.values is None else st.integers(0, len(one.values) - 1))
        for one in variables[:-1]
    ]
    rows = draw(st.lists(st.tuples(*cells, st.integers(0, 1)), min_size=1, max_size=5))
    first = (1.5, *[0] * (len(names) - 1))  # else every value of every attribute may be missing
    return Sample.of(np.array([first, *rows], dtype=float), Schema(tuple(variables)))


@given(samples())
def test_rows_come_back_as_they_were(sample: Sample) -> None:
    read = read_text_set(sample_text(sample), ReadOptions()).sample
    assert read.schema == sample.schema
    np.testing.assert_array_equal(read.values, sample.values)


def test_a_missing_value_stays_missing_beside_a_question_mark_that_is_a_value() -> None:
    schema = Schema((Variable("x", ("?", "z")), Variable("y", ("a", "b"))))
    sample = Sample.of([[NAN, 0], [0, 1], [1, 1]], schema)
    read = read_text_set(sample_text(sample), ReadOptions()).sample
    np.testing.assert_array_equal(read.values, sample.values)


def test_a_missing_value_beside_both_marks_of_one_is_refused() -> None:
    schema = Schema((Variable("x", ("", "?")), Variable("y", ("a", "b"))))
    known = Sample.of([[0, 0], [1, 1]], schema)
    read = read_text_set(sample_text(known), ReadOptions()).sample
    np.testing.assert_array_equal(read.values, known.values)
    with pytest.raises(SimstudyError, match="'x' has the values '' and '\\?'"):
        sample_text(Sample.of([[NAN, 0], [1, 1]], schema))
