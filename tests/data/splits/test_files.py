"""Files of splits."""

import csv
import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simstudy.data.splits.files import read_splits
from simstudy.data.splits.schemes import Bootstrap, CrossValidation, Holdout, LeaveOneOut
from simstudy.errors import SimstudyError

GOLDEN = Path(__file__).parents[2] / "golden" / "real" / "resampling"
ROWS = {"iris": 150, "labor-neg": 57, "glass": 214}


@pytest.mark.parametrize("name", ROWS)
def test_golden_splits_have_their_training_and_test_rows(name):
    splits = read_splits(GOLDEN / "splits.csv.gz", ROWS[name], name)
    lines = csv.DictReader((GOLDEN / "sizes.csv").read_text().splitlines())
    expected = {
        (5 if line["scheme"] == "10" else int(line["rep"]) - 1, int(line["fold"])): (
            int(line["n_train"]),
            int(line["n_test"]),
        )
        for line in lines
        if line["set"] == name
    }
    assert len(splits) == len(expected) == 20
    found = {(s.repeat, s.fold): (len(s.train), len(s.test)) for s in splits}
    assert [*found] == sorted(found)
    assert found == expected


def test_a_column_says_where_a_row_is_tested():
    first = read_splits(GOLDEN / "splits.csv.gz", 150, "iris")[0]
    assert first.test[:4].tolist() == [0, 3, 4, 9]  # the first zeros of rep1
    assert first.train[:4].tolist() == [1, 2, 5, 6]


def test_golden_bootstrap_rows_are_read_as_bags(tmp_path):
    file, lines = tmp_path / "bags.csv", ["row,repeat,fold,part"]
    bags = {}
    for line in csv.DictReader((GOLDEN / "bootstrap_rows.csv").read_text().splitlines()):
        bags[int(line["b"])] = bag = [int(row) for row in line["rows"].split()]
        lines += [f"{row},{line['b']},0,train" for row in bag]
        lines += [f"{row},{line['b']},0,test" for row in range(57) if row not in bag]
    file.write_text("\n".join(lines))
    splits = read_splits(file, 57)
    assert {split.repeat: split.train.tolist() for split in splits} == bags
    assert all({*split.test} == {*range(57)} - {*split.train} for split in splits)


def lines_of(splits, named):
    """The lines of a file of splits; without the column ``part``, every row is tested once."""
    yield f"set,row,repeat,fold{',part' * named}\n"
    for key, given_splits in splits.items():
        for split in given_splits:
            for part, rows in {"train": split.train, "test": split.test}.items():
                if named or part == "test":
                    end = f"{split.repeat},{split.fold}{f',{part}' * named}"
                    yield from (f'"{key}",{row},{end}\n' for row in rows)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(
        [CrossValidation(2, 5), CrossValidation(3), Holdout(0.7, 3), Bootstrap(3), LeaveOneOut()]
    ),
    st.lists(st.integers(0, 2), min_size=3, max_size=20),
    st.integers(0, 10**6),
    st.sampled_from(["splits.csv", "splits.csv.gz"]),
)
def test_splits_of_any_scheme_are_read_as_they_are(tmp_path, scheme, target, seed, name):
    sets = {"a, b": target, "c": [0, *target]}
    splits = {key: scheme.splits(y, np.random.default_rng(seed)) for key, y in sets.items()}
    text = "".join(lines_of(splits, named=not isinstance(scheme, CrossValidation)))
    content = gzip.compress(text.encode()) if name.endswith(".gz") else text.encode()
    (tmp_path / name).write_bytes(content)
    for key, y in sets.items():
        again = read_splits(tmp_path / name, len(y), key)
        assert len(again) == len(splits[key])
        for split, copy in zip(splits[key], again, strict=True):
            assert (copy.repeat, copy.fold) == (split.repeat, split.fold)
            np.testing.assert_array_equal(copy.train, split.train)
            np.testing.assert_array_equal(copy.test, split.test)


def test_order_of_lines_and_columns_does_not_matter(tmp_path):
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("row,repeat,fold\n0,0,0\n1,0,1\n2,0,1\n0,1,1\n1,1,0\n2,1,1\n")
    second.write_bytes(
        b"\xef\xbb\xbffold,row,repeat\r\n1,2,1\r\n\r\n0,1,1\r\n1,0,1\r\n1,2,0\r\n"
        b" 1, 1, 0\r\n0,0,0\r\n"
    )
    for one, other in zip(read_splits(first, 3), read_splits(second, 3), strict=True):
        assert (one.repeat, one.fold) == (other.repeat, other.fold)
        np.testing.assert_array_equal(one.tested, other.tested)


