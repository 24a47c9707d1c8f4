"""Brackets are of sizes that tests decide; estimates allow for the curve between the sizes."""

import itertools
import json
import math
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from simstudy.analysis.models.convergence import converged
from simstudy.analysis.models.difference_curves import Curve
from simstudy.analysis.models.thresholds import COLUMNS, compared, courses, sizes_to_add, thresholds
from simstudy.analysis.tests.pairwise import pairwise

STATS = Path(__file__).parents[2] / "golden" / "stats"
REFERENCE = json.loads((STATS / "threshold_a.json").read_text())
SIZES = (50, 100, 200, 400, 800)
FAR = (50, 500, 5000)


def quietly(function, *args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(*args, **options)


def long_table(scores, sizes):
    """Return a table, with the default column names, from models × sizes of each learner."""
    rows = [
        (model, learner, size, values[model][place])
        for learner, values in scores.items()
        for model in range(len(values))
        for place, size in enumerate(sizes)
    ]
    return pd.DataFrame(rows, columns=["model", "learner", "size", "information_reward"])


def from_differences(differences, sizes=SIZES):
    """Return a table of two learners, nb and tan, in which tan is better by the differences."""
    differences = np.asarray(differences, dtype=float)
    return long_table({"nb": np.zeros_like(differences), "tan": differences}, sizes)


def around(means, spread=0.1, models=20):
    """Return differences of models with these means and some spread."""
    deviations = np.random.default_rng(3).normal(size=(models, len(means)))
    return np.asarray(means) + spread * (deviations - deviations.mean(axis=0))


def curve_of(differences, sizes):
    differences = np.asarray(differences, dtype=float)
    mean = differences.mean(axis=0)
    return Curve(np.asarray(sizes, dtype=float), mean, differences - mean)


def the_row(table, **options):
    (row,) = quietly(thresholds, table, **options).to_dict("records")
    return row


def of_pair(table, first, second):
    """Return the rows of two learners, in this order."""
    return pd.concat([table[table["learner"] == name] for name in (first, second)])


@pytest.mark.parametrize("pair", REFERENCE)
def test_between_two_sizes_the_zone_is_fieller_s_interval(table_a, pair):
    # The reference interpolates on straight lines, which is what is left with two sizes alone.
    second, first = pair.split(" overtakes ")
    wide = table_a.pivot_table("reward", "subject", ["learner", "size"])
    differences = wide[second] - wide[first]
    sizes = np.array(differences.columns, dtype=float)
    crit = float(stats.t.ppf(0.975, 39))
    for place in range(len(sizes) - 1):
        low, high = sizes[place : place + 2]
        inside = [each for each in REFERENCE[pair]["crossings"] if low < each < high]
        stretches = [
            each for each in REFERENCE[pair]["fieller_set"] if each[0] < high > low < each[1]
        ]
        if not stretches:
            continue
        zone = curve_of(differences.to_numpy()[:, place : place + 2], (low, high)).zone(0, 1, crit)
        np.testing.assert_allclose(zone.zeros, inside, rtol=1e-9)
        assert zone.lower == pytest.approx(max(stretches[0][0], low), rel=1e-9)
        assert zone.upper == pytest.approx(min(stretches[0][1], high), rel=1e-9)
        assert zone.ratio == math.inf


def test_a_crossing_decided_at_neighbours_has_an_estimate():
    row = the_row(from_differences(around([-2, -1, 0.5, 1, 1.2], 0.3)))
    assert (row["ahead"], row["before"], row["after"]) == ("tan", 100, 200)
    assert (row["first_ahead"], row["second_ahead"]) == ("50, 100", "200, 400, 800")
    assert 100 < row["lower"] < row["crossing"] < row["upper"] < 200
    assert (row["n"], row["m"], row["note"]) == (20, 5, "")


def test_a_crossing_decided_at_distant_sizes_is_bracketed_by_these():
    # In the middle nothing is decided: the bracket runs over it.
    row = the_row(from_differences(around([-2, -0.05, 0.01, 0.03, 2], 0.3)))
    assert (row["before"], row["after"]) == (50, 800)
    assert (row["first_ahead"], row["second_ahead"]) == ("50", "800")


def test_sizes_far_apart_have_a_bracket_and_no_estimate():
    row = the_row(from_differences(around([-2, 1, 2], 0.1), FAR))
    assert (row["ahead"], row["before"], row["after"]) == ("tan", 50, 500)
    assert np.isnan([row["crossing"], row["lower"], row["upper"]]).all()
    assert row["note"] == (
        "neighbouring sizes differ by a factor of 10, more than 2.5: no estimate in between"
    )
    # The next sizes count too, since the estimate rests on them, and no others.
    means = around([-2.1, -2, -1, 1, 2, 2.1], 0.1)
    row = the_row(from_differences(means, (5, 50, 100, 200, 400, 4000)))
    assert 100 < row["lower"] < row["crossing"] < row["upper"] < 200
    row = the_row(from_differences(around([-2, -1, 1, 2], 0.1), (5, 50, 100, 1000)))
    assert (row["before"], row["after"]) == (50, 100)
    assert np.isnan(row["crossing"])


def test_two_sizes_alone_show_nothing_of_the_curve_between_them():
    row = the_row(from_differences(around([-1, 1], 0.1), (60, 100)))
    assert (row["before"], row["after"]) == (60, 100)
    assert np.isnan([row["crossing"], row["lower"]]).all()
    assert row["note"] == "only two sizes: no estimate in between"


@pytest.mark.parametrize("sizes", [(50, 100, 200, 400), (20, 30, 50, 100), (30, 50, 85, 140)])
def test_an_ordinary_learning_curve_is_covered_however_many_models(sizes):
    # 0 at 70 rows, in the first, the last or a middle segment. Without any spread the interval is
    # all allowance for interpolation.
    means = 0.02 * (2.5 - 175 / np.array(sizes))
    row = the_row(from_differences(np.tile(means, (2, 1)), sizes))
    assert row["lower"] < 70 < row["upper"]
    assert row["upper"] / row["lower"] < 1.3


def test_a_pair_that_crosses_twice_has_a_row_for_each_change():
    rows = thresholds(from_differences(around([-2, 1, 2, 1, -2], 0.1)))
    assert [*rows["ahead"]] == ["tan", "nb"]
    assert [*zip(rows["before"], rows["after"], strict=True)] == [(50, 100), (400, 800)]
    assert rows["crossing"].notna().all()


def test_a_pair_that_never_separates_claims_nothing():
    row = the_row(from_differences(around([-0.01, 0.01, -0.01, 0.01, 0.02], 1.0)))
    assert (row["first_ahead"], row["second_ahead"], row["ahead"]) == ("", "", None)
    assert np.isnan([row["before"], row["after"], row["crossing"], row["lower"]]).all()
    assert row["note"] == "at no size is one ahead of the other"


def test_one_side_alone_makes_no_crossing():
    # The mean changes sign, but only one of the two is ever shown to be ahead.
    row = the_row(from_differences(around([-0.05, 0.02, 1, 2, 3], 1.0)))
    assert (row["ahead"], row["first_ahead"]) == ("tan", "")
    assert np.isnan(row["before"])
    assert row["note"] == "no change of who is ahead"


def test_tests_are_adjusted_for_all_pairs_at_all_sizes(table_a):
    rows = thresholds(table_a.rename(columns={"subject": "model"}), value="reward")
    assert set(rows["m"]) == {6 * 3}
    wide = table_a.pivot_table("reward", "subject", ["learner", "size"])
    for row in rows.to_dict("records"):
        differences = wide[row["second"]] - wide[row["first"]]
        t, p = stats.ttest_1samp(differences, 0.0)
        told = pd.Series(t, differences.columns)[p * 18 < 0.05]
        for name, sign in (("first_ahead", -1), ("second_ahead", 1)):
            assert row[name] == ", ".join(str(size) for size in told.index[sign * told > 0])


@settings(max_examples=30, deadline=None)
@given(
    st.floats(-2, -0.2),
    st.floats(0.1, 2),
    st.floats(-0.1, 0.3),
    st.lists(st.floats(1.1, 2.4), min_size=3, max_size=6),
)
def test_a_parabola_in_log_size_is_found_exactly(start, slope, bend, ratios):
    sizes = 50 * np.cumprod([1.0, *ratios])
    x = np.log(sizes / sizes[0])
    means = start + slope * x + bend * x**2
    if means[-1] <= 1e-6 or (np.abs(means) < 1e-6).any():
        return
    # Two models that do not differ: no error but that of interpolation, which is none.
    row = the_row(from_differences(np.tile(means, (2, 1)), sizes))
    roots = np.roots([bend, slope, start]) if abs(bend) > 1e-12 else [-start / slope]
    root = min(float(r.real) for r in np.atleast_1d(roots) if r.real > 0 and abs(r.imag) < 1e-9)
    assert row["crossing"] == pytest.approx(sizes[0] * math.exp(root), rel=1e-6)
    if means[1] < 0 < means[-2]:  # at the ends some allowance is left
        assert row["lower"] == pytest.approx(row["upper"], rel=1e-5)
    assert row["lower"] <= row["crossing"] * (1 + 1e-9)
    assert row["upper"] >= row["crossing"] * (1 - 1e-9)


def test_the_interval_allows_for_a_change_of_curvature():
    # Without any spread the interval is what the two parabolas differ by.
    means = np.array([-3.0, -1.0, 1.0, 1.1, 1.2])
    row = the_row(from_differences(np.tile(means, (2, 1))))
    x = np.log(np.array(SIZES) / 100)
    zeros = []
    for nodes in ([0, 1, 2], [1, 2, 3]):
        roots = np.roots(np.polyfit(x[nodes], means[nodes], 2))
        zeros += [100 * math.exp(r) for r in roots if 0 < r < math.log(2)]
    assert [row["lower"], row["upper"]] == pytest.approx(sorted(zeros), rel=1e-6)
    assert row["lower"] < row["crossing"] < row["upper"]


def random_scores(seed, models=8):
    """Return scores of two learners of which the second tends to get ahead."""
    sizes, rng = len(SIZES), np.random.default_rng(seed)
    base = rng.normal(size=(models, sizes))
    trend = np.linspace(-1, 1, sizes) * rng.uniform(1, 6) + rng.normal(0, 0.5)
    return base, base + trend + rng.normal(size=(models, sizes)).cumsum(axis=1) / 4


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_intervals_lie_within_their_brackets_and_hold_their_estimates(seed):
    base, other = random_scores(seed)
    rows = quietly(thresholds, long_table({"nb": base, "tan": other}, SIZES))
    for row in rows.dropna(subset="crossing").to_dict("records"):
        assert row["before"] < row["lower"] <= row["crossing"] <= row["upper"] < row["after"]


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_swapping_the_learners_mirrors_the_answer(seed):
    base, other = random_scores(seed)
    one = thresholds(long_table({"nb": base, "tan": other}, SIZES))
    two = thresholds(long_table({"tan": other, "nb": base}, SIZES))
    names = {"first": "second", "second": "first"}
    names |= {"first_ahead": "second_ahead", "second_ahead": "first_ahead"}
    pd.testing.assert_frame_equal(two.rename(columns=names)[one.columns], one, rtol=1e-9)


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    factor=st.floats(0.01, 100),
    shift=st.floats(-100, 100),
    loss=st.booleans(),
)
def test_neither_unit_nor_origin_nor_sign_of_the_measure_matters(seed, factor, shift, loss):
    scores = dict(zip(("nb", "tan"), random_scores(seed), strict=True))
    plain = thresholds(long_table(scores, SIZES))
    sign = -1 if loss else 1
    turned = {name: sign * factor * values + shift for name, values in scores.items()}
    found = thresholds(long_table(turned, SIZES), greater_is_better=not loss)
    pd.testing.assert_frame_equal(found, plain, rtol=1e-6)


