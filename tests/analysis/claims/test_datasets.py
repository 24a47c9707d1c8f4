"""Claims about data sets, held against tables whose verdicts can be worked out by hand."""

from __future__ import annotations

import math
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.analysis.claims.datasets import check_data_claim
from simstudy.analysis.claims.published import agreement
from simstudy.analysis.claims.verdict import check_statements
from simstudy.analysis.datasets.per_dataset import means_table, winners
from simstudy.analysis.datasets.two_measures import correlations, reversals
from simstudy.report.prose.claims import basis, numbers
from simstudy.study.claims import DataClaim, Statement


class Worked:
    """Results with given means; all splits of a learner on a data set are alike but for noise."""

    def __init__(self, means, other=None, noise=1e-4):
        rng, rows = np.random.default_rng(1), []
        for dataset, own in means.items():
            for repeat in range(5):
                for fold in range(2):
                    for learner, mean in own.items():
                        draw = rng.normal(0, noise)
                        second = (other or means)[dataset][learner]
                        rows.append(
                            {"dataset": dataset, "repeat": repeat, "fold": fold, "size": 50}
                            | {"test_rows": 50, "learner": learner, "a": mean + draw}
                            | {"b": second + 2 * draw, "loss": -mean - draw}
                        )
        self.scores = pd.DataFrame(rows)

    def dataset_table(self, measure=None):
        return means_table(self.scores, measure or "a", measure != "loss")

    def winners(self, measure=None, test=None, *, adjustment="holm"):
        return winners(self.scores, measure or "a", test, adjustment, 0.05, measure != "loss")

    def reversals(self, first, second, *, examples=True):
        tables = self.dataset_table(first), self.dataset_table(second)
        return reversals(tables, (self.winners(first), self.winners(second)))

    def correlations(self, first, second):
        return correlations(self.scores, first, second)


def sets(number, **means):
    """Data sets of the same means."""
    return {
        f"d{i}": {name: mean + 0.001 * i for name, mean in means.items()} for i in range(number)
    }


def verdict(results, **claim):
    given = DataClaim("s", "text", **claim)
    (found,) = check_statements([Statement("text", [given])], {"s": results})
    return found.verdict, found.lines[0].checks


def test_a_learner_beats_another_over_data_sets_by_signed_ranks():
    results = Worked(sets(8, x=0.7, y=0.6))
    said, (check,) = verdict(results, relation="beats", learners=["x"], against=["y"])
    assert said == "reproduced"
    assert check.p == pytest.approx(2 / 2**8)  # all 8 differences have one sign
    assert (check.wins, check.draws, check.losses, check.n, check.m) == (8, 0, 0, 8, 1)
    assert verdict(results, relation="beats", learners=["y"], against=["x"])[0] == "not reproduced"


def test_too_few_data_sets_do_not_decide():
    results = Worked(sets(5, x=0.7, y=0.6))  # the least p is 2/32
    assert verdict(results, relation="beats", learners=["x"], against=["y"])[0] == "not decided"


def test_of_a_loss_less_is_better():
    results = Worked(sets(8, x=0.7, y=0.6))
    found = verdict(results, relation="beats", learners=["x"], against=["y"], measure="loss")
    assert found[0] == "reproduced"


def test_the_sign_test_counts_data_sets():
    means = sets(9, x=0.7, y=0.6)
    means["d8"] = {"x": 0.1, "y": 0.9}  # far behind on one
    found = verdict(Worked(means), relation="beats", learners=["x"], against=["y"], test="sign")
    assert found[0] == "reproduced"
    assert found[1][0].p == pytest.approx(2 * (1 + 9) / 2**9)


def test_on_named_data_sets_the_splits_are_tested():
    means = {"d0": {"x": 0.7, "y": 0.6}, "d1": {"x": 0.6, "y": 0.7}}
    results = Worked(means)
    claim = {"relation": "beats", "learners": ["x"], "against": ["y"]}
    assert verdict(results, **claim, datasets=["d0"])[0] == "reproduced"
    assert verdict(results, **claim, datasets=["d1"])[0] == "not reproduced"
    checks = verdict(results, **claim, datasets=["d0", "d1"])[1]
    assert [check.estimate > 0 for check in checks] == [True, False]


def test_never_is_contradicted_by_one_win_unless_it_is_excepted():
    means = sets(4, x=0.6, y=0.7) | {"odd": {"x": 0.9, "y": 0.2}}
    results, claim = Worked(means), {"learners": ["x"], "against": ["y"]}
    said, (check,) = verdict(results, relation="never beats", **claim)
    assert (said, check.named) == ("not reproduced", ("odd",))
    assert verdict(results, relation="never beats", datasets=["odd"], **claim)[0] == "reproduced"


def test_a_win_before_adjustment_alone_does_not_decide():
    means = {"d": {"x": 0.70, "y": 0.6999, "z": 0.69995, "w": 0.69995}}
    tried = [Worked(means, noise=noise) for noise in np.geomspace(1e-5, 2e-4, 40)]
    claim, said = DataClaim("s", "text", "never beats", ["x"], ["y"]), []
    for results in tried:
        plain = "y" in results.winners(adjustment="none").losers("d", "x")
        sure = "y" in results.winners().losers("d", "x")
        expected = "not reproduced" if sure else "not decided" if plain else "reproduced"
        said.append(check_data_claim(claim, results)[0].verdict)
        assert said[-1] == expected
    assert {"not reproduced", "not decided"} <= {*said}


