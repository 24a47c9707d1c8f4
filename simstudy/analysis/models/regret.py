"""Decomposition of regret into representation and estimation."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

PARTS = ("regret", "representation", "estimation")


@dataclass(frozen=True)
class Regret:
    """Mean regret of every learner and size, with its decomposition.

    Attributes
    ----------
    table : DataFrame
        `learner`, `size`, `n`, the means of `regret`, `representation` and `estimation`, and their
        standard errors (`regret_se`, …).
    models : int
        Number of models in the means.
    learners : list of str
        The learners with a limit in some model.
    """

    table: pd.DataFrame
    models: int
    learners: list[str]


def regret(scores: pd.DataFrame) -> Regret | None:
    """Average regret and its parts over the models in which all are finite in every cell.

    Thus the parts sum to the regret. Learners without a limit are omitted. None if the scores lack
    a part, or there are no such models.
    """
    names = list(PARTS)
    if not {*names} <= {*scores.columns}:
        return None
    finite = scores[names].apply(np.isfinite).all(axis=1)
    limited = scores["learner"].isin(scores["learner"][finite])
    kept = scores[limited & ~scores["model"].isin(scores["model"][limited & ~finite])]
    if kept.empty:
        return None
    cells = kept.groupby(["learner", "size"], sort=False)[names]
    table = cells.mean().join(cells.sem().add_suffix("_se"))
    table.insert(0, "n", cells.size())
    table = table.reset_index()
    return Regret(table, int(table["n"].min()), [*dict.fromkeys(table["learner"])])
