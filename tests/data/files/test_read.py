"""Reading of data files: formats, kinds of variables, orders of values, missing values."""

# ruff: noqa: PD011 (the values are those of samples)

from __future__ import annotations

import csv
import gzip
import io
import re
import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import arff as scipy_arff

from simstudy import SimstudyError, read_data
from simstudy.data.checks import oddities, rare_classes, screened
from simstudy.data.files.assembly import ReadOptions
from simstudy.data.files.columns import is_number
from simstudy.data.files.read import data_text, read_data_set, read_text_set
from simstudy.data.preparation.discretize import Discretizer
from simstudy.data.preparation.missing import Imputer
from simstudy.data.sample import Sample
from simstudy.learners import AODE, HNB, KDB, LBR, TAN, NaiveBayes

TEXT = "age,colour,class\n31,red,b\n4.5,,a\n?,green,b\n"


def schema(sample: Sample) -> dict[str, tuple[str, ...] | None]:
    return {variable.name: variable.values for variable in sample.schema.variables}


def labels(sample: Sample, place: int) -> list[str | None]:
    values = sample.schema.variables[place].values
    return [None if code < 0 else values[code] for code in sample.codes[:, place]]


@pytest.fixture
def write(tmp_path):
    def write(data, name="my.csv"):
        path = tmp_path / name
        path.write_bytes(data.encode("utf-8") if isinstance(data, str) else data)
        return path

    return write


def test_numbers_labels_and_missing_values_of_a_csv_file(write):
    sample = read_data(write(TEXT))
    assert schema(sample) == {"age": None, "colour": ("green", "red"), "class": ("a", "b")}
    nan = np.nan
    np.testing.assert_array_equal(sample.values, [[31, 1, 1], [4.5, nan, 0], [nan, 0, 1]])


@pytest.mark.parametrize(
    "encode",
    [
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: text.encode("utf-32"),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.replace("\n", "\r").encode(),
        lambda text: text.replace(",", ";").encode(),
        lambda text: text.replace(",", "\t").encode(),
        lambda text: text.replace(",", "|").encode(),
        lambda text: text.replace(",", " , ").encode(),
        lambda text: text.replace("\n", "\n\n  \n").encode(),
        lambda text: text.removesuffix("\n").encode(),
        lambda text: text.replace("red", '"red"').replace("class", '"class"').encode(),
        lambda text: gzip.compress(text.encode()),
    ],
)
def test_the_same_table_written_otherwise(write, encode):
    expected = read_data(write(TEXT))
    for name in ("my.txt", "my.csv.gz"):
        sample = read_data(write(encode(TEXT), name))
        assert sample.schema == expected.schema
        np.testing.assert_array_equal(sample.values, expected.values)


def test_separator_and_encoding_can_be_given(write):
    path = write("größe_klasse\n1,5_ä\n2,5_ö\n".encode("latin-1"))
    sample = read_data(path, separator="_", encoding="latin-1")
    assert schema(sample) == {"größe": ("1,5", "2,5"), "klasse": ("ä", "ö")}


def test_a_decimal_comma_does_not_hide_the_separator(write):
    sample = read_data(write("a;b;class\n1,5;2,5;x\n3,5;4,5;y\n"))
    assert [*schema(sample)] == ["a", "b", "class"]


def test_labels_stay_as_they_are_written(write):
    sample = read_data(write("a,b,class\n01,True,1\n1.0,FALSE,0\n1,x,1\n"), nominal=["a"])
    assert schema(sample) == {
        "a": ("01", "1", "1.0"),
        "b": ("FALSE", "True", "x"),
        "class": ("0", "1"),
    }


