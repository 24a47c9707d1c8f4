"""Readings: ways to settle what the source of statements leaves open."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from simstudy.study.claims import Claim, Statement


@dataclass(frozen=True)
class Reading:
    """A variant of a whole list of studies.

    Attributes
    ----------
    label : str
        A few words for it.
    id : str
        The name of the directory for its results.
    override : mapping
        The settings that it changes in every study, as sections or by dotted key.
    margin_factor : float
        What the margins of the statements are multiplied by, where the unit of the measure is
        another one. Numbers of the source are kept, and so is the tolerance of "near" and
        "between".
    note : str
        What is known of it.
    post_hoc : bool
        Whether it was chosen after results had been seen.
    """

    label: str
    id: str = ""
    override: dict[str, Any] = field(default_factory=dict)
    margin_factor: float = 1.0
    note: str = ""
    post_hoc: bool = False

    @property
    def settings(self) -> str:
        """What it changes, as in a study file."""
        changed = [f"{key} = {json.dumps(value)}" for key, value in dotted_keys(self.override)]
        if self.margin_factor != 1:
            changed.append(f"margins × {self.margin_factor:g}")
        return ", ".join(changed)

    def read(self, statements: Sequence[Statement]) -> list[Statement]:
        """The statements with the margins that go with this reading."""

        def scaled(claim: Claim) -> Claim:
            kept = claim.relation in ("near", "between")
            return claim if kept else replace(claim, margin=claim.margin * self.margin_factor)

        return [replace(made, lines=[*map(scaled, made.lines)]) for made in statements]


def dotted_keys(sections: Mapping[str, Any], start: str = "") -> Iterator[tuple[str, Any]]:
    """The values of nested sections by dotted key."""
    for key, value in sections.items():
        if isinstance(value, Mapping):
            yield from dotted_keys(value, f"{start}{key}.")
        else:
            yield f"{start}{key}", value
