"""What a page says: single statements, wherever they stand."""

from __future__ import annotations

from typing import Any, NamedTuple


class Said(NamedTuple):
    """One statement that a page or a terminal makes.

    Attributes
    ----------
    where
        The part of the page, such as "finding" or "bands".
    kind
        What is stated; `Truth.fault` has the kinds of models, `DataTruth.fault` those of data sets.
    who, whom, size, value
        Whom it is about, where, and the numbers with it.
    """

    where: str
    kind: str
    who: Any = ""
    whom: Any = ""
    size: Any = 0
    value: Any = None


class Names(NamedTuple):
    """Labels that are named, and how many more are only counted ("and 3 others")."""

    named: tuple[str, ...]
    others: int = 0

    def fault(self, expected: set[str]) -> str:
        """Return how they differ from a set of labels."""
        if {*self.named} <= expected and len(self.named) + self.others == len(expected):
            return ""
        return f"names {self.named} and {self.others} others, not {sorted(expected)}"
