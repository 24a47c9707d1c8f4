"""Calibration of predicted probabilities."""

import math

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.measures.base import measure, modal_class, pick

SMALLEST_CELL = 10


@measure(greater_is_better=False, label="miscalibration", over="set")
def miscalibration(proba: FloatArray, y: IntArray) -> float:
    """Miscalibration of the modal class: predicted probability against observed frequency.

    Korb, Hope & Hughes 2001, equation 3: predictions are sorted and cut into cells; with p_j the
    modal class's probability in row j of a cell and f the accuracy in the cell,
    ``sqrt(Σ_cells Σ_j (f − p_j)² / (n_cell − 1))``.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.

    Returns
    -------
    float
        The miscalibration; NaN for fewer than two rows.

    Notes
    -----
    A cell has at least 10 rows and as few more as possible (their footnote 5); a remainder of
    fewer than 10 rows joins the last cell, and fewer than 10 rows in total form one cell. Unlike
    in the paper, equal predictions stay in one cell, so that the value does not depend on the
    order of the rows.

    The sum over cells is not divided by their number, so the value grows with the number of rows,
    even for a perfectly calibrated learner: compare only test sets of equal size.

    References
    ----------
    K. B. Korb, L. R. Hope & M. J. Hughes (2001). The evaluation of predictive learners: some
    theoretical and empirical results. ECML 2001.
    """
    mode = modal_class(proba)
    predicted = pick(proba, mode)
    if len(predicted) < 2:
        return math.nan
    order = np.argsort(predicted)
    predicted = predicted[order]
    right = (mode == np.asarray(y))[order].astype(np.float64)

    starts = _cell_starts(predicted)
    rows = np.diff(starts, append=len(predicted))
    frequency = np.add.reduceat(right, starts) / rows
    squares = np.square(np.repeat(frequency, rows) - predicted)
    return math.sqrt(float((np.add.reduceat(squares, starts) / (rows - 1)).sum()))


def _cell_starts(predicted: FloatArray) -> IntArray:
    """Return the start of each cell of sorted predictions."""
    n = len(predicted)
    # Cuts are only where the prediction changes, or at the end.
    cuts = np.append(np.flatnonzero(np.diff(predicted)) + 1, n)
    starts = [0]
    while True:
        at = np.searchsorted(cuts, starts[-1] + SMALLEST_CELL)
        if at == len(cuts) or n - cuts[at] < SMALLEST_CELL:
            return np.array(starts, dtype=np.intp)
        starts.append(int(cuts[at]))
