"""What results of all studies of data sets have: their data sets, and sizes of training parts."""

from __future__ import annotations

import pandas as pd

from simstudy.analysis.datasets import per_dataset
from simstudy.data.sizes import Size
from simstudy.results.read.base import Results


class TableResults(Results):
    """Results of studies of data sets; see `Results`."""

    _keys = ("dataset", "model", "repeat", "fold", "size", "learner")
    _score_keys = _keys

    @property
    def datasets(self) -> list[str]:
        """The names of the data sets."""
        return [*dict.fromkeys(part["dataset"] for part in self.manifest["parts"])]

    @property
    def sizes(self) -> list[float]:
        """The training sizes: rows, or shares of the training part, 1.0 for all of it."""
        return [Size.stored(size).value for size in self.study.doses]

    doses = sizes

    def _has_sizes(self, column: pd.Series[int]) -> bool:
        return True  # a share is of the training part of each split

    def _dose(self, size: float | None) -> int:
        """The whole number by which a training size is kept; of the last one if left out."""
        return self.study.doses[-1] if size is None else Size.of(size).number

    @property
    def notes(self) -> list[str]:
        """What is odd about the data sets."""
        recorded = self.manifest["notes"]
        return [f"{name}: {note}" for name, notes in recorded.items() for note in notes]

    def properties(self) -> pd.DataFrame:
        """Rows, attributes, classes and missing values of every data set.

        The columns are those of `analysis.properties`.
        """
        facts, parts = self.manifest["tables"], self.manifest["parts"]
        sizes = {
            name: [(part["train"], part["test"]) for part in parts if part["dataset"] == name]
            for name in facts
        }
        return pd.DataFrame(
            [per_dataset.properties(name, sizes[name], of) for name, of in facts.items()]
        )
