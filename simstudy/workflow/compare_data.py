"""Compare learners on tables in one call: data and learners of any kind become a study."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, Unpack

import numpy as np

import simstudy
from simstudy.components.registry import OBJECT
from simstudy.data.files.frames import is_frame, read_frame
from simstudy.data.files.named import is_named
from simstudy.data.files.read import file_text, read_data_set
from simstudy.errors import SimstudyError
from simstudy.report.prose.phrases import listed
from simstudy.results.store.atomic_files import usable, write_files
from simstudy.results.store.folder import Folder
from simstudy.study.constants import FILES, STUDY
from simstudy.study.objects import learner_sections
from simstudy.study.study import make_study
from simstudy.workflow.run import RunOptions, run_study

if TYPE_CHECKING:
    from simstudy.data.files.assembly import RowsRead
    from simstudy.experiments.learners.data_results import DataResults
    from simstudy.results.read.base import Results
    from simstudy.workflow.progress import Step

    # The section of a data set, and what reads it.
    _Read: TypeAlias = tuple[dict[str, Any], Callable[[], RowsRead]]

LEARNERS = ("discretized_naive_bayes", "tan", "aode")  # which get the same columns
_ARRAY_REFUSED = ("ndarray", "for dataframes", "only integers, slices")  # in errors
_DATA = "a data frame, a path, a pair of arrays (X, y), or a list or dictionary of these"
_RESAMPLING = (
    "a scheme, a table, a number of folds, a splitter, or a list of pairs of training rows and "
    "test rows"
)


class ComparisonWarning(UserWarning):
    """A learner of a comparison failed in every split."""


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
        with the key ``path``, which may be a frame, has keys of [[datasets]] beside it:
        ``{"path": frame, "ignore": ["id"], "groups": "patient"}``.
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
        in its name, so that different calls do not collide. A function without a name counts as
        another one if it stands on another line, and a splitter without a random state makes other
        splits in each call: neither finds the earlier results.
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
    arguments = {"learners": learners is not LEARNERS, "seed": seed != 1, "datasets": True}
    arguments |= {"resampling": resampling is not None, "measures": measures is not None}
    files, stated = dict[str, bytes](), _stated(settings, arguments)
    if not isinstance(out, str | os.PathLike | None):
        raise SimstudyError(f"out: {out!r} is not the path of a directory")
    read = [_dataset(files, name, table, target) for name, table in _datasets(data)]
    names = [_name(section) for section, _ in read]
    sections = learner_sections(learners)
    content = {
        "title": f"Learners compared on {listed(names, 4)}",
        "seed": seed,
        "datasets": [section for section, _ in read],
        "resampling": _resampling(files, resampling, read),
        "measures": _measures(measures),
        "learners": sections,
        **stated,
    }
    if "name" not in stated:
        content["name"] = _study_name(names[0], content)
    place = Path(os.path.abspath(out or Path("results") / str(content["name"])))
    with _stored(place, files):
        try:
            study = make_study(content, place, "the comparison")
        except SimstudyError:
            for section, reader in read:
                if section["path"] in files:
                    reader()  # says where in a frame the error is, if it is there
            raise
        results = run_study(study, place, progress=progress, **options)
    for text in failed_everywhere(results):
        warnings.warn(text, ComparisonWarning, stacklevel=2)
    results.note = "; ".join(filter(None, [results.note, *_once(sections, resampling)]))
    return results  # type: ignore[return-value]


@contextlib.contextmanager
def _stored(place: Path, files: Mapping[str, bytes]) -> Iterator[None]:
    """Write files to a directory; if no study there uses them in the end, they are removed."""
    folder, new = Folder(place), [name for name in files if not (place / name).exists()]
    created = [path for path in (place, place.parent) if not path.exists()]
    try:
        with usable(place):
            write_files({place / name: text for name, text in files.items()})
        yield
    except BaseException:
        study = place / STUDY
        used = study.read_text(encoding="utf-8") if study.is_file() else ""
        with contextlib.suppress(OSError, SimstudyError):
            for name in new:
                if name not in used:
                    folder.remove_below(name)
            for path in created:
                path.rmdir()  # if it is empty
        raise


def _stated(settings: object, arguments: Mapping[str, bool]) -> dict[str, object]:
    """The further settings; those that are arguments as well are refused."""
    if not isinstance(settings, Mapping | None):
        kind = type(settings).__name__
        raise SimstudyError(f"settings: it must be a dictionary of keys and sections, not a {kind}")
    for key in settings or {}:
        if arguments.get(key):
            argument = "data" if key == "datasets" else key
            text = f"'{key}' is stated by the argument {argument} as well; state it once"
            raise SimstudyError(f"settings: {text}")
    return dict(settings or {})


def failed_everywhere(results: Results) -> list[str]:
    """A sentence on each learner that failed in every split, with its first error."""
    cells, texts = results.problems * len(results.doses), []
    for learner, failed in results.failures.groupby("learner", sort=False):
        if len(failed) == cells:
            error = failed["error"].iloc[0]
            hint = '; if it takes data frames only, give {"object": …, "encode": "frame"}'
            wants_frame = any(mark in error for mark in _ARRAY_REFUSED)
            texts.append(f"{learner} failed in every split: {error}{hint * wants_frame}")
    return texts


def _once(learners: Iterable[Mapping[str, Any]], splitter: object) -> list[str]:
    """Why the same call may not find the results again."""
    again = "the same call does not find these results again"
    unnamed = [each["label"] for each in learners if str(each.get("name")).startswith(OBJECT)]
    texts = [f"{listed(unnamed)} has no name: if its code moves to another line, {again}"]
    drawn = hasattr(splitter, "split") and getattr(splitter, "shuffle", True)
    drawn = drawn and getattr(splitter, "random_state", 0) is None
    return texts * bool(unnamed) + [f"the splitter has no random_state: {again}"] * drawn


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


def _dataset(files: dict[str, bytes], name: str, table: Any, target: str | None) -> _Read:
    """The section of a data set, and a function that reads it."""
    from simstudy.data.files.arff import arff_text
    from simstudy.data.files.arrays import read_arrays
    from simstudy.data.files.assembly import Assembly, ReadOptions

    section: dict[str, Any] = {"name": name} if name else {}
    section |= {"target": str(target)} if target is not None else {}
    if isinstance(table, Mapping):
        if "path" not in table:
            keys = listed([*map(repr, table)], 4) or "none"
            raise SimstudyError(f"data: a table of a data set needs the key 'path'; it has {keys}")
        section, table = {**section, **table}, table["path"]
    stated = section.get("target")

    def options() -> ReadOptions:
        known = ReadOptions.__dataclass_fields__  # the study refuses others
        return ReadOptions(**{key: value for key, value in section.items() if key in known})

    if _is_path(table):
        path = str(table) if is_named(table) else os.path.abspath(table)
        return {**section, "path": path}, lambda: read_data_set(path, options())
    if is_frame(table):
        markers = section.get("missing_values")
        raw = read_frame(table, markers is None)
        if isinstance(markers, list | tuple):  # what is missing in a frame is written as ?
            section["missing_values"] = [*markers, "?"]
    elif isinstance(table, tuple) and len(table) == 2:
        raw, usual = read_arrays(*table)
        section["target"] = usual if stated is None else stated
    else:
        kind = type(table).__name__
        lazy = "; call its method .collect()" if hasattr(table, "collect") else ""
        text = f"an object of type {kind} cannot be read{lazy}; data are {_DATA}"
        raise SimstudyError(f"data: {text}")
    if name not in ("", "data"):
        raw.source += f" '{name}'"
    text = arff_text(raw, {}, section.get("target"))
    section["path"] = _kept(files, section.get("name", "data"), ".arff", text)
    return section, lambda: Assembly(raw, options(), {}).data_set()


def _resampling(files: dict[str, bytes], stated: Any, read: Sequence[_Read]) -> dict[str, Any]:
    """The section of the resampling; splits that are made or listed are kept in a file."""
    if stated is None or isinstance(stated, Mapping):
        section = dict(stated or {})
        if path := section.get("splits"):
            section["splits"] = _kept(files, "splits", ".csv", file_text(Path(path)))
        return section
    if isinstance(stated, str):
        return {"scheme": stated}
    if isinstance(stated, int | np.integer) and not isinstance(stated, bool):
        return {"scheme": "cv", "folds": int(stated)}
    if isinstance(stated, type):
        text = f"the class {stated.__name__} is not {_RESAMPLING}; make one with"
        raise SimstudyError(f"resampling: {text} {stated.__name__}()")
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
