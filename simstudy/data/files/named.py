"""Data sets by name, wherever the path of a data file is allowed.

``openml:31`` or ``openml:credit-g`` are sets of OpenML, fetched by scikit-learn and kept in its
cache; ``sklearn:iris`` comes with scikit-learn, ``uci:iris`` with simstudy.
"""

from __future__ import annotations

import os
import re
import socket
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simstudy.data.files.columns import shown
from simstudy.errors import SimstudyError, reason, suggestion

if TYPE_CHECKING:
    import pandas as pd

_NAMED = re.compile(r"(openml|sklearn|uci):(.*)", re.DOTALL)
_OPENML_NAME = re.compile(r"[\w.()+-]{1,200}", re.ASCII)
_MAX_DIGITS = 9  # of a number at OpenML
_SKLEARN = ("breast_cancer", "digits", "iris", "wine")
_UCI = Path("studies", "data", "uci")
_TIMEOUT = 30  # seconds without an answer


@dataclass(frozen=True)
class NamedSet:
    """A data set with a name: what it is called, its file or frame, and its target if known."""

    name: str
    source: str
    content: Path | pd.DataFrame
    target: str | None = None


def is_named(path: str | os.PathLike[str]) -> bool:
    """Whether a path is the name of a data set, such as ``uci:iris``."""
    return bool(_NAMED.fullmatch(os.fspath(path)))


def within(directory: Path, path: str) -> Path:
    """Return a path as seen from a directory; the name of a data set is the same everywhere."""
    return Path(path) if is_named(path) else directory / path


def named_set(path: str | os.PathLike[str]) -> NamedSet:
    """Return the data set of a name."""
    match = _NAMED.fullmatch(os.fspath(path))
    assert match is not None, "it is a name"
    origin, name = match.groups()
    if origin == "openml":
        return _of_openml(name)
    package = Path(__file__).parents[2]
    # In a wheel the files are part of the package, in a checkout beside it.
    folders = (package / _UCI, package.parent / _UCI)
    files = {file.name.split(".")[0]: file for at in folders for file in at.glob("*.csv.gz")}
    names = files if origin == "uci" else _SKLEARN
    if name not in names:
        near = suggestion(name, names)
        raise SimstudyError(f"no data set '{shown(name)[1:-1]}' in {origin}{near}")
    if origin == "uci":
        return NamedSet(name, str(files[name]), files[name])
    from sklearn import datasets

    frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return NamedSet(name, f"sklearn:{name}", frame, "target")


def _of_openml(name: str) -> NamedSet:
    number = name.isdecimal() and len(name) <= _MAX_DIGITS
    if not _OPENML_NAME.fullmatch(name) or (name.isdecimal() and not number):
        allowed = "a number, as in openml:31, or a name, as in openml:credit-g"
        raise SimstudyError(f"a data set of OpenML has {allowed}, not {shown(name)}")
    from sklearn.datasets import fetch_openml, get_data_home

    key = {"data_id": int(name)} if number else {"name": name, "version": "active"}
    try:
        with _patient():
            bunch = fetch_openml(**key, as_frame=True)
    except OSError as error:
        cause = getattr(error, "reason", None)
        why = reason(cause if isinstance(cause, BaseException) else error)
        where = f"is not in scikit-learn's cache, {get_data_home()}"
        raise SimstudyError(f"openml:{name} {where}, and OpenML does not send it: {why}") from error
    except Exception as error:  # e.g. no set of this name, a wrong checksum, or no table
        raise SimstudyError(f"openml:{name} cannot be read from OpenML: {error}") from error
    about, targets = bunch.details, bunch.target_names
    source = f"openml:{about['id']} ({about['name']}, version {about['version']})"
    plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", about["name"]).strip("-.") or "openml"
    return NamedSet(plain, source, bunch.frame, targets[0] if len(targets) == 1 else None)


@contextmanager
def _patient() -> Iterator[None]:
    """Wait for a server for a while only; without warnings, as the source says what was taken."""
    usual = socket.getdefaulttimeout()
    socket.setdefaulttimeout(_TIMEOUT)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        socket.setdefaulttimeout(usual)
