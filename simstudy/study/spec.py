"""What a study names: a family, a change, a learner, a measure, an estimator or a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simstudy.data.preparation import Preparation


@dataclass(frozen=True)
class Spec:
    """A component of a study: its name, its parameters and its identity.

    Attributes
    ----------
    name : str
        In the registry of its kind.
    parameters : mapping
        As the study states them; of a parameter that is a file, its text.
    identity : str
        Name and non-default parameters as canonical JSON; it seeds random streams.
    label : str
        In scores and reports; empty for a family or a change.
    resolved : mapping
        The parameters with defaults, except those that TOML cannot represent.
    files : tuple of (str, str)
        Parameters that are files, with the names of their copies in results.
    stated_preparation : mapping, optional
        How rows are prepared for this learner only, as far as the study states it.
    preparation : Preparation, optional
        How rows are prepared for this learner, once planned.
    accepts : frozenset of str
        What is left unprepared.
    """

    name: str
    parameters: Mapping[str, Any]
    identity: str
    label: str = ""
    resolved: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[tuple[str, str], ...] = ()
    stated_preparation: Mapping[str, Any] | None = None
    preparation: Preparation | None = None
    accepts: frozenset[str] = frozenset()
