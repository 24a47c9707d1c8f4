"""Captions of figures and tables: what is drawn, what the bars are, over which models."""

from __future__ import annotations

import math
from collections.abc import Sequence

from simstudy.analysis.models.average_ranks import Ranks
from simstudy.analysis.models.difference_curves import MAX_RATIO
from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.models.regret import Regret
from simstudy.analysis.models.reliability import Reliability
from simstudy.analysis.models.thresholds import Course
from simstudy.analysis.score_array import cells
from simstudy.analysis.tests.anova import Anova
from simstudy.analysis.tests.friedman import FEW
from simstudy.analysis.tests.mixed_model import MixedModel
from simstudy.experiments.base import Words
from simstudy.report.prose import phrases
from simstudy.report.prose.numbers import number, p_value, setting
from simstudy.report.prose.pairwise import pair_method
from simstudy.report.prose.phrases import count_range, level, opening
from simstudy.report.prose.statements import method
from simstudy.study.study import Study
from simstudy.texts import counted

_MAX_NAMED = 5  # models left out that are named; more are counted
PRECISION = (
    "n: models; sd: standard deviation between models; MCSE: Monte-Carlo standard error, sd/√n; "
    "error: the relative standard error of sd and MCSE."
)
SPHERICITY = (
    "Mauchly's W with its p, and the ε of Greenhouse–Geisser and Huynh–Feldt (uncapped). W is "
    "undefined for a single contrast, which is spherical by definition, and for more contrasts "
    "than degrees of freedom. Where ε is well below 1, use the corrected p."
)
SHARED = "Counts shared by several learners are computed once and charged to each."
MAX_BARS = 6  # learners whose intervals and limits are drawn in one chart
REGRET_PARTS = (
    "Line with dots: regret. Orange, up to the dashed line: representation. Blue: estimation, "
    "which more data would reduce. Means over the models, without intervals; standard errors are "
    "in regret.csv."
)
# Percent of simulated studies of n models in which the t intervals of all pairs at all sizes all
# held, least and most of the populations in benchmarks/README.md, "Coverage of intervals".
COVERED = {10: (54, 93), 20: (68, 94), 40: (80, 96)}
MIN_MODELS = 60  # from which on it is 93 or more, unless few models decide a difference
_RANKS = (
    "Ranks may differ where means do not; statements on who beats whom are about means. "
    "Friedman's test is corrected for ties"
)


def alone(findings: ModelFindings) -> str:
    """That there is nothing to compare."""
    return f"There is only one {findings.design.words.treatment}, so there is nothing to compare."


def _bars(findings: ModelFindings) -> str:
    """What bars of means show, and what they do not."""
    name = findings.design.words.name
    return (
        f"{phrases.intervals_of_means(findings)}. They show how models differ; {name} are compared "
        "by paired differences instead."
    )


def beside(findings: ModelFindings) -> str:
    """What stands beside a mean in tables: its interval, or half the width of a symmetric one."""
    return "[ ]" if findings.info.share else "±"


def models(findings: ModelFindings) -> str:
    """The models that means are over, with infinite values noted."""
    infinite = any(mean.infinite for mean in findings.means)
    note = "; a mean is infinite where the score of any model is" * infinite
    return f"{phrases.over_models(findings)}{note}"


def reading(findings: ModelFindings, overtaking: bool = True) -> list[str]:
    """What holds for all figures and tables of a page: means, intervals and tests."""
    sentences = [
        f"Means are {models(findings)}. Bars in figures and {beside(findings)} in tables: "
        f"{_bars(findings)} Panels of one figure have the same vertical scale."
    ]
    if len(findings.design.learners) > 1:
        sentences.append(
            f"{method(findings, overtaking)} The absence of a significant difference does not "
            f"prove that two {findings.design.words.name} are equal."
        )
    return [*sentences, *filter(None, [" ".join(few_models(findings))])]


