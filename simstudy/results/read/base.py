"""Results of a study of any kind, read without executing anything that the study names."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from simstudy.components.registry import DATA, MEASURES, registered
from simstudy.data.sizes import size_text
from simstudy.engine.evaluation import EXACT, SAMPLED
from simstudy.errors import SimstudyError, check_name
from simstudy.experiments.base import ScoreColumn
from simstudy.measures.base import MeasureInfo
from simstudy.results.store.atomic_files import write_text
from simstudy.results.store.columns import written_files
from simstudy.results.store.folder import Folder, damaged
from simstudy.study.constants import ANSWERS, FAILURES, SCORES, STUDY, TIMINGS
from simstudy.study.study import Study, load_study
from simstudy.texts import as_csv, counted, csv_text, summary

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.analysis.models.findings import Findings
    from simstudy.engine.plan import Plan
    from simstudy.results.read.curves import Curves
    from simstudy.results.read.ranked_answers import RankedAnswers

_KEYS = ("model", "size", "learner")


def foreign(settings: Mapping[str, Any]) -> list[str]:
    """The plugins and third-party components of a study; running it executes them."""
    entries = [settings["measures"]["primary"], *settings["measures"]["also"]]
    measures = [entry if isinstance(entry, str) else entry["name"] for entry in entries]
    kinds = ("changes", "learners", "estimators", "tests")
    names = {kind: [entry["name"] for entry in settings.get(kind, ())] for kind in kinds}
    names |= {"measures": measures, "families": [settings.get("family", {"name": DATA})["name"]]}
    named = [name for kind, name in registered(names) if not kind.is_own(name)]
    parameters = [{**learner, "name": "", "label": ""} for learner in settings["learners"]]
    return [*settings["plugins"], *named, *_wrapped_paths(parameters)]


def _wrapped_paths(value: object) -> list[str]:
    """Paths of classifiers in parameters, such as those of a learner that wraps another."""
    if isinstance(value, str):
        levels = value.split(":")  # of a two-level measure, or a path
        return [value] if len(levels) > 1 and not all(map(MEASURES.is_own, levels)) else []
    parts = [*value.values()] if isinstance(value, Mapping) else value
    if not isinstance(parts, list | tuple):
        return []
    return [path for part in parts for path in _wrapped_paths(part)]


@dataclass(eq=False, repr=False)
class Results(ABC):
    """Results of a study; `open_results` returns the subclass for its kind.

    Attributes
    ----------
    directory : Path
        The directory of the files.
    study : Study
        The study as it was run. If the results were opened from a directory, nothing that the
        study names is looked up or executed.
    manifest : dict
        Provenance of the results: versions, seed, fingerprint, seconds.
    reused : bool
        Whether existing results were reused when the study was run.
    note : str
        Remarks on how the results were made; usually empty.
    """

    _keys: ClassVar[tuple[str, ...]] = _KEYS  # columns that name a cell
    _score_keys: ClassVar[tuple[str, ...]] = ("family", *_KEYS)

    directory: Path
    study: Study
    manifest: dict[str, Any]
    reused: bool = True
    _run_plan: Plan | None = None  # if the study was run in this session
    note: str = ""

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The study as a dictionary, section by section."""
        return self.study.as_dict()

    def __repr__(self) -> str:
        experiment, source = self.study.experiment, self.study.source
        parts = [
            counted(source.units, source.unit),
            counted(len(self.treatments), experiment.treatment),
            counted(len(self.doses), experiment.size),
        ]
        if failed := self.manifest["failures"]:
            parts.append(counted(failed, "failed cell"))
        return summary(self, ", ".join(parts), f"in {str(self.directory)!r}")

    def _repr_html_(self) -> str:
        """What a notebook shows: the design, what was found, and the means."""
        from simstudy.report.tables.formats import notebook_summary

        return notebook_summary(self)

    @abstractmethod
    def findings(self, measure: str | None = None) -> Findings:
        """The findings for a measure; the primary one by default."""

    @property
    def measures(self) -> list[str]:
        """The names of the measures, the primary one first."""
        return list(self.manifest["measures"])

    def column(self, name: str) -> ScoreColumn:
        """The measure of a column of the scores, and its test, exact or sampled."""
        measure = name.removesuffix("_sampled")  # of 0.2, which recorded no columns
        test = EXACT if self.is_exact and measure == name else SAMPLED
        return ScoreColumn(name, *self.manifest["columns"].get(name, (measure, test)))

    @property
    def is_exact(self) -> bool:
        """Whether learners were evaluated exactly."""
        return not isinstance(self.study.data.test_size, int)

    @property
    def treatments(self) -> list[str]:
        """The labels of the treatments, which are compared."""
        return self.study.labels

    @property
    def shown(self) -> Results:
        """The same results, with the names of treatments on pages in place of their labels."""
        return self

    @property
    def doses(self) -> Sequence[float]:
        """The doses, such as training sizes: numbers of rows, or shares of a training part."""
        return self.study.doses

    @property
    def problems(self) -> int:
        """The number of problems that treatments are applied to: models or splits."""
        return self.study.problems

    @property
    def learners(self) -> list[str]:
        """The labels of the learners, whether or not they are the treatments."""
        return [spec.label for spec in self.study.learners]

    @property
    def foreign(self) -> list[str]:
        """Third-party components and plugins of the study; rerunning cells executes them."""
        return foreign(self.settings)

    def info(self, measure: str | None = None) -> MeasureInfo:
        """Properties of a measure, with the unit for the base in use."""
        name = self._measure(measure)
        share = self.column(name).test in self.study.experiment.shares
        info = {"share": share, **self.manifest["measures"][name]}
        info.pop("mean", None)  # of 0.2
        if info["unit"] == "nats":
            base, width = self.study.measures.base, info.get("equivalent")
            width = math.log(2) / 100 if width is None else width
            info["equivalent"] = width / (1.0 if base == "e" else math.log(float(base)))
            info["unit"] = {"e": "nats", 2.0: "bits", 10.0: "hartleys"}.get(base, f"base {base}")
        return MeasureInfo(**info)

    @cached_property
    def scores(self) -> pd.DataFrame:
        """One row for each cell."""
        return self._every_cell(SCORES, [*self._score_keys, *self.measures, "status"])

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Write `scores` as CSV: one row for each cell, with every measure.

        Tables such as ``results.pairwise()`` have their own ``to_csv``. Text that looks like a
        formula is prefixed with an apostrophe.

        Parameters
        ----------
        path : str or Path, optional
            The file, which is replaced if it exists. By default, the text is returned.
        """
        text = as_csv(self.scores)
        if path is None:
            return text
        write_text(path, text)
        return None

    @cached_property
    def timings(self) -> pd.DataFrame:
        """Seconds for fitting and predicting in each cell.

        A table that several learners share is counted once; its time is charged to each learner
        that uses it.
        """
        return self._every_cell(TIMINGS, [*self._keys, "fit_seconds", "predict_seconds"])

    @cached_property
    def failures(self) -> pd.DataFrame:
        """The cells that failed, and why."""
        return self._read(FAILURES, [*_KEYS, "status", "error", "stream", "traceback"])

    def _every_cell(self, name: str, columns: list[str]) -> pd.DataFrame:
        """A table with a row for each cell, in the order of problems, doses and treatments."""
        table = self._read(name, columns)
        models, sizes, labels = self.problems, len(self.doses), self.study.labels
        each = sizes * len(labels)
        if len(table) != models * each or not (
            np.array_equal(table["model"], np.repeat(np.arange(models), each))
            and self._has_sizes(table["size"])
            and table["learner"].tolist() == labels * (models * sizes)
        ):
            raise self._damaged(name)
        return table

    def _has_sizes(self, column: pd.Series[int]) -> bool:
        """Whether the sizes of all cells are those of the study."""
        each = np.repeat(self.study.doses, len(self.treatments))
        return np.array_equal(column, np.tile(each, self.problems))

    def _read(self, name: str, columns: list[str]) -> pd.DataFrame:
        """An undamaged table with these columns, of numbers or text."""
        import pandas as pd

        numbers = dict.fromkeys(("model", "size", "repeat", "fold"), "i")
        numbers |= dict.fromkeys(("fit_seconds", "predict_seconds", *self.measures), "f")
        texts = [column for column in columns if column not in numbers]
        table = self._as_written(name, texts)

        def is_valid(key: str) -> bool:
            if key in numbers:
                return table.empty or table[key].dtype.kind == numbers[key]
            return pd.api.types.infer_dtype(table[key]) in ("string", "empty")

        unique = len({*columns}) == len(columns)
        if list(table.columns) != columns or not (unique and all(map(is_valid, columns))):
            raise self._damaged(name)
        return table.assign(**{key: table[key].map(csv_text) for key in texts if name == FAILURES})

    def check_file(self, name: str) -> Path:
        """The path of a file made from the cells, which must have its checksum."""
        if not Folder(self.directory).is_as_written(name, self.manifest):
            raise self._damaged(name)
        return self.directory / name

    def check_files(self) -> None:
        """Refuse results in which a file made from the cells is missing or damaged."""
        for name in written_files(self.study, self.manifest):
            self.check_file(name)

    def _as_written(self, name: str, texts: Sequence[str] = ()) -> pd.DataFrame:
        """The table in a file made from the cells; of a CSV file some columns are texts."""
        import pandas as pd

        path = self.check_file(name)
        try:
            if path.suffix == ".csv":
                return pd.read_csv(path, keep_default_na=False, dtype=dict.fromkeys(texts, str))
            return pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise self._damaged(name) from error

    def _damaged(self, name: str) -> SimstudyError:
        return damaged(self.directory / name)

    def _measure(self, name: str | None) -> str:
        """The measure of this name; the primary one by default."""
        name = self.measures[0] if name is None else name
        check_name("measure", name, self.measures)
        return name

    def _check_dose(self, size: int | None) -> None:
        """Refuse a dose that the study does not have."""
        doses = self.study.doses
        if size is not None and size not in doses:
            texts = [size_text(number) for number in (size, *doses)]
            asked, *shown = [f"{int(text):,}" if text.isdecimal() else text for text in texts]
            kind = self.study.experiment.size
            raise SimstudyError(f"no {kind} {asked} here; there are {', '.join(shown)}")

    @cached_property
    def _plan(self) -> Plan:
        """The plan of the run; plugins are executed if they are those that made the results."""
        from simstudy.engine.plan import make_plan

        return self._run_plan or make_plan(load_study(self.directory / STUDY))

    def about(self, kind: str, name: str) -> str:
        """The one-line description of a component; empty if there is none.

        Parameters
        ----------
        kind : str
            ``"family"``, ``"change"``, ``"learner"`` or ``"measure"``.
        name : str
            As in the study.
        """
        return str(self.manifest["about"].get(kind, {}).get(name, ""))


class AnswerResults(Results):
    """Results of studies that can keep the predictions of learners; see `Results`."""

    _answer_keys: ClassVar[tuple[str, ...]]  # columns that name a cell of the answers

    @cached_property
    def answers(self) -> pd.DataFrame:
        """The class probabilities that each learner predicted for each test row, if kept."""
        return self._as_written(self._answers_file.name)

    @property
    def _answers_file(self) -> Path:
        """The file of the answers, undamaged."""
        if not self.study.keep_answers:
            raise SimstudyError(f"{self.directory} has no answers; rerun with keep_answers = true")
        return self.check_file(ANSWERS)

    def curves(
        self,
        kind: str = "roc",
        learners: Sequence[str] | None = None,
        size: float | None = None,
        positive: str | int | None = None,
        dataset: str | None = None,
        over: str | None = None,
        *,
        benefit: float | None = None,
        cost: float | None = None,
        fixed: float | None = None,
    ) -> Curves:
        """Curves of the learners, from the answers that a study with ``keep_answers`` has.

        On models: one curve for each model, averaged vertically, with that of the true
        probabilities; exact, weighted by the joint distribution, unless ``test_size`` is a number
        of rows. The models are drawn again if all components of the study are built in; otherwise
        exact curves are refused, and sampled ones have no curve of the true probabilities.

        On data sets: one curve for each repeat, of the answers of all its folds, averaged
        vertically, and the pooled one of all repeats.

        Parameters
        ----------
        kind : str
            ``"roc"``, ``"precision_recall"``, ``"lift"``, ``"cost"`` (the lower envelope),
            ``"profit"`` or ``"reliability"``.
        learners : sequence of str, optional
            Their labels; all if left out.
        size : int or float, optional
            The training size, on data sets also as a share of the training part; the largest if
            left out.
        positive : str or int, optional
            The positive class, on models its number, against the rest. If left out, the one that
            the study names, else the rarest of each model or of the data set.
        dataset : str, optional
            The data set; the first if left out.
        over : str, optional
            Of a data set: ``"repeats"``, or ``"folds"`` for a curve of each fold, in ``each`` of
            the returned object.
        benefit, cost, fixed : float, optional
            Of ``"profit"``: the benefit of each positive row, the cost of each row acted on and, if
            any, the cost of acting at all, all per row of the sample.
        """
        from simstudy.results.read.curves import make_curves

        ranked = self._ranked(dataset, over)
        options = {"benefit": benefit, "cost": cost, "fixed": fixed}
        return make_curves(self, ranked, kind, learners, size, positive, True, **options)

    @abstractmethod
    def _ranked(self, dataset: str | None = None, over: str | None = None) -> RankedAnswers:
        """The answers, which are ranked for each problem that curves are averaged over."""