PARTS = "row,repeat,fold,part\n"
WRONG = {
    "": "the file is empty; its first line must name the columns",
    "id,rep\n0,1\n": "a file of splits needs the column 'row'; its columns are id, rep",
    "row\n0\n": "a file of splits needs a column of folds for each repeat",
    "row,a\n": "the file has no splits, only a header",
    "row,a,a\n0,1,1\n": "line 1: two columns are named 'a'",
    "row,fold\n0,1\n": "the column 'repeat' is missing",
    "row,repeat\n0,1\n": "the column 'fold' is missing",
    "row,part\n0,1\n": "the column 'repeat' is missing",
    "row,a\n0,0\n1\n2,1\n": "line 3: it has 1 value, and line 1 names 2 columns",
    "row,a\n0,0\n1,x\n2,1\n": "line 3, column 'a': 'x' must be a whole number from 0",
    "row,a\n0,0\n1,1.0\n2,1\n": "line 3, column 'a': '1.0' must be a whole number from 0",
    "row,a\n0,0\n1,-1\n2,1\n": "line 3, column 'a': '-1' must be a whole number from 0",
    "row,a\n0,0\n1,\n2,1\n": "line 3, column 'a': '' must be a whole number from 0",
    "row,a\n0,0\n1,\u0663\n2,1\n": "line 3, column 'a': '\u0663' must be a whole number from 0",
    "row,a\n0,0\n1,99999999999999999999\n": "'99999999999999999999' is too large; it must be 0 to",
    "row,a\n0,0\n1,1\n3,1\n": "line 4, column 'row': '3' is too large; the rows of the data",
    "row,a\n0,0\n1,1\n1,1\n": "line 4, column 'a': row 1 occurs twice in repeat 0",
    "row,a\n0,0\n1,1\n1,0\n": "line 4, column 'a': the folds of repeat 0 overlap: row 1 is in",
    "row,a\n0,0\n2,1\n": "repeat 0 lacks 1 of the 3 rows, first row 1",
    "row,a\n0,0\n1,0\n2,0\n": "repeat 0 has only one fold, 0; at least 2 are needed",
    "row,repeat,fold\n0,0,0\n1,0,1\n2,0,1\n0,1,1\n": "repeat 1 lacks 2 of the 3 rows, first row 1",
    "row,repeat,fold\n0,0,0\n1,0,1\n2,0,1\n0,0,1\n": "the folds of repeat 0 overlap: row 0 is in",
    PARTS + "0,0,0,testing\n": "line 2, column 'part': 'testing' must be train, test or unused",
    PARTS + "0,0,0,train\n0,0,0,test\n": "line 3, column 'row': row 0 is in two parts of repeat 0",
    PARTS + "0,0,0,test\n0,0,0,test\n": "line 3, column 'row': row 0 is tested twice in repeat",
    PARTS + "0,0,0,test\n1,0,0,train\n": "repeat 0, fold 0 lacks 1 of the 3 rows, first row 2",
    PARTS + "0,0,0,test\n1,0,0,test\n2,0,0,test\n": "repeat 0, fold 0 has no training rows",
    PARTS + "0,0,0,train\n1,0,0,train\n2,0,0,train\n": "repeat 0, fold 0 has no test rows",
    'row,a\n0,"0\n1,1\n2,1\n': "line 2: a quotation mark is opened and not closed",
    "set,row,a\niriss,0,0\niriss,1,1\niriss,2,0\n": "no lines of the data set 'iris'; did you mean",
}


@pytest.mark.parametrize(("text", "message"), WRONG.items())
def test_wrong_files_get_one_sentence(tmp_path, text, message):
    file = tmp_path / "splits.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SimstudyError) as caught:
        read_splits(file, 3, "iris")
    assert str(caught.value).startswith(str(file))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_one_of_several_data_sets_must_be_named(tmp_path):
    file = tmp_path / "splits.csv"
    file.write_text("set,row,a\nx,0,0\nx,1,1\ny,0,1\ny,1,0\n")
    with pytest.raises(SimstudyError, match="name one of its data sets: x, y"):
        read_splits(file, 2)
    assert read_splits(file, 2, "y")[0].test.tolist() == [1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read: No such file"),
        (b"row,a\n0,\xff\n", "it is neither a gzip file nor text"),
        (
            gzip.compress(b"row,a\n0,0\n1,1\n" * 50, mtime=0)[:-12],
            "cannot be uncompressed: Compressed file ended",
        ),
        (b"\x1f\x8b" + b"x" * 30, "cannot be uncompressed: "),
    ],
)
def test_unreadable_files_get_one_sentence(tmp_path, content, message):
    file = tmp_path / "splits.csv.gz"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SimstudyError, match=message):
        read_splits(file, 3)
