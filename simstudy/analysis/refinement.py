"""Choice of additional sizes around crossings."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from simstudy.analysis.complete import Level
from simstudy.analysis.curves import MAX_RATIO
from simstudy.analysis.thresholds import LeadChange, PairCurve
from simstudy.arrays import FloatArray

# Sizes are added around a crossing until neighbouring sizes are within this factor.
FINE_RATIO = 1.3


def sizes_to_add(pairs: Sequence[PairCurve], sizes: Sequence[int]) -> dict[int, set[Level]]:
    """Propose sizes around the crossings of some pairs, with the learners concerned.

    The sizes lie on a grid that divides the study's own sizes evenly on the logarithmic axis, in
    steps of at most a factor of 1.3. Around each crossing that is not yet precise enough, one is
    added in each gap: the one nearest to the estimate. A crossing is precise enough when
    neighbouring sizes are within a factor of 1.3 or, if the interval is wide, a third of it.
    """
    grid = np.setdiff1d(refinement_grid(sizes), sizes)
    proposed: dict[int, set[Level]] = {}
    for pair in pairs:
        for change in pair.changes:
            for size in _around(pair, change, grid):
                proposed.setdefault(size, set()).update((pair.first, pair.second))
    return proposed


def refinement_grid(sizes: Sequence[int]) -> list[int]:
    """Return the candidate sizes and the study's own."""
    grid = set(sizes)
    for low, high in itertools.pairwise(sorted(sizes)):
        steps = math.ceil(math.log(high / low) / math.log(FINE_RATIO) - 1e-9)
        grid |= {round(low * (high / low) ** (step / steps)) for step in range(1, steps)}
    return sorted(grid)


def _around(pair: PairCurve, change: LeadChange, grid: FloatArray) -> list[int]:
    """Return the sizes to add in the gaps around a crossing that are too wide."""
    if (zone := change.zone) is None:
        return []
    wanted = max(FINE_RATIO, min(MAX_RATIO, (zone.upper / zone.lower) ** (1 / 3)))
    centre = zone.zeros[len(zone.zeros) // 2]
    gaps = list(itertools.pairwise(pair.sizes))
    within = [low < zone.upper and high > zone.lower for low, high in gaps]
    added = []
    for place, (low, high) in enumerate(gaps):
        beside = any(within[max(place - 1, 0) : place + 2])
        most = wanted if within[place] else MAX_RATIO
        inside = grid[(grid > low) & (grid < high)]
        if beside and high / low > most * (1 + 1e-9) and len(inside):
            added.append(int(inside[np.abs(np.log(inside / centre)).argmin()]))
    return added
