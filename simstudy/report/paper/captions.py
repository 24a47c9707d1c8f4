"""What goes below the figures in a paper: what is drawn, what the bars are, over what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simstudy.analysis.curves import MAX_RATIO
from simstudy.report import overtaking, words
from simstudy.report.numbers import p_value
from simstudy.report.phrases import listed

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.results import Results


def curves(results: Results, intervals: pd.DataFrame, measure: str) -> str:
    """Of learning curves."""
    info = results.info(measure)
    zero = f" Dashed line at 0: {info.zero}." if info.zero else ""
    return (
        f"Mean {info.label} against training size (logarithmic), "
        f"{words.models_words(results, intervals)}. Bars: "
        f"{words.interval_words(results, intervals)}. They show how models differ; learners are "
        f"compared by paired differences instead. Learners stand side by side at each size.{zero} "
        f"{_made(results)}"
    )


def differences(results: Results) -> str:
    """Of paired differences."""
    return words.difference_caption(results)


def thresholds(results: Results, found: pd.DataFrame, pairs: str) -> str:
    """Of the overview of thresholds."""
    level, models = words.confidence_level(results), results.settings["models"]
    fewest = int(found["n"].min())
    over = "" if fewest == models else f"Over {fewest} or more of {models} models. "
    return (
        f"Who overtakes whom in mean {results.info().label}. Dots: sizes at which a learner is "
        f"ahead by {overtaking.tests_words(found, level)}; dark, the one named first; light, the "
        "other. Light bar: from the last size at which the other is ahead to the first at which "
        "the one named first is. Diamond and dark bar: the estimated size at which the mean "
        f"difference is 0 and its interval, {level} for all together, where neighbouring sizes "
        f"are within a factor of {MAX_RATIO:g}. {pairs}{over}{words.design(results)}. "
        f"{overtaking.refined_words(results)}"
    ).rstrip()


def regret(results: Results) -> str:
    """Of the parts of regret."""
    means = "Means over the models, without intervals; standard errors are in regret.csv."
    parts = (
        "Line with dots: regret. Orange, up to the dashed line: representation. Blue: estimation."
    )
    return f"{words.regret_caption(results)} {parts} {means}"


def divergence(results: Results, cells: pd.DataFrame, shown: int) -> str:
    """Of rewards against divergences."""
    missing = len(cells) - shown
    more = f" {missing} of {len(cells)} cells are not drawn: a value is missing, infinite or, on "
    more += "the logarithmic axis, 0."
    return (
        f"{results.info('information_reward').label.capitalize()} against "
        f"{results.info('kl_divergence').label}, one dot for each model and training size, the "
        "darker the more training rows. At a divergence of 0 a learner knows the truth, but for "
        f"the cutoff; what can be earned there differs between models."
        f"{more if missing else ''} {_made(results)}"
    )


def reliability(results: Results, found: pd.DataFrame, sizes: Sequence[int]) -> str:
    """Of reliability diagrams."""
    attrs, level = found.attrs, words.confidence_level(results)
    which = "the probability of every class" if attrs["classes"] == "every" else "the modal class"
    m = sorted({int(m) for m in found["m"]})
    family = "each bin by itself"
    if m != [1]:
        many = f"{m[0]}" if len(m) == 1 else f"{m[0]} to {m[-1]}"
        family = f"Bonferroni-adjusted for the m = {many} bins of each learner and size"
    judged = "by its true frequency" if attrs["test"] == "exact" else "on the test set"
    return (
        f"Observed frequency of a class against its predicted probability, for {which} in "
        f"{round(1 / (found['high'] - found['low']).iloc[0])} bins of equal width, {judged}; on "
        "the dashed line predictions come true as often as they say. Bars: "
        f"{level} t intervals of the deviation, between models (jackknife), {family}; hollow: "
        "one model alone reaches the bin. The area of a mark grows with the share of predictions "
        f"in its bin. Training sets of {_and(sizes)} rows; the first {attrs['models']} of "
        f"{results.settings['models']} models, each counting alike. "
        f"Probabilities are not clipped. {words.design(results)}."
    )


def scores(
    results: Results, measure: str, sizes: Sequence[int], undrawn: int, which: str = ""
) -> str:
    """Of the distributions of scores."""
    info = results.info(measure)
    zero = f" Dashed line at 0: {info.zero}." if info.zero else ""
    missing = f" {undrawn} scores that are missing or infinite are not drawn." if undrawn else ""
    shown = "" if list(sizes) == results.sizes else f" Shown: training sets of {_and(sizes)} rows."
    return (
        f"{words.axis_label(info).capitalize()} of every model. Dots: models, moved up and "
        "down so as not to hide each other; box: first to third quartile, with a line at the "
        "median; diamond: mean. The same models are behind all learners, so overlap does not mean "
        f"that learners are not told apart.{missing}{shown}{zero} {which}{_made(results)}"
    )


def ranks(results: Results, tables: Sequence[pd.DataFrame], joined: bool) -> str:
    """Of critical-difference diagrams."""
    alpha = 1 - results.settings["analysis"]["confidence"]
    k = tables[0].attrs["k"]
    how = (
        "a thick bar joins learners that are not told apart"
        if joined
        else "bars: half the critical difference on either side, so that learners whose bars "
        "overlap are not told apart; the shade is the bar of the best"
    )
    tests = "; ".join(f"{at_words(table)}: {friedman(table.attrs)}" for table in tables)
    return (
        f"Average ranks of {k} learners by {results.info().label}, 1 for the best of a model; "
        f"{how} (Nemenyi's test of all m = {math.comb(k, 2)} pairs together at α = {alpha:.10g}; "
        f"Demšar 2006). Friedman's test, corrected for ties, and Iman & Davenport's form of it: "
        f"{tests}. {words.design(results)}."
    )


def friedman(test: dict[Any, Any]) -> str:
    """The outcome of Friedman's test, over how many models, and the critical difference."""
    if math.isnan(test["chi2"]):
        return f"all ranks are equal in all of {test['n']} models"
    F = "∞" if math.isinf(test["F"]) else f"{test['F']:.2f}"
    return (
        f"χ²({test['df']}) = {test['chi2']:.2f}, {p_value(test['p'], 'p')}; "
        f"F({test['df1']}, {test['df2']}) = {F}, {p_value(test['p_F'], 'p')}; "
        f"{test['n']} models, critical difference {test['critical_difference']:.2f}"
    )


def at_words(table: pd.DataFrame) -> str:
    """At which training size the ranks are."""
    at = table.attrs["at"]
    return "scores averaged over all sizes" if at is None else f"{at:,} training rows"


def _and(sizes: Sequence[int]) -> str:
    """Sizes as a list in words."""
    return listed([f"{size:,}" for size in sizes], most=len(sizes))


def _made(results: Results) -> str:
    return f"{words.design(results)}; {words.conventions(results)}."
