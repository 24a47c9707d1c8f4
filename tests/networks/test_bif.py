"""BIF and XMLBIF files: read back as written, read by pgmpy, and broken ones."""

import re
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.errors import SimstudyError
from simstudy.networks import Network, read_bif, read_xmlbif, write_bif, write_xmlbif
from simstudy.networks.bif import bif_text, parse_bif
from simstudy.networks.xmlbif import parse_xmlbif, xmlbif_text

GOLDEN = Path(__file__).parents[1] / "golden" / "networks"
SHIPPED = Path(find_spec("pgmpy").submodule_search_locations[0], "utils", "example_models")
TEXT = """network rain { property made by hand; }
variable rain {
  type discrete [ 2 ] { yes, no };
}
variable wet {
  type discrete [ 2 ] { yes, no };
}
probability ( rain ) {
  table 0.2, 0.8;
}
probability ( wet | rain ) {
  (yes) 0.9, 0.1;
  (no) 0.25, 0.75;
}
"""


def random_network(rng: np.random.Generator) -> Network:
    """A network of six variables of two or three values, some probabilities being zero."""
    parents = [[3, 5], [], [0], [], [3, 1, 0], [1]]
    cards = rng.integers(2, 4, 6)
    cpts = [rng.dirichlet([0.01] * cards[v], cards[those]) for v, those in enumerate(parents)]
    return Network(parents, cpts)


def assert_same(found: Network, expected: Network) -> None:
    assert (found.names, found.states) == (expected.names, expected.states)
    assert found.parents == expected.parents
    for cpt, other in zip(found.cpts, expected.cpts, strict=True):
        np.testing.assert_array_equal(cpt, other)


def test_tables_rows_defaults_comments_and_quotes() -> None:
    network = parse_bif(
        """// a comment { ;
/* another
   one */ network "two words" { property version "1.0 ; }" ; }
variable "a b" { // odd names
  type discrete [3] { <5, ">=5, <6", 6+ }; property position = (1, 2) ; }
variable b-1.x { property x; type discrete [ 2 ] { true
  , false } ; }
variable c { type discrete[2] { 0 1 } }
probability ( "a b" ) { property odd ; table 1.0e-1, .2 +7E-1; }
probability ( b-1.x "a b" ) { table .1 .2 .3 .9 .8 .7; }  // the child changes most slowly
probability(c|"a b",b-1.x){
  default 0.5, 0.5;
  (<5, false) 1, 0;
  (6+,
   true) 0.0
   1d0;
}
"""
    )
    assert network.title == "two words"
    assert network.names == ("a b", "b-1.x", "c")
    assert network.states == (("<5", ">=5, <6", "6+"), ("true", "false"), ("0", "1"))
    assert network.parents == ((), (0,), (0, 1))
    np.testing.assert_allclose(network.cpts[0], [0.1, 0.2, 0.7])
    np.testing.assert_allclose(network.cpts[1], [[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]])
    half = [0.5, 0.5]
    np.testing.assert_allclose(network.cpts[2], [[half, [1, 0]], [half, half], [[0, 1], half]])


def test_whole_tables_are_read_as_by_pgmpy() -> None:
    from pgmpy.readwrite import BIFReader

    text = TEXT.replace("(yes) 0.9, 0.1;\n  (no) 0.25, 0.75;", "table 0.9, 0.25, 0.1, 0.75;")
    values = BIFReader(string=text).get_model().get_cpds("wet").values
    np.testing.assert_array_equal(parse_bif(text).cpts[1].T, values)
    np.testing.assert_array_equal(parse_bif(TEXT).cpts[1].T, values)


def test_rounded_probabilities_are_normalised() -> None:
    text = TEXT.replace("0.9, 0.1", "0.333, 0.666")
    np.testing.assert_allclose(parse_bif(text).cpts[1][0], [1 / 3, 2 / 3], atol=1e-15)
    exact = [0.1, 0.2, 0.7 + 1e-13]  # left as it is
    network = Network([[]], [exact])
    assert parse_bif(bif_text(network)).cpts[0].tolist() == exact


