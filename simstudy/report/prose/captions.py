"""Captions of figures and tables: what is drawn, what the bars are, over which models."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simstudy.analysis.complete import LeftOut, cells
from simstudy.analysis.curves import MAX_RATIO
from simstudy.analysis.findings import ModelFindings
from simstudy.analysis.mixed import MixedModel
from simstudy.analysis.ranking import FEW
from simstudy.analysis.ranks import Ranks
from simstudy.analysis.regret import Regret
from simstudy.analysis.reliability import Reliability
from simstudy.analysis.thresholds import Course
from simstudy.experiments.base import Words
from simstudy.report.prose import crossings
from simstudy.report.prose.design import conventions, design
from simstudy.report.prose.numbers import number, p_value, setting
from simstudy.report.prose.phrases import (
    EXACT_TESTS,
    adjusted_for,
    all_sizes,
    axis_label,
    count_range,
    indefinite,
    intervals_of_means,
    level,
    opening,
    paired_tests,
    with_unit,
)
from simstudy.report.prose.statements import method
from simstudy.study.study import Study
from simstudy.texts import counted

_MAX_NAMED = 5  # models left out that are named; more are counted
PRECISION = (
    "n: models; sd: standard deviation between models; MCSE: Monte-Carlo standard error, sd/√n; "
    "error: the relative standard error of sd and MCSE."
)
SPHERICITY = (
    "Mauchly's W with its p, and the ε of Greenhouse–Geisser and Huynh–Feldt (uncapped). A single "
    "contrast is spherical by definition and has no W; nor is there one with more contrasts than "
    "degrees of freedom. Where ε is well below 1, read the corrected p."
)
MAX_BARS = 6  # learners whose intervals and limits are drawn in one chart
REGRET_PARTS = (
    "Line with dots: regret. Orange, up to the dashed line: representation. Blue: estimation, what "
    "more data would win back. Means over the models, without intervals; standard errors are in "
    "regret.csv."
)
# Percent of simulated studies of so many models whose t intervals of all pairs at all sizes held
# together, least and most of the populations in benchmarks/README.md, "Coverage of intervals".
COVERED = {10: (54, 93), 20: (68, 94), 40: (80, 96)}
MIN_MODELS = 60  # from which on it is 93 or more, unless few models decide a difference
RANKS_NOTE = "Ranks may differ where means do not; statements on who beats whom are of means."


def alone(findings: ModelFindings) -> str:
    """That there is nothing to compare."""
    one = findings.design.words.treatment
    return f"There is one {one} only, so there is nothing to compare."


def made(study: Study) -> str:
    """The design and the conventions, at the end of a caption."""
    return f"{design(study)}; {conventions(study)}."


def intervals(findings: ModelFindings) -> str:
    """The intervals of the means."""
    m = findings.means[0].m
    family = f"Bonferroni-adjusted for m = {m} cells" if m > 1 else "not adjusted"
    return f"{intervals_of_means(findings)}, {family}"


def bars_note(findings: ModelFindings) -> str:
    """What bars of means do not show."""
    name = findings.design.words.name
    return f"They show how models differ; {name} are compared by paired differences instead."


def beside(findings: ModelFindings) -> str:
    """What stands beside a mean in tables: its interval, or half the width of a symmetric one."""
    return "[ ]" if findings.info.share else "±"


def models(findings: ModelFindings) -> str:
    """The number of models behind the means, with infinite values noted."""
    (least, most), whole = findings.models_used, findings.design.models
    if least == most == whole:
        text = f"over {whole} models"
    elif least == most:
        text = f"over the {least} of {whole} models in which no cell failed (left_out.csv)"
    else:
        text = f"over as many of {whole} models as each cell has, from {least} (left_out.csv)"
    if any(mean.infinite for mean in findings.means):
        text += "; a mean is infinite where the score of any model is"
    return text


def reading(findings: ModelFindings, overtaking: bool = True) -> list[str]:
    """What holds for all figures and tables of a page: means, intervals and tests."""
    sentences = [
        f"Means are {models(findings)}. Bars in figures and {beside(findings)} in tables: "
        f"{intervals(findings)}. {bars_note(findings)} Panels of one figure have the same vertical "
        "scale."
    ]
    if len(findings.design.learners) > 1:
        sentences.append(
            f"{method(findings, overtaking)} That there is no significant difference does not "
            f"prove that two {findings.design.words.name} are equal."
        )
    return [*sentences, *few_models(findings)]


def few_models(findings: ModelFindings) -> list[str]:
    """What is known of t intervals from few models; nothing if there are enough, or tests exact."""
    if findings.pairs_used is None or paired_tests(findings) == EXACT_TESTS:
        return []
    models = findings.pairs_used[0]
    if models >= MIN_MODELS:
        return []
    text = (
        f"{models} models are few: below {MIN_MODELS}, do not rely on intervals and tests of "
        "skewed differences. "
    )
    if not (studied := [number for number in COVERED if number <= models]):
        return [f"{text}Studies of fewer than {min(COVERED)} models were not examined."]
    low, high = COVERED[studied[-1]]
    return [
        f"{text}In simulations with {studied[-1]} models, 95% intervals of all pairs at all sizes "
        f"by information reward held together in {low} to {high}% of studies "
        "(benchmarks/README.md, Coverage of intervals)."
    ]


def curves(
    findings: ModelFindings, drawn: int | None = None, each: bool = False, alone: bool = True
) -> str:
    """Caption of learning curves of all learners, or of so many; ``each``: in panels of its own.

    It says over what means are and what bars are, unless it stands beside `reading`.
    """
    info, learners = findings.info, drawn or len(findings.design.learners)
    kind = findings.design.words
    if each:
        bars = f" {curve_panels(findings)}"
    elif learners > MAX_BARS:
        bars = f" Intervals are not drawn for so many {kind.name}; the table has them."
    else:
        bars = f" Bars: {intervals(findings)}. {bars_note(findings)}" * alone
        bars += f" {opening(kind.name)} stand side by side at each size." * (learners > 1)
    over = f", {models(findings)}" * alone
    text = f"Mean {info.label} against {kind.size} (logarithmic){over}.{bars}"
    return text + _lines_across(findings, each or learners <= MAX_BARS)


def curve_panels(findings: ModelFindings, alone: bool = True) -> str:
    """What the panels of single learners show."""
    bars = f" Bars: {intervals(findings)}. {bars_note(findings)}" * alone
    size, kind = findings.design.sizes[-1], findings.design.words
    return (
        f"A panel for each {kind.treatment}, in the order of their means at {size:,} rows; grey: "
        f"the other {kind.name}.{bars}"
    )


def _lines_across(findings: ModelFindings, limits: bool) -> str:
    """What the lines other than the learners' own are."""
    text = f" Dashed line at 0: {findings.info.zero}." if findings.info.zero else ""
    if findings.ceiling:
        text += " Grey dashed line: the ceiling, what the true class probabilities earn"
        if findings.limits and limits:
            name = findings.design.words.name
            text += f"; dotted lines: the {name}' limits, what each earns of the population"
        text += "."
    return text


