"""Sentences on who overtakes whom say what the courses hold, and nothing more."""

from __future__ import annotations

import pandas as pd
import pytest

from simstudy.analysis.thresholds import Course, Overtaking
from simstudy.report.prose.crossings import course_sentences, method

ESTIMATED = Overtaking("TAN", "NB", 50, 100, 72.4, 54.7, 91.2)
BRACKETED = Overtaking("TAN", "NB", 50, 100)
BACK = Overtaking("NB", "TAN", 100, 5000)


def course(*changes, **more):
    given = {"n": 40, "infinite": 0, "m": 9, "first_ahead": (25, 50), "second_ahead": (100, 5000)}
    return Course("NB", "TAN", **given | more, changes=changes)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        # The limits are rounded outwards.
        (course(ESTIMATED), "TAN overtakes NB between 50 and 100 rows, at about 72 [54, 92]"),
        (course(BRACKETED), "TAN overtakes NB between 50 and 100 rows"),
        (course(BACK), "NB overtakes TAN between 100 and 5,000 rows"),
        (
            course(first_ahead=()),
            "TAN is ahead of NB at 100 and 5,000 rows; NB is never significantly ahead",
        ),
        (
            course(first_ahead=(), second_ahead=tuple(range(100, 900, 100))),
            "TAN is ahead of NB at 100, 200, 300, 400, 500, 600 rows and 2 further sizes; "
            "NB is never significantly ahead",
        ),
        (
            course(first_ahead=(), second_ahead=()),
            "neither NB nor TAN is significantly ahead at any size",
        ),
        (
            course(infinite=2, m=0, note="not analysed: infinite values"),
            "NB and TAN: not analysed: infinite values",
        ),
        (
            course(ESTIMATED, BACK),
            "TAN overtakes NB between 50 and 100 rows, at about 72 [54, 92], and "
            "NB overtakes TAN between 100 and 5,000 rows",
        ),
    ],
)
def test_a_pair_has_one_sentence_as_it_was_found(make_findings, found, said):
    assert course_sentences(make_findings(models=40, courses=(found,))) == [said]


def test_a_pair_says_if_it_could_not_use_all_models(make_findings):
    (said,) = course_sentences(make_findings(models=40, courses=(course(BRACKETED, n=31),)))
    assert said.endswith(", over 31 of 40 models")


def test_the_method_names_the_tests_and_what_is_not_estimated(make_findings):
    family = {"pairwise": pd.DataFrame({"m": [9]}), "adjustment": "bonferroni_all"}
    said = method(make_findings(courses=(course(ESTIMATED),), **family))
    assert "Bonferroni-adjusted for m = 9 tests, all pairs at all sizes" in said
    assert "In brackets: intervals, adjusted likewise" in said
    assert "--refine" not in said
    far = Overtaking("TAN", "NB", 50, 500, note="a factor of 10: no estimate in between")
    said = method(make_findings(courses=(course(far),), **family))
    assert "In brackets" not in said
    assert "--refine adds sizes" in said
    assert method(make_findings(courses=(course(m=0),))) == ""