def few_models(findings: ModelFindings) -> list[str]:
    """What is known of t intervals from few models; nothing if there are enough, or tests exact.

    The first sentence fits a line of a terminal.
    """
    models = findings.pairs_used[0] if findings.pairs_used else MIN_MODELS
    if models >= MIN_MODELS or phrases.paired_tests(findings) == phrases.EXACT_TESTS:
        return []
    studied = max((number for number in COVERED if number <= models), default=0)
    examined = f"Studies of fewer than {min(COVERED)} models were not examined."
    if studied:
        low, high = COVERED[studied]
        examined = (
            f"In simulations with {studied} models, 95% intervals of all pairs at all sizes by "
            f"information reward held simultaneously in {low} to {high}% of studies "
            "(benchmarks/README.md, Coverage of intervals)."
        )
    return [
        f"{models} models are few: below {MIN_MODELS}, do not rely on tests of skewed differences.",
        f"The same is true of their intervals. {examined}",
    ]


def curves(
    findings: ModelFindings, drawn: int | None = None, each: bool = False, alone: bool = True
) -> str:
    """Caption of learning curves of all or ``drawn`` learners; ``each`` in a panel of its own.

    It says over what means are and what bars are, unless it stands beside `reading`.
    """
    info, kind, learners = findings.info, findings.design.words, drawn or len(findings.treatments)
    if each:
        bars = f" {curve_panels(findings)}"
    elif learners > MAX_BARS:
        bars = f" Intervals are omitted for more than {MAX_BARS} {kind.name}; the table has them."
    else:
        bars = f" Bars: {_bars(findings)}" * alone
        bars += f" {opening(kind.name)} are drawn side by side at each size." * (learners > 1)
    over = f", {models(findings)}" * alone
    text = f"Mean {info.label} against {kind.size} (logarithmic){over}.{bars}{_zero(findings)}"
    if findings.ceiling:
        text += " Grey dashed line: the ceiling, the score of the true probabilities"
        if findings.limits and (each or learners <= MAX_BARS):
            scores = "their scores when fitted to the whole population"
            text += f"; dotted lines: the {kind.name}' limits, {scores}"
        text += "."
    return text


def curve_panels(findings: ModelFindings, alone: bool = True) -> str:
    """What the panels of single learners show."""
    bars = f" Bars: {_bars(findings)}" * alone
    size, kind = findings.design.sizes[-1], findings.design.words
    return (
        f"One panel per {kind.treatment}, ordered by mean at {size:,} rows; grey: the other "
        f"{kind.name}.{bars}"
    )


def _zero(findings: ModelFindings) -> str:
    """What the line at 0 is, if there is one."""
    return f" Dashed line at 0: {findings.info.zero}." if findings.info.zero else ""


def differences(
    findings: ModelFindings, shown: Sequence[Course] | None = None, alone: bool = True
) -> str:
    """Caption of paired differences against training size; of all pairs, or of those shown.

    It names the family of tests, unless it stands beside `reading`.
    """
    courses = findings.courses if shown is None else shown
    holm, kind = findings.design.holm, findings.design.words
    family = f", {phrases.interval_family(findings)}" * (alone or holm)
    text = (
        f"Mean paired difference in {phrases.with_unit(findings.info)} against {kind.dose} rows, "
        f"over the models that both {kind.name} have: above 0 where the {kind.treatment} named "
        f"first is ahead. Band: the {level(findings.design.confidence)} intervals of the paired "
        f"tests{family}; where it excludes 0, the difference is significant. "
    )
    if holm:
        text += "Holm's method, which decides, has no intervals and may find further differences. "
    text += "Dots: the sizes studied; the lines between them are only a visual aid."
    if any(change.estimated for course in courses for change in course.changes):
        text += (
            " Diamond and bar: the estimated size at which one overtakes the other, and its "
            "interval, adjusted likewise, where sizes are close enough."
        )
    return text