def differences(
    findings: ModelFindings, shown: Sequence[Course] | None = None, alone: bool = True
) -> str:
    """Caption of paired differences against training size; of all pairs, or of those shown.

    It names the family of tests, unless it stands beside `reading`.
    """
    courses = findings.courses if shown is None else shown
    holm, kind = findings.design.holm, findings.design.words
    adjustment = "bonferroni" if holm else findings.design.adjustment
    family = f", {adjusted_for(adjustment, findings.pair_tests)}" * (alone or holm)
    text = (
        f"Mean paired difference in {with_unit(findings.info)} against {kind.dose} rows, over the "
        f"models that both {kind.name} have: above 0 where the {kind.treatment} named first is "
        f"ahead. Band: the {level(findings.design.confidence)} intervals of the paired "
        f"tests{family}; where it excludes 0, the difference is significant. "
    )
    if holm:
        text += "Holm's method, which decides, has no intervals and may find further differences. "
    text += "Dots are the sizes studied; the lines join them and say nothing of what is between."
    if any(change.estimated for course in courses for change in course.changes):
        text += (
            " Diamond and bar: the estimated size at which one overtakes the other, and its "
            "interval, adjusted likewise, where sizes are close enough."
        )
    return text


def thresholds(findings: ModelFindings, fewest: int) -> str:
    """Caption of the overview of thresholds."""
    whole, one = findings.design.models, indefinite(findings.design.words.treatment)
    over = "" if fewest == whole else f" Over {fewest} or more of {whole} models."
    return (
        f"Who overtakes whom in mean {findings.info.label}. Dots: sizes at which {one} is ahead "
        f"by {crossings.tests(findings)}; dark, the one named first; light, the other. Light "
        "bar: from the last size at which the other is ahead to the first at which the one named "
        "first is. Diamond and dark bar: the estimated size at which the mean difference is 0 and "
        f"its interval, adjusted likewise, where neighbouring sizes are within a factor of "
        f"{MAX_RATIO:g}.{over}"
    )


