"""`simstudy data`: what is in a file, and one sentence about each that cannot be used."""

from __future__ import annotations

import gzip
import io
import re
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from simstudy.advice.advise import read_table
from simstudy.advice.prose import left_out
from simstudy.data.files.assembly import ReadOptions
from simstudy.data.files.read import read_data_set

ROOT = Path(__file__).parents[2]
UCI = ROOT / "studies" / "data" / "uci"

GOOD = "age,colour,class\n31,red,b\n45,green,a\n7,green,b\n"
ARFF = "@relation r\n@attribute x real\n@attribute y {p,q}\n@data\n"
ODD = """id,length,code,same,class
a1,1.5,0,k,p
a2,2.5,NA,k,q
a3,,1,k,p
a4,1.5,2,k,p
a5,3.5,1,k,
a6,1.5,2,k,q
a7,1.5,1,k,rare
a8,0.5,3,k,q
a9,1.5,4,k,p
b1,1.5,5,k,p
b2,1.5,6,k,p
b3,1.5,7,k,q
"""


def parquet(**columns: object) -> bytes:
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    return stream.getvalue()


def test_the_schema_missing_values_and_classes_are_printed(command):
    done = command("data", UCI / "crx.csv.gz")
    assert (done.returncode, done.stderr) == (0, "")
    text = " ".join(done.stdout.split())
    assert "690 rows, 15 attributes (6 numeric, 9 nominal), 67 missing values" in text
    assert "target 'class' with 2 classes" in text
    lines = done.stdout.splitlines()
    assert "A1        nominal       12  2: a, b" in lines
    assert "A2        numeric       12  13.75 to 80.25" in lines
    assert "+           307   44.5%" in lines
    assert "Warnings:" not in lines


def test_what_is_odd_is_printed(command, tmp_path):
    (tmp_path / "odd.csv").write_text(ODD)
    done = command("data", "odd.csv")
    assert (done.returncode, done.stderr) == (0, "")
    heading, odd = done.stdout.split("Warnings:")
    assert "odd.csv: 11 rows, 4 attributes (2 numeric, 2 nominal), 2 missing values;" in heading
    for words in (
        "1 row without a target dropped: line 6",
        "'NA' among numbers is taken for a missing value: code",
        "1 column has a single value or none: same",
        "1 class with one row: rare",
    ):
        assert words in " ".join(odd.split())
    again = command("data", "odd.csv", "--missing", "NA", "--missing", "", "--ignore", "id")
    assert "code      numeric        1  0 to 7" in again.stdout.splitlines()
    assert "1 row equal to an earlier row" not in again.stdout  # the codes of equal rows differ
    third = command("data", "odd.csv", "--ignore", "id", "--groups", "code", "--nominal", "length")
    assert "1.5" in third.stdout
    assert "equal to an earlier row" not in third.stdout  # ten rows of nine combinations
    assert "; 9 groups of rows" in " ".join(third.stdout.split())


def test_a_label_of_nothing_can_be_seen(command, tmp_path):
    (tmp_path / "my.csv").write_text("a,b,class\n,NA,p\nx,NA,\n")
    done = command("data", "my.csv", "--missing", "NA", "--nominal", "b")
    lines = done.stdout.splitlines()
    assert "a         nominal        0  2: '', x" in lines
    assert "b         nominal        2  none" in lines
    assert "''            1   50.0%" in lines


@pytest.mark.parametrize("columns", [60, 80, 200])
@pytest.mark.parametrize("name", ["anneal", "house-votes-84", "ptn", "horse-colic"])
def test_the_text_fits_the_terminal(command, monkeypatch, columns, name):
    monkeypatch.setenv("COLUMNS", str(columns))
    done = command("data", UCI / f"{name}.csv.gz")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= min(columns, 80)
    assert "…" not in done.stdout


def test_names_do_no_harm_to_the_terminal(command, tmp_path):
    (tmp_path / "my.csv").write_text("a\x1b[31m,class\n\x1b]0;x\x07,p\nz,q\n", encoding="utf-8")
    done = command("data", "my.csv")
    assert done.returncode == 0
    assert "\x1b" not in done.stdout
    assert "\\u001b" in done.stdout


