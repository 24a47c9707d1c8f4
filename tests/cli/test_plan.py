"""`simstudy plan`."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from simstudy import load_study, run_study
from simstudy.analysis.models.precision import power
from simstudy.workflow.pilot import Pilot, duration, forecast, run_pilot


@pytest.mark.slow
def test_a_pilot_tells_models_and_time(simstudy, write_study):
    done = simstudy("plan", write_study(), "--mcse", 0.01, "--difference", 0.05, "--jobs", 1)
    assert done.returncode == 0, done.stderr
    assert "Pilot: 4 of 4 models" in done.stdout
    assert "For a Monte-Carlo standard error of 0.01:" in done.stdout
    assert "every paired difference between learners: " in done.stdout
    assert "0.8 takes" in done.stdout


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--mcse", 0), "--mcse: 0.0 is not allowed; it must be above 0"),
        (("--difference", -1), "--difference: -1.0 is not allowed"),
        (("--power", 1), "--power: 1.0 is not allowed; it must lie between 0 and 1"),
    ],
)
def test_what_cannot_be_planned_is_refused_in_a_sentence(simstudy, write_study, options, said):
    done = simstudy("plan", write_study(), *options)
    assert done.returncode == 2
    assert said in done.stderr


def test_the_pilot_is_the_studys_first_models(write_study, tmp_path):
    study = load_study(write_study(), {"models": 6})
    pilot = run_pilot(study, models=4, jobs=1)
    few = load_study(write_study(), {"models": 4})
    scores = run_study(few, tmp_path / "few", jobs=1, report=False)
    assert pilot.models == 4
    pd.testing.assert_frame_equal(pilot.precision, scores.precision())
    assert 0 < pilot.seconds(6) < 60


def test_what_is_forecast_follows_from_the_spread(write_study):
    study = load_study(write_study(), {"models": 25})
    table = pd.DataFrame(
        {
            "kind": ["mean", "difference", "difference"],
            "size": [20, 20, 60],
            "first": ["NB", "NB", "NB"],
            "second": ["", "TAN", "TAN"],
            "sd": [0.06, 0.02, np.nan],
            "mcse_error": [0.1, 0.1, np.nan],
        }
    )
    pilot = Pilot(study, 10, table, each=0.5, overhead=3.0)
    assert pilot.seconds(25) == 12.5 + 3
    lines = "\n".join(forecast(pilot, 0.005, 0.01, 0.8))
    assert "25 models: about 16 s." in lines
    assert ": NB − TAN at 60" in lines
    assert "every mean: standard deviation between models up to 0.0600, so a Monte-Carlo" in lines
    assert "every mean: 144 models" in lines  # (0.06/0.005)²
    assert "every paired difference between learners: 16 models" in lines
    # One pair at two sizes: the level is 0.05/2. From the noncentral t distribution, by simulation.
    rng = np.random.default_rng(0)
    draws = rng.normal(0.01, 0.02, size=(20000, 25))
    t = draws.mean(axis=1) / (draws.std(axis=1, ddof=1) / math.sqrt(25))
    found = float((np.abs(t) > 2.3909).mean())  # the quantile of t(24) at 1 − 0.05/4
    reached = power(0.01, 0.02, 25, 0.95, 2)
    assert reached == pytest.approx(found, abs=0.01)
    assert f"power {reached:.2f}" in lines


def test_times_have_the_unit_that_suits_them():
    assert [duration(s) for s in (8.4, 250, 20000)] == ["about 8 s", "about 4 min", "about 5.6 h"]
