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
        (with_leak(), ["one column, outcome_code, predicts nearly as well alone", "beforehand?"]),
        (with_identifier(), ["record", "identifiers"]),
        (with_copies(), ["400 rows equal to an earlier row", "with equal rows in one part"]),
        (with_time(), ["the order of the rows matters", 'scheme = "ordered"']),
        (with_markers(), ["-999", "x1", "'NA' among numbers", "x2", "'N/A'", "a0"]),
        (with_rare_class(), ["99.0% of the rows are of class 'fine'", "'fraud' (1.0%)"]),
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


@pytest.mark.parametrize("name", ["bcw", "heart", "wine"])
def test_real_tables_are_not_accused(name):
    data = read_data_set(UCI / f"{name}.csv.gz")
    assert quick_check(data.sample, (), stream(0, "data", 0, "check")) == []


@pytest.mark.parametrize(
    ("name", "columns"), [("house-votes-84", "physician-fee-freeze"), ("iris", "petallength")]
)
def test_a_strong_column_is_asked_about_unless_it_is_kept(name, columns):
    data = read_data_set(UCI / f"{name}.csv.gz")
    (text,) = quick_check(data.sample, (), stream(0, "data", 0, "check"))
    assert columns in text
    assert text.endswith("known beforehand?")
    names = [variable.name for variable in data.sample.schema.attributes]
    assert quick_check(data.sample, names, stream(0, "data", 0, "check")) == []


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
    assert "equal to an earlier" in " | ".join(remarks(same.drop(columns="empty")))
    few = plain(rows=24)
    assert not [text for text in remarks(few) if "random folds" in text]


def test_groups_that_are_declared_are_not_named_again():
    assert remarks(with_groups(), groups="patient") == []


def test_equal_rows_are_those_of_equal_values():
    frame = plain(rows=40).iloc[[*range(40), 3, 5, 3]].reset_index(drop=True)
    frame.loc[[5, 41], "x0"] = np.nan  # rows with gaps are equal to no other
    groups = equal_rows(read_data_set(frame).sample).tolist()
    pairs = {(i, j) for i in range(43) for j in range(i) if groups[i] == groups[j]}
    assert pairs == {(40, 3), (42, 3), (42, 40)}
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
    assert rows.bayes(folds)[0] == right / 60
    assert rows.neighbour(folds) == near / 60
