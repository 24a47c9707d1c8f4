"""The tables of a study as a whole: learners, measures, costs, regret, failures, versions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd

from simstudy.analysis.models.regret import PARTS, Regret
from simstudy.components.registry import Spec
from simstudy.report.prose.numbers import NONE, duration, number, rows, setting
from simstudy.report.tables.table import Table, TableCell, Text, by_size, make_table, words
from simstudy.results.read.model_analyses import ModelResults
from simstudy.results.read.open import Results

MAX_FAILURES = 10  # that are listed


def methods(results: Results) -> list[Table]:
    """What is compared, and the learners."""
    kind, study = results.study.experiment, results.study
    title = f"{kind.name.capitalize()} compared"
    compared = _components(results, "compared", title, kind.treatment, study.treatments)
    return [compared] * (study.treatments != study.learners) + [learners(results)]


def learners(results: Results) -> Table:
    """The learners with their parameters."""
    title = "Learners and their parameters"
    return _components(results, "learners", title, "learner", results.study.learners)


def options(spec: Spec) -> str:
    """The parameters of a component."""
    shown = {k: setting(v) if isinstance(v, float) else v for k, v in spec.resolved.items()}
    return ", ".join(f"{key} = {value}" for key, value in shown.items())


def _components(results: Results, name: str, title: str, noun: str, specs: Sequence[Spec]) -> Table:
    """Components with their parameters and what they are."""
    compared = results.study.treatments == specs
    lines: list[list[Text]] = []
    for index, spec in enumerate(specs):
        label = words(spec.label, "", *[index] * compared)  # by which it is hidden with its line
        lines.append([label, spec.name, options(spec), results.about(noun, spec.name)])
    heads = ["label", noun, "parameters", "description"]
    return make_table(name, title, heads, lines, texts=4)


def measures(results: Results) -> Table:
    """The measures: what they are, their units, and which way is better."""
    lines = []
    for index, name in enumerate(results.measures):
        info, column = results.info(name), results.column(name)
        about, better = results.about("measure", column.measure), info.greater_is_better
        line = [info.label + " (primary)" * (index == 0), about, info.unit or NONE]
        line += ["higher" if better else "lower", info.zero or NONE]
        lines.append([*line, "exact" if column.test == "exact" else "test set"])
    heads = ["measure", "description", "unit", "better", "0 is", "evaluated on"]
    return make_table("measures", "Measures", heads, lines, texts=6)


def costs(results: ModelResults, medians: pd.DataFrame) -> Table:
    """Median seconds to fit and to predict, learners by sizes."""
    times = medians.set_index(["learner", "size"])[["fit_seconds", "predict_seconds"]]
    cells = {at: TableCell(fit, more) for at, fit, more in times.map(duration).itertuples()}
    title = "Median time to fit (below: to predict) by training rows"
    kind, labels = results.study.experiment, results.treatments
    return by_size("seconds", title, kind, labels, results.doses, cells, data=medians)


def regret(results: Results, split: Regret) -> Table:
    """Mean regret and its parts with their standard errors."""
    lines = []
    for place, label in enumerate(results.treatments):
        for row in split.table[split.table["learner"] == label].to_dict("records"):
            parts = [TableCell(number(row[key]), f"± {number(row[f'{key}_se'])}") for key in PARTS]
            lines.append([words(label, "", place), TableCell(rows(row["size"])), *parts])
    unit = results.info("regret").unit
    title = f"Mean regret and its parts ({unit}) ± Monte-Carlo standard error"
    return make_table("regret", title, ["learner", "rows", *PARTS], lines, data=split.table)


def failures(results: Results) -> list[Table]:
    """The number of failed cells by learner, and the first of them."""
    failed = results.failures.to_dict("records")
    if not failed:
        return []
    page, compared = results.study.page, results.study.experiment.treatment
    every = []
    for row in failed:
        cell = page.failed(results, row)
        cell |= {compared: str(row["learner"]), "status": str(row["status"])}
        every.append(cell | {"error": " ".join(str(row["error"]).split())})
    by = [*page.failed_by, compared, "status"]
    counts = Counter(tuple(cell[head] for head in by) for cell in every)
    number = [[*names, f"{count:,}"] for names, count in counts.items()]
    first = [[*cell.values()] for cell in every[:MAX_FAILURES]]
    title = "All failures" if len(failed) <= MAX_FAILURES else "The first failures"
    return [
        make_table("failure_counts", "Failed cells", [*by, "cells"], number, len(by)),
        make_table("failures", title, [*every[0]], first, texts=len(every[0])),
    ]


def versions(results: Results) -> Table:
    """The versions and the platform behind the results."""
    manifest = results.manifest
    made_by = {"simstudy": manifest["conditions"]["simstudy"], "Python": manifest["python"]}
    facts = [[name, version] for name, version in (made_by | manifest["packages"]).items()]
    facts += [[key, manifest[key]] for key in ("platform", "processor")]
    facts += [["seed", str(results.study.seed)], ["fingerprint", manifest["fingerprint"]]]
    if isinstance(seconds := manifest.get("seconds"), int | float):
        facts.append(["time to compute the cells", f"{seconds:,.0f} s"])
    return make_table("versions", "Versions and platform", ["", ""], facts, texts=2)