@pytest.mark.parametrize(
    ("cells", "numeric"),
    [
        (["1", "-2.5", "+3", ".5", "5.", "1e3", "-1E-3"], True),
        (["1", "?", "", "2"], True),
        (["?", "", "?"], True),  # no known value is no finite number
        (["1", "x"], False),
        (["1", "nan"], True),
        (["1", "NA", "nan", "null", "-", "N/A"], True),
        (["NA", "nan"], False),
        (["1", "NA", "x"], False),
        (["1", "inf"], False),
        (["1", "1_000"], False),
        (["1", "٣"], False),  # a digit, but not one of ours
        (["1", "0x10"], False),
        (["1", "1e"], False),
    ],
)
def test_what_makes_an_attribute_numeric(write, cells, numeric):
    rows = "".join(f"{cell},z,{'pq'[row % 2]}\n" for row, cell in enumerate([*cells, "?"]))
    sample = read_data(write(f"a,z,class\n{rows}"))
    assert sample.schema.variables[0].numeric == numeric
    if numeric:
        expected = [float(cell) if is_number(cell) else np.nan for cell in [*cells, "?"]]
        np.testing.assert_array_equal(sample.values[:, 0], expected)


def test_declarations_of_the_caller(write):
    path = write("id,n,m,when,class\n1,7,u,x,b\n2,8,v,x,a\n3,7,NA,y,b\n")
    with pytest.warns(UserWarning, match=r"1 row without a target dropped: line 4"):
        sample = read_data(
            path,
            "m",
            nominal="n",
            ignore=["id"],
            values={"class": ["b", "a", "c"]},
            missing_values=["NA"],
            groups="when",
        )
    assert schema(sample) == {"n": ("7", "8"), "class": ("b", "a", "c"), "m": ("u", "v")}
    np.testing.assert_array_equal(sample.values, [[0, 0, 0], [1, 1, 1]])
    assert sample.groups.tolist() == [0, 0]


def test_groups_stay_when_rows_are_prepared(write):
    sample = read_data(write("g,a,b,class\nz,1,,p\ny,2,u,q\nz,3,u,p\n"), groups="g")
    for step in (Discretizer, Imputer):
        assert step.fit(sample)(sample).groups.tolist() == [1, 0, 1]


def test_groups_go_with_their_rows(write):
    sample = read_data(write("g,a,class\nz,1,p\ny,2,q\nz,3,p\n10,4,q\n"), groups="g")
    assert sample.groups.tolist() == [2, 1, 2, 0]
    assert sample.take([3, 0]).groups.tolist() == [0, 2]
    assert sample.copy().groups.tolist() == [2, 1, 2, 0]
    assert read_data(write(TEXT)).groups is None


def test_a_declared_value_is_not_missing(write):
    sample = read_data(write("a,class\n?,p\nx,q\n"), values={"a": ["x", "?"]})
    assert labels(sample, 0) == ["?", "x"]


def test_markers_of_missing_values_may_look_like_numbers(write):
    path = write("a,class\n-9,p\n 1,q\n -9,p\n")
    np.testing.assert_array_equal(
        read_data(path, missing_values=["-9"]).values[:, 0], [np.nan, 1, np.nan]
    )
    frame = pd.DataFrame({"a": [-9, 1], "class": ["p", "q"]})
    np.testing.assert_array_equal(read_data(frame, missing_values=["-9"]).values[:, 0], [np.nan, 1])


def test_large_integers_that_are_exact_are_numbers(write):
    sample = read_data(write(f"a,class\n{2**60},p\n1e300,q\n"))
    assert sample.values[:, 0].tolist() == [2.0**60, 1e300]
    rounded = read_data(write(f"a,class\n{2**60 + 1},p\n3,q\n"), numeric=["a"])
    assert rounded.values[0, 0] == 2.0**60


