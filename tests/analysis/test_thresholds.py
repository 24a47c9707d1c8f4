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

from simstudy.analysis import thresholds as module
from simstudy.analysis.convergence import converged
from simstudy.analysis.curves import complete_curve, supremum
from simstudy.analysis.thresholds import curve, thresholds

STATS = Path(__file__).parent.parent / "golden" / "stats"
REFERENCE = json.loads((STATS / "threshold_a.json").read_text())
SIZES = (50, 200, 1000, 5000)
MIRRORED = {"first": "second", "second": "first"}


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


def around(means, spread=0.1, models=6):
    """Return differences of models with these means and some spread."""
    deviations = np.random.default_rng(3).normal(size=(models, len(means)))
    return np.asarray(means) + spread * (deviations - deviations.mean(axis=0))


def constant(means):
    """Return differences that are the same in all of three models."""
    return np.tile(np.asarray(means, dtype=float), (3, 1))


def random_scores(seed, sizes=4, models=8):
    """Return scores of two learners of which the second tends to get ahead."""
    rng = np.random.default_rng(seed)
    base = rng.normal(size=(models, sizes))
    trend = np.linspace(-1, 1, sizes) * rng.uniform(0, 2) + rng.normal(0, 0.5)
    return base, base + trend + rng.normal(size=(models, sizes)).cumsum(axis=1) / 2


def t_at(differences, sizes, size):
    """Return the paired t of the differences interpolated in log n, by an independent way."""
    between = np.array([np.interp(np.log(size), np.log(sizes), row) for row in differences])
    return between.mean(axis=0) / stats.sem(between, axis=0)


def of_pair(table, first, second):
    """Return the rows of two learners, in this order."""
    return pd.concat([table[table["learner"] == name] for name in (first, second)])


@pytest.fixture(params=REFERENCE)
def golden(request, table_a):
    second, first = request.param.split(" overtakes ")
    return of_pair(table_a, first, second), REFERENCE[request.param]


def read_limit(limit):
    """Return a limit of the reference, such as "<50", as a number."""
    return {"<": -math.inf, ">": math.inf}[limit[0]] if isinstance(limit, str) else limit


def test_crossings_and_intervals_agree_with_the_reference(golden):
    table, expected = golden
    rows = quietly(thresholds, table, "subject", value="reward")
    found = rows.dropna(subset="crossing")
    assert len(rows) == max(len(expected["crossings"]), 1)
    np.testing.assert_allclose(found["crossing"], expected["crossings"], rtol=1e-9)
    limits = found[["lower", "upper", "lower_open", "upper_open"]].to_numpy(float)
    intervals = np.array(expected["fieller_set"], dtype=float).reshape(-1, 4)
    np.testing.assert_allclose(limits, intervals, rtol=1e-9)
    assert set(rows["undecided"]) == {bool(expected["fieller_set"])}


def test_bootstrap_agrees_with_the_reference_but_for_chance(golden):
    table, expected = golden
    (row,) = thresholds(table, "subject", value="reward", bootstrap=True).to_dict("records")
    limits = [*expected["bootstrap"]["ci"], expected["bootstrap"]["median"]]
    for name, limit in zip(("lower", "upper", "median"), limits, strict=True):
        # Both are simulated: a limit's own standard error is about 1.5 % with 4000 replicates.
        assert row[f"bootstrap_{name}"] == pytest.approx(read_limit(limit), rel=0.05)
    for name in ("p_no_crossing", "p_one", "p_several"):
        assert row[name] == pytest.approx(expected["bootstrap"][name], abs=0.02)


def test_band_agrees_with_the_reference_given_its_critical_value(golden, monkeypatch):
    table, expected = golden
    monkeypatch.setattr(module, "sup_t", lambda *_: expected["sup_t"]["crit"])
    row = thresholds(table, "subject", value="reward").iloc[0]
    step = 20 ** (1 / 600)  # the reference knows 601 sizes from 50 to 1000
    keys = {"first_better_up_to": "A_better_up_to", "second_better_from": "B_better_from"}
    for ours, theirs in keys.items():
        limit = expected["sup_t"][theirs]
        if limit is None:
            assert np.isnan(row[ours])
        else:
            assert 1 / step - 1e-9 <= row[ours] / limit <= step + 1e-9


