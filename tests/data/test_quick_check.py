"""Planted trouble is named, and clean tables are not accused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy import SimstudyError
from simstudy.data.checks import equal_rows, oddities
from simstudy.data.files.assembly import ReadOptions
from simstudy.data.files.read import read_data_set
from simstudy.data.quick_check import quick_check
from simstudy.engine.seeds import stream

ROWS = 600
UCI = Path(__file__).parents[2] / "studies/data/uci"


def plain(seed: int = 0, rows: int = ROWS) -> pd.DataFrame:
    """Six numbers and three labels, each of which goes with the class a little."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    columns = {f"x{i}": rng.normal(0.5 * y, 1) for i in range(6)}
    for i in range(3):
        noise = rng.integers(0, 4, rows)
        columns[f"a{i}"] = np.array([*"pqrs"])[np.where(rng.random(rows) < 0.3, y, noise)]
    return pd.DataFrame(columns | {"y": np.where(y, "yes", "no")})


def remarks(frame: pd.DataFrame, **options: object) -> list[str]:
    """All that is said of a table whose last column is the target."""
    data = read_data_set(frame, ReadOptions(**options))  # type: ignore[arg-type]
    found = quick_check(data.sample, data.keep, stream(0, "data", 0, "check"))
    return [*oddities(data), *found]


def with_leak() -> pd.DataFrame:
    frame, rng = plain(), np.random.default_rng(1)
    wrong = rng.random(ROWS) < 0.02
    frame.insert(2, "outcome_code", np.where((frame["y"] == "yes") ^ wrong, "A", "B"))
    return frame


def with_identifier() -> pd.DataFrame:
    frame = plain()
    frame.insert(0, "record", [f"r{i:04}" for i in range(ROWS)])
    return frame


def with_copies() -> pd.DataFrame:
    frame = plain(rows=200)
    return pd.concat([frame] * 3).sample(frac=1, random_state=0).reset_index(drop=True)


def with_time() -> pd.DataFrame:
    """The mean of the first column drifts, and the class depends on the distance from it."""
    frame, rng = plain(), np.random.default_rng(2)
    drift = np.linspace(0, 6, ROWS)
    frame["x0"] = drift + rng.normal(0, 1, ROWS)
    frame["y"] = np.where(frame["x0"] > drift, "yes", "no")
    return frame


def with_markers() -> pd.DataFrame:
    frame, rng = plain(), np.random.default_rng(3)
    frame["x1"] = np.where(rng.random(ROWS) < 0.05, -999, frame["x1"])
    frame["x2"] = [f"{x:.3f}" if rng.random() > 0.05 else "NA" for x in frame["x2"]]
    frame["a0"] = np.where(rng.random(ROWS) < 0.05, "N/A", frame["a0"])
    return frame


def with_rare_class() -> pd.DataFrame:
    frame = plain()
    frame["y"] = np.where(np.arange(ROWS) % 100 == 7, "fraud", "fine")
    return frame


def with_constant() -> pd.DataFrame:
    frame = plain()
    frame.insert(4, "country", "NZ")
    return frame


def with_columns() -> pd.DataFrame:
    rng = np.random.default_rng(4)
    noise = pd.DataFrame(rng.normal(size=(ROWS, 291)), columns=[f"n{i}" for i in range(291)])
    return pd.concat([noise, plain()], axis=1)


def with_groups(numbers: bool = False) -> pd.DataFrame:
    """Visits of 120 patients, whose measurements and class are nearly the same at each."""
    rng = np.random.default_rng(5)
    patient = rng.permutation(np.repeat(np.arange(120), 5))
    frame = plain(rows=120).iloc[patient].reset_index(drop=True)
    for i in range(6):
        frame[f"x{i}"] += rng.normal(0, 0.1, ROWS)
    frame.insert(3, "patient", 1000 + patient if numbers else [f"P{i}" for i in patient])
    return frame


