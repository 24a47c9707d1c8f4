"""The one sentence that opens a page names as best only whom no test has behind another."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pandas as pd
import pytest

from simstudy.report.prose.finding import finding

ALPHA = 0.05


def pair(size, first, second, difference, p=0.01, n=30, infinite=0):
    """A row of the pairwise table, significant unless told otherwise."""
    row = {"size": size, "first": first, "second": second, "n": n, "difference": difference}
    row |= {"lower": difference - 1, "upper": difference + 1, "p_adjusted": p}
    return row | {"m": 1, "infinite": infinite}


@pytest.fixture
def findings_of(make_findings):
    """Findings with pairs and means given outright."""

    def findings_of(pairs, means, **options):
        cells = pd.DataFrame(
            {"learner": learner, "size": size, "mean": mean}
            for size, at_size in means.items()
            for learner, mean in at_size.items()
        ).assign(lower=math.nan, upper=math.nan, n=30, infinite=0, m=1)
        learners = [*dict.fromkeys(cells["learner"])]
        given = {"learners": learners, "sizes": [*means], "models": 30, "courses": ()}
        parts = {"pairwise": pd.DataFrame(pairs), "intervals": cells}
        return make_findings(**given, **parts, **options)

    return findings_of


@pytest.fixture
def tell(findings_of):
    """The sentence about means by size, with the pairs that are not significant, if any."""

    def tell(means, level=(), **options):
        pairs = [
            pair(size, a, b, own[a] - own[b], 0.5 if (size, a + b) in level else 0.01)
            for size, own in means.items()
            for a, b in itertools.combinations(own, 2)
        ]
        return finding(findings_of(pairs, means, **options))

    return tell


def test_who_wins_at_which_size_is_said_in_order(tell):
    said = tell({50: {"A": 3, "B": 2, "C": 1}, 500: {"A": 1, "B": 2, "C": 0}})
    assert said == "On these models A does best with 50 rows and B with 500."


def test_sizes_of_the_same_winner_are_put_together(tell):
    a, b = {"A": 2, "B": 1}, {"A": 1, "B": 2}
    said = tell({10: a, 20: a, 30: a, 40: b, 50: a, 1000: b, 2000: b})
    assert (
        said
        == "On these models A does best with 10 to 30 and 50 rows and B with 40, 1,000 and 2,000."
    )
    assert tell({10: a}) == "On these models A does best with 10 rows."


def test_with_a_loss_less_does_best(tell):
    said = tell({50: {"A": 3, "B": 2}, 500: {"A": 1, "B": 2}}, greater_is_better=False)
    assert said == "On these models B does best with 50 rows and A with 500."


def test_learners_that_no_test_separates_are_joined_and_not_called_equal(tell):
    means = {50: {"A": 3, "B": 2, "C": 1}, 500: {"A": 2, "B": 3, "C": 1}}
    said = tell(means, [(500, "AB")])
    assert "A does best with 50 rows, and B or A with 500, where the two do not differ" in said
    said = tell(means, [(50, "AB")])
    assert "A or B does best with 50 rows, and B with 500; learners joined by “or” do not" in said
    assert "equal" not in said


def test_one_that_is_level_with_the_best_but_beaten_by_another_is_not_named(tell):
    # A differs from neither B nor C, yet B beats C.
    said = tell({50: {"A": 3, "B": 2, "C": 1}}, [(50, "AB"), (50, "AC")])
    assert "A or B does best" in said
    assert "C" not in said.removeprefix("On these models")


def test_where_many_may_be_best_it_is_said_who_is_worse(tell):
    means = {50: {name: 10 - i for i, name in enumerate("ABCDEFG")}}
    level = [(50, a + b) for a, b in itertools.combinations("ABCDE", 2)]
    assert tell(means, level) == (
        "On these models A has the best mean with 50 rows, where only F and G are significantly "
        "worse than another."
    )
    means = {50: {name: 20 - i for i, name in enumerate("ABCDEFGHIJK")}}
    level = [(50, a + b) for a, b in itertools.combinations("ABCDE", 2)]
    assert tell(means, level).endswith("where 6 of 10 others are significantly worse than another.")
    level = [(50, a + b) for a, b in [*itertools.combinations("ABCD", 2), "AE"]]
    means = {50: {name: 10 - i for i, name in enumerate("ABCDE")}}
    assert tell(means, level).endswith("where only E is significantly worse than another.")
    # Those of one leader at several sizes are counted together.
    means = {size: {name: 10 - i for i, name in enumerate("ABCDEFG")} for size in (50, 100)}
    level = [
        (size, a + b)
        for size, names in ((50, "ABCDE"), (100, "ABCDEF"))
        for a, b in itertools.combinations(names, 2)
    ]
    assert tell(means, level) == (
        "On these models A has the best mean with 50 and 100 rows, where 1 to 2 of 6 others are "
        "significantly worse than another."
    )


def test_a_size_without_differences_has_no_best(tell):
    means = {50: {"A": 3, "B": 2}, 500: {"A": 2, "B": 1}}
    said = tell(means, [(500, "AB")])
    assert said == (
        "On these models A does best with 50 rows; with 500 rows no two learners differ "
        "significantly."
    )
    said = tell(means, [(50, "AB"), (500, "AB")])
    assert said == "On these models A and B do not differ significantly with 50 and 500 rows."
    three = {50: {"A": 3, "B": 2, "C": 1}}
    said = tell(three, [(50, "AB"), (50, "AC"), (50, "BC")])
    assert said == "On these models no two of A, B and C differ significantly with 50 rows."


def test_the_best_mean_is_not_called_best_where_another_beats_it(findings_of):
    # Over the models that both have.
    said = finding(findings_of([pair(50, "A", "B", -0.1)], {50: {"A": 2.0, "B": 1.0}}))
    assert "does best" not in said
    assert "with 50 rows the learner with the best mean is beaten" in said


def test_learners_that_could_not_be_compared_are_named(findings_of):
    means = {50: {"A": 2.0, "B": 1.0, "C": -math.inf}}
    lost = [pair(50, name, "C", math.inf, math.nan, infinite=2) for name in "AB"]
    said = finding(findings_of([pair(50, "A", "B", 1.0), *lost], means))
    assert said == "On these models A does best with 50 rows (C could not be compared)."
    # The learner with the best mean was compared with no other.
    pairs = [pair(50, "A", name, 1.0, math.nan, infinite=1) for name in "BC"]
    said = finding(findings_of([*pairs, pair(50, "B", "C", 1.0)], {50: {"A": 3, "B": 2, "C": 1}}))
    assert "best mean could not be compared with the others" in said
    assert "does best" not in said
    said = finding(findings_of(pairs, {50: {"A": 3, "B": 2, "C": 1}}))
    assert said == "On these models A, B and C could not be compared with 50 rows."
    # At another size two learners are level, and the third was compared with neither.
    won = [pair(500, *names, 1.0) for names in ("AB", "AC", "BC")]
    level = pair(50, "A", "B", 1.0, 0.5)
    said = finding(findings_of([level, *lost, *won], {**means, 500: {"A": 3, "B": 2, "C": 1}}))
    assert said == (
        "On these models A does best with 500 rows; with 50 rows no two learners differ "
        "significantly (where they could be compared)."
    )


def test_infinite_means_and_identical_learners_are_said(findings_of):
    none = {"A": -math.inf, "B": -math.inf}
    lost = pair(50, "A", "B", math.nan, math.nan, infinite=3)
    said = finding(findings_of([lost], {50: none}))
    assert said.startswith("On these models no learner has a finite mean")
    pairs = [lost, pair(500, "A", "B", 1.0)]
    said = finding(findings_of(pairs, {50: none, 500: {"A": 2.0, "B": 1.0}}))
    assert "A does best with 500 rows; with 50 rows no mean is finite" in said
    same = pair(50, "A", "B", 0.0, math.nan)
    said = finding(findings_of([same], {50: {"A": 1.0, "B": 1.0}}))
    assert said == "On these models A and B have the same scores with 50 rows."


def test_one_learner_has_its_means_with_their_unit(findings_of):
    said = finding(findings_of([], {50: {"A": 0.25}, 99: {"A": 0.5}, 500: {"A": 0.75}}))
    assert said == (
        "On these models A, the only learner, has a mean reward of 0.2500 nats at 50 rows and "
        "0.7500 nats at 500 rows."
    )
    said = finding(findings_of([], {50: {"A": 0.25}}, greater_is_better=False))
    assert said.endswith("of 0.2500 at 50 rows.")


def test_many_sizes_are_summarised_by_the_best_means_or_by_the_ends(tell):
    sizes = [25 * 2**power for power in range(12)]
    # A leads, then B; whom they beat changes from size to size.
    means = {size: {"A": 11 - i, "B": i, "C": -1, "D": -2} for i, size in enumerate(sizes)}
    rivals = enumerate(("AB", "AC", "BC"))
    level = [(size, p) for j, p in rivals for i, size in enumerate(sizes) if i >> j & 1]
    said = tell(means, level)
    assert "the best mean is A's at 25 to 800 rows and B's at 1,600 to 51,200 rows;" in said
    others = [("AB", "AC") if i < 6 else ("AB", "BC") for i in range(12)]
    won = sum(not any((s, p) in level for p in o) for s, o in zip(sizes, others, strict=True))
    assert f"better than every other at {won} of these 12 sizes" in said
    means = {
        size: {name: int(name == best) for name in "ABCDEF"}
        for best, size in zip("ABCDEF", sizes, strict=False)
    }
    said = tell(means)
    assert said == (
        "On these models A does best with 25 rows and F with 800; in between, the answer changes "
        "with the size."
    )
    assert len(said) < 200


SIZES = r"\d+(?: to \d+)?(?:(?:, | and )\d+(?: to \d+)?)*"
NAMES = r"((?:[A-F], )*[A-F](?: or (?:[A-F]|one of \d+ others))?)"
BEST = re.compile(rf"{NAMES} (?:does best )?with ({SIZES})")
MEANS = re.compile(rf"\b([A-F])(?:'s at| has the best mean with) ({SIZES}) rows")
WORSE = re.compile(rf"with ({SIZES}) rows, where only (.*?) (?:is|are) significantly worse")
UNDECIDED = re.compile(rf"; with ({SIZES}) rows|^On these models with ({SIZES}) rows")


def written(text, sizes):
    """The sizes that a phrase names."""
    found = []
    for part in re.split(", | and ", text):
        ends = [int(end) for end in part.split(" to ")]
        found += [size for size in sizes if ends[0] <= size <= ends[-1]]
    return found


def random_findings(rng, findings_of, greater_is_better):
    """Few or many learners and sizes, with tests that need not agree with means, and gaps."""
    names = "ABCDEF"[: rng.integers(2, 7)]
    sizes = [100 + 10 * i for i in range(rng.choice([1, 2, 3, 5, 12]))]
    orders = [rng.permutation(len(names)) for _ in range(rng.choice([1, 2, 3, 9]))]
    means, pairs = {}, []
    share, odd = rng.choice([0.0, 0.3, 0.7, 0.9]), rng.choice([0.0, 0.0, 0.15])
    for place, size in enumerate(sizes):
        order = orders[place * len(orders) // len(sizes)]
        means[size] = {name: float(order[i]) for i, name in enumerate(names)}
        if rng.random() < odd:
            means[size][names[0]] = -math.inf if greater_is_better else math.inf
        for a, b in itertools.combinations(names, 2):
            difference = means[size][a] - means[size][b]
            if rng.random() < odd:
                difference = -difference
            p = 0.5 if rng.random() < share else 0.01
            infinite = int(not math.isfinite(difference) or rng.random() < odd)
            pairs.append(pair(size, a, b, difference, p, infinite=infinite))
    return findings_of(pairs, means, greater_is_better=greater_is_better), pairs, means


@pytest.mark.parametrize("greater_is_better", [True, False])
def test_whoever_is_named_best_is_beaten_by_none(findings_of, greater_is_better):
    rng = np.random.default_rng(11)
    sign = 1 if greater_is_better else -1
    seen = {"or": 0, "worse": 0, "means": 0, "ends": 0, "undecided": 0}
    for _ in range(120):
        findings, pairs, means = random_findings(rng, findings_of, greater_is_better)
        sizes = [*means]
        behind = {
            (one["size"], one["second"] if sign * one["difference"] > 0 else one["first"])
            for one in pairs
            if one["p_adjusted"] < ALPHA and not one["infinite"]
        }
        tested = {
            (one["size"], name)
            for one in pairs
            if not one["infinite"]
            for name in (one["first"], one["second"])
        }
        said = finding(findings)
        named = []
        for text, where in BEST.findall(said):
            names = re.findall(r"\b[A-F]\b", text)
            for size in written(where, sizes):
                named.append(size)
                assert not any((size, name) in behind for name in names), said
                assert all((size, name) in tested for name in names), said
        for name, where in MEANS.findall(said):
            for size in written(where, sizes):
                named.append(size)
                finite = [sign * m for m in means[size].values() if math.isfinite(m)]
                assert sign * means[size][name] == max(finite), said
                assert (size, name) not in behind, said
        for where, text in WORSE.findall(said):
            for size in written(where, sizes):
                untested = {n for n in means[size] if (size, n) not in tested}
                worse = {n for n in means[size] if (size, n) in behind}
                assert {*re.findall(r"\b[A-F]\b", text)} == worse - untested, said
        undecided = [a or b for a, b in UNDECIDED.findall(said)]
        for where in undecided:
            named += written(where, sizes)
        assert len(named) == len({*named}), said
        if behind and "in between" not in said and not re.search(r"(; |models )at \d+ of", said):
            assert {*named} == {*sizes}, said
        assert said.count(". ") == 0
        seen["or"] += " or " in said
        seen["worse"] += bool(WORSE.search(said))
        seen["means"] += "best mean is" in said
        seen["ends"] += "in between" in said
        seen["undecided"] += bool(undecided)
    assert min(seen.values()) > 0, seen