def test_higher_confidence_widens_the_interval():
    table = from_differences(around([-2, -1, 0.6, 1, 1.2], 0.3))
    narrow, wide = (the_row(table, confidence=level) for level in (0.8, 0.99))
    assert wide["lower"] < narrow["lower"] < narrow["upper"] < wide["upper"]


def test_the_order_of_rows_does_not_matter():
    table = from_differences(around([-2, -1, 0.6, 1, 1.2], 0.3))
    table["learner"] = pd.Categorical(table["learner"], ["nb", "tan"])
    mixed = table.sample(frac=1, random_state=1).sort_values("learner", kind="stable")
    plain = table.astype({"learner": str})
    pd.testing.assert_frame_equal(
        thresholds(mixed.astype({"learner": str})), thresholds(plain), rtol=1e-9
    )


def test_a_pair_is_compared_at_the_sizes_that_both_have(caplog):
    table = from_differences(around([-2, -1, 0.6, 1, 1.2], 0.3))
    third = table[table["learner"] == "nb"].assign(
        learner="aode", information_reward=lambda rows: rows["information_reward"] + 0.001
    )
    some = third[third["size"].isin([50, 800])]
    rows = thresholds(pd.concat([table, some], ignore_index=True))
    assert [*rows["m"]] == [5 + 2 + 2] * 3
    assert caplog.messages == []
    whole = thresholds(pd.concat([table, third], ignore_index=True))
    assert [*whole["m"]] == [15] * 3