@pytest.mark.parametrize(
    ("frame", "parts"),
    [
        (with_leak(), ["one column, outcome_code (", "beforehand?"]),
        (with_identifier(), ["record", "identifiers"]),
        (with_copies(), ["400 rows equal to an earlier row", "with equal rows in one part"]),
        (with_time(), ["the order of the rows matters", 'scheme = "ordered"']),
        (with_markers(), ["-999", "x1", "'NA' among numbers", "x2", "'N/A'", "a0"]),
        (with_rare_class(), ["99.0% of the rows are of class 'fine'", "'fraud' (6)"]),
        (with_constant(), ["1 column has a single value or none: country"]),
        (with_columns(), ["300 attributes for 600 rows"]),
        (with_groups(), ["rows of the same 'patient'", 'groups = "patient"']),
        (with_groups(numbers=True), ["rows of the same 'patient'", 'groups = "patient"']),
    ],
    ids=[
        "leak",
        "identifier",
        "copies",
        "time",
        "markers",
        "rare",
        "constant",
        "columns",
        "groups",
        "numbered",
    ],
)
def test_planted_trouble_is_named(frame, parts):
    found = " | ".join(remarks(frame))
    assert not [part for part in parts if part not in found], found


def test_a_continuous_target_is_refused_with_what_to_do():
    frame = plain()
    frame["y"] = np.random.default_rng(6).normal(size=ROWS)
    with pytest.raises(SimstudyError, match=r"'y'.*ranges"):
        remarks(frame)


@pytest.mark.parametrize("seed", range(6))
def test_clean_tables_are_not_accused(seed):
    frame = plain(seed, rows=150 * (seed + 1))
    rng = np.random.default_rng(seed)
    # neither a quantity in whole numbers nor a column of many labels is an identifier of groups
    frame.insert(0, "age", np.clip(rng.normal(45, 12, len(frame)).round(), 18, 90))
    frame.insert(0, "town", [f"t{i}" for i in rng.integers(0, 25, len(frame))])
    assert remarks(frame) == []
    assert remarks(frame.sort_values("y", ignore_index=True)) == []  # sorted by class


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("columns", "labels", "rows", "effect"),
    [(9, 2, 500, 0.2), (6, 3, 300, 0), (10, 2, 500, 0), (8, 3, 1000, 0.1), (4, 2, 120, 0.3)],
)
def test_labels_that_are_equal_by_chance_are_no_copies(columns, labels, rows, effect, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, rows)
    told = rng.random((columns, rows)) < effect
    codes = np.where(told, y, rng.integers(0, labels, (columns, rows)))
    frame = pd.DataFrame({f"q{i}": np.array([*"abc"])[column] for i, column in enumerate(codes)})
    assert frame.duplicated().any()
    assert remarks(frame.assign(y=np.where(y, "yes", "no"))) == []


@pytest.mark.parametrize("column", ["x0", "a0", "age"])
@pytest.mark.parametrize("seed", range(3))
def test_sorted_tables_are_not_accused(seed, column):
    frame, rng = plain(seed), np.random.default_rng(seed)
    frame.insert(0, "age", (rng.normal(40, 12, ROWS) + 6 * (frame["y"] == "yes")).round())
    assert remarks(frame.sort_values(column, ignore_index=True)) == []
    assert remarks(frame.sort_values(["y", column], ascending=False, ignore_index=True)) == []


