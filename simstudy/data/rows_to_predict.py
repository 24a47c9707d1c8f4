"""Rows of a data frame in the variables of a known schema, for prediction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from simstudy.data.files.columns import NOMINAL, NUMERIC, Coder, Declaration
from simstudy.data.files.frames import is_frame, read_frame
from simstudy.data.sample import Sample
from simstudy.data.schema import Schema
from simstudy.errors import SimstudyError, suggestion

if TYPE_CHECKING:
    from simstudy.data.files.frames import Frame


def matched(
    frame: Frame, schema: Schema, gaps: Collection[str] | None, allowed: Collection[str] = ()
) -> Sample:
    """Return the rows of a data frame as a sample of a schema, the first class as their target.

    Columns are found by their names, in any order. The target and those in ``allowed`` may be
    there and are not read. A value that the schema does not have is refused.

    Parameters
    ----------
    frame : data frame
        The rows.
    schema : Schema
        The variables, the target last.
    gaps : collection of str, optional
        What stands for a missing value, besides None and NaN; as for `read_data`.
    allowed : collection of str
        Columns that are allowed besides the attributes and the target.
    """
    if not is_frame(frame):
        raise SimstudyError(f"the rows must be a data frame, not a {type(frame).__name__}")
    table = read_frame(frame)
    names, attributes = Counter(column.name for column in table.columns), schema.attributes
    expected = [variable.name for variable in attributes]
    for name, number in names.items():
        if name not in (*expected, schema.target.name, *allowed):
            near = suggestion(name, expected)
            raise table.error(f"the column '{name}' is not an attribute{near}")
        if number > 1 and name in expected:
            raise table.error(f"{number} columns are named '{name}'")
    for name in expected:
        if name not in names:
            raise table.error(f"the column '{name}' is missing{suggestion(name, names)}")
    columns = {column.name: column for column in table.columns}
    coder = Coder(table, gaps)
    values = np.zeros((table.rows, len(expected) + 1), order="F")
    for place, variable in enumerate(attributes):
        kind = NUMERIC if variable.numeric else NOMINAL
        declared = Declaration(kind, variable.values, explicit=variable.numeric)
        values[:, place] = coder.code(columns[variable.name], declared)[1]
    return Sample.of(values, schema)