def test_a_failed_cell_costs_its_own_pairs_a_model_and_is_named(table_a, caplog):
    table_a = table_a.rename(columns={"subject": "model"})
    options = {"value": "reward"}
    whole = thresholds(table_a, **options)
    table = table_a.assign(status="ok")
    failed = (table["model"] == "m07") & (table["learner"] == "tree") & (table["size"] == 200)
    table.loc[failed, ["reward", "status"]] = [np.nan, "timeout"]
    result = quietly(thresholds, table, **options)
    touched = (result["first"] == "tree") | (result["second"] == "tree")
    assert set(result.loc[touched, "n"]) == {39}
    pd.testing.assert_frame_equal(result[~touched], whole[~touched])
    # Who is ahead is decided by all models that have both at a size, as in the table of pairs.
    tests = pairwise(table, **options, adjustment="bonferroni_all")
    tests = tests[tests["significant"]]
    for row in result[touched].to_dict("records"):
        pair = tests[(tests["first"] == row["first"]) & (tests["second"] == row["second"])]
        for ahead, sign in (("first_ahead", 1), ("second_ahead", -1)):
            sizes = pair["size"][np.sign(pair["difference"]) == sign]
            assert row[ahead] == ", ".join(map(str, sizes))
    reason = "no finite reward for learner tree, size 200 (timeout)"
    consequence = "left out of the comparisons of cells without a value"
    assert caplog.messages[0] == f"{consequence}: 1 of 40 (column model): m07 ({reason})"