def test_normal_critical_values_agree_with_the_reference(golden):
    table, expected = golden
    first, second = table["learner"].unique()
    wide = table.pivot_table("reward", "subject", ["learner", "size"])
    differences = (wide[second] - wide[first]).to_numpy()
    unit = differences - differences.mean(axis=0)
    unit /= np.sqrt((unit**2).sum(axis=0))
    # The reference's own draws; it takes the maximum over 601 sizes, and we over all.
    z = (np.random.default_rng(1).standard_normal((4000, 40)) @ unit).T
    sup = supremum(z, np.diag(unit.T @ unit, 1))
    assert np.quantile(sup, 0.95) == pytest.approx(expected["sup_t"]["crit"], abs=1e-6)
    # With 4000 draws the reference itself is within 0.05 or so of the truth; ours uses more.
    found = thresholds(table, "subject", value="reward", band="normal")["sup_t"][0]
    assert found == pytest.approx(expected["sup_t"]["crit"], abs=0.06)


@pytest.mark.parametrize(("band", "df"), [("t", 39), ("normal", np.inf)])
def test_critical_value_is_that_of_the_maximum_along_the_curve(table_a, band, df):
    table = of_pair(table_a, "tree", "search")
    found = thresholds(table, "subject", value="reward", band=band)["sup_t"][0]
    wide = table_a.pivot_table("reward", "subject", ["learner", "size"])
    differences = (wide["search"] - wide["tree"]).to_numpy()
    draws = stats.multivariate_t(shape=np.cov(differences.T), df=df, seed=1).rvs(40_000)
    x = np.log([50, 200, 1000])
    grid = np.linspace(x[0], x[-1], 61)
    weights = np.array([np.interp(grid, x, one) for one in np.eye(3)])
    sup = np.abs(draws @ weights / (differences @ weights).std(axis=0, ddof=1)).max(axis=1)
    assert found == pytest.approx(np.quantile(sup, 0.95), abs=0.04)
    assert found > stats.t.ppf(0.975, 39)


def test_two_sizes_worked_by_hand():
    # Means −2 and 2, so the crossing is the geometric middle of 10 and 1000. The deviations are
    # orthogonal, each mean has variance 1/3. With u = weight − 1/2: (4u)² = c²/3 (1/2 + 2u²),
    # so u² = c²/(96 − 4c²), c being the quantile of t with 3 degrees of freedom.
    table = from_differences([[-3, 1], [-1, 1], [-3, 3], [-1, 3]], (10, 1000))
    (row,) = quietly(thresholds, table).to_dict("records")
    c = 3.182446305284263
    u = c / math.sqrt(96 - 4 * c**2)
    assert row["crossing"] == pytest.approx(100, rel=1e-12)
    assert row["lower"] == pytest.approx(10 ** (2 - 2 * u), rel=1e-9)
    assert row["upper"] == pytest.approx(10 ** (2 + 2 * u), rel=1e-9)
    assert (row["lower_open"], row["upper_open"]) == (False, False)
    assert (row["before"], row["after"], row["ahead"], row["n"]) == (10, 1000, "tan", 4)
    assert (row["ahead_smallest"], row["ahead_largest"], row["note"]) == ("nb", "tan", "")


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 2**32 - 1))
def test_swapping_the_learners_mirrors_the_answer(seed):
    first, second = random_scores(seed)
    plain = thresholds(long_table({"A": first, "B": second}, SIZES), bootstrap=True)
    swapped = thresholds(long_table({"B": second, "A": first}, SIZES), bootstrap=True)
    if plain["crossing"].isna().all():  # then the bootstrap looks for another overtaking
        dropped = ["bootstrap_lower", "bootstrap_median", "bootstrap_upper"]
        plain, swapped = plain.drop(columns=dropped), swapped.drop(columns=dropped)
    names = {
        column: column.replace(part, MIRRORED[part])
        for column in plain.columns
        for part in [column.split("_")[0]]
        if part in MIRRORED
    }
    mirrored = swapped.rename(columns=names)[plain.columns]
    pd.testing.assert_frame_equal(mirrored, plain, rtol=1e-9)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), sizes=st.integers(2, 6))
