"""What an experiment is: everything in which one kind of study differs from another."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, TypeAlias, cast

if TYPE_CHECKING:
    from simstudy.components.registry import Spec
    from simstudy.engine.plan import Plan
    from simstudy.engine.task import Task
    from simstudy.experiments.page import Page
    from simstudy.measures.base import MeasureInfo
    from simstudy.results.read.base import Results
    from simstudy.study.content import StudyFile
    from simstudy.study.study import Study

Design: TypeAlias = "Study | Plan"  # both have everything that can be a treatment or a dose


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

    @classmethod
    def of(cls, measure: Spec, test: str, suffix: str = "") -> ScoreColumn:
        """Return the column of a measure of predictions."""
        label = measure.label
        return cls(label + suffix, measure.name, test, label, measure.parameters)


def imported(path: str) -> Any:
    """Import what a path such as ``simstudy.engine.task:Task`` names."""
    module, _, name = path.partition(":")
    return vars(importlib.import_module(module))[name]


class Experiment(Words, ABC):
    """One kind of study: its words, keys, scores, results and page.

    A study applies treatments to problems at several doses. Scores hold the label of the treatment
    in the column ``learner`` and the dose in ``size``, whatever the experiment.

    Attributes
    ----------
    treatments_key : str
        The attribute of a study and of a plan that holds the treatments.
    dose_key : str
        The same of the doses, and their key in ``[data]``.
    own_keys : tuple of str
        Keys of a study file that are for this experiment only.
    keeps : str
        The name of a table of results with what its cells keep beside their scores.
    keeps_answers : bool
        Whether its cells can keep the predictions of learners on one test set.
    shares : frozenset of str
        The scores (`ScoreColumn.test`) that are shares of choices, intervals or tests.
    task_path, results_path, page_path : str
        Classes that are imported on demand, see `imported`: the task of a problem, the results of
        a study, and its page.
    data_results_path, data_page_path : str
        The same for studies of data sets, if the experiment can be made on them.
    stream_role : str
        The role of the random stream of a cell, in which ``{dose}`` stands for the dose.
    data_defaults : mapping
        What is filled in for keys of ``[data]`` that a study file leaves out.
    check_path, data_check_path : str
        A function that refuses a study of models, or of data sets, that cannot be run; empty for
        none.
    splits_data : bool
        Whether it trains and tests on the splits of data sets; else it gets whole data sets.
    """

    treatments_key: ClassVar[str] = "learners"
    dose_key: ClassVar[str] = "train_sizes"
    own_keys: ClassVar[tuple[str, ...]] = ()
    keeps: ClassVar[str] = ""
    keeps_answers: ClassVar[bool] = False
    takes_orders: ClassVar[bool] = False  # such as two-level measures, which order two results
    shares: ClassVar[frozenset[str]] = frozenset()
    # The conditions of a plan that hold its treatments and its doses, which may grow.
    growing: ClassVar[tuple[str, str]] = ("treatments", "doses")
    task_path: ClassVar[str] = "simstudy.engine.task:Task"
    results_path: ClassVar[str] = "simstudy.results.read.model_analyses:ModelResults"
    page_path: ClassVar[str] = "simstudy.experiments.models_page:ModelsPage"
    data_results_path: ClassVar[str] = ""
    data_page_path: ClassVar[str] = ""
    check_path: ClassVar[str] = ""
    data_check_path: ClassVar[str] = ""
    splits_data: ClassVar[bool] = True
    stream_role: ClassVar[str] = "train/{dose}"
    data_defaults: ClassVar[Mapping[str, object]] = {}

    # Treatments and doses

    def treatments(self, design: Design) -> tuple[Spec, ...]:
        """Return what is compared."""
        return cast("tuple[Spec, ...]", attrgetter(self.treatments_key)(design))

    def doses(self, design: Design) -> tuple[int, ...]:
        """Return the doses."""
        return cast("tuple[int, ...]", attrgetter(self.dose_key)(design))

    def at_doses(self, plan: Plan, doses: Iterable[int]) -> Plan:
        """Return a plan with other doses."""
        changed: dict[str, Any] = {self.dose_key: tuple(doses)}
        return replace(plan, **changed)

    # The study file

    def completed(self, stated: StudyFile) -> StudyFile:
        """Return the content of a study file with `data_defaults`; evaluation is then exact."""
        if not (defaults := {**self.data_defaults}) or stated.datasets:
            return stated
        keys = stated.data.model_fields_set & {*defaults}
        defaults |= stated.data.model_dump(include=keys, exclude_none=True)
        data = stated.data.model_copy(update={"test_size": "exact", **defaults})
        return stated.model_copy(update={"data": data})

    def check(self, study: Study) -> None:
        """Refuse a study that cannot be run: `KeyedError` with the key at fault."""
        if path := self.data_check_path if study.datasets else self.check_path:
            imported(path)(study)

    def score_names(self, study: Study) -> list[str]:
        """Return the names of the scores, the primary one first."""
        return [column.name for column in self.columns(study)]

    def conditions(self, plan: Plan) -> dict[str, object]:
        """Return what the scores depend on besides learners, training sizes and measures."""
        return {
            "compare": self.name,
            "treatments": [[each.label, each.identity] for each in self.treatments(plan)],
            "doses": list(self.doses(plan)),
            "data.repeats": plan.repeats,
        }

    # Scores

    @abstractmethod
    def columns(self, design: Design) -> list[ScoreColumn]:
        """Return the columns of the scores, the primary one first."""

    @abstractmethod
    def info(self, plan: Plan, column: ScoreColumn) -> MeasureInfo:
        """Return what reports need to know of a column."""

    def task(self, plan: Plan, model: int) -> Task:
        """Return the task of one problem, whose `run_cell` scores a treatment at a dose."""
        return cast("Task", self.task_class(plan, model))

    @property
    def task_class(self) -> Any:
        """The class of tasks.

        If cells keep more than scores, it has ``unpacked(plan, text)``, which raises ValueError if
        a text that a cell keeps is damaged, and ``kept_columns(plan, keys, kept)``, the columns of
        the table `keeps`: ``keys`` has the doses and labels of the cells of a problem in their
        order, ``kept`` what cells keep, by their position among all cells.
        """
        return imported(self.task_path)

    def role(self, treatment: Spec, dose: int) -> str:
        """Return the role of the random stream that is recorded for a cell."""
        return self.stream_role.format(dose=dose)

    # Results and their page

    def results_class(self, study: Study) -> type[Results]:
        """Return the class of the results of a study, which has the analyses that apply to it."""
        path = self.data_results_path if study.datasets else self.results_path
        return cast("type[Results]", imported(path))

    def page(self, study: Study) -> Page[Any, Any]:
        """Return what the page of a study says and shows."""
        path = self.data_page_path if study.datasets else self.page_path
        return cast("Page[Any, Any]", imported(path)())
