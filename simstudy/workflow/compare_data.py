"""Compare learners on tables in one call: data and learners of any kind become a study."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import simstudy
from simstudy.data.files.frames import is_frame
from simstudy.data.files.named import is_named
from simstudy.errors import SimstudyError
from simstudy.results.store.atomic_files import usable, write_files
from simstudy.study.constants import FILES
from simstudy.study.objects import learner_sections
from simstudy.study.study import make_study
from simstudy.workflow.run import RunOptions, run_study

if TYPE_CHECKING:
    from simstudy.data.files.assembly import RowsRead
    from simstudy.experiments.learners.data_results import DataResults
    from simstudy.workflow.progress import Step

LEARNERS = ("discretized_naive_bayes", "tan", "aode")  # which get the same columns
_DATA = "a data frame, a path, a pair of arrays (X, y), or a list or dictionary of these"
_RESAMPLING = (
    "a scheme, a table, a number of folds, a splitter, or a list of pairs of training rows and "
    "test rows"
)


@dataclass
class _Content:
    """The content of a study, and the files that its results keep."""

    sections: dict[str, Any]
    digest: str = ""
    files: dict[str, bytes] = field(default_factory=dict)

    def keep(self, name: str, suffix: str, text: str) -> str:
        """Keep a text as a file named by its content; returns the path."""
        content = text.encode()
        stem = re.sub(r"[^A-Za-z0-9_.-]", "_", name)
        path = f"{FILES}/{stem}-{hashlib.sha256(content).hexdigest()[:12]}{suffix}"
        self.files[path] = content
        return path


def compare(
    data: Any,
    target: str | None = None,
    learners: object = LEARNERS,
    *,
    resampling: object = None,
    measures: object = None,
    out: str | Path | None = None,
    seed: int = 1,
    settings: Mapping[str, object] | None = None,
    progress: Callable[[Step], object] | bool | None = None,
    **options: Unpack[RunOptions],
) -> DataResults:
    """Compare learners on a table, or on several, by resampling.

    The call is a study: it is saved with its results, and the same call finds them again. Where
    everything has a name, ``simstudy run`` of the saved ``study.toml`` gives the same bytes.

    Parameters
    ----------
    data : frame, path, (X, y) or several of these
        A data frame of pandas, Polars or Arrow, or any with the Arrow or the interchange protocol;
        a data file; a pair of arrays; or a list, or a dictionary with names, of these. A dictionary
        with the key ``path`` has keys of [[datasets]] beside it, such as ``ignore``.
    target : str, optional
        The column to predict; by default the last.
    learners : sequence
        Names of learners (``"tan"``, ``"sklearn.svm:SVC"``); learners of this package; estimators,
        pipelines and searches with scikit-learn's methods; pairs of a label and one of these;
        tables with the keys of [[learners]], in which ``object`` stands for a name.
    resampling : optional
        A scheme (``"5x2cv"``), a table with the keys of [resampling], a number of folds, a splitter
        of scikit-learn, or a list of pairs of training rows and test rows.
    measures : optional
        A measure, a list of them, the primary one first, or a table with the keys of [measures];
        by default ``information_reward`` and ``accuracy``.
    out : str or Path, optional
        The directory for the results; by default one below ``results`` with a digest of the call
        in its name, so that different calls do not collide.
    seed : int
        The seed of splits and learners.
    settings : mapping, optional
        Further keys and sections of a study file: ``{"preparation": {"discretize": "none"}}``.
    progress, **options
        As in `simstudy.run_study`.

    Returns
    -------
    DataResults
        ``scores`` has a row for each learner and split.

    Raises
    ------
    SimstudyError
        Says in one sentence what is wrong.
    """
    study, place, files = comparison(
        data, target, learners, resampling, measures, out, seed, settings
    )
    with usable(place):
        write_files({place / name: text for name, text in files.items()})
    made = make_study(study, place, "the comparison")
    return run_study(made, place, progress=progress, **options)  # type: ignore[return-value]


def comparison(
    data: Any,
    target: str | None,
    learners: object,
    resampling: object,
    measures: object,
    out: str | Path | None,
    seed: int,
    settings: Mapping[str, object] | None,
) -> tuple[dict[str, Any], Path, dict[str, bytes]]:
    """The study of a call, the directory of its results, and the files they keep."""
    content = _Content({"name": "comparison", "seed": seed})
    tables = _datasets(data)
    read = [_dataset(content, name, table, target) for name, table in tables]
    sections = [section for section, _ in read]
    content.sections |= {
        "datasets": sections,
        "resampling": _resampling(content, resampling, read),
        "measures": _measures(measures),
        "learners": learner_sections(learners),
        **(settings or {}),
    }
    if "name" not in (settings or {}):
        named = re.sub(r"[^A-Za-z0-9_.-]", "_", _name(sections[0])).lstrip("_.-") or "data"
        text = json.dumps([simstudy.__version__, content.digest, content.sections], default=str)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        content.sections["name"] = f"{named}-{digest}"
    place = Path("results") / str(content.sections["name"]) if out is None else Path(out)
    return content.sections, Path(os.path.abspath(place)), content.files


def _name(section: Mapping[str, Any]) -> str:
    """The name of a data set in results."""
    return str(section.get("name") or Path(section["path"]).name.split(".")[0].split(":")[-1])


def _datasets(data: Any) -> list[tuple[str, Any]]:
    """The data sets with their names, empty if they are to be called as their files."""
    if isinstance(data, Mapping) and "path" not in data:
        tables = [(str(name), table) for name, table in data.items()]
    elif isinstance(data, list) or (
        isinstance(data, tuple) and all(isinstance(each, str | os.PathLike) for each in data)
    ):
        numbers = itertools.count(1)
        tables = [("" if _is_path(table) else f"data{next(numbers)}", table) for table in data]
    else:
        tables = [("" if _is_path(data) else "data", data)]
    if not tables:
        raise SimstudyError(f"data: there are none; data are {_DATA}")
    return tables


def _is_path(table: object) -> bool:
    stated = table.get("path") if isinstance(table, Mapping) else table
    return isinstance(stated, str | os.PathLike)


def _dataset(
    content: _Content, name: str, table: Any, target: str | None
) -> tuple[dict[str, Any], Callable[[], RowsRead]]:
    """The section of a data set, and a function that reads it."""
    from simstudy.data.files.arff import arff_text
    from simstudy.data.files.arrays import read_arrays
    from simstudy.data.files.assembly import ReadOptions
    from simstudy.data.files.read import data_text, read_data_set, read_text_set

    section: dict[str, Any] = {"name": name} if name else {}
    section |= {"target": target} if target is not None else {}
    if isinstance(table, Mapping):
        section, table = {**section, **table}, table["path"]
    stated = section.get("target")

    def options() -> ReadOptions:
        keys = {key: value for key, value in section.items() if key not in ("path", "name")}
        return ReadOptions(**keys)

    if _is_path(table):
        if is_named(table):
            return {**section, "path": str(table)}, lambda: read_data_set(table, options())
        path = Path(os.path.abspath(table))
        if path.is_file():
            content.digest += hashlib.sha256(path.read_bytes()).hexdigest()
        return {**section, "path": str(path)}, lambda: read_data_set(path, options())
    if is_frame(table):
        text = data_text(table, ReadOptions(target=stated))
    elif isinstance(table, tuple) and len(table) == 2:
        raw, usual = read_arrays(*table)
        section["target"] = usual if stated is None else stated
        text = arff_text(raw, {}, section["target"])
    else:
        kind = type(table).__name__
        raise SimstudyError(f"data: an object of type {kind} cannot be read; data are {_DATA}")
    section["path"] = content.keep(section.get("name", "data"), ".arff", text)
    return section, lambda: read_text_set(text, options())


def _resampling(
    content: _Content,
    stated: Any,
    read: Sequence[tuple[dict[str, Any], Callable[[], RowsRead]]],
) -> dict[str, Any]:
    """The section of the resampling; splits that are made or listed are kept in a file."""
    if stated is None or isinstance(stated, Mapping):
        return dict(stated or {})
    if isinstance(stated, str):
        return {"scheme": stated}
    if isinstance(stated, int) and not isinstance(stated, bool):
        return {"scheme": "cv", "folds": stated}
    if not (hasattr(stated, "split") or isinstance(stated, Iterable)):
        kind = type(stated).__name__
        raise SimstudyError(f"resampling: an object of type {kind} is not {_RESAMPLING}")
    from simstudy.data.splits.given import listed_splits, made_splits, splits_text

    splits, rows = {}, {}
    for section, reader in read:
        data = reader()
        name = section.get("name") or data.name
        rows[name] = len(data.sample)
        if hasattr(stated, "split"):
            splits[name] = made_splits(stated, data.sample)
            continue
        dropped = len(data.without_target) + sum(data.other_classes.values())
        if dropped or len(read) > 1:
            why = f"{dropped} rows without a class are left out" if dropped else "there are several"
            text = "the rows of listed splits would not be those of the data"
            raise SimstudyError(f"resampling: {text}: {why}; give a splitter, or a table")
        splits[name] = listed_splits([*stated], rows[name])
    return {"splits": content.keep("splits", ".csv", splits_text(splits, rows))}


def _measures(stated: Any) -> dict[str, Any]:
    """The section of the measures."""
    if isinstance(stated, Mapping) and "name" not in stated:
        return dict(stated)
    if stated is None:
        stated = ["information_reward", "accuracy"]
    listed = [stated] if isinstance(stated, str | Mapping) else stated
    if not isinstance(listed, Iterable) or not (listed := [*listed]):
        text = f"{stated!r} is not the name of a measure, a list of names, or a table"
        raise SimstudyError(f"measures: {text}")
    return {"primary": listed[0], "also": listed[1:]}
