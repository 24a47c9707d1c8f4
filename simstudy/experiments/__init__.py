"""The experiments: what a study compares, by the value of ``compare`` in its file.

Each has a folder, or a file: its words, the keys of its study files, how its cells are scored,
what its results can tell and what its page shows. Everything else speaks of treatments, doses and
problems only.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache

from simstudy.errors import SimstudyError, suggestion
from simstudy.experiments.base import AnyTreatment, Experiment, Words

DEFAULT = "learners"  # which study files and results need not name
# Imported on demand; what they need is imported when a study of theirs is planned or shown.
_BUILTIN = {
    "learners": "simstudy.experiments.learners:Learners",
    "measures": "simstudy.experiments.measures:Measures",
    "estimators": "simstudy.experiments.estimators:Estimators",
    "tests": "simstudy.experiments.tests:Tests",
}
_registered: dict[str, Experiment] = {}


def names() -> list[str]:
    """The values of ``compare``, the default first."""
    return [*_BUILTIN, *_registered]


def experiment(name: str) -> Experiment:
    """The experiment of a name; an error with suggestions if there is none."""
    if name in _BUILTIN:
        return _builtin(name)
    if not is_known(name):
        raise SimstudyError(
            f'"{name}" is no experiment{suggestion(name, names())}; one of a plugin is known once '
            "the plugin is imported"
        )
    return _registered[name]


def is_known(name: str) -> bool:
    """Whether there is an experiment of a name, built in or of a package or plugin."""
    if name not in names():
        from simstudy.study.registry import load_entry_points

        load_entry_points()
    return name in names()


@cache
def _builtin(name: str) -> Experiment:
    module, cls = _BUILTIN[name].split(":")
    made: Experiment = vars(importlib.import_module(module))[cls]()
    return made


def register_experiment(added: Experiment) -> None:
    """Make an experiment known to studies, which name it by ``compare``."""
    known = _registered.get(added.name)
    if added.name in _BUILTIN or (known and type(known).__qualname__ != type(added).__qualname__):
        raise SimstudyError(f"an experiment named '{added.name}' is known already")
    _registered[added.name] = added


def shared_words(words: Sequence[Words]) -> Words:
    """The words of all studies; for studies that compare different things, words for any."""
    return words[0] if len({*words}) == 1 else AnyTreatment()


def foreign_keys(of: Experiment) -> dict[str, list[str]]:
    """The keys of study files that are for other experiments only, and the names of these."""
    owners: dict[str, list[str]] = {}
    for other in map(experiment, names()):
        for key in other.own_keys:
            owners.setdefault(key, []).append(other.name)
    return {key: known for key, known in owners.items() if of.name not in known}