def test_a_file_that_is_not_there_suggests_one(command, refused, tmp_path):
    shutil.copy(UCI / "iris.csv.gz", tmp_path)
    refused(command("data", "iris.csv"), "iris.csv cannot be read: ", "'iris.csv.gz'")
    for name in ("nothing/x.csv", "nothing/x.parquet"):
        refused(command("data", name), f"{name} cannot be read: No such file")


# content of the file, options, words of the sentence
CSV = [
    ("", "", "the file is empty"),
    ("\n\n", "", "the file is empty"),
    ("a,class\n", "", "there are no rows"),
    ("class\np\nq\n", "", "no attribute besides the target 'class' (separator ',')"),
    ("# a comment\na,class\n1,p\n", "", "line 2: it has 2 values, and line 1 names 1 column "),
    ("a,b,class\n1,2,p\n1,2\n", "", "line 3: it has 2 values, and line 1 names 3 columns"),
    ("\n\na,b,class\n1,p\n", "", "line 4: it has 2 values, and line 3 names 3 columns"),
    ("\n\na,,class\n1,2,p\n", "", "line 3: column 2 has no name"),
    ('a,class\n"x\ny",p\n1,2,q\n', "", "line 4: it has 3 values"),
    ("a,a,class\n1,2,p\n1,2,q\n", "", "2 columns are named 'a'"),
    (",a,class\n1,2,p\n1,2,q\n", "", "line 1: column 1 has no name"),
    ('a,class\n1,p\n"x,q\ny,p\n', "", "line 3: a quotation mark is opened and not closed"),
    ('a,class\n"x"y,q\n', "", "line 2: there is text after a closing quotation mark"),
    ("a,class\n" + "x" * 200_000 + ",p\n", "", "line 2: a value is longer than"),
    (b"a,class\n1,\xe9\n2,q\n", "", "line 2: the byte 0xe9 is not utf-8; name the encoding"),
    (GOOD, "--encoding utf-7000", "there is no text encoding 'utf-7000'"),
    (GOOD, "--encoding hex", "there is no text encoding 'hex'"),
    (GOOD, "--encoding utf-16", "is not utf-16"),
    (b"\xef\xbb\xbfa,class\n1,\xff\n", "", "line 2: the byte 0xff is not utf-8"),
    (GOOD.encode("utf-16-le"), "", "line 1: a null character"),
    (GOOD, "--separator ;;", "the separator must be one character"),
    (GOOD, "--separator ;", "no attribute besides the target"),
    (
        GOOD,
        "--target clas",
        "target names the column 'clas', which is not there; did you mean 'class'?",
    ),
    (
        GOOD,
        "--ignore x",
        "ignore names the column 'x', which is not there; known: age, class, colour",
    ),
    (GOOD, "--nominal Age", "nominal names the column 'Age'"),
    (GOOD, "--numeric ages", "numeric names the column 'ages'"),
    (GOOD, "--groups g", "groups names the column 'g'"),
    (GOOD, "--ignore class --target class", "'class' cannot be both target and ignore"),
    (GOOD, "--groups age --target age", "'age' cannot be both target and groups"),
    (GOOD, "--groups age --ignore age", "'age' cannot be both groups and ignore"),
    (GOOD, "--numeric class --target class", "'class' cannot be both target and numeric"),
    (GOOD, "--numeric age --nominal age", "'age' cannot be both nominal and numeric"),
    (GOOD, "--ignore age --ignore colour --ignore class", "no column is left for the target"),
    (
        GOOD,
        "--numeric colour",
        "line 2, column 'colour': 'red' is not a finite number, and the column is declared numeric",
    ),
    (
        GOOD.replace("45", "inf"),
        "--numeric age",
        "line 3, column 'age': 'inf' is not a finite number",
    ),
    (
        GOOD.replace("45", "1e999"),
        "",
        "line 3, column 'age': '1e999' is too large a number to be held exactly",
    ),
    (
        GOOD.replace("45", "9007199254740993"),
        "",
        "line 3, column 'age': '9007199254740993' is too large",
    ),
    (GOOD.replace("45", "9" * 5000), "", "line 3, column 'age': '9999"),
    ("a,class\n1,p\n2,p\n", "", "the target 'class' has one class, 'p'; two are needed"),
    ("a,class\n1,\n2,?\n", "", "the target 'class' is missing in every row"),
    ("a,b,class\n,?,p\n?,,q\n", "", "every value of every attribute is missing"),
    ("g,a,class\nu,1,p\n,2,q\n", "--groups g", "line 3, column 'g': the group is missing"),
]
ARFF_FILES = [
    ("@relation r\n1,2\n", "", "line 2: '1,2' is neither @attribute nor @data"),
    ("@relation r\n@attribute x real\n", "", "needs a line @data"),
    ("@relation r\n@data\n1\n", "", "line 2: @data comes before any @attribute"),
    ("@attribute x\n@data\n", "", "line 1: '@attribute x' must be @attribute, a name and a type"),
    (
        "@attribute x complex\n@data\n",
        "",
        "line 1: 'x' has the unknown type 'complex'; known: numeric",
    ),
    ("@attribute x {a,b\n@data\n", "", "line 1: the values of 'x' must end with a brace"),
    ("@attribute x {a,b,a}\n@data\n", "", "line 1: 'x' has the value 'a' twice"),
    (
        "@attribute bag relational\n@attribute x real\n@end bag\n@data\n",
        "",
        "line 1: 'bag' is relational, which is not supported",
    ),
    (
        "@attribute d date\n@attribute y {p,q}\n@data\n2001,p\n2002,q\n",
        "",
        "column 'd': it holds dates; ignore it",
    ),
    (ARFF, "", "there are no rows"),
    (ARFF + "1,p\n2\n", "", "line 6: it has 1 value, and there are 2 attributes"),
    (ARFF + "1,p\n2,r\n", "", "line 6, column 'y': 'r' is none of the declared values: p, q"),
    (ARFF + "1,p\nz,q\n", "", "line 6, column 'x': 'z' is not a finite number"),
    (ARFF + "1,'p\n", "", "line 5: the quotation marks of ''p' do not match"),
    (ARFF + "1,p,{2}\n", "", "line 5: weights of rows are not supported"),
    (ARFF + "{0 1, 1 p}, {2}\n", "", "line 5: weights of rows are not supported"),
    (ARFF + "1" + " " * 50_000 + "'x'\n", "", "line 5: the quotation marks of '1"),
    (ARFF.replace(" x ", " '' ") + "1,p\n2,q\n", "", "column 1 has no name"),
    (ARFF + "{0 1, 2 p}\n", "", "line 5: it has a value of attribute 2 of 2, counted from 0"),
    (ARFF + "{0 1, 0 1}\n", "", "line 5: it has a value of attribute 0 twice"),
    (ARFF + "{0, 1 p}\n", "", "line 5: '0, 1 p' must be the number of an attribute and a value"),
    (ARFF + "{0 1}, {2}\n{0 1\n", "", "line 5: "),
    (
        ARFF.replace("real", "string") + "{1 p}\n",
        "",
        "line 5: a sparse row must have a value of 'x'",
    ),
]
PARQUET = [
    (b"PAR1", "", "my.parquet is not a Parquet file that can be read"),
    (GOOD, "", "my.parquet is not a Parquet file that can be read"),
    (
        parquet(a=[[1], [2]], y=["p", "q"]),
        "",
        "column 'a': it holds values of type list; ignore it",
    ),
    (
        parquet(a=[{"b": 1}, {"b": 2}], y=["p", "q"]),
        "",
        "column 'a': it holds values of type struct",
    ),
    (parquet(a=[b"x", b"y"], y=["p", "q"]), "", "column 'a': it holds values of type bytes"),
    (
        parquet(a=pa.array([0, 1], pa.timestamp("s")), y=["p", "q"]),
        "",
        "column 'a': it holds dates or times",
    ),
    (
        parquet(a=[1.0, float("inf")], y=["p", "q"]),
        "",
        "row 1 (counted from 0), column 'a': inf is not a finite",
    ),
    (
        parquet(a=[2**62 + 1, 1], y=["p", "q"]),
        "",
        "row 0 (counted from 0), column 'a': '4611686018427387905' is too large",
    ),
    (parquet(a=[1, 2], y=["p", None]), "", "has one class, 'p'"),
    (parquet(**{"": [1, 2], "y": ["p", "q"]}), "", "column 1 has no name"),
]
OTHERS = [
    (
        "my.csv.gz",
        gzip.compress(GOOD.encode(), mtime=0)[:-9],
        "",
        "my.csv.gz cannot be uncompressed: ",
    ),
    ("my.csv.gz", b"\x1f\x8b\x08\x00" + b"\xff" * 40, "", "my.csv.gz cannot be uncompressed: "),
    (
        "my.csv.gz",
        b"PK\x03\x04\xff\xfe",
        "",
        "cannot be uncompressed: it is neither a gzip file nor",
    ),
    ("my.xlsx", b"PK", "", "my.xlsx has the unknown type '.xlsx'; known: .csv"),
    ("my", GOOD, "", "my has the unknown type ''"),
]
BAD = [
    *(("my.csv", *each) for each in CSV),
    *(("my.arff", *each) for each in ARFF_FILES),
    *(("my.parquet", *each) for each in PARQUET),
    *OTHERS,
]


