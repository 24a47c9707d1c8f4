"""Studies of data sets: run, continued, joined, refused."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import time
import tomllib

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import stats

import simstudy
from simstudy import SimstudyError, load_study, merge, open_results, run_cell, run_shard, run_study
from simstudy.analysis.tests.resampled import corrected_t
from simstudy.data.files.read import read_data
from simstudy.data.splits.resampling import Resampling
from simstudy.engine.plan import make_plan
from simstudy.learners import AODE
from simstudy.measures import information_reward
from simstudy.report.terminal import print_summary
from simstudy.results.store.journal import JOURNAL, Journal
from simstudy.workflow import pilot
from simstudy.workflow.lists import vary_study
from simstudy.workflow.pilot import run_pilot
from simstudy.workflow.split_pilot import data_power

STUDY = """
name = "flowers"
seed = 5
keep_answers = true

[[datasets]]
path = "flowers.csv"

[[datasets]]
path = "votes.csv"
name = "the votes"
target = "party"

[resampling]
folds = 3
repeats = 2

[[learners]]
name = "naive_bayes"
label = "NB"

[[learners]]
name = "aode"
label = "AODE"

[measures]
also = ["accuracy"]
"""


def flowers(rows: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 3, rows)
    return pd.DataFrame(
        {
            "length": (kind + rng.normal(0, 0.4, rows)).round(2),
            "colour": np.array(["red", "blue", "white"])[(kind + (rng.random(rows) < 0.3)) % 3],
            "kind": np.array(["a", "b", "c"])[kind],
        }
    )


def votes() -> pd.DataFrame:
    rng = np.random.default_rng(2)
    party = rng.integers(0, 2, 40)
    words = np.array(["no", "yes"])
    table = {f"v{i}": words[np.where(rng.random(40) < 0.8, party, 1 - party)] for i in range(3)}
    frame = pd.DataFrame({"party": np.array(["d", "r"])[party], **table})
    return frame.mask(rng.random(frame.shape) < [0, 0.2, 0.2, 0.2], "?")


@pytest.fixture
def write(tmp_path):
    """Write a study and its data files."""
    flowers().to_csv(tmp_path / "flowers.csv", index=False)
    votes().to_csv(tmp_path / "votes.csv", index=False)

    def written(changes: dict[str, str] | None = None):
        text = STUDY
        for old, new in (changes or {}).items():
            assert old in text, old
            text = text.replace(old, new)
        (tmp_path / "study.toml").write_text(text, encoding="utf-8")
        return tmp_path / "study.toml"

    return written


def scores_of(directory) -> bytes:
    return (directory / "scores.parquet").read_bytes()


def test_a_cell_is_the_learner_on_the_split(write, tmp_path):
    results = run_study(load_study(write()), tmp_path / "out", jobs=1)
    scores, answers = results.scores, results.answers
    assert [*scores][:6] == ["dataset", "model", "repeat", "fold", "size", "learner"]
    assert len(scores) == 2 * 6 * 2
    votes = read_data(tmp_path / "votes.csv", target="party")
    mine = answers[(answers["dataset"] == "the votes") & (answers["learner"] == "AODE")]
    assert sorted(mine[mine["repeat"] == 1]["row"]) == [*range(40)]
    for which, part in mine.groupby(["repeat", "fold"]):
        test = part["row"].to_numpy()
        train = votes.take(np.setdiff1d(np.arange(40), test))
        proba = AODE().fit(train).predict_proba(votes.take(test))
        np.testing.assert_allclose(np.stack(part["probabilities"]), proba, rtol=0, atol=1e-15)
        np.testing.assert_array_equal(part["target"], votes.target[test])
        n, k = len(train), 2
        clipped = np.clip(proba, 0.5 / (n + k / 2), (n + 0.5) / (n + k / 2))
        prior = train.class_frequencies(0.5)
        expected = information_reward(clipped, votes.target[test], prior).mean()
        same = (scores["repeat"] == which[0]) & (scores["fold"] == which[1])
        cell = scores[same & (scores["dataset"] == "the votes") & (scores["learner"] == "AODE")]
        (cell,) = cell.to_dict("records")
        np.testing.assert_allclose(cell["information_reward"], expected, rtol=1e-12)
        assert cell["size"] == n
    means = results.dataset_means("accuracy").set_index(["dataset", "learner"])
    every = scores.groupby(["dataset", "learner"])["accuracy"].mean()
    np.testing.assert_allclose(means["mean"].sort_index(), every.sort_index(), rtol=1e-15)
    table = results.dataset_table("accuracy")
    assert table.loc["the votes", "AODE"] == means.loc[("the votes", "AODE"), "mean"]
    (_, found) = results.pairwise_datasets("accuracy").to_dict("records")
    own = scores[scores["dataset"] == "the votes"].set_index("model")
    first, second = (own[own["learner"] == name]["accuracy"] for name in ("NB", "AODE"))
    # Three folds: a third of the rows is for testing.
    expected = corrected_t(first - second, 1 / 3)
    assert found["p"] == pytest.approx(expected.p)
    assert (found["dataset"], found["first"], found["n"], found["m"]) == ("the votes", "NB", 6, 2)
    with pytest.raises(SimstudyError, match="5 repeats of 2 folds, not 2 of 3"):
        results.pairwise_datasets(test="five_by_two_t")
    with pytest.raises(SimstudyError, match="no training size 50% here; there are 100%"):
        results.pairwise_datasets(size=0.5)


def test_the_same_bytes_whatever_the_processes_the_pieces_and_interruptions(write, tmp_path):
    study = load_study(write())
    whole = run_study(study, tmp_path / "whole", jobs=1).directory
    names = ("scores.parquet", "answers.parquet", "failures.csv", "study.toml")
    two = run_study(study, tmp_path / "two", jobs=2).directory
    pieces = [run_shard(study, (i, 2), tmp_path / f"p{i}", jobs=1).directory for i in (1, 2)]
    joined = merge(pieces, tmp_path / "joined").directory
    stopped = tmp_path / "stopped"

    class StopError(Exception):
        pass

    def stop(step):
        if step.models == 5:
            raise StopError

    with pytest.raises(StopError):
        run_study(study, stopped, jobs=1, progress=stop)
    assert len([*Journal(stopped).tasks()]) == 5
    run_study(study, stopped, jobs=1)
    for other in (two, joined, stopped):
        for name in names:
            assert (other / name).read_bytes() == (whole / name).read_bytes(), (other, name)


def test_splits_depend_on_the_seed_and_the_rows_alone(write, tmp_path):
    alone = write({'[[datasets]]\npath = "flowers.csv"\n': ""})
    one = run_study(load_study(alone), tmp_path / "one", jobs=1).scores
    both = run_study(load_study(write()), tmp_path / "both", jobs=1).scores
    kept = both[both["dataset"] == "the votes"].drop(columns="model").reset_index(drop=True)
    pd.testing.assert_frame_equal(one.drop(columns="model"), kept)
    other = run_study(load_study(write({"seed = 5": "seed = 6"})), tmp_path / "other", jobs=1)
    assert not other.scores["accuracy"].equals(both["accuracy"])


def test_more_data_sets_and_learners_extend_results_and_others_are_refused(write, tmp_path):
    out = tmp_path / "out"
    run_study(load_study(write({'[[learners]]\nname = "aode"\nlabel = "AODE"\n': ""})), out, jobs=1)
    before = [*Journal(out).cells()]
    run_study(load_study(write()), out, jobs=1)
    assert [*Journal(out).cells()][: len(before)] == before
    fresh = run_study(load_study(write()), tmp_path / "fresh", jobs=1).directory
    assert scores_of(fresh) == scores_of(out)
    flowers(61).to_csv(tmp_path / "flowers.csv", index=False)
    with pytest.raises(SimstudyError, match="datasets"):
        run_study(load_study(write()), out, jobs=1)
    flowers().to_csv(tmp_path / "flowers.csv", index=False)
    with pytest.raises(SimstudyError, match="resampling"):
        run_study(load_study(write({"folds = 3": "folds = 4"})), out, jobs=1)


def test_the_study_in_the_results_can_be_run_where_it_is(write, tmp_path):
    first = run_study(load_study(write()), tmp_path / "a" / "out", jobs=1).directory
    again = run_study(load_study(first / "study.toml"), tmp_path / "again", jobs=1).directory
    assert scores_of(first) == scores_of(again)


def test_learning_curves_use_the_first_rows_of_one_order(write, tmp_path):
    study = load_study(write({"repeats = 2": "repeats = 2\nsizes = [0.5, 1.0]"}))
    results = run_study(study, tmp_path / "out", jobs=1)
    sizes = results.scores.groupby("dataset")["size"].unique()
    assert [*sizes["flowers"]] == [20, 40]
    whole = run_study(load_study(write()), tmp_path / "whole", jobs=1).scores
    largest = results.scores[results.scores["size"] >= 26].reset_index(drop=True)
    columns = ["dataset", "repeat", "fold", "learner", "accuracy"]
    pd.testing.assert_frame_equal(largest[columns], whole[columns])


def test_one_cell_alone_has_the_same_scores(write, tmp_path):
    study = load_study(write())
    results = run_study(study, tmp_path / "out", jobs=1)
    row = results.scores.iloc[-1]
    alone = run_cell(study, int(row["model"]), study.train_sizes[0], row["learner"])
    assert alone["information_reward"] == row["information_reward"]


def test_failures_cost_their_own_cells(write, tmp_path):
    (tmp_path / "odd.py").write_text(
        "from dataclasses import dataclass\n"
        "from simstudy import Learner, register_learner\n"
        "@register_learner('odd_on_data')\n"
        "@dataclass(frozen=True)\n"
        "class Odd(Learner):\n"
        "    def fit(self, sample, rng=None):\n"
        "        raise RuntimeError('no')\n",
        encoding="utf-8",
    )
    changes = {
        'name = "flowers"\n': 'name = "flowers"\nplugins = ["odd.py"]\n',
        "[measures]": '[[learners]]\nname = "odd_on_data"\npreparation = { missing = "mode" }\n'
        "[measures]",
    }
    results = run_study(load_study(write(changes)), tmp_path / "out", jobs=1)
    assert results.manifest["failures"] == 12
    assert {*results.failures["learner"]} == {"odd_on_data"}
    assert results.dataset_means().query("learner == 'odd_on_data'")["splits"].eq(0).all()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({'also = ["accuracy"]': 'also = ["regret"]'}, r"measures.also\[0\]: 'regret' compares"),
        ({'also = ["accuracy"]': 'prior = "true"'}, 'measures.prior: "true" is not possible'),
        ({'also = ["accuracy"]': "prior = [0.5, 0.5]"}, "does not fit 'flowers', which has 3"),
        ({"seed = 5": "seed = 5\nmodels = 3"}, "models: this key is for studies of models"),
        ({"folds = 3": "folds = 1"}, "resampling: folds must be"),
        ({"folds = 3": "folds = 3\nshare = 0.5"}, "resampling: share does not belong"),
        ({"folds = 3": "folds = 61"}, "'flowers': 61 folds need at least 61 rows"),
        ({"folds = 3": "foldz = 3"}, "resampling.foldz: unknown key; did you mean 'folds'"),
        ({"folds = 3": "folds = 3\nsizes = [41]"}, "41 does not fit 'flowers'"),
        ({'path = "votes.csv"': 'path = "no.csv"'}, "no.csv"),
        ({'target = "party"': 'target = "parti"'}, "parti"),
        ({'target = "party"': 'targt = "party"'}, r"datasets\[1\].targt: unknown key"),
        ({'name = "the votes"': 'name = "flowers"'}, "two data sets are named 'flowers'"),
        ({'name = "aode"': 'name = "mml_tree"'}, r"learners\[1\]: on 'the votes', .*missing"),
        ({'name = "aode"': 'name = "truth"'}, r"learners\[1\]: 'truth' receives the truth"),
        ({"[resampling]": '[family]\nname = "tan"\n[resampling]'}, "not both"),
        (
            {'name = "aode"': 'name = "sklearn.neighbors:KNeighborsClassifier"\nn_neighbors = 27'},
            r"learners\[1\]: on 'the votes', n_neighbors = 27 .* the smallest set has 26",
        ),
        (
            {'name = "aode"': 'name = "tan"\ntree = [-1, 0]'},
            r"learners\[1\]: on 'the votes', tree = .* there are 3 attributes",
        ),
        (
            {'path = "flowers.csv"': 'path = "flowers.csv"\nclasses = { x = [], y = ["a"] }'},
            r"datasets\[0\]: .*flowers.csv: classes.x names no class",
        ),
        (
            {
                'target = "party"': 'target = "party"\nvalues = { party = ["d", "r", "x"] }\n'
                'classes = { x = ["x"], y = ["d", "r"] }'
            },
            r"datasets\[1\]: .*votes.csv: all rows belong to the class 'y'; two classes are needed",
        ),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_sentence(write, changes, words):
    with pytest.raises(SimstudyError, match=words):
        load_study(write(changes))


def test_keys_of_data_sets_are_refused_in_studies_of_models(write_study):
    with pytest.raises(SimstudyError, match="preparation: this key is for studies of data sets"):
        load_study(write_study({"[data]": "[preparation]\nbins = 4\n[data]"}))


def test_what_is_for_models_does_not_apply(write, tmp_path):
    results_study = load_study(write())
    run_study(results_study, tmp_path / "out", jobs=1)
    results = open_results(tmp_path / "out")
    assert "2 data sets" in repr(results)
    assert not {"anova", "pairwise", "plot_learning_curves"} & {*dir(results)}
    for command in (
        lambda: run_pilot(results_study, 3, jobs=1),
        lambda: run_study(results_study, tmp_path / "refined", refine=True),
        lambda: vary_study(write(), ["seed=1,2"], tmp_path / "varied"),
    ):
        with pytest.raises(SimstudyError, match=r"study of data sets; .* needs one of models"):
            command()
    assert not (tmp_path / "varied").exists()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert len(manifest["parts"]) == 12
    assert simstudy.read_data is read_data


def test_rows_without_a_target_are_counted_in_the_results(write, tmp_path):
    frame = flowers()
    frame.loc[[3, 7], "kind"] = ""
    study = write()
    frame.to_csv(tmp_path / "flowers.csv", index=False)
    results = run_study(load_study(study), tmp_path / "out", jobs=1)
    note, *_ = results.manifest["notes"]["flowers"]
    assert note.startswith("2 rows without a target dropped")


def test_classes_too_rare_to_stratify_are_named_in_the_results(write, tmp_path):
    frame = flowers()
    frame.loc[[3, 7], "kind"] = "orchid"
    study = write()
    frame.to_csv(tmp_path / "flowers.csv", index=False)
    results = run_study(load_study(study), tmp_path / "out", jobs=1)
    note, few = results.manifest["notes"]["flowers"][-2:]
    assert few.startswith("1 class has fewer than 20 rows: 'orchid' (2)")
    assert note.startswith("1 class with fewer than 3 rows, too rare to stratify")
    assert note.endswith("'orchid' (2 rows)")


def test_other_test_rows_change_no_model(write, tmp_path):
    """Rows 40 to 59 are tested; the last ten get extreme and missing values and other classes."""
    learners = "\n".join(
        f"[[learners]]\nname = '{name}'\nlabel = '{name} {number}'\n{keys}"
        for number, (name, keys) in enumerate(
            [
                *((name, "") for name in ("one_r", "boosted_c45", "tan", "kdb", "hnb", "lbr")),
                *((name, "") for name in ("decision_stump", "mml_tree", "mml_graph", "camml")),
                ("naive_bayes", "numeric = 'kernel'"),
                ("naive_bayes", "numeric = 'discretize'"),
                ("c45", "preparation = { discretize = 'equal_frequency', missing = 'value' }"),
                ("sklearn.linear_model:LogisticRegression", ""),
                ("sklearn.tree:DecisionTreeClassifier", "encode = 'ordinal'\nrandom_state = 1"),
            ]
        )
    )
    study = write(
        {
            '[[datasets]]\npath = "votes.csv"\nname = "the votes"\ntarget = "party"\n': "",
            "folds = 3\nrepeats = 2": 'splits = "splits.csv"\n[preparation]\nmissing = "mode"',
            "[measures]": f"{learners}\n[measures]",
        }
    )
    lines = [f"{row},0,0,{'train' if row < 40 else 'test'}" for row in range(60)]
    text = "\n".join(["row,repeat,fold,part", *lines, ""])
    (tmp_path / "splits.csv").write_text(text, encoding="utf-8")
    answers = []
    for changed in (False, True):
        frame = flowers()
        frame.loc[[1, 5, 45], ["length", "colour"]] = np.nan
        if changed:
            frame.loc[50:, "length"] = [1e6, -1e6, np.nan, 0.5, 0.5, 0.5, 0.5, 1e-6, 7, 7]
            frame.loc[50:, "colour"] = ["red"] * 6 + [np.nan] * 4
            frame.loc[50:, "kind"] = "c"
        frame.to_csv(tmp_path / "flowers.csv", index=False)
        results = run_study(load_study(study), tmp_path / f"out{changed}", jobs=1)
        assert results.manifest["failures"] == 0
        found = results.answers.query("row < 50").sort_values(["learner", "row"])
        answers.append(np.stack(found["probabilities"]))
    assert len(answers[0]) == 17 * 10
    np.testing.assert_array_equal(*answers)


def test_given_splits_are_used(write, tmp_path):
    sets = {"flowers": 60, "the votes": 40}
    rows = [f"{name},{row},{row % 2}" for name, number in sets.items() for row in range(number)]
    text = "\n".join(["set,row,rep1", *rows, ""])
    (tmp_path / "splits.csv").write_text(text, encoding="utf-8")
    study = write({"folds = 3\nrepeats = 2": 'splits = "splits.csv"'})
    answers = run_study(load_study(study), tmp_path / "out", jobs=1).answers
    assert (answers["row"] % 2 == answers["fold"]).all()


def test_given_splits_must_keep_groups_together(write, tmp_path):
    rows = [f"{row},{row % 2}" for row in range(60)]
    (tmp_path / "splits.csv").write_text("\n".join(["row,rep1", *rows, ""]), encoding="utf-8")
    frame = flowers()
    frame.insert(0, "plant", np.arange(60) % 6)  # even and odd rows share no plant
    votes_section = '[[datasets]]\npath = "votes.csv"\nname = "the votes"\ntarget = "party"\n'
    study = write(
        {
            'path = "flowers.csv"': 'path = "flowers.csv"\ngroups = "plant"',
            votes_section: "",
            "folds = 3\nrepeats = 2": 'splits = "splits.csv"',
        }
    )
    frame.to_csv(tmp_path / "flowers.csv", index=False)
    assert load_study(study).problems == 2
    frame["plant"] = np.arange(60) // 10
    frame.to_csv(tmp_path / "flowers.csv", index=False)
    words = r"resampling.splits: repeat 0, fold 0 of 'flowers' tests row 0, and rows of the same"
    with pytest.raises(SimstudyError, match=words):
        load_study(study)


def test_sizes_must_fit_the_training_parts_of_groups(write, tmp_path):
    frame = flowers()
    frame.insert(0, "plant", np.repeat(np.arange(8), [28, 3, 4, 6, 3, 6, 3, 7]))
    votes_section = '[[datasets]]\npath = "votes.csv"\nname = "the votes"\ntarget = "party"\n'
    changes = {
        'path = "flowers.csv"': 'path = "flowers.csv"\ngroups = "plant"',
        votes_section: "",
        "folds = 3\nrepeats = 2": 'scheme = "bootstrap"\nrepeats = 20\nsizes = [ROWS]',
    }
    study = write(changes)
    frame.to_csv(tmp_path / "flowers.csv", index=False)
    text = study.read_text(encoding="utf-8")
    parts = make_plan(load_study(_written(study, text.replace("ROWS", "5")))).source.parts
    least = min(part.train for part in parts)
    largest = _written(study, text.replace("ROWS", f"{least}"))
    assert {*run_study(load_study(largest), tmp_path / "out", jobs=1).scores["size"]} == {least}
    words = f"{least + 1} does not fit 'flowers', whose .* has {least} rows"
    with pytest.raises(SimstudyError, match=words):
        make_plan(load_study(_written(study, text.replace("ROWS", f"{least + 1}"))))


def _written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_rare_classes_and_suspected_markers_are_named(write, tmp_path):
    frame = flowers()
    frame.loc[:1, "kind"] = "rare"
    frame["length"] = frame["length"].astype(str)
    frame.loc[5, "length"] = "n/a"
    study = write()
    frame.to_csv(tmp_path / "flowers.csv", index=False)
    results = run_study(load_study(study), tmp_path / "out", jobs=1)
    marker, rare, _ = results.manifest["notes"]["flowers"]
    assert marker == "'n/a' among numbers is taken for a missing value: length"
    assert rare == (
        "1 class with fewer than 3 rows, too rare to stratify, spread as evenly as possible: "
        "'rare' (2 rows)"
    )
    assert "too rare to stratify" in " ".join(summary_of(results).split())


def summary_of(results) -> str:
    """What a run prints."""
    stream = io.StringIO()
    print_summary(results, Console(file=stream, width=100))
    return stream.getvalue()


MANY = {"repeats = 2": "repeats = 40"}
FILES = ("scores.parquet", "answers.parquet", "means.csv", "failures.csv", "study.toml")


@pytest.mark.slow
def test_a_run_that_is_killed_continues_to_the_same_bytes(write, tmp_path):
    study = write(MANY)
    whole = run_study(load_study(study), tmp_path / "whole", jobs=1).directory
    command = [sys.executable, "-m", "simstudy", "run", str(study), "--out", "out", "--quiet"]
    kills = 0
    for tasks in (3, 60, 150):
        with subprocess.Popen([*command, "--jobs", "2"], cwd=tmp_path) as process:
            while process.poll() is None and done_in(tmp_path / "out") < tasks:
                time.sleep(0.01)
            kills += process.poll() is None
            process.kill()
    assert kills == 3
    run_study(load_study(study), tmp_path / "out", jobs=1)
    for name in FILES:
        assert (tmp_path / "out" / name).read_bytes() == (whole / name).read_bytes(), name


@pytest.mark.slow
def test_a_plan_tells_cells_and_time(write, simstudy, tmp_path):
    done = simstudy("plan", write(), "--jobs", 2)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 data sets, 12 splits, 2 cells each: 24 cells." in done.stdout
    assert "As specified, 2 processes: about " in done.stdout
    assert "flowers: 6 splits, the first with 40 training rows in " in done.stdout
    assert "the votes: 6 splits, the first with " in done.stdout
    assert not (tmp_path / "results").exists()
    refused = simstudy("plan", write(), "--mcse", 0.01)
    assert refused.returncode == 2
    assert "study of data sets; --mcse needs one of models" in refused.stderr


def test_a_plan_of_data_sets_says_what_a_difference_needs(write, simstudy):
    done = simstudy("plan", write(), "--difference", 0.05, "--jobs", 1)
    assert (done.returncode, done.stderr) == (0, "")
    assert "by the corrected resampled t test at 0.05/2" in done.stdout
    assert "flowers: standard deviation " in done.stdout
    assert "the votes: standard deviation " in done.stdout
    assert "6 splits find it with power " in done.stdout


SCHEMES = {
    'scheme = "holdout"\nrepeats = 20': ("10", "20", True),
    "folds = 4\nrepeats = 3": ("12", "12", True),
    'scheme = "ordered"\nfolds = 4': ("4", "4", False),
    'scheme = "loo"': ("60", "60", False),
    "stratify = true": ("10", "100", True),  # ten repeats of ten folds
    'scheme = "repeated_cv"\nfolds = 2': ("10", "20", True),
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_plan_names_the_splits_run_and_only_keys_that_the_scheme_has(scheme, write):
    run, every, repeated = SCHEMES[scheme]
    loaded = load_study(write({"folds = 3\nrepeats = 2": scheme}))
    line = data_power(loaded, 0.001, 0.99, jobs=1)[1]
    assert line.startswith("  flowers: standard deviation ")
    assert f" in {run} splits; {every} splits find it with power " in line
    assert ("repeats" in line) == repeated
    if repeated:
        stated = re.search(r'(?:scheme = "cv" and )?repeats = \d+', line)
        keys = loaded.resampling.model_dump(exclude_none=True)
        Resampling.of(keys | tomllib.loads(stated[0].replace(" and ", "\n")))  # is not refused


def test_a_plan_does_not_take_the_5x2cv_test_for_another(write, tmp_path):
    five = load_study(write({"folds = 3\nrepeats = 2": 'scheme = "5x2cv"'}))
    (line,) = data_power(five, 0.05, 0.8, jobs=1)
    assert "5×2cv paired t test (Dietterich 1998)" in line
    assert "repeats =" not in line
    assert (
        run_study(five, tmp_path / "five", report=False).findings().winners.test == "five_by_two_t"
    )


def test_a_plan_over_data_sets_says_the_difference_also_of_5x2cv(write):
    third = 'target = "party"\n\n[[datasets]]\npath = "flowers.csv"\nname = "again"\n'
    changes = {"folds = 3\nrepeats = 2": 'scheme = "5x2cv"', 'target = "party"\n': third}
    first, over = data_power(load_study(write(changes)), 0.05, 0.8, jobs=1)
    assert "is not computed" in first
    assert over.startswith("A mean difference of 0.05 over data sets, by Wilcoxon's test at 0.05")


def test_a_plan_counts_the_rows_fitted_to(write, tmp_path):
    sized = load_study(write({"repeats = 2": "sizes = [10, 20]"}))
    line = data_power(sized, 0.2, 0.8, jobs=1)[1]
    made = run_study(sized, tmp_path / "sized", report=False).findings()
    scores = made.scores[made.scores["dataset"] == "flowers"]
    values = scores.pivot_table(index="model", columns="learner", values=made.measure)
    gaps = (values["NB"] - values["AODE"]).to_numpy()
    spread = gaps.std(ddof=1) * np.sqrt(1 / 3 + 20 / 20)  # folds of 20 rows, 20 rows fitted to
    power = nct_power(0.2 / spread, 2, 0.05 / 2)  # of two data sets
    assert f"3 splits find it with power {power:.2f}" in line


def nct_power(shift: float, df: int, alpha: float) -> float:
    t = stats.t.isf(alpha / 2, df)
    return float(stats.nct.sf(t, df, shift) + stats.nct.cdf(-t, df, shift))


def test_few_splits_say_what_they_could_find(write, tmp_path):
    changed = write({"repeats = 2\n": ""})
    results = run_study(load_study(changed), tmp_path / "few", report=False)
    console = Console(file=io.StringIO(), width=1000)
    print_summary(results, console)
    printed = console.file.getvalue()
    assert "With these splits only a difference above " in printed
    assert "with repeats = " in printed
    assert "would find" not in printed  # at that true difference power is about one half
    page = results.study.page
    assert any("repeats = " in text for text in page.statements(results, results.findings()))
    ordered = {"folds = 3\nrepeats = 2\n": 'scheme = "ordered"\nfolds = 3\n'}
    results = run_study(load_study(write(ordered)), tmp_path / "ordered", report=False)
    statements = results.study.page.statements(results, results.findings())
    assert not any("With these splits" in text for text in statements)


def test_a_pilot_of_data_sets_adds_up_splits(write, monkeypatch):
    monkeypatch.setattr(pilot, "perf_counter", iter([0.0, 4.0, 6.0]).__next__)
    lines = pilot.data_forecast(load_study(write()), jobs=2)
    assert "about 18 s" in lines[1]  # 6 splits of 4 s and 6 of 2 s, by two processes
    assert [line.partition(",")[0] for line in lines[2:]] == [
        "  flowers: 6 splits",
        "  the votes: 6 splits",
    ]
    assert [line.rpartition(" in ")[2] for line in lines[2:]] == ["4 s", "2 s"]


def done_in(directory) -> int:
    """The number of lines of a journal."""
    path = directory / JOURNAL
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.mark.slow
def test_a_cluster_gives_the_same_bytes(write, tmp_path, simstudy):
    pytest.importorskip("distributed")
    study = write()
    whole = run_study(load_study(study), tmp_path / "whole", jobs=1).directory
    options = ["--backend", "dask", "--jobs", 2, "--out", "out", "--quiet"]
    done = simstudy("run", study, *options)
    assert (done.returncode, done.stderr) == (0, "")
    for name in FILES:
        assert (tmp_path / "out" / name).read_bytes() == (whole / name).read_bytes(), name
