"""Cut points against Weka and against a plain coding of their definitions; bins of samples."""

import csv
import gzip
import itertools
import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from simstudy.data.preparation.discretize import Discretizer, cut_points
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.errors import SimstudyError

GOLDEN = Path(__file__).parents[2] / "golden" / "real" / "discretize"
METHODS = ["fayyad_irani", "kononenko", "equal_frequency", "equal_width"]


def read(name: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    with gzip.open(GOLDEN / f"{name}.csv.gz", "rt", newline="") as file:
        header, *rows = csv.reader(file)
    *columns, classes = zip(*rows, strict=True)
    numbers = (np.array([float(text or "nan") for text in column]) for column in columns)
    return dict(zip(header[:-1], numbers, strict=True)), np.array(classes)


@pytest.mark.parametrize("name", ["iris", "labor-neg", "glass", "crx", "heart"])
def test_cut_points_are_those_of_weka(name):
    attributes, classes = read(name)
    rows = np.arange(len(classes))
    parts = json.loads((GOLDEN / "cut_points.json").read_text())[name]
    for part, used in (("whole", rows >= 0), ("train", rows % 3 != 0)):
        for method, expected in parts[part].items():
            assert expected.keys() == attributes.keys()
            for attribute, cuts in expected.items():
                found = cut_points(attributes[attribute][used], classes[used], method)
                np.testing.assert_allclose(found, cuts, rtol=0, atol=1e-9)


# The definitions, coded plainly: rows are (value, class, weight).


def mass_by_class(rows):
    masses = {}
    for _, label, weight in rows:
        masses[label] = masses.get(label, 0) + weight
    return list(masses.values())


def total_entropy(rows):
    masses = mass_by_class(rows)
    return -sum(float(m) * math.log2(m / sum(masses)) for m in masses)


def exact_entropy(rows):
    """2 to the power of twice the total entropy, exactly: weights are multiples of one half."""
    masses = [int(2 * m) for m in mass_by_class(rows)]
    return Fraction(sum(masses) ** sum(masses), math.prod(m**m for m in masses))


def is_accepted(rows, lower, upper, method):
    n = float(sum(weight for *_, weight in rows))
    k = [len(mass_by_class(part)) for part in (rows, lower, upper)]
    if method == "fayyad_irani":
        h = [total_entropy(part) / sum(mass_by_class(part)) for part in (rows, lower, upper)]
        gain = total_entropy(rows) - total_entropy(lower) - total_entropy(upper)
        delta = math.log2(3 ** k[0] - 2) - (k[0] * h[0] - k[1] * h[1] - k[2] * h[2])
        margin = float(gain) - delta
    else:

        def cost(part):
            masses = [float(m) for m in mass_by_class(part)]
            size = sum(masses)
            order = math.lgamma(size + 1) - sum(math.lgamma(m + 1) for m in masses)
            numbers = math.lgamma(size + k[0]) - math.lgamma(k[0]) - math.lgamma(size + 1)
            return (order + numbers) / math.log(2)

        margin = cost(rows) - cost(lower) - cost(upper)
    margin -= math.log2(max(n - 1, 1))
    assume(abs(margin) > 1e-9)  # rounding may decide as it likes
    return margin > 0


def entropy_cuts(rows, method):
    values = sorted({value for value, *_ in rows})
    best = None
    for low, high in itertools.pairwise(values):
        parts = [r for r in rows if r[0] <= low], [r for r in rows if r[0] > low]
        entropy = math.prod(map(exact_entropy, parts))
        if best is None or entropy < best[0]:
            best = entropy, (low + high) / 2, parts
    if best is None or best[0] >= exact_entropy(rows):
        return []
    _, cut, (lower, upper) = best
    if not is_accepted(rows, lower, upper, method):
        return []
    return [*entropy_cuts(lower, method), cut, *entropy_cuts(upper, method)]


def plain_cuts(rows, method, bins):
    rows = [row for row in rows if row[0] is not None and row[2] > 0]
    if method in ("fayyad_irani", "kononenko"):
        return entropy_cuts(rows, method)
    values = sorted({value for value, *_ in rows})
    if len(values) < 2:
        return []
    if method == "equal_width":
        width = (values[-1] - values[0]) / bins
        return [values[0] + j * width for j in range(1, bins)]
    total = sum(weight for *_, weight in rows)
    below = [sum(weight for value, _, weight in rows if value <= v) for v in values[:-1]]
    places = set()
    for j in range(1, bins):
        distances = [abs(number - total * j / bins) for number in below]
        places.add(distances.index(min(distances)))
    return [(values[place] + values[place + 1]) / 2 for place in sorted(places)]


VALUES = st.integers(-6, 6).map(lambda number: Fraction(number, 2))
ROWS = st.lists(
    st.tuples(
        st.none() | VALUES, st.integers(0, 3), st.integers(0, 4).map(lambda n: Fraction(n, 2))
    ),
    max_size=40,
)


def columns(rows):
    values = np.array([np.nan if row[0] is None else float(row[0]) for row in rows])
    weights = np.array([float(row[2]) for row in rows])
    return values, np.array([row[1] for row in rows], dtype=int), weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("method", METHODS)
@given(rows=ROWS, bins=st.integers(1, 7), shift=st.booleans())
def test_cut_points_follow_their_definition(method, weighted, rows, bins, shift):
    if shift:  # classes that the value tells something about
        rows = [(v, label if v is None or v < 1 else 0, w) for v, label, w in rows]
    if not weighted:
        rows = [(value, label, Fraction(1)) for value, label, _ in rows]
    values, classes, weights = columns(rows)
    found = cut_points(values, classes, method, weights=weights if weighted else None, bins=bins)
    expected = [float(cut) for cut in plain_cuts(rows, method, bins)]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
@given(rows=ROWS, seed=st.integers(0, 99))
def test_cut_points_do_not_depend_on_the_order_of_rows(method, rows, seed):
    values, classes, _ = columns(rows)
    order = np.random.default_rng(seed).permutation(len(rows))
    np.testing.assert_array_equal(
        cut_points(values[order], classes[order], method), cut_points(values, classes, method)
    )


@given(rows=ROWS)
def test_the_first_of_equal_cuts_does_not_depend_on_the_order_of_classes(rows):
    values, classes, _ = columns(rows)
    names = np.array(["d", "a", "c", "b"])[classes]
    np.testing.assert_array_equal(cut_points(values, names), cut_points(values, classes))


@pytest.mark.parametrize("method", METHODS)
@given(rows=ROWS)
def test_a_weight_is_a_number_of_equal_rows(method, rows):
    values, classes, weights = columns(rows)
    number = (2 * weights).astype(int)
    repeated = cut_points(np.repeat(values, number), np.repeat(classes, number), method)
    weighted = cut_points(values, classes, method, weights=number)
    np.testing.assert_array_equal(weighted, repeated)


@pytest.mark.parametrize(
    ("end", "middle"), [((0, 1, 5), (3, 22, 3)), ((0, 3, 11), (9, 20, 9)), ((10, 6, 0), (6, 6, 6))]
)
def test_the_first_of_equal_cuts_is_taken_whatever_rounding_makes_of_them(end, middle):
    # The last value has the classes of the first in reverse, so both cuts have the same entropy.
    table = np.array([end, middle, end[::-1]])
    values, classes = np.repeat(np.argwhere(table > -1), table.ravel(), axis=0).T
    np.testing.assert_array_equal(cut_points(values, classes), [0.5])


def test_three_rows_of_exactly_equal_costs_are_split_as_in_weka():
    # C(3, 1)·C(4, 1) = 12 ways before, and 2·3·(N − 1) = 12 after the split.
    np.testing.assert_array_equal(cut_points([1, 2, 3], [0, 1, 1], "kononenko"), [1.5])
    np.testing.assert_array_equal(cut_points([1, 2, 3], [1, 1, 0], "kononenko"), [2.5])


@pytest.mark.parametrize("method", METHODS[:3])
def test_numbers_next_to_each_other_and_far_apart_are_separated(method):
    one = 1.0
    pairs = [(one, np.nextafter(one, 2)), (np.nextafter(one, 0), one), (-1.7e308, 1.7e308)]
    for low, high in [*pairs, (0.0, 5e-324)]:
        cuts = cut_points(np.repeat([low, high], 8), np.repeat([0, 1], 8), method, bins=2)
        assert np.searchsorted(cuts, [low, high]).tolist() == [0, 1]


def test_the_widest_range_has_bins_of_equal_width():
    cuts = cut_points([-1.7e308, 1.7e308], [0, 1], "equal_width", bins=4)
    np.testing.assert_allclose(cuts, [-0.85e308, 0, 0.85e308], rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_values_that_are_all_missing_or_equal_have_no_cut(method):
    for values in ([], [np.nan, np.nan], [3.0, 3.0, np.nan]):
        assert len(cut_points(values, [0, 1, 0][: len(values)], method)) == 0


@pytest.mark.parametrize(
    ("arguments", "options", "words"),
    [
        (([1, 2], [0]), {}, "the same length"),
        (([[1, 2]], [[0, 1]]), {}, "one dimension"),
        (([1, np.inf], [0, 1]), {}, "finite"),
        (([1, 2], [0, 1]), {"weights": [1, -1]}, "weights must be"),
        (([1, 2], [0, 1]), {"weights": [1]}, "weights must be"),
        (([1, 2], [0, 1]), {"method": "kononeko"}, "did you mean 'kononenko'"),
        (([1, 2], [0, 1]), {"method": "equal_width", "bins": 0}, "bins = 0"),
    ],
)
def test_bad_arguments_are_refused(arguments, options, words):
    with pytest.raises(ValueError, match=words):
        cut_points(*arguments, **options)
    if "method" in options:
        with pytest.raises(SimstudyError, match=words):
            Discretizer.fit(TRAIN, options["method"], options.get("bins", 10))


SCHEMA = Schema(
    (
        Variable("length"),
        Variable("colour", ("red", "green")),
        Variable("constant"),
        Variable("class", ("a", "b")),
    )
)


def made(*rows: tuple[float, ...], weights: list[float] | None = None) -> Sample:
    return Sample.of(np.array(rows, dtype=float), SCHEMA, weights)


NAN = np.nan
TRAIN = made(
    *[(0.9, 0, 7, 0)] * 20, *[(2.1, NAN, 7, 1)] * 20, *[(4, 1, NAN, 0)] * 20, (NAN, 0, 7, 1)
)


def test_numbers_become_bins_and_all_else_stays():
    fitted = Discretizer.fit(TRAIN)
    assert fitted.cuts["length"].tolist() == [1.5, 3.05]
    assert fitted.cuts["constant"].tolist() == []
    test = made((1.5, 1, 99, 1), (1.50001, NAN, -99, 0), (-1e9, 0, NAN, 1), (1e9, 0, 7, 1),
                (NAN, 0, 7, 0), weights=[1, 2, 3, 4, 5])  # fmt: skip
    binned = fitted(test)
    assert binned.schema.variables == (
        Variable("length", ("'(-inf-1.5]'", "'(1.5-3.05]'", "'(3.05-inf)'")),
        SCHEMA.variables[1],
        Variable("constant", ("'All'",)),
        SCHEMA.target,
    )
    expected = [[0, 1, 0, 1], [1, -1, 0, 0], [0, 0, -1, 1], [2, 0, 0, 1], [-1, 0, 0, 0]]
    np.testing.assert_array_equal(binned.codes, expected)
    np.testing.assert_array_equal(binned.weights, test.weights)
    assert len(fitted(test.take([]))) == 0


def test_the_cuts_of_a_sample_are_those_of_its_columns():
    weighted = Sample.of(TRAIN.values, SCHEMA, np.arange(len(TRAIN)))
    for method, sample in itertools.product(METHODS, [TRAIN, weighted]):
        expected = cut_points(
            sample.values[:, 0], sample.target, method, weights=sample.weights, bins=3
        )
        np.testing.assert_array_equal(Discretizer.fit(sample, method, 3).cuts["length"], expected)


def test_cuts_that_differ_in_late_digits_alone_have_different_names():
    values = 1 + np.array([0.0, 1e-12, 2e-12]).repeat(20)
    schema = Schema((Variable("x"), Variable("y", ("a", "b"))))
    sample = Sample.of(np.column_stack([values, [0] * 20 + [1] * 20 + [0] * 20]), schema)
    binned = Discretizer.fit(sample)(sample)
    assert binned.cards == (3, 2)


def test_rows_without_numbers_are_left_as_they_are():
    sample = Sample([[0, 2, 1], [1, 0, 0]], (2, 3, 2))
    assert Discretizer.fit(sample)(sample) is sample


def test_rows_of_another_schema_are_refused():
    with pytest.raises(ValueError, match="variables and values of the training rows"):
        Discretizer.fit(TRAIN)(Sample([[0, 0, 0, 1]], (2, 2, 2, 2)))


def test_a_worker_that_discretises_imports_no_heavy_package():
    code = (
        "import sys, numpy as np; from simstudy.data.preparation.prepare import Preparation\n"
        "from simstudy.data.preparation.discretize import cut_points\n"
        "cut_points([1, 2, 3, 4], [0, 0, 1, 1])\n"
        "print(*{'scipy', 'pandas', 'sklearn'} & {*sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
