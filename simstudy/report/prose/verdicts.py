"""Who beats whom: one sentence for each pair of learners at a size."""

from __future__ import annotations

import math

from simstudy.analysis.findings import ModelFindings
from simstudy.analysis.standings import AHEAD, IDENTICAL, UNTESTED, Pair
from simstudy.report.prose.numbers import p_value, signed
from simstudy.report.prose.phrases import adjusted_for, level, paired_tests

# With more learners than this, only the leader at each size is compared in words.
MAX_COMPARED = 5


def verdicts(findings: ModelFindings) -> dict[int, list[str]]:
    """For each size, who beats whom by how much, and who does not differ; better learner first."""
    found: dict[int, list[str]] = {}
    for size in findings.design.sizes:
        ranked = findings.ranked(size)
        compared = [pair.better_first(ranked) for pair in findings.pairs_at(size)]
        leaders = ranked[:1] if len(ranked) > MAX_COMPARED else ranked
        compared.sort(key=lambda pair: sorted(map(ranked.index, (pair.first, pair.second))))
        found[size] = [
            pair_sentence(pair, findings.design.holm, findings.design.models)
            for pair in compared
            if {pair.first, pair.second} & {*leaders}
        ]
    return {size: sentences for size, sentences in found.items() if sentences}


def pair_sentence(pair: Pair, holm: bool, models: int) -> str:
    """What the test supports about a pair, the better learner first."""
    both = f"{pair.first} and {pair.second}"
    if pair.verdict == UNTESTED:
        return f"{both} are not compared: {why_untested(pair)}"
    if pair.verdict == IDENTICAL:
        every = "every model" if pair.n == models else f"all {pair.n} models that both have"
        return f"{both} are identical in {every}"
    numbers = f"{signed(pair.lead)} [{signed(pair.low)}, {signed(pair.high)}]"
    if holm:
        numbers = f"{signed(pair.lead)} ({p_value(pair.p, 'p')})"
    if pair.n < models:
        numbers += f", over {pair.n} of {models} models"
    if pair.verdict == AHEAD:
        return f"{pair.first} beats {pair.second} by {numbers}"
    return f"{both} do not differ significantly: {numbers}"


def why_untested(pair: Pair) -> str:
    """Why a pair was not tested."""
    if pair.infinite:
        return f"infinite in {pair.infinite} models"
    return "no model has both" if math.isnan(pair.lead) else f"{pair.n} model has both"


def pair_method(findings: ModelFindings) -> str:
    """The test of paired differences and its adjustment."""
    design = findings.design
    kind = "p values" if design.holm else f"{level(design.confidence)} intervals"
    scope = adjusted_for(design.adjustment, findings.pair_tests)
    return f"{paired_tests(findings)} between models, {kind}, {scope}"
