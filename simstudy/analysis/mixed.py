"""A linear mixed model of the scores, for designs in which some cells are missing.

The values of one model share a random intercept, and random effects of the model at every level of
each factor: the error strata of the repeated-measures analysis of variance. As models are
independent, the restricted likelihood is a sum over the distinct patterns of missing cells,
computed exactly from the sums and cross products of the models with each pattern.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import fdtrc

from simstudy.analysis.anova import crossed
from simstudy.analysis.complete import Cells, CellsError, LeftOut, cells, check_levels, factor_names
from simstudy.analysis.reml import estimate
from simstudy.arrays import FloatArray


@dataclass(frozen=True)
class MixedModel:
    """A fitted mixed model.

    Attributes
    ----------
    table : DataFrame
        One row per effect, as `fit_mixed_model` describes it.
    subjects, cells : int
        The numbers of subjects and cells used.
    missing : int
        The cells without a finite value.
    components : dict
        The variances by name, the residual one last.
    converged : bool
        Whether the fit converged.
    log_likelihood : float
        Restricted log likelihood, parametrised by cell means.
    note : str
        Empty unless a component is 0 or omitted, infinite values were omitted or the fit failed.
    left_out : list of LeftOut
        The incomplete subjects.
    """

    table: pd.DataFrame
    subjects: int
    cells: int
    missing: int
    components: dict[str, float]
    converged: bool
    log_likelihood: float
    note: str
    left_out: list[LeftOut]


def fit_mixed_model(
    table: pd.DataFrame,
    subject: str = "model",
    factors: Sequence[str] = ("learner", "size"),
    value: str = "information_reward",
    names: Mapping[str, str] | None = None,
) -> MixedModel:
    """Test every main effect and interaction of within-subject factors, with missing cells.

    The fixed effects are the cell means; the random effects are the subject and its interactions
    with the factors, except that of highest order. Fitted by REML.

    Parameters
    ----------
    table
        One row per subject and combination of levels.
    subject, factors, value
        Columns of the subjects, the factors (one or more) and the values. All finite values of a
        subject are used.
    names
        What factors are called in the names of the variances, if not as their columns.

    Returns
    -------
    MixedModel
        Its table has one row per effect, main effects first: `effect` (factors joined by ``:``),
        `df1`, `df2`, `F` (Wald's χ² divided by df1) and `p`. Main effects compare unweighted
        averages of cell means (type III). A warning is logged if a subject lacks a cell.

    Raises
    ------
    ValueError
        If a factor has only one level, a cell has no values, or there are fewer than two subjects
        or no more values than cells.

    Notes
    -----
    The denominator degrees of freedom are Satterthwaite's, for several contrasts as in Fai &
    Cornelius (1996) and R's lmerTest, with the expected information. Without missing cells and
    with all components above 0, F, df and p equal the *uncorrected* ones of `anova`. A component
    estimated at 0 is removed, which pools its error with the others. In simulations at the 5 %
    level, the type I error rate is 5 % with 15 subjects and a fifth of the cells missing, and up to
    7 % with 8 subjects and a quarter missing.

    Like the uncorrected test, this test assumes sphericity. Values must be missing at random given
    the values present: a learner that fails where it would have scored badly gets too good an
    estimate.
    """
    every = cells(table, subject, factor_names(factors), value)
    values, shape = _checked(every), every.array.shape[1:]
    within, unit = every.named(names or {}).within, np.ones((values.shape[1], values.shape[1]))
    strata = crossed(within, shape, np.eye, lambda size: np.ones((size, size)))
    structures = {subject: unit} | {f"{subject}:{name}": matrix for name, matrix in strata}
    structures["residual"] = structures.popitem()[1]  # that of all factors
    fit = estimate(values, structures)
    rows = []
    effects = crossed(every.within, shape, _contrasts, lambda size: np.full((1, size), size**-0.5))
    for effect, contrasts in effects:
        F, df2 = fit.wald(contrasts)
        rows.append((effect, len(contrasts), df2, F, float(fdtrc(len(contrasts), df2, F))))
    finite, infinite = np.isfinite(values), int((every.infinite != 0).sum())
    notes = [fit.note] if fit.note else []
    if infinite:
        were = "s were" if infinite > 1 else " was"
        notes.append(
            f"{infinite} infinite value{were} omitted, which biases the means of these cells"
        )
    counts = int(finite.any(axis=1).sum()), int(finite.sum()), int((~finite).sum())
    return MixedModel(
        pd.DataFrame(rows, columns=["effect", "df1", "df2", "F", "p"]),
        *counts,
        fit.components,
        fit.converged,
        fit.log_likelihood,
        "; ".join(notes),
        every.left_out("in the mixed model without some of their cells"),
    )


def _contrasts(levels: int) -> FloatArray:
    """Return orthonormal contrasts of levels as rows."""
    return np.linalg.qr(np.diff(np.eye(levels), axis=0).T)[0].T


def _checked(every: Cells) -> FloatArray:
    """Return subjects × cells; raise an error if they do not allow a fit."""
    check_levels(every.within, every.levels, "a mixed model")
    if np.isnan(every.array).all(axis=0).any():
        raise CellsError(every, _lacking)
    values = every.array.reshape(len(every.subjects), -1)
    seen = np.isfinite(values)
    if seen.any(axis=1).sum() < 2:
        raise ValueError(
            f"only one {every.subject} has a finite {every.value}; a mixed model needs at least two"
        )
    if seen.sum() <= values.shape[1]:
        raise ValueError(
            f"no cell has a finite {every.value} of more than one {every.subject}: "
            "a mixed model cannot estimate the variance"
        )
    return values


def _lacking(every: Cells) -> str:
    """Say which cell, or which whole level, has no values."""
    empty = np.asarray(np.isnan(every.array).all(axis=0))
    where = "any cell" if empty.all() else every.label(np.argwhere(empty)[0].tolist())
    for place, (factor, names) in enumerate(zip(every.within, every.levels, strict=True)):
        axes = tuple(axis for axis in range(empty.ndim) if axis != place)
        lost = np.flatnonzero(empty.all(axis=axes))
        if 0 < len(lost) < len(names):
            where = f"{factor}={names[lost[0]]}"
    return (
        f"no {every.subject} has a finite {every.value} for {where}; "
        "a mixed model needs at least one in every cell"
    )