def test_an_infinite_score_leaves_its_pairs_without_an_analysis(table_a, caplog):
    table = table_a.rename(columns={"subject": "model"})
    table.loc[(table["model"] == "m07") & (table["learner"] == "tree"), "reward"] = -np.inf
    result = quietly(thresholds, table, value="reward")
    touched = (result["first"] == "tree") | (result["second"] == "tree")
    assert list(result["infinite"]) == list(touched.astype(int))
    assert set(result.loc[touched, "note"]) == {"not analysed: infinite values"}
    columns = ["m", "before", "crossing", "ahead", "lower", "upper"]
    assert result.loc[touched, columns].isna().all(axis=None)
    assert caplog.messages == []


def test_one_model_is_too_few():
    row = the_row(from_differences([[-1, 1, 2, 3, 4]]))
    assert (row["n"], row["note"]) == (1, "not analysed: fewer than two have both")


def test_identical_learners_never_cross():
    row = the_row(from_differences(np.zeros((5, 5))))
    assert row["note"] == "at no size is one ahead of the other"


def test_every_pair_has_a_row(table_a):
    rows = thresholds(table_a.rename(columns={"subject": "model"}), value="reward")
    pairs = list(itertools.combinations(["naive", "tree", "search", "oracle"], 2))
    assert list(zip(rows["first"], rows["second"], strict=True)) == pairs


@pytest.fixture
def overtaken():
    """Three learners: tan overtakes nb between 100 and 200, and neither overtakes aode."""
    nb = around([0.0] * 5, 0.1)
    scores = {"nb": nb, "tan": nb + around([-2, -1, 0.5, 1, 1.2], 0.3), "aode": nb + 5}
    return long_table(scores, SIZES)


def test_a_course_tells_who_overtakes_whom_and_where(overtaken):
    course = courses(overtaken)[0]
    assert (course.first, course.second) == ("nb", "tan")
    assert (course.n, course.infinite, course.m, course.note) == (20, 0, 15, "")
    assert course.analysed
    (change,) = course.changes
    assert (change.ahead, change.behind) == ("tan", "nb")
    assert (change.before, change.after, change.note) == (100, 200, "")
    assert change.estimated
    assert 100 < change.lower < change.crossing < change.upper < 200
    # Each is ahead somewhere, so neither leads wherever one does.
    assert course.leader is None
    assert course.ahead_at("nb") == course.first_ahead == (50, 100)
    assert course.ahead_at("tan") == course.second_ahead == (200, 400, 800)
    assert (course.opponent("nb"), course.opponent("tan")) == ("tan", "nb")


