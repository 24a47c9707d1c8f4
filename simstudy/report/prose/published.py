"""How our means agree with printed ones, in words."""

from __future__ import annotations

from simstudy.analysis.published import Agreement
from simstudy.report.prose.numbers import fixed, plus
from simstudy.report.prose.phrases import listed
from simstudy.study.published import Published


def summary(given: Published, found: Agreement) -> list[str]:
    """The mean absolute differences, what differs most and why, what is left out."""
    each = [
        f"{fixed(row['mean_absolute_difference'])} for {row['learner']}"
        for row in found.by_learner.to_dict("records")
    ]
    number = found.cells["dataset"].nunique()
    sentences = [f"Mean absolute difference over {number} data sets: {listed(each)}."]
    for dataset in found.beyond:
        own = found.cells[(found.cells["dataset"] == dataset) & found.cells["beyond"]]
        parts = [f"{row['learner']} {plus(row['difference'])}" for row in own.to_dict("records")]
        why = given.notes.get(dataset, "The reason is not known.")
        text = f"{dataset} differs by more than {found.tolerance:g}: {listed(parts)}. {why}"
        sentences.append(text)
    if found.left_out:
        sentences.append(f"Left out as another data set: {listed([*found.left_out])}.")
    if found.missing:
        sentences.append(f"Printed and not here: {listed([*found.missing])}.")
    return sentences
