"""Comparison of the means of several studies."""

import itertools
from collections.abc import Collection, Hashable, Mapping

import numpy as np
import pandas as pd

from simstudy.analysis.score_array import Cells, cells
from simstudy.analysis.tests import adjustment as stats
from simstudy.analysis.tests.pairwise import t_test
from simstudy.arrays import FloatArray

PAIRED, WELCH, IDENTICAL, UNTESTED = "paired", "Welch", "identical", "not tested"


def compare(
    tables: Mapping[str, pd.DataFrame],
    value: str = "information_reward",
    same_models: Collection[tuple[str, str]] = (),
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Compare the means of the common cells of each pair of studies.

    Parameters
    ----------
    tables
        The scores of each study by its name: one row per subject and cell.
    value
        Column of the numbers.
    same_models
        Pairs of studies, by name in either order, that share their subjects: these are compared by
        the paired t test over their common subjects. All others are taken as independent and
        compared by Welch's t test.
    confidence
        Simultaneous confidence of all intervals, by Bonferroni's adjustment.

    Returns
    -------
    DataFrame
        One row per pair of studies and common cell:

        - `first`, `second`, the studies, and the factors;
        - `n_first`, `n_second`, the subjects used; `mean_first`, `mean_second`, over these;
        - `difference` (second − first), `se`, `df`, `t`, `p`, `p_adjusted`, `m` (the number of
          cells compared, identical ones included), `lower`, `upper`;
        - `test`: ``"paired"``, ``"Welch"``, ``"identical"`` if the subjects and all their
          values are the same, or ``"not tested"`` if either study has an infinite value there or
          fewer than two subjects remain;
        - `infinite`, the infinite values in either; `changed`, whether `p_adjusted` is below
          1 − confidence.

        With zero standard error, t is infinite and p is 0; if the means are equal too, both are
        NaN.

    Raises
    ------
    ValueError
        If there are fewer than two tables, a pair is unknown, or a table is malformed.
    """
    stats.check_share("confidence", confidence)
    if len(tables) < 2:
        raise ValueError("at least two studies are needed to compare them")
    for pair in same_models:
        if not {*pair} <= {*tables}:
            raise ValueError(f"same_models has {pair!r}; the studies are {', '.join(tables)}")
    paired = {frozenset(pair) for pair in same_models}
    factors = ("learner", "size")
    every = {name: cells(table, "model", factors, value) for name, table in tables.items()}
    rows = []
    for first, second in itertools.combinations(every, 2):
        together = frozenset((first, second)) in paired
        levels = zip(every[first].levels, every[second].levels, strict=True)
        for cell in itertools.product(*([name for name in a if name in b] for a, b in levels)):
            before, after = _values(every[first], cell), _values(every[second], cell)
            place = {"first": first, "second": second, **dict(zip(factors, cell, strict=True))}
            rows.append(place | _compared(before, after, together))
    return _with_intervals(pd.DataFrame(rows), confidence)


def _values(every: Cells, cell: tuple[Hashable, ...]) -> pd.Series:
    """Return the values of a cell by subject, including infinite but not missing ones."""
    places = [levels.index(name) for levels, name in zip(every.levels, cell, strict=True)]
    column = int(np.ravel_multi_index(places, [len(levels) for levels in every.levels]))
    values, signs = (
        array.reshape(len(every.subjects), -1)[:, column] for array in (every.array, every.infinite)
    )
    numbers = np.where(signs != 0, np.copysign(np.inf, signs), values)
    return pd.Series(numbers, index=every.subjects).dropna()


def _compared(before: pd.Series, after: pd.Series, together: bool) -> dict[str, object]:
    """Return the test of one cell, without its interval."""
    identical = len(before) > 0 and before.equals(after)
    if together and not identical:
        both = before.index.intersection(after.index)
        before, after = before[both], after[both]
    first, second = before.to_numpy(np.float64), after.to_numpy(np.float64)
    infinite = int(np.isinf(first).sum() + np.isinf(second).sum())
    means = _mean(first), _mean(second)
    row: dict[str, object] = {"n_first": len(first), "n_second": len(second)}
    row |= {"mean_first": means[0], "mean_second": means[1], "infinite": infinite}
    if identical:
        return row | {"difference": 0.0, "se": 0.0, "df": np.nan, "test": IDENTICAL}
    if infinite or min(len(first), len(second)) < 2:
        apart = means[1] - means[0] if np.isfinite(means).all() else np.nan
        return row | {"difference": apart, "se": np.nan, "df": np.nan, "test": UNTESTED}
    scale = max(np.abs(first).max(), np.abs(second).max())
    if together:
        _, mean, errors, freedom = stats.mean_and_se((second - first)[:, None], scale)
        difference, se, df = float(mean[0]), float(errors[0]), float(freedom[0])
    else:
        difference, se, df = _welch(first, second)
    difference = 0.0 if abs(difference) <= stats.ROUNDING * scale else difference
    row |= {"difference": difference, "se": se, "df": df}
    return row | {"test": PAIRED if together else WELCH}


def clearest_first(table: pd.DataFrame) -> pd.DataFrame:
    """Return the comparisons by the size of t, those without one last."""
    order = table["t"].abs().fillna(-1.0).sort_values(ascending=False, kind="stable").index
    return table.loc[order]


def _mean(numbers: FloatArray) -> float:
    """Return the mean, which may be infinite; NaN for no numbers or infinities of both signs."""
    column = numbers[:, None]
    signs = np.where(np.isinf(column), np.sign(column), 0.0)
    _, mean, _, _ = stats.mean_and_se(np.where(signs != 0, np.nan, column), stats.largest(column))
    return float(stats.with_infinities(mean, signs)[0])


def _welch(first: FloatArray, second: FloatArray) -> tuple[float, float, float]:
    """Return the difference of two independent means, its standard error and Welch's df."""
    columns = first[:, None], second[:, None]
    each = [stats.mean_and_se(column, stats.largest(column)) for column in columns]
    _, mean, se, df = (np.concatenate(numbers) for numbers in zip(*each, strict=True))
    parts = np.square(se)
    total = float(parts.sum())
    # Normalised first, so that small variances do not underflow when squared.
    shares = parts / total if total > 0 else np.array([0.5, 0.5])
    freedom = 1 / float(sum(share**2 / n for share, n in zip(shares, df, strict=True)))
    return float(mean[1] - mean[0]), float(np.sqrt(total)), freedom


def _with_intervals(table: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Add t, p and the intervals, adjusted for the number of cells."""
    columns = ["t", "p", "p_adjusted", "m", "lower", "upper"]
    if table.empty:
        return pd.DataFrame(columns=["first", "second", *columns, "test", "changed"])
    m = len(table)
    mean, se, df = (table[name].to_numpy(np.float64) for name in ("difference", "se", "df"))
    t, p = t_test(mean, se, df)
    half = stats.critical_t(confidence, m, df) * se
    table = table.assign(t=t, p=p, p_adjusted=stats.bonferroni(p, m), m=m)
    table = table.assign(lower=mean - half, upper=mean + half)
    table["changed"] = stats.is_significant(stats.bonferroni(p, m), stats.alpha_of(confidence))
    order = [name for name in table if name not in (*columns, "test", "infinite", "changed")]
    return table[[*order, *columns, "test", "infinite", "changed"]]
