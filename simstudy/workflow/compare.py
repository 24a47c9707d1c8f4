"""Compare studies on one page: which of their means differ."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from simstudy.errors import SimstudyError
from simstudy.results.read.open import Results

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.analysis.claims.published import Agreement
    from simstudy.analysis.claims.verdict import StatementVerdict
    from simstudy.study.lists import Published, Reading

_CONVENTIONS = ("base", "reward", "prior", "cutoff")


def compare_studies(
    results: Sequence[Results],
    names: Sequence[str] | None = None,
    verdicts: Sequence[StatementVerdict] | None = None,
    *,
    readings: Sequence[tuple[Reading, Sequence[StatementVerdict]]] = (),
    printed: Sequence[tuple[Published, Agreement]] = (),
    of_list: bool = False,
    title: str = "",
    citation: str = "",
    note: str = "",
    variants: bool = False,
) -> str:
    """One page of HTML that compares studies.

    Parameters
    ----------
    results : sequence of Results
        At least two studies, or one with verdicts on statements.
    names : sequence of str, optional
        Their names on the page; the studies' own names if left out, numbered if not unique.
    verdicts : sequence of StatementVerdict, optional
        Verdicts on statements, from `simstudy.analysis.claims.verdict.check_statements`.
    readings : sequence of (Reading, verdicts), optional
        Verdicts on the same statements under several readings, those above first.
    printed : sequence of (Published, Agreement), optional
        Printed values of studies of data sets, and how ours agree with them.
    of_list : bool
        Whether the studies are a list, in directories of their names beside the page.
    title, citation, note : str
        The title of the page, the source of the statements, and remarks.
    variants : bool
        Whether the studies are variants of one study; ``readings`` then hold their findings.
    """
    from simstudy.report.pages.comparison import Compared, compare_page

    if not results:
        raise SimstudyError("there are no studies to compare")
    named = dict(zip(_names(results, names), (each.shown for each in results), strict=True))
    joined = all(each.study.page.joined for each in results)
    if variants and not joined:
        raise SimstudyError("variants of a study of data sets cannot be compared")
    compared = Compared(
        named, verdicts or (), readings, printed, of_list=of_list, variants=variants, note=note
    )
    if not joined or (of_list and not readings and not common_measure(results, required=False)):
        return compare_page(compared, title=title, citation=citation)
    measure = common_measure(results)
    apart = "" if variants else not_comparable(named, measure)
    differ = changes(named, measure) if len(named) > 1 and not (apart or variants) else None
    compared = replace(compared, changes=differ, not_compared=apart)
    return compare_page(compared, measure, title, citation)


def changes(results: Mapping[str, Results], measure: str | None = None) -> pd.DataFrame:
    """Which means differ between studies by more than Monte-Carlo error; see `analysis.compare`.

    Studies with the same seed and family have the same models and are compared in pairs; others
    are independent. The confidence is that of the first study. Raises `SimstudyError` if the
    studies are not comparable; see `not_comparable`.
    """
    from simstudy.analysis.models.compare_studies import compare

    value = measure or common_measure(list(results.values()))
    if apart := not_comparable(results, value):
        raise SimstudyError(apart)
    pairs = itertools.combinations(results, 2)
    same = [(a, b) for a, b in pairs if same_models(results[a], results[b])]
    tables = {name: study.scores for name, study in results.items()}
    confidence = next(iter(results.values())).settings["analysis"]["confidence"]
    return compare(tables, value=value, same_models=same, confidence=confidence)


def not_comparable(results: Mapping[str, Results], measure: str) -> str:
    """Why the values of a measure cannot be compared between studies; empty if they can.

    They cannot if the studies differ in a convention of the measure: the base of its logarithms,
    how the information reward combines classes, the prior, or the cutoff of probabilities.
    """
    rests_on = set[str]().union(*(_conventions(study, measure) for study in results.values()))
    differing = []
    for key in _CONVENTIONS:
        where: dict[str, list[str]] = {}
        for name, study in results.items():
            # results of earlier versions do not record the reward
            conventions = {"reward": "mean", **study.settings["measures"]}
            where.setdefault(str(conventions[key]), []).append(name)
        if key in rests_on and len(where) > 1:
            each = [f"{value} in {' and '.join(names)}" for value, names in where.items()]
            differing.append(f"the {key} ({', '.join(each)})")
    if not differing:
        return ""
    label = next(iter(results.values())).info(measure).label
    verb = "differ" if len(differing) > 1 else "differs"
    return (
        f"Not compared: {' and '.join(differing)} {verb}, so values of {label} are not comparable "
        "between the studies."
    )


def _conventions(results: Results, measure: str) -> set[str]:
    """The conventions that a measure depends on; all if the manifest does not record them."""
    declared = results.manifest["rests_on"].get(results.column(measure).measure)
    if declared is None:
        return {*_CONVENTIONS}
    info = results.manifest["measures"][measure]
    in_info = {"base": info["unit"] == "nats", "cutoff": info["logarithmic"]}
    return {*declared, *(key for key in in_info if in_info[key])}


def same_models(first: Results, second: Results) -> bool:
    """Whether two studies have the same models: the same family and seed."""
    family = first.settings["family"]["name"]
    facts = [
        (conditions["seed"], conditions["family"], conditions["source"].get(family))
        for conditions in (first.manifest["conditions"], second.manifest["conditions"])
    ]
    return facts[0] == facts[1]


def common_measure(results: Sequence[Results], required: bool = True) -> str:
    """The first measure, by the order of the first study, that all studies have.

    Without any, an error, or empty if none is required.
    """
    first, *rest = (study.measures for study in results)
    measure = next((name for name in first if all(name in names for names in rest)), "")
    if measure or not required:
        return measure
    listed = [f"{study.directory} has {', '.join(study.measures)}" for study in results]
    raise SimstudyError(f"the studies have no measure in common: {'; '.join(listed)}")


def _names(results: Sequence[Results], names: Sequence[str] | None) -> list[str]:
    """A unique name for each study."""
    if names is not None:
        if len(names) != len(results) or len({*names}) < len(names):
            count, listed = len(results), ", ".join(names)
            raise SimstudyError(f"{count} studies need {count} different names, not: {listed}")
        return list(names)
    recorded = [str(study.settings["name"]) for study in results]
    if len({*recorded}) < len(recorded):
        return [f"{name} ({number})" for number, name in enumerate(recorded, 1)]
    return recorded
