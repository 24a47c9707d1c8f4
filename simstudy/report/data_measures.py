"""Which measures of a study of data sets are compared with each other."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

_ALL_PAIRS = 3  # measures up to which every two are compared; of more, the first with the others


def measure_pairs(measures: Sequence[str]) -> list[tuple[str, str]]:
    """The pairs of measures that pages, figures and tables compare."""
    if len(measures) <= _ALL_PAIRS:
        return [*itertools.combinations(measures, 2)]
    return [(measures[0], other) for other in measures[1:]]
