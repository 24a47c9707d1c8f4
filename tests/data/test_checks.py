"""Columns that would mislead learners are named; rows that allow no advice are refused."""

from __future__ import annotations

import numpy as np
import pytest

from simstudy import SimstudyError, read_data
from simstudy.data.checks import check_usable, few_rows, screened
from simstudy.data.preparation.prepare import suggested_preparation
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable

RNG = np.random.default_rng(0)
ROWS = 120
CLASSES = RNG.integers(3, size=ROWS)


def table(*columns: tuple[str, np.ndarray, bool], classes: np.ndarray = CLASSES) -> Sample:
    """A sample of columns: name, values, and whether they are numbers."""
    variables, values = [], []
    for name, column, numeric in (*columns, ("class", classes, False)):
        codes = np.unique(column, return_inverse=True)[1]
        labels = tuple(map(str, range(codes.max() + 1)))
        variables.append(Variable(name) if numeric else Variable(name, labels))
        values.append(column if numeric else codes)
    return Sample.of(
        np.asfortranarray(np.stack(values, axis=1), dtype=float), Schema(tuple(variables))
    )


def check(sample: Sample) -> None:
    """Refuse a table that allows no advice."""
    check_usable(sample, screened(sample), "t.csv")


GOOD = ("good", RNG.integers(4, size=ROWS), False)
MEASURED = ("measured", RNG.normal(CLASSES, 1.0), True)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (("id", np.arange(ROWS) + 7.0, True), "identifiers"),
        (("id", RNG.permutation(ROWS) + 1.0, True), "identifiers"),
        (("name", np.array([f"n{i}" for i in range(ROWS)]), False), "identifiers"),
        (("copy", CLASSES, False), "copies"),
        (("copy", CLASSES * 2.0, True), "copies"),
        (("score", CLASSES * 10 + RNG.random(ROWS), True), "copies"),
        (("same", np.ones(ROWS), True), "constants"),
    ],
)
def test_a_column_that_misleads_is_named(column, kind):
    found = screened(table(GOOD, MEASURED, column))
    assert getattr(found, kind) == (column[0],)
    assert found.suspects == (column[0],)
    if kind != "constants":
        assert screened(table(GOOD, MEASURED, column), [column[0]]).suspects == ()


def test_ordinary_columns_stay():
    assert screened(table(GOOD, MEASURED)).suspects == ()


def test_a_table_of_identifiers_alone_is_refused():
    with pytest.raises(SimstudyError, match="no attribute is left: 'id'"):
        check(table(("id", np.arange(ROWS) + 0.0, True)))


def test_few_rows_are_refused_and_not_many_are_noted():
    sample = table(GOOD, MEASURED)
    with pytest.raises(SimstudyError, match=r"t.csv has 20 rows, and advice needs at least 50"):
        check(sample.take(np.arange(20)))
    assert "60 rows" in few_rows(sample.take(np.arange(60)))[0]


def test_a_number_as_target_is_refused():
    with pytest.raises(SimstudyError, match="120 different values"):
        check(table(GOOD, classes=np.arange(ROWS)))
    (text,) = screened(table(GOOD, classes=np.arange(ROWS))).sentences()
    assert "the target has 120 classes" in text


def test_a_rare_class_is_noted():
    classes = np.where(np.arange(ROWS) < 3, 2, CLASSES % 2)
    assert "“2” (3)" in few_rows(table(GOOD, classes=classes))[-1]


def test_a_target_of_one_class_is_refused():
    sample = table(GOOD)
    with pytest.raises(SimstudyError, match="one class"):
        check(sample.take(np.flatnonzero(sample.target == 0).repeat(2)))


def test_numbers_are_cut_by_description_length_unless_that_finds_no_cuts(tmp_path):
    assert suggested_preparation(table(GOOD, MEASURED)).discretize == "mdl"
    noise = [(f"x{i}", RNG.normal(size=ROWS), True) for i in range(3)]
    assert suggested_preparation(table(*noise)).discretize == "equal_frequency"
    path = tmp_path / "gaps.csv"
    path.write_text("a,class\nx,p\n,q\ny,p\n")
    assert suggested_preparation(read_data(path)).missing == "value"
