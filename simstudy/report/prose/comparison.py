"""What several studies share and what they do not, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from pathlib import PurePath
from typing import TypeVar

import pandas as pd

from simstudy.analysis.models.compare_studies import PAIRED, WELCH
from simstudy.analysis.models.findings import ModelFindings
from simstudy.experiments import shared_words
from simstudy.experiments.base import Words
from simstudy.report.prose.phrases import grouped, indefinite, interval_family, level, listed
from simstudy.results.read.open import Results
from simstudy.texts import counted

T = TypeVar("T")
_TESTS = {
    PAIRED: "paired t tests over the models that both have, where family and seed are the same",
    WELCH: "Welch's t tests, where the models are different",
}


def settings(results: Results) -> dict[str, str]:
    """A study's settings by dotted key, its learners and other treatments by their labels."""
    texts: dict[str, str] = {}
    study, manifest = results.study, results.manifest
    specs = {"learners": study.learners, "estimators": study.estimators, "tests": study.tests}
    for key, value in results.settings.items():
        if key in specs:
            for spec in specs[key]:
                options = ", ".join(f"{k} = {_text(v)}" for k, v in spec.resolved.items())
                label = f"{key.removesuffix('s')} {spec.label}"
                texts[label] = spec.name + f" ({options})" * bool(options)
        elif key == "datasets":
            names = [PurePath(dataset["path"]).name.partition(".")[0] for dataset in value]
            texts |= {key: _text(names)} if names else {}
        elif isinstance(value, dict):
            texts |= {f"{key}.{inner}": _text(setting) for inner, setting in value.items()}
        else:
            texts[key] = str(value) if key == "seed" else _text(value)
    texts["failed cells"] = f"{manifest['failures']:,} of {manifest['cells']:,}"
    return texts | {"simstudy": str(manifest["conditions"]["simstudy"])}


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"


def unlike(studies: Mapping[str, Results]) -> list[str]:
    """What not all studies have, and conventions that make their numbers different in kind."""
    kind = shared_words([results.study.experiment for results in studies.values()])
    parts: dict[str, Callable[[Results], Sequence[str]]] = {
        kind.name: lambda results: results.treatments,
        "sizes": lambda results: [f"{size:,}" for size in results.doses],
        f"{kind.score}s": lambda results: results.measures,
    }
    notes = []
    for noun, part in parts.items():
        lists = {name: part(results) for name, results in studies.items()}
        shared = set.intersection(*map(set, lists.values()))
        for name, items in lists.items():
            if extra := [item for item in items if item not in shared]:
                notes.append(f"{name} has {noun} that not all studies have: {listed(extra, 12)}.")
    if each := _differ(studies, "source.name"):
        notes.append(f"The families of the models differ: {each}.")
    notes += unlike_conventions(studies)
    if each := _differ(studies, "data.test_size"):
        notes.append(f"The test sizes of the studies differ: {each}.")
    return notes


def unlike_conventions(studies: Mapping[str, Results]) -> list[str]:
    """Labels and conventions that do not mean the same in all studies."""
    notes = _labels(studies)
    for key in ("prior", "cutoff", "base"):
        if each := _differ(studies, f"measures.{key}"):
            notes.append(
                f"Rewards are not comparable: their {key} differs between studies ({each})."
            )
    return notes


def _differ(studies: Mapping[str, Results], key: str) -> str:
    """What each study has, if not all have the same."""
    values = {name: str(attrgetter(key)(results.study)) for name, results in studies.items()}
    each = listed([f"{text} in {name}" for name, text in values.items()])
    return each if len({*values.values()}) > 1 else ""


def _labels(studies: Mapping[str, Results]) -> list[str]:
    """Labels that stand for different components, or for one with different parameters."""
    meanings: dict[str, dict[str, list[str]]] = {}
    for name, results in studies.items():
        for key, text in settings(results).items():
            if key.startswith(("learner ", "estimator ", "test ")):
                meanings.setdefault(key, {}).setdefault(text, []).append(name)
    return [
        f"The label {key.partition(' ')[2]} does not mean the same in all studies: "
        + "; ".join(f"{text} in {listed(where)}" for text, where in texts.items())
        + "."
        for key, texts in meanings.items()
        if len(texts) > 1
    ]


def of_each(findings: Mapping[str, T], describe: Callable[[T], str]) -> str:
    """A text on every study, written once if it is the same for all."""
    texts = grouped((describe(study), name) for name, study in findings.items())
    if len(texts) == 1:
        return next(iter(texts))
    return "; ".join(f"{listed(names)}: {text}" for text, names in texts.items())


def pair_intervals(findings: ModelFindings) -> str:
    """The intervals of paired differences; with Holm's method, which has none, Bonferroni's."""
    confidence, scope = level(findings.design.confidence), interval_family(findings)
    note = "; Holm's method, which decides, may find further differences" * findings.design.holm
    return f"{confidence} intervals of the paired tests, {scope}{note}"


def grid(
    tests: Mapping[str, str], measures: Mapping[str, str], kind: Words, over: bool, linked: bool
) -> str:
    """Caption of the grid of winners: by which tests and, if not the same, measures of each row.

    ``over`` says whether there are rows over data sets.
    """
    text = f"The {kind.treatment} of the best mean at each {kind.size} of each study, striped with "
    text += f"the {kind.name} that are not separated from it ({of_each(tests, str)})."
    text += f" Over data sets: the {kind.treatment} that loses to the fewest, likewise." * over
    text += f" By {of_each(measures, str)}." * bool(measures)
    return text + " A click on a row opens its study." * linked


def changes_summary(table: pd.DataFrame, kind: Words) -> str:
    """How many means differ between studies."""
    if table.empty:
        return f"The studies share no cell: no {kind.treatment} at the same size."
    tests, differ = Counter(table["test"]), int(table["changed"].sum())
    parts = [
        f"{differ} differ by more than Monte-Carlo error",
        f"{tests[PAIRED] + tests[WELCH] - differ} do not differ significantly",
        *(f"{count} are {test}" for test, count in tests.items() if test not in _TESTS),
    ]
    many, noun = counted(len(table), "comparison"), indefinite(kind.treatment)
    return f"Of {many} of {noun}'s mean at one size between two studies, {listed(parts)}."


def changes_method(table: pd.DataFrame, label: str, confidence: float) -> str:
    """What the intervals of the differences between studies are."""
    tests, m = {*table["test"]}, int(table["m"].iloc[0])
    adjusted = f"Bonferroni-adjusted for m = {m} comparisons" if m > 1 else "not adjusted"
    text = (
        f"{level(confidence)} intervals of the difference in mean {label}, the second study minus "
        f"the first, {adjusted}"
    )
    return "; ".join([text, *(_TESTS[test] for test in _TESTS if test in tests)]) + "."
