"""A claim is borne out, contradicted or left open by intervals, never by means alone."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
from scipy.stats import binomtest

from simstudy import make_study, run_study
from simstudy.analysis.claims.verdict import (
    StatementVerdict,
    Verdict,
    check_claims,
    check_statements,
)
from simstudy.measures.base import MeasureInfo
from simstudy.report.prose.claims import basis, numbers, tally
from simstudy.study.claims import ModelClaim, Statement
from simstudy.study.lists import Reading, load_collection

YES, NO, OPEN = "reproduced", "not reproduced", "not decided"


def pairs(low, high, first="A", second="B", size=50, **changes):
    """A pairwise table of one row whose p value goes with its interval."""
    differs = low > 0 or high < 0
    row = {"size": size, "first": first, "second": second, "difference": (low + high) / 2}
    row |= {"lower": low, "upper": high, "p_adjusted": 0.01 if differs else 0.5, "n": 40, "m": 6}
    return pd.DataFrame([row | {"infinite": 0} | changes])


def means(low, high, learner="A", size=50, **changes):
    row = {"size": size, "learner": learner, "mean": (low + high) / 2, "lower": low, "upper": high}
    return pd.DataFrame([row | {"n": 40, "m": 12, "infinite": 0} | changes])


def claim(relation="beats", **changes):
    given = {"study": "s", "text": "", "relation": relation, "learners": ["A"], "sizes": [50]}
    if relation in ("beats", "not beaten by", "level"):
        given["against"] = ["B"]
    return ModelClaim(**given | changes)


def held(claim, findings):
    """The verdict on a claim by the findings about its measure."""
    results = {claim.study: SimpleNamespace(findings=lambda measure: findings)}
    (verdict,) = check_claims([claim], results)
    return verdict


@pytest.fixture
def verdict(make_findings):
    """The verdict on a claim by tables of pairs and of means."""

    def verdict(claim, table=None, means=None, greater_is_better=True):
        none = pd.DataFrame({"size": [], "first": [], "second": [], "learner": []})
        parts = {"pairwise": none if table is None else table}
        parts["intervals"] = none if means is None else means
        return held(claim, make_findings(greater_is_better=greater_is_better, **parts))

    return verdict


@pytest.mark.parametrize(
    ("low", "high", "said"), [(0.01, 0.03, YES), (-0.03, -0.01, NO), (-0.01, 0.03, OPEN)]
)
def test_a_win_needs_an_interval_on_its_side_of_zero(low, high, said, verdict):
    assert verdict(claim(), pairs(low, high)).verdict == said


@pytest.mark.parametrize(
    ("low", "high", "said"), [(0.01, 0.03, NO), (-0.03, -0.01, YES), (-0.01, 0.03, OPEN)]
)
def test_the_order_in_the_table_does_not_matter_nor_does_the_direction_of_the_measure(
    low, high, said, verdict
):
    turned = verdict(claim(), pairs(low, high, first="B", second="A"))
    assert turned.verdict == said
    assert (turned.checks[0].lower, turned.checks[0].upper) == (-high, -low)
    assert verdict(claim(), pairs(low, high), greater_is_better=False).verdict == said


def test_the_adjusted_p_value_decides_where_it_differs_from_the_interval(verdict):
    # Holm's method: beside the wider intervals of Bonferroni's.
    assert verdict(claim(), pairs(-0.001, 0.05, p_adjusted=0.04)).verdict == YES


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (-0.01, 0.01, YES),
        (0.005, 0.019, YES),  # different, yet by less than the margin
        (-0.02, 0.02, YES),
        (0.01, 0.03, OPEN),
        (-0.03, 0.03, OPEN),
        (0.021, 0.03, NO),
        (-0.03, -0.021, NO),
    ],
)
def test_to_be_level_takes_an_interval_within_the_margin(low, high, said, verdict):
    assert verdict(claim("level", margin=0.02), pairs(low, high)).verdict == said


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [(-0.01, 0.05, YES), (0.01, 0.02, YES), (-0.03, 0.01, OPEN), (-0.05, -0.03, NO)],
)
def test_not_to_be_beaten_is_to_be_worse_by_no_more_than_the_margin(low, high, said, verdict):
    assert verdict(claim("not beaten by", margin=0.02), pairs(low, high)).verdict == said


@pytest.mark.parametrize(
    ("relation", "value", "low", "high", "said"),
    [
        ("below", [0.0], -0.2, -0.1, YES),
        ("below", [0.0], 0.1, 0.2, NO),
        ("below", [0.0], -0.1, 0.1, OPEN),
        ("above", [0.0], 0.1, 0.2, YES),
        ("above", [0.0], -0.2, -0.1, NO),
        ("near", [0.1], 0.06, 0.14, YES),
        ("near", [0.1], 0.0, 0.04, NO),
        ("near", [0.1], 0.0, 0.1, OPEN),
        ("between", [-0.3, 0.1], -0.2, 0.0, YES),
        ("between", [-0.3, 0.1], 0.0, 0.2, OPEN),
        ("between", [-0.3, 0.1], 0.2, 0.3, NO),
        ("between", [-0.3, 0.1], 0.0, 0.14, YES),
        ("above", [0.0], -0.04, 0.1, YES),
        ("above", [0.0], -0.06, 0.1, OPEN),
        ("below", [0.0], -0.1, 0.04, YES),
        ("below", [0.0], 0.06, 0.1, NO),
    ],
)
def test_a_mean_lies_where_its_whole_interval_does_but_for_the_margin(
    relation, value, low, high, said, verdict
):
    asked = claim(relation, value=value, margin=0.05)
    assert verdict(asked, means=means(low, high)).verdict == said


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([YES], YES),
        ([YES, YES, YES], YES),
        ([YES, OPEN], OPEN),
        ([OPEN, OPEN], OPEN),
        ([YES, NO], NO),
        ([NO, OPEN, YES], NO),
    ],
)
def test_a_statement_holds_if_all_its_lines_do_and_fails_if_any_does(lines, said):
    asked = [claim(text=f"line {index}") for index in range(len(lines))]
    found = StatementVerdict(
        Statement("a statement", asked),
        [Verdict(line, given, []) for line, given in zip(asked, lines, strict=True)],
    )
    assert found.verdict == said
    several = len(lines) > 1
    assert [line.claim.text for line in found.contradicted] == [
        f"line {index}" for index, line in enumerate(lines) if line == NO and several
    ]


def test_a_reading_scales_margins_but_not_what_the_source_says():
    relations = {"level": {}, "above": {"value": [0.0]}, "near": {"value": [0.1]}}
    lines = [claim(name, margin=0.02, **more) for name, more in relations.items()]
    reading = Reading(label="summed", override={"measures": {"reward": "sum"}}, margin_factor=3.5)
    (read,) = reading.read([Statement("a statement", lines)])
    assert [line.margin for line in read.lines] == pytest.approx([0.07, 0.07, 0.02])
    assert [line.value for line in read.lines] == [line.value for line in lines]
    assert reading.settings == 'measures.reward = "sum", margins × 3.5'


@pytest.mark.parametrize(
    ("first", "second", "every", "some"),
    [
        ((-0.2, -0.1), (-0.2, -0.1), YES, YES),
        ((-0.2, -0.1), (-0.1, 0.1), OPEN, YES),
        ((-0.2, -0.1), (0.1, 0.2), NO, YES),
        ((-0.1, 0.1), (0.1, 0.2), NO, OPEN),
        ((0.1, 0.2), (0.1, 0.2), NO, NO),
    ],
)
def test_a_claim_of_several_holds_of_all_or_of_some(first, second, every, some, verdict):
    table = pd.concat([means(*first), means(*second, learner="B")])
    for wanted, said in ((False, every), (True, some)):
        asked = claim("below", learners=["A", "B"], value=[0.0], some=wanted)
        assert verdict(asked, means=table).verdict == said


def test_without_others_to_compare_with_every_two_learners_are_level(verdict):
    table = pd.concat([pairs(0.0, 0.01, *names) for names in (("A", "B"), ("A", "C"), ("B", "C"))])
    found = verdict(claim("level", learners=["A", "B", "C"], against=None, margin=0.02), table)
    assert [(check.first, check.second) for check in found.checks] == [
        ("A", "B"),
        ("A", "C"),
        ("B", "C"),
    ]
    assert found.verdict == YES


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (pairs(0.1, 0.2, infinite=3), "not tested, infinite scores"),
        (pairs(0.1, 0.2, n=1), "not tested, too few models have both"),
        (pairs(0.1, 0.2, size=500), "not among the results"),
    ],
)
def test_what_was_not_tested_is_not_decided(table, reason, verdict):
    found = verdict(claim(), table)
    assert found.verdict == OPEN
    assert found.checks[0].reason == reason
    assert math.isnan(found.checks[0].estimate)


def test_a_mean_without_an_interval_is_not_decided(verdict):
    asked = claim("below", value=[0.0])
    assert verdict(asked, means=means(-2.0, -1.0, infinite=1)).verdict == OPEN
    assert verdict(asked, means=means(-2.0, -1.0, learner="C")).verdict == OPEN


def test_a_check_says_its_numbers(verdict):
    found = verdict(claim(), pairs(0.01, 0.03))
    (check,) = found.checks
    assert numbers(check) == "A over B at 50 rows: +0.0200 [+0.0100, +0.0300]"
    assert basis(check) == "40 models, m = 6"
    assert numbers(check, "nats") == "A over B at 50 rows: +0.0200 nats [+0.0100, +0.0300]"
    assert tally([check, check]) == "of 2 intervals, 2 hold"
    (check,) = verdict(claim(), pairs(0.1, 0.2, n=1)).checks
    assert numbers(check).endswith("not tested, too few models have both")
    assert basis(check) == ""


def test_claims_are_held_against_the_studies_they_name(tmp_path):
    study = make_study(
        {
            "name": "tiny",
            "models": 8,
            "family": {"name": "naive_bayes", "variables": [4, 4]},
            "data": {"train_sizes": [400], "test_size": 100},
            "learners": [{"name": "naive_bayes", "label": "NB"}, {"name": "prior"}],
            "measures": {"also": ["log_loss"]},
        }
    )
    results = run_study(study, tmp_path / "tiny", jobs=1, report=False)
    given = {"study": "tiny", "text": "", "relation": "beats", "sizes": [400]}
    win = {"learners": ["NB"], "against": ["prior"]}
    claims = [
        ModelClaim(**given, **win),
        ModelClaim(**given, **win, measure="log_loss"),
        ModelClaim(**given, learners=["prior"], against=["NB"]),
        ModelClaim(**given | {"study": "other"}, **win),
    ]
    found = check_claims(claims, {"tiny": results})
    assert [verdict.verdict for verdict in found] == [YES, YES, NO, OPEN]
    assert found[0].checks[0].estimate > 0
    assert found[1].checks[0].estimate > 0  # in favour of the first, though lower is better
    assert found[3].checks[0].reason == "no results of the study other"
    (whole,) = check_statements([Statement("all of them", claims)], {"tiny": results})
    assert (whole.lines, whole.verdict) == (found, NO)
    assert whole.statement.study == "tiny"


def covering(make_findings, shares):
    """Findings on 50 models: how many of the intervals of each estimator cover, at each size."""
    labels = [*shares, *(f"other {number}" for number in range(14 - len(shares)))]
    scores = pd.DataFrame(
        {"model": model, "size": size, "learner": label, "reward": float(model < inside)}
        for size in (50, 500)
        for label in labels
        for inside in [shares.get(label, 45)]
        for model in range(50)
    )
    findings = make_findings(scores)
    return replace(findings, info=MeasureInfo(True, label="coverage", share=True))


def lines_of(name):
    """The lines of a statement of `which_estimate`."""
    every = [line for one in load_collection("which_estimate").statements for line in one.lines]
    return [line for line in every if line.id.startswith(name)]


def test_a_coverage_of_forty_in_fifty_is_below_nominal(make_findings):
    """With the coverages that the page of `which_estimate` recorded."""
    shares = {"10-fold stratified": 40, "5×2cv": 25, "nested 10-fold": 46}
    findings = covering(make_findings, shares)
    found = [held(line, findings) for line in lines_of("bengio.naive")]
    assert [one.verdict for one in found] == [YES, YES]
    check = found[0].checks[0]
    expected = binomtest(40, 50).proportion_ci(1 - 0.05 / 28)
    assert (check.lower, check.upper) == pytest.approx(tuple(expected), abs=1e-9)
    assert (check.first, check.n, check.m) == ("10-fold stratified", 50, 28)
    assert held(lines_of("bates.nested")[0], findings).verdict == OPEN
    plain = replace(findings, info=MeasureInfo(True, label="coverage"))
    assert held(lines_of("bengio.naive")[0], plain).verdict == OPEN


def test_that_a_naive_test_rejects_too_often_is_held_against_mirrored_pairs_only():
    lines = [*lines_of("dietterich.resampled"), *lines_of("dietterich.folds")]
    assert len(lines) == 4
    assert {line.measure for line in lines} == {"type_1_mirrored_C4.5"}
