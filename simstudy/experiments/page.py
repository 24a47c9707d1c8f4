"""What the page of an experiment says and shows that no other page does."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.measures.base import MeasureInfo
    from simstudy.report.printed import Maker
    from simstudy.report.tables.table import Table
    from simstudy.results.results import Results
    from simstudy.study.study import Study


class Page(ABC):
    """The sentences, tables and files of one experiment.

    Attributes
    ----------
    heading : str
        Of the section that has `tables`.
    shows_costs : bool
        Whether the seconds of fitting and predicting are those of the treatments.
    """

    heading: ClassVar[str] = ""
    shows_costs: ClassVar[bool] = False

    @abstractmethod
    def question(self, study: Study, info: MeasureInfo) -> str:
        """Return the question, after "On random … models, "."""

    @abstractmethod
    def aims(self, study: Study) -> str:
        """Return what the study is for."""

    @abstractmethod
    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return what is estimated."""

    def evaluated(self, study: Study) -> str:
        """Return on what learners were evaluated, for the line on the design."""
        from simstudy.report.prose.design import evaluated_on

        return evaluated_on(study.data.test_size)

    def test_data(self, study: Study) -> str:
        """Return where test rows come from."""
        from simstudy.report.prose.design import test_section

        return test_section(study.data.test_size)

    def shown(self, scores: Sequence[str]) -> list[int]:
        """Return the places of the scores that the page has views of."""
        return [*range(len(scores))]

    def tables(self, results: Results) -> list[Table]:
        """Return the tables that only this page has."""
        return []

    def figures(self) -> dict[str, Maker]:
        """Return the makers of figures that only this experiment has, by the names of files."""
        return {}

    def files(self, results: Results) -> dict[str, pd.DataFrame]:
        """Return the tables that only this experiment leaves beside its scores, by file."""
        return {}
