"""Replacement of missing values, fitted to training rows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from simstudy.arrays import FloatArray
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema, Variable
from simstudy.errors import SimstudyError, suggestion

METHODS = ("mode", "value")
_LARGE = 1e280  # numbers whose sum may be none; they are scaled, which is exact
_SCALE = 2.0**-64


@dataclass(frozen=True, eq=False)
class Imputer:
    """Replaces the missing values of any rows with the schema of the training rows; see `fit`.

    Attributes
    ----------
    schema : Schema
        The schema of the rows without missing values.
    replacements : array of shape (variables,)
        The code or number in place of a missing value of each attribute.
    """

    training_schema: Schema
    schema: Schema
    replacements: FloatArray

    @classmethod
    def fit(cls, sample: Sample, method: str = "mode") -> Imputer:
        """Find what replaces the missing values of each attribute, only from these rows.

        Parameters
        ----------
        sample : Sample
            The training rows.
        method : {"mode", "value"}
            ``mode`` replaces a missing value by the most frequent one of its attribute in the
            training rows: by the first of equals, and by the first of all if none is known.
            ``value`` makes it a separate value, an additional last one named ``?``, of each
            attribute that has missing values in the training rows. A missing value of another
            attribute is then replaced by the mode, as nothing was learnt about it.

        Notes
        -----
        By either method a missing number is replaced by the mean of the known ones, or by 0 if
        there is none: a number cannot be a separate value. Discretise first for learners that take
        only nominal attributes. Rows count by their weights.
        """
        if method not in METHODS:
            near = suggestion(method, METHODS)
            raise SimstudyError(f"unknown method '{method}' for missing values{near}")
        variables, replacements = list(sample.schema.variables), np.zeros(len(sample.cards))
        for place, variable in enumerate(sample.schema.attributes):
            if variable.values is None:
                replacements[place] = _mean(sample.values[:, place], sample.weights)
            elif method == "value" and (sample.codes[:, place] < 0).any():
                replacements[place], name = len(variable.values), "?"
                while name in variable.values:
                    name += "?"
                variables[place] = Variable(variable.name, (*variable.values, name))
            else:
                replacements[place] = sample.counts(place).argmax()
        return cls(sample.schema, Schema(tuple(variables)), replacements)

    def __call__(self, sample: Sample) -> Sample:
        """Return the rows without missing values: the same object if they are complete already."""
        sample.schema.check(self.training_schema)
        if self.schema == self.training_schema and not sample.incomplete:
            return sample
        values = np.where(np.isnan(sample.values), self.replacements, sample.values)
        return sample.with_values(values, self.schema)


def _mean(values: FloatArray, weights: FloatArray | None) -> float:
    """Return the mean of the known numbers, the same in any order of rows."""
    present = ~np.isnan(values)
    masses = present.astype(np.float64) if weights is None else np.where(present, weights, 0)
    total = math.fsum(masses)
    if not total:
        return 0.0
    scale = _SCALE if np.abs(values[present]).max() > _LARGE else 1.0
    return math.fsum(values[present] * scale * masses[present]) / total / scale