BROKEN = [  # what is replaced, by what, the line at fault, what the sentence says
    ("0.2, 0.8", "0.2, 0.7", 9, "the probabilities of 'rain' sum to 0.9, not to 1"),
    ("0.2, 0.8", "0.2", 9, "'rain' needs 2 probabilities here, and 1 are listed"),
    ("0.2, 0.8", "0.2, 0.8, 0", 9, "'rain' needs 2 probabilities here, and 3 are listed"),
    ("0.2, 0.8", "0.2, 0.8x", 9, "'0.8x' is not a number"),
    ("0.2, 0.8", "-0.2, 1.2", 9, "-0.2 is not a probability"),
    ("0.2, 0.8", "nan, 0.8", 9, "nan is not a probability"),
    ("0.2, 0.8;", "0.2, 0.8", 10, "'}' is found where ';' is expected"),
    ("table", "tabel", 9, "'tabel' is found where table, default or '(' is expected"),
    ("(no)", "(maybe)", 13, "'rain' has no value 'maybe'"),
    ("(no)", "(yes)", 13, "the probabilities of 'wet' are stated twice"),
    ("(no)", "(no, yes)", 13, "'wet' has 1 parents, and values of 2 are named"),
    ("  (no) 0.25, 0.75;\n", "", 11, "the probabilities of 'wet' for rain = no are missing"),
    ("wet | rain", "wet | ran", 11, "the variable 'ran' is not declared; did you mean 'rain'"),
    ("wet | rain", "wet | wet", 11, "a variable is named twice in 'wet'"),
    ("( wet |", "( rain |", 11, "the variable 'rain' has probabilities already, in line 8"),
    ("variable wet", "variable rain", 5, "the variable 'rain' is declared already, in line 2"),
    ("2 ] { yes, no };\n}\nprob", "3 ] { yes, no };\n}\nprob", 6, "declares 3 values and lists 2"),
    ("{ yes, no };\n}\nprob", "{ no, no };\n}\nprob", 5, "has the value 'no' twice"),
    ("discrete", "continuous", 3, "'rain' is of type continuous; it must be discrete"),
    ("0.25, 0.75;\n}\n", "0.25, 0.75;\n", 13, "the file ends where '}' is expected"),
    ("network rain", 'network "rain', 1, "a quotation mark is not closed"),
    ("variable wet", "/* variable wet", 5, "a comment is not closed"),
    ("variable wet", "node wet", 5, "'node' is found where a block must begin"),
    ("  type discrete [ 2 ] { yes, no };\n}\nvar", "}\nvar", 2, "'rain' has no type"),
    (TEXT[TEXT.index("probability ( wet") :], "", 5, "'wet' has no probabilities"),
    ("( rain ) {\n  table 0.2, 0.8", "( rain | wet ) {\n default .2 .8", 8, "'rain' → 'wet'"),
    (TEXT, "", 1, "the file ends without a variable"),
]


@pytest.mark.parametrize(("old", "new", "line", "text"), BROKEN)
def test_broken_files_give_a_sentence_with_a_line(
    tmp_path: Path, old: str, new: str, line: int, text: str
) -> None:
    assert old in TEXT
    path = tmp_path / "broken.bif"
    path.write_text(TEXT.replace(old, new, 1))
    with pytest.raises(SimstudyError) as raised:
        read_bif(path)
    sentence = str(raised.value)
    assert sentence.startswith(f"{path}, line {line}: ")
    assert text in sentence
    assert "\n" not in sentence


@pytest.mark.parametrize("content", [None, b"\x1f\x8b broken", b"\x00\xff\xfe"])
def test_files_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "odd.bif"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SimstudyError, match=re.escape(str(path))):
        read_bif(path)


@given(st.text('network variable{}()[]|,;"/*\n\\ 0.5', max_size=80))
@settings(max_examples=200, deadline=None)
def test_any_text_is_a_network_or_a_sentence(text: str) -> None:
    for parse in (parse_bif, parse_xmlbif):
        with pytest.raises(SimstudyError, match=r"line \d+: "):
            parse(text)


@pytest.mark.parametrize(
    "piece", ["/* ", "// x\n", '"x" ', "( ", "variable v { property ", "network ", "a" * 9]
)
def test_long_repetitions_are_refused_in_a_sentence(piece: str) -> None:
    with pytest.raises(SimstudyError, match=r"line \d+: "):
        parse_bif(piece * 20_000)


