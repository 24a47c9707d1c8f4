"""Tables of an analysis belong to whoever asked for them."""

from __future__ import annotations

import pandas as pd
import pytest

from simstudy import load_study, run_study

TABLES = {
    "anova": (),
    "intervals": (),
    "pairwise": (),
    "thresholds": (),
    "precision": (),
    "ranks": (),
    "difference_curve": ("NB", "TAN"),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    from tests.conftest import SMALL_STUDY

    place = tmp_path_factory.mktemp("analyses")
    (place / "study.toml").write_text(SMALL_STUDY)
    return run_study(load_study(place / "study.toml"), place / "out", jobs=1, report=False)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_that_is_changed_changes_no_later_one(results, name):
    def ask():
        return getattr(results, name)(*TABLES[name])

    before = ask().copy()
    mine = ask()
    for column in mine.select_dtypes("number"):
        mine[column] = -1
    pd.testing.assert_frame_equal(ask(), before)
