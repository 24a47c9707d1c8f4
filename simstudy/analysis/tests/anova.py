"""Repeated-measures analysis of variance from orthonormal contrasts."""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TypeAlias

import numpy as np
import pandas as pd
from scipy.special import chdtrc, fdtrc

from simstudy.analysis.score_array import LeftOut, check_levels, complete_subjects
from simstudy.arrays import FloatArray

ByLevels: TypeAlias = Callable[[int], FloatArray]  # a matrix for a number of levels
EPS = float(np.finfo(np.float64).eps)
COLUMNS = ["df1", "df2", "ss", "ss_error", "F", "p", "eps_gg", "p_gg", "eps_hf", "p_hf"]
COLUMNS += ["mauchly_w", "mauchly_p"]


@dataclass(frozen=True)
class Anova:
    """A repeated-measures analysis of variance.

    Attributes
    ----------
    table : DataFrame
        One row per effect, as `anova` describes it.
    subjects : int
        The number of subjects used.
    left_out : list of LeftOut
        The incomplete subjects.
    """

    table: pd.DataFrame
    subjects: int
    left_out: list[LeftOut]


def anova(
    table: pd.DataFrame,
    subject: str = "model",
    within: Sequence[str] = ("learner", "size"),
    value: str = "information_reward",
) -> Anova:
    """Test every main effect and interaction of within-subject factors.

    The subjects' scores on q orthonormal contrasts give an effect's sums of squares and, by their
    covariance matrix S, its departure from sphericity.

    Parameters
    ----------
    table
        One row per subject and combination of levels.
    subject, within, value
        Columns of the subjects, the factors (one or more) and the numbers. Subjects without a
        finite value in every cell are left out.

    Returns
    -------
    Anova
        Its table has one row per effect, main effects first: `effect` (factors joined by ``:``),
        `df1`, `df2`, `ss`, `ss_error`, `F`, `p`; Greenhouse–Geisser's ε and p (`eps_gg`, `p_gg`);
        Huynh–Feldt's (`eps_hf`, which may exceed 1; `p_hf` with ε capped at 1);
        Mauchly's W and p; generalized eta² (Olejnik & Algina 2003) and partial eta².

    Raises
    ------
    ValueError
        If fewer than two subjects are complete, or a factor has one level only.

    Notes
    -----
    Mauchly's p follows R (stats and car), whose second-order term has the number of all cells
    where Anderson’s formula has q; with few subjects the two differ by a percent or more.
    W and its p are NaN if q exceeds the subjects' degrees of freedom, and if q = 1: a single
    contrast is spherical, with ε = 1. Sums of squares within rounding error of 0 are set to 0. With
    zero error, F is infinite and p, p_gg and p_hf are 0; if the effect is zero too, they are NaN.
    """
    values, levels, subjects, left_out = complete_subjects(table, subject, within, value)
    check_levels(within, levels, "an analysis of variance")
    if len(subjects) < 2:
        raise ValueError(
            f"only one {subject} has a finite {value.replace('_', ' ')} in every cell; "
            "an analysis of variance needs at least two"
        )
    flat = values.reshape(len(subjects), -1)
    _, (ss_subjects,) = _decompose(flat, np.full((flat.shape[1], 1), flat.shape[1] ** -0.5))
    effects = dict(
        crossed(within, values.shape[1:], _helmert, lambda size: np.full((size, 1), size**-0.5))
    )
    rows = [_test(flat, contrasts) for contrasts in effects.values()]
    all_error = float(ss_subjects) + sum(row["ss_error"] for row in rows)
    for row in rows:
        row["eta2_generalized"] = _share(row["ss"], all_error)
        row["eta2_partial"] = _share(row["ss"], row["ss_error"])
    result = pd.DataFrame(rows)
    result.insert(0, "effect", list(effects))
    return Anova(result, len(subjects), left_out)


def crossed(
    factors: Sequence[str], shape: Sequence[int], chosen: ByLevels, rest: ByLevels
) -> Iterator[tuple[str, FloatArray]]:
    """Yield every effect, main effects first: its name and a Kronecker product over the factors.

    The product has the matrix ``chosen`` of the levels of the effect's factors, and ``rest`` of
    those of the others.
    """
    places = range(len(factors))
    for count in range(1, len(factors) + 1):
        for effect in itertools.combinations(places, count):
            parts = [(chosen if at in effect else rest)(size) for at, size in enumerate(shape)]
            yield ":".join(factors[at] for at in effect), reduce(_kron, parts)


