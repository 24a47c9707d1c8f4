"""The experiments: what a study compares, by the value of ``compare`` in its file.

Each has a folder, or a file: its words, the keys of its study files, how its cells are scored,
what its results can tell and what its page shows. Everything else speaks of treatments, doses and
problems only.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

from simstudy.errors import SimstudyError, suggestion
from simstudy.experiments.base import AnyTreatment, Experiment, Words, imported

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
            f'no experiment "{name}"{suggestion(name, names())}; import the plugin that defines it'
        )
    return _registered[name]


def is_known(name: str) -> bool:
    """Whether there is an experiment of a name, built in or of a package or plugin."""
    if name not in names():
        from simstudy.components.registry import load_entry_points

        load_entry_points()
    return name in names()


@cache
def _builtin(name: str) -> Experiment:
    return cast("Experiment", imported(_BUILTIN[name])())


def register_experiment(added: Experiment) -> None:
    """Make an experiment known to studies, which name it by ``compare``."""
    earlier = _registered.get(added.name, added)
    if added.name in _BUILTIN or type(earlier).__qualname__ != type(added).__qualname__:
        raise SimstudyError(f"an experiment named '{added.name}' is already registered")
    _registered[added.name] = added


def shared_words(words: Sequence[Words]) -> Words:
    """The words of all studies; for studies that compare different things, words for any."""
    return words[0] if len({*words}) == 1 else AnyTreatment()


def foreign_keys(of: Experiment) -> dict[str, list[str]]:
    """The keys of study files that are for other experiments only, and the names of these."""
    keys = {name: experiment(name).own_keys for name in names()}
    every = dict.fromkeys(key for own_keys in keys.values() for key in own_keys)
    owners = {key: [name for name in keys if key in keys[name]] for key in every}
    return {key: names for key, names in owners.items() if of.name not in names}
