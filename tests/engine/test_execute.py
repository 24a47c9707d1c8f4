"""The same study gives the same bytes, however it is run."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from simstudy import SimstudyError, load_study, run_study

HEAVY = {
    "pandas",
    "statsmodels",
    "matplotlib",
    "pgmpy",
    "sklearn",
    "pydantic",
    "scipy",
    "pyarrow",
} | {"numba"}

REPORTER = """
import json, os, sys
from dataclasses import dataclass
from pathlib import Path
from simstudy import Learner, register_learner
from simstudy.learners.baselines import Prior

@register_learner("reporter")
@dataclass(frozen=True)
class Reporter(Learner):
    "Says which modules its process has imported."
    def fit(self, sample, rng=None):
        names = sorted({name.split(".")[0] for name in sys.modules})
        place = Path(__file__).parent / f"modules_{os.getpid()}.json"
        place.write_text(json.dumps(names))
        return Prior().fit(sample)
"""

DICE = """
from dataclasses import dataclass
import numpy as np
from simstudy import Learner, register_learner

@register_learner("dice")
@dataclass(frozen=True)
class Dice(Learner):
    "Answers at random, from the stream of its cell."
    faces: int = 6
    def fit(self, sample, rng=None):
        return Thrown(rng.dirichlet(np.ones(sample.classes)))

class Thrown:
    def __init__(self, proba):
        self.proba = proba
    def predict_proba(self, codes):
        return np.tile(self.proba, (len(codes), 1))
"""


@pytest.fixture
def dice_study(write_study, tmp_path):
    (tmp_path / "dice.py").write_text(DICE)
    dice = '[[learners]]\nname = "dice"\n'
    return write_study(
        {
            "seed = 7": 'seed = 7\nplugins = ["dice.py"]',
            'label = "TAN"\n': f'label = "TAN"\n\n{dice}',
        }
    )


def test_the_scores_are_the_same_bytes_for_any_number_of_jobs(dice_study, tmp_path):
    written = []
    for jobs in (1, 2, 4):
        results = run_study(
            load_study(dice_study), tmp_path / f"jobs{jobs}", jobs=jobs, report=False
        )
        assert set(results.scores["status"]) == {"ok"}
        written.append((results.directory / "scores.parquet").read_bytes())
    assert written[0] == written[1] == written[2]


def test_adding_models_sizes_or_learners_changes_no_other_cell(dice_study, tmp_path, write_study):
    before = run_study(load_study(dice_study), tmp_path / "before", jobs=1, report=False).scores
    text = dice_study.read_text()
    text = text.replace("models = 4", "models = 6").replace("[20, 60]", "[10, 20, 40, 60]")
    text = text.replace(
        "[[learners]]", '[[learners]]\nname = "dice"\nlabel = "more"\nfaces = 8\n\n[[learners]]', 1
    )
    after = run_study(
        load_study(write_study(text=text)), tmp_path / "after", jobs=1, report=False
    ).scores
    assert len(after) == 6 * 4 * 4
    keys = ["family", "model", "size", "learner"]
    common = before.merge(after, on=keys, suffixes=("", "_after"))
    assert len(common) == len(before) == 4 * 2 * 3
    assert (common["information_reward"] == common["information_reward_after"]).all()
    rewards = after.set_index(["learner", "model", "size"])["information_reward"]
    assert (rewards["dice"] != rewards["more"]).all()


def test_another_seed_gives_other_scores(write_study, tmp_path):
    one = run_study(load_study(write_study()), tmp_path / "one", jobs=1, report=False).scores
    two = run_study(
        load_study(write_study(), {"seed": 8}), tmp_path / "two", jobs=1, report=False
    ).scores
    assert (one["information_reward"] != two["information_reward"]).all()


def test_a_worker_imports_only_what_the_study_needs(write_study, tmp_path):
    (tmp_path / "reporter.py").write_text(REPORTER)
    path = write_study(
        {
            "seed = 7": 'seed = 7\nplugins = ["reporter.py"]',
            'label = "TAN"\n': 'label = "TAN"\nsearch = "superparent"\n\n'
            '[[learners]]\nname = "reporter"\n\n[[learners]]\nname = "aode"\n',
        }
    )
    subprocess.run(
        [sys.executable, "-m", "simstudy.run", str(path), "--jobs", "2", "--quiet"],
        cwd=tmp_path,
        check=True,
        timeout=120,
    )
    reports = list(tmp_path.glob("modules_*.json"))
    assert reports
    for report in reports:
        imported = set(json.loads(report.read_text()))
        assert "simstudy" in imported
        assert not imported & HEAVY


@pytest.mark.parametrize("listed", [False, True], ids=["study", "list"])
def test_a_quiet_run_without_a_report_imports_no_tables_and_no_figures(
    listed, write_study, tmp_path
):
    path = write_study()
    if listed:
        (tmp_path / "list.toml").write_text(f"name = 'list'\nstudies = ['{path.name}']\n")
        path = tmp_path / "list.toml"
    arguments = ["run", str(path), "--no-report", "--quiet", "--jobs", "1"]
    code = (
        "import sys\nfrom simstudy.cli import main\n"
        f"sys.argv[1:] = {arguments}\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print([m for m in sys.modules if '.' not in m])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert not set(eval(done.stdout)) & {"pandas", "matplotlib", "statsmodels", "sklearn", "pgmpy"}


def test_importing_simstudy_imports_nothing_heavy():
    code = "import simstudy, sys; print([m for m in sys.modules if '.' not in m])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert not set(eval(done.stdout)) & (HEAVY | {"numpy", "joblib", "typer", "rich"})


MISBEHAVING = """
from dataclasses import dataclass
import numpy as np
from simstudy import Learner, register_learner
from simstudy.learners.baselines import Prior