def thresholds(findings: ModelFindings, alone: bool = True) -> str:
    """Caption of the overview of thresholds; beside `reading` it does not name the tests."""
    whole, fewest = findings.design.models, min(course.n for course in findings.courses)
    by = pair_method(findings) if alone else "the paired tests"
    over = "" if fewest == whole else f" Over {fewest} or more of {whole} models."
    return (
        f"Who overtakes whom in mean {findings.info.label}. Grey bar: from the last size studied "
        "at which the one overtaken is ahead to the first at which the other is, by "
        f"{by}. Mark and line: the estimated size at which the mean difference is 0 and its "
        "interval, adjusted likewise, where neighbouring sizes are within a factor of "
        f"{MAX_RATIO:g}.{over}"
    )


def regret(split: Regret, study: Study) -> str:
    """Caption of the parts of regret."""
    text = (
        "Regret: the score of the true probabilities minus that of the learner. The part due to "
        "representation remains when the learner is fitted to the whole population, taken as 10⁹ "
        "rows; where the line lies below it, a learner that cannot represent the truth is closer "
        "to it with few rows than with all."
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
        f"{reward.capitalize()} against {divergence}, a dot for each model and training size, "
        "darker for more training rows. At a divergence of 0, predictions are the true "
        f"probabilities, up to the cutoff; the ceiling differs between models.{missing} "
        f"{study.page.made(study)}"
    )


def reliability(diagram: Reliability, study: Study, sizes: Sequence[int]) -> str:
    """Caption of reliability diagrams."""
    which = "the probability of every class" if diagram.classes == "every" else "the modal class"
    tests = count_range(int(diagram.table["m"].min()), int(diagram.table["m"].max()))
    family = f"Bonferroni-adjusted for the m = {tests} bins of each learner and size"
    family = "not adjusted" if tests == "1" else family
    by = "by its true frequency" if diagram.test == "exact" else "on the test set"
    bins = round(1 / (diagram.table["high"] - diagram.table["low"]).iloc[0])
    return (
        f"Observed frequency of a class against its predicted probability, for {which} in {bins} "
        f"bins of equal width, {by}; dashed line: perfect calibration. Bars: "
        f"{level(diagram.confidence)} t intervals of the deviation, between models (jackknife), "
        f"{family}; hollow: only one model reaches the bin. The area of a mark grows with the "
        f"share of predictions in its bin. Training sets of {phrases.all_sizes(sizes)} rows; the "
        f"first {diagram.models} of {study.models} models, equally weighted. Probabilities are not "
        f"clipped. {study.page.design(study)}."
    )


def scores(findings: ModelFindings, undrawn: int, sizes: Sequence[int]) -> str:
    """Caption of the distributions of scores."""
    kind, partial = findings.design.words, tuple(sizes) != findings.design.sizes
    missing = f" {undrawn} scores that are missing or infinite are not drawn." * bool(undrawn)
    shown = f" Shown: {kind.sample}s of {phrases.all_sizes(sizes)} rows." * partial
    return (
        f"{opening(phrases.axis_label(findings.info))} of every model. Dots: models, jittered "
        "vertically; box: first to third quartile, with a line at the median; diamond: mean. All "
        f"{kind.name} are evaluated on the same models, so overlap does not mean that {kind.name} "
        f"do not differ.{missing}{shown}{_zero(findings)}"
    )


def _nemenyi(findings: ModelFindings, k: int) -> str:
    """The test that decides which ranks differ."""
    alpha = f"α = {setting(findings.alpha)}"
    return f"Nemenyi's test of all m = {math.comb(k, 2)} pairs together at {alpha}; Demšar 2006"


def ranks(findings: ModelFindings, rankings: Sequence[Ranks], joined: bool) -> str:
    """Caption of critical-difference diagrams."""
    k, kind = rankings[0].k, findings.design.words
    how = (
        f"a thick bar joins {kind.name} whose ranks do not differ significantly"
        if joined
        else f"bars: half the critical difference on either side, so that {kind.name} whose bars "
        "overlap do not differ significantly in rank; the shade is the bar of the best"
    )
    tests = "; ".join(f"{ranked_at(ranking, kind)}: {friedman(ranking)}" for ranking in rankings)
    return (
        f"Average ranks of {k} {kind.name} by {findings.info.label}, 1 for the best of a model; "
        f"{how} ({_nemenyi(findings, k)}). {_RANKS}, as is Iman & Davenport's form of it: {tests}."
    )


