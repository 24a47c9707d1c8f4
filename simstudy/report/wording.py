"""The words of a study that compares other things than learners after training.

Sentences, tables and charts are written for learners and training rows; those of another kind of
study say what its treatments and doses are instead.
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any, TypeVar

from markupsafe import Markup

from simstudy.experiments.base import Words

T = TypeVar("T")
_TEXT = re.compile(r">([^<>]+)<")  # between elements


def reworded(value: T, kind: Words) -> T:
    """Return texts, or what holds texts, in the words of a kind of study.

    Parameters
    ----------
    value : str, Markup, dict, list, tuple or dataclass
        Of markup, the text between elements is changed; other objects are left as they are.
    kind : Words
        The kind of study.
    """
    return value if kind.name == "learners" else _changed(value, kind)


def _changed(value: Any, kind: Words) -> Any:
    if isinstance(value, Markup):
        # the pattern leaves the markup alone, and the words have none
        return Markup(_TEXT.sub(lambda found: f">{_words(found[1], kind)}<", str(value)))
    if isinstance(value, str):
        return _words(value, kind)
    if isinstance(value, dict):
        return {key: _changed(one, kind) for key, one in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_changed(one, kind) for one in value))
    if isinstance(value, list | tuple):
        return type(value)(_changed(one, kind) for one in value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return dataclasses.replace(value, **{k: _changed(one, kind) for k, one in fields.items()})
    return value


def _words(text: str, kind: Words) -> str:
    text = re.sub(r"\btraining (?=rows?\b|sizes?\b)", f"{kind.dose} ", text)
    text = re.sub(r"\b(L|l)earner(?=s?\b)", lambda found: _like(found[1], kind.treatment), text)
    return text


def _like(letter: str, word: str) -> str:
    return word.capitalize() if letter.isupper() else word
