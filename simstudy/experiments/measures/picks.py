"""The choices that measures made, as a table: the raw material of a comparison of measures."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from simstudy.arrays import AnyArray
from simstudy.engine.plan import Plan
from simstudy.experiments.measures.scoring import Signs, unpack_picks
from simstudy.study.constants import NO_CHOICE


def read_picks(plan: Plan, text: str) -> tuple[Signs, Signs]:
    """The choices that a cell keeps, and the truth; raises ValueError."""
    pairs = math.comb(len(plan.learners), 2)
    return unpack_picks(text, len(plan.targets), pairs, plan.repeats)


def picks_columns(
    plan: Plan, keys: list[tuple[int, str]], kept: Mapping[int, str]
) -> dict[str, list[str] | AnyArray]:
    """The choices of every measure, one entry per model, size, pair of learners and test set.

    Parameters
    ----------
    plan : Plan
        The plan of a comparison of measures.
    keys : list of (size, label)
        The cells of a model in their order.
    kept : mapping
        What the cells keep, by their position.
    """
    pairs, repeats = math.comb(len(plan.learners), 2), plan.repeats
    shape = (plan.problems, len(plan.test_sizes), pairs, repeats)
    sizes = {size: place for place, size in enumerate(plan.test_sizes)}
    signs = {one.label: np.full(shape, NO_CHOICE, np.int8) for one in plan.measured}
    truths = {f"truth_{one.label}": np.full(shape, NO_CHOICE, np.int8) for one in plan.targets}
    for place, text in kept.items():
        model, (size, label) = place // len(keys), keys[place % len(keys)]
        picks, truth = read_picks(plan, text)
        signs[label][model, sizes[size]] = picks.T
        for index, target in enumerate(truths.values()):
            target[model, sizes[size]] = truth[index][:, None]
    models, places, pair, repeat = np.indices(shape, dtype=np.int64)
    found = {
        "model": models,
        "size": np.array(plan.test_sizes, np.int64)[places],
        "pair": pair,
        "repeat": repeat,
        **truths,
        **signs,
    }
    return {name: values.ravel() for name, values in found.items()}
