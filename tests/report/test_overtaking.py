"""Sentences on who overtakes whom say what the table of thresholds holds, and nothing more."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from simstudy.report.overtaking import method_words, threshold_sentences


def threshold_row(**changes):
    row = {"first": "NB", "second": "TAN", "n": 40, "infinite": 0, "m": 9, "ahead": "TAN"}
    row |= {"first_ahead": "25, 50", "second_ahead": "100, 5000", "note": ""}
    row |= {"before": 50.0, "after": 100.0, "crossing": 72.4, "lower": 54.7, "upper": 91.2}
    return pd.DataFrame([row | changes])


BLANK = dict.fromkeys(("crossing", "lower", "upper"), math.nan)
NONE = BLANK | {"before": math.nan, "after": math.nan}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        # The limits are rounded outwards.
        ({}, "TAN overtakes NB between 50 and 100 rows, at about 72 [54, 92]"),
        (BLANK, "TAN overtakes NB between 50 and 100 rows"),
        ({"ahead": "NB"} | BLANK, "NB overtakes TAN between 50 and 100 rows"),
        (
            NONE | {"first_ahead": "", "second_ahead": "100, 5000"},
            "TAN is ahead of NB at 100 and 5,000 rows, and shown behind at none",
        ),
        (
            NONE | {"first_ahead": "", "second_ahead": "", "ahead": None},
            "NB and TAN do not differ significantly at any size",
        ),
        (
            NONE | {"infinite": 2, "note": "not analysed: infinite values"},
            "NB and TAN: not analysed: infinite values",
        ),
    ],
)
def test_a_pair_is_told_as_it_was_found(changes, said):
    assert threshold_sentences(threshold_row(**changes)) == [said]


def test_a_pair_that_changes_twice_has_one_sentence():
    back = {"ahead": "NB", "before": 100.0, "after": 5000.0} | BLANK
    two = pd.concat([threshold_row(), threshold_row(**back)])
    assert threshold_sentences(two) == [
        "TAN overtakes NB between 50 and 100 rows, at about 72 [54, 92], and "
        "NB overtakes TAN between 100 and 5,000 rows"
    ]


def test_a_pair_says_if_it_could_not_use_all_models():
    (said,) = threshold_sentences(threshold_row(n=31), models=40)
    assert said.endswith(", over 31 of 40 models")
    assert "models" not in threshold_sentences(threshold_row(), models=40)[0]


def test_the_method_names_the_tests_and_what_is_not_estimated():
    said = method_words(threshold_row(), "95%")
    assert "Bonferroni-adjusted for m = 9 tests of pairs at their sizes" in said
    assert "In brackets: intervals, 95% for all of them together" in said
    assert "--refine" not in said
    far = threshold_row(**BLANK, note="… differ by a factor of 10 …: no estimate in between")
    said = method_words(far, "95%")
    assert "In brackets" not in said
    assert "--refine adds sizes" in said
    assert method_words(threshold_row(m=math.nan), "95%") == ""
