"""``[learners.search]``: a grid of settings, among which each training part selects."""

from __future__ import annotations

import json

import numpy as np
import pytest

from simstudy import SimstudyError, load_study, run_study
from simstudy.components.registry import LEARNERS, build
from simstudy.sources.families.tan import TANFamily

STUDY = """
name = "search"
models = 2

[family]
name = "tan"
variables = [4, 4]

[data]
train_sizes = [80]
test_size = 50

[[learners]]
name = "kdb"
label = "KDB"
alpha = 2.0

[learners.search]
measure = "log_loss"
folds = 3

[learners.search.grid]
k = [0, 1]
"""


def test_a_search_is_a_selection_among_all_settings(write_study, tmp_path):
    study = load_study(write_study(text=STUDY))
    (learner,) = study.learners
    settings = [{"alpha": 2.0, "k": k} for k in (0, 1)]
    candidates = [{"learner": "kdb", "parameters": each} for each in settings]
    stated = {"candidates": candidates, "measure": "log_loss", "folds": 3}
    assert json.loads(learner.identity) == ["select", stated]
    assert learner.label == "KDB"
    (tmp_path / "study.toml").write_text(study.to_toml())
    assert load_study(tmp_path / "study.toml").learners[0].identity == learner.identity
    rng = np.random.default_rng(0)
    sample = TANFamily(variables=(4, 4)).draw(rng).sample(100, rng)
    fitted = build(LEARNERS, learner).fit(sample, rng)
    values = [value for (value,) in fitted.values]
    assert fitted.chosen == int(np.argmin(values))
    results = run_study(study, tmp_path / "out", jobs=1, report=False)
    assert set(results.scores["learner"]) == {"KDB"}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("k = [0, 1]", "k = []", "learners[0].search.grid.k"),
        ("k = [0, 1]", "", "learners[0].search.grid"),
        ("k = [0, 1]", "depth = [1]", "'depth' is no parameter of 'kdb'"),
        ("k = [0, 1]", "k = [0, -1]", "-1"),
        ("folds = 3", "fold = 3", "did you mean 'folds'?"),
        ('"log_loss"', '"logloss"', "did you mean 'log_loss'?"),
        ("k = [0, 1]", f"k = {[*range(2000)]}", "2,000 combinations; 1,000 are allowed"),
    ],
)
def test_a_wrong_search_is_one_sentence(write_study, old, new, said):
    with pytest.raises(SimstudyError) as caught:
        load_study(write_study({old: new}, text=STUDY))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
