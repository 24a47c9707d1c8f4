"""The results of any study: what it wrote, read without executing anything that it names."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np

from simstudy.engine.evaluation import EXACT, SAMPLED
from simstudy.errors import SimstudyError, suggestion
from simstudy.experiments.base import ScoreColumn
from simstudy.measures.base import MeasureInfo
from simstudy.results.columns import written_files
from simstudy.results.files import write_files
from simstudy.results.folder import Folder
from simstudy.results.manifest import filled
from simstudy.results.recorded import foreign
from simstudy.results.store import COMPLETE, SHARD
from simstudy.study.constants import FAILURES, SCORES, STUDY, TIMINGS
from simstudy.study.sizes import size_text
from simstudy.study.study import Study, load_study
from simstudy.texts import as_csv, counted, csv_text, summary

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.analysis.findings import Findings
    from simstudy.engine.plan import Plan

_KEYS = ("model", "size", "learner")


def complete_manifest(directory: Path) -> dict[str, Any]:
    """The manifest of complete results; any others are refused."""
    manifest = Folder(directory).manifest()
    status = "" if manifest is None else manifest["status"]
    if status.startswith(SHARD):
        raise SimstudyError(
            f"{directory} holds {status} of a study alone; simstudy merge joins all of them"
        )
    if manifest is None or status != COMPLETE:
        raise SimstudyError(f"{directory} holds no complete results of a study")
    return filled(manifest)


class Results(ABC):
    """What a study found, whatever it compares; `open_results` returns the class of its kind.

    Attributes
    ----------
    directory : Path
        Where the files are.
    study : Study
        The study as it was run. Opened from a directory, nothing that it names is looked up or
        executed.
    settings : dict
        The same as a dictionary, section by section.
    manifest : dict
        What made the results: versions, seed, fingerprint, seconds.
    reused : bool
        Whether they were there already when the study was run.
    note : str
        What else should be known of how they were made; mostly empty.
    """

    _keys: ClassVar[tuple[str, ...]] = _KEYS  # columns that name a cell
    _score_keys: ClassVar[tuple[str, ...]] = ("family", *_KEYS)

    def __init__(
        self,
        directory: Path,
        study: Study,
        manifest: dict[str, Any],
        reused: bool = True,
        plan: Plan | None = None,
    ) -> None:
        self.directory = directory
        self.study = study
        self.settings = study.as_dict()
        self.manifest = manifest
        self.reused = reused
        self.note = ""
        self._run_plan = plan  # if the study was run in this session

    def __repr__(self) -> str:
        experiment, source = self.study.experiment, self.study.source
        failed = self.manifest["failures"]
        parts = [
            counted(source.units, source.unit),
            counted(len(self.treatments), experiment.treatment),
            counted(len(self.doses), experiment.size),
            *([counted(failed, "failed cell")] if failed else []),
        ]
        return summary(self, ", ".join(parts), f"in {str(self.directory)!r}")

    @abstractmethod
    def findings(self, measure: str | None = None) -> Findings:
        """What the analysis says about a measure, the primary one if left out."""

    @property
    def measures(self) -> list[str]:
        """The names of the measures, the primary one first."""
        return list(self.manifest["measures"])

    def column(self, name: str) -> ScoreColumn:
        """Which measure a column of the scores has, and on which test, exact or sampled."""
        given = self.manifest["columns"].get(name)
        if given is None:  # results of earlier versions, which have a suffix alone
            measure = name.removesuffix("_sampled")
            exact = self.is_exact and measure == name
            given = [measure, EXACT if exact else SAMPLED]
        return ScoreColumn(name, *given)

    @property
    def is_exact(self) -> bool:
        """Whether learners were evaluated exactly."""
        return not isinstance(self.study.data.test_size, int)

    @property
    def treatments(self) -> list[str]:
        """The labels of what is compared."""
        return self.study.labels

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
        """The labels of the learners, whether or not they are what is compared."""
        return [spec.label for spec in self.study.learners]

    @property
    def foreign(self) -> list[str]:
        """What the study names that is not simstudy's own: to run cells again executes that."""
        return foreign(self.settings)

    def info(self, measure: str | None = None) -> MeasureInfo:
        """What is known of a measure, its unit named for the base in use."""
        name = self._measure(measure)
        share = self.column(name).test in self.study.experiment.shares
        info = {"share": share, **self.manifest["measures"][name]}
        info.pop("mean", None)  # of earlier versions, which lack "share"
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

    @overload
    def to_csv(self) -> str: ...

    @overload
    def to_csv(self, path: str | Path) -> None: ...

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Write `scores` as CSV: one row for each cell, with every measure.

        Tables such as ``results.pairwise()`` have a ``to_csv`` of their own. Text that looks like a
        formula gets an apostrophe in front.

        Parameters
        ----------
        path : str or Path, optional
            The file; an existing one is replaced. If left out, the text is returned.
        """
        text = as_csv(self.scores)
        if path is None:
            return text
        try:
            write_files({Path(path): text.encode()})
        except OSError as error:
            reason = error.strerror or error
            raise SimstudyError(f"{path} cannot be written: {reason}") from error
        return None

    @cached_property
    def timings(self) -> pd.DataFrame:
        """Seconds that fitting and predicting took in each cell.

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
        models, sizes, labels = self.problems, len(self.doses), self.treatments
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
        """A table that is as it was written and has these columns, of numbers or of texts."""
        import pandas as pd

        numbers = dict.fromkeys(("model", "size", "repeat", "fold"), "i")
        numbers |= {"fit_seconds": "f", "predict_seconds": "f"}
        numbers |= dict.fromkeys(self.measures, "f")
        texts = [column for column in columns if column not in numbers]
        table = self._as_written(name, texts)
        if (
            list(table.columns) != columns
            or len({*columns}) < len(columns)
            or (
                len(table)
                and any(table[key].dtype.kind != numbers[key] for key in columns if key in numbers)
            )
            or any(pd.api.types.infer_dtype(table[key]) not in ("string", "empty") for key in texts)
        ):
            raise self._damaged(name)
        if name == FAILURES:
            for key in texts:
                table[key] = table[key].map(csv_text)
        return table

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
        return SimstudyError(
            f"{self.directory / name} is missing or damaged; run the study again, which makes it "
            "from the cells that are kept"
        )

    def _measure(self, name: str | None) -> str:
        """The measure of this name, the primary one if none is given."""
        if name is not None and name not in self.measures:
            raise SimstudyError(f"no measure '{name}' here{suggestion(name, self.measures)}")
        return name or self.measures[0]

    def _check_dose(self, size: int | None) -> None:
        """Refuse a dose that the study does not have."""
        known = self.study.doses
        if size is not None and size not in known:
            texts = [size_text(number) for number in (size, *known)]
            shown = [f"{int(text):,}" if text.isdecimal() else text for text in texts]
            text = f"no {self.study.experiment.size} {shown[0]} here; there are "
            raise SimstudyError(text + ", ".join(shown[1:]))

    @cached_property
    def _plan(self) -> Plan:
        """What was run; plugins are executed, if they are those that the results were made with."""
        from simstudy.engine.plan import make_plan

        return self._run_plan or make_plan(load_study(self.directory / STUDY))

    def about(self, kind: str, name: str) -> str:
        """What a component says of itself in a line; empty if it is not known.

        Parameters
        ----------
        kind : str
            ``"family"``, ``"change"``, ``"learner"`` or ``"measure"``.
        name : str
            As in the study.
        """
        line: str = self.manifest["about"].get(kind, {}).get(name, "")
        return line