@register_learner("clumsy")
@dataclass(frozen=True)
class Clumsy(Learner):
    "Raises at 60 rows of every second data set, and gives NaN at 20 rows."
    def fit(self, sample, rng=None):
        if len(sample) == 60 and sample.codes.sum() % 2 == 0:
            raise RuntimeError("sixty is too many")
        return NotANumber(Prior().fit(sample), len(sample) == 20)

@dataclass
class NotANumber:
    fitted: object
    broken: bool
    def predict_proba(self, codes):
        proba = self.fitted.predict_proba(codes)
        return proba * np.nan if self.broken else proba
"""


def test_a_failing_learner_costs_its_own_cells_only(write_study, tmp_path):
    whole = run_study(
        load_study(write_study(name="whole.toml")), tmp_path / "whole", jobs=1, report=False
    ).scores
    (tmp_path / "clumsy.py").write_text(MISBEHAVING)
    path = write_study(
        {
            "seed = 7": 'seed = 7\nplugins = ["clumsy.py"]',
            'label = "TAN"\n': 'label = "TAN"\n\n[[learners]]\nname = "clumsy"\n',
        }
    )
    results = run_study(load_study(path), tmp_path / "clumsy", jobs=2, report=False)
    scores = results.scores
    others = scores[scores["learner"] != "clumsy"].reset_index(drop=True)
    pd.testing.assert_frame_equal(others, whole)
    clumsy = scores[scores["learner"] == "clumsy"]
    assert set(clumsy[clumsy["size"] == 20]["status"]) == {"invalid"}
    assert "error" in set(clumsy[clumsy["size"] == 60]["status"])
    failures = pd.read_csv(results.directory / "failures.csv")
    assert len(failures) == (scores["status"] != "ok").sum() == results.manifest["failures"]
    assert set(failures["learner"]) == {"clumsy"}
    raised = failures[failures["status"] == "error"].iloc[0]
    assert raised["error"] == "RuntimeError: sixty is too many"
    assert "clumsy.py" in raised["traceback"]


def test_a_family_that_cannot_draw_fails_its_models_and_says_why(write_study, tmp_path):
    (tmp_path / "picky.py").write_text(
        "from dataclasses import dataclass\n"
        "from simstudy import register_family\n"
        "from simstudy.sources.families.tan import TANFamily\n"
        "@register_family('picky')\n@dataclass(frozen=True)\nclass Picky(TANFamily):\n"
        "    'Draws a model now and then.'\n"
        "    def draw(self, rng):\n"
        "        if rng.random() < 0.5:\n            raise ValueError('not today')\n"
        "        return super().draw(rng)\n"
    )
    path = write_study(
        {"seed = 7": 'seed = 7\nplugins = ["picky.py"]', '"tan"\nvar': '"picky"\nvar'}
    )
    results = run_study(load_study(path, {"models": 12}), tmp_path / "out", jobs=1, report=False)
    by_model = results.scores.groupby("model")["status"].agg(lambda status: set(status).pop())
    assert set(by_model) == {"ok", "error"}
    failures = pd.read_csv(results.directory / "failures.csv")
    assert set(failures["error"]) == {"drawing the model: ValueError: not today"}
    anova = results.findings().anova
    assert anova.subjects == (by_model == "ok").sum()
    left_out = {model for model, _ in anova.left_out}
    assert left_out == set(by_model[by_model == "error"].index)


def test_the_working_directory_of_a_package_is_left_alone(tmp_path, write_study, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = write_study()
    results = run_study(load_study(path), jobs=1, report=False)
    assert results.directory == Path("results/small")
    assert {entry.name for entry in tmp_path.iterdir()} == {"study.toml", "results"}


VANDAL = """
from dataclasses import dataclass
import numpy as np
from simstudy import Learner, register_learner, register_measure
from simstudy.learners.baselines import Prior

