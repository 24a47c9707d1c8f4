"""Statements and claims about learners, as data: of models, and of data sets."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from simstudy.errors import suggestion

if TYPE_CHECKING:
    from simstudy.study.study import Study

    Named: TypeAlias = tuple[str, str, Sequence[str], Collection[str]]

Relation: TypeAlias = Literal[
    "beats", "not beaten by", "level", "above", "below", "near", "between"
]
PAIRS = ("beats", "not beaten by", "level")  # the relations between two learners
FIRST_AGAINST = ("beats", "not beaten by")  # those in which the order matters

DataRelation: TypeAlias = Literal[
    "beats",
    "never beats",
    "beats wherever",
    "wins more than it loses",
    "other winners",
    "correlation above",
    "correlation below",
]
AcrossTest: TypeAlias = Literal["wilcoxon", "sign"]
OF_TWO_MEASURES = ("correlation above", "correlation below", "other winners")
OF_PAIRS = ("beats", "never beats", "beats wherever")


class Claim(ABC):
    """A claim about the learners of one study; see `ModelClaim` and `DataClaim`.

    Parameters
    ----------
    study : str
        The name of the study it is about.
    text : str
        The claim in words.
    relation : str
        The relation.
    measure : str
        The measure it is about; the primary one if empty.
    source : str
        Where the source makes it.
    reading : str
        Assumptions that make it a statement about numbers.
    id : str
        A short name.
    """

    study: str
    text: str
    relation: str
    learners: list[str]
    measure: str
    source: str
    reading: str
    id: str
    some: bool = False  # whether one of its checks suffices; otherwise all must hold

    def flaws(self, study: Study, check_sizes: bool) -> Iterator[tuple[str, str]]:
        """Why no result could decide it: the keys at fault, each with a sentence."""
        for key, kind, names, known in self._names(study):
            for name in names:
                if name not in known:
                    why = f"the study '{study.name}' has no {kind} '{name}'"
                    yield key, why + suggestion(name, known)
        yield from self._misshapen(study, check_sizes)

    @abstractmethod
    def _names(self, study: Study) -> Iterable[Named]:
        """The keys that name something, what that is, the names, and those of the study."""

    @abstractmethod
    def _misshapen(self, study: Study, check_sizes: bool) -> Iterator[tuple[str, str]]:
        """The flaws of a claim that lacks what its relation needs, or has what it does not use."""

    def lines(self) -> list[Claim]:
        """The lines of a statement that is only this claim."""
        return [self]

    def scaled(self, factor: float) -> Claim:
        """The claim with a margin in another unit, if it has one."""
        return self


@dataclass(frozen=True)
class ModelClaim(Claim):
    """A claim about learners at some training sizes.

    Relations between learners are "beats" (is better), "not beaten by" (is worse by at most the
    margin) and "level" (differs by at most the margin). Relations of a learner's mean are "above"
    or "below" a value, "near" it, and "between" two values, each within the margin.

    Parameters
    ----------
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
    some : bool
        Whether one learner or pair at one size suffices; otherwise all must hold.
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

    def lines(self) -> list[Claim]:
        """One line for each size."""
        return [self._at(size) for size in self.sizes] or [self]

    def _at(self, size: int) -> Claim:
        name = f"{self.id}.{size}" if self.id else ""
        return replace(self, sizes=[size], text=f"{size:,} rows", id=name)

    def scaled(self, factor: float) -> Claim:
        """The claim with a margin in another unit; tolerances of "near" and "between" stay."""
        fixed = self.relation in ("near", "between")
        return self if fixed else replace(self, margin=self.margin * factor)

    def _names(self, study: Study) -> Iterable[Named]:
        yield "learners", "learner", self.learners, study.labels
        yield "against", "learner", self.against or [], study.labels
        yield "measure", "measure", [self.measure] * bool(self.measure), study.columns

    def _misshapen(self, study: Study, check_sizes: bool) -> Iterator[tuple[str, str]]:
        for size in self.sizes:
            if check_sizes and size not in study.doses:
                sizes = ", ".join(map(str, study.doses))
                yield "sizes", f"the study '{study.name}' has no size {size}; it has {sizes}"
        relation, of_pairs = f'"{self.relation}"', self.relation in PAIRS
        if not self.learners:
            yield "learners", "at least 1 is needed"
        if not self.sizes:
            yield "sizes", "at least 1 is needed"
        numbers = len(self.value or [])
        wanted = 0 if of_pairs else 2 if self.relation == "between" else 1
        if numbers != wanted:
            text = f"{relation} needs {wanted or 'no'} number{'s' * (wanted != 1)}, not {numbers}"
            yield "value", text
        if self.relation == "between" and self.value and self.value[0] >= self.value[1]:
            low, high = self.value
            text = f"{relation} needs the lower number first; {low:g} is not below {high:g}"
            yield "value", text
        if self.relation in FIRST_AGAINST and not self.against:
            yield "against", f"{relation} needs learners to compare with"
        if not of_pairs and self.against:
            yield "against", f"{relation} concerns a mean, not two learners"
        if of_pairs and not any(first != second for first, second in self.pairs()):
            yield "learners", f"{relation} needs two learners"
        if of_pairs and any(first == second for first, second in self.pairs()):
            yield "against", "a learner is compared with itself"
        if self.relation in ("level", "near") and not self.margin > 0:
            yield "margin", f"{relation} needs a margin above 0"
        if self.margin < 0:
            yield "margin", f"{self.margin} is not allowed; it must be at least 0"