def test_rows_without_a_target_are_counted_and_named(write):
    path = write('a,class\n"1\n1",p\n\n2,\n3,q\n4,?\n')
    found = read_data_set(path)
    assert found.without_target == ("line 5", "line 7")
    assert found.rows.tolist() == [0, 2]
    assert len(found.sample) == 2
    with pytest.warns(
        UserWarning, match=r"my\.csv: 2 rows without a target dropped: line 5, line 7"
    ):
        read_data(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_data(write(TEXT))


def test_a_variable_without_known_values_can_be_counted_and_learned_from(write):
    path = write("a,b,class\n,x,p\n,y,q\n,x,p\n")
    assert read_data(path).schema.variables[0].numeric
    sample = read_data(path, nominal=["a"])
    assert schema(sample)["a"] == ()
    assert sample.counts(2, 0).tolist() == [[0], [0]]  # as of a value that never occurs
    assert len(sample.distinct) == 2
    fewer = read_data(path, ignore=["a"])
    np.testing.assert_array_equal(sample.pair_counts[:, 1:, 1:], fewer.pair_counts)
    np.testing.assert_array_equal(sample.slot_counts[:, 1:], fewer.slot_counts)
    for learner in (NaiveBayes(), AODE(), TAN(), TAN(search="superparent"), KDB(), HNB(), LBR()):
        with_it, without = (learner.fit(one).predict_proba(one) for one in (sample, fewer))
        assert np.isfinite(with_it).all()
        assert with_it.shape == without.shape


ARFF = r"""% a comment
@RELATION 'a test'
@attribute "a b" {x, 'it\'s', "q", 'u, v' ,}
@ATTRIBUTE n REAL      % another
@attribute s string
@attribute m INTEGER
@attribute class {no,yes}

@data
% and another
x, 1.5, "hi, there", -3, no   % at the end of a line
'it\'s',?,foo,?,yes
'u, v'	2	"\u00e4\\"	4	yes
{1 3, 2 "z z", 4 yes}
"""


def test_an_arff_file(write):
    sample = read_data(write(ARFF, "my.arff"))
    assert schema(sample) == {
        "a b": ("x", "it's", "q", "u, v"),
        "n": None,
        "s": ("foo", "hi, there", "z z", "ä\\"),
        "m": None,
        "class": ("no", "yes"),
    }
    nan = np.nan
    expected = [[0, 1.5, 1, -3, 0], [1, nan, 0, nan, 1], [3, 2, 3, 4, 1], [0, 3, 2, 0, 1]]
    np.testing.assert_array_equal(sample.values, expected)


def test_arff_files_as_scipy_reads_them(write):
    rng = np.random.default_rng(1)
    rows = [
        f"{rng.normal():.6g},{rng.choice([*'cab'])},{rng.integers(9)},{rng.choice([*'vu'])}"
        for _ in range(50)
    ]
    text = "@relation r\n@attribute x real\n@attribute f {c,a,b}\n@attribute i integer\n"
    text += "@attribute y {v,u}\n@data\n" + "\n".join(rows) + "\n"
    data, meta = scipy_arff.loadarff(io.StringIO(text))
    sample = read_data(write(gzip.compress(text.encode()), "my.arff.gz"))
    assert schema(sample) == {"x": None, "f": meta["f"][1], "i": None, "y": meta["y"][1]}
    for place, name in enumerate(("x", "f", "i", "y")):
        if sample.schema.variables[place].numeric:
            np.testing.assert_array_equal(sample.values[:, place], data[name])
        else:
            assert labels(sample, place) == [cell.decode() for cell in data[name]]


def test_tabs_and_spaces_between_the_values_of_an_arff_file(write):
    head = "@relation r\n@attribute a {x,'y z'}\n@attribute b real\n@attribute c {p,q}\n@data\n"
    lines = ["x,1,p", "x\t1\tp", "x \t 1 ,\tp", "'x'\t,1\t,p", '"x" , 1\t\tp % end', " x,1 , 'p' "]
    sample = read_data(write(head + "\n".join([*lines, "'y z',2,q"]), "my.arff"))
    np.testing.assert_array_equal(sample.values, [[0, 1, 0]] * len(lines) + [[1, 2, 1]])


def test_a_date_may_be_ignored_and_a_numeric_target_is_nominal(write):
    text = '@relation r\n@attribute d date "yyyy-MM-dd"\n@attribute x real\n@attribute y numeric\n'
    sample = read_data(write(text + "@data\n2001-02-03,1,10\n?,2,9\n", "my.arff"), ignore=["d"])
    assert schema(sample) == {"x": None, "y": ("9", "10")}


FRAME = pd.DataFrame(
    {
        "number": [1.5, np.nan, 3.0],
        "whole": pd.array([1, None, 3], dtype="Int64"),
        "single": np.array([0.1, 0.2, 0.1], dtype=np.float32),
        "flag": [True, False, True],
        "size": pd.Categorical(["mid", None, "low"], ["low", "mid", "high"]),
        "text": ["b", None, "a"],
        "target": [2.0, 1.0, 2.0],
    }
)


@pytest.mark.parametrize("kind", ["frame", "parquet"])
def test_the_types_of_a_frame_and_of_a_parquet_file(tmp_path, kind):
    source = FRAME
    if kind == "parquet":
        source = tmp_path / "my.parquet"
        FRAME.set_index(pd.Index([5, 3, 9])).to_parquet(source)  # its index is no column
    sample = read_data(source)
    assert schema(sample) == {
        "number": None,
        "whole": None,
        "single": None,
        "flag": ("False", "True"),
        "size": ("low", "mid", "high"),
        "text": ("a", "b"),
        "target": ("1", "2"),
    }
    tenth, fifth, nan = float(np.float32(0.1)), float(np.float32(0.2)), np.nan
    np.testing.assert_array_equal(
        sample.values,
        [[1.5, 1, tenth, 1, 1, 1, 1], [nan, nan, fifth, 0, nan, nan, 0], [3, 3, tenth, 1, 0, 0, 1]],
    )
    assert schema(read_data(source, nominal=["single"]))["single"] == ("0.1", "0.2")
    assert schema(read_data(source, nominal=["size"]))["size"] == ("low", "mid", "high")


def test_a_frame_read_by_pandas_is_the_file(write):
    path = write(TEXT)
    frame = pd.read_csv(path, na_values=["?"])
    assert read_data(frame).schema == read_data(path).schema
    np.testing.assert_array_equal(read_data(frame).values, read_data(path).values)


def test_mixed_objects_of_a_frame_are_text():
    frame = pd.DataFrame({"a": [1, "x", None, 2.0], "b": [1, "2", 3.5, "?"], "y": list("pqpq")})
    sample = read_data(frame)
    assert schema(sample) == {"a": ("1", "2", "x"), "b": None, "y": ("p", "q")}


def test_an_index_and_categories_of_numbers_in_a_parquet_file(tmp_path):
    frame = pd.DataFrame({"a": pd.Categorical([3, 1, 3]), "y": list("pqp")})
    frame.index = pd.Index(["u", "v", "w"], name="id")  # written as the last column
    frame.to_parquet(tmp_path / "my.parquet")
    expected = {"a": ("1", "3"), "y": ("p", "q")}
    assert schema(read_data(tmp_path / "my.parquet")) == schema(read_data(frame)) == expected
    table = pq.read_table(tmp_path / "my.parquet")
    for notes in (b"{", b"[]", b'{"index_columns": 3}', b'{"index_columns": [], "columns": [1]}'):
        pq.write_table(table.replace_schema_metadata({"pandas": notes}), tmp_path / "my.parquet")
        assert schema(read_data(tmp_path / "my.parquet"))["id"] == ("u", "v", "w")


def test_large_numbers_as_labels_have_an_exponent():
    frame = pd.DataFrame({"a": [1e300, -(2.0**60), 3.0], "y": list("pqp")})
    assert schema(read_data(frame, nominal=["a"]))["a"] == (f"-{2**60}", "1e+300", "3")


def test_columns_of_a_frame_may_be_numbered():
    frame = pd.DataFrame({0: list("pqp"), 1: [1, 2, 3], 2: list("uvv"), 3: list("xyx")})
    sample = read_data(frame, target=0, ignore=[1], values={2: ["v", "u"]}, groups=3)
    assert schema(sample) == {"2": ("v", "u"), "0": ("p", "q")}
    assert sample.groups.tolist() == [0, 1, 0]


def test_a_parquet_dictionary_in_several_chunks_keeps_its_order(tmp_path):
    chunks = [
        pa.DictionaryArray.from_arrays([0, 1], ["z", "a"]),
        pa.DictionaryArray.from_arrays([0, None], ["m"]),
    ]
    table = pa.table({"d": pa.chunked_array(chunks), "y": ["p", "q", "p", "q"]})
    pq.write_table(table, tmp_path / "my.parquet")
    sample = read_data(tmp_path / "my.parquet")
    assert schema(sample)["d"] == ("z", "a", "m")
    assert labels(sample, 0) == ["z", "a", "m", None]


CELLS = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufeff"), max_size=6)


@given(st.lists(st.tuples(CELLS, CELLS, st.sampled_from("pq")), min_size=2, max_size=8))
def test_any_text_comes_back(tmp_path_factory, rows):
    rows = [*rows, ("x", "y", "p"), ("x", "y", "q")]
    path = tmp_path_factory.mktemp("any") / "my.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([("a", "b", "class"), *rows])
    sample = read_data(path, nominal=["a", "b"], separator=",")
    for place in (0, 1):
        stripped = [row[place].strip() for row in rows]
        assert labels(sample, place) == [None if cell in ("", "?") else cell for cell in stripped]
    assert labels(sample, 2) == [row[2] for row in rows]


@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=False, allow_infinity=False), st.booleans(), st.integers(-99, 99)
        ),
        min_size=2,
        max_size=9,
    )
)
def test_numbers_come_back_to_the_last_digit(tmp_path_factory, rows):
    rows = [*rows, (0.5, True, 1), (0.5, False, 1)]
    path = tmp_path_factory.mktemp("any") / "my.csv"
    lines = [f"{x!r},{'' if not y else n},{'pq'[y]}" for x, y, n in rows]
    path.write_text("\n".join(["x,n,class", *lines]))
    sample = read_data(path, numeric=["x"])
    np.testing.assert_array_equal(sample.values[:, 0], [x for x, _, _ in rows])
    np.testing.assert_array_equal(sample.values[:, 1], [n if y else np.nan for _, y, n in rows])


