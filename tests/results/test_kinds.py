"""Results are of the class of their kind, and have what applies to it only."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from markupsafe import escape

import simstudy
from simstudy.analysis.models.reliability import calibration
from simstudy.analysis.models.thresholds import thresholds
from simstudy.analysis.tests.intervals import intervals
from simstudy.analysis.tests.pairwise import pairwise
from simstudy.engine.plan import make_plan
from simstudy.engine.reliability import reliability
from simstudy.experiments import names
from simstudy.experiments.estimators.results import EstimatorResults
from simstudy.experiments.learners.data_results import DataResults
from simstudy.experiments.learners.results import LearnerResults
from simstudy.experiments.measures.results import MeasureResults
from simstudy.experiments.tests.results import TestResults
from simstudy.report.pages.page import report_page
from simstudy.results.read.model_analyses import ModelResults

CLASSES = {
    "learners": LearnerResults,
    "data": DataResults,
    "measures": MeasureResults,
    "estimators": EstimatorResults,
    "tests": TestResults,
}
EVERYWHERE = {
    *(
        "treatments",
        "shown",
        "doses",
        "sizes",
        "problems",
        "learners",
        "measures",
        "scores",
        "timings",
        "failures",
    ),
    *("study", "settings", "manifest", "info", "column", "to_csv", "about", "foreign", "findings"),
}
OF_MODELS = {
    *("models", "model", "world", "refined", "anova", "intervals", "pairwise"),
    *("thresholds", "difference_curve", "precision", "mixed", "left_out", "ranks", "rank_tests"),
    *("plot_learning_curves", "plot_difference", "plot_scores", "plot_ranks"),
}
OWN = {
    "learners": {
        *("answers", "curves", "converged", "regret", "regret_parts", "reliability"),
        *("calibration", "plot_reliability", "plot_regret"),
    },
    "data": {
        *("answers", "curves", "datasets", "data_findings", "dataset_means", "winners"),
        *("pairwise_datasets", "dataset_table", "correlations", "reversals", "properties"),
        *("refit", "seconds", "plot_means", "notes"),
    },
    "measures": {
        *("picks", "learner_pairs", "reference", "contradictions", "against_truth", "rows_needed"),
    },
    "estimators": {"estimates", "estimator_quality", "interval_quality", "errors"},
    "tests": {"rates", "rejections", "keeping", "most_powerful", "detecting", "leading"},
}
LEARNERS = [{"name": "naive_bayes", "label": "NB"}, {"name": "tan", "label": "TAN"}]
SHARED: dict[str, Any] = {
    "name": "small",
    "models": 3,
    "family": {"name": "tan", "variables": [3, 3]},
    "learners": LEARNERS,
    "measures": {"primary": "accuracy"},
    "data": {"train_sizes": [20, 40]},
}
STUDIES: dict[str, dict[str, Any]] = {
    "learners": SHARED,
    "data": {
        "name": "small",
        "datasets": [{"path": "rows.csv", "target": "y"}],
        "resampling": {"folds": 2},
        "learners": LEARNERS,
    },
    "measures": SHARED
    | {
        "compare": "measures",
        "measures": {"primary": "log_loss", "also": ["accuracy"]},
        "data": {"test_sizes": [20, 50], "repeats": 3},
    },
    "estimators": SHARED
    | {
        "compare": "estimators",
        "estimators": [{"name": "holdout"}, {"name": "resubstitution"}],
        "data": {"train_sizes": [20, 40], "training_sets": 3},
    },
    "tests": SHARED
    | {
        "compare": "tests",
        "tests": [{"name": "mcnemar"}, {"name": "five_by_two_t"}],
        "data": {"train_sizes": [20, 40], "repeats": 2},
    },
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: Any) -> Path:
    """A directory with the rows of a data set."""
    directory: Path = tmp_path_factory.mktemp("kinds")
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(rng.integers(0, 2, (40, 3)), columns=["a", "b", "y"])
    rows.assign(y=np.where(rng.random(40) < 0.8, rows["a"], rows["y"])).to_csv(
        directory / "rows.csv", index=False
    )
    return directory


@pytest.fixture(scope="module", params=STUDIES)
def kind(request: Any) -> str:
    """Each kind of study."""
    chosen: str = request.param
    return chosen


@pytest.fixture(scope="module")
def run(place: Path, kind: str) -> simstudy.Results:
    """Results of a run in this session."""
    study = simstudy.make_study(STUDIES[kind], place)
    return simstudy.run_study(study, place / kind, jobs=1)


@pytest.fixture(scope="module")
def opened(run: simstudy.Results) -> simstudy.Results:
    """The same, opened."""
    return simstudy.open_results(run.directory)


def test_there_is_a_study_of_every_kind():
    assert {one.get("compare", "learners") for one in STUDIES.values()} == {*names()}


def test_results_have_the_class_of_their_kind(kind, run, opened):
    for results in (run, opened):
        assert type(results) is CLASSES[kind]
        assert isinstance(results, simstudy.Results)
        assert isinstance(results, ModelResults) == (kind != "data")
        assert repr(results).startswith(f"{CLASSES[kind].__name__}(")
        summary = results._repr_html_()
        assert escape(results.study.page.finding(results, results.findings())) in summary
        assert escape(results.study.page.means(results)[-1].title) in summary


def test_what_does_not_apply_does_not_exist(kind, opened):
    public = {name for name in dir(opened) if not name.startswith("_")}
    inner = {"directory", "reused", "note", "is_exact", "check_file", "check_files"}
    of_kind = (set() if kind == "data" else OF_MODELS) | OWN[kind]
    assert public - inner == EVERYWHERE | of_kind


def test_treatments_doses_and_problems(kind, opened):
    treatments = {
        "measures": ["log_loss", "accuracy"],
        "estimators": ["holdout", "resubstitution"],
        "tests": ["mcnemar", "five_by_two_t"],
    }
    assert opened.treatments == treatments.get(kind, ["NB", "TAN"])
    assert opened.learners == ["NB", "TAN"]
    assert opened.doses == {"data": [1.0], "measures": [20, 50]}.get(kind, [20, 40])
    assert opened.sizes == opened.doses
    assert opened.problems == opened.scores["model"].nunique() == (2 if kind == "data" else 3)
    if kind == "data":
        assert opened.datasets == ["rows"]
    else:
        assert opened.models == 3


@pytest.mark.parametrize("sizes", [[0.25, 0.5], [5, 10]])
def test_sizes_of_data_sets_are_rows_or_shares(place, tmp_path, sizes):
    content = STUDIES["data"] | {"resampling": {"folds": 2, "sizes": sizes}}
    study = simstudy.make_study(content, place)
    results = simstudy.run_study(study, tmp_path / "out", jobs=1, report=False)
    assert results.sizes == results.doses == sizes
    assert [type(size) for size in results.sizes] == [type(size) for size in sizes]
    for size in results.sizes:
        assert len(results.dataset_table(size=size)) == 1
    with pytest.raises(simstudy.SimstudyError, match="no training size 75% here"):
        results.dataset_table(size=0.75)


@pytest.mark.parametrize("cls", [*CLASSES.values(), ModelResults, simstudy.Results])
def test_signatures_and_docstrings_say_everything(cls):
    for name, member in inspect.getmembers(cls):
        if name.startswith("_"):
            continue
        function = member if inspect.isfunction(member) else None
        if function is None:
            assert inspect.getdoc(member), name
            continue
        parameters = inspect.signature(function).parameters.values()
        assert not {one.kind for one in parameters} & {
            inspect.Parameter.VAR_KEYWORD,
            inspect.Parameter.VAR_POSITIONAL,
        }, name
        assert all(one.annotation != "Any" for one in parameters), name
        assert inspect.getdoc(function), name


def test_results_of_a_run_are_those_that_are_opened(run, opened):
    assert run.settings == opened.settings
    unreported = {"report": [], "card": None}
    assert run.manifest | unreported == opened.manifest | unreported
    written = (run.directory / "report.html").read_text(encoding="utf-8")
    assert report_page(run) == report_page(opened) == written


def test_a_study_at_hand_is_not_read_again(kind, place, run, monkeypatch):
    def refuse(*_: Any) -> None:
        raise AssertionError("the study was read again")

    study = simstudy.make_study(STUDIES[kind], place)
    expected = run.scores
    for name in ("open.recorded_study", "base.load_study"):
        monkeypatch.setattr(f"simstudy.results.read.{name}", refuse)
    again = simstudy.run_study(study, place / kind, jobs=1, report=False)
    assert again.reused
    assert again.scores.equals(expected)
    if kind == "data":
        assert again.refit("NB").dataset == "rows"
    else:
        assert again.model(1).names
    if kind == "learners":
        assert len(again.reliability(size=20, models=2))
    with pytest.raises(AssertionError, match="read again"):
        simstudy.open_results(place / kind)


def test_plugins_and_paths_are_as_the_results_have_them(place, tmp_path):
    (tmp_path / "mine.py").write_text(
        "from dataclasses import dataclass\nfrom simstudy import register_learner\n"
        "from simstudy.learners import Prior\n\n"
        "@register_learner('of_kinds')\n@dataclass(frozen=True)\nclass Mine(Prior):\n    pass\n"
    )
    (tmp_path / "rows.csv").write_bytes((place / "rows.csv").read_bytes())
    learners = [*LEARNERS, {"name": "of_kinds"}]
    content = STUDIES["data"] | {"plugins": ["mine.py"], "learners": learners}
    study = simstudy.make_study(content, tmp_path)
    results = simstudy.run_study(study, tmp_path / "deep" / "out", jobs=1, report=False)
    assert results.settings == simstudy.open_results(results.directory).settings
    assert results.settings["plugins"] == ["plugins/0_mine.py"]
    assert results.settings["datasets"][0]["path"] == "../../rows.csv"


@pytest.fixture(scope="module")
def compared(tmp_path_factory: Any) -> LearnerResults:
    """A comparison of learners."""
    study = simstudy.make_study(SHARED | {"models": 6})
    found = simstudy.run_study(study, tmp_path_factory.mktemp("compared"), jobs=1, report=False)
    assert isinstance(found, LearnerResults)
    return found


def test_arguments_are_those_of_the_analyses(compared):
    scores, value = compared.scores, "accuracy"
    pd.testing.assert_frame_equal(
        compared.intervals(confidence=0.9, method="cousineau-morey", adjustment="none"),
        intervals(scores, value=value, confidence=0.9, method="cousineau-morey", adjustment="none"),
    )
    pd.testing.assert_frame_equal(
        compared.pairwise(confidence=0.8, adjustment="holm"),
        pairwise(scores, value=value, confidence=0.8, adjustment="holm"),
    )
    pd.testing.assert_frame_equal(
        compared.pairwise(factor="size", within="learner"),
        pairwise(scores, value=value, factor="size", within="learner", adjustment="bonferroni_all"),
    )
    pd.testing.assert_frame_equal(
        compared.thresholds(confidence=0.7, adjustment="none"),
        thresholds(scores, value=value, confidence=0.7, adjustment="none"),
    )
    repeated = reliability(make_plan(compared.study), models=3, size=20, bins=5, classes="modal")
    expected = calibration(repeated.table, confidence=0.8, adjustment="none")
    options = {"classes": "modal", "confidence": 0.8, "adjustment": "none"}
    pd.testing.assert_frame_equal(compared.reliability(20, 3, 5, **options), expected)


def test_what_is_left_out_is_as_the_study_says(compared):
    usual = compared.study.analysis
    assert usual.adjustment == "bonferroni_all"
    for method, adjustment in (("intervals", "bonferroni"), ("pairwise", "bonferroni_all")):
        ask = getattr(compared, method)
        for given in ({"confidence": usual.confidence}, {"adjustment": adjustment}):
            pd.testing.assert_frame_equal(ask(**given), ask())
