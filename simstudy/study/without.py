"""A study file without some of its data sets or learners."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath

from simstudy.errors import SimstudyError, suggestion


def without(content: Mapping[str, object], names: Sequence[str]) -> dict[str, object]:
    """Return the content of a study file without the data sets and learners of these names."""
    made, known = dict(content), []
    for key in ("datasets", "learners"):
        given = content.get(key)
        if not isinstance(given, list) or not all(isinstance(one, Mapping) for one in given):
            continue  # what is wrong with it is told when the study is read
        known += [_name(one) for one in given]
        made[key] = [one for one in given if _name(one) not in names]
    for name in names:
        if name not in known:
            text = f"--without: the study has no data set or learner '{name}'"
            raise SimstudyError(text + suggestion(name, [*filter(None, known)]))
    return made


def _name(section: Mapping[str, object]) -> str:
    """The name of a data set or learner in results."""
    if "path" in section:
        return str(section.get("name") or PurePath(str(section["path"])).name.split(".")[0])
    return str(section.get("label") or section.get("name"))
