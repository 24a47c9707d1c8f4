"""Estimates on data sets: by hand, the same bytes, and what is said of them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from benchmarks.known_estimators import digest, known
from simstudy import SimstudyError, load_study, make_study, open_results, run_study
from simstudy.data.preparation.prepare import Preparation
from simstudy.data.splits.schemes import CrossValidation
from simstudy.engine.plan import make_plan
from simstudy.estimators.bench import scheme_name
from simstudy.experiments.estimators.known import FILE, qualities, quality_of
from simstudy.learners import TAN
from simstudy.report.files import write_tables
from simstudy.report.pages.page import report_page
from simstudy.report.prose.estimates import coverage, kind, nearest
from simstudy.workflow.pilot import data_forecast

LEARNERS = [{"name": "naive_bayes", "label": "NB"}, {"name": "tan", "label": "TAN"}]
ESTIMATORS = [
    {"name": "resubstitution"},
    {"name": "cross_validation", "label": "cv", "folds": 4, "interval": "corrected"},
    {"name": "bootstrap_632", "label": ".632", "repeats": 6},
]


def study(place, **changes):
    rng = np.random.default_rng(2)
    kind = rng.integers(0, 2, 80)
    rows = [f"{rng.normal(2 * k):.3f},{'rg'[int(rng.random() < 0.3)]},{'ab'[k]}" for k in kind]
    rows[3] = f"?,g,{'ab'[kind[3]]}"
    (place / "set.csv").write_text("\n".join(["x,colour,class", *rows]) + "\n")
    content = {
        "name": "estimates",
        "compare": "estimators",
        "datasets": [{"path": "set.csv"}],
        "learners": LEARNERS,
        "measures": {"primary": "accuracy", "also": ["brier_score", "auc"]},
        "estimators": ESTIMATORS,
    }
    kept = {key: value for key, value in (content | changes).items() if value is not None}
    return make_study(kept, place)


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    place = tmp_path_factory.mktemp("estimates")
    return run_study(study(place), place / "out", jobs=1)


def test_an_estimate_is_that_of_the_learner_prepared_in_each_training_part(results):
    table = results.estimates.query("learner == 'TAN' and measure == 'accuracy'")
    table = table.set_index("estimator")
    (source,) = results.study.tables
    sample = source.sample
    whole = Preparation().fit(sample, TAN.accepts)
    fitted = TAN().fit(whole.train)
    right = fitted.predict_proba(whole(sample)).argmax(axis=1) == sample.target
    assert table.loc["resubstitution", "estimate"] == pytest.approx(right.mean())
    plan = make_plan(results.study)
    (dose,) = plan.doses
    scheme = results.study.estimators[1].parameters["folds"]
    folds = CrossValidation(scheme)
    rng = plan.stream(0, f"split/{scheme_name(folds)}/{dose}")
    hits = []
    for split in folds.splits(sample.target, rng):
        prepared = Preparation().fit(sample.take(split.train), TAN.accepts)
        test = sample.take(split.test)
        proba = TAN().fit(prepared.train).predict_proba(prepared(test))
        hits += [*(proba.argmax(axis=1) == test.target)]
    assert len(hits) == 80
    assert table.loc["cv", "estimate"] == pytest.approx(np.mean(hits))
    assert table.loc["cv", "interval"] == "corrected"
    assert table.loc["cv", "lower"] < table.loc["cv", "estimate"] < table.loc["cv", "upper"]


def test_scores_are_the_estimates_and_have_the_same_bytes_with_two_jobs(results, tmp_path):
    scores = results.scores.set_index("learner")  # whose column has the treatments
    table = results.estimates.query("learner == 'NB' and measure == 'brier_score'")
    named = dict(zip(table["estimator"], table["estimate"], strict=True))
    assert scores["estimate_brier_score_NB"].to_dict() == named
    again = run_study(study(tmp_path), tmp_path / "out", jobs=2, report=False)
    for name in ("scores.parquet", "estimates.parquet"):
        assert (again.directory / name).read_bytes() == (results.directory / name).read_bytes()


def test_the_page_has_estimates_but_no_bias(results, tmp_path):
    opened = open_results(results.directory)
    assert opened.estimates.equals(results.estimates)
    page = report_page(opened)
    assert page == (results.directory / "report.html").read_text(encoding="utf-8")
    assert "NB on set" in page
    assert "What each learner was given" in page
    assert "RMSE" not in page
    assert "bias" not in {*opened.estimates}
    assert "estimates" in {path.stem for path in write_tables(opened, tmp_path / "t")}


def test_all_rows_are_available_and_fewer_if_the_study_says_so(results, tmp_path):
    assert {*results.estimates["rows"]} == {80}
    assert results.properties()["rows"].tolist() == [80]
    fewer = study(tmp_path, resampling={"sizes": [0.5, 1.0]}, estimators=ESTIMATORS[:1])
    made = run_study(fewer, tmp_path / "fewer", jobs=1)
    assert [*dict.fromkeys(made.estimates["rows"])] == [40, 80]
    assert {*made.findings().estimates["rows"]} == {80}


def test_usual_estimators_are_filled_in(tmp_path):
    usual = study(tmp_path, estimators=None)
    assert usual.labels[:2] == ["resubstitution", "holdout 2/3"]
    assert ".632+" in usual.labels
    assert make_study(usual.as_dict(), tmp_path).labels == usual.labels


def test_what_does_not_fit_is_refused(tmp_path):
    with pytest.raises(SimstudyError, match=r"resampling.folds: estimators split the rows"):
        study(tmp_path, resampling={"folds": 5})
    with pytest.raises(SimstudyError, match=r'compare: "tests" needs a \[family\]'):
        study(tmp_path, compare="tests", estimators=None)
    with pytest.raises(SimstudyError, match="compares predictions with the truth"):
        study(tmp_path, measures={"primary": "kl_divergence"})


def test_a_plan_runs_the_estimates_once(tmp_path):
    lines = data_forecast(study(tmp_path), jobs=1)
    assert "3 cells" in lines[0]


def test_our_study_is_quoted_at_the_nearest_size_and_for_the_learner(results):
    small, large = (qualities(rows, "c45", "accuracy") for rows in (80, 690))
    assert [row.size for row in (small[0][0], large[0][0])] == [50, 500]
    assert {row.learner for row in large[0]} == {"c45"}
    assert [*{row.learner for rows in qualities(80, "tan", "accuracy") for row in rows}]
    assert large[0] == sorted(large[0], key=lambda row: row.rmse)
    assert not large[0][0].farther
    assert qualities(80, "c45", "auc") == []
    texts = [*nearest(results, results.findings("estimate_accuracy_NB"))]
    assert any("with 50 rows, the studied size nearest to 80" in text for text in texts)
    assert not [*nearest(results, results.findings("estimate_auc_NB"))]


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    place = tmp_path_factory.mktemp("usual")
    one = study(place, estimators=None, learners=LEARNERS[:1], measures={"primary": "accuracy"})
    return run_study(one, place / "out", jobs=1)


def test_a_run_and_its_report_quote_the_same_of_the_usual_estimators(usual):
    opened = open_results(usual.directory)  # whose study states every default
    page = (usual.directory / "report.html").read_text(encoding="utf-8")
    assert report_page(opened) == page
    (text,) = nearest(opened, opened.findings())
    assert [*nearest(usual, usual.findings())] == [text]
    assert all(label in text for label in usual.study.labels)
    assert "Not studied" not in text


def test_every_error_is_quoted_with_what_is_significant(usual):
    (text,) = nearest(usual, usual.findings())
    (rows,) = qualities(80, "naive_bayes", "accuracy")
    own = {spec.label: quality_of(spec, rows) for spec in usual.study.estimators}
    assert all(f"{row.rmse:.4f}" in text for row in own.values())
    far = [label for label, row in own.items() if row.farther]
    assert f"Significantly farther: {' and '.join(sorted(far, reverse=True))}; 50 models" in text
    assert f"nested 10-fold ({own['nested 10-fold'].rmse:.4f} with 50 repeats)" in text
    assert "did not differ" not in text


def test_an_estimator_is_quoted_with_its_own_parameters_only(tmp_path):
    stated = [
        {"name": "cross_validation", "label": "most", "repeats": 9, "interval": "folds"},
        {"name": "cross_validation", "label": "four", "folds": 4},
    ]
    most, four = study(tmp_path, estimators=stated).estimators
    (rows,) = qualities(80, "naive_bayes", "accuracy")
    assert quality_of(most, rows).settings["repeats"] == 10  # the nearest to 9
    assert quality_of(most, rows).settings["stratify"] is False
    assert quality_of(four, rows) is None


def test_coverage_is_that_of_the_interval_shown(usual):
    by_label = {spec.label: spec for spec in usual.study.estimators}
    of = 500, "c45", "accuracy", 0.95
    rows = by_label["10-fold stratified"]
    low, high = binomtest(43, 50).proportion_ci()  # of 50 intervals 43 had the exact value
    assert coverage(rows, "rows", *of) == f"86% [{low:.1%}, {high:.1%}]"
    assert coverage(rows, "percentile", *of) == ""
    assert coverage(rows, "rows", *of[:3], 0.9) == ""
    assert "for NB; " in coverage(rows, "rows", 500, "tan", "accuracy", 0.95)
    assert coverage(by_label["nested 10-fold"], "nested", *of).endswith("] with 50 repeats")
    assert kind(rows, "rows") == "rows, naive"
    assert kind(by_label["holdout 2/3"], "rows") == "rows"
    assert kind(by_label["10-fold ×10"], "corrected") == "corrected t"
    page = (usual.directory / "report.html").read_text(encoding="utf-8")
    assert "coverage in our study" in page
    assert "rows, naive" in page


def test_what_is_quoted_is_of_the_study_as_it_is():
    content = json.loads(FILE.read_text(encoding="utf-8"))
    assert content["digest"] == digest(load_study("estimators"))
    assert content["models"] == 50
    for row in content["rows"]:
        for share, *limits in row[-1].values():
            interval = binomtest(round(50 * share), 50).proportion_ci()
            assert [share, *limits] == pytest.approx([round(50 * share) / 50, *interval], abs=6e-5)
    for kept, row in zip(content["rows"], content["rows"][1:], strict=False):
        assert kept[:4] != row[:4] or kept[6] <= row[6]  # by the root mean squared error
        assert kept[:4] == row[:4] or not row[7]  # the least is not farther


@pytest.mark.slow
def test_what_is_quoted_is_what_a_run_finds(tmp_path):
    made = known(run_study(load_study("estimators"), tmp_path / "out", report=False))
    assert json.loads(json.dumps(made)) == json.loads(FILE.read_text(encoding="utf-8"))
