"""The 2004 studies give the rewards they always gave."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy import load_study, run_study
from simstudy.study.lists import load_collection

GOLDEN = Path(__file__).parents[1] / "golden" / "paper2004" / "rewards.csv.gz"
STUDIES = Path(__file__).parents[2] / "studies"
KEYS = ["model", "size", "learner"]


def check(name: str, models: int, out: Path) -> None:
    known = pd.read_csv(GOLDEN)
    known = known[known["study"].eq(name) & known["model"].lt(models)].reset_index(drop=True)
    study = load_study(STUDIES / f"{name}.toml", {"measures.prior": "test", "models": models})
    scores = run_study(study, out, report=False).scores
    pd.testing.assert_frame_equal(scores[KEYS], known[KEYS], check_dtype=False)
    # equal to the last digit on the same kind of processor; others may round sums differently
    found, rewards = (table["information_reward"].to_numpy() for table in (scores, known))
    np.testing.assert_allclose(found, rewards, rtol=1e-11, atol=1e-13)


NAMES = sorted(study.name for study in load_collection(STUDIES / "paper2004.toml").studies)


@pytest.mark.parametrize("name", NAMES)
def test_the_first_models_have_the_rewards_of_before(name, tmp_path):
    check(name, 3, tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_all_models_have_the_rewards_of_before(name, tmp_path):
    check(name, 40, tmp_path / "out")
