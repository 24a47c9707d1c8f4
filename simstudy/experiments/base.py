"""What an experiment is: everything in which one kind of study differs from another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

if TYPE_CHECKING:
    from simstudy.arrays import AnyArray
    from simstudy.engine.plan import Plan
    from simstudy.engine.task import Task
    from simstudy.experiments.page import Page
    from simstudy.measures.base import MeasureInfo
    from simstudy.results.reading import Results
    from simstudy.study.sections import StudyFile
    from simstudy.study.spec import Spec
    from simstudy.study.study import Study


class Words:
    """The words for what is compared.

    Attributes
    ----------
    name : str
        The value of ``compare``: the plural of the treatment.
    treatment : str
        One treatment.
    dose : str
        The kind of rows that are the dose, as in "training rows".
    sample : str
        The rows of one dose.
    size : str
        Their number.
    score : str
        What a cell is scored by.
    """

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    name: ClassVar[str]
    treatment: ClassVar[str]
    dose: ClassVar[str]
    sample: ClassVar[str] = "sample"
    size: ClassVar[str] = "sample size"
    score: ClassVar[str] = "score"


class AnyTreatment(Words):
    """Words for treatments of several experiments."""

    name = "treatments"
    treatment = "treatment"
    dose = "available"


class ScoreColumn(NamedTuple):
    """A column of the scores: a measure on a test, exact or sampled."""

    name: str
    measure: str
    test: str
    label: str = ""  # of the measure, which may come twice with different parameters
    parameters: Mapping[str, object] = {}


class Design(Protocol):
    """What studies and plans have alike: everything that can be a treatment or a dose."""

    @property
    def learners(self) -> tuple[Spec, ...]: ...
    @property
    def measured(self) -> tuple[Spec, ...]: ...
    @property
    def targets(self) -> tuple[Spec, ...]: ...
    @property
    def estimators(self) -> tuple[Spec, ...]: ...
    @property
    def tests(self) -> tuple[Spec, ...]: ...
    @property
    def train_sizes(self) -> tuple[int, ...]: ...
    @property
    def test_sizes(self) -> tuple[int, ...]: ...


class Experiment(Words, ABC):
    """One kind of study: its words, keys, scores, results and page.

    A study applies treatments to problems at several doses. Scores hold the label of the treatment
    in the column ``learner`` and the dose in ``size``, whatever the experiment.

    Attributes
    ----------
    dose_key : str
        The key of the doses in ``[data]``.
    own_keys : tuple of str
        Keys of a study file that are for this experiment only.
    keeps : str
        The name of a table of results with what its cells keep beside their scores.
    keeps_answers : bool
        Whether its cells can keep the predictions of learners on one test set.
    shares : frozenset of str
        The scores (`ScoreColumn.test`) that are shares of choices, intervals or tests.
    """

    dose_key: ClassVar[str] = "train_sizes"
    own_keys: ClassVar[tuple[str, ...]] = ()
    keeps: ClassVar[str] = ""
    keeps_answers: ClassVar[bool] = False
    takes_orders: ClassVar[bool] = False  # such as two-level measures, which order two results
    shares: ClassVar[frozenset[str]] = frozenset()
    # The conditions of a plan that hold its treatments and its doses, which may grow.
    growing: ClassVar[tuple[str, str]] = ("treatments", "doses")

    # Treatments and doses

    @abstractmethod
    def treatments(self, design: Design) -> tuple[Spec, ...]:
        """Return what is compared."""

    def doses(self, design: Design) -> tuple[int, ...]:
        """Return the doses: the training sizes, unless stated otherwise."""
        return design.train_sizes

    def at_doses(self, plan: Plan, doses: Iterable[int]) -> Plan:
        """Return a plan with other doses."""
        return replace(plan, train_sizes=tuple(doses))

    # The study file

    def completed(self, given: StudyFile) -> StudyFile:
        """Return the content of a study file with the defaults of this experiment."""
        return given

    def check(self, study: Study) -> None:
        """Refuse a study of models that cannot be run: `KeyedError` with the key at fault."""

    @abstractmethod
    def score_names(self, study: Study) -> list[str]:
        """Return the names of the scores, the primary one first."""

    def conditions(self, plan: Plan) -> dict[str, object]:
        """Return what the scores depend on besides learners, training sizes and measures."""
        return {
            "compare": self.name,
            "treatments": [[one.label, one.identity] for one in self.treatments(plan)],
            "doses": list(self.doses(plan)),
            "data.repeats": plan.repeats,
        }

    # Scores

    @abstractmethod
    def columns(self, plan: Plan) -> list[ScoreColumn]:
        """Return the columns of the scores, the primary one first."""

    @abstractmethod
    def info(self, plan: Plan, column: ScoreColumn) -> MeasureInfo:
        """Return what reports need to know of a column."""

    @abstractmethod
    def task(self, plan: Plan, model: int) -> Task:
        """Return the task of one problem, whose `run_cell` scores a treatment at a dose."""

    @abstractmethod
    def role(self, treatment: Spec, dose: int) -> str:
        """Return the role of the random stream that is recorded for a cell."""

    def check_kept(self, plan: Plan, kept: str) -> None:
        """Raise ValueError if what a cell keeps beside its scores is damaged."""

    def kept_columns(
        self, plan: Plan, keys: list[tuple[int, str]], kept: Mapping[int, str]
    ) -> dict[str, list[str] | AnyArray]:
        """Return the table `keeps`: columns of texts or numbers.

        Parameters
        ----------
        plan : Plan
            The plan of the cells.
        keys : list of (dose, label)
            The cells of a problem in their order.
        kept : mapping
            What the cells keep, by their position among all cells.
        """
        raise NotImplementedError(f"cells of {self.name} keep nothing beside their scores")

    # Results and their page

    def results_class(self, study: Study) -> type[Results]:
        """Return the class of the results of a study, which has the analyses that apply to it."""
        from simstudy.results.analyses import ModelResults

        return ModelResults

    @abstractmethod
    def page(self, study: Study) -> Page[Any, Any]:
        """Return what the page of a study says and shows."""
