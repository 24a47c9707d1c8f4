"""Calibration of predicted probabilities."""

import math

import numpy as np

from simstudy.arrays import FloatArray, IntArray, Labels, Proba, weights_in
from simstudy.measures.base import Undefined, Weights, measure, modal_class, pick
from simstudy.measures.positive_class import require
from simstudy.measures.ranking.ranked_rows import last_of_ties, rounded

SMALLEST_CELL = 10
ODD = 0x9E3779B97F4A7C15  # spreads the bits of a hash


@measure(greater_is_better=False, label="miscalibration", over="set", equivalent=0)
def miscalibration(proba: Proba, y: Labels) -> float:
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
        The miscalibration; undefined for fewer than two rows.

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
        return Undefined("fewer than two rows")
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
    cuts = last_of_ties(predicted) + 1
    starts = [0]
    while True:
        at = np.searchsorted(cuts, starts[-1] + SMALLEST_CELL)
        if at == len(cuts) or n - cuts[at] < SMALLEST_CELL:
            return np.array(starts, dtype=np.intp)
        starts.append(int(cuts[at]))


@measure(greater_is_better=False, label="calibration loss", over="set")
def calibration_loss(proba: Proba, y: Labels, *, weights: Weights = None) -> float:
    """Calibration loss: the part of the Brier score that recalibration would remove.

    Rows with the same probabilities q form a group, in which the classes have frequencies f and
    which holds a share w of all rows: ``Σ_groups w Σ_j (q_j − f_j)²`` (Murphy 1973). The sum of
    `calibration_loss` and `refinement_loss` is the mean `brier_score`.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities q.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.

    Returns
    -------
    float
        The loss, 0 if every probability predicted is the frequency observed.

    Notes
    -----
    Probabilities that agree in 12 decimals are taken as equal. If no two rows have the same, each
    is a group and the loss is the whole Brier score; the split is informative where predictions
    repeat, and over the joint distribution, where f is the true probability given q.

    References
    ----------
    A. H. Murphy (1973). A new vector partition of the probability score. Journal of Applied
    Meteorology 12.

    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.6.
    """
    share, predicted, frequency = _groups(proba, y, weights)
    return float(share @ np.square(predicted - frequency).sum(axis=0))


@measure(greater_is_better=False, label="refinement loss", over="set")
def refinement_loss(proba: Proba, y: Labels, *, weights: Weights = None) -> float:
    """Refinement loss: the part of the Brier score that recalibration would leave.

    Rows with the same probabilities form a group, in which the classes have frequencies f and
    which holds a share w of all rows: ``Σ_groups w Σ_j f_j (1 − f_j)`` (Murphy 1973). The sum of
    `calibration_loss` and `refinement_loss` is the mean `brier_score`.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; only which rows have the same matters.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.

    Returns
    -------
    float
        The loss, 0 if the rows of each group are of one class.

    Notes
    -----
    Probabilities that agree in 12 decimals are taken as equal. If no two rows have the same, each
    is a group and the loss is 0; see `calibration_loss`.

    References
    ----------
    A. H. Murphy (1973). A new vector partition of the probability score. Journal of Applied
    Meteorology 12.

    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, section 5.6.
    """
    share, _, frequency = _groups(proba, y, weights)
    return float(share @ (frequency * (1.0 - frequency)).sum(axis=0))


@measure(greater_is_better=False, label="expected calibration error", over="set")
def expected_calibration_error(
    proba: Proba, y: Labels, *, bins: int = 15, weights: Weights = None
) -> float:
    """Expected calibration error of the modal class: confidence against accuracy in bins.

    Naeini, Cooper & Hauskrecht 2015, Guo et al. 2017, equation 3: predictions fall into bins of
    equal width by the probability of the modal class, the confidence; with w the share of all rows
    in a bin, ``Σ_bins w |accuracy − mean confidence|``. It is the sum of `overconfidence` and
    `underconfidence`.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.
    bins : int >= 1
        The number of bins between 0 and 1. A confidence on a boundary is in the lower bin.
    weights : array of shape (n,), optional
        Row weights.

    Returns
    -------
    float
        The error, 0 to 1.

    References
    ----------
    M. P. Naeini, G. F. Cooper & M. Hauskrecht (2015). Obtaining well calibrated probabilities
    using Bayesian binning. AAAI 2015.

    C. Guo, G. Pleiss, Y. Sun & K. Q. Weinberger (2017). On calibration of modern neural networks.
    ICML 2017.
    """
    return float(np.abs(_gaps(proba, y, bins, weights)).sum())


