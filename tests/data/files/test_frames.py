"""Frames of any library: the same content is the same table."""

# ruff: noqa: PD011 (the values are those of samples)

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simstudy import read_data
from simstudy.data.files.assembly import ReadOptions
from simstudy.data.files.read import data_text, read_data_set
from simstudy.data.rows_to_predict import matched
from simstudy.errors import SimstudyError

LABELS = ["low", "mid", "high"]
WHOLE = st.integers(-(2**53), 2**53)
NUMBERS = st.floats(-1e9, 1e9)
# By kind of column: its values, and its types in pandas, polars and pyarrow.
KINDS = {
    "bool": (st.booleans(), "boolean", pl.Boolean, pa.bool_()),
    "int8": (st.integers(-128, 127), "Int8", pl.Int8, pa.int8()),
    "int64": (WHOLE, "Int64", pl.Int64, pa.int64()),
    "uint64": (st.integers(0, 2**53), "UInt64", pl.UInt64, pa.uint64()),
    "float32": (st.floats(-1e9, 1e9, width=32), "Float32", pl.Float32, pa.float32()),
    "float64": (NUMBERS, "Float64", pl.Float64, pa.float64()),
    "numpy": (NUMBERS, "float64", pl.Float64, pa.float64()),
    "text": (st.sampled_from(["a", "b c", "é", "?", "NA", "3"]), "str", pl.String, pa.string()),
    "long": (st.sampled_from(["u", "v"]), object, pl.String, pa.large_string()),
    "decimal": (
        st.decimals(-1000, 1000, places=2),
        object,
        pl.Decimal(10, 2),
        pa.decimal128(12, 3),
    ),
    "category": (
        st.sampled_from(LABELS),
        pd.CategoricalDtype(LABELS),
        pl.Enum(LABELS),
        pa.dictionary(pa.int8(), pa.string()),
    ),
    "missing": (st.none(), object, pl.Null, pa.null()),
    "arrow": (WHOLE, pd.ArrowDtype(pa.int64()), pl.Int64, pa.int64()),
}
CLASSES = ("p", "q")


@st.composite
def tables(draw):
    """Columns by kind, of values that may be missing, and classes last."""
    rows = draw(st.integers(2, 6))
    kinds = draw(st.lists(st.sampled_from([*KINDS]), min_size=1, max_size=5, unique=True))
    columns = {
        kind: draw(st.lists(KINDS[kind][0] | st.none(), min_size=rows, max_size=rows))
        for kind in kinds
    }
    return {**columns, "class": [CLASSES[row % 2] for row in range(rows)]}


def in_pandas(table):
    series = {
        kind: pd.Series(values, dtype=KINDS[kind][1] if kind in KINDS else None)
        for kind, values in table.items()
    }
    return pd.DataFrame(series)


def in_polars(table):
    return pl.DataFrame(
        {
            kind: pl.Series(values, dtype=KINDS[kind][2] if kind in KINDS else None)
            for kind, values in table.items()
        }
    )


def in_pyarrow(table):
    columns = {}
    for kind, values in table.items():
        if kind == "category":
            codes = [None if value is None else LABELS.index(value) for value in values]
            columns[kind] = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), LABELS)
        else:
            columns[kind] = pa.array(values, KINDS[kind][3] if kind in KINDS else None)
    return pa.table(columns)


class Interchanged:
    """A frame with nothing but the interchange protocol."""

    def __init__(self, table):
        self.table = table

    def __dataframe__(self, *args, **keywords):
        return self.table.__dataframe__(*args, **keywords)


def content(frame, **options):
    """All that is read from a frame, or the sentence that refuses it."""
    try:
        sample = read_data_set(frame, ReadOptions(**options)).sample
    except SimstudyError as error:
        return str(error)
    return sample.schema, sample.values.tobytes()


@given(tables(), st.booleans())
def test_frames_of_equal_content_are_equal_tables(table, all_nominal):
    options = {"nominal": [name for name in table if name != "class"] if all_nominal else []}
    expected = content(in_pandas(table), **options)
    assert content(in_polars(table), **options) == expected
    assert content(in_pyarrow(table), **options) == expected
    texts = {data_text(make(table)) for make in (in_pandas, in_polars, in_pyarrow)}
    assert len(texts) == 1