def test_a_course_without_a_change_has_a_leader_or_none(overtaken):
    _, ahead, _ = courses(overtaken)
    assert (ahead.first, ahead.second, ahead.leader) == ("nb", "aode", "aode")
    assert (ahead.ahead_at("nb"), ahead.ahead_at("aode")) == ((), SIZES)
    assert (ahead.changes, ahead.note) == ((), "no change of who is ahead")
    (turned,) = courses(of_pair(overtaken, "aode", "nb"))
    assert (turned.first, turned.leader) == ("aode", "aode")
    assert (turned.ahead_at("nb"), turned.ahead_at("aode")) == ((), SIZES)
    (level,) = courses(from_differences(around([-0.01, 0.01, -0.01, 0.01, 0.02], 1.0)))
    assert level.analysed
    assert (level.leader, level.changes) == (None, ())
    assert (level.ahead_at("nb"), level.ahead_at("tan")) == ((), ())
    assert level.note == "at no size is one ahead of the other"


def test_a_course_far_between_the_sizes_has_a_change_without_an_estimate():
    (course,) = courses(from_differences(around([-2, 1, 2], 0.1), FAR))
    (change,) = course.changes
    assert (change.ahead, change.behind) == ("tan", "nb")
    assert (change.before, change.after) == (50, 500)
    assert not change.estimated
    assert np.isnan([change.crossing, change.lower, change.upper]).all()
    assert change.note.endswith("more than 2.5: no estimate in between")


def test_the_changes_of_a_course_follow_each_other_by_size():
    (course,) = courses(from_differences(around([-2, 1, 2, 1, -2], 0.1)))
    assert [(one.ahead, one.behind) for one in course.changes] == [("tan", "nb"), ("nb", "tan")]
    assert [(one.before, one.after) for one in course.changes] == [(50, 100), (400, 800)]
    assert course.ahead_at("nb") == (50, 800)


def test_a_course_that_is_not_analysed_says_why(overtaken):
    table = overtaken.copy()
    chosen = (table["learner"] == "tan") & (table["model"] == 3)
    table.loc[chosen, "information_reward"] = -np.inf
    nb_tan, nb_aode, tan_aode = courses(table)
    for course in (nb_tan, tan_aode):
        assert not course.analysed
        assert (course.n, course.infinite, course.m) == (19, 1, 0)
        assert (course.leader, course.changes) == (None, ())
        assert course.note == "not analysed: infinite values"
    assert (nb_aode.analysed, nb_aode.m, nb_aode.infinite) == (True, 15, 0)


def test_an_infinite_score_at_one_size_leaves_the_tests_at_the_others(overtaken):
    table = overtaken.copy()
    chosen = (table["learner"] == "tan") & (table["model"] == 3) & (table["size"] == 200)
    table.loc[chosen, "information_reward"] = -np.inf
    course, *_ = courses(table)
    assert (course.first_ahead, course.second_ahead) == ((50, 100), (400, 800))
    (change,) = course.changes
    assert (change.before, change.after, change.estimated) == (100, 400, False)
    assert change.note == "infinite values at some size: no estimate in between"


def test_the_adjustment_of_the_study_decides_who_is_ahead():
    # t of 2.4 at the third size: significant by itself, not as one of five.
    table = from_differences(around([-2, -1, 0.05, 1, 2], 0.1))
    (strict,), (loose,) = courses(table), courses(table, adjustment="none")
    tests = pairwise(table, adjustment="none").set_index("size")
    assert tests["p"][200] < 0.05 < 5 * tests["p"][200]
    assert (strict.m, strict.second_ahead) == (5, (400, 800))
    assert (loose.m, loose.second_ahead) == (1, (200, 400, 800))