@measure(greater_is_better=False, label="overconfidence", over="set")
def overconfidence(proba: Proba, y: Labels, *, bins: int = 15, weights: Weights = None) -> float:
    """Overconfidence of the modal class: confidence above accuracy.

    With the bins of the `expected_calibration_error` and w the share of all rows in a bin,
    ``Σ_bins w max(0, mean confidence − accuracy)``.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.
    bins : int >= 1
        The number of bins between 0 and 1. A confidence on a boundary is in the lower bin.
    weights : array of shape (n,), optional
        Row weights.

    Returns
    -------
    float
        The overconfidence, 0 to 1.

    Notes
    -----
    Korb, Hope & Hughes 2001, footnote 6, say that miscalibration can be adjusted to distinguish
    over- and under-confidence, and give no formula. Overconfidence minus `underconfidence` is the
    signed measure of Lichtenstein, Fischhoff & Phillips 1982, mean confidence minus accuracy, of
    which 0 is best, so that it cannot rank learners. With one bin at most one of its two parts is
    above 0.

    References
    ----------
    K. B. Korb, L. R. Hope & M. J. Hughes (2001). The evaluation of predictive learners: some
    theoretical and empirical results. ECML 2001.

    S. Lichtenstein, B. Fischhoff & L. D. Phillips (1982). Calibration of probabilities: the state
    of the art to 1980. In Judgment under Uncertainty: Heuristics and Biases.
    """
    return float(np.maximum(_gaps(proba, y, bins, weights), 0.0).sum())


@measure(greater_is_better=False, label="underconfidence", over="set", partial=True)
def underconfidence(proba: Proba, y: Labels, *, bins: int = 15, weights: Weights = None) -> float:
    """Underconfidence of the modal class: confidence below accuracy.

    With the bins of the `expected_calibration_error` and w the share of all rows in a bin,
    ``Σ_bins w max(0, accuracy − mean confidence)``.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.
    bins : int >= 1
        The number of bins between 0 and 1. A confidence on a boundary is in the lower bin.
    weights : array of shape (n,), optional
        Row weights.

    Returns
    -------
    float
        The underconfidence, 0 to 1.

    Notes
    -----
    The counterpart of `overconfidence`. A learner that is always wrong has none, so it cannot rank
    learners by itself.

    References
    ----------
    K. B. Korb, L. R. Hope & M. J. Hughes (2001). The evaluation of predictive learners: some
    theoretical and empirical results. ECML 2001.

    S. Lichtenstein, B. Fischhoff & L. D. Phillips (1982). Calibration of probabilities: the state
    of the art to 1980. In Judgment under Uncertainty: Heuristics and Biases.
    """
    return float(np.maximum(-_gaps(proba, y, bins, weights), 0.0).sum())


def _gaps(proba: Proba, y: Labels, bins: int, weights: Weights) -> FloatArray:
    """Return the sums of confidence minus accuracy in each bin, divided by the sum of weights."""
    require(bins >= 1, "bins", bins, "it must be at least 1")
    mode = modal_class(proba)
    confidence = pick(proba, mode)
    # Bins are closed above; rounding must not lift a confidence over its boundary.
    upper = np.ceil(confidence * bins - 1e-9).astype(np.intp)
    gap = confidence - (mode == np.asarray(y))
    total: float = len(gap)
    if weights is not None:
        gap, total = gap * weights, float(np.sum(weights))
    return weights_in(np.clip(upper, 1, bins) - 1, gap, bins) / total


def _groups(proba: Proba, y: Labels, weights: Weights) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Group the rows of positive weight by their probabilities.

    Returns the share of each group, and its probabilities and frequencies, classes × groups.
    """
    q, y = np.asarray(proba, dtype=np.float64), np.asarray(y, dtype=np.intp)
    if weights is not None:
        present = np.asarray(weights) > 0
        q, y, weights = q[present], y[present], np.asarray(weights)[present]
    order, starts = _equal_rows(rounded(q) + 0.0)  # −0 is 0
    k, count = q.shape[1], len(starts)
    group = np.empty(len(q), dtype=np.intp)
    group[order] = np.repeat(np.arange(count), np.diff(starts, append=len(q)))
    # Few classes, many groups: one long vector per class is fastest.
    mass = weights_in(y * count + group, weights, k * count).reshape(k, count)
    size = mass.sum(axis=0)
    return size / size.sum(), q.T[:, order[starts]], mass / size


def _equal_rows(rows: FloatArray) -> tuple[IntArray, IntArray]:
    """Return an order in which equal rows are neighbours, and where each run of them starts."""
    # Sorting by a hash is faster than by all columns; two rows of one hash may still differ.
    bits = np.ascontiguousarray(rows.T).view(np.uint64)
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for column, factor in enumerate(range(1, 2 * len(bits), 2)):
        hashes += (bits[column] ^ (bits[column] >> 29)) * np.uint64(factor * ODD % 2**64)
    order = np.argsort(hashes)
    ascending = hashes[order]
    new = ascending[1:] != ascending[:-1]
    same = np.flatnonzero(~new)
    if (rows[order[same]] != rows[order[same + 1]]).any():
        order = np.lexsort(rows.T)
        new = (rows[order[1:]] != rows[order[:-1]]).any(axis=1)
    return order, np.append(0, np.flatnonzero(new) + 1)
