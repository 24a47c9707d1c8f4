"""Lists with studies of data sets: what they refuse, their page, printed values; leaving out."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from simstudy import SimstudyError, read_data
from simstudy.cli.app import app
from simstudy.components.plugins import load_plugin
from simstudy.components.registry import LEARNERS
from simstudy.report.prose.finding import data_finding
from simstudy.study.files import read_toml, without
from simstudy.study.lists import load_collection
from simstudy.workflow.lists import run_collection, summary

STUDIES = Path(__file__).parents[2] / "studies"
STUDY = """
name = "flowers"
[[datasets]]
path = "iris.csv.gz"
[[datasets]]
path = "labor-neg.csv.gz"
[resampling]
scheme = "5x2cv"
[measures]
also = ["accuracy"]
[[learners]]
name = "naive_bayes"
label = "NB"
[[learners]]
name = "prior"
"""
LIST = """
name = "outer"
studies = ["flowers.toml"]
[[statements]]
study = "flowers"
text = "NB is better than nothing on iris"
relation = "beats"
learners = ["NB"]
against = ["prior"]
datasets = ["iris"]
[[published]]
study = "flowers"
measure = "accuracy"
file = "printed.csv"
source = "Somebody (2004)"
tolerance = 0.1
[published.notes]
iris = "Another flower."
"""


@pytest.fixture
def write(tmp_path):
    for name in ("iris", "labor-neg"):
        file = f"{name}.csv.gz"
        (tmp_path / file).write_bytes((STUDIES / "data" / "uci" / file).read_bytes())
    (tmp_path / "flowers.toml").write_text(STUDY)
    (tmp_path / "printed.csv").write_text("dataset,NB\niris,0.5\nlabor-neg,0.9\n")

    def write(old="", new=""):
        assert old in LIST
        path = tmp_path / "outer.toml"
        path.write_text(LIST.replace(old, new) if old else LIST)
        return path

    return write


def test_a_list_of_data_sets_gets_a_page_and_printed_values(write, tmp_path):
    collection = load_collection(write())
    results = run_collection(collection, tmp_path / "out", jobs=1)
    page = (tmp_path / "out" / "outer" / "compare.html").read_text()
    assert data_finding(results[0].data_findings()) in page
    for text in ("NB over prior on iris", "Another flower.", "Mean absolute difference"):
        assert text in page
    assert 'href="flowers/report.html"' in page
    table = pd.read_csv(tmp_path / "out" / "outer" / "published_flowers_accuracy.csv")
    ours = results[0].dataset_table("accuracy")["NB"]
    assert table["ours"].tolist() == pytest.approx(ours.tolist())
    expected = [ours["iris"] - 0.5, ours["labor-neg"] - 0.9]
    assert table["difference"].tolist() == pytest.approx(expected)
    assert table["beyond"].tolist() == [True, False]
    assert summary(collection, results)[0].startswith("Of 1 statement")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('datasets = ["iris"]', 'datasets = ["irs"]', "no data set 'irs'; did you mean 'iris'"),
        ('against = ["prior"]', 'against = ["NB"]', "statements[0].against: a learner is compared"),
        ('against = ["prior"]', "", 'statements[0].against: "beats" needs this key'),
        ('datasets = ["iris"]', "sizes = [50]", "statements[0].sizes: unknown key"),
        ('relation = "beats"', 'relation = "beat"', "statements[0].relation"),
        ('datasets = ["iris"]', 'rival = "NB"', 'rival: "beats" does not use this key'),
        ('file = "printed.csv"', 'file = "none.csv"', "published[0].file"),
        ('measure = "accuracy"', 'measure = "acuracy"', "published[0].measure"),
    ],
)  # fmt: skip
def test_what_no_result_could_decide_is_refused(write, old, new, said):
    with pytest.raises(SimstudyError) as error:
        load_collection(write(old, new))
    assert said in str(error.value)


def test_a_list_may_hold_a_list_with_its_statements(write, tmp_path):
    write()
    outer = tmp_path / "all.toml"
    outer.write_text('name = "all"\nstudies = ["outer.toml"]\n')
    found = load_collection(outer)
    assert [study.name for study in found.studies] == ["flowers"]
    assert [one.text for one in found.statements] == ["NB is better than nothing on iris"]
    deeper = tmp_path / "more.toml"
    deeper.write_text('name = "more"\nstudies = ["all.toml"]\n')
    with pytest.raises(SimstudyError, match="a list that itself contains lists"):
        load_collection(deeper)
    outer.write_text('name = "all"\nstudies = ["outer.toml"]\n[override]\nseed = 3\n')
    with pytest.raises(SimstudyError, match="its own settings"):
        load_collection(outer)


@pytest.mark.slow
def test_the_papers_are_one_list_whose_statements_cite_them():
    found = load_collection(STUDIES / "papers.toml")
    names = ["naive_bayes", "tan", "aode", "uci2004", "uci2002", "uci2001", "huang_ling2007"]
    assert [study.name for study in found.studies] == names
    numbers = [len(study.datasets) for study in found.studies]
    assert numbers == [0, 0, 0, 29, 11, 11, 12]
    assert all(line.source for one in found.statements for line in one.lines)
    (printed,) = found.published
    values = printed.values  # noqa: PD011
    assert len(values) == 37
    assert values["ptn"]["AODE"] == 0.46256  # A.2
    assert {table.name for table in found.studies[3].tables} <= {*values}


def test_data_sets_and_learners_can_be_left_out(write, tmp_path):
    write()
    made = without(read_toml(tmp_path / "flowers.toml"), ["labor-neg", "prior"])
    assert [one["path"] for one in made["datasets"]] == ["iris.csv.gz"]
    assert [one["name"] for one in made["learners"]] == ["naive_bayes"]
    run = CliRunner().invoke(app, ["run", str(tmp_path / "flowers.toml"), "--without", "irs"])
    assert isinstance(run.exception, SimstudyError)
    assert "no data set or learner 'irs'; did you mean 'iris'" in str(run.exception)


@pytest.fixture(scope="module")
def plugin():
    load_plugin(STUDIES / "huang_ling2007.py")
    learner = LEARNERS.get("stopped_mlp")
    return sys.modules[learner.__module__]


def test_a_network_is_kept_from_before_the_measure_stopped_to_gain(plugin):
    sample = read_data(STUDIES / "data" / "uci" / "iris.csv.gz")
    values = []

    class Watched(plugin.StoppedMLP):
        def _value(self, network, rows, target):
            values.append((super()._value(network, rows, target), network.coefs_[0].copy()))
            return values[-1][0]

    fitted = Watched(stop="auc", look_ahead=20).fit(sample)
    gains = np.diff([value for value, _ in values])
    assert (gains[:-1] >= 0.01).all()
    assert gains[-1] < 0.01
    assert len(gains) >= 2
    np.testing.assert_array_equal(fitted.estimator.coefs_[0], values[-2][1])


def test_the_number_for_both_is_the_papers(plugin):
    proba, y = np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.6, 0.4]]), np.array([0, 0, 1, 1])
    assert plugin.auc_acc(proba, y) == pytest.approx(0.75 + 0.01 * 0.5)