def regret(split: Regret, study: Study) -> str:
    """Caption of the parts of regret."""
    text = (
        "Regret: what the true class probabilities would earn less what the learner earns. The "
        "part due to representation remains when the learner is fitted to the population itself, "
        "taken as 10⁹ rows; where the line lies below it, a learner that cannot represent the "
        "truth is nearer to it with few data than with all."
    )
    if split.models < study.models:
        text += f" Over {split.models} of {study.models} models, those without a missing part."
    if without := [label for label in study.labels if label not in split.learners]:
        text += f" Without {', '.join(without)}: no limit."
    return text


def divergence(study: Study, reward: str, divergence: str, cells: int, shown: int) -> str:
    """Caption of rewards against divergences."""
    missing = (
        f" {cells - shown} of {cells} cells are not drawn: a value is missing, infinite or, on the "
        "logarithmic axis, 0."
    ) * (shown < cells)
    return (
        f"{reward.capitalize()} against {divergence}, one dot for each model and training size, "
        "the darker the more training rows. At a divergence of 0 a learner knows the truth, but "
        f"for the cutoff; what can be earned there differs between models.{missing} {made(study)}"
    )


def reliability(found: Reliability, study: Study, sizes: Sequence[int]) -> str:
    """Caption of reliability diagrams."""
    which = "the probability of every class" if found.classes == "every" else "the modal class"
    m = sorted({int(m) for m in found.table["m"]})
    family = "each bin by itself"
    if m != [1]:
        many = count_range(m[0], m[-1])
        family = f"Bonferroni-adjusted for the m = {many} bins of each learner and size"
    by = "by its true frequency" if found.test == "exact" else "on the test set"
    bins = round(1 / (found.table["high"] - found.table["low"]).iloc[0])
    return (
        f"Observed frequency of a class against its predicted probability, for {which} in {bins} "
        f"bins of equal width, {by}; on the dashed line predictions come true as often as they "
        f"say. Bars: {level(found.confidence)} t intervals of the deviation, between models "
        f"(jackknife), {family}; hollow: one model alone reaches the bin. The area of a mark grows "
        f"with the share of predictions in its bin. Training sets of {all_sizes(sizes)} rows; the "
        f"first {found.models} of {study.models} models, equally weighted. Probabilities are not "
        f"clipped. {design(study)}."
    )


def scores(findings: ModelFindings, undrawn: int, sizes: Sequence[int]) -> str:
    """Caption of the distributions of scores."""
    info, kind = findings.info, findings.design.words
    zero = f" Dashed line at 0: {info.zero}." if info.zero else ""
    missing = f" {undrawn} scores that are missing or infinite are not drawn." * bool(undrawn)
    some = tuple(sizes) != findings.design.sizes
    shown = f" Shown: {kind.sample}s of {all_sizes(sizes)} rows." * some
    return (
        f"{opening(axis_label(info))} of every model. Dots: models, moved up and down so as "
        "not to hide each other; box: first to third quartile, with a line at the median; diamond: "
        f"mean. All {kind.name} are evaluated on the same models, so overlap does not mean that "
        f"{kind.name} do not differ.{missing}{shown}{zero}"
    )


def ranks(findings: ModelFindings, found: Sequence[Ranks], joined: bool) -> str:
    """Caption of critical-difference diagrams."""
    k, kind = found[0].k, findings.design.words
    how = (
        f"a thick bar joins {kind.name} whose ranks do not differ significantly"
        if joined
        else f"bars: half the critical difference on either side, so that {kind.name} whose bars "
        "overlap do not differ significantly in rank; the shade is the bar of the best"
    )
    tests = "; ".join(f"{ranked_at(one, kind)}: {friedman(one)}" for one in found)
    return (
        f"Average ranks of {k} {kind.name} by {findings.info.label}, 1 for the best of a model; "
        f"{how} (Nemenyi's test of all m = {math.comb(k, 2)} pairs together at α = "
        f"{setting(findings.alpha)}; Demšar 2006). {RANKS_NOTE} Friedman's test, corrected for "
        f"ties, and Iman & Davenport's form of it: {tests}."
    )


def ranks_table(findings: ModelFindings, overall: bool) -> str:
    """Caption of the table of average ranks."""
    k, kind = len(findings.design.learners), findings.design.words
    return (
        f"Over the models, 1 for the best, at each {kind.size}"
        + " and of the scores averaged over all sizes" * overall
        + f". Friedman's test, corrected for ties, has {k - 1} degrees of freedom; F is Iman & "
        f"Davenport's form of it, with {k - 1} and {k - 1} × (models − 1); up to {FEW} models p is "
        f"exact, or by permutation, and the same for both. {opening(kind.name)} whose average "
        "ranks differ by the critical difference differ significantly by Nemenyi's test, for all "
        f"m = {math.comb(k, 2)} pairs together at α = {setting(findings.alpha)} (Demšar 2006). "
        f"{RANKS_NOTE}"
    )


