"""A pilot of a study of data sets: which differences its tests find, in sentences."""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from simstudy.analysis.datasets import split_power as power_of
from simstudy.analysis.datasets.findings import DataFindings
from simstudy.analysis.datasets.per_dataset import default_test
from simstudy.analysis.tests.adjustment import alpha_of
from simstudy.arrays import FloatArray
from simstudy.errors import SimstudyError
from simstudy.experiments.learners.data_results import DataResults
from simstudy.report.prose.data_statements import TESTS
from simstudy.report.prose.design import stated_repeats
from simstudy.report.prose.phrases import grouped
from simstudy.sources.tables import Part, Tables
from simstudy.study.study import Study
from simstudy.texts import counted
from simstudy.workflow.run import run_study

_SPLITS, _SETS = 10, 3  # splits of a data set that are run, and data sets, at least


def data_power(study: Study, difference: float, power: float, jobs: int | None = None) -> list[str]:
    """Return sentences on the power to find a difference, on each data set and over them.

    The first repeats of every data set are run without saving them, at least ten splits if there
    are as many.
    """
    pairs, source = [*itertools.combinations(study.labels, 2)], study.source
    assert isinstance(source, Tables)
    if not pairs:
        raise SimstudyError("--difference: a difference needs at least two learners")
    by_set = grouped((part.dataset, part) for part in source.parts)
    test, lines = default_test(pd.DataFrame(source.parts)), list[str]()
    if test != "corrected_t":
        text = f"The power of the {TESTS[test]}, by which this resampling tests single data sets, "
        lines.append(f"{text}is not computed; that of the corrected resampled t test is")
        if len(by_set) < _SETS:
            return lines
    first = tuple(part for parts in by_set.values() for part in _first_repeats(parts))
    findings = _run(replace(study, source=replace(source, parts=first)), jobs)
    indexed = findings.scores.set_index(["dataset", "model"])
    wide = pd.DataFrame(dict(iter(indexed.groupby("learner")[findings.measure])))
    first_of, second_of = ([pair[place] for pair in pairs] for place in (0, 1))
    gaps = wide[first_of].to_numpy() - wide[second_of].to_numpy()
    differences = {name: gaps[wide.index.get_loc(name)].T for name in by_set}
    adjusted, level = study.analysis.adjustment != "none", alpha_of(study.analysis.confidence)
    if not lines:
        m = len(pairs) * len(by_set) if adjusted else 1
        lines.append(
            f"A difference of {difference:g} between two learners on one data set, by the "
            f"corrected resampled t test at {level:g}" + (f"/{m}" if m > 1 else "") + ". Standard "
            "deviations between splits are the largest of all pairs in the first splits, which "
            "were run, and taken to be the same for further ones:"
        )
        rows = findings.scores.groupby("dataset")[["test_rows", "size"]].sum()
        for name, parts in by_set.items():
            share = float(rows["test_rows"][name] / rows.loc[name].sum())
            reached = partial(power_of.split_power, difference, test_share=share, alpha=level / m)
            text = _on_set(differences[name], parts, reached, power, partial(stated_repeats, study))
            lines.append(f"  {name}: {text}")
    if len(by_set) >= _SETS:
        alpha = level / len(pairs) if adjusted else level
        lines += _over_sets([*differences.values()], difference, power, alpha)
    return lines


def _first_repeats(parts: list[Part]) -> list[Part]:
    """Return the splits of the first whole repeats of a data set."""
    repeats = [*dict.fromkeys(part.repeat for part in parts)]
    kept = repeats[: math.ceil(_SPLITS * len(repeats) / len(parts))]
    return [part for part in parts if part.repeat in kept]


def _run(study: Study, jobs: int | None) -> DataFindings:
    """Return what a run that is not saved finds."""
    with tempfile.TemporaryDirectory() as directory:
        results = run_study(study, f"{directory}/pilot", jobs=jobs, report=False)
        assert isinstance(results, DataResults)
        return results.data_findings()


def _on_set(
    gaps: FloatArray,
    parts: list[Part],
    split_power: Callable[[float, int], float],
    power: float,
    stated: Callable[[int], str],
) -> str:
    """Say which power the splits of one data set have, and how many repeats are needed."""
    spreads = gaps[np.isfinite(gaps).all(axis=1)].std(axis=1, ddof=1) if gaps.shape[1] > 1 else []
    if not len(spreads):
        return "no standard deviation, for lack of finite scores"
    sd, repeats = float(max(spreads)), len({part.repeat for part in parts})
    folds, most = len(parts) // repeats, power_of.MAX_REPEATS

    def reached(times: int) -> float:
        return split_power(sd, folds * times)

    text = f"standard deviation {sd:.2g} in {counted(gaps.shape[1], 'split')}; "
    text += f"{counted(len(parts), 'split')} find it with power {reached(repeats):.2f}"
    if reached(repeats) >= power or repeats >= most or not stated(most):
        return text
    if needed := power_of.least_number(reached, power, repeats, most):
        return f"{text}; power {power:g} takes {stated(needed)}"
    return f"{text}, {stated(most)} with {reached(most):.2f}"


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
        f"A mean difference of {difference:g} over data sets, by Wilcoxon's test at {alpha:.2g} "
        f"(simulated): standard deviation between data sets up to {sd:.2g}, in the first splits of "
        f"{sets}; {sets} find it with power {reached(sets):.2f}, and power {power:g} takes {many}"
    ]
