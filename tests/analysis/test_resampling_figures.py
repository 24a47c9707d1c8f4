"""Tests of learners on real data come out as those of R, Weka and baycomp."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.analysis.tests.bayesian import correlated_bayes, signed_rank_bayes
from simstudy.analysis.tests.friedman import friedman, iman_davenport, nemenyi, quade
from simstudy.analysis.tests.resampled import (
    corrected_t,
    five_by_two_f,
    five_by_two_t,
    naive_t,
)
from simstudy.analysis.tests.wilcoxon import sign_test, wilcoxon
from simstudy.measures.base import Undefined
from simstudy.measures.intervals import mcnemar

pytestmark = pytest.mark.filterwarnings("error")
GOLDEN = Path(__file__).parents[1] / "golden" / "real"


def figures(name):
    with gzip.open(GOLDEN / name, "rt", encoding="utf-8") as file:
        return json.load(file)


TESTS, BAYES = figures("resampling/tests.json.gz"), figures("resampling/bayes.json.gz")
MCNEMAR = figures("intervals/mcnemar.json.gz")
PAIRS = [(name, pair) for name in TESTS["per_set"] for pair in TESTS["per_set"][name]]
FIGURES, OVER_SETS = TESTS["over_sets"]["friedman"], TESTS["over_sets"]["pairs"]
LEARNERS = TESTS["over_sets"]["table_mean_cv10_accuracy"]["learners"]
TABLE = pd.DataFrame(TESTS["over_sets"]["table_mean_cv10_accuracy"]["rows"], columns=LEARNERS)
ROPES = ("0", "0.01", "0.03")
KEYS = ("p_first_better", "p_rope", "p_second_better")


def same(value, figure):
    """Whether a value is the figure, or has a reason not to exist where there is none."""
    if figure is None:
        return isinstance(value, Undefined) and bool(value.reason)
    return value == pytest.approx(figure, rel=1e-9, abs=1e-12)


# One data set


@pytest.mark.parametrize(("name", "pair"), PAIRS)
def test_five_by_two_tests_are_those_of_r(name, pair):
    figure = TESTS["per_set"][name][pair]["five_by_two"]
    found = five_by_two_t(figure["differences"])
    assert same(found.statistic, figure["dietterich_t"])
    assert same(found.p, figure["dietterich_p"])
    for repeat, row in enumerate(figure["t_all_ten"]):
        first = np.roll(figure["differences"], -repeat, axis=0)
        assert same(five_by_two_t(first).statistic, row[0])
        assert same(five_by_two_t(first[:, ::-1]).statistic, row[1])
    combined = five_by_two_f(figure["differences"])
    assert same(combined.statistic, figure["alpaydin_F"])
    assert same(combined.p, figure["alpaydin_p"])


@pytest.mark.parametrize("scheme", ["cv10", "5x2"])
@pytest.mark.parametrize(("name", "pair"), PAIRS)
def test_corrected_and_naive_t_are_those_of_r_and_weka(name, pair, scheme):
    figure = TESTS["per_set"][name][pair][f"corrected_t_{scheme}"]
    share = figure["test_train_ratio"] / (1 + figure["test_train_ratio"])
    found = corrected_t(figure["differences"], share)
    assert same(found.statistic, figure["t"])
    assert same(found.p, figure["p"])
    assert (found.df, found.n) == (figure["df"], figure["J"])
    assert found.difference == pytest.approx(figure["mean"], abs=1e-12)
    assert [found.lower, found.upper] == pytest.approx(figure["ci95"], rel=1e-9, abs=1e-12)
    assert "optimistic" not in found.test
    naive = naive_t(figure["differences"])
    assert same(naive.statistic, figure["t_naive"])
    assert same(naive.p, figure["p_naive"])
    assert "too optimistic" in naive.test
    assert "too optimistic" in naive.test


@pytest.mark.parametrize(
    ("name", "pair"), [(name, pair) for name in MCNEMAR for pair in MCNEMAR[name]]
)
def test_mcnemars_tests_are_those_of_r(name, pair):
    figure = MCNEMAR[name][pair]
    counts = [
        figure[key] for key in ("both_right", "only_first_right", "only_second_right", "both_wrong")
    ]
    first, second = np.repeat([1, 1, 0, 0], counts), np.repeat([1, 0, 1, 0], counts)
    found = mcnemar(first, second)
    assert same(found.statistic, figure["chi2"])
    assert same(found.p, figure["p"])
    assert same(found.statistic_corrected, figure["chi2_corrected"])
    assert same(found.p_corrected, figure["p_corrected"])
    assert same(found.p_exact, figure["p_exact"])
    assert (found.only_first, found.only_second) == (counts[1], counts[2])


@pytest.mark.parametrize("rope", ROPES)
@pytest.mark.parametrize(("name", "pair"), PAIRS)
def test_correlated_t_is_that_of_baycomp(name, pair, rope):
    folds, figure = TESTS["per_set"][name][pair]["corrected_t_cv10"], BAYES["per_set"][name][pair]
    share = folds["test_train_ratio"] / (1 + folds["test_train_ratio"])
    found = correlated_bayes(folds["differences"], share, float(rope))
    for key, value in zip(KEYS, found, strict=True):
        assert same(value, figure and figure["rope"][rope][key])
    assert same(found.scale, figure and figure["scale"])
    assert figure is not None or found.reason == "all differences are 0"


# All data sets


def test_friedman_iman_davenport_and_quade_are_those_of_r():
    values = TABLE
    for corrected, suffix in ((True, "_tie_corrected"), (False, "")):
        found = friedman(values, corrected, "approximate")
        assert same(found.statistic, FIGURES[f"chi2{suffix}"])
        assert same(found.p, FIGURES[f"p_chi2{suffix}"])
        assert (found.n, found.k, found.df) == tuple(FIGURES[key] for key in ("N", "k", "df"))
        assert found.mean_ranks == pytest.approx(FIGURES["mean_ranks"])
        found = iman_davenport(values, corrected, "approximate")
        assert same(found.statistic, FIGURES[f"iman_davenport_F{suffix}"])
        assert same(found.p, FIGURES[f"iman_davenport_p{suffix}"])
        assert [found.df1, found.df2] == FIGURES["iman_davenport_df"]
    found = quade(values, "approximate")
    assert same(found.statistic, FIGURES["quade_F"])
    assert same(found.p, FIGURES["quade_p"])
    assert [found.df1, found.df2] == FIGURES["quade_df"]


def test_nemenyi_is_that_of_r():
    found = nemenyi(TABLE)
    # R's qtukey is off by 6e-9 in the probability of its quantile.
    assert found.q == pytest.approx(FIGURES["nemenyi_q05"], abs=1e-7)
    assert found.critical_difference == pytest.approx(FIGURES["nemenyi_CD05"], abs=1e-7)
    ninety = nemenyi(TABLE, confidence=0.9).critical_difference
    assert ninety == pytest.approx(FIGURES["nemenyi_CD10"], abs=1e-7)
    np.testing.assert_allclose(found.pairs, FIGURES["nemenyi_p"], rtol=1e-8)
    assert (found.m, found.p) == (21, found.pairs.min())
    assert found.statistic == pytest.approx(7 - 31 / 12)
    # By the p above: ZeroR differs significantly from BoostJ48, NB and AODE.
    assert found.groups == (
        ("AODE", "BoostJ48", "NB", "J48", "NBD", "Stump"),
        ("J48", "NBD", "Stump", "ZeroR"),
    )


@pytest.mark.parametrize("pair", OVER_SETS)
def test_wilcoxon_and_the_sign_test_are_those_of_r(pair):
    figure, values = OVER_SETS[pair], TABLE[pair.split("-")]
    exact, normal, demsar = (wilcoxon(values, method) for method in ("exact", "normal", "demsar"))
    assert same(exact.statistic, figure["wilcoxon"]["V"])
    assert same(exact.p, figure["wilcoxon"]["p_exact"])
    assert exact.n - exact.zeros == figure["wilcoxon"]["n_nonzero"]
    assert exact.tied == figure["wilcoxon"]["has_tied_ranks"]
    assert same(normal.statistic, figure["wilcoxon"]["z"])
    assert same(normal.p, figure["wilcoxon"]["p_normal"])
    assert same(demsar.statistic, figure["demsar"]["z"])
    assert same(demsar.p, figure["demsar"]["p"])
    assert same(demsar.rank_sum_first, figure["demsar"]["R_plus"])
    assert same(demsar.rank_sum_second, figure["demsar"]["R_minus"])
    for draws, key in (("drop", "sign_p_without_ties"), ("split", "sign_p_ties_split")):
        found = sign_test(values, draws)
        assert same(found.p, figure[key])
        assert [found.wins, found.draws, found.losses] == [
            figure[key] for key in ("wins", "ties", "losses")
        ]


@pytest.mark.parametrize("rope", ROPES)
@pytest.mark.parametrize("pair", BAYES["over_sets"])
def test_signed_ranks_are_those_of_baycomp(pair, rope):
    figure = BAYES["over_sets"][pair][rope]
    found = signed_rank_bayes(TABLE[pair.split("-")], float(rope))
    error = math.hypot(found.mcse, figure["mcse_own"])
    for key in KEYS:
        assert getattr(found, key) == pytest.approx(figure["own_2e6_draws"][key], abs=4 * error)
