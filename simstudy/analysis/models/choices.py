"""Choices of measures between learners: contradictions, and the test rows that they need."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from simstudy.analysis.models.difference_curves import PairCurve, decided, pair_curve
from simstudy.analysis.score_array import cells
from simstudy.analysis.tests.intervals import share_interval
from simstudy.study.constants import NO_CHOICE

_REFERENCE = "the reference"
_SPREAD = ("mcse", "lower", "upper")


def contradictions(
    picks: pd.DataFrame, measures: Sequence[str], sizes: Sequence[int], confidence: float = 0.95
) -> pd.DataFrame:
    """Return how often two measures prefer different learners of a pair.

    Parameters
    ----------
    picks : DataFrame
        One row per model, size, pair of learners and test set, with a column for each measure: 1
        where it prefers the first learner, −1 the second, 0 neither, 2 if its cell failed.
    measures : sequence of str
        The columns of the measures.
    sizes : sequence of int
        The test sizes.
    confidence : float
        Confidence of each interval; not adjusted for their number.

    Returns
    -------
    DataFrame
        One row per size and two measures: ``opposite``, the share of choices in which one prefers
        one learner and the other the other; ``one_ties``, the share in which only one prefers
        neither; means over models; of ``opposite``, ``mcse``, the Monte-Carlo standard error, and
        ``lower`` and ``upper``, the limits of `share_interval`.
    """
    rows = []
    for size in sizes:
        here = picks[picks["size"] == size]
        for names in itertools.combinations(measures, 2):
            first, second = (here[name].to_numpy().astype(np.int64) for name in names)
            made = (first != NO_CHOICE) & (second != NO_CHOICE)
            models, first, second = here["model"].to_numpy()[made], first[made], second[made]
            shares = [_by_model(first * second == -1, models)]
            shares += [_by_model((first == 0) != (second == 0), models)]
            spread = _spread(shares[0], confidence)
            rows.append((size, *names, *map(_mean, shares), *spread, len(shares[0])))
    columns = ["size", "first", "second", "opposite", "one_ties", *_SPREAD, "n"]
    return pd.DataFrame(rows, columns=columns)


def against_truth(
    picks: pd.DataFrame,
    measures: Sequence[str],
    targets: Sequence[str],
    sizes: Sequence[int],
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return how often each measure contradicts the truth by each target.

    Parameters
    ----------
    picks, measures, sizes, confidence
        As in `contradictions`; the table also has a column ``truth_<target>`` for each target,
        with the same signs.
    targets : sequence of str
        The labels of the targets.

    Returns
    -------
    DataFrame
        One row per target, size and measure: ``right``, ``tied`` and ``wrong``, the shares of its
        choices, without pairs that the target ties, means over models; of ``wrong``, ``mcse``,
        ``lower`` and ``upper``; ``pairs``, how many pairs of learners there are in all models, and
        ``left_out``, how many the target ties.
    """
    rows = []
    for target, size in itertools.product(targets, sizes):
        here = picks[picks["size"] == size]
        models, truth = here["model"].to_numpy(), here[f"truth_{target}"].to_numpy().astype(int)
        once = here[["model", "pair"]].assign(sign=truth).drop_duplicates()
        once = once[once["sign"] != NO_CHOICE]
        counts = len(once), int((once["sign"] == 0).sum())
        for measure in measures:
            choice = here[measure].to_numpy().astype(np.int64)
            made = (choice != NO_CHOICE) & (truth != 0) & (truth != NO_CHOICE)
            agree = choice[made] * truth[made]
            shares = [_by_model(agree == sign, models[made]) for sign in (1, 0, -1)]
            spread = _spread(shares[2], confidence)
            rows.append((target, size, measure, *map(_mean, shares), *spread, *counts))
    columns = ["target", "size", "measure", "right", "tied", "wrong", *_SPREAD]
    return pd.DataFrame(rows, columns=[*columns, "pairs", "left_out"])


def _by_model(events: np.ndarray, models: np.ndarray) -> np.ndarray:
    """Return the share of events in each model that has any."""
    total = np.bincount(models)
    return np.bincount(models, events)[total > 0] / total[total > 0]