def test_drift_is_named_beside_a_column_of_the_time():
    """Sorted by the year; other columns drift, and the class depends on the distance."""
    frame = with_time()
    frame.insert(0, "year", 2000 + np.arange(ROWS) // 30)
    found = " | ".join(remarks(frame))
    assert "sorted by year" in found
    assert 'scheme = "ordered"' in found


@pytest.mark.parametrize("share", [0.5, 0.2, 0.1])
def test_uneven_classes_without_trouble_are_not_accused(share):
    frame, rng = plain(rows=2 * ROWS), np.random.default_rng(0)
    kept = (frame["y"] == "no") | (rng.random(len(frame)) < share)
    frame = frame[kept].reset_index(drop=True)
    assert [text for text in remarks(frame) if "always naming it" not in text] == []


@pytest.mark.parametrize("leaks", [1, 3])
@pytest.mark.parametrize("share", [0.5, 0.1, 0.05])
@pytest.mark.parametrize("distance", [0.7, 1.5])
def test_leaks_of_98_percent_are_named_whatever_the_shares_of_classes(leaks, share, distance):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = rng.random(1000) < share
        columns = {f"x{i}": rng.normal(distance * y, 1) for i in range(5)}
        for i in range(leaks):
            columns[f"leak{i}"] = np.where(y ^ (rng.random(1000) < 0.02), "A", "B")
        found = " | ".join(remarks(pd.DataFrame(columns | {"y": np.where(y, "yes", "no")})))
        assert [name for name in columns if name + " (" in found] == list(columns)[5:], found


STRONG = {
    "house-votes-84": "one column, physician-fee-freeze",
    "iris": "each of 2 columns, petalwidth (96%), petallength",
}
ORDER = "the order of the rows matters"
SAID = {  # beside two shares of right predictions where rows are equal
    "adult": "99999 lies far",
    "anneal": "1 class has",
    "balance-scale": "the rows are sorted by L-Weight",  # an enumeration
    "chess": ORDER,  # its rows are in an order of positions
    "glass": "3 classes have",
    "lung-cancer": "56 attributes for 32 rows",
    "ly": "2 classes have",
    "post-operative": "1 class has",
    "promoters": "57 attributes for 106 rows",
    "ptn": "14 classes have",
    "sonar": ORDER,  # returns from one object at neighbouring angles
    "ttt": ORDER,  # an enumeration
} | STRONG


@pytest.mark.parametrize("name", sorted(path.name[:-7] for path in UCI.glob("*.csv.gz")))
def test_of_real_tables_only_this_is_said(name):
    data = read_data_set(UCI / f"{name}.csv.gz")
    texts = quick_check(data.sample, (), stream(0, "data", 0, "check"))
    texts = [text for text in texts if "equal rows" not in text]
    assert len(texts) == bool(SAID.get(name)), texts
    assert not texts or texts[0].startswith(SAID[name])
    assert all("random folds are right" in text for text in texts if "neighbouring" in text)


@pytest.mark.parametrize("name", STRONG)
def test_nothing_is_asked_about_columns_that_are_kept(name):
    data = read_data_set(UCI / f"{name}.csv.gz")
    names = [variable.name for variable in data.sample.schema.attributes]
    found = quick_check(data.sample, names, stream(0, "data", 0, "check"))
    assert "known beforehand" not in " | ".join(found)


def test_the_check_depends_on_the_rows_only():
    frame = with_time()
    assert remarks(frame) == remarks(frame)


@pytest.mark.filterwarnings("error")
def test_odd_tables_are_checked_without_harm():
    frame = plain()
    frame.insert(0, "empty", np.nan)
    frame.insert(0, "visit", np.random.default_rng(9).integers(0, 60, ROWS))
    frame.insert(0, "word", [f"w{i % 290}" for i in range(ROWS)])
    assert remarks(frame) == ["1 column has a single value or none: empty"]
    same = pd.concat([frame.iloc[[0] * 20_000], frame], ignore_index=True)  # 20,000 copies of a row
    assert remarks(same.drop(columns="empty"))
    few = plain(rows=24)
    assert not [text for text in remarks(few) if "random folds" in text]


def test_groups_that_are_declared_are_not_named_again():
    assert remarks(with_groups(), groups="patient") == []
    assert remarks(with_groups().sort_values("patient"), groups="patient") == []


def test_time_order_is_named_beside_declared_groups():
    frame = with_groups().sort_values("patient", ignore_index=True).drop(columns="patient")
    frame.insert(0, "clinic", [f"c{i}" for i in np.random.default_rng(0).integers(0, 40, ROWS)])
    assert ORDER in " | ".join(remarks(frame, groups="clinic"))


def subjects(sizes: list[int], unknown: float = 0) -> pd.DataFrame:
    """Rows of subjects, whose measurements and, mostly, class are those of the subject."""
    rng = np.random.default_rng(9)
    subject = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    means, rows = rng.normal(size=(5, len(sizes))), len(subject)
    columns = {f"x{i}": rng.normal(means[i, subject], 0.15) for i in range(5)}
    classes = rng.permutation(np.arange(len(sizes)) % 2)[subject]
    y = np.where(rng.random(rows) < 0.8, classes, rng.integers(0, 2, rows))
    labels = np.where(rng.random(rows) < unknown, None, [f"S{i}" for i in subject])
    return pd.DataFrame({"subject": labels} | columns | {"y": np.where(y, "yes", "no")})


@pytest.mark.parametrize(
    ("sizes", "unknown"),
    [
        ([100] * 8, 0),
        ([40] * 15, 0),
        ([120] + [18] * 39, 0),
        ([10] * 60, 0.02),
        ([700] * 30, 0),
        ([2000] * 12, 0.3),
    ],
)
def test_few_large_and_uneven_groups_are_named(sizes, unknown):
    assert "rows of the same 'subject'" in " | ".join(remarks(subjects(sizes, unknown)))


def test_a_quantity_is_no_group_beside_a_column_with_gaps():
    """The class depends on the age, as another column with gaps does."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        age = rng.normal(45, 14, 900).round()
        pressure = np.where(rng.random(900) < 0.3, np.nan, 1000 + 4 * age + rng.normal(0, 3, 900))
        y = rng.random(900) < np.where(np.sin(age / 1.5) > 0, 0.85, 0.15)
        frame = pd.DataFrame({"age": age, "pressure": pressure, "x": rng.normal(0.5 * y, 1)})
        assert "resemble" not in " | ".join(remarks(frame.assign(y=np.where(y, "a", "b"))))


def test_copies_with_gaps_and_numbers_of_the_rows_are_seen():
    frame, rng = with_copies(), np.random.default_rng(0)
    first = frame.drop_duplicates().copy()
    first["x1"] = np.where(rng.random(200) < 0.5, np.nan, first["x1"])
    frame = pd.concat([first] * 3, ignore_index=True)
    frame.insert(0, "record", np.arange(len(frame)))
    found = " | ".join(remarks(frame))
    assert "400 rows equal to an earlier row" in found
    assert "with equal rows in one part" in found


def test_numbers_of_rows_are_asked_about_but_not_amounts():
    frame, rng = plain(), np.random.default_rng(0)
    frame.insert(0, "record", rng.choice(10**6, ROWS, replace=False))
    (text,) = remarks(frame)
    assert "evenly spread: record" in text
    assert remarks(frame, keep=["record"]) == []
    frame["record"] = np.unique(rng.lognormal(18, 0.4, 2 * ROWS).round())[rng.permutation(ROWS)]
    assert remarks(frame) == []


def test_what_is_rare_or_many_is_counted():
    rng = np.random.default_rng(0)
    y = rng.random(20_000) < 0.018  # 360 rows
    frame = pd.DataFrame(rng.normal(0.2 * y[:, None], 1, (20_000, 100)))
    frame = frame.add_prefix("x").assign(y=np.where(y, "rare", "frequent"))
    (text,) = remarks(frame)
    assert "always naming it" in text
    assert "'rare' (" in remarks(frame[:500])[1]


def test_equal_rows_are_those_of_equal_values_and_gaps():
    frame = plain(rows=40).iloc[[*range(40), 3, 5, 3, 5]].reset_index(drop=True)
    frame.loc[[5, 41], "x0"] = np.nan
    groups = equal_rows(read_data_set(frame).sample).tolist()
    pairs = {(i, j) for i in range(44) for j in range(i) if groups[i] == groups[j]}
    assert pairs == {(40, 3), (42, 3), (42, 40), (41, 5)}
    assert sorted({*groups}) == [*range(41)]


def test_the_two_learners_agree_with_plain_loops():
    """Naive Bayes with ½ for each count, and the nearest row in other folds, row by row."""
    from simstudy.data.quick_check import _Rows

    sample = read_data_set(plain(rows=60)).sample
    names = [6, 7, 8]  # the labels
    rows = _Rows(sample, np.random.default_rng(0).permutation(60), names)
    folds = np.arange(60) % 10
    codes, y = sample.codes[rows.rows], sample.codes[rows.rows, -1]
    right, near = 0, 0
    for i in range(60):
        train = [j for j in range(60) if folds[j] != folds[i]]
        scores = []
        for c in (0, 1):
            of_class = [j for j in train if y[j] == c]
            score = len(of_class) + 0.5
            for v in names:
                same = sum(codes[j, v] == codes[i, v] for j in of_class)
                score *= (same + 0.5) / (len(of_class) + 0.5 * 4)
            scores.append(score)
        right += int(np.argmax(scores) == y[i])
        distances = [int((codes[j, names] != codes[i, names]).sum()) for j in train]
        near += int(y[train[int(np.argmin(distances))]] == y[i])
    assert rows.bayes(folds) == right / 60
    assert rows.neighbour(folds) == near / 60