def test_a_sample_that_was_read_can_be_learned_from(write):
    text = "a,b,class\n" + "".join(
        f"{'xyz'[i % 3]},{'uv'[i % 2]},{'pq'[i % 2]}\n" for i in range(30)
    )
    sample = read_data(write(text))
    assert sample.plain
    answers = NaiveBayes().fit(sample).predict_proba(sample)
    np.testing.assert_array_equal(answers.argmax(axis=1), sample.target)


def test_what_is_odd_is_named(write):
    rows = "".join(
        f"r{i},{i + 100},{i * i % 7},{'NA' if i == 3 else i % 5},k,,'1,5',{'pq'[i % 2]}\n".replace(
            "'", '"', 2
        )
        for i in range(20)
    )
    text = (
        "id,number,x,almost,single,none,comma,7\n"
        + rows
        + rows.splitlines()[0]
        + "\n1,2,3,4,k,,2,\n3,4,5,6,k,,3,r\n"
    )
    found = read_data_set(write(text), ReadOptions())
    assert oddities(found) == [
        "1 row without a target dropped: line 23",
        "columns are named like values (7); does the file begin with the names of its columns?",
        "'NA' among numbers is taken for a missing value: almost",
        "numbers with a decimal comma are taken for labels: comma",
        "1 column names the rows, as identifiers do: id; leave out (ignore), unless known before "
        "the class (keep) or shared by rows that belong together (groups)",
        "2 columns have a single value or none: single, none",
        "1 row equal to an earlier row, target included; if copies of one case are in the training "
        "and the test part, scores are too high",
    ]
    assert rare_classes(found.sample) == ["1 class with one row: r"]
    unique = "".join(f"r{i},{i + 100},{i}.5,{i * 7 % 20},{'pq'[i % 2]}\n" for i in range(20))
    path = write(f"id,number,x,m,class\n{unique}")
    assert oddities(read_data_set(path))[0].startswith(
        "3 columns name the rows, as identifiers do: id, number, m; "
    )
    assert oddities(read_data_set(path, ReadOptions(ignore="id", keep=["m", "number"]))) == []
    rows = "".join(f"{i},{i * i},q\n" for i in range(1, 10))
    found = read_data_set(
        write(f"a,b,class\n1,1,p\n-0.0,0,q\n0,-0,q\n{rows}"),
        ReadOptions(values={"class": ["p", "q", "r"]}),
    )
    assert oddities(found)[0].startswith("1 row equal to an earlier row")
    assert rare_classes(found.sample) == ["1 class without rows: r", "1 class with one row: p"]


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (
            pd.DataFrame({"a": [1, np.inf], "y": ["p", "q"]}),
            r"the data frame, row 1 \(counted from 0\), column 'a': inf is not",
        ),
        (
            pd.DataFrame({"a": [[1], [2]], "y": ["p", "q"]}),
            "column 'a': it holds values of type list; ignore it",
        ),
        (
            pd.DataFrame({"a": pd.to_datetime(["2001-01-01"] * 2), "y": ["p", "q"]}),
            "holds dates or times",
        ),
        (
            pd.DataFrame({"a": [2**60 + 1, 1], "y": ["p", "q"]}),
            f"'{2**60 + 1}' is too large a number to be held exactly",
        ),
        (
            pd.DataFrame({"a": pd.Categorical([1, "1"]), "y": ["p", "q"]}),
            "two of its values are written alike",
        ),
        (
            pd.DataFrame([[1, 2, "p"], [1, 2, "q"]], columns=["a", "a", "y"]),
            "2 columns are named 'a'",
        ),
        (pd.DataFrame({"y": ["p", "q"]}), "no attribute besides the target 'y'"),
        (pd.DataFrame(), "no column is left"),
        ([[1, 2], [3, 4]], "a path or a data frame, not from a list"),
    ],
)
def test_frames_that_cannot_be_used_are_refused(frame, words):
    with pytest.raises(SimstudyError, match=words):
        read_data(frame)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"classes": {"x": ["a"], "y": ["a"]}}, "classes names the class 'a' twice"),
        (
            {"classes": {"x": ["aa"], "y": ["b"]}},
            r"classes\.x names the class 'aa', which is not there; did you mean 'a'\?",
        ),
        ({"classes": {"x": ["a", "b"]}}, "has one class, 'x'; two are needed"),
        (
            {"classes": {"x": ["c"], "y": ["d"]}, "values": {"class": list("abcd")}},
            "no row has a class that 'classes' names",
        ),
        ({"values": {"colour": "red"}}, r"values\.colour: it must be a list of values"),
        (
            {"values": {"colour": None}},
            r"values\.colour: it must be a list of names, not a NoneType",
        ),
        ({"values": ["colour"]}, "values must be a mapping from names to lists, not a list"),
        ({"classes": ["a"]}, "classes must be a mapping from names to lists, not a list"),
        ({"classes": {"x": 5}}, r"classes\.x: it must be a list of names, not a int"),
        ({"nominal": None}, "nominal: it must be a list of names, not a NoneType"),
        ({"ignore": 10**5000}, "ignore: it must be a list of names, not a int"),
        ({"missing_values": 5}, "missing_values: it must be a list of names, not a int"),
        ({"target": 10**5000}, "target: it has a number of too many digits$"),
        ({"keep": ["colr"]}, r"keep names the column 'colr', which .*'colour'"),
        ({"keep": ["age"], "ignore": ["age"]}, "'age' cannot be both keep and ignore"),
        ({"values": {"colour": ["red", "red"]}}, "values of 'colour' must be a list"),
        (
            {"values": {"colour": ["red"]}},
            r"line 4, column 'colour': 'green' is none of the declared values: red",
        ),
        ({"values": {"color": ["red"]}}, r"values names the column 'color', which .*'colour'"),
        ({"values": {"age": ["1"]}, "numeric": ["age"]}, "'age' cannot be both values and numeric"),
        ({"numeric": ["class"]}, "'class' cannot be both target and numeric"),
        ({"values": {"colour": []}}, "'red' is none of the declared values: none"),
    ],
)
def test_keywords_that_do_not_fit_are_refused(write, options, words):
    with pytest.raises(SimstudyError, match=words):
        read_data(write(TEXT), **options)


