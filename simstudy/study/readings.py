"""Readings: interpretations of what the source of statements leaves open."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from simstudy.study.claims import Statement


@dataclass(frozen=True)
class Reading:
    """A variant of a list of studies."""

    label: str
    id: str = ""  # the directory of its results
    override: dict[str, object] = field(default_factory=dict)  # for every study, by section
    # For measures in another unit; the tolerances of "near" and "between" do not change.
    margin_factor: float = 1.0
    note: str = ""
    post_hoc: bool = False  # whether it was chosen after results had been seen

    @property
    def settings(self) -> str:
        """Its overrides, as in a study file."""
        changed = [f"{key} = {json.dumps(value)}" for key, value in dotted_keys(self.override)]
        if self.margin_factor != 1:
            changed.append(f"margins × {self.margin_factor:g}")
        return ", ".join(changed)

    def read(self, statements: Sequence[Statement]) -> list[Statement]:
        """The statements with the margins of this reading."""
        factor = self.margin_factor
        return [
            replace(one, lines=[claim.scaled(factor) for claim in one.lines]) for one in statements
        ]


def dotted_keys(sections: Mapping[str, object], start: str = "") -> Iterator[tuple[str, object]]:
    """The values of nested sections by dotted key."""
    for key, value in sections.items():
        if isinstance(value, Mapping):
            yield from dotted_keys(value, f"{start}{key}.")
        else:
            yield f"{start}{key}", value
