"""What learners were given is said as the run prepared it, and where it differs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, StandardScaler

from simstudy import compare, make_study, open_results, run_study
from simstudy.report.methods import documents
from simstudy.report.pages.page import report_page
from simstudy.report.prose.inputs import NOT_THERE, different_inputs, inputs

NB = {"name": "naive_bayes", "label": "NB (Gaussian)"}
CUT = {"name": "discretized_naive_bayes", "label": "NB (cut)"}
OWN = {"name": "naive_bayes", "label": "own", "numeric": "discretize"}
FORCED = {"name": "naive_bayes", "label": "forced", "preparation": {"discretize": "equal_width"}}
FITTED = {"name": "calibrated", "label": "calibrated", "learner": "discretized_naive_bayes"}


def results(tmp_path, learners, header="x,colour,class", gap="", **more):
    rng = np.random.default_rng(1)
    kind = rng.integers(0, 2, 60)
    lines = [f"{rng.normal(k):.3f},{'rg'[k]},{'ab'[k]}" for k in kind]
    lines[0] = f"{gap or 0.5},r,a"
    (tmp_path / "set.csv").write_text("\n".join([header, *lines]) + "\n")
    content = {"name": "given", "datasets": [{"path": "set.csv"}], "learners": learners, **more}
    content.setdefault("resampling", {"folds": 2})
    return run_study(make_study(content, tmp_path), tmp_path / "out", jobs=1, report=False)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    learners = [NB, CUT, OWN, FORCED, FITTED]
    return results(tmp_path_factory.mktemp("mixed"), learners, gap="?")


def test_numbers_are_said_to_be_cut_where_they_are(mixed):
    numbers = {row.learner: row.numbers for row in inputs(open_results(mixed.directory))}
    mdl = "cut by Fayyad & Irani's (1993) criterion"
    assert numbers == {
        "NB (Gaussian)": "uncut",
        "NB (cut)": mdl,
        "own": f"{mdl}, by the learner",
        "forced": "cut into 10 bins of equal width",
        "calibrated": mdl,
    }


def test_different_inputs_are_said_on_page_and_in_methods(mixed):
    text = different_inputs(mixed)
    assert text.startswith("Learners were given different inputs: numbers were uncut for NB (Gau")
    assert "NB (cut) and calibrated" in text
    assert "missing values" not in text  # left to all of them
    assert "What each learner was given" in report_page(mixed)
    assert "Numbers: uncut for NB (Gaussian)" in documents(mixed)["md"]
    assert mixed.study.page.gaps(mixed)[0] == text


def test_equal_inputs_are_not_called_different(tmp_path):
    rivals = results(tmp_path, [CUT, {"name": "tan"}, {"name": "aode"}], gap="?")
    assert different_inputs(rivals) == ""
    assert {row.missing for row in inputs(rivals)} == {"left to the learner"}


def test_what_the_data_do_not_have_is_not_prepared(tmp_path):
    complete = results(tmp_path, [NB, CUT], preparation={"missing": "mode"})
    assert {row.missing for row in inputs(complete)} == {NOT_THERE}


def test_a_classifier_has_its_rows_encoded(tmp_path):
    forest = {"name": "sklearn.tree:DecisionTreeClassifier", "label": "tree"}
    shown = inputs(results(tmp_path, [NB, forest], gap="?"))
    assert [row.nominal for row in shown] == ["as they are", "one-hot"]
    assert shown[0].missing == "left to the learner" != shown[1].missing


def test_what_pipelines_do_is_left_to_them(tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 40)
    x = rng.normal(y[:, None], 1, (40, 2))
    scaled = make_pipeline(StandardScaler(), LogisticRegression())
    cut = make_pipeline(KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf"), scaled)
    search = GridSearchCV(scaled, {"logisticregression__C": [1.0, 2.0]}, cv=2)
    bag = BaggingClassifier(scaled, n_estimators=2)
    plain = LogisticRegression()
    learners = [("cut", cut), ("search", search), ("bag", bag), ("plain", plain)]
    made = compare((x, y), learners=learners, resampling=2, out=tmp_path / "p", report=False)
    rows = {row.learner: (row.numbers, row.scaled) for row in inputs(made)}
    left = ("left to the pipeline",) * 2
    assert rows == {"cut": left, "search": left, "bag": left, "plain": ("uncut", "no")}
    text = different_inputs(made)
    assert text.startswith("Learners may have been given different inputs: numbers were left to")
    assert "uncut for plain." in text
    learners[0] = "tan"  # whose numbers are cut: that is certain
    made = compare((x, y), learners=learners, resampling=2, out=tmp_path / "q", report=False)
    assert different_inputs(made).startswith("Learners were given different inputs: numbers were")


def test_results_of_earlier_versions_have_no_table(mixed):
    earlier = open_results(mixed.directory)
    earlier.manifest["transforms"] = {}
    assert inputs(earlier) == []
    assert different_inputs(earlier) == ""
    assert "What each learner was given" not in report_page(earlier)
