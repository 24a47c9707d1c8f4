"""The headline claims what the tests support, and nothing more."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from simstudy import make_study, run_study
from simstudy.analysis.intervals import intervals
from simstudy.analysis.pairwise import no_pairs, pairwise
from simstudy.analysis.thresholds import thresholds
from simstudy.measures.base import MeasureInfo
from simstudy.report.headline import findings, headline, question
from simstudy.report.phrases import among, listed, rows

REWARD = MeasureInfo(greater_is_better=True, label="reward", unit="nats")
LOSS = MeasureInfo(greater_is_better=False, label="loss")


def scores(offsets, noise=0.01, models=30):
    """Rewards whose true means are known: offsets by learner, one for each size."""
    rng = np.random.default_rng(3)
    sizes = (50, 500, 5000, 20000)
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


def tell(table, info=REWARD, **options):
    """The headline of made-up scores."""
    pairs = pairwise(table, value="reward", adjustment=options.get("adjustment", "bonferroni"))
    found = pd.DataFrame()
    if len(set(table["size"])) > 1:
        greater = info.greater_is_better
        found = thresholds(table, value="reward", greater_is_better=greater)
    complete = not table["reward"].isna().any()
    cells = intervals(table, value="reward", complete=complete)
    return headline(pairs, found, cells, info, **options)


def pair(first, second, size, difference, p, n=30):
    """A row of the pairwise table."""
    row = {"size": size, "first": first, "second": second, "n": n, "difference": difference}
    half = abs(difference) / 2 if p < 0.05 else 2 * abs(difference)
    row |= {"lower": difference - half, "upper": difference + half, "p_adjusted": p}
    return row | {"m": 3, "infinite": 0}


def made_up(rows_, means):
    """The headline of pairs and means given outright, without thresholds."""
    cells = [
        {"learner": learner, "size": size, "mean": mean, "infinite": 0, "m": 3}
        for size, at_size in means.items()
        for learner, mean in at_size.items()
    ]
    return headline(pd.DataFrame(rows_), pd.DataFrame(), pd.DataFrame(cells), REWARD)


def test_one_that_beats_all_others_is_said_to_with_its_smallest_lead():
    first, *_ = tell(scores({"A": [0.0], "B": [1.0], "C": [0.5]}))
    assert first.startswith("At 50 rows B beats every other learner, by at least +0.49")
    assert first.endswith("over C.")


def test_of_two_the_winner_is_named_with_the_interval():
    first, *_ = tell(scores({"A": [0.0], "B": [1.0]}))
    assert first.startswith("At 50 rows B beats A, by +")
    low, high = first.split("[")[1].rstrip("].").split(", ")
    assert 0 < float(low) < float(high)


def test_with_a_loss_the_lower_mean_leads_and_the_text_says_that_less_is_better():
    first, method = tell(scores({"A": [0.0], "B": [1.0]}), LOSS)
    assert first.startswith("At 50 rows A beats B, by +")
    assert "differences in mean loss, where less is better" in method


def test_one_that_is_level_with_another_is_not_said_to_win():
    first, *_ = tell(scores({"A": [0.0], "B": [1.0], "C": [1.0]}, noise=0.1))
    assert "has the best mean and beats A, but is not told apart from" in first
    assert "every other" not in first
    assert "equal" not in first


def test_where_nothing_is_told_apart_nothing_beats_anything():
    said = tell(scores({"A": [0.0, 0.0], "B": [0.0, 0.0], "C": [0.0, 0.0]}, noise=0.1))
    assert said[0].startswith("At 50 and 500 rows no two of A, B and C are told apart; the largest")
    assert said[1] == "No crossing between 50 and 500 rows is established."
    assert not any("beat" in sentence for sentence in said)
    assert "told apart at no size" not in " ".join(said)  # once is enough


def test_two_alone_that_are_not_told_apart():
    first, *_ = tell(scores({"A": [0.0], "B": [0.0]}, noise=0.1))
    assert first.startswith("At 50 rows A and B are not told apart; the largest mean difference is")


def test_significance_at_some_sizes_is_claimed_there_alone():
    # Level at 50 rows; told apart from 500 rows on.
    table = scores({"A": [0.0, 0.0, 0.0, 0.0], "B": [0.0, 1.0, 1.0, 1.0]}, noise=0.05)
    said = tell(table)
    assert "not told apart" in said[0]
    assert said[0].startswith("At 50 rows ")
    assert said[1].startswith("From 500 to 20,000 rows B beats A, by at least +")
    assert said[2] == "No crossing between 50 and 20,000 rows is established."


def test_a_crossing_is_told_with_its_sizes_and_interval():
    said = tell(scores({"A": [0.5, 0.5], "B": [0.0, 1.0]}))
    (sentence,) = [sentence for sentence in said if "overtakes" in sentence]
    assert sentence.startswith("B overtakes A between 50 and 500 rows (at 15")
    low, high = sentence.split("[")[1].split("]")[0].split(", ")
    # The middle on the logarithmic axis: the means differ by −0.5 and 0.5.
    assert float(low) < 50 * math.sqrt(10) < float(high)
    assert "of each pair by itself" in said[-1]


def threshold(**changes):
    row = {"first": "A", "second": "B", "crossing": 100.0, "ahead": "B", "lower": 80.0}
    row |= {"upper": 120.0, "lower_open": False, "upper_open": False, "before": 50, "after": 500}
    return row | changes


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([threshold()], "B overtakes A between 50 and 500 rows (at 100 [80, 120])"),
        ([threshold(ahead="A")], "A overtakes B between 50 and 500 rows (at 100 [80, 120])"),
        ([threshold(lower_open=True)], "No crossing"),
        ([threshold(upper_open=True)], "No crossing"),
        ([threshold(crossing=math.nan)], "No crossing"),
        # There and back within one stretch where the two are not told apart.
        ([threshold(), threshold(crossing=110.0, ahead="A")], "No crossing"),
        (
            [threshold(), threshold(crossing=105.0, ahead="A"), threshold(crossing=110.0)],
            "B overtakes A between 50 and 500 rows (at 105 [80, 120])",
        ),
    ],
)
def test_a_crossing_is_claimed_only_if_each_is_ahead_on_one_side(found, said):
    table = scores({"A": [0.5, 0.5], "B": [0.0, 1.0]})
    pairs, cells = pairwise(table, value="reward"), intervals(table, value="reward")
    sentences = headline(pairs, pd.DataFrame(found), cells, REWARD)
    assert any(sentence.startswith(said) for sentence in sentences), sentences


def test_pairs_that_are_not_transitive_are_told_from_the_best_mean():
    # A is not told apart from B nor from C, yet B beats C.
    pairs = [pair("A", "B", 50, 0.01, 1.0), pair("A", "C", 50, 0.05, 0.3)]
    pairs += [pair("B", "C", 50, 0.04, 0.01)]
    first, *_ = made_up(pairs, {50: {"A": 0.30, "B": 0.29, "C": 0.25}})
    assert first == (
        "At 50 rows A has the best mean, but is not told apart from B and C "
        "(at most +0.0500 [−0.0500, +0.1500] over C)."
    )


def test_the_best_mean_is_not_said_to_lead_where_another_beats_it():
    # The means are over other models than the pair's.
    pairs = [pair("A", "B", 50, -0.02, 0.01, n=20)]
    first, method = made_up(pairs, {50: {"A": 0.30, "B": 0.29}})
    assert first == "At 50 rows A has the best mean, yet B beats it over the models that both have."
    assert method.startswith("Paired t tests between 20 models")


def test_pairs_never_told_apart_are_named_or_counted():
    table = scores({"A": [0.0, 0.0], "B": [1.0, 1.0], "C": [1.0, 1.0]}, noise=0.1)
    assert any("B and C are told apart at no size studied" in said for said in tell(table))


def test_an_infinite_score_takes_a_learner_out_and_is_said():
    table = scores({"A": [0.0, 0.0], "B": [1.0, 1.0], "C": [2.0, 2.0]})
    table.loc[
        (table["learner"] == "C") & (table["model"] == 4) & (table["size"] == 50), "reward"
    ] = -np.inf
    said = tell(table)
    assert said[0].startswith(
        "At 50 rows B beats every other learner that it could be tested against, by +"
    )
    assert said[1].startswith("At 500 rows C beats every other learner, by at least +")
    assert said[-1] == "Infinite scores, with which nothing is tested, has C at 50 rows."


def test_without_a_finite_mean_there_is_no_leader():
    table = scores({"A": [0.0], "B": [1.0]})
    table["reward"] = -np.inf
    assert tell(table)[0] == "No learner has a finite mean at any size, so none are compared."


def test_missing_models_and_failures_are_counted():
    table = scores({"A": [0.0], "B": [1.0], "C": [2.0]})
    table.loc[(table["learner"] == "B") & (table["model"] < 5), "reward"] = np.nan
    said = tell(table, models=30, failures=5, cells=90)
    assert "between 25 to 30 of 30 models" in said[-2]
    assert said[-1] == "5 of 90 cells failed."


@pytest.mark.parametrize(
    ("adjustment", "said"),
    [
        ("bonferroni", "Bonferroni-adjusted for m = 3 pairs at each size"),
        ("bonferroni_all", "Bonferroni-adjusted for m = 6 pairs over all sizes"),
        ("holm", "Holm-adjusted over m = 3 pairs at each size"),
        ("none", "not adjusted for the number of pairs"),
    ],
)
def test_the_test_is_named_with_its_confidence_its_adjustment_and_m(adjustment, said):
    table = scores({"A": [0.0, 0.0], "B": [1.0, 1.0], "C": [2.0, 2.0]})
    sentences = tell(table, adjustment=adjustment, models=30)
    assert sentences[-1].startswith(f"Paired t tests between 30 models at 95% confidence, {said};")
    assert ("adjusted p < 0.0001" in sentences[0]) == (adjustment == "holm")


def test_the_level_of_the_study_decides_what_counts():
    pairs = [pair("A", "B", 50, 0.02, 0.03)]
    cells = pd.DataFrame(
        [
            {"learner": name, "size": 50, "mean": mean, "infinite": 0, "m": 2}
            for name, mean in (("A", 0.3), ("B", 0.28))
        ]
    )
    for confidence, beats in ((0.95, True), (0.99, False)):
        options = {"confidence": confidence}
        first, *_ = headline(pd.DataFrame(pairs), pd.DataFrame(), cells, REWARD, **options)
        assert ("beats" in first) == beats


def test_thirty_learners_and_twelve_sizes_take_few_sentences():
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
    pairs, cells = pairwise(table, value="reward"), intervals(table, value="reward")
    found = pd.DataFrame(
        [threshold(first=a, second=b) for a, b in itertools.combinations(names, 2)]
    )
    said = headline(pairs, found, cells, REWARD, models=10)
    assert len(said) <= 5
    assert max(map(len, said)) < 600
    assert "432 more crossings are in the table of thresholds" in said[2]


def test_a_summary_of_many_stretches_gives_each_leader_its_sizes():
    sizes = (50, 100, 200, 400)
    leads = {50: 0.3, 100: -0.3, 200: 0.01, 400: -0.2}
    pairs = [pair("A", "B", size, leads[size], 1.0 if size == 200 else 0.01) for size in sizes]
    means = {size: {"A": leads[size], "B": 0.0} for size in sizes}
    best, wins, method = made_up(pairs, means)[:3]
    assert best == "The best mean is A's at 50 and 200 rows and B's at 100 and 400 rows."
    assert wins == (
        "The learner of best mean beats every other at 50 to 100 and 400 rows (by at least "
        "+0.2000 [+0.1000, +0.3000] over A at 400); at 200 rows 1 of the others is not told apart "
        "from it (at most +0.0100 [−0.0100, +0.0300] over B at 200)."
    )
    assert method.startswith("Paired t tests")


def test_one_learner_is_told_of_alone():
    table = scores({"A": [0.0, 1.0]})
    said = headline(no_pairs("size"), pd.DataFrame(), intervals(table, value="reward"), REWARD)
    assert len(said) == 1
    assert said[0].startswith("A, the only learner, has a mean reward of ")
    assert "Bonferroni-adjusted for m = 2 sizes" in said[0]
    assert said[0].endswith("nothing is compared.")


def test_phrases_of_lists_and_sizes():
    assert listed(["A"]) == "A"
    assert listed(list("ABCDE")) == "A, B, C, D and E"
    assert listed(list("ABCDEF")) == "A, B, C, D and 2 others"
    assert rows([50]) == "at 50 rows"
    assert rows([50, 500, 5000]) == "from 50 to 5,000 rows"
    assert among([50, 200, 400], [50, 100, 200, 400]) == "at 50 and 200 to 400 rows"


STUDY = {
    "name": "tiny",
    "models": 3,
    "family": {"name": "tan", "attributes": [3, 4]},
    "data": {"train_sizes": [20, 60], "test_size": 50},
    "learners": [{"name": "naive_bayes", "label": "NB"}, {"name": "prior", "label": "prior"}],
}


def test_the_question_and_the_findings_of_a_real_study(tmp_path):
    results = run_study(make_study(STUDY), tmp_path / "two", jobs=1, report=False)
    assert question(results) == (
        "On random TAN models of 3–4 variables, which of NB and prior predicts best, by "
        "information reward, after 20 and 60 rows, and where do they overtake each other?"
    )
    assert any("3 models" in sentence for sentence in findings(results))
    alone = STUDY | {"learners": STUDY["learners"][:1]}
    results = run_study(make_study(alone), tmp_path / "one", jobs=1, report=False)
    assert question(results) == (
        "On random TAN models of 3–4 variables, how well does NB predict, by information reward, "
        "after 20 and 60 rows?"
    )
    assert findings(results)[0].startswith("NB, the only learner, has")