@dataclass(frozen=True)
class DataClaim(Claim):
    """A claim about learners on the data sets of a study.

    "beats" holds over all data sets, by a test of the means, or on each of those named, by the test
    of its splits. "never beats" leaves out the data sets named. "beats wherever": where ``rival``
    significantly beats a learner of ``against``, so do the learners, by their means. "wins more
    than it loses" counts significant differences from all other learners. "other winners": two
    measures name different winners on some data set. "correlation above" and "below" are of two
    measures over splits.

    Parameters
    ----------
    learners : list of str
        The labels of the learners it is about; of correlations, all learners if empty.
    against : list of str
        The learners compared with.
    rival : str
        Of "beats wherever": the learner whose wins are followed.
    datasets : list of str
        Of "beats": the data sets; all of them together if empty. Of "never beats": exceptions.
    other_measure : str
        The second one of two measures.
    value : float
        What the mean correlation is compared with.
    test : str
        Of "beats" over all data sets: Wilcoxon's signed ranks, or the sign test.
    """

    study: str
    text: str
    relation: DataRelation
    learners: list[str] = field(default_factory=list)
    against: list[str] = field(default_factory=list)
    rival: str = ""
    datasets: list[str] = field(default_factory=list)
    measure: str = ""
    other_measure: str = ""
    value: float = 0.0
    test: AcrossTest = "wilcoxon"
    source: str = ""
    reading: str = ""
    id: str = ""

    def _names(self, study: Study) -> Iterable[Named]:
        measures = study.measures.labels
        yield "learners", "learner", self.learners, study.labels
        yield "against", "learner", self.against, study.labels
        yield "rival", "learner", [self.rival] * bool(self.rival), study.labels
        yield "datasets", "data set", self.datasets, [table.name for table in study.tables]
        yield "measure", "measure", [self.measure] * bool(self.measure), measures
        yield "other_measure", "measure", [self.other_measure] * bool(self.other_measure), measures

    def _misshapen(self, study: Study, check_sizes: bool) -> Iterator[tuple[str, str]]:
        relation = self.relation
        two, of_pairs = relation in OF_TWO_MEASURES, relation in OF_PAIRS
        of_sets, wherever = relation in ("beats", "never beats"), relation == "beats wherever"
        of_learners = of_pairs or relation == "wins more than it loses"
        keys = (  # whether a relation needs, and whether it uses them
            ("learners", self.learners, of_learners, relation != "other winners"),
            ("against", self.against, of_pairs, of_pairs),
            ("rival", self.rival, wherever, wherever),
            ("datasets", self.datasets, False, of_sets),
            ("measure", self.measure, two, True),
            ("other_measure", self.other_measure, two, two),
        )
        for key, value, needed, _ in keys:
            if needed and not value:
                yield key, f'"{relation}" needs this key'
        for key, value, _, used in keys:
            if value and not used:
                yield key, f'"{relation}" does not use this key'
        if {*self.learners, self.rival} & {*self.against}:
            yield "against", "a learner is compared with itself"
        if two and self.measure == self.other_measure:
            yield "other_measure", "a measure is compared with itself"


@dataclass(frozen=True)
class Statement:
    """One statement of a source: claims that must all hold."""

    text: str
    lines: list[Claim]  # e.g. one claim per size; at least one
    short: str = ""  # for narrow tables; the text if empty
    note: str = ""

    @property
    def study(self) -> str:
        """The name of the study it is about."""
        return self.lines[0].study