def friedman(test: Ranks) -> str:
    """The outcome of Friedman's test, over how many models, and the critical difference."""
    if math.isnan(test.chi2):
        return f"all ranks are equal in all of {test.n} models"
    return (
        f"χ²({test.df}) = {number(test.chi2, 2)}, {p_value(test.p, 'p')}; "
        f"F({test.df1}, {test.df2}) = {number(test.F, 2)}, {p_value(test.p_F, 'p')}"
        f"{f' ({test.method})' * (test.method != 'approximate')}; "
        f"{test.n} models, critical difference {number(test.critical_difference, 2)}"
    )


def ranked_at(found: Ranks, kind: Words) -> str:
    """At which size the ranks are."""
    if found.at is None:
        return "scores averaged over all sizes"
    return f"{found.at:,} {kind.dose} rows"


def anova(subjects: int, models: int) -> str:
    """Caption of the tests of the analysis of variance."""
    return (
        f"{subjects} of {models} models as subjects. G–G, H–F: Greenhouse–Geisser and Huynh–Feldt "
        "corrections for departures from sphericity; η²G, η²p: generalized and partial eta squared."
    )


def left_out(findings: ModelFindings, models: Sequence[LeftOut]) -> str:
    """Which models the analysis of variance could not use, and why."""
    if not models:
        return ""
    every = cells(findings.scores, "model", findings.factors, findings.measure)
    every = every.named(findings.names)
    reasons = [every.reason(every.subjects.index(one.subject)) for one in models[:_MAX_NAMED]]
    both = zip(models, reasons, strict=False)
    named = "; ".join(f"model {one.subject}: {reason}" for one, reason in both)
    more = len(models) - _MAX_NAMED
    return (
        f"Left out of the ANOVA ({counted(len(models), 'model')}): {named}"
        + f"; and {more} more (left_out.csv)" * (more > 0)
        + "."
    )


def mixed(found: MixedModel) -> str:
    """Caption of the mixed model."""
    note = f"; {found.note}" if found.note else ""
    return (
        "The mixed model uses all cells there are: REML, Satterthwaite's degrees of freedom; like "
        f"the uncorrected ANOVA it assumes sphericity; {found.cells} cells of {found.subjects} "
        f"models, {found.missing} missing{note}."
    )


def size_effect(findings: ModelFindings, study: Study) -> str:
    """What else the effect of size in the ANOVA holds, where the prior depends on the size."""
    moves = study.measures.prior == "train" and len(findings.design.sizes) > 1
    if not moves or not findings.measure.startswith("information_reward"):
        return ""
    return (
        "Rewards are measured against the class frequencies of each training set, so that even the "
        "reward of the true probabilities depends on the size: the effect of size includes that; "
        "differences between learners do not."
    )


def pairs(findings: ModelFindings, all_shown: bool) -> list[str]:
    """What the tables of who beats whom show."""
    design, kind = findings.design, findings.design.words
    if len(design.learners) < 2:
        return [alone(findings)]
    last = "Holm’s p value" if design.holm else "the interval"
    notes = [
        f"In each cell the {kind.treatment} that beats the other, by how much, and {last}; numbers "
        f"are in favour of the {kind.treatment} named in the cell."
    ]
    if not all_shown:
        notes.append(
            f"With {len(design.learners)} {kind.name} the one of best mean is compared with the "
            "others; it was not chosen in advance. All pairs are in pairwise.csv."
        )
    if findings.pairs_used is not None and findings.pairs_used[0] < design.models:
        used = count_range(*findings.pairs_used)
        notes.append(
            f"Pairs are compared over the models that both have: {used} of {design.models}."
        )
    return notes


def precision(findings: ModelFindings) -> str:
    """Over how many models standard errors are, where that is not all of them."""
    models = findings.design.models
    of_pairs = [pair.n + pair.infinite for pair in findings.pairs]
    least, most = findings.models_used
    if min(least, *of_pairs, models) == models:
        return ""
    note = f"Means are over {count_range(least, most)} of {models} models"
    if of_pairs:
        used = count_range(min(of_pairs), max(of_pairs))
        note += (
            f"; differences, over the models that both {findings.design.words.name} have, are over "
            f"{used} of {models} models"
        )
    return f"{note}. The file has n of each."


def costs(platform: str, test_size: int | str) -> str:
    """What the times to fit and to predict are."""
    exact = "all configurations of a model"
    on = f"{test_size:,} test rows" if isinstance(test_size, int) else exact
    return (
        f"Medians over the models, on {platform}; predicting gives the probabilities of {on}. The "
        "time to count a table that several learners share is charged to each learner that uses it."
    )
