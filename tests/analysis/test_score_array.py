import logging

import numpy as np
import pandas as pd
import pytest

from simstudy.analysis.score_array import LeftOut, complete_subjects

ARGUMENTS = ("model", ("learner", "size"), "information_reward")


def at(table, model, learner, size):
    return (
        (table["model"] == model) & (table["learner"] == learner) & (table["size"] == size)
    ).to_numpy()


def test_every_value_stands_in_its_cell(scores):
    shuffled = scores.sample(frac=1, random_state=5)
    values, (learners, sizes), models, left_out = complete_subjects(shuffled, *ARGUMENTS)
    assert values.shape == (3, 2, 2)
    assert left_out == []
    for row in scores.itertuples():
        place = models.index(row.model), learners.index(row.learner), sizes.index(row.size)
        assert values[place] == row.information_reward


def test_words_keep_their_order_of_appearance_and_numbers_ascend(scores):
    backwards = scores.iloc[::-1]
    _, levels, models, _ = complete_subjects(backwards, *ARGUMENTS)
    assert levels == [["tan", "nb"], [50, 500]]
    assert models == [0, 1, 2]
    words = backwards.assign(learner=backwards["learner"].astype("category"))
    assert complete_subjects(words, *ARGUMENTS)[1] == levels
    objects = backwards.assign(size=backwards["size"].astype(object))
    assert complete_subjects(objects, *ARGUMENTS)[1] == levels


def test_a_model_with_a_missing_cell_is_left_out_and_named(scores):
    table = scores[~at(scores, 1, "tan", 50)]
    values, _, models, left_out = complete_subjects(table, *ARGUMENTS)
    assert models == [0, 2]
    assert values.shape == (2, 2, 2)
    reason = "no finite information reward for learner tan, size 50 (no row)"
    assert left_out == [LeftOut(1, reason)]
    assert (left_out[0].subject, left_out[0].reason) == (1, reason)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_value_that_is_not_finite_counts_as_missing(scores, value):
    scores.loc[at(scores, 1, "tan", 50), "information_reward"] = value
    _, _, models, left_out = complete_subjects(scores, *ARGUMENTS)
    assert models == [0, 2]
    said = "" if np.isnan(value) else " (infinite)"
    reason = f"no finite information reward for learner tan, size 50{said}"
    assert left_out == [LeftOut(1, reason)]


def test_the_status_of_the_offending_cell_is_mentioned(scores):
    scores.loc[at(scores, 2, "nb", 500), ["information_reward", "status"]] = [np.nan, "error"]
    left_out = complete_subjects(scores, *ARGUMENTS)[3]
    assert left_out[0].reason.endswith("for learner nb, size 500 (error)")


def test_many_missing_cells_are_counted_not_all_named(scores):
    scores.loc[scores["model"] == 2, "information_reward"] = np.nan
    reason = complete_subjects(scores, *ARGUMENTS)[3][0].reason
    assert reason == (
        "no finite information reward for learner nb, size 50; learner nb, size 500; "
        "learner tan, size 50; and 1 more cell"
    )


def test_one_warning_counts_those_left_out_and_names_the_first(caplog):
    table = pd.DataFrame(
        [(f"m{model}", learner) for model in range(9) for learner in "ab"],
        columns=["model", "learner"],
    ).assign(reward=1.0)
    table.loc[table["model"] < "m5", "reward"] = np.nan
    with caplog.at_level(logging.WARNING, logger="simstudy.analysis"):
        complete_subjects(table, "model", ("learner",), "reward")
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("simstudy.analysis", "WARNING")
    message = record.getMessage()
    assert "5 of 9" in message
    assert all(name in message for name in ("m0 (no finite", "m1", "m2"))
    assert "m3" not in message


def test_nothing_is_logged_when_all_are_complete(scores, caplog):
    complete_subjects(scores, *ARGUMENTS)
    assert not caplog.records


def test_a_level_without_any_value_leaves_no_complete_model(scores):
    scores.loc[scores["learner"] == "tan", "information_reward"] = np.nan
    with pytest.raises(ValueError, match="no model has a finite information reward in every cell"):
        complete_subjects(scores, *ARGUMENTS)


def test_two_rows_for_one_cell_are_refused_by_name(scores):
    table = pd.concat([scores, scores[at(scores, 1, "tan", 500)]])
    with pytest.raises(ValueError, match="model 1 has 2 rows for learner tan, size 500"):
        complete_subjects(table, *ARGUMENTS)


def test_a_duplicate_is_refused_even_where_the_value_is_missing(scores):
    twin = scores[at(scores, 1, "tan", 500)].assign(information_reward=np.nan)
    with pytest.raises(ValueError, match="there must be one"):
        complete_subjects(pd.concat([scores, twin]), *ARGUMENTS)


def test_a_malformed_table_is_refused_in_one_sentence(scores):
    with pytest.raises(
        ValueError, match="the table has no column 'reward'; it has: model, learner"
    ):
        complete_subjects(scores, "model", ("learner", "size"), "reward")
    with pytest.raises(ValueError, match="'learner' is named twice"):
        complete_subjects(scores, "model", ("learner", "learner"), "information_reward")
    with pytest.raises(ValueError, match="the table has no rows"):
        complete_subjects(scores.iloc[:0], *ARGUMENTS)
    with pytest.raises(ValueError, match="within names no factor"):
        complete_subjects(scores, "model", (), "information_reward")
    with pytest.raises(ValueError, match="'status' is not numeric"):
        complete_subjects(scores, "model", ("learner", "size"), "status")
    gap = scores.assign(size=scores["size"].where(scores["size"] == 50))
    with pytest.raises(ValueError, match="the column 'size' has a row without a value"):
        complete_subjects(gap, *ARGUMENTS)


def test_nullable_numbers_are_read_as_numbers(scores):
    column = scores["information_reward"].astype("Float64")
    column.iloc[0] = pd.NA
    _, _, models, left_out = complete_subjects(scores.assign(information_reward=column), *ARGUMENTS)
    assert models == [1, 2]
    assert [entry.subject for entry in left_out] == [0]
