"""Compare learners on tables in one call: data and learners of any kind become a study."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import simstudy
from simstudy.data.files.frames import is_frame
from simstudy.data.files.named import is_named
from simstudy.data.files.read import data_text, file_text, read_data_set, read_text_set
from simstudy.errors import SimstudyError
from simstudy.report.prose.phrases import listed
from simstudy.results.store.atomic_files import usable, write_files
from simstudy.study.constants import FILES
from simstudy.study.objects import learner_sections
from simstudy.study.study import make_study
from simstudy.workflow.run import RunOptions, run_study

if TYPE_CHECKING:
    from simstudy.experiments.learners.data_results import DataResults
    from simstudy.workflow.progress import Step

LEARNERS = ("discretized_naive_bayes", "tan", "aode")  # which get the same columns
_DATA = "a data frame, a path, a pair of arrays (X, y), or a list or dictionary of these"
_RESAMPLING = (
    "a scheme, a table, a number of folds, a splitter, or a list of pairs of training rows and "
    "test rows"
)


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
        Names of learners (``"tan"``, ``"sklearn.naive_bayes:GaussianNB"``); learners of this
        package; estimators, pipelines and searches with scikit-learn's methods; pairs of a label
        and one of these; tables with the keys of [[learners]], in which ``object`` stands for a
        name.
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
    files, stated = dict[str, bytes](), dict(settings or {})
    datasets = [_dataset(files, name, table, target) for name, table in _datasets(data)]
    names = [*map(_name, datasets)]
    content = {
        "title": f"Learners compared on {listed(names, 4)}",
        "seed": seed,
        "datasets": datasets,
        "resampling": _resampling(files, resampling, datasets),
        "measures": _measures(measures),
        "learners": learner_sections(learners),
        **stated,
    }
    if "name" not in stated:
        content["name"] = _study_name(names[0], content)
    place = Path(os.path.abspath(out or Path("results") / str(content["name"])))
    with usable(place):
        write_files({place / name: text for name, text in files.items()})
    study = make_study(content, place, "the comparison")
    return run_study(study, place, progress=progress, **options)  # type: ignore[return-value]


def _study_name(table: str, content: Mapping[str, Any]) -> str:
    """A name that only the same call with the same data has."""
    digest = hashlib.sha256(simstudy.__version__.encode())
    digest.update(json.dumps(content, default=str).encode())
    for section in content["datasets"]:
        if os.path.isfile(section["path"]):
            digest.update(Path(section["path"]).read_bytes())
    plain = re.sub(r"[^A-Za-z0-9_.-]", "_", table).lstrip("_.-")
    return f"{plain or 'data'}-{digest.hexdigest()[:8]}"


def _kept(files: dict[str, bytes], name: str, suffix: str, text: str) -> str:
    """Keep a text as a file of the results, named by its content; returns the path."""
    content, stem = text.encode(), re.sub(r"[^A-Za-z0-9_.-]", "_", name)
    path = f"{FILES}/{stem}-{hashlib.sha256(content).hexdigest()[:12]}{suffix}"
    files[path] = content
    return path


def _name(section: Mapping[str, Any]) -> str:
    """The name of a data set in results."""
    return str(section.get("name") or Path(section["path"]).name.split(".")[0].split(":")[-1])


def _datasets(data: Any) -> list[tuple[str, Any]]:
    """The data sets with their names, empty if they are to be called as their files."""
    if isinstance(data, Mapping) and "path" not in data:
        tables = [(str(name), table) for name, table in data.items()]
    else:
        several = isinstance(data, list) or (isinstance(data, tuple) and all(map(_is_path, data)))
        every, ends = (data, itertools.count(1)) if several else ([data], itertools.repeat(""))
        tables = [("" if _is_path(table) else f"data{next(ends)}", table) for table in every]
    if not tables:
        raise SimstudyError(f"data: there are none; data are {_DATA}")
    return tables


def _is_path(table: object) -> bool:
    stated = table.get("path") if isinstance(table, Mapping) else table
    return isinstance(stated, str | os.PathLike)


def _dataset(files: dict[str, bytes], name: str, table: Any, target: str | None) -> dict[str, Any]:
    """The section of a data set; what has no path is kept in a file."""
    from simstudy.data.files.arff import arff_text
    from simstudy.data.files.arrays import read_arrays
    from simstudy.data.files.assembly import ReadOptions

    section: dict[str, Any] = {"name": name} if name else {}
    section |= {"target": str(target)} if target is not None else {}
    if isinstance(table, Mapping):
        section, table = {**section, **table}, table["path"]
    stated = section.get("target")
    if _is_path(table):
        return {**section, "path": str(table) if is_named(table) else os.path.abspath(table)}
    if is_frame(table):
        text = data_text(table, ReadOptions(target=stated))
    elif isinstance(table, tuple) and len(table) == 2:
        raw, usual = read_arrays(*table)
        section["target"] = usual if stated is None else stated
        text = arff_text(raw, {}, section["target"])
    else:
        kind = type(table).__name__
        raise SimstudyError(f"data: an object of type {kind} cannot be read; data are {_DATA}")
    return {**section, "path": _kept(files, section.get("name", "data"), ".arff", text)}


def _resampling(
    files: dict[str, bytes], stated: Any, datasets: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """The section of the resampling; splits that are made or listed are kept in a file."""
    if stated is None or isinstance(stated, Mapping):
        section = dict(stated or {})
        if path := section.get("splits"):
            section["splits"] = _kept(files, "splits", ".csv", file_text(Path(path)))
        return section
    if isinstance(stated, str):
        return {"scheme": stated}
    if isinstance(stated, int) and not isinstance(stated, bool):
        return {"scheme": "cv", "folds": stated}
    if not (hasattr(stated, "split") or isinstance(stated, Iterable)):
        kind = type(stated).__name__
        raise SimstudyError(f"resampling: an object of type {kind} is not {_RESAMPLING}")
    from simstudy.data.files.assembly import ReadOptions
    from simstudy.data.splits.given import listed_splits, made_splits, splits_text

    splits, rows = {}, {}
    for section in datasets:
        kept = files.get(path := section["path"])
        reading = ReadOptions(**{k: v for k, v in section.items() if k not in ("path", "name")})
        data = read_text_set(kept.decode(), reading) if kept else read_data_set(path, reading)
        name = section.get("name") or data.name
        rows[name] = len(data.sample)
        if hasattr(stated, "split"):
            splits[name] = made_splits(stated, data.sample)
            continue
        dropped = len(data.without_target) + sum(data.other_classes.values())
        if dropped or len(datasets) > 1:
            why = f"{dropped} rows without a class are left out" if dropped else "there are several"
            text = "the rows of listed splits would not be those of the data"
            raise SimstudyError(f"resampling: {text}: {why}; give a splitter, or a table")
        splits[name] = listed_splits([*stated], rows[name])
    return {"splits": _kept(files, "splits", ".csv", splits_text(splits, rows))}


def _measures(stated: Any) -> dict[str, Any]:
    """The section of the measures."""
    if isinstance(stated, Mapping) and "name" not in stated:
        return dict(stated)
    if stated is None:
        stated = ["information_reward", "accuracy"]
    names = [stated] if isinstance(stated, str | Mapping) else stated
    if not isinstance(names, Iterable) or not (names := [*names]):
        text = f"{stated!r} is not the name of a measure, a list of names, or a table"
        raise SimstudyError(f"measures: {text}")
    return {"primary": names[0], "also": names[1:]}