NAMES = (
    st.text(
        st.characters(exclude_characters='"', exclude_categories=["Cc", "Cs", "Zl", "Zp"]),
        min_size=1,
    )
    .map(str.strip)
    .filter(bool)
)


@given(st.integers(0, 10**6), st.lists(NAMES, min_size=9, max_size=9, unique=True))
@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize(
    ("written", "parse"), [(bif_text, parse_bif), (xmlbif_text, parse_xmlbif)], ids=["bif", "xml"]
)
def test_a_network_is_read_back_as_it_was_written(
    written: Callable[[Network], str],
    parse: Callable[[str], Network],
    seed: int,
    names: list[str],
) -> None:
    network = random_network(np.random.default_rng(seed))
    states = [names[3 : 3 + card] for card in network.cards]
    named = Network(network.parents, network.cpts, names[:6], states, names[0])
    again = parse(written(named))
    assert_same(again, named)
    assert again.title == names[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["asia", "cancer"])
def test_pgmpy_reads_what_is_written(tmp_path: Path, name: str) -> None:
    from pgmpy.readwrite import BIFReader, XMLBIFReader

    network = read_bif(GOLDEN / f"{name}.bif")
    rng = np.random.default_rng(1)
    network = network.with_tables(
        [rng.dirichlet([1] * cpt.shape[-1], cpt.shape[:-1]) for cpt in network.cpts]
    )
    write_bif(network, tmp_path / "n.bif")
    write_xmlbif(network, tmp_path / "n.xml")
    assert_same(read_bif(tmp_path / "n.bif"), network)
    assert_same(read_xmlbif(tmp_path / "n.xml"), network)
    for reader, file in ((BIFReader, "n.bif"), (XMLBIFReader, "n.xml")):
        again = Network.from_pgmpy(reader(str(tmp_path / file)).get_model())
        assert_same(again.reordered(network.names), network)


@pytest.mark.parametrize(
    ("old", "new", "line", "text"),
    [
        ("<TABLE>0.2", "<TABLE>0.3", 29, "sum to 1.1, not to 1"),
        ("<FOR>rain", "<FOR>run", 29, "'run' is not declared"),
        ("</OUTCOME>", "</OUTCOM>", 21, "this is not XML: mismatched tag"),
        ("<BIF VER", "<BUF VER", 16, "the document must be a <BIF>"),
        ("<FOR>rain</FOR>", "", 29, "one <FOR> is expected here; there are 0"),
        ("  <!ELEMENT BIF", '  <!ENTITY a "b"><!ELEMENT BIF', 3, "entities are not allowed"),
        (">0.2", ">zero", 29, "'zero' is not a number"),
        ('"nature"', '"utility"', 14, None),
    ],
)
def test_broken_xml(old: str, new: str, line: int, text: str | None) -> None:
    whole = xmlbif_text(parse_bif(TEXT))
    assert old in whole
    broken = whole.replace(old, new, 1)
    if text is None:  # in the definition of the document, which says nothing of variables
        assert_same(parse_xmlbif(broken), parse_bif(TEXT))
        return
    with pytest.raises(SimstudyError, match=re.escape(text)) as raised:
        parse_xmlbif(broken, "n.xml")
    assert str(raised.value).startswith(f"n.xml, line {line}: ")


@pytest.mark.parametrize("name", ["alarm", "insurance", "win95pts"])
def test_networks_of_pgmpy_are_read(name: str) -> None:
    network = read_bif(SHIPPED / f"{name}.bif.gz")
    assert_same(parse_bif(bif_text(network)), network)
    sizes = {"alarm": (37, 46), "insurance": (27, 52), "win95pts": (76, 112)}
    assert (len(network.names), sum(map(len, network.parents))) == sizes[name]


@pytest.mark.slow
def test_all_networks_of_pgmpy_are_read() -> None:
    files = sorted(SHIPPED.glob("*.bif.gz"))
    assert len(files) == 24
    for file in files:
        network = read_bif(file)
        assert_same(parse_bif(bif_text(network)), network)
        assert_same(parse_xmlbif(xmlbif_text(network)), network)