@pytest.mark.parametrize("means", [[-2, 1, 2, 1, -2], [-1, -1, -1, -1, -1], [0, 0, 0, 0, 0]])
def test_the_table_says_what_the_courses_say(overtaken, means):
    added = overtaken[overtaken["learner"] == "nb"].assign(learner="gbn")
    added["information_reward"] += around(means, 0.2).ravel()
    table = pd.concat([overtaken, added], ignore_index=True)
    rows = thresholds(table)
    assert list(rows.columns) == COLUMNS
    left = iter(rows.to_dict("records"))
    for course in courses(table):
        for change in course.changes or (None,):
            row = next(left)
            for name in ("first", "second", "n", "infinite", "m"):
                assert row[name] == getattr(course, name)
            for name in ("first", "second"):
                sizes = tuple(float(size) for size in row[f"{name}_ahead"].split(", ") if size)
                assert sizes == course.ahead_at(row[name])
            said = course.leader if change is None else change.ahead
            assert (None if pd.isna(row["ahead"]) else row["ahead"]) == said
            assert row["note"] == (course if change is None else change).note
            for name in ("before", "after", "crossing", "lower", "upper"):
                expected = math.nan if change is None else getattr(change, name)
                assert row[name] == pytest.approx(expected, rel=0, abs=0, nan_ok=True)
    assert next(left, None) is None


def proposed(differences, sizes, own):
    return sizes_to_add(compared(from_differences(differences, sizes)), own)


def test_sizes_are_added_nearest_to_the_crossing_until_they_are_close():
    # The true difference is a curve that is far from straight between 50 and 500.
    def difference(size):
        return 1 - 12 * np.asarray(size, dtype=float) ** -0.5

    sizes = [50, 500, 5000]
    steps = []
    while True:
        new = proposed(around(difference(sizes), 0.02), sizes, FAR)
        if not new:
            break
        assert {*new} & {*sizes} == set()
        assert all(learners == {"nb", "tan"} for learners in new.values())
        steps += new
        sizes = sorted({*sizes, *new})
    row = the_row(from_differences(around(difference(sizes), 0.02), sizes))
    assert row["after"] / row["before"] < 1.3
    assert row["lower"] < 144 < row["upper"]  # 1 = 12/√144
    assert len(steps) <= 8
    # The grid divides each decade in nine steps of a factor of 1.29.
    grid = {round(50 * 10 ** (step / 9)) for step in range(19)}
    assert {*steps} <= grid


def test_nothing_is_added_where_nothing_crosses_or_all_is_known():
    assert proposed(around([1, 2, 3], 0.1), FAR, FAR) == {}
    assert proposed(around([-0.1, 0.1, 0.2], 2.0), FAR, FAR) == {}
    close = [50, 100, 125, 160, 300]
    assert proposed(around([-3, -2, -1, 1, 2], 0.1), close, (50, 300)) == {}


def gap_tables(gaps, limit=0.8, sizes=SIZES, sign=1):
    """Return the scores of one learner with these gaps (models × sizes), and its limits."""
    gaps = np.asarray(gaps, dtype=float)
    limits = pd.DataFrame({"model": range(len(gaps)), "learner": "nb"})
    limits["information_reward"] = limit
    return long_table({"nb": limit - sign * gaps}, sizes), limits


GAPS = [0.8, 0.5, 0.3, 0.1, 0.05]


def test_convergence_is_where_the_mean_gap_gets_small_enough():
    table, limits = gap_tables(around(GAPS, 0.02))
    (row,) = quietly(converged, table, limits, within=0.2).to_dict("records")
    assert (row["before"], row["after"], row["note"], row["m"]) == (200, 400, "", 5)
    assert 200 < row["lower"] < row["converged"] < row["upper"] < 400
    assert row["gap_smallest"] == pytest.approx(0.8)
    assert row["gap_largest"] == pytest.approx(0.05)
    # The same as thresholds of what is allowed, 0.2, less the gap.
    same = the_row(from_differences(0.2 - around(GAPS, 0.02)))
    names = ("before", "after", "lower", "upper")
    assert [row[name] for name in names] == pytest.approx([same[name] for name in names])
    assert row["converged"] == pytest.approx(same["crossing"])
    # A quarter of 0.8 is 0.2 as well, but the gap at the smallest size is uncertain too.
    (part,) = converged(table, limits, fraction=0.25).to_dict("records")
    assert part["converged"] == pytest.approx(row["converged"])
    assert part["lower"] != pytest.approx(row["lower"])


