"""A learner of a study, fitted to all rows of a data set."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from simstudy.arrays import FloatArray
from simstudy.components.registry import LEARNERS, build
from simstudy.data.preparation.prepare import Prepared
from simstudy.data.rows_to_predict import matched
from simstudy.data.schema import Schema
from simstudy.data.sizes import size_text
from simstudy.engine.scoring import check_probabilities
from simstudy.engine.seeds import stream
from simstudy.engine.task import state_restored
from simstudy.errors import SimstudyError, check_name
from simstudy.measures.base import modal_class
from simstudy.sources.tables import Tables
from simstudy.texts import counted, summary

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.experiments.learners.data_results import DataResults
    from simstudy.learners.base import Fitted


@dataclass(frozen=True)
class SplitEstimate:
    """The performance of a learner on the splits of a data set.

    Attributes
    ----------
    measure : str
        The measure.
    mean : float
        The mean over splits.
    sd : float
        The standard deviation between splits. They share rows, so sd/√splits is not a standard
        error.
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
        The estimate of the study, from fits to parts of the rows; this fit uses all of them.
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
    _unused: tuple[str, ...]

    def __repr__(self) -> str:
        return summary(self, f"{self.learner} on {self.dataset}", str(self.estimate))

    def predict_proba(self, frame: pd.DataFrame) -> FloatArray:
        """Return the class probabilities of the rows of a data frame, shape (rows, classes).

        Columns are matched by name. The target, the groups and columns that the study ignores may
        be present and are not used; any other column, a missing column, and a value of a nominal
        attribute that does not occur in the data set are refused.
        """
        rows = self._prepared(matched(frame, self._schema, self._missing_values, self._unused))
        proba = np.asarray(self.fitted.predict_proba(rows))
        return check_probabilities(proba, len(rows), len(self.classes))

    def predict(self, frame: pd.DataFrame) -> npt.NDArray[np.object_]:
        """Return the most probable class of each row, the first of several, as an array of text."""
        return np.array(self.classes, dtype=object)[modal_class(self.predict_proba(frame))]


def refitted(results: DataResults, learner: str, dataset: str | None) -> Refit:
    """Fit a learner to a data set of a study, prepared as in it; see `DataResults.refit`."""
    recorded = dict(results.manifest["conditions"]["datasets"])
    name = _chosen("data set", dataset, list(recorded))
    label = _chosen("learner", learner, results.learners)
    plan = results._plan  # executes plugins, if they are those of the run
    assert isinstance(plan.source, Tables)
    index = [table.name for table in plan.source.tables].index(name)
    table, section = plan.source.tables[index], results.study.datasets[index]
    if table.digest != recorded[name]:
        raise SimstudyError(f"{table.path} has changed since the study was run; run it again")
    # The mean of the primary measure over splits at the largest training size
    measure, size = results.measures[0], size_text(max(results.study.doses))
    means = results.dataset_means(measure).set_index(["dataset", "size", "learner"])
    mean = means.to_dict("index")[name, size, label]
    component = next(spec for spec in plan.learners if spec.label == label)
    assert component.preparation is not None, "rows of data sets are prepared"
    rng = stream(plan.seed, table.identity, 0, f"refit/{component.identity}")
    with state_restored():
        prepared = component.preparation.fit(table.sample, component.accepts)
        fitted = build(LEARNERS, component).fit(prepared.train.copy(), rng)
    return Refit(
        label,
        name,
        SplitEstimate(measure, mean["mean"], mean["sd"], mean["splits"], size),
        table.sample.class_names,
        fitted,
        table.sample.schema,
        replace(prepared, train=prepared.train.take(np.arange(0))),
        None if section.missing_values is None else tuple(section.missing_values),
        (*section.ignore, *([section.groups] if section.groups else [])),
    )


def _chosen(kind: str, name: str | None, names: list[str]) -> str:
    """The name if it exists, the only one if it is left out."""
    if name is None and len(names) > 1:
        raise SimstudyError(f"name one of the {kind}s: {', '.join(names)}")
    name = names[0] if name is None else name
    check_name(kind, name, names)
    return name
