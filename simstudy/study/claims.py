"""Statements and claims about learners, as data."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal, TypeAlias

Relation: TypeAlias = Literal[
    "beats", "not beaten by", "level", "above", "below", "near", "between"
]
PAIRS = ("beats", "not beaten by", "level")  # the relations between two learners
FIRST_AGAINST = ("beats", "not beaten by")  # those in which the order matters


@dataclass(frozen=True)
class Claim:
    """What somebody says of learners at some sizes.

    Attributes
    ----------
    study : str
        The name of the study it is about.
    text : str
        The claim in words.
    relation : str
        Between learners: "beats" (is better than), "not beaten by" (is worse by no more than the
        margin), "level" (is better or worse by no more than the margin). Of a learner's mean:
        "above" or "below" a value, "near" it, "between" two values; the margin is how far it may
        be on the other side, or away.
    learners : list of str
        Of whom it is said.
    sizes : list of int
        At which training sizes.
    against : list of str
        Those the learners are compared with; for "level" it may be empty: then every two of the
        learners are.
    value : list of float
        What a mean is held against: one number, or two for "between".
    margin : float
        The difference that still counts as none.
    source : str
        Where it is said.
    reading : str
        What had to be supposed to make it a statement about numbers.
    some : bool
        Whether it is enough that it holds of one learner or pair at one size; else it must of all.
    measure : str
        Of which measure it speaks; the study's primary one if empty.
    id : str
        A name for it.
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
        """Who is compared with whom."""
        if self.against:
            return list(itertools.product(self.learners, self.against))
        return list(itertools.combinations(self.learners, 2))


@dataclass(frozen=True)
class Statement:
    """One statement of a source: a claim, or several that must all hold.

    Attributes
    ----------
    text : str
        The statement in words.
    lines : list of Claim
        What it says of numbers, for example one claim for each size; at least one.
    short : str
        A few words for narrow tables; the text if empty.
    note : str
        What is known beyond the verdict.
    """

    text: str
    lines: list[Claim]
    short: str = ""
    note: str = ""

    @property
    def study(self) -> str:
        """The name of the study it is about."""
        return self.lines[0].study
