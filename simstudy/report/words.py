"""What a study found, in words that claim no more than the tests support."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from simstudy.analysis.standings import AHEAD, IDENTICAL, UNTESTED, Pair, judged, ranked_at
from simstudy.measures.base import MeasureInfo
from simstudy.report.numbers import p_value
from simstudy.report.phrases import family
from simstudy.results.store import ROWS_BESIDE_EXACT

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.results import Results

# With more learners than this, only the leader at each size is compared in words.
MANY_LEARNERS = 5
# More pairs of learners than this make no readable figure of their differences.
MOST_PAIRS = 15


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
        f"{_tests(data['test_size'])}; seed {settings['seed']}"
    )


def _tests(size: int | str) -> str:
    """What the learners were judged on."""
    if isinstance(size, int):
        return f"test sets of {size:,} rows"
    beside = f" and on test sets of {ROWS_BESIDE_EXACT:,} rows" if size == "both" else ""
    return f"judged exactly, on all there can be by its true probability{beside}"


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
    if prior == "test" and not isinstance(results.settings["data"]["test_size"], int):
        priors["test"] = "the true class probabilities (of a test set drawn, its frequencies)"
    named = priors[prior] if isinstance(prior, str) else f"given, {prior}"
    summed = measures.get("reward", "mean") == "sum"
    said = f"prior: {named}; cutoff {measures['cutoff']}: {cutoffs[measures['cutoff']]}"
    return said + "; reward summed over the classes" * summed


def size_effect_words(results: Results, measure: str) -> str:
    """What else the effect of size in the ANOVA holds, where the prior depends on the size."""
    moves = results.settings["measures"]["prior"] == "train" and len(results.sizes) > 1
    if not measure.startswith("information_reward") or not moves:
        return ""
    return (
        "Rewards are measured against the class frequencies of each training set, so that even the "
        "reward of the true probabilities depends on the size: the effect of size holds that too; "
        "differences between learners do not."
    )


def interval_words(results: Results, intervals: pd.DataFrame) -> str:
    """What the intervals of the cells are."""
    m = int(intervals["m"].iloc[0])
    family = f"Bonferroni-adjusted for m = {m} cells" if m > 1 else "not adjusted"
    return f"{confidence_level(results)} t intervals between models, {family}"


def models_words(results: Results, intervals: pd.DataFrame) -> str:
    """Over how many models the means are, and which cells have fewer or infinite values."""
    whole = results.settings["models"]
    n = intervals["n"] + intervals["infinite"]
    if n.min() == n.max() == whole:
        text = f"over {whole} models"
    elif n.min() == n.max():
        text = f"over the {n.min()} of {whole} models in which no cell failed (left_out.csv)"
    else:
        text = f"over as many of {whole} models as each cell has, from {n.min()} (left_out.csv)"
    if intervals["infinite"].any():
        text += "; a mean is infinite where the score of any model is"
    return text


def confidence_level(results: Results) -> str:
    """The confidence of intervals, as a percentage."""
    return f"{100 * results.settings['analysis']['confidence']:.10g}%"


def caption(results: Results, intervals: pd.DataFrame) -> str:
    """The caption under the learning curves."""
    text = (
        f"Means {models_words(results, intervals)}, with {interval_words(results, intervals)}. "
        "These show how models differ; learners are compared by paired differences "
        "(pairwise.csv) instead. "
        f"{design(results)}; {conventions(results)}."
    )
    return "\n".join(textwrap.wrap(text, 108))


def pair_words(results: Results, pairs: pd.DataFrame) -> str:
    """What the intervals of the differences are."""
    analysis = results.settings["analysis"]
    scope = family(analysis["adjustment"], int(pairs["m"].iloc[0]))
    kind = (
        "p values" if analysis["adjustment"] == "holm" else f"{confidence_level(results)} intervals"
    )
    return f"paired t tests between models, {kind}, {scope}"


def verdicts(
    pairs: pd.DataFrame,
    intervals: pd.DataFrame,
    info: MeasureInfo,
    confidence: float,
    holm: bool = False,
    models: int | None = None,
) -> dict[int, list[str]]:
    """For each size, who beats whom by how much, and who cannot be told apart.

    Only a difference whose adjusted p value is below 1 − confidence counts as a win. Numbers are
    in favour of the learner named first, whether more or less is better. A comparison that could
    not use all ``models`` says how many it used. With many learners only the one of best mean, by
    the intervals, is compared with the rest.
    """
    every = judged(pairs, info.greater_is_better, 1 - confidence)
    found: dict[int, list[str]] = {}
    for size in sorted({pair.size for pair in every}):
        ranked = ranked_at(size, intervals, info.greater_is_better)
        compared = [pair.better_first(ranked) for pair in every if pair.size == size]
        leaders = ranked[:1] if len(ranked) > MANY_LEARNERS else ranked
        compared.sort(key=lambda pair: sorted(map(ranked.index, (pair.first, pair.second))))
        found[size] = [
            pair_sentence(pair, holm, models)
            for pair in compared
            if {pair.first, pair.second} & {*leaders}
        ]
    return found


def pair_sentence(pair: Pair, holm: bool, models: int | None) -> str:
    """What the test allows to be said of a pair, the better one first."""
    both = f"{pair.first} and {pair.second}"
    if pair.verdict == UNTESTED:
        return f"{both} are not compared: {why_untested(pair)}"
    if pair.verdict == IDENTICAL:
        same = models in (None, pair.n)
        every = "every model" if same else f"all {pair.n} models that both have"
        return f"{both} are identical in {every}"
    numbers = f"{_signed(pair.lead)} [{_signed(pair.low)}, {_signed(pair.high)}]"
    if holm:
        numbers = f"{_signed(pair.lead)} ({p_value(pair.p, 'p')})"
    if models is not None and pair.n < models:
        numbers += f", over {pair.n} of {models} models"
    if pair.verdict == AHEAD:
        return f"{pair.first} beats {pair.second} by {numbers}"
    return f"{both} are not told apart: {numbers}"


def why_untested(pair: Pair) -> str:
    """Why there is no test of a pair."""
    if pair.infinite:
        return f"infinite in {pair.infinite} models"
    return "no model has both" if math.isnan(pair.lead) else f"{pair.n} model has both"


def _signed(number: float) -> str:
    """Four decimals with a sign; more digits where these would hide on which side of 0 it is."""
    return f"{number:+.4f}" if number == 0 or abs(number) >= 5e-5 else f"{number:+.1e}"


def left_out_words(left_out: list[dict[str, object]]) -> list[str]:
    """Which models an analysis could not use, and why."""
    return [f"model {row['subject']}: {row['reason']}" for row in left_out]


def difference_caption(results: Results) -> str:
    """What the figure of paired differences shows."""
    level, m = confidence_level(results), math.comb(len(results.learners), 2)
    lines = (
        f"Mean paired differences in {results.info().label} over the models, above 0 where the "
        f"learner named first is ahead; dark band: {level} t intervals, each size by itself; "
        f"light band: {level}, all sizes studied together; lines join the sizes and say nothing of "
        "what is between them. Diamond and bar: the estimated size at which one overtakes the "
        f"other, and its {level} interval. {unadjusted(m)}{design(results)}."
    )
    return lines


def unadjusted(pairs: int, sizes: int = 1) -> str:
    """What the bands of paired differences and the thresholds are not adjusted for."""
    said = f"The dark band is not adjusted for the number of sizes, m = {sizes}. " * (sizes > 1)
    if pairs > 1:
        said += (
            f"The bands are not adjusted for the number of pairs, m = {pairs}; the intervals of "
            "crossings are adjusted for all pairs and sizes. "
        )
    return said


def regret_caption(results: Results) -> str:
    """What the figure of regret shows."""
    lines = (
        "Regret: what the true class probabilities would earn less what the learner earns. The "
        "part due to representation remains when the learner is fitted to the population itself, "
        "taken as 10⁹ rows; where the line lies below it, a "
        "learner that cannot represent the truth is nearer to it with few data than with all. "
        f"{_regret_models(results)}{design(results)}; {conventions(results)}."
    )
    return lines


def _regret_models(results: Results) -> str:
    """Which models and learners the split of regret is without, if any."""
    split, models = results.regret(), results.settings["models"]
    if split.empty:
        return ""
    used = int(split["n"].min())
    without = [learner for learner in results.learners if learner not in set(split["learner"])]
    said = f"Over {used} of {models} models, those without a missing part. " * (used < models)
    return said + f"Without {', '.join(without)}: no limit. " * bool(without)