def test_frames_hold_numbers_of_any_size_and_kind():
    classes = list("pq" * 3)
    sample = read_data(pd.DataFrame({"a": [1, Decimal("sNaN"), 3] * 2, "class": classes}))
    np.testing.assert_array_equal(sample.values[:, 0], [1, np.nan, 3] * 2)
    for number in (10**5000, Fraction(10**5000)):
        frame = pd.DataFrame({"a": [number, 1] * 3, "class": classes}, dtype=object)
        with pytest.raises(SimstudyError, match="column 'a': it holds a number of too many digits"):
            read_data(frame)
    with pytest.raises(
        SimstudyError, match=r"the name of column 1 is a number of too many digits$"
    ):
        read_data(pd.DataFrame({10**5000: [1, 2] * 3, "class": classes}))


@pytest.mark.parametrize("share", [0.05, 0.5, 0.9])
@pytest.mark.parametrize("marker", ["Na", "nan", "NULL", "-", "–", "*", r"\N", "n.a.", "unknown"])
def test_markers_among_numbers_are_missing_values_at_any_share(write, marker, share):
    rng = np.random.default_rng(0)
    gaps = rng.random(200) < share
    cells = [
        marker if gap else f"{number:.4f}"
        for gap, number in zip(gaps, rng.random(200), strict=True)
    ]
    lines = [f"{cell},{'pq'[row % 2]}\n" for row, cell in enumerate(cells)]
    path = write("x,class\n" + "".join(lines))
    with pytest.warns(UserWarning, match=f"'{re.escape(marker)}' among numbers is taken"):
        sample = read_data(path)
    assert sample.schema.variables[0].numeric
    np.testing.assert_array_equal(np.isnan(sample.values[:, 0]), gaps)
    # the copy that a family of fitted networks keeps is read alike
    copy = read_text_set(data_text(path), ReadOptions("class")).sample
    np.testing.assert_array_equal(copy.values, sample.values)
    as_labels = read_data_set(path, ReadOptions(missing_values=["", "?"]))
    assert not as_labels.sample.schema.variables[0].numeric
    assert any(
        f"'x' would be numeric but for '{marker}' ({gaps.mean():.0%} of the rows); " in text
        for text in oddities(as_labels)
    )


