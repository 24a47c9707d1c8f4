"""Figures of R, Weka and baycomp on real data, and what tests of them share."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simstudy.measures.base import Undefined

GOLDEN = Path(__file__).parents[1] / "golden" / "real"


def figures(name: str) -> Any:
    """Return one of the compressed files of figures."""
    with gzip.open(GOLDEN / name, "rt", encoding="utf-8") as file:
        return json.load(file)


TESTS, BAYES = figures("resampling/tests.json.gz"), figures("resampling/bayes.json.gz")
PAIRS = [(name, pair) for name in TESTS["per_set"] for pair in TESTS["per_set"][name]]
ROPES = ("0", "0.01", "0.03")


def table() -> np.ndarray[Any, Any]:
    """Return the mean accuracies, data sets × learners."""
    return np.array(TESTS["over_sets"]["table_mean_cv10_accuracy"]["rows"])


def pair_table(pair: str) -> np.ndarray[Any, Any]:
    """Return the mean accuracies of two learners."""
    learners = TESTS["over_sets"]["table_mean_cv10_accuracy"]["learners"]
    return table()[:, [learners.index(name) for name in pair.split("-")]]


def same(value: float, figure: float | None) -> bool:
    """Whether a value is the figure, or has a reason not to exist where there is none."""
    if figure is None:
        return isinstance(value, Undefined) and bool(value.reason)
    return value == pytest.approx(figure, rel=1e-9, abs=1e-12) and not math.isnan(value)