def test_convergence_of_losses_is_that_of_the_rewards():
    gaps = around(GAPS, 0.02)
    plain = converged(*gap_tables(gaps), within=0.2)
    turned = converged(*gap_tables(gaps, sign=-1), within=0.2, greater_is_better=False)
    pd.testing.assert_frame_equal(turned, plain, rtol=1e-9)


def test_convergence_takes_the_last_crossing():
    table, limits = gap_tables(around([0.8, 0.1, 0.1, 0.3, 0.1], 0.01))
    (row,) = converged(table, limits, within=0.2).to_dict("records")
    assert (row["before"], row["after"]) == (400, 800)


@pytest.mark.parametrize(
    ("gaps", "note"),
    [
        (
            [0.8, 0.5, 0.4, 0.3, 0.25],
            "not close at 800, the largest size with a significant test",
        ),
        ([0.8, 0.1, 0.1, 0.1, 0.3], "not close at 800, the largest size with a significant test"),
        ([0.15, 0.1, 0.1, 0.1, 0.1], "close at every size with a significant test"),
        ([0.2, 0.2, 0.2, 0.2, 0.2], "no significant test at any size"),
    ],
)
def test_convergence_outside_the_sizes_is_not_guessed(gaps, note):
    (row,) = quietly(converged, *gap_tables(around(gaps, 0.01)), within=0.2).to_dict("records")
    assert np.isnan([row["converged"], row["lower"], row["upper"]]).all()
    assert row["note"] == note


def test_convergence_names_the_models_without_a_limit(caplog):
    table, limits = gap_tables(around(GAPS, 0.02))
    result = converged(table, limits.iloc[:-1], within=0.2)
    assert result["n"][0] == 19
    reason = "no finite information reward for learner nb, size inf (no row)"
    consequence = "left out of the convergence of cells without a value"
    assert caplog.messages == [f"{consequence}: 1 of 20 (column model): 19 ({reason})"]


def test_convergence_of_infinite_scores_is_not_analysed():
    table, limits = gap_tables(around(GAPS, 0.02))
    limits.loc[2, "information_reward"] = np.inf
    (row,) = quietly(converged, table, limits, within=0.2).to_dict("records")
    assert (row["infinite"], row["note"]) == (1, "not analysed: infinite values")
    assert np.isnan([row["converged"], row["gap_smallest"]]).all()


def test_a_gap_that_is_none_at_the_smallest_size_has_no_fractions():
    table, limits = gap_tables(around([-0.1, 0.3, 0.2, 0.1, 0.05], 0.01))
    (row,) = converged(table, limits, fraction=0.5).to_dict("records")
    assert np.isnan(row["converged"])
    assert row["note"] == "not analysed: no gap at 50, the smallest size"


def test_what_cannot_be_analysed_is_refused(scores):
    with pytest.raises(ValueError, match=r"the factor 'learner' has one level \(nb\)"):
        thresholds(scores[scores["learner"] == "nb"])
    with pytest.raises(ValueError, match=r"the column 'size' has one size \(50\)"):
        thresholds(scores[scores["size"] == 50])
    with pytest.raises(ValueError, match="the column 'size' has 'a'; sizes must be positive"):
        thresholds(scores.assign(size=scores["size"].map({50: "a", 500: "b"})))
    with pytest.raises(ValueError, match="confidence is 1"):
        thresholds(scores, confidence=1)
    limits = scores[scores["size"] == 500].drop(columns="size")
    for options in ({}, {"within": 0.1, "fraction": 0.1}):
        with pytest.raises(ValueError, match="either within or fraction must be given"):
            converged(scores, limits, **options)
    with pytest.raises(ValueError, match="fraction is 1"):
        converged(scores, limits, fraction=1)
    with pytest.raises(ValueError, match="within is -1"):
        converged(scores, limits, within=-1)
    with pytest.raises(ValueError, match="the limits have no row for learner 'tan'"):
        converged(scores, limits[limits["learner"] == "nb"], within=0.1)
    with pytest.raises(ValueError, match="the limits have no column 'information_reward'"):
        converged(scores, limits.drop(columns="information_reward"), within=0.1)
    with pytest.raises(ValueError, match="the table has no column 'information_reward'"):
        converged(scores.drop(columns="information_reward"), limits, within=0.1)