def test_there_are_many_of_them():
    assert len({case[:3] for case in BAD}) == len(BAD) > 60


@pytest.mark.parametrize(("name", "content", "options", "words"), BAD)
def test_what_is_wrong_is_one_sentence(command, refused, tmp_path, name, content, options, words):
    (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    done = command("data", name, *options.split())
    refused(done, words)
    assert re.match(rf"simstudy: {re.escape(name)}[ ,:]", done.stderr)
    assert len(done.stderr) < 300


def test_the_real_command_gives_the_same_sentence(simstudy, refused, tmp_path):
    (tmp_path / "my.csv").write_text("a,class\n1,p\n2,p\n")
    refused(simstudy("data", "my.csv"), "my.csv: the target 'class' has one class, 'p'")


def test_nothing_is_imported_that_a_csv_file_does_not_need(tmp_path, run_simstudy):
    (tmp_path / "my.csv").write_text(GOOD)
    (tmp_path / "check.py").write_text(
        "import sys\nfrom simstudy import read_data\nread_data('my.csv')\n"
        "print([name for name in ('pandas', 'pyarrow', 'scipy') if name in sys.modules])\n"
    )
    done = run_simstudy(tmp_path, module="check")
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_the_target_is_found_by_one_rule_that_is_printed(command, tmp_path):
    rows = "".join(f"{row % 3},{row % 5},k{row % 2}\n" for row in range(60))
    (tmp_path / "mine.csv").write_text("age,colour,class\n" + rows)
    assert "The target is 'class', the last column." in command("data", "mine.csv").stdout
    stated = command("data", "mine.csv", "--target", "colour").stdout
    assert "The target is" not in stated
    named = command("data", "uci:iris").stdout
    assert "The target is 'class', as the data set declares it." in named
    about = read_table(tmp_path / "mine.csv", ReadOptions(), "tan", 10, 1)[1]
    assert about.target == "class"
    assert left_out(about)[0] == "The target is 'class', the last column."


def test_a_set_is_stored_by_name_and_is_the_same_set(command, refused, tmp_path):
    assert "Stored as iris.arff." in command("data", "--get", "uci:iris").stdout
    stored, named = read_data_set(tmp_path / "iris.arff"), read_data_set("uci:iris")
    assert (stored.name, stored.sample.schema) == (named.name, named.sample.schema)
    assert stored.sample.values.tobytes() == named.sample.values.tobytes()
    assert command("data", "--get", "uci:iris").returncode == 0  # the same content
    other = command("data", "--get", "uci:wine", "-o", "iris.arff")
    refused(other, "iris.arff exists with other content")
    refused(command("data", "uci:wine", "-o", "wine.arff"), "--out", "--get")
    refused(command("data", "uci:wine", "--get", "-o", "wine.csv"), "must end in .arff")
