"""Reading what a study wrote; nothing that it names is looked up or executed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from simstudy.engine.evaluation import EXACT, SAMPLED
from simstudy.errors import SimstudyError, suggestion
from simstudy.experiments.base import ScoreColumn
from simstudy.measures.base import MeasureInfo
from simstudy.results.columns import cell_files
from simstudy.results.files import write_files
from simstudy.results.manifest import filled
from simstudy.results.recorded import foreign, recorded_study
from simstudy.results.store import COMPLETE, SHARD, Store
from simstudy.study.constants import ANSWERS, FAILURES, REFINED, SCORES, TIMINGS
from simstudy.texts import as_csv, counted, csv_text, summary

if TYPE_CHECKING:
    import pandas as pd

_KEYS = ["model", "size", "learner"]
_DATA_KEYS = ["dataset", "model", "repeat", "fold", "size", "learner"]


class Recorded:
    """The tables and settings of a complete study; see `Results`."""

    def __init__(self, directory: Path, reused: bool = True) -> None:
        self.directory = directory
        self.reused = reused
        self.note = ""
        manifest = Store(directory).manifest()
        status = "" if manifest is None else manifest["status"]
        if status.startswith(SHARD):
            raise SimstudyError(
                f"{directory} holds {status} of a study alone; simstudy merge joins all of them"
            )
        if manifest is None or status != COMPLETE:
            raise SimstudyError(f"{directory} holds no complete results of a study")
        self.manifest: dict[str, Any] = filled(manifest)
        self.study = recorded_study(directory)
        self.settings: dict[str, Any] = self.study.as_dict()

    def __repr__(self) -> str:
        failed = counted(self.manifest["failures"], "failed cell")
        sets = counted(len(self.study.datasets), "data set")
        parts = [
            sets if self.study.datasets else counted(self.study.models, "model"),
            counted(len(self.learners), self.study.experiment.treatment),
            counted(len(self.sizes), f"{self.study.experiment.dose} size"),
            *([failed] if self.manifest["failures"] else []),
        ]
        return summary(self, ", ".join(parts), f"in {str(self.directory)!r}")

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
    def doses(self) -> list[int]:
        """The doses, such as training sizes."""
        return self.study.doses

    @property
    def problems(self) -> int:
        """The number of problems that treatments are applied to: models or splits."""
        return self.study.models

    @property
    def learners(self) -> list[str]:
        """The labels of the learners, or of what else is compared."""
        return self.study.labels

    @property
    def sizes(self) -> list[int]:
        """The training sizes, or the doses of another kind of study."""
        return self.study.doses

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
        keys = self._keys if self.study.datasets else ["family", *_KEYS]
        return self._every_cell(SCORES, [*keys, *self.measures, "status"])

    @property
    def _keys(self) -> list[str]:
        return _DATA_KEYS if self.study.datasets else _KEYS

    @cached_property
    def answers(self) -> pd.DataFrame:
        """The class probabilities that each learner gave each test row, if the study kept them."""
        if not self.study.keep_answers:
            raise SimstudyError(f"{self.directory} has no answers; set keep_answers = true")
        return self._as_written(ANSWERS)

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
    def refined(self) -> pd.DataFrame:
        """The cells of sizes that were added around crossings; thresholds use them."""
        if not self.manifest["refined"]:
            return self.scores.iloc[:0]
        table = self._read(REFINED, list(self.scores.columns))
        known = table["learner"].isin(self.learners) & (table["size"] > 0)
        if not (known & table["model"].between(0, self.study.models - 1)).all():
            raise self._damaged(REFINED)
        return table

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
        """A table with a row for each cell, in the order of models, sizes and learners."""
        table = self._read(name, columns)
        models, sizes, labels = self.study.models, self.sizes, self.learners
        each = len(sizes) * len(labels)
        if len(table) != models * each or not (
            np.array_equal(table["model"], np.repeat(np.arange(models), each))
            and (
                bool(self.study.datasets)  # whose sizes are those of their training parts
                or np.array_equal(table["size"], np.tile(np.repeat(sizes, len(labels)), models))
            )
            and table["learner"].tolist() == labels * (models * len(sizes))
        ):
            raise self._damaged(name)
        return table

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
        if not Store(self.directory).is_as_written(name, self.manifest):
            raise self._damaged(name)
        return self.directory / name

    def check_files(self) -> None:
        """Refuse results in which a file made from the cells is missing or damaged."""
        for name in [*cell_files(self.study), *([REFINED] if self.manifest["refined"] else [])]:
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
