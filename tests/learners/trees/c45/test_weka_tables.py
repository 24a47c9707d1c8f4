"""C4.5 answers as Weka's J48 on real tables with numeric attributes and missing values."""

from pathlib import Path

import numpy as np
import pytest

from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.learners.trees.c45.boosting import BoostedC45
from simstudy.learners.trees.c45.learner import C45

TABLES = Path(__file__).parents[3] / "golden" / "weka" / "j48_tables.npz"
NAMES = ["iris", "labor", "vote", "glass", "ionosphere", "breast-cancer", "soybean", "weather"]
LEARNERS = {
    "default": C45(),
    "unpruned_laplace": C45(prune=False, laplace=True),
    "no_raising": C45(subtree_raising=False),
    "all_rows": C45(),
    # Weka holds the confidence in single precision.
    "conf10_min5": C45(confidence=float(np.float32(0.1)), min_leaf=5),
    "boosted": BoostedC45(),
}


def read(name: str) -> tuple[Sample, dict[str, np.ndarray]]:
    """The rows of a table, and Weka's answers."""
    with np.load(TABLES) as file:
        cards = file[f"{name}_cards"].tolist()
        rows = file[f"{name}_rows"].astype(np.float64)
        if all(cards):
            rows[rows == -1] = np.nan
        answers = {learner: file[f"{name}_{learner}"] for learner in LEARNERS}
    return Sample.of(rows, Schema.plain(cards)), answers


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("name", NAMES)
def test_answers_are_those_of_weka(name: str, learner: str) -> None:
    sample, answers = read(name)
    rows = np.arange(0, len(sample), 1 if learner == "all_rows" else 2)
    fitted = LEARNERS[learner].fit(sample.take(rows))
    np.testing.assert_allclose(fitted.predict_proba(sample), answers[learner], rtol=0, atol=1e-9)


def test_the_tables_have_numbers_and_missing_values() -> None:
    samples = {name: read(name)[0] for name in NAMES}
    numeric = {name for name, sample in samples.items() if 0 in sample.cards}
    missing = {name for name, sample in samples.items() if sample.incomplete}
    assert numeric == {"iris", "labor", "glass", "ionosphere", "weather"}
    assert missing == {"labor", "vote", "breast-cancer", "soybean"}
