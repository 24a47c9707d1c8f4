"""Results of studies that can keep the predictions of their learners."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from simstudy.errors import SimstudyError
from simstudy.results.reading import Results
from simstudy.study.constants import ANSWERS

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.results.ranked_answers import RankedAnswers


class AnswerResults(Results):
    """Results with the answers of learners, if the study kept them; see `Results`."""

    _answer_keys: ClassVar[tuple[str, ...]]  # columns that name a cell of the answers

    @cached_property
    def answers(self) -> pd.DataFrame:
        """The class probabilities that each learner gave each test row, if the study kept them."""
        if not self.study.keep_answers:
            raise SimstudyError(f"{self.directory} has no answers; set keep_answers = true")
        return self._as_written(ANSWERS)

    @abstractmethod
    def _ranked(self, dataset: str | None = None, over: str | None = None) -> RankedAnswers:
        """The answers, to be ranked for each problem that curves are averaged over."""
