"""What several studies share and what they do not, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import pandas as pd

from simstudy.analysis.compare import PAIRED, WELCH
from simstudy.analysis.findings import ModelFindings
from simstudy.experiments import shared_words
from simstudy.experiments.base import Words
from simstudy.report.prose.phrases import adjusted_for, indefinite, level, listed
from simstudy.results.results import Results
from simstudy.texts import counted

_TESTS = {
    PAIRED: "paired t tests over the models that both have, where family and seed are the same",
    WELCH: "Welch's t tests, where the models are different ones",
}


def settings(results: Results) -> dict[str, str]:
    """A study's settings by dotted key, its learners and other treatments by their labels."""
    found: dict[str, str] = {}
    study = results.study
    named = {"learners": study.learners, "estimators": study.estimators, "tests": study.tests}
    for key, value in results.settings.items():
        if key in named:
            for spec in named[key]:
                options = ", ".join(f"{k} = {_text(v)}" for k, v in spec.resolved.items())
                text = spec.name + f" ({options})" * bool(options)
                found[f"{key.removesuffix('s')} {spec.label}"] = text
        elif key == "datasets":
            paths = [str(one["path"]).rpartition("/")[2] for one in value]
            found |= {key: _text([path.partition(".")[0] for path in paths])} if paths else {}
        elif isinstance(value, dict):
            found |= {f"{key}.{inner}": _text(given) for inner, given in value.items()}
        else:
            found[key] = str(value) if key == "seed" else _text(value)
    manifest = results.manifest
    found["failed cells"] = f"{manifest['failures']:,} of {manifest['cells']:,}"
    found["simstudy"] = str(manifest["conditions"]["simstudy"])
    return found


def _text(value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value) or "none"


def unlike(studies: Mapping[str, Results]) -> list[str]:
    """What not all studies have, and conventions that make their numbers different in kind."""
    kind = shared_words([found.study.experiment for found in studies.values()])
    notes = []
    for what, lists in (
        (kind.name, {name: found.treatments for name, found in studies.items()}),
        ("sizes", {name: [f"{n:,}" for n in found.doses] for name, found in studies.items()}),
        (f"{kind.score}s", {name: found.measures for name, found in studies.items()}),
    ):
        shared = set.intersection(*map(set, lists.values()))
        for name, own in lists.items():
            if alone := [item for item in own if item not in shared]:
                notes.append(f"{name} has {what} that not all studies have: {listed(alone, 12)}.")

    if each := _differ(studies, lambda found: found.study.source.name):
        notes.append(f"The models are of different families: {each}.")
    notes += unlike_conventions(studies)
    if each := _differ(studies, lambda found: found.study.data.test_size):
        notes.append(f"The test sizes of the studies differ: {each}.")
    return notes


def unlike_conventions(studies: Mapping[str, Results]) -> list[str]:
    """Labels and conventions that do not mean the same in all studies."""
    notes = _labels(studies)
    conventions: dict[str, Callable[[Results], object]] = {
        "prior": lambda found: found.study.measures.prior,
        "cutoff": lambda found: found.study.measures.cutoff,
        "base": lambda found: found.study.measures.base,
    }
    for key, value in conventions.items():
        if each := _differ(studies, value):
            notes.append(
                f"The {key} of the rewards is not the same in all studies ({each}), so their "
                "rewards are not of the same kind."
            )
    return notes


def _differ(studies: Mapping[str, Results], value: Callable[[Results], object]) -> str:
    """What each study has, if not all have the same."""
    given = {name: str(value(found)) for name, found in studies.items()}
    each = listed([f"{text} in {name}" for name, text in given.items()])
    return each if len({*given.values()}) > 1 else ""


def _labels(studies: Mapping[str, Results]) -> list[str]:
    """Labels that stand for different components, or for one with different parameters."""
    meanings: dict[str, dict[str, list[str]]] = {}
    for name, found in studies.items():
        for key, text in settings(found).items():
            if key.startswith(("learner ", "estimator ", "test ")):
                meanings.setdefault(key, {}).setdefault(text, []).append(name)
    return [
        f"The label {key.partition(' ')[2]} does not mean the same in all studies: "
        + "; ".join(f"{text} in {listed(where)}" for text, where in texts.items())
        + "."
        for key, texts in meanings.items()
        if len(texts) > 1
    ]


def of_each(findings: Mapping[str, ModelFindings], describe: Callable[[ModelFindings], str]) -> str:
    """A text on every study, written once if it is the same for all."""
    texts: dict[str, list[str]] = {}
    for name, found in findings.items():
        texts.setdefault(describe(found), []).append(name)
    if len(texts) == 1:
        return next(iter(texts))
    return "; ".join(f"{listed(names)}: {text}" for text, names in texts.items())


def pair_intervals(findings: ModelFindings) -> str:
    """The intervals of paired differences; with Holm's method, which has none, Bonferroni's."""
    design = findings.design
    adjustment = "bonferroni" if design.holm else design.adjustment
    scope = adjusted_for(adjustment, findings.pair_tests)
    note = "; Holm's method, which decides, may find further differences" * design.holm
    return f"{level(design.confidence)} intervals of the paired tests, {scope}{note}"


def changes_summary(table: pd.DataFrame, kind: Words) -> str:
    """How many means differ between studies."""
    if table.empty:
        return f"The studies share no cell: no {kind.treatment} at the same size."
    kinds = Counter(table["test"])
    differ, tested = int(table["changed"].sum()), kinds[PAIRED] + kinds[WELCH]
    parts = [f"{differ} differ by more than Monte-Carlo error"]
    parts.append(f"{tested - differ} do not differ significantly")
    parts += [f"{kinds[kind]} are {kind}" for kind in kinds if kind not in _TESTS]
    many, one = counted(len(table), "comparison"), indefinite(kind.treatment)
    return f"Of {many} of {one}'s mean at one size between two studies, {listed(parts)}."


def changes_method(table: pd.DataFrame, label: str, confidence: float) -> str:
    """What the intervals of the differences between studies are."""
    kinds, m = {*table["test"]}, int(table["m"].iloc[0])
    adjusted = f"Bonferroni-adjusted for m = {m} comparisons" if m > 1 else "not adjusted"
    parts = [
        f"{level(confidence)} intervals of the difference in mean {label}, the second study less "
        f"the first, {adjusted}"
    ]
    return "; ".join([*parts, *(text for kind, text in _TESTS.items() if kind in kinds)]) + "."
