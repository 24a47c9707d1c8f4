"""Networks fitted to a table: draws from the posterior, and a study that carries its rows."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from simstudy import SimstudyError, load_study, merge, read_data, run_shard, run_study
from simstudy.data.files.assembly import ReadOptions
from simstudy.data.files.read import data_text, read_text_set
from simstudy.data.sample import Sample
from simstudy.learners.networks.camml.exact import ExactPosterior
from simstudy.sources.families import fitted
from simstudy.sources.families.fitted import (
    FITTERS,
    FittedFamily,
    draw_from_posterior,
    draw_model,
    informative,
)
from simstudy.testing import check_family

UCI = Path(__file__).parents[3] / "studies" / "data" / "uci"
STUDY = """
name = "mine"
models = 4

[family]
name = "fitted"
data = "rows.csv"
target = "class"
fitter = "tan"

[data]
train_sizes = [30]
test_size = 50

[[learners]]
name = "naive_bayes"

[[learners]]
name = "tan"
"""


def some_rows(rows: int = 80, seed: int = 0) -> str:
    rng = np.random.default_rng(seed)
    classes = rng.integers(2, size=rows)
    lines = ["colour,size,class"]
    for klass in classes:
        colour = "red" if rng.random() < 0.2 + 0.6 * klass else "blue"
        lines.append(f"{colour},{rng.normal(klass, 0.5):.2f},{'yes' if klass else 'no'}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "rows.csv").write_text(some_rows())
    (tmp_path / "mine.toml").write_text(STUDY)
    return tmp_path


def test_structures_drawn_have_the_exact_posterior_probabilities() -> None:
    rng = np.random.default_rng(3)
    posterior = ExactPosterior(Sample(rng.integers(0, 2, (40, 4)), (2, 2, 2, 2)))
    draws, counts = 3000, np.zeros((4, 16))
    for _ in range(draws):
        for child, parents in enumerate(draw_from_posterior(posterior, rng)):
            counts[child, sum(1 << parent for parent in parents)] += 1
    expected = posterior.parent_sets
    error = np.sqrt(expected * (1 - expected) / draws)
    assert (np.abs(counts / draws - expected) <= 5 * error + 1e-3).all()


def test_cpts_have_the_moments_of_their_dirichlet_distributions() -> None:
    sample = Sample(np.array([[0, 0]] * 6 + [[1, 0]] * 2 + [[1, 1]] * 4), (2, 2))
    rng = np.random.default_rng(1)
    # P(x = 1 | y = 0): 2 of 8 rows, so a Beta(2.5, 6.5) distribution.
    drawn = np.array(
        [draw_model(sample, ((1,), ()), rng).components[0].cpts[0][0, 1] for _ in range(4000)]
    )
    mean, total = 2.5 / 9, 9.0
    variance = mean * (1 - mean) / (total + 1)
    assert drawn.mean() == pytest.approx(mean, abs=4 * np.sqrt(variance / 4000))
    assert drawn.var() == pytest.approx(variance, rel=0.1)


def test_attributes_that_say_most_are_kept_in_their_order() -> None:
    rng = np.random.default_rng(0)
    target = rng.integers(2, size=200)
    noise, copy = rng.integers(2, size=200), target.copy()
    near = np.where(rng.random(200) < 0.2, 1 - target, target)
    rows = np.stack([near, noise, np.zeros(200, dtype=int), copy, target], axis=1)
    sample = Sample(rows, (2, 2, 1, 2, 2))
    assert informative(sample, 61).cards == (2, 2, 2, 2)  # without the constant
    kept = informative(sample, 2)
    assert np.array_equal(kept.codes, rows[:, [0, 3, 4]])


@pytest.mark.parametrize("fitter", FITTERS)
def test_every_fitter_keeps_the_contract_of_families(fitter: str, place: Path) -> None:
    family = FittedFamily(data=str(place / "rows.csv"), target="class", fitter=fitter)  # type: ignore[arg-type]
    check_family(family, draws=3)


def test_the_truth_is_found_again_from_many_rows(place: Path) -> None:
    (place / "rows.csv").write_text(some_rows(5000))
    family = FittedFamily(data=str(place / "rows.csv"), target="class")
    model = family.draw(np.random.default_rng(0))
    sample = model.sample(20_000, np.random.default_rng(1))
    red = 1  # after blue
    for klass, share in ((0, 0.2), (1, 0.8)):
        rows = sample.codes[sample.target == klass]
        assert (rows[:, 0] == red).mean() == pytest.approx(share, abs=0.04)


ODD = """name,'it''s',n,class
"a, b",x\\y,1.5,yes
%c,?,,no
{d},"it's",2,yes
"e
f",,3,no
"""


def test_a_table_as_text_is_read_as_the_same_data(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text(ODD)
    text = data_text(path)
    (tmp_path / "odd.arff").write_text(text)
    assert data_text(tmp_path / "odd.arff") == text
    mine, theirs = read_text_set(text, ReadOptions("class")).sample, read_data(path, "class")
    assert mine.schema == theirs.schema
    assert np.array_equal(mine.values, theirs.values, equal_nan=True)


@pytest.mark.parametrize("name", ["labor-neg", "ly", "iris"])
def test_declarations_of_a_catalogue_are_in_the_text(name: str) -> None:
    path = UCI / f"{name}.csv.gz"
    theirs = read_data(path)
    mine = read_text_set(data_text(path), ReadOptions(theirs.schema.target.name)).sample
    assert mine.schema == theirs.schema
    assert np.array_equal(mine.values, theirs.values, equal_nan=True)


def test_a_study_goes_on_and_is_merged_without_the_file(place: Path) -> None:
    study = load_study(place / "mine.toml")
    whole = run_study(study, place / "whole", jobs=1, report=False)
    for number in (1, 2):
        run_shard(study, (number, 2), place / f"part{number}", jobs=1)
    shutil.move(place / "rows.csv", place / "moved.csv")
    assert run_study(load_study(place / "whole" / "study.toml"), place / "whole").reused
    joined = merge([place / "part1", place / "part2"], place / "joined")
    assert joined.scores.equals(whole.scores)


def test_the_rows_are_the_identity_and_not_the_name_of_their_file(place: Path) -> None:
    identity = load_study(place / "mine.toml").family.identity
    shutil.move(place / "rows.csv", place / "other.csv")
    moved = {"family.data": "other.csv"}
    assert load_study(place / "mine.toml", moved).family.identity == identity
    (place / "other.csv").write_text(some_rows(seed=1))
    assert load_study(place / "mine.toml", moved).family.identity != identity


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"target": "klass"}, "did you mean 'class'"),
        ({"data": "nowhere.csv"}, "cannot be read"),
        ({"fitter": "forest"}, "camml"),
        ({"bins": 1}, "bins"),
    ],
)
def test_a_wrong_key_is_named(place: Path, options: dict[str, object], words: str) -> None:
    changed = {f"family.{key}": value for key, value in options.items()}
    with pytest.raises(SimstudyError, match=words):
        load_study(place / "mine.toml", changed)


def test_noise_without_a_cut_is_refused_with_advice(place: Path) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal():.3f},{rng.integers(2)}" for _ in range(60)]
    (place / "rows.csv").write_text("x,class\n" + "\n".join(lines) + "\n")
    with pytest.raises(SimstudyError, match="equal_frequency"):
        load_study(place / "mine.toml", {"family.discretize": "mdl"})
    load_study(place / "mine.toml", {"family.discretize": "auto"})


def test_many_variables_need_numba_or_another_fitter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fitted, "find_spec", lambda name: None)
    path = str(UCI / "house-votes-84.csv.gz")
    with pytest.raises(ValueError, match="numba"):
        FittedFamily(data=path, target="class")
    FittedFamily(data=path, target="class", fitter="tan")
