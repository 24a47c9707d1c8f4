"""The headline claims what the tests support, and nothing more."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest

from simstudy import make_study, run_study
from simstudy.report.prose.phrases import adjusted_for, listed, row_ranges
from simstudy.report.prose.statements import method, statements


def headline(findings, failures=0, cells=0):
    """The statements and, if learners are compared, what they rest on."""
    found = statements(findings, failures, cells)
    return [*found, method(findings)] if len(findings.treatments) > 1 else found


def question(results):
    return results.study.page.question(results.study, results.findings())


def scores(offsets, noise=0.01, models=30, sizes=(50, 500, 5000, 20000)):
    """Rewards whose true means are known: offsets by learner, one for each size."""
    rng = np.random.default_rng(3)
    common = rng.normal(size=models)
    return pd.DataFrame(
        {
            "model": model,
            "size": sizes[place],
            "learner": learner,
            "reward": common[model] + offset + rng.normal(scale=noise),
        }
        for learner, means in offsets.items()
        for place, offset in enumerate(means)
        for model in range(models)
    )


@pytest.fixture
def tell(make_findings):
    """The headline of made-up scores."""

    def tell(table, greater_is_better=True, failures=0, cells=0, **options):
        return headline(make_findings(table, greater_is_better, **options), failures, cells)

    return tell


def pair(first, second, size, difference, p, n=30):
    """A row of the pairwise table."""
    row = {"size": size, "first": first, "second": second, "n": n, "difference": difference}
    half = abs(difference) / 2 if p < 0.05 else 2 * abs(difference)
    row |= {"lower": difference - half, "upper": difference + half, "p_adjusted": p}
    return row | {"m": 3, "infinite": 0}


@pytest.fixture
def made_up(make_findings):
    """The headline of pairs and means given outright, without courses."""

    def made_up(pairs, means, **options):
        cells = pd.DataFrame(
            {"learner": learner, "size": size, "n": 30, "mean": mean, "infinite": 0, "m": 3}
            for size, at_size in means.items()
            for learner, mean in at_size.items()
        ).assign(lower=math.nan, upper=math.nan)
        learners, sizes = list(dict.fromkeys(cells["learner"])), list(means)
        given = {"learners": learners, "sizes": sizes, "models": 30} | options
        parts = {"pairwise": pd.DataFrame(pairs), "intervals": cells, "courses": ()}
        return headline(make_findings(**given, **parts))

    return made_up


def test_one_that_beats_all_others_is_said_to_with_its_smallest_lead(tell):
    first, *_ = tell(scores({"A": [0.0], "B": [1.0], "C": [0.5]}))
    assert first.startswith("At 50 rows B beats every other learner; its smallest lead is +0.49")
    assert first.endswith("], over C.")


def test_of_two_the_winner_is_named_with_the_interval(tell):
    first, *_ = tell(scores({"A": [0.0], "B": [1.0]}))
    assert first.startswith("At 50 rows B beats A, by +")
    low, high = first.split("[")[1].rstrip("].").split(", ")
    assert 0 < float(low) < float(high)


def test_a_lead_has_the_unit_of_its_measure_or_the_measure_itself(tell):
    table = scores({"A": [0.0], "B": [1.0]})
    assert re.search(r"by \+[\d.]+ nats \[", tell(table)[0])
    assert "differences in mean reward (nats), in favour" in tell(table)[-1]
    assert re.search(r"by \+[\d.]+ in loss \[", tell(table, greater_is_better=False)[0])


def test_without_overtaking_the_statements_need_no_courses(make_findings):
    findings = make_findings(scores({"A": [0.5, 0.5], "B": [0.0, 1.0]}))
    whole = statements(findings)
    assert any("overtakes" in said for said in whole)
    fresh = make_findings(scores({"A": [0.5, 0.5], "B": [0.0, 1.0]}))
    assert not any("overtake" in said for said in statements(fresh, overtaking=False))
    assert "overtake" not in method(fresh, overtaking=False)
    assert "courses" not in vars(fresh)


def test_with_a_loss_the_lower_mean_leads_and_the_text_says_that_less_is_better(tell):
    first, method = tell(scores({"A": [0.0], "B": [1.0]}), greater_is_better=False)
    assert first.startswith("At 50 rows A beats B, by +")
    assert "differences in mean loss, where lower is better" in method


def test_one_that_is_level_with_another_is_not_said_to_win(tell):
    first, *_ = tell(scores({"A": [0.0], "B": [1.0], "C": [1.0]}, noise=0.1))
    assert "has the best mean and beats A, but does not differ significantly from" in first
    assert "every other" not in first
    assert "equal" not in first


def test_where_nothing_differs_nothing_beats_anything(tell):
    said = tell(scores({"A": [0.0, 0.0], "B": [0.0, 0.0], "C": [0.0, 0.0]}, noise=0.1))
    assert said[0].startswith("At 50 and 500 rows no two of A, B and C differ significantly")
    assert said[1] == NO_CHANGE
    assert not any("beat" in sentence for sentence in said)
    assert "at any size" not in " ".join(said)  # once is enough


def test_two_alone_that_do_not_differ(tell):
    first, *_ = tell(scores({"A": [0.0], "B": [0.0]}, noise=0.1))
    assert first.startswith("At 50 rows A and B do not differ significantly; the largest")


def test_significance_at_some_sizes_is_claimed_there_alone(tell):
    # Level at 50 rows; different from 500 rows on.
    table = scores({"A": [0.0, 0.0, 0.0, 0.0], "B": [0.0, 1.0, 1.0, 1.0]}, noise=0.05)
    said = tell(table)
    assert "differ significantly" in said[0]
    assert "beats" not in said[0]
    assert said[0].startswith("At 50 rows ")
    assert said[1].startswith("At 500 to 20,000 rows B beats A; its smallest lead is +")
    assert said[1].endswith(" rows.")
    assert said[2] == "Between 50 and 20,000 rows no learner is shown to overtake another."


NO_CHANGE = "Between 50 and 500 rows no learner is shown to overtake another."
CLOSE = (50, 100, 200, 400)


def overtaking(tell, means, **options):
    """The sentence on who overtakes whom."""
    (sentence,) = [said for said in tell(scores(means, **options)) if "overtake" in said][:1]
    return sentence


def test_a_crossing_decided_at_distant_sizes_is_bracketed_by_these(tell):
    said = tell(scores({"A": [0.5, 0.5], "B": [0.0, 1.0]}))
    assert said[2] == "B overtakes A between 50 and 500 rows."
    assert "By the same tests, one learner overtakes another between the last size" in said[3]
    assert said[3].count("m = ") == 1


def test_a_crossing_decided_at_neighbours_has_an_estimate_and_its_interval(tell):
    means = {"A": [0.5] * 4, "B": [0.0, 0.4, 0.7, 1.0]}
    sentence = overtaking(tell, means, sizes=CLOSE, noise=0.01)
    assert sentence.startswith("B overtakes A between 100 and 200 rows, at about 1")
    low, high = sentence.split("[")[1].split("]")[0].split(", ")
    assert 100 <= float(low) < float(high) <= 200
    assert "in brackets, intervals of crossings, adjusted likewise" in " ".join(
        tell(scores(means, sizes=CLOSE, noise=0.01))
    )


def test_a_pair_that_crosses_twice_has_one_sentence(tell):
    sentence = overtaking(tell, {"A": [0.5, 0.5, 0.5], "B": [0.0, 1.0, 0.0]}, sizes=(50, 500, 5000))
    assert sentence == (
        "B overtakes A between 50 and 500 rows, and A overtakes B between 500 and 5,000 rows."
    )


def test_a_pair_that_never_separates_is_not_said_to_cross(tell):
    # The mean difference changes sign, but no test has either ahead.
    table = scores({"A": [0.0, 0.001], "B": [0.001, 0.0]}, noise=1.0)
    assert NO_CHANGE in tell(table)


def test_one_side_alone_makes_no_crossing(tell):
    table = scores({"A": [0.001, 0.0], "B": [0.0, 2.0]}, noise=0.5)
    assert NO_CHANGE in tell(table)


def test_of_many_changes_a_few_are_named(tell):
    means = {f"L{i}": [1.0 - i / 10, i / 10] for i in range(5)}
    sentence = overtaking(tell, means, noise=0.001)
    assert sentence.count("overtakes") == 3
    assert sentence.endswith("; 7 more pairs change places: see the table of thresholds.")


def test_a_crossing_that_the_adjusted_tests_do_not_show_is_not_named(tell):
    # By itself each t is 2.3; adjusted for six pairs nothing differs at any size.
    rng = np.random.default_rng(0)
    models, names = 40, "ABCD"
    noise = rng.normal(size=(models, 2))
    noise = (noise - noise.mean(axis=0)) / noise.std(axis=0, ddof=1)
    shift = 0.01 * (noise + np.array([-2.3, 2.3]) / math.sqrt(models))
    jitter = rng.normal(scale=1e-4, size=(models, 4, 2))
    table = pd.DataFrame(
        {
            "model": model,
            "size": (50, 500)[place],
            "learner": name,
            "reward": jitter[model, column, place] + shift[model, place] * (name == "B"),
        }
        for model in range(models)
        for column, name in enumerate(names)
        for place in range(2)
    )
    said = " ".join(tell(table))
    assert "no two of A, B, C and D differ significantly" in said
    assert NO_CHANGE in said
    assert "overtakes" not in said


def test_in_pure_noise_nothing_overtakes(tell):
    for seed in (0, 1, 3):  # the unadjusted tests have learners overtake each other in these
        values = np.random.default_rng(seed).normal(size=(20, 30, 2))
        table = pd.DataFrame(
            {"model": m, "size": (50, 500)[s], "learner": f"L{name}", "reward": values[m, name, s]}
            for m in range(20)
            for name in range(30)
            for s in range(2)
        )
        said = " ".join(tell(table))
        assert "differ significantly" in said
        assert "overtakes" not in said


def test_numbers_that_are_estimates_are_not_written_as_bounds(tell):
    table = scores({"A": [0.0] * 4, "B": [1.0] * 4, "C": [1.0, 1.001, 1.0, 2.0]}, noise=0.1)
    for greater_is_better in (True, False):
        said = " ".join(tell(table, greater_is_better))
        assert "at least" not in said
        assert "at most" not in said


def test_pairs_that_are_not_transitive_are_compared_with_the_best_mean(made_up):
    # A differs neither from B nor from C, yet B beats C.
    pairs = [pair("A", "B", 50, 0.01, 1.0), pair("A", "C", 50, 0.05, 0.3)]
    pairs += [pair("B", "C", 50, 0.04, 0.01)]
    first, *_ = made_up(pairs, {50: {"A": 0.30, "B": 0.29, "C": 0.25}})
    assert first == (
        "At 50 rows A has the best mean, but does not differ significantly from B and C "
        "(its largest lead: +0.0500 nats [−0.0500, +0.1500], over C)."
    )


def test_the_best_mean_is_not_said_to_lead_where_another_beats_it(made_up):
    # The means are over other models than the pair's.
    pairs = [pair("A", "B", 50, -0.02, 0.01, n=20)]
    first, method = made_up(pairs, {50: {"A": 0.30, "B": 0.29}})
    assert first == "At 50 rows A has the best mean, yet B beats it over the models that both have."
    assert method.startswith("Paired t tests over 20 of 30 models")


def test_pairs_that_never_differ_are_named_or_counted(tell):
    table = scores({"A": [0.0, 0.0], "B": [1.0, 1.0], "C": [1.0, 1.0]}, noise=0.1)
    assert any(
        "B and C do not differ significantly at any size studied" in said for said in tell(table)
    )


def test_an_infinite_score_takes_a_learner_out_and_is_said(tell):
    table = scores({"A": [0.0, 0.0], "B": [1.0, 1.0], "C": [2.0, 2.0]})
    table.loc[
        (table["learner"] == "C") & (table["model"] == 4) & (table["size"] == 50), "reward"
    ] = -np.inf
    said = tell(table)
    assert said[0].startswith(
        "At 50 rows B beats every other learner that it could be tested against, by +"
    )
    assert said[1].startswith("At 500 rows C beats every other learner; its smallest lead is +")
    assert said[-2].startswith("Infinite scores")
    assert said[-2].endswith(": C at 50 rows.")


def test_pairs_that_could_not_be_tested_do_not_count_as_level(tell):
    table = scores({"A": [0.0, 0.0], "B": [1.0, 1.0], "C": [2.0, 2.0]})
    table.loc[(table["learner"] == "C") & (table["model"] == 4), "reward"] = -np.inf
    said = " ".join(tell(table))
    assert "do not differ significantly" not in said
    assert "2 of 3 pairs could not be tested." in said
    table.loc[(table["learner"] == "C") & (table["size"] == 500), "reward"] = 2.0
    said = " ".join(tell(table))
    assert "2 of 3 pairs could be tested only at some sizes." in said


def test_tests_are_counted_over_the_pairs_that_were_tested(tell):
    table = scores({"A": [0.0], "B": [1.0], "C": [2.0]}, models=10)
    table.loc[(table["learner"] == "A") & (table["model"] > 0), "reward"] = np.nan
    table.loc[(table["learner"] == "C") & (table["model"] == 3), "reward"] = np.nan
    method = next(said for said in tell(table, models=10) if said.startswith("Paired"))
    assert method.startswith("Paired t tests over 9 of 10 models, those that both have, at 95%")
    table.loc[table["learner"] == "B", "reward"] = np.nan
    said = tell(table, models=10)
    assert "No pair could be tested" in " ".join(said)


def test_learners_that_are_the_same_are_called_identical(tell):
    one = scores({"A": [0.0, 0.0]})
    table = pd.concat([one.assign(learner=name) for name in "ABC"])
    assert tell(table)[0] == "At 50 and 500 rows A, B and C have the same scores."
    table = pd.concat([one.assign(learner="A"), one.assign(learner="B"), scores({"C": [-1.0] * 2})])
    first, second, *_ = tell(table)
    assert first == "At 50 and 500 rows A and B share the best mean; A beats C."
    assert second.endswith("; A and B are identical in every model.")
    at_one = table.copy()
    at_one.loc[(at_one["learner"] == "B") & (at_one["size"] == 500), "reward"] -= 0.5
    assert "A and B are identical in every model at 50 rows" in " ".join(tell(at_one))
    assert "A and B are identical in all 30 models that" in " ".join(tell(table, models=40))


def test_an_exact_tie_has_no_leader(made_up):
    pairs = [pair("A", "B", 50, 0.0, 1.0), pair("A", "C", 50, 0.2, 0.01)]
    pairs += [pair("B", "C", 50, 0.2, 0.01)]
    first, *_ = made_up(pairs, {50: {"A": 0.3, "B": 0.3, "C": 0.1}})
    assert first == (
        "At 50 rows A and B share the best mean; A beats C, but does not differ significantly "
        "from B (0 nats [0, 0])."
    )


def test_without_a_finite_mean_there_is_no_leader(tell):
    table = scores({"A": [0.0], "B": [1.0]})
    table["reward"] = -np.inf
    assert tell(table)[0] == "No learner has a finite mean at any size, so none are compared."


def test_missing_models_and_failures_are_counted(tell):
    table = scores({"A": [0.0], "B": [1.0], "C": [2.0]})
    table.loc[(table["learner"] == "B") & (table["model"] < 5), "reward"] = np.nan
    said = tell(table, failures=5, cells=90)
    assert "over the 25 of 30 models" in said[-3]
    assert said[-2] == "5 of 90 cells failed."
    assert "over 25 to 30 of 30 models, those that both have, at 95%" in said[-1]


def test_means_over_different_models_say_so(tell):
    table = scores({"A": [0.0], "B": [1.0], "C": [2.0]})
    table.loc[(table["learner"] == "A") & (table["model"] < 16), "reward"] = np.nan
    table.loc[(table["learner"] == "C") & (table["model"] >= 15), "reward"] = np.nan
    said = next(said for said in tell(table) if said.startswith("Means"))
    assert "over the models that each cell has" in said
    assert "14 to 30 of 30" in said


def test_means_over_fewer_models_than_the_study_has_say_so(tell):
    table = scores({"A": [0.0], "B": [1.0]})
    assert any("Means are over the 30 of 40 models" in said for said in tell(table, models=40))
    assert not any("Means" in said for said in tell(table, models=30))


@pytest.mark.parametrize(
    ("adjustment", "said"),
    [
        ("bonferroni", "Bonferroni-adjusted for m = 3 pairs at each size"),
        ("bonferroni_all", "Bonferroni-adjusted for m = 6 tests, all pairs at all sizes"),
        ("holm", "Holm-adjusted over m = 3 pairs at each size"),
        ("none", "not adjusted for the number of tests"),
    ],
)
def test_the_test_is_named_with_its_confidence_its_adjustment_and_m(adjustment, said, tell):
    table = scores({"A": [0.0, 0.0], "B": [1.0, 1.0], "C": [2.0, 2.0]})
    sentences = tell(table, adjustment=adjustment)
    assert sentences[-1].startswith(f"Paired t tests over 30 models at 95% confidence, {said};")
    assert ("adjusted p < 0.0001" in sentences[0]) == (adjustment == "holm")


def test_the_level_of_the_study_decides_what_counts(made_up):
    for confidence, beats in ((0.95, True), (0.99, False)):
        pairs, means = [pair("A", "B", 50, 0.02, 0.03)], {50: {"A": 0.3, "B": 0.28}}
        first, *_ = made_up(pairs, means, confidence=confidence)
        assert ("beats" in first) == beats


@pytest.mark.slow
def test_thirty_learners_and_twelve_sizes_take_few_sentences(tell):
    rng = np.random.default_rng(0)
    sizes = [25 * 2**power for power in range(12)]
    names = [f"L{index}" for index in range(30)]
    means = {name: rng.normal(size=12) * 0.1 for name in names}
    noise = rng.normal(scale=0.05, size=(30, 12, 10))
    table = pd.DataFrame(
        {"model": m, "size": size, "learner": name, "reward": means[name][s] + noise[n, s, m]}
        for n, name in enumerate(names)
        for s, size in enumerate(sizes)
        for m in range(10)
    )
    said = tell(table)
    assert len(said) <= 5
    assert max(map(len, said)) < 600
    assert re.search(r"; \d{2,3} more pairs change places: see the table of thresholds", said[2])


def test_a_summary_of_many_stretches_gives_each_leader_its_sizes(made_up):
    sizes = (50, 100, 200, 400)
    leads = {50: 0.3, 100: -0.3, 200: 0.01, 400: -0.2}
    pairs = [pair("A", "B", size, leads[size], 1.0 if size == 200 else 0.01) for size in sizes]
    means = {size: {"A": leads[size], "B": 0.0} for size in sizes}
    best, wins, method = made_up(pairs, means)[:3]
    assert best == "The best mean is A's at 50 and 200 rows and B's at 100 and 400 rows."
    assert wins == (
        "The learner with the best mean beats every other at 50, 100 and 400 rows (its smallest "
        "lead there is +0.2000 nats [+0.1000, +0.3000], over A at 400 rows); at 200 rows 1 of the "
        "others does not differ significantly from it (the largest such lead is "
        "+0.0100 nats [−0.0100, +0.0300], over B at 200 rows)."
    )
    assert method.startswith("Paired t tests")


def test_one_learner_is_presented_alone(tell):
    (said,) = tell(scores({"A": [0.0, 1.0]}))
    assert said.startswith("A, the only learner, has a mean reward of ")
    assert "Bonferroni-adjusted for m = 2 cells" in said
    assert said.endswith("nothing to compare it with.")


def test_one_learner_without_an_interval_or_a_score_is_presented_so(tell):
    table = scores({"A": [-1.0, 1.0]})
    (said,) = tell(table[table["model"] == 0])
    assert said.count("(no interval: over 1 model)") == 2
    table.loc[table["size"] == 50, "reward"] = np.nan
    (said, *_) = tell(table)
    assert ", and no score at 50 rows;" in said
    assert "nan" not in said
    (said,) = tell(scores({"A": [-9.0]}))
    assert "of −" in said
    assert "-" not in said


def test_phrases_of_lists_and_sizes():
    assert adjusted_for("bonferroni", 1) == "Bonferroni-adjusted for m = 1 pair at each size"
    assert adjusted_for("holm", 3) == "Holm-adjusted over m = 3 pairs at each size"
    assert listed(["A"]) == "A"
    assert listed(list("ABCDE")) == "A, B, C, D and E"
    assert listed(list("ABCDEF")) == "A, B, C, D and 2 others"
    assert row_ranges([50], [50, 500]) == "50 rows"
    assert row_ranges([50, 200, 400], [50, 100, 200, 400]) == "50, 200 and 400 rows"
    assert row_ranges([50, 200, 400, 800], [50, 100, 200, 400, 800]) == "50 and 200 to 800 rows"


STUDY = {
    "name": "tiny",
    "models": 3,
    "family": {"name": "tan", "variables": [3, 4]},
    "data": {"train_sizes": [20, 60], "test_size": 50},
    "learners": [{"name": "naive_bayes", "label": "NB"}, {"name": "prior", "label": "prior"}],
}


def test_the_question_and_the_headline_of_a_real_study(tmp_path):
    results = run_study(make_study(STUDY), tmp_path / "two", jobs=1, report=False)
    assert question(results) == (
        "On random TAN models of 3–4 variables, which of NB and prior predicts best, by "
        "information reward, after 20 and 60 rows, and where do they overtake each other?"
    )
    assert any("3 models" in sentence for sentence in headline(results.findings()))
    alone = STUDY | {"learners": STUDY["learners"][:1]}
    results = run_study(make_study(alone), tmp_path / "one", jobs=1, report=False)
    assert question(results) == (
        "On random TAN models of 3–4 variables, how well does NB predict, by information reward, "
        "after 20 and 60 rows?"
    )
    assert headline(results.findings())[0].startswith("NB, the only learner, has")