def test_interval_holds_the_crossing_and_ends_where_t_is_critical(seed, sizes):
    first, second = random_scores(seed, sizes)
    grid = [50 * 3**power for power in range(sizes)]
    rows = quietly(thresholds, long_table({"A": first, "B": second}, grid))
    critical = stats.t.ppf(0.975, len(first) - 1)
    for row in rows.dropna(subset="crossing").to_dict("records"):
        assert row["before"] <= row["crossing"] <= row["after"]
        assert row["lower"] <= row["crossing"] <= row["upper"]
        assert abs(t_at(second - first, grid, row["crossing"])) < 1e-6
        for limit, end in (("lower", 0), ("upper", -1)):
            t = abs(t_at(second - first, grid, row[limit]))
            if row[f"{limit}_open"]:
                assert row[limit] == grid[end]
                assert t <= critical
            else:
                assert t == pytest.approx(critical, rel=1e-6)
        inside = np.geomspace(row["lower"], row["upper"], 40)[1:-1]
        assert (np.abs(t_at(second - first, grid, inside)) <= critical + 1e-6).all()


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32 - 1))
def test_band_ends_where_t_is_the_band_s_critical_value(seed):
    first, second = random_scores(seed)
    row = thresholds(long_table({"A": first, "B": second}, SIZES)).iloc[0]
    places = ("first_better_up_to", "first_better_from", "second_better_up_to")
    for column in (*places, "second_better_from"):
        if np.isnan(row[column]):
            continue
        sign = 1 if column.startswith("second") else -1
        upwards = column.endswith("from")
        if row[column] != SIZES[-1 if not upwards else 0]:
            t = sign * t_at(second - first, SIZES, row[column])
            assert t == pytest.approx(row["sup_t"], rel=1e-6)
        rest = np.geomspace(row[column], SIZES[-1] if upwards else SIZES[0], 30)[1:]
        assert (sign * t_at(second - first, SIZES, rest) >= row["sup_t"] - 1e-6).all()


@settings(deadline=None, max_examples=20)
@given(
    seed=st.integers(0, 2**32 - 1),
    factor=st.floats(1e-3, 1e3),
    shift=st.floats(-10, 10),
    loss=st.booleans(),
)
def test_neither_unit_nor_origin_nor_sign_of_the_measure_matters(seed, factor, shift, loss):
    first, second = random_scores(seed)
    plain = thresholds(long_table({"A": first, "B": second}, SIZES))
    factor = -factor if loss else factor
    moved = long_table({"A": factor * first + shift, "B": factor * second + shift}, SIZES)
    result = thresholds(moved, greater_is_better=not loss)
    pd.testing.assert_frame_equal(result, plain, rtol=1e-5)


def test_without_a_crossing_one_row_says_who_is_ahead():
    (row,) = quietly(thresholds, from_differences(around([1, 2, 1, 3]))).to_dict("records")
    assert np.isnan([row["crossing"], row["lower"], row["upper"], row["before"]]).all()
    assert row["ahead"] == row["ahead_smallest"] == row["ahead_largest"] == "tan"
    assert row["note"] == "no crossing between 50 and 5000: tan is ahead throughout"
    assert not row["undecided"]
    assert not row["lower_open"]
    assert (row["second_better_from"], row["second_better_up_to"]) == (50, 5000)
    assert np.isnan([row["first_better_from"], row["first_better_up_to"]]).all()


def test_without_a_crossing_the_learners_may_still_be_hard_to_tell_apart():
    (row,) = thresholds(from_differences(around([-1, -2, -0.01, -3], 0.1))).to_dict("records")
    assert row["ahead"] == "nb"
    assert row["undecided"]
    assert np.isnan(row["crossing"])
    assert 200 < row["first_better_up_to"] < 1000 < row["first_better_from"] < 5000


def test_stretches_inside_in_which_the_band_leaves_0_out_are_listed():
    table = from_differences(around([-0.01, 1, 0.01, -2], 0.1))
    rows = quietly(thresholds, table)
    assert rows["first_better"].nunique() == rows["second_better"].nunique() == 1
    row = rows.iloc[0]
    assert np.isnan([row["second_better_up_to"], row["second_better_from"]]).all()
    (inside,) = row["second_better"].split("; ")
    (end,) = row["first_better"].split("; ")
    low, high = map(float, inside.split(" to "))
    assert 50 < low < 200 < high < 1000
    start, last = map(float, end.split(" to "))
    assert start == pytest.approx(row["first_better_from"], rel=1e-5)
    assert last == 5000
    points = quietly(curve, table, "nb", "tan", steps=200)
    ahead = points["size"][points["band_lower"] > 0]
    np.testing.assert_allclose([ahead.min(), ahead.max()], [low, high], rtol=0.02)
    assert points["size"].between(low * 1.0001, high / 1.0001).sum() == len(ahead)
    behind = points["size"][points["band_upper"] < 0]
    np.testing.assert_allclose([behind.min(), behind.max()], [start, last], rtol=0.02)


