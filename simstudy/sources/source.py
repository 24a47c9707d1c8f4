"""Where problems come from: what all sources say of themselves and of the problems they yield."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.components.registry import FAMILIES, build, first_line
from simstudy.data.sample import Sample
from simstudy.errors import SimstudyError

if TYPE_CHECKING:
    from simstudy.components.registry import Spec
    from simstudy.engine.evaluation import Evaluation
    from simstudy.engine.plan import Plan
    from simstudy.learners.base import Learner
    from simstudy.networks.model import Model
    from simstudy.sources.changes.world import Population, World
    from simstudy.sources.tables import DataSet


class Problem(ABC):
    """The subject of a task: its truth, if known, its test and its training sets."""

    truth: Population | None  # what test rows are drawn from
    training: Population | None  # what training rows are drawn from
    class_names: tuple[str, ...]
    rarer: int  # the class that is rarest in the population or in the data set
    judged: Evaluation

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.class_names)

    @property
    @abstractmethod
    def digest(self) -> str:
        """A digest of the truth, or of the rows, which a cell records."""

    @abstractmethod
    def draw(self, size: int) -> Sample:
        """Return the training set of a size, which is as stored."""

    def seen(
        self, spec: Spec, learner: Learner, sample: Sample
    ) -> tuple[Sample, IntArray | Sample]:
        """Return the training rows and the rows to predict as a learner gets them."""
        return sample, self.judged.rows

    @abstractmethod
    def answers(self, proba: FloatArray) -> str:
        """Return predictions for the rows of the test, as text to keep."""

    @abstractmethod
    def predictions(self, answers: str) -> FloatArray:
        """Return the predictions that `answers` kept."""


class Source(ABC):
    """Where the problems of a study come from, numbered from 0.

    Attributes
    ----------
    key_columns : tuple of str
        The columns of stored tables that name a problem.
    problem_word : str
        What a problem is called.
    knows_truth : bool
        Whether the truth of the problems is known.
    test_note : str
        What learners are evaluated on; empty if ``data.test_size`` says it.
    """

    key_columns: ClassVar[tuple[str, ...]] = ("model",)
    problem_word: ClassVar[str] = "problem"
    knows_truth: ClassVar[bool] = True
    test_note: ClassVar[str] = "separate test rows"

    @property
    def changes(self) -> tuple[Spec, ...]:
        """What is done to each problem."""
        return ()

    @property
    def tables(self) -> tuple[DataSet, ...]:
        """The data sets that problems are splits of, as read."""
        return ()

    @property
    def unit(self) -> str:
        """The unit of inference: problems of one unit are not independent."""
        return self.problem_word

    @property
    @abstractmethod
    def name(self) -> str:
        """Its name in the registry of families."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """What seeds the random streams, and tells one source from another."""

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of problems."""

    @property
    def prepares(self) -> bool:
        """Whether rows are prepared for learners that do not take them as they are."""
        return False

    @property
    def tests(self) -> tuple[str, ...]:
        """What learners are evaluated on: exactly, on a sample, or both."""
        return ("sampled",)

    @property
    def units(self) -> int:
        """The number of units of inference."""
        return self.count

    def train_sizes(self, stated: Sequence[int]) -> tuple[int, ...]:
        """Return the training sizes, as stored, where a study states numbers of rows."""
        return tuple(stated)

    def resolved(self) -> Source:
        """Return the source itself; see `Registered`."""
        return self

    def sent(self, family: Spec | None) -> Source | Registered:
        """Return what workers get: of a plugin, which they import later, what to look up."""
        assert family is not None, "only tables have none"
        return Registered(family, self.count)

    @property
    def is_stated(self) -> bool:
        """Whether a study file says all of it, and no data file need be read."""
        return True

    @abstractmethod
    def first(self, number: int) -> Source:
        """Return the source of the first problems only."""

    @abstractmethod
    def problem(self, plan: Plan, index: int) -> Problem:
        """Return one problem."""

    def model(self, plan: Plan, index: int) -> Model | None:
        """Return the model that training rows are drawn from, if there is one."""
        return None

    def world(self, plan: Plan, index: int) -> World:
        """Return what the rows of a problem are drawn from, if that is a model."""
        raise SimstudyError(f"a {self.problem_word} is not a model and cannot be drawn again")

    def subject(self, index: int) -> tuple[str, int]:
        """Return what seeds the streams of a problem: adding others changes none."""
        return self.identity, index

    def rows(self, index: int, size: int) -> int:
        """Return the number of training rows of a problem that a stored size stands for."""
        return size

    def row_counts(self, sizes: Sequence[int]) -> IntArray:
        """Return the same for all problems and some sizes, of shape (problems, sizes)."""
        return np.tile(np.array(sizes, np.int64), (self.count, 1))

    def allows(self, size: int, doses: Sequence[int], grid: Sequence[int]) -> bool:
        """Return whether a cell of a size can be run; ``grid`` has sizes between the doses."""
        return size in grid

    # What is recorded

    def conditions(self) -> dict[str, object]:
        """Return what the scores depend on, besides the identity and the number of problems."""
        return {}

    def drawn(self) -> dict[str, object]:
        """Return the conditions of how rows are drawn."""
        return {}

    def keys(self) -> dict[str, list[str] | IntArray]:
        """Return what names each problem beside its number: texts or numbers, by column."""
        return {}

    def score_keys(self) -> dict[str, str]:
        """Return the first columns of the scores, which are the same for all problems."""
        return {"family": self.name}

    def facts(self, keep_answers: bool) -> dict[str, object]:
        """Return what the manifest records of the source."""
        return {"parts": [], "notes": {}, "tables": {}}

    def about(self) -> dict[str, dict[str, str]]:
        """Return a line on each component that makes the problems, by kind and name."""
        return {"family": {self.name: first_line(FAMILIES, self.name)}}

    def copies(self) -> dict[str, bytes]:
        """Return copies of files that results keep, by name."""
        return {}

    def placed(self, settings: Mapping[str, Any], directory: Path) -> dict[str, Any]:
        """Return the sections of a study file with paths as seen from the directory of results."""
        return {}

    def recorded(self, manifest: Mapping[str, Any], directory: Path) -> Source:
        """Return the source as a manifest records it; nothing that it names is looked up."""
        return self


@dataclass(frozen=True)
class Registered:
    """A source that a plugin registered in place of a family, looked up where it is used."""

    family: Spec
    number: int

    def resolved(self) -> Source:
        """Return the source."""
        source: object = build(FAMILIES, self.family)
        assert isinstance(source, Source), "what is registered is known when a study is read"
        return source.first(self.number)