def _mean(shares: np.ndarray) -> float:
    return float(shares.mean()) if len(shares) else math.nan


def _spread(shares: np.ndarray, confidence: float) -> tuple[float, float, float]:
    """Return the standard error of a mean over models, and the limits of its interval."""
    if len(shares) < 2:
        return math.nan, math.nan, math.nan
    _, lower, upper = share_interval(shares[:, None], confidence)
    return float(shares.std(ddof=1) / math.sqrt(len(shares))), float(lower[0]), float(upper[0])


def rows_needed(
    scores: pd.DataFrame,
    value: str,
    at: int,
    greater_is_better: bool = True,
    confidence: float = 0.95,
    further: int = 0,
) -> pd.DataFrame:
    """Return how many rows each treatment needs to match the best one at a given size.

    The reference is the treatment of best mean at ``at`` rows, with its score there. Where the mean
    paired difference from it changes sign is found as in `thresholds`: by tests adjusted for all
    treatments and sizes and the further tests, and estimated between sizes that are close to each
    other. A test at ``at`` rows is one of the further tests, if there are any.

    Parameters
    ----------
    scores : DataFrame
        One row per ``model``, ``size`` and ``learner``.
    value : str
        The column of the score.
    at : int
        The size of the reference, one of those studied.
    greater_is_better : bool
        Whether greater scores are better.
    confidence : float
        Simultaneous confidence of all brackets and intervals.
    further : int
        The number of tests between treatments in the same family.

    Returns
    -------
    DataFrame
        One row per treatment: ``rows``, the estimate (NaN without one); ``lower`` and ``upper``,
        its interval or, without an estimate, the last size at which it is worse than the
        reference and the first at which it is better (0 and infinity if there is none);
        ``efficiency``, ``at`` over ``rows``; ``note``, why there is no estimate. The reference has
        ``rows = at``.
    """
    sign = 1 if greater_is_better else -1
    at_reference = scores[scores["size"] == at]
    means = sign * at_reference.groupby("learner", sort=False)[value].mean()
    best = means.idxmax()
    reference = at_reference[at_reference["learner"] == best].set_index("model")[value]
    labels = dict.fromkeys(scores["learner"])
    constant = scores[scores["learner"] == best].assign(learner=_REFERENCE)
    constant[value] = constant["model"].map(reference)
    table = pd.concat([constant, scores[scores["learner"] != best]])
    every = cells(table, "model", ("learner", "size"), value)
    levels = list(every.levels[0])
    pairs = {
        label: pair_curve(every, levels.index(_REFERENCE), levels.index(label), greater_is_better)
        for label in labels
        if label != best
    }
    tested = [pair.sizes for pair in pairs.values() if pair.curve is not None]
    m = further + sum(len(sizes) - (further > 0) for sizes in tested)
    needed = {label: _needed(decided(pair, m, confidence), at) for label, pair in pairs.items()}
    needed[best] = (float(at), float(at), float(at), 1.0, "the reference")
    columns = ["learner", "rows", "lower", "upper", "efficiency", "note"]
    rows = [(label, *needed[label]) for label in labels]
    return pd.DataFrame(rows, columns=columns).assign(m=m, at=at)


def _needed(pair: PairCurve, at: int) -> tuple[float, float, float, float, str]:
    """The rows that a treatment needs, from its course against the reference."""
    lower, upper = 0.0, math.inf
    if pair.curve is None:
        note = pair.note
    elif len(pair.changes) > 1:
        note = "it is better and worse than the reference by turns"
    elif pair.changes:
        (change,) = pair.changes
        if change.estimated and change.ahead != pair.first:
            return change.crossing, change.lower, change.upper, at / change.crossing, ""
        note = "it is better than the reference at fewer rows, and worse at more"
        if change.ahead != pair.first:
            lower, upper, note = change.before, change.after, change.note
    else:
        worse, better = (pair.sizes[np.array(pair.signs) == sign] for sign in (-1, 1))
        lower, upper = float(worse.max(initial=0.0)), float(better.min(initial=math.inf))
        note = "" if len(worse) else "worse than the reference at no size"
        if not len(better):
            note = "better than the reference at no size"
            note = note if len(worse) else "no significant difference"
    return math.nan, lower, upper, math.nan, note