def _kron(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.kron(first, second).astype(np.float64, copy=False)


def _helmert(levels: int) -> FloatArray:
    """Return levels × (levels − 1) orthonormal contrasts of each level with earlier ones."""
    before = np.arange(1, levels)
    contrasts = np.triu(np.ones((levels, levels - 1)))
    contrasts[before, before - 1] = -before
    return contrasts / np.sqrt(before * (before + 1))


def _decompose(flat: FloatArray, contrasts: FloatArray) -> tuple[float, FloatArray]:
    """Return the SS of an effect, and the eigenvalues of the error's cross products.

    The eigenvalues sum to the SS of the error, and their spread is the departure from sphericity.
    At most as many as there are subjects are returned; the others are 0.
    """
    scores = flat @ contrasts
    mean = scores.mean(axis=0)
    ss = len(flat) * float(mean @ mean)
    roots = np.linalg.svd(scores - mean, compute_uv=False) ** 2
    # An upper bound on the rounding error of a true zero.
    negligible = scores.size * (flat.shape[1] * EPS * float(np.abs(flat).max())) ** 2
    return (0.0 if ss <= negligible else ss), np.where(roots <= negligible, 0.0, roots)


def _test(flat: FloatArray, contrasts: FloatArray) -> dict[str, float]:
    """Return the row of one effect, without its effect sizes."""
    df, q = len(flat) - 1, contrasts.shape[1]
    ss, roots = _decompose(flat, contrasts)
    ss_error = float(roots.sum())
    F = math.inf if ss > 0 else math.nan
    if ss_error > 0:
        F = (ss / q) / (ss_error / (df * q))
    eps_gg, eps_hf = _epsilons(roots, q, df)
    w, w_p = _mauchly(roots, q, df, cells=flat.shape[1])
    p, p_gg, p_hf = (_upper_tail(F, q, df, epsilon) for epsilon in (1.0, eps_gg, eps_hf))
    numbers = (q, df * q, ss, ss_error, F, p, eps_gg, p_gg, eps_hf, p_hf, w, w_p)
    return dict(zip(COLUMNS, numbers, strict=True))


def _share(ss: float, ss_error: float) -> float:
    """Return the share of an effect in a sum of squares; NaN if the total is 0."""
    return ss / (ss + ss_error) if ss + ss_error > 0 else math.nan


def _upper_tail(F: float, q: int, df: int, epsilon: float) -> float:
    """Return the p of F with both degrees of freedom multiplied by ε, at most 1."""
    if math.isinf(F):
        return 0.0  # for any ε, which is then undefined
    factor = epsilon if math.isnan(epsilon) else min(epsilon, 1.0)
    return float(fdtrc(factor * q, factor * q * df, F))


def _epsilons(roots: FloatArray, q: int, df: int) -> tuple[float, float]:
    """Return Greenhouse–Geisser's ε and Huynh–Feldt's (1976, as R computes it)."""
    if q == 1:
        return 1.0, 1.0
    trace = float(roots.sum())
    if trace == 0:
        return math.nan, math.nan
    gg = trace**2 / (q * float(roots @ roots))
    room = df - q * gg
    if df == 1:
        return gg, math.nan  # two subjects: 0/0
    if room <= df * 1e-12:
        return gg, math.inf
    return gg, ((df + 1) * q * gg - 2) / (q * room)


def _mauchly(roots: FloatArray, q: int, df: int, cells: int) -> tuple[float, float]:
    """Return Mauchly's W and its p by the second-order approximation, as R computes it."""
    if q == 1 or q > df or not roots.any():
        return math.nan, math.nan
    if not roots.all():
        return 0.0, 0.0  # a contrast without variation, e.g. two identical learners
    log_w = min(float(np.log(roots / roots.mean()).sum()), 0.0)
    rho = 1 - (2 * q**2 + q + 2) / (6 * q * df)
    # R uses the number of cells where Anderson (1958) has q.
    second = (q + 2) * (q - 1) * (q - 2) * (2 * q**3 + 6 * q**2 + 3 * cells + 2)
    weight = second / (288 * (df * q * rho) ** 2)
    chi2, f = -df * rho * log_w, q * (q + 1) / 2 - 1
    p = chdtrc(f, chi2) + weight * (chdtrc(f + 4, chi2) - chdtrc(f, chi2))
    return math.exp(log_w), float(np.clip(p, 0.0, 1.0))
