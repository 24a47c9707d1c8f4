"""Notes on the tables of the report page."""

from __future__ import annotations

from simstudy.analysis.findings import Findings
from simstudy.report.prose.phrases import count_range
from simstudy.report.prose.verdicts import pair_method

ALONE = "There is one learner only, so there is nothing to compare."


def pair_notes(findings: Findings, all_shown: bool) -> list[str]:
    """What the tables of who beats whom show."""
    design = findings.design
    if len(design.learners) < 2:
        return [ALONE]
    last = "Holm’s p value" if design.holm else "the interval"
    notes = [
        f"In each cell the learner that beats the other, by how much, and {last}: "
        f"{pair_method(findings)}. Numbers are in favour of the learner named in the cell. That "
        "there is no significant difference does not prove that two learners are equal."
    ]
    if not all_shown:
        notes.append(
            f"With {len(design.learners)} learners the one of best mean is compared with the "
            "others; it was not chosen in advance. All pairs are in pairwise.csv."
        )
    if findings.pairs_used is not None and findings.pairs_used[0] < design.models:
        used = count_range(*findings.pairs_used)
        notes.append(
            f"Pairs are compared over the models that both have: {used} of {design.models}."
        )
    return notes


def precision_note(findings: Findings) -> str:
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
            "; differences, over the models that both learners have, are over "
            f"{used} of {models} models"
        )
    return f"{note}. The file has n of each."


def costs_note(platform: str, test_size: int | str) -> str:
    """What the times to fit and to predict are."""
    exact = "all configurations of a model"
    on = f"{test_size:,} test rows" if isinstance(test_size, int) else exact
    return (
        f"Medians over the models, on {platform}; predicting gives the probabilities of {on}. The "
        "time to count a table that several learners share is attributed to the first learner "
        "that needs it."
    )
