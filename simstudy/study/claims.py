"""Statements and claims about learners, as data."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal, TypeAlias

from simstudy.study.data_claims import DataClaim

Relation: TypeAlias = Literal[
    "beats", "not beaten by", "level", "above", "below", "near", "between"
]
PAIRS = ("beats", "not beaten by", "level")  # the relations between two learners
FIRST_AGAINST = ("beats", "not beaten by")  # those in which the order matters


@dataclass(frozen=True)
class Claim:
    """A claim about learners at some training sizes.

    Relations between learners are "beats" (is better), "not beaten by" (is worse by at most the
    margin) and "level" (differs by at most the margin). Relations of a learner's mean are "above"
    or "below" a value, "near" it, and "between" two values, each within the margin.

    Parameters
    ----------
    study : str
        The name of the study it is about.
    text : str
        The claim in words.
    relation : str
        The relation.
    learners : list of str
        The labels of the learners it is about.
    sizes : list of int
        The training sizes it is about.
    against : list of str, optional
        The learners compared with; "level" without any compares all pairs of the learners.
    value : list of float, optional
        One number, or two for "between".
    margin : float >= 0
        The largest difference that counts as none.
    source : str
        Where the source makes it.
    reading : str
        Assumptions that make it a statement about numbers.
    some : bool
        Whether one learner or pair at one size suffices; otherwise all must hold.
    measure : str
        The measure it is about; the primary one if empty.
    id : str
        A short name.
    """

    study: str
    text: str
    relation: Relation
    learners: list[str]
    sizes: list[int]
    against: list[str] | None = None
    value: list[float] | None = None
    margin: float = 0.0
    source: str = ""
    reading: str = ""
    some: bool = False
    measure: str = ""
    id: str = ""

    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of learners compared."""
        if self.against:
            return list(itertools.product(self.learners, self.against))
        return list(itertools.combinations(self.learners, 2))


@dataclass(frozen=True)
class Statement:
    """One statement of a source: claims that must all hold."""

    text: str
    lines: list[Claim] | list[DataClaim]  # e.g. one claim per size; at least one
    short: str = ""  # for narrow tables; the text if empty
    note: str = ""

    @property
    def study(self) -> str:
        """The name of the study it is about."""
        return self.lines[0].study