@given(tables())
def test_a_parquet_file_is_the_frame_it_was_written_from(tmp_path_factory, table):
    path = tmp_path_factory.mktemp("frames") / "my.parquet"
    pq.write_table(in_pyarrow(table), path)
    expected, held = content(in_pyarrow(table)), content(path)
    assert held == expected or str(held).replace(str(path), "the data frame") == expected


def test_a_frame_with_the_interchange_protocol_alone_is_read():
    table = {"a": [1.5, None, 3.0], "word": ["x", None, "y"], "class": ["p", "q", "p"]}
    frame = Interchanged(pa.table(table))
    assert not hasattr(frame, "__arrow_c_stream__")
    assert content(frame) == content(pd.DataFrame(table))


def test_categories_of_polars_that_have_no_order_are_sorted():
    frame = pl.DataFrame(
        {"a": pl.Series(["z", "b", None], dtype=pl.Categorical), "class": ["q", "p", "q"]}
    )
    sample = read_data(frame)
    assert sample.schema.variables[0].values == ("b", "z")
    np.testing.assert_array_equal(sample.values[:, 0], [1, 0, np.nan])


def test_an_index_of_pandas_in_a_table_of_pyarrow_is_no_column():
    frame = pd.DataFrame({"a": [1, 2], "class": ["p", "q"]}, index=[7, 5])
    assert content(pa.Table.from_pandas(frame)) == content(frame)


MOMENT = datetime.datetime(2001, 2, 3)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [MOMENT] * 2, "y": ["p", "q"]}),
        pd.DataFrame({"a": [MOMENT.date()] * 2, "y": ["p", "q"]}),
        pd.DataFrame({"a": pd.array([MOMENT] * 2, pd.ArrowDtype(pa.date32())), "y": ["p", "q"]}),
        pl.DataFrame({"a": [MOMENT - MOMENT] * 2, "y": ["p", "q"]}),
        pl.DataFrame({"a": [MOMENT.date()] * 2, "y": ["p", "q"]}),
        pa.table({"a": [MOMENT.time()] * 2, "y": ["p", "q"]}),
    ],
)
def test_dates_are_refused_unless_ignored(frame):
    with pytest.raises(SimstudyError, match="column 'a': it holds dates or times; ignore it"):
        read_data(frame)
    with pytest.raises(SimstudyError, match="no attribute besides"):
        read_data(frame, ignore=["a"])


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pl.LazyFrame({"a": [1]}), "not from a LazyFrame; collect it first"),
        (pl.DataFrame({"a": [[1], [2]], "y": ["p", "q"]}), "'a': it holds values of type large_"),
        (pl.DataFrame({"a": [b"1", b"2"], "y": ["p", "q"]}), "'a': it holds values of type bytes"),
        (pl.Series([1, 2]), "the polars.Series cannot be read as a data frame: "),
        (pa.table({"a": [2**60 + 1, 1], "y": ["p", "q"]}), "is too large a number"),
        (pd.DataFrame({"a": [2**60 + 1, 1], "y": ["p", "q"]}), "is too large a number"),
    ],
)
def test_frames_that_cannot_be_read_are_refused_in_a_sentence(frame, words):
    with pytest.raises(SimstudyError, match=words):
        read_data(frame)


def test_decimals_are_labels_without_regard_to_their_scale():
    table = {"a": [Decimal("1.10"), Decimal("3.00"), None], "class": ["p", "q", "p"]}
    wide = pa.array(table["a"], pa.decimal128(20, 10))
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pa.table(table | {"a": wide})):
        assert read_data(frame, nominal=["a"]).schema.variables[0].values == ("1.1", "3")


def test_rows_to_predict_may_be_in_any_frame():
    table = {"a": [1.5, None], "word": ["x", "y"], "class": ["p", "q"]}
    schema = read_data(pd.DataFrame(table)).schema
    rows = [matched(frame, schema, None) for frame in (pd.DataFrame(table), pl.DataFrame(table))]
    assert rows[0].values.tobytes() == rows[1].values.tobytes()
