"""What a study found, in words that claim no more than the tests support."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from simstudy.measures.base import MeasureInfo

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results import Results

# With more learners than this, only the leader at each size is compared in words.
_MANY_LEARNERS = 5


def axis_label(info: MeasureInfo) -> str:
    """A measure's name with its unit and, where less is better, that it is."""
    notes = [info.unit] if info.unit else []
    if not info.greater_is_better:
        notes.append("less is better")
    return info.label + (f" ({', '.join(notes)})" if notes else "")


def design(results: Results) -> str:
    """One sentence on what was run."""
    settings = results.settings
    data, family = settings["data"], settings["family"]["name"]
    sizes = ", ".join(f"{size:,}" for size in data["train_sizes"])
    return (
        f"{settings['models']} models of the family {family}; training sets of {sizes} rows; "
        f"test sets of {data['test_size']:,} rows; seed {settings['seed']}"
    )


def conventions(results: Results) -> str:
    """Which prior and cutoff the rewards rest on: they move the numbers."""
    measures = results.settings["measures"]
    prior = measures["prior"]
    priors = {
        "train": "class frequencies of each training set, counts from ½",
        "test": "class frequencies of each test set, counts from ½",
        "uniform": "uniform",
        "true": "the true class probabilities",
    }
    cutoffs = {
        "mml": "probabilities clipped to [½/(n+k/2), (n+½)/(n+k/2)] for logarithmic measures",
        "2001": "probabilities clipped to [½/(n+1), (n+½)/(n+1)] for logarithmic measures",
        "none": "probabilities not clipped",
    }
    named = priors[prior] if isinstance(prior, str) else f"given, {prior}"
    return f"prior: {named}; cutoff {measures['cutoff']}: {cutoffs[measures['cutoff']]}"


def interval_words(results: Results, intervals: pd.DataFrame) -> str:
    """What the intervals of the cells are."""
    level = results.settings["analysis"]["confidence"]
    m = int(intervals["m"].iloc[0])
    family = f"Bonferroni-adjusted for m = {m} cells" if m > 1 else "not adjusted"
    return f"{level:.0%} t intervals between models, {family}"


def caption(results: Results, intervals: pd.DataFrame) -> str:
    """The caption under the learning curves."""
    text = (
        f"Means over models with {interval_words(results, intervals)}; they show how models "
        f"differ, so learners are compared by paired differences (pairwise.csv) instead. "
        f"{design(results)}; {conventions(results)}."
    )
    return "\n".join(textwrap.wrap(text, 118))


def pair_words(results: Results, pairs: pd.DataFrame) -> str:
    """What the intervals of the differences are."""
    analysis = results.settings["analysis"]
    m = int(pairs["m"].iloc[0])
    scope = {
        "bonferroni": f"Bonferroni-adjusted for m = {m} pairs at each size",
        "bonferroni_all": f"Bonferroni-adjusted for m = {m} pairs over all sizes",
        "holm": f"Holm-adjusted over m = {m} pairs at each size, intervals Bonferroni's",
        "none": "not adjusted",
    }[analysis["adjustment"]]
    return f"paired t tests, {analysis['confidence']:.0%} intervals, {scope}"


def verdicts(pairs: pd.DataFrame, info: MeasureInfo, confidence: float) -> dict[int, list[str]]:
    """For each size, who beats whom by how much, and who cannot be told apart.

    Only a difference whose adjusted p value is below 1 − confidence counts as a win. With many
    learners only the one of best mean is compared with the rest.
    """
    found: dict[int, list[str]] = {}
    for size, at_size in pairs.groupby("size", sort=True):
        rows: list[dict[Any, Any]] = at_size.to_dict("records")
        ranked = _by_standing(rows, info)
        leaders = ranked[:1] if len(ranked) > _MANY_LEARNERS else ranked
        place = {learner: index for index, learner in enumerate(ranked)}
        rows.sort(key=lambda row: sorted((place[row["first"]], place[row["second"]])))
        found[int(str(size))] = [
            _verdict(row, place, info, confidence)
            for row in rows
            if row["first"] in leaders or row["second"] in leaders
        ]
    return found


def _by_standing(rows: list[dict[Any, Any]], info: MeasureInfo) -> list[str]:
    """The learners of some pairs, the best first."""
    standing: dict[str, float] = {}
    for row in rows:
        better = row["difference"] if info.greater_is_better else -row["difference"]
        standing[row["first"]] = standing.get(row["first"], 0.0) + better
        standing[row["second"]] = standing.get(row["second"], 0.0) - better
    return sorted(standing, key=lambda learner: -standing[learner])


def _verdict(
    row: dict[Any, Any], place: dict[str, int], info: MeasureInfo, confidence: float
) -> str:
    """One pair in words; the difference is always the first-named less the second-named."""
    names = (row["first"], row["second"])
    numbers = (row["difference"], row["lower"], row["upper"])
    significant = row["p_adjusted"] < 1 - confidence
    first_wins = (row["difference"] > 0) == info.greater_is_better
    # A win names the winner first; otherwise the learner of better standing comes first.
    swap = not first_wins if significant else place[names[0]] > place[names[1]]
    if swap:
        names = (names[1], names[0])
        numbers = (-numbers[0], -numbers[2], -numbers[1])
    shown = f"{numbers[0]:+.4f} [{numbers[1]:+.4f}, {numbers[2]:+.4f}]"
    if significant:
        return f"{names[0]} beats {names[1]} by {shown}"
    return f"{names[0]} and {names[1]} are not told apart: {shown}"


def left_out_words(left_out: list[dict[str, object]]) -> list[str]:
    """Which models an analysis could not use, and why."""
    return [f"model {row['subject']}: {row['reason']}" for row in left_out]
