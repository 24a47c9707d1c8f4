"""A pilot of a study of data sets: which differences its tests find, in sentences."""

from __future__ import annotations

import itertools
import tempfile
from dataclasses import replace

import numpy as np

from simstudy.analysis.datasets import split_power as power_of
from simstudy.analysis.tests.adjustment import alpha_of
from simstudy.arrays import FloatArray
from simstudy.errors import SimstudyError
from simstudy.experiments.learners.data_results import DataResults
from simstudy.sources.tables import Part, Tables
from simstudy.study.study import Study
from simstudy.texts import counted
from simstudy.workflow.run import run_study

_SPLITS, _SETS = 10, 3  # splits of a data set that are run, and data sets, at least


def data_power(study: Study, difference: float, power: float, jobs: int | None = None) -> list[str]:
    """Return sentences on the power to find a difference, on each data set and over them.

    The first repeat of every data set is run without saving it, at least ten splits.
    """
    pairs, source = [*itertools.combinations(study.labels, 2)], study.source
    assert isinstance(source, Tables)
    if not pairs:
        raise SimstudyError("--difference: a difference needs at least two learners")
    by_set: dict[str, list[Part]] = {}
    for part in source.parts:
        by_set.setdefault(part.dataset, []).append(part)
    number = {name: sum(part.repeat == 0 for part in parts) for name, parts in by_set.items()}
    first = [part for part in source.parts if part.number < max(number[part.dataset], _SPLITS)]
    few = replace(study, source=replace(source, parts=tuple(first)))
    with tempfile.TemporaryDirectory() as directory:
        results = run_study(few, f"{directory}/pilot", jobs=jobs, report=False)
        assert isinstance(results, DataResults)
        findings = results.data_findings()
    index, measure = ["dataset", "model"], findings.measure
    wide = findings.scores.pivot(index=index, columns="learner", values=measure)
    first_of, second_of = ([pair[place] for pair in pairs] for place in (0, 1))
    gaps = wide[first_of].to_numpy() - wide[second_of].to_numpy()
    differences = {name: gaps[wide.index.get_loc(name)].T for name in by_set}
    adjusted, level = study.analysis.adjustment != "none", alpha_of(study.analysis.confidence)
    m = len(pairs) * len(by_set) if adjusted else 1
    lines = [
        f"A difference of {difference:g} between two learners on one data set, by the corrected "
        f"resampled t test at {level:g}" + (f"/{m}" if m > 1 else "") + ". Standard deviations "
        "between splits are the largest of all pairs, estimated from the first repeat, and taken "
        "to be the same for further ones:"
    ]
    for name, parts in by_set.items():
        lines.append(f"  {name}: {_on_set(differences[name], parts, difference, power, level / m)}")
    if len(by_set) >= _SETS:
        alpha = level / len(pairs) if adjusted else level
        lines += _over_sets([*differences.values()], difference, power, alpha)
    return lines


def _on_set(
    gaps: FloatArray, parts: list[Part], difference: float, power: float, alpha: float
) -> str:
    """Say which power the splits of one data set have, and how many repeats are needed."""
    spreads = gaps[np.isfinite(gaps).all(axis=1)].std(axis=1, ddof=1) if gaps.shape[1] > 1 else []
    if not len(spreads):
        return "no standard deviation, for lack of finite scores"
    test, sd = sum(part.test for part in parts), float(max(spreads))
    repeats = 1 + max(part.repeat for part in parts)
    share, folds = test / (test + sum(part.train for part in parts)), len(parts) // repeats

    def reached(times: int) -> float:
        return power_of.split_power(difference, sd, folds * times, share, alpha)

    text = f"standard deviation {sd:.2g}; {counted(len(parts), 'split')} find it with power "
    text += f"{reached(repeats):.2f}"
    if reached(repeats) >= power:
        return text
    most = power_of.MAX_REPEATS
    needed = power_of.least_number(reached, power, repeats, most)
    if needed:
        return f"{text}; power {power:g} takes repeats = {needed}"
    return f"{text}, repeats = {most} with {reached(most):.2f}"


def _over_sets(gaps: list[FloatArray], difference: float, power: float, alpha: float) -> list[str]:
    """Say how many data sets a test over data sets needs."""
    means = np.stack([each.mean(axis=1) for each in gaps])
    kept = np.isfinite(means).all(axis=0)
    if not kept.any():
        return []
    sd, sets = float(means[:, kept].std(axis=0, ddof=1).max()), len(gaps)

    def reached(number: int) -> float:
        return power_of.sets_power(difference, sd, number, alpha)

    needed = power_of.least_number(reached, power, 2, power_of.MAX_SETS)
    many = f"over {power_of.MAX_SETS} data sets" if needed is None else f"{needed} data sets"
    return [
        f"The same mean difference over data sets, by Wilcoxon's test at {alpha:.2g} (simulated): "
        f"standard deviation between data sets up to {sd:.2g}, estimated from {sets}; {sets} find "
        f"it with power {reached(sets):.2f}, and power {power:g} takes {many}"
    ]
