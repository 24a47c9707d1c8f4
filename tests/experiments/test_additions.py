"""A fifth experiment and a source of other problems are one file each."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simstudy import experiments, load_study, open_results, run_study
from simstudy.errors import SimstudyError
from simstudy.results.read.model_analyses import ModelResults

HERE = Path(__file__).parent
STUDY = """
name = "added"
seed = 3
models = 6
plugins = ["{plugin}"]
{compare}
[family]
name = "{family}"
[data]
train_sizes = [20, 200]
test_size = 200
[measures]
primary = "accuracy"
[[learners]]
name = "naive_bayes"
label = "NB"
[[learners]]
name = "c45"
label = "tree"
"""


@pytest.fixture(scope="module", autouse=True)
def no_traces():
    """Leave the experiments as they were."""
    before = dict(experiments._registered)
    yield
    experiments._registered.clear()
    experiments._registered.update(before)


def run(tmp_path, jobs, **options):
    shutil.copy(HERE / options["plugin"], tmp_path)
    path = tmp_path / "study.toml"
    path.write_text(STUDY.format(**options), encoding="utf-8")
    out = tmp_path / f"out{jobs}"
    run_study(load_study(path), out, jobs=jobs)
    return open_results(out)


@pytest.fixture(scope="module")
def classifiers(tmp_path_factory):
    options = {"plugin": "classifiers.py", "compare": 'compare = "classifiers"', "family": "tan"}
    place = tmp_path_factory.mktemp("classifiers")
    text = STUDY.format(**options).replace("test_size = 200\n", "")
    shutil.copy(HERE / "classifiers.py", place)
    (place / "study.toml").write_text(text, encoding="utf-8")
    for jobs in (1, 2):
        run_study(load_study(place / "study.toml"), place / f"out{jobs}", jobs=jobs)
    return place


def test_an_experiment_is_one_file(classifiers):
    results = open_results(classifiers / "out1")
    assert type(results) is ModelResults
    assert repr(results).startswith("ModelResults(6 models, 2 classifiers, 2 training sizes")
    assert (results.treatments, results.doses, results.measures) == (
        ["NB", "tree"],
        [20, 200],
        ["disagreement"],
    )
    scores = results.scores
    assert scores["disagreement"].between(0, 1).all()
    means = scores.groupby("size")["disagreement"].mean()
    assert means[200] < means[20]  # more rows, more alike
    page = (results.directory / "report.html").read_text(encoding="utf-8")
    assert "which of 2 classifiers changes least with its training set?" in page
    assert "Differences between classifiers" in page
    assert "classifier" in results.study.experiment.treatment
    assert not hasattr(results, "calibration")


def test_its_cells_are_the_same_in_workers(classifiers):
    one, two = ((classifiers / f"out{jobs}" / "scores.parquet").read_bytes() for jobs in (1, 2))
    assert one == two


def test_keys_of_other_experiments_are_refused(classifiers):
    path = classifiers / "other.toml"
    text = (classifiers / "study.toml").read_text(encoding="utf-8")
    path.write_text(text.replace("[data]", "[data]\nrepeats = 4"), encoding="utf-8")
    with pytest.raises(SimstudyError, match="repeats: this key is for studies with compare"):
        load_study(path)


def test_a_source_is_one_file(tmp_path):
    options = {"plugin": "parity.py", "compare": "", "family": "parity"}
    results = run(tmp_path, 1, **options)
    scores = results.scores
    assert (scores["status"] == "ok").all()
    means = scores[scores["size"] == 200].groupby("learner")["accuracy"].mean()
    assert means["NB"] < 0.65 < means["tree"]  # a parity is no sum of its bits
    parallel = run(tmp_path, 2, **options)
    first, second = (one.directory / "scores.parquet" for one in (results, parallel))
    assert first.read_bytes() == second.read_bytes()
    assert "6 puzzles" in repr(results)


def test_what_needs_models_is_refused_of_other_problems(tmp_path):
    shutil.copy(HERE / "parity.py", tmp_path)
    text = STUDY.format(plugin="parity.py", compare="", family="parity")
    path = tmp_path / "study.toml"
    for added, sentence in (
        ('\n[[changes]]\nname = "label_noise"\n', "changes are for models"),
        ('\n[[learners]]\nname = "truth"\n', "'truth' receives the truth"),
    ):
        path.write_text(text + added, encoding="utf-8")
        with pytest.raises(SimstudyError, match=sentence):
            load_study(path)


def test_results_of_a_plugin_that_is_not_there_say_so(classifiers):
    code = f"import simstudy; simstudy.open_results({str(classifiers / 'out1')!r})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "compares classifiers, an experiment of a plugin: import the plugin first" in run.stderr


def test_a_source_without_a_truth_refuses_what_needs_one(tmp_path):
    shutil.copy(HERE / "parity.py", tmp_path)
    text = STUDY.format(plugin="parity.py", compare="", family="parity")
    path = tmp_path / "study.toml"
    path.write_text(text.replace('"accuracy"', '"kl_divergence"'), encoding="utf-8")
    with pytest.raises(SimstudyError, match="the truth of a puzzle is not known"):
        load_study(path)