def test_wherever_one_wins_the_others_are_ahead_too():
    claim = {"relation": "beats wherever", "rival": "r", "learners": ["x"], "against": ["y"]}
    means = {"d0": {"r": 0.8, "x": 0.7, "y": 0.6}, "d1": {"r": 0.5, "x": 0.4, "y": 0.6}}
    said, (check,) = verdict(Worked(means), **claim)
    assert (said, check.n, check.wins) == ("reproduced", 1, 1)  # d1 does not count
    means["d2"] = {"r": 0.8, "x": 0.5, "y": 0.6}
    said, (check,) = verdict(Worked(means), **claim)
    assert (said, check.named) == ("not reproduced", ("d2",))


def test_wins_and_losses_of_pairs_are_weighed_over_data_sets():
    results = Worked(sets(8, x=0.7, y=0.6, z=0.5))
    claim = {"relation": "wins more than it loses"}
    said, (check,) = verdict(results, **claim, learners=["x"])
    assert (said, check.wins, check.losses) == ("reproduced", 16, 0)
    assert check.p == pytest.approx(2 / 2**8)
    assert verdict(results, **claim, learners=["z"])[0] == "not reproduced"
    assert verdict(results, **claim, learners=["y"])[0] == "not decided"  # one of each everywhere


def test_measures_name_other_winners_if_both_are_sure():
    one, other = sets(3, x=0.7, y=0.6), sets(3, x=0.6, y=0.7)
    claim = {"relation": "other winners", "measure": "a", "other_measure": "b"}
    said, (check,) = verdict(Worked(one, other), **claim)
    assert (said, check.named) == ("reproduced", ("d0", "d1", "d2"))
    assert verdict(Worked(one), **claim)[0] == "not reproduced"
    close = Worked(sets(3, x=0.7, y=0.69999), sets(3, x=0.6, y=0.60001), noise=0.01)
    assert verdict(close, **claim)[0] in ("not decided", "not reproduced")


def test_correlations_lie_above_or_below_a_value():
    results = Worked(sets(4, x=0.7, y=0.6))  # b is a + noise of the same sign
    pair = {"measure": "a", "other_measure": "b"}
    assert verdict(results, relation="correlation above", value=0.5, **pair)[0] == "reproduced"
    assert verdict(results, relation="correlation below", value=0.5, **pair)[0] == "not reproduced"
    loss = {"measure": "a", "other_measure": "loss"}
    assert verdict(results, relation="correlation below", **loss)[0] == "reproduced"


class Correlated(Worked):
    """Results with given correlations, data sets × learners."""

    def __init__(self, *rows):
        self.rows = pd.DataFrame(rows)

    def correlations(self, first, second):
        return SimpleNamespace(table=self.rows)


def test_the_interval_of_a_mean_correlation_is_by_fishers_z():
    claim = {"relation": "correlation above", "value": 0.5, "measure": "a", "other_measure": "b"}
    rows = [(0.99, 0.9), (0.98, np.nan), (0.3, 0.6), (0.95, 0.97), (np.nan, np.nan)]
    _, (check,) = verdict(Correlated(*rows), **claim)
    z = np.array([np.mean([fisher(r) for r in row if r == r]) for row in rows[:4]])
    expected = np.tanh(stats.t.interval(0.95, 3, z.mean(), stats.sem(z)))
    assert (check.lower, check.upper) == pytest.approx(tuple(expected))
    assert check.estimate == pytest.approx(np.tanh(z.mean()))
    assert check.n == 4
    mean = np.mean([0.945, 0.98, 0.45, 0.96])
    assert f"arithmetic mean {mean:.2f}" in check.reason
    # A t interval of the correlations themselves would reach beyond 1.
    assert mean + stats.t.ppf(0.975, 3) * stats.sem([0.945, 0.98, 0.45, 0.96]) > 1


def fisher(r):
    return math.log((1 + r) / (1 - r)) / 2


@pytest.mark.parametrize("rows", [[(1.0,), (1.0,)], [(1.0,), (-1.0,), (0.2,)], [(-1.0,), (-0.9,)]])
def test_correlations_of_one_have_finite_limits(rows):
    claim = {"relation": "correlation above", "measure": "a", "other_measure": "b"}
    _, (check,) = verdict(Correlated(*rows), **claim)
    assert -1 < check.lower <= check.estimate <= check.upper < 1


def test_a_check_says_its_numbers_and_what_they_rest_on():
    results = Worked(sets(8, x=0.7, y=0.6))
    _, (check,) = verdict(results, relation="beats", learners=["x"], against=["y"])
    text = numbers(check)
    for part in ("x over y", "+0.1", "8–0–0", "too optimistic", "p = 0.0078"):
        assert part in text
    assert "8 data sets, m = 1" in basis(check)


def test_ours_are_set_beside_printed_values():
    means = pd.DataFrame({"x": [0.5, 0.6, 0.9], "y": [0.4, 0.8, 0.9]}, index=["a", "b", "c"])
    printed = {"a": {"x": 0.52, "y": 0.4}, "b": {"x": 0.6, "y": 0.7}, "c": {"x": 0.0, "y": 0.0}}
    found = agreement(means, printed | {"d": {"x": 1.0, "y": 1.0}}, ["c"], 0.05)
    mean = dict(
        zip(found.by_learner["learner"], found.by_learner["mean_absolute_difference"], strict=True)
    )
    assert mean == pytest.approx({"x": 0.01, "y": 0.05})
    assert (found.beyond, found.left_out, found.missing) == (("b",), ("c",), ("d",))


def test_all_pairs_of_three_learners_are_adjusted_for():
    results = Worked(sets(8, x=0.7, y=0.6, z=0.5))
    for first, second in combinations("xyz", 2):
        _, (check,) = verdict(results, relation="beats", learners=[first], against=[second])
        assert (check.m, check.p) == (3, pytest.approx(3 * 2 / 2**8))