def test_labels_that_look_like_markers_are_named_and_stay(write):
    path = write("a,class\n" + "red,p\nNA,q\nblue,p\n" * 4)
    found = read_data_set(path)
    assert found.sample.schema.variables[0].values == ("NA", "blue", "red")
    assert "'a' has the label 'NA'; a marker of missing values?" in oddities(found)
    declared = read_data_set(path, ReadOptions(values={"a": ["NA", "blue", "red"]}))
    assert not any("marker" in text for text in oddities(declared))


@pytest.mark.parametrize("share", [0.05, 0.3, 0.9])
@pytest.mark.parametrize("number", ["{:.4f}", "{:.1f}"])
def test_few_different_texts_among_numbers_are_named(write, number, share):
    rng = np.random.default_rng(0)
    strange = rng.random(200) < share
    cells = np.where(strange, "TBD", [number.format(x) for x in rng.random(200)])
    path = write("x,class\n" + "".join(f"{cell},{'pq'[i % 2]}\n" for i, cell in enumerate(cells)))
    found = read_data_set(path)
    sentence = (
        f"'x' would be numeric but for 'TBD' ({strange.mean():.0%} of the rows); name it in "
        "missing_values if it marks missing values"
    )
    assert [text for text in oddities(found) if "equal to" not in text] == [sentence]
    left_out = screened(found.sample)
    if left_out.identifiers:
        assert f"{sentence}; left out unless named in keep" in oddities(found, left_out)
    assert (
        read_data_set(path, ReadOptions(missing_values=["TBD"])).sample.schema.variables[0].numeric
    )


