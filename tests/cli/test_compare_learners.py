"""``compare-learners``: the call of `simstudy.compare` in a shell."""

from __future__ import annotations

import pytest

import simstudy as package


@pytest.fixture
def table(tmp_path):
    rows = [f"{i % 7 + 3 * (i % 2)},{'ab'[i % 3 > 0]},{'ny'[i % 2]}" for i in range(60)]
    path = tmp_path / "my table.csv"
    path.write_text("\n".join(["size,colour,bought", *rows, ""]))
    return path


def test_the_command_makes_the_same_study_as_the_call(table, tmp_path, simstudy):
    learners = ["tan", "sklearn.tree:DecisionTreeClassifier"]
    options = [word for name in learners for word in ("--learner", name)]
    place = tmp_path / "out"
    done = simstudy(
        *("compare-learners", table, "--target", "bought", *options),
        *("--folds", 3, "--measure", "log_loss", "--out", place, "--jobs", 1),
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith(f"{place / 'report.html'}")
    assert "DecisionTreeClassifier" in done.stdout
    results = package.compare(
        table, "bought", learners, resampling=3, measures="log_loss", out=place, jobs=1
    )
    assert results.reused
    assert results.treatments == ["tan", "DecisionTreeClassifier"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--target", "sold"], "sold"),
        (["--learner", "tann"], "did you mean 'tan'?"),
        (["--measure", "acuracy"], "did you mean 'accuracy'?"),
    ],
)
def test_a_wrong_option_is_one_sentence(options, said, table, tmp_path, simstudy):
    done = simstudy("compare-learners", table, *options, "--out", tmp_path / "out")
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_columns_are_described_as_for_data(table, tmp_path, simstudy):
    rows = [f"{i},{line},{i % 6}" for i, line in enumerate(table.read_text().split()[1:])]
    table.write_text("\n".join(["id,size,colour,bought,site", *rows, ""]))
    options = ["--target", "bought", "--ignore", "id", "--groups", "site", "--nominal", "size"]
    call = ("compare-learners", table, *options, "--folds", 3, "--jobs", 1, "--learner", "tan")
    done = simstudy(*call, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    study = package.load_study(tmp_path / "out" / "study.toml")
    (read,) = study.tables
    assert [variable.name for variable in read.sample.schema.variables] == [
        "size",
        "colour",
        "bought",
    ]
    assert not read.sample.schema.numeric
    assert len({*read.sample.groups}) == 6


def test_a_learner_that_always_fails_is_named(table, tmp_path, simstudy):
    (tmp_path / "failing.py").write_text(
        "class Failing:\n"
        "    def fit(self, X, y):\n        raise ValueError('not today')\n"
        "    def predict_proba(self, X):\n        return None\n"
    )
    call = ("compare-learners", table, "--folds", 2, "--jobs", 1, "--learner", "failing:Failing")
    done = simstudy(*call, "--learner", "tan", "--out", tmp_path / "out")
    assert done.returncode == 3
    assert "Failing failed in every split: ValueError: not today" in done.stderr
    assert "Warning" not in done.stderr
