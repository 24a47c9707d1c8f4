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
