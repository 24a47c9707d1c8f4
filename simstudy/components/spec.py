"""What a study names: a family, a change, a learner, a measure, an estimator or a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from simstudy.data.preparation.prepare import Preparation


Built_co = TypeVar("Built_co", covariant=True)


class _Classes(Protocol[Built_co]):
    """A registry of classes."""

    def get(self, name: str) -> Callable[..., Built_co]: ...


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
        How rows are prepared for this learner only, where the study states it.
    preparation : Preparation, optional
        How rows are prepared for this learner, once planned.
    accepts : frozenset of str
        What is left unprepared.
    """

    name: str
    parameters: Mapping[str, object]
    identity: str
    label: str = ""
    resolved: Mapping[str, object] = field(default_factory=dict)
    files: tuple[tuple[str, str], ...] = ()
    stated_preparation: Mapping[str, Any] | None = None
    preparation: Preparation | None = None
    accepts: frozenset[str] = frozenset()


def build(registry: _Classes[Built_co], component: Spec) -> Built_co:
    """The family, change, learner, estimator or test with its parameters."""
    return registry.get(component.name)(**component.parameters)