def test_labels_among_which_are_numbers_are_no_numbers(write):
    rows = "2,low,NA,p\n4,1,NA,q\nmore,2,NA,p\n" * 4
    found = read_data_set(write("persons,size,none,class\n" + rows))
    assert [text for text in oddities(found) if "label" in text or "numeric" in text] == [
        "'none' has the label 'NA'; a marker of missing values?"
    ]
    several = "".join(f"{row},p\nTBD,q\nn/a,q\n" for row in range(20))
    (text, *_) = oddities(read_data_set(write("x,class\n" + several)))
    assert text == (
        "'x' would be numeric but for 'TBD', 'n/a' (67% of the rows); name them in missing_values "
        "if they mark missing values"
    )
    markers = "".join(f"{row}.5,{'pq'[row % 2]}\nNA,p\nn/a,q\n" for row in range(20))
    (text, *_) = oddities(read_data_set(write("x,class\n" + markers)))
    assert text == "'NA', 'n/a' among numbers are taken for missing values: x"


@pytest.mark.parametrize("number", ["{}", "{}.5", '"{},5"'])
def test_a_marker_does_not_hide_that_a_target_is_a_number(write, number):
    rows = "".join(f"{row % 3},{number.format(row)}\n" for row in range(51)) + "1,Na\n"
    with pytest.raises(
        SimstudyError,
        match=r"'y' has 51 different numbers, more than 50; name another column in target, "
        r"or declare it nominal or give classes",
    ):
        read_data(write("a,y\n" + rows))