def test_a_pair_that_the_band_never_tells_apart_has_no_stretch():
    rows = thresholds(from_differences(around([-0.01, 0.01, 0.01, -0.01], 1)))
    assert set(rows["first_better"]) == set(rows["second_better"]) == {""}
    (row,) = quietly(thresholds, from_differences(around([1, 2, 1, 3]))).to_dict("records")
    assert (row["first_better"], row["second_better"]) == ("", "50 to 5000")


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_stretches_are_where_the_band_of_the_figure_leaves_0_out(seed):
    first, second = random_scores(seed)
    table = long_table({"A": first, "B": second}, SIZES)
    row, points = thresholds(table).iloc[0], curve(table, "A", "B", steps=25)
    for column, out in (
        ("first_better", points["band_upper"] < 0),
        ("second_better", points["band_lower"] > 0),
    ):
        inside, close = np.zeros(len(points), dtype=bool), np.zeros(len(points), dtype=bool)
        for part in row[column].split("; ") if row[column] else ():
            low, high = map(float, part.split(" to "))
            inside |= points["size"].between(low, high).to_numpy()
            for end in (low, high):
                close |= np.isclose(points["size"], end, rtol=1e-4)
        assert (inside == out)[~close].all()


def test_every_crossing_is_listed():
    rows = quietly(thresholds, from_differences(around([-1, 1, 2, -2], 0.05)), bootstrap=True)
    # On the logarithmic axis: half way from 50 to 200, and from 1000 to 5000.
    np.testing.assert_allclose(rows["crossing"], [100, math.sqrt(5) * 1000], rtol=1e-9)
    assert list(rows["ahead"]) == ["tan", "nb"]
    assert list(rows["before"]) == [50, 1000]
    assert list(rows["after"]) == [200, 5000]
    assert (rows["upper"] < [200, 5000]).all()
    assert set(rows["p_several"]) == {1.0}
    np.testing.assert_allclose(rows["bootstrap_median"], rows["crossing"], rtol=0.05)
    # nb is better at both ends, tan at neither.
    assert rows["second_better_from"].isna().all()
    assert 50 < rows["first_better_up_to"][0] < 100
    assert 2236 < rows["first_better_from"][1] < 5000


def test_crossings_in_one_undecided_stretch_share_their_interval():
    rows = thresholds(from_differences(around([-1, 0.01, -0.01, 1], 0.5)))
    assert len(rows) == 3
    assert len(rows[["lower", "upper"]].drop_duplicates()) == 1


@pytest.mark.parametrize(
    ("means", "crossing", "before", "after"),
    [
        ([-1, 0, 1, 2], 200, 50, 1000),  # zero at one size
        ([-1, 0, 0, 2], math.sqrt(200 * 1000), 50, 5000),  # over a whole segment: its middle
    ],
)
@pytest.mark.parametrize("differences", [constant, around])
def test_zero_at_a_size_between_different_leaders_is_a_crossing(
    differences, means, crossing, before, after
):
    (row,) = quietly(thresholds, from_differences(differences(means))).to_dict("records")
    assert row["crossing"] == pytest.approx(crossing, rel=1e-12)
    assert (row["before"], row["after"], row["ahead"]) == (before, after, "tan")
    assert row["lower"] <= crossing * (1 + 1e-12)
    assert row["upper"] >= crossing * (1 - 1e-12)


@pytest.mark.parametrize("means", [[1, 0, 1, 2], [0, 1, 2, 3], [0, 0, 1, 1], [1, 1, 0, 0]])
@pytest.mark.parametrize("differences", [constant, around])
def test_touching_zero_is_no_crossing(differences, means):
    (row,) = quietly(thresholds, from_differences(differences(means))).to_dict("records")
    assert np.isnan(row["crossing"])
    assert row["ahead"] == "tan"
    assert row["undecided"]
    assert pd.isna(row["ahead_smallest"]) == (means[0] == 0)
    assert pd.isna(row["ahead_largest"]) == (means[-1] == 0)


