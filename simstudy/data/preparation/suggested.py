"""How a table is best prepared for learners that take nominal attributes alone: a rule."""

from __future__ import annotations

from simstudy.data.preparation.discretize import cut_points
from simstudy.data.preparation.prepare import Preparation
from simstudy.data.sample import Sample

FEW_BINS = 5  # of equal frequency


def suggested_preparation(sample: Sample) -> Preparation:
    """Suggest a preparation that is the same for all learners.

    Numbers are cut by least description length (Fayyad & Irani 1993), unless that leaves most of
    them without a cut, as with few rows of many classes: then into five bins of equal frequency.
    Missing values become a value of their own.
    """
    uncut = sum(
        not len(cut_points(sample.values[:, place], sample.target))
        for place in sample.schema.numeric
    )
    few = 2 * uncut > len(sample.schema.numeric)
    missing = "value" if sample.incomplete else "ignore"
    return Preparation("equal_frequency" if few else "mdl", FEW_BINS, missing)