def ranks_table(findings: ModelFindings, overall: bool) -> str:
    """Caption of the table of average ranks."""
    k, kind = len(findings.design.learners), findings.design.words
    averaged = " and of the scores averaged over all sizes" * overall
    return (
        f"Over the models, 1 for the best, at each {kind.size}{averaged}. {opening(kind.name)} "
        "whose average ranks differ by the critical difference differ significantly "
        f"({_nemenyi(findings, k)}). {_RANKS} and has {k - 1} degrees of freedom; F is Iman & "
        f"Davenport's form of it, with {k - 1} and {k - 1} × (models − 1); up to {FEW} models p is "
        "exact, or by permutation, and the same for both."
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


def ranked_at(ranking: Ranks, kind: Words) -> str:
    """At which size the ranks are."""
    return f"{ranking.at:,} {kind.dose} rows" if ranking.at else "scores averaged over all sizes"


def anova(findings: ModelFindings, fitted: Anova) -> str:
    """Caption of the tests of the analysis of variance, with the models that it leaves out."""
    text = (
        f"Subjects: {fitted.subjects} of {findings.design.models} models. G–G, H–F: "
        "Greenhouse–Geisser and Huynh–Feldt corrections for departures from sphericity; η²G, η²p: "
        "generalized and partial eta squared."
    )
    if not (subjects := [model.subject for model in fitted.left_out]):
        return text
    every = cells(findings.scores, "model", findings.factors, findings.measure)
    every = every.named(findings.names)
    named = [f"model {s}: {every.reason(every.subjects.index(s))}" for s in subjects[:_MAX_NAMED]]
    more = len(subjects) - _MAX_NAMED
    named += [f"and {more} more (left_out.csv)"] * (more > 0)
    models = counted(len(subjects), "model")
    return f"{text} Left out of the ANOVA ({models}): {'; '.join(named)}."


def mixed(model: MixedModel) -> str:
    """Caption of the mixed model."""
    return (
        "The mixed model uses all available cells: REML, Satterthwaite's degrees of freedom; like "
        f"the uncorrected ANOVA it assumes sphericity; {model.cells} cells of {model.subjects} "
        f"models, {model.missing} missing{f'; {model.note}' * bool(model.note)}."
    )


def size_effect(findings: ModelFindings, study: Study) -> str:
    """What else the effect of size in the ANOVA holds, where the prior depends on the size."""
    moves = study.measures.prior == "train" and len(findings.design.sizes) > 1
    if not moves or not findings.measure.startswith("information_reward"):
        return ""
    return (
        "Rewards are measured against the class frequencies of each training set, so even the "
        "ceiling depends on the size: the effect of size includes that; differences between "
        "learners do not."
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
            f"With {len(design.learners)} {kind.name}, only the best mean is compared with the "
            "others; it was not chosen in advance. All pairs are in pairwise.csv."
        )
    if findings.pairs_used is not None and findings.pairs_used[0] < design.models:
        used = f"{count_range(*findings.pairs_used)} of {design.models}"
        notes.append(f"Pairs are compared over the models that both have: {used}.")
    return notes


def precision(findings: ModelFindings) -> str:
    """Over how many models standard errors are, where that is not all of them."""
    models, name = findings.design.models, findings.design.words.name
    used = [pair.n + pair.infinite for pair in findings.pairs]
    if min(*findings.models_used, *used, models) == models:
        return ""
    note = f"Means are {phrases.over_models(findings)}"
    if used:
        counts = f"{count_range(min(used), max(used))} of {models}"
        note += f"; differences are over the models that both {name} have, {counts}"
    return f"{note}. The file has n of each."


def costs(platform: str, test_size: int | str) -> str:
    """What the times to fit and to predict are."""
    exact = "all configurations of a model"
    on = f"{test_size:,} test rows" if isinstance(test_size, int) else exact
    return f"Medians over the models, on {platform}; the time to predict is that for {on}. {SHARED}"