def test_without_spread_the_interval_is_the_crossing():
    (row,) = quietly(
        thresholds, from_differences(constant([-0.3, -0.1, 0.2, 0.3])), bootstrap=True
    ).to_dict("records")
    assert 200 < row["crossing"] < 1000
    for column in ("lower", "upper", "first_better_up_to", "second_better_from"):
        assert row[column] == pytest.approx(row["crossing"], rel=1e-7)
    assert row["bootstrap_lower"] == row["bootstrap_upper"] == pytest.approx(row["crossing"])


def test_identical_learners_never_cross():
    (row,) = quietly(thresholds, from_differences(np.zeros((3, 4))), bootstrap=True).to_dict(
        "records"
    )
    assert pd.isna(row["ahead"])
    assert row["note"] == "no crossing between 50 and 5000: neither is ahead"
    assert row["undecided"]
    assert np.isnan([row["crossing"], row["first_better_from"], row["bootstrap_lower"]]).all()
    assert row["p_no_crossing"] == 1


def test_interval_beyond_the_sizes_is_open_there():
    table = from_differences(around([-0.01, 1, 2, 3], 0.5))
    (row,) = thresholds(table).to_dict("records")
    assert (row["lower"], row["lower_open"], row["upper_open"]) == (50, True, False)
    mirrored = from_differences(around([-3, -2, -1, 0.01], 0.5))
    (row,) = thresholds(mirrored, bootstrap=True).to_dict("records")
    assert (row["upper"], row["lower_open"], row["upper_open"]) == (5000, False, True)
    assert row["bootstrap_upper"] == math.inf
    assert 0.1 < row["p_no_crossing"] < 0.9


def test_wide_differences_open_the_interval_on_both_sides():
    (row,) = thresholds(from_differences(around([-1, -1, 1, 1], 10))).to_dict("records")
    assert (row["lower"], row["upper"]) == (50, 5000)
    assert (row["lower_open"], row["upper_open"]) == (True, True)


def test_higher_confidence_widens_the_interval(table_a):
    table = of_pair(table_a, "tree", "search")
    narrow, wide = (
        thresholds(table, "subject", value="reward", confidence=level, bootstrap=True).iloc[0]
        for level in (0.9, 0.99)
    )
    for name in ("lower", "bootstrap_lower", "first_better_up_to"):
        assert wide[name] < narrow[name]
    for name in ("upper", "bootstrap_upper", "second_better_from", "sup_t"):
        assert wide[name] > narrow[name]


def test_a_failed_cell_costs_its_own_pairs_a_model_and_is_named(table_a, caplog):
    options = {"subject": "subject", "value": "reward"}
    whole = thresholds(table_a, **options)
    table = table_a.assign(status="ok")
    failed = (table["subject"] == "m07") & (table["learner"] == "tree") & (table["size"] == 200)
    table.loc[failed, ["reward", "status"]] = [np.nan, "timeout"]
    result = quietly(thresholds, table, **options)
    touched = (result["first"] == "tree") | (result["second"] == "tree")
    assert set(result.loc[touched, "n"]) == {39}
    pd.testing.assert_frame_equal(result[~touched], whole[~touched])
    without = thresholds(table_a[table_a["subject"] != "m07"], **options)
    pd.testing.assert_frame_equal(result[touched], without[touched])
    reason = "no finite reward for learner=tree, size=200 (timeout)"
    assert result.attrs["left_out"] == [{"subject": "m07", "reason": reason}]
    assert reason in caplog.text


def test_an_infinite_score_leaves_its_pairs_without_an_analysis(table_a):
    options = {"subject": "subject", "value": "reward"}
    table = table_a.copy()
    table.loc[(table["subject"] == "m07") & (table["learner"] == "tree"), "reward"] = -np.inf
    result = quietly(thresholds, table, **options, bootstrap=True)
    touched = (result["first"] == "tree") | (result["second"] == "tree")
    assert list(result["infinite"]) == list(touched.astype(int))
    assert set(result.loc[touched, "note"]) == {"not analysed: infinite values"}
    columns = ["crossing", "ahead", "lower", "upper", "sup_t", "bootstrap_lower", "p_one"]
    assert result.loc[touched, columns].isna().all(axis=None)
    assert not result.loc[touched, ["lower_open", "upper_open", "undecided"]].any(axis=None)
    assert result.attrs["left_out"] == []