def test_a_target_of_many_numbers_must_be_declared(write):
    path = write("a,y\n" + "".join(f"{row % 3},{row}\n" for row in range(51)))
    with pytest.raises(
        SimstudyError, match="the target 'y' has 51 different numbers, more than 50"
    ):
        read_data(path)
    assert read_data_set(path, ReadOptions(nominal=["y"])).sample.classes == 51
    low, high = [*map(str, range(25))], [*map(str, range(25, 51))]
    assert read_data_set(path, ReadOptions(classes={"low": low, "high": high})).sample.classes == 2
    fewer = write("a,y\n" + "".join(f"{row % 3},{row % 50}\n" for row in range(100)))
    assert read_data_set(fewer).sample.classes == 50


def test_rows_that_occur_twice_are_counted(write):
    rng = np.random.default_rng(1)
    rows = [
        f"{rng.random():.6f},{rng.integers(99)},{rng.integers(4)},{'pq'[rng.integers(2)]}"
        for _ in range(60)
    ]
    text = "x,y,z,class\n" + "\n".join([*rows, *rows[:7], rows[0]])
    assert "8 rows equal to an earlier row" in oddities(read_data_set(write(text)))[0]
    assert oddities(read_data_set(write("x,y,z,class\n" + "\n".join(rows)))) == []
    for one, two in ("uv", "12"):  # four different rows are possible
        few = "a,class\n" + f"{one},p\n{two},p\n{one},q\n{two},q\n" * 5
        assert oddities(read_data_set(write(few))) == []
    gaps = [row.partition(",")[2] for row in rows]
    text = "x,y,z,class\n" + "\n".join([*rows, *(f",{gap}" for gap in gaps[:5] * 2)])
    assert "5 rows equal to an earlier row" in oddities(read_data_set(write(text)))[0]
