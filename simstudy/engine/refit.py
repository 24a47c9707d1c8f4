"""A learner of a study of data sets, fitted to all rows of one."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray
from simstudy.data.matching import matched
from simstudy.data.preparation import Prepared
from simstudy.data.schema import Schema
from simstudy.engine.plan import Plan
from simstudy.engine.scoring import check_probabilities
from simstudy.engine.seeds import stream
from simstudy.engine.task import state_restored
from simstudy.measures.base import modal_class
from simstudy.sources.tables import DataSet, Tables
from simstudy.study.registry import LEARNERS
from simstudy.study.spec import build
from simstudy.texts import counted, summary

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.learners.base import Fitted
    from simstudy.study.study import Study


@dataclass(frozen=True)
class SplitEstimate:
    """What the splits of a data set say of a learner.

    Attributes
    ----------
    measure : str
        The measure.
    mean : float
        The mean over splits.
    sd : float
        The standard deviation between splits. They share rows: sd/√splits is no standard error.
    splits : int
        The number of splits with a value.
    size : str
        The training rows of each split, or their share of its training part.
    """

    measure: str
    mean: float
    sd: float
    splits: int
    size: str

    def __str__(self) -> str:
        return (
            f"{self.measure} {self.mean:.4g}, mean over {counted(self.splits, 'split')}; "
            f"standard deviation between splits {self.sd:.2g}"
        )


@dataclass(frozen=True, eq=False, repr=False)
class Refit:
    """A learner fitted to all rows of a data set; it can be pickled if the learner can.

    Attributes
    ----------
    learner, dataset : str
        Their labels in the study.
    estimate : SplitEstimate
        What the study measured of the learner fitted to parts of the rows; this one has seen all.
    classes : tuple of str
        The classes, in the order of the columns of `predict_proba`.
    fitted : object
        The fitted learner.
    """

    learner: str
    dataset: str
    estimate: SplitEstimate
    classes: tuple[str, ...]
    fitted: Fitted
    _schema: Schema
    _prepared: Prepared  # without the training rows
    _missing_values: tuple[str, ...] | None
    _others: tuple[str, ...]

    def __repr__(self) -> str:
        return summary(self, f"{self.learner} on {self.dataset}", str(self.estimate))

    def predict_proba(self, frame: pd.DataFrame) -> FloatArray:
        """Return the class probabilities of the rows of a data frame, shape (rows, classes).

        Columns are found by their names. The target, the groups and columns that the study ignores
        may be there and are not used; any other column, a missing one, and a value of a nominal
        attribute that the data set does not have are refused.
        """
        rows = self._prepared(matched(frame, self._schema, self._missing_values, self._others))
        proba = np.asarray(self.fitted.predict_proba(rows))
        return check_probabilities(proba, len(rows), len(self.classes))

    def predict(self, frame: pd.DataFrame) -> npt.NDArray[np.object_]:
        """Return the most probable class of each row, the first of several, as an array of text."""
        return np.array(self.classes, dtype=object)[modal_class(self.predict_proba(frame))]


def refit(study: Study, plan: Plan, table: DataSet, label: str, estimate: SplitEstimate) -> Refit:
    """Fit a learner of a study to a whole data set, prepared as in the study."""
    assert isinstance(plan.source, Tables)
    section = study.datasets[plan.source.tables.index(table)]
    component = next(one for one in plan.learners if one.label == label)
    assert component.preparation is not None, "rows of data sets are prepared"
    rng = stream(plan.seed, table.identity, 0, f"refit/{component.identity}")
    with state_restored():
        prepared = component.preparation.fit(table.sample, component.accepts)
        fitted = build(LEARNERS, component).fit(prepared.train.copy(), rng)
    return Refit(
        label,
        table.name,
        estimate,
        table.sample.class_names,
        fitted,
        table.sample.schema,
        replace(prepared, train=prepared.train.take(np.arange(0))),
        None if section.missing_values is None else tuple(section.missing_values),
        (*section.ignore, *([section.groups] if section.groups else [])),
    )