def test_one_model_is_too_few():
    (row,) = quietly(thresholds, from_differences([[-1, 1, 2, 3]])).to_dict("records")
    assert (row["n"], row["note"]) == (1, "not analysed: fewer than two complete subjects")
    assert np.isnan(row["crossing"])


def test_losses_turn_the_direction(table_a):
    table = of_pair(table_a, "tree", "search")
    (row,) = thresholds(table, "subject", value="reward", greater_is_better=False).to_dict(
        "records"
    )
    assert row["crossing"] == pytest.approx(174.6710960109712)
    assert row["ahead"] == "tree"


def test_bootstrap_depends_on_the_seed_alone(table_a):
    options = {"subject": "subject", "value": "reward", "bootstrap": True, "replicates": 500}
    one, same, other = (thresholds(table_a, **options, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, same)
    assert (one["bootstrap_median"] != other["bootstrap_median"]).any()


def test_bootstrap_in_blocks_is_that_in_one_piece(table_a, monkeypatch):
    options = {"subject": "subject", "value": "reward", "bootstrap": True, "replicates": 500}
    whole = thresholds(table_a, **options)
    for block in (1, 97, 1000):
        monkeypatch.setattr(module, "_BLOCK", block)
        pd.testing.assert_frame_equal(thresholds(table_a, **options), whole, rtol=1e-12)


def test_bootstrap_means_are_those_of_the_rows_drawn():
    # With one block the draws can be repeated: each replicate is a mean over drawn subjects.
    values = np.arange(12.0).reshape(4, 3) ** 2
    pair = complete_curve(values, 1.0, np.zeros(4, dtype=bool), np.array([1.0, 2, 3]))[0]
    drawn = np.random.default_rng(5).integers(4, size=(50, 4))
    found = module._resampled([None, pair, pair], 50, 5)
    assert found.keys() == {1, 2}
    for means in found.values():
        np.testing.assert_allclose(means, values[drawn].mean(axis=1), rtol=1e-12)


def test_curve_is_the_thresholds_in_a_figure(table_a):
    options = {"subject": "subject", "value": "reward"}
    points = quietly(curve, table_a, "tree", "search", **options, steps=10)
    assert list(points["size"][points["studied"]]) == [50, 200, 1000]
    assert len(points) == 21
    row = thresholds(of_pair(table_a, "tree", "search"), **options).iloc[0]
    assert points.attrs["sup_t"] == row["sup_t"]
    assert (points.attrs["first"], points.attrs["n"]) == ("tree", 40)
    np.testing.assert_allclose(
        points["difference"][points["studied"]], [-0.059781775, 0.0064716, 0.029487725]
    )
    apart = (points["lower"] > 0) | (points["upper"] < 0)
    assert (apart == ~points["size"].between(row["lower"], row["upper"])).all()
    better = points["band_lower"] > 0
    assert (better == (points["size"] > row["second_better_from"])).all()
    half = (points["upper"] - points["lower"]) / (2 * points["se"])
    np.testing.assert_allclose(half, 2.022690920036761)


def test_curve_of_infinite_scores_is_nan(table_a):
    table = table_a.copy()
    table.loc[(table["subject"] == "m07") & (table["learner"] == "tree"), "reward"] = -np.inf
    points = quietly(curve, table, "tree", "search", "subject", value="reward")
    assert points[["difference", "se", "lower", "band_upper"]].isna().all(axis=None)
    assert points.attrs["note"] == "not analysed: infinite values"
    with pytest.raises(ValueError, match="the column 'learner' has no 'bush'"):
        curve(table, "tree", "bush", "subject", value="reward")


def gap_tables(gaps, limit=0.8, sizes=SIZES, sign=1):
    """Return the scores of one learner with these gaps (models × sizes), and its limits."""
    gaps = np.asarray(gaps, dtype=float)
    limits = pd.DataFrame({"model": range(len(gaps)), "learner": "nb"})
    limits["information_reward"] = limit
    return long_table({"nb": limit - sign * gaps}, sizes), limits


def test_convergence_is_where_the_mean_gap_gets_small_enough():
    # Half way between 200 and 1000 on the logarithmic axis the mean gap is 0.2.
    table, limits = gap_tables(around([0.8, 0.3, 0.1, 0.05], 0.02))
    (row,) = quietly(converged, table, limits, within=0.2).to_dict("records")
    assert row["converged"] == pytest.approx(math.sqrt(200 * 1000))
    assert (row["before"], row["after"], row["note"]) == (200, 1000, "")
    assert row["gap_smallest"] == pytest.approx(0.8)
    assert row["gap_largest"] == pytest.approx(0.05)
    assert 200 < row["lower"] < row["converged"] < row["upper"] < 1000
    # A quarter of 0.8 is 0.2 as well, but the gap at the smallest size is uncertain too.
    (part,) = converged(table, limits, fraction=0.25).to_dict("records")
    assert part["converged"] == pytest.approx(row["converged"])
    assert part["lower"] != pytest.approx(row["lower"])


def test_convergence_interval_ends_where_t_is_critical():
    gaps = around([0.8, 0.3, 0.1, 0.05], 0.05)
    table, limits = gap_tables(gaps)
    for options, allowed in (({"within": 0.2}, 0.2), ({"fraction": 0.25}, gaps[:, :1] / 4)):
        (row,) = converged(table, limits, **options).to_dict("records")
        for limit in ("lower", "upper"):
            t = t_at(allowed - gaps, SIZES, row[limit])
            assert abs(t) == pytest.approx(stats.t.ppf(0.975, 5), rel=1e-6)


def test_convergence_of_losses_is_that_of_the_rewards():
    gaps = around([0.8, 0.3, 0.1, 0.05], 0.02)
    plain = converged(*gap_tables(gaps), within=0.2)
    turned = converged(*gap_tables(gaps, sign=-1), within=0.2, greater_is_better=False)
    pd.testing.assert_frame_equal(turned, plain, rtol=1e-9)


def test_convergence_takes_the_last_crossing():
    table, limits = gap_tables(around([0.8, 0.1, 0.3, 0.1], 0.01))
    (row,) = converged(table, limits, within=0.2).to_dict("records")
    assert (row["before"], row["after"]) == (1000, 5000)


@pytest.mark.parametrize(
    ("gaps", "note"),
    [
        ([0.8, 0.5, 0.4, 0.3], "not close at 5000, the largest size"),
        ([0.8, 0.1, 0.1, 0.3], "not close at 5000, the largest size"),
        ([0.15, 0.1, 0.1, 0.1], "close at all sizes from 50 on"),
    ],
)
def test_convergence_outside_the_sizes_is_not_guessed(gaps, note):
    (row,) = quietly(converged, *gap_tables(around(gaps, 0.01)), within=0.2).to_dict("records")
    assert np.isnan([row["converged"], row["lower"], row["upper"]]).all()
    assert row["note"] == note
    assert row["undecided"] == (gaps[1] == gaps[2] == 0.1 and gaps[0] == 0.8)


def test_convergence_names_the_models_without_a_limit():
    table, limits = gap_tables(around([0.8, 0.3, 0.1, 0.05], 0.02))
    result = converged(table, limits.iloc[:-1], within=0.2)
    assert result["n"][0] == 5
    reason = "no finite information_reward for learner=nb, size=inf (no row)"
    assert result.attrs["left_out"] == [{"subject": 5, "reason": reason}]


def test_convergence_of_infinite_scores_is_not_analysed():
    table, limits = gap_tables(around([0.8, 0.3, 0.1, 0.05], 0.02))
    limits.loc[2, "information_reward"] = np.inf
    (row,) = quietly(converged, table, limits, within=0.2).to_dict("records")
    assert (row["infinite"], row["note"]) == (1, "not analysed: infinite values")
    assert np.isnan([row["converged"], row["gap_smallest"]]).all()


def test_a_gap_that_is_none_at_the_smallest_size_has_no_fractions():
    table, limits = gap_tables(around([-0.1, 0.3, 0.1, 0.05], 0.01))
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
    with pytest.raises(ValueError, match="band is 'flat'; it must be one of: t, normal"):
        thresholds(scores, band="flat")
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


def test_every_pair_has_a_row(table_a):
    rows = thresholds(table_a, "subject", value="reward")
    learners = ["naive", "tree", "search", "oracle"]
    pairs = list(itertools.combinations(learners, 2))
    assert list(zip(rows["first"], rows["second"], strict=True)) == pairs