@register_learner("vandal")
@dataclass(frozen=True)
class Vandal(Learner):
    "Writes into what it is given."
    where: str = "codes"
    def fit(self, sample, rng=None):
        if self.where == "codes":
            sample.codes[:, -1] = 0
        elif self.where == "tables":
            sample.counts(0, len(sample.cards) - 1)[:] = 1
        return Scribbler(Prior().fit(sample))

@dataclass
class Scribbler:
    fitted: object
    def predict_proba(self, codes):
        codes[:] = 0
        return self.fitted.predict_proba(codes)

@register_measure("graffiti", greater_is_better=True)
def graffiti(proba, y):
    proba[:] = 0.5
    return proba[:, 0]
"""


def test_a_learner_that_writes_into_its_data_spoils_only_its_own_cells(write_study, tmp_path):
    whole = run_study(
        load_study(write_study(name="whole.toml")), tmp_path / "whole", jobs=1, report=False
    ).scores
    (tmp_path / "vandal.py").write_text(VANDAL)
    vandals = "".join(
        f'[[learners]]\nname = "vandal"\nlabel = "{where}"\nwhere = "{where}"\n\n'
        for where in ("codes", "tables", "rows")
    )
    path = write_study(
        {
            "seed = 7": 'seed = 7\nplugins = ["vandal.py"]',
            '[[learners]]\nname = "naive_bayes"': f'{vandals}[[learners]]\nname = "naive_bayes"',
        }
    )
    scores = run_study(load_study(path), tmp_path / "out", jobs=1, report=False).scores
    honest = scores["learner"].isin(["NB", "TAN"])
    pd.testing.assert_frame_equal(scores[honest].reset_index(drop=True), whole)
    assert set(scores[~honest]["status"]) == {"error"}


def test_a_measure_that_writes_into_its_arguments_has_no_value(write_study, tmp_path):
    (tmp_path / "vandal.py").write_text(VANDAL.replace("vandal", "vandal2").replace("graf", "gref"))
    path = write_study(
        {
            "seed = 7": 'seed = 7\nplugins = ["vandal.py"]',
            "[data]": '[measures]\nalso = ["greffiti"]\n\n[data]',
        }
    )
    results = run_study(load_study(path), tmp_path / "out", jobs=1, report=False)
    assert results.scores["greffiti"].isna().all()
    assert results.scores["information_reward"].notna().all()
    (warning,) = {text.partition(": ")[2] for text in results.manifest["warnings"]}
    assert warning.startswith("no greffiti: ValueError: ")
    assert "read-only" in warning


def test_a_study_in_which_all_failed_is_not_a_success_the_second_time(write_study, tmp_path):
    (tmp_path / "hopeless.py").write_text(
        "from dataclasses import dataclass\nimport simstudy\n"
        "@simstudy.register_learner('hopeless')\n@dataclass(frozen=True)\n"
        "class Hopeless(simstudy.Learner):\n    'Never fits.'\n"
        "    def fit(self, sample, rng=None):\n        raise SystemExit\n"
    )
    text = write_study({"seed = 7": 'seed = 7\nplugins = ["hopeless.py"]'}).read_text()
    text = text.replace('"naive_bayes"', '"hopeless"').replace(
        'name = "tan"\nlabel', 'name = "hopeless"\nlabel'
    )
    path = write_study(text=text)
    for _ in range(2):
        with pytest.raises(SimstudyError, match=r"failures\.csv"):
            run_study(load_study(path), tmp_path / "out", jobs=1, report=False)


def test_means_are_over_the_models_in_which_nothing_failed(write_study, tmp_path):
    (tmp_path / "picky.py").write_text(
        "from dataclasses import dataclass\nfrom simstudy import register_learner\n"
        "from simstudy.learners.bayes.naive_bayes import NaiveBayes\n"
        "@register_learner('choosy')\n@dataclass(frozen=True)\nclass Choosy(NaiveBayes):\n"
        "    'Naive Bayes that will not have many classes.'\n"
        "    def fit(self, sample, rng=None):\n"
        "        if sample.classes > 3:\n            raise ValueError('too many classes')\n"
        "        return super().fit(sample, rng)\n"
    )
    path = write_study(
        {
            "seed = 7": 'seed = 7\nplugins = ["picky.py"]',
            'name = "tan"\nlabel = "TAN"': 'name = "choosy"',
        }
    )
    results = run_study(load_study(path, {"models": 12}), tmp_path / "out", jobs=1, report=False)
    means = results.intervals().set_index(["learner", "size"])["mean"]
    assert 0 < len(results.left_out()) < 11
    assert (means["NB"] == means["choosy"]).all()
    assert set(results.left_out()["model"]) == set(results.failures["model"])
    assert results.failures["stream"].str.startswith('[7, "[').all()


def test_warnings_of_a_learner_are_counted_and_kept(write_study, tmp_path, capfd):
    (tmp_path / "loud.py").write_text(
        "import warnings\nfrom dataclasses import dataclass\n"
        "from simstudy import register_learner\nfrom simstudy.learners.baselines import Prior\n"
        "@register_learner('loud')\n@dataclass(frozen=True)\nclass Loud(Prior):\n    'Warns.'\n"
        "    def fit(self, sample, rng=None):\n"
        "        warnings.warn('the sky is falling')\n        return super().fit(sample, rng)\n"
    )
    path = write_study({"seed = 7": 'seed = 7\nplugins = ["loud.py"]', '"naive_bayes"': '"loud"'})
    results = run_study(load_study(path), tmp_path / "out", jobs=1, report=False)
    assert results.manifest["warnings"] == {"NB: UserWarning: the sky is falling": 8}
    assert "falling" not in capfd.readouterr().err


def test_a_learner_of_an_imported_module_is_known_to_workers(write_study, tmp_path, monkeypatch):
    (tmp_path / "of_a_module.py").write_text(
        "from dataclasses import dataclass\nfrom simstudy import register_learner\n"
        "from simstudy.learners.baselines import Prior\n"
        "@register_learner('of_a_module')\n@dataclass(frozen=True)\n"
        "class OfAModule(Prior):\n    'Imported by whoever runs the study.'\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("of_a_module")
    study = load_study(write_study({'"naive_bayes"': '"of_a_module"'}))
    assert run_study(study, tmp_path / "out", jobs=2, report=False).manifest["failures"] == 0
