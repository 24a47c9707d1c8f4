"""Statements and claims about learners, of models and of data sets: read, and checked.

A claim that no result could decide is refused before anything runs.
"""

from __future__ import annotations

import itertools
import json
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

from simstudy.errors import KeyedError, demand_name, refuse, suggestion
from simstudy.study.error_messages import explain, sentence

if TYPE_CHECKING:
    from simstudy.study.study import Study

Relation: TypeAlias = Literal[
    "beats", "not beaten by", "level", "above", "below", "near", "between"
]
PAIRS = ("beats", "not beaten by", "level")  # between two learners; in the first two, in order
_NAMING = {"learners": "learner", "against": "learner", "rival": "learner"}  # keys that name
_NAMING |= {"datasets": "data set", "measure": "measure", "other_measure": "measure"}

DataRelation: TypeAlias = Literal[
    "beats",
    "never beats",
    "beats wherever",
    "wins more than it loses",
    "other winners",
    "correlation above",
    "correlation below",
]


@dataclass(frozen=True)
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
    learners: Annotated[list[str], Field(min_length=1)]
    _: KW_ONLY
    measure: str = ""
    source: str = ""
    reading: str = ""
    id: str = ""
    some: bool = False  # whether one of its checks suffices; otherwise all must hold

    def flaws(self, study: Study, check_sizes: bool) -> Iterator[tuple[str, str]]:
        """Why no result could decide it: the keys at fault, each with a sentence."""
        names = {"learner": study.labels, "measure": study.columns}
        names["data set"] = [table.name for table in study.tables]
        for key, kind in _NAMING.items():
            stated = vars(self).get(key) or []
            for name in [stated] if isinstance(stated, str) else stated:
                if name not in names[kind]:
                    why = f"the study '{study.name}' has no {kind} '{name}'"
                    yield key, why + suggestion(name, names[kind])
        yield from self._misshapen(study, check_sizes)

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

    relation: Relation
    sizes: Annotated[list[int], Field(min_length=1)]
    against: list[str] | None = None
    value: list[float] | None = None
    margin: Annotated[float, Field(ge=0)] = 0.0

    def pairs(self) -> list[tuple[str, str]]:
        """The pairs of learners compared."""
        if self.against:
            return list(itertools.product(self.learners, self.against))
        return list(itertools.combinations(self.learners, 2))

    def lines(self) -> list[Claim]:
        """One line for each size."""
        return [
            replace(self, sizes=[n], text=f"{n:,} rows", id=f"{self.id}.{n}" if self.id else "")
            for n in self.sizes
        ] or [self]

    def scaled(self, factor: float) -> Claim:
        """The claim with a margin in another unit; tolerances of "near" and "between" stay."""
        fixed = self.relation in ("near", "between")
        return self if fixed else replace(self, margin=self.margin * factor)

    def _misshapen(self, study: Study, check_sizes: bool) -> Iterator[tuple[str, str]]:
        for size in self.sizes:
            if check_sizes and size not in study.doses:
                sizes = ", ".join(map(str, study.doses))
                yield "sizes", f"the study '{study.name}' has no size {size}; it has {sizes}"
        relation, of_pairs = f'"{self.relation}"', self.relation in PAIRS
        numbers = len(self.value or [])
        wanted = 0 if of_pairs else 2 if self.relation == "between" else 1
        if numbers != wanted:
            plural = "s" * (wanted != 1)
            yield "value", f"{relation} needs {wanted or 'no'} number{plural}, not {numbers}"
        elif self.relation == "between" and self.value and self.value[0] >= self.value[1]:
            low, high = self.value
            text = f"{relation} needs the lower number first; {low:g} is not below {high:g}"
            yield "value", text
        if self.relation in PAIRS[:2] and not self.against:
            yield "against", f"{relation} needs learners to compare with"
        if not of_pairs and self.against:
            yield "against", f"{relation} concerns a mean, not two learners"
        if of_pairs and not any(first != second for first, second in self.pairs()):
            yield "learners", f"{relation} needs two learners"
        if of_pairs and any(first == second for first, second in self.pairs()):
            yield "against", "a learner is compared with itself"
        if self.relation in ("level", "near") and not self.margin > 0:
            yield "margin", f"{relation} needs a margin above 0"


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

    relation: DataRelation
    learners: list[str] = field(default_factory=list)
    against: list[str] = field(default_factory=list)
    rival: str = ""
    datasets: list[str] = field(default_factory=list)
    other_measure: str = ""
    value: float = 0.0
    test: Literal["wilcoxon", "sign"] = "wilcoxon"
    some: bool = field(default=False, init=False)

    def _misshapen(self, study: Study, check_sizes: bool) -> Iterator[tuple[str, str]]:
        relation, wherever = self.relation, self.relation == "beats wherever"
        two = relation in ("correlation above", "correlation below", "other winners")
        of_sets = relation in ("beats", "never beats")
        of_pairs = of_sets or wherever
        of_learners = of_pairs or relation == "wins more than it loses"
        keys = (  # whether a relation needs, and whether it uses them
            ("learners", self.learners, of_learners, relation != "other winners"),
            ("against", self.against, of_pairs, of_pairs),
            ("rival", self.rival, wherever, wherever),
            ("datasets", self.datasets, False, of_sets),
            ("measure", self.measure, two, True),
            ("other_measure", self.other_measure, two, two),
        )
        for key, value, needed, used in keys:
            if needed and not value:
                yield key, f'"{relation}" needs this key'
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


_Kind: TypeAlias = type[ModelClaim] | type[DataClaim]
_WORDS = ("short", "note")  # further keys of a statement


def read_statements(
    statements: Iterable[Any],
    claims: Iterable[Any],
    studies: Mapping[str, Study],
    check_sizes: bool,
) -> list[Statement]:
    """The statements of a list file: its ``[[statements]]``, then its ``[[claims]]``.

    A statement has the keys of a claim, which its ``lines`` share and may change; without lines,
    it has one claim per size. A claim is a statement of one line. Claims about studies of data sets
    have different keys; see `DataClaim`. Raises `KeyedError` for an unknown key, an invalid
    value, or a claim that no result could decide.
    """
    made = []
    for index, section in enumerate(statements):
        where = f"statements[{index}]"
        statement = _statement(section, where, studies)
        for line, claim in enumerate(statement.lines):
            inner = f"{where}.lines[{line}]" if "lines" in section else where
            _check(claim, inner, studies, check_sizes)
        made.append(statement)
    for index, section in enumerate(claims):
        where, kind = f"claims[{index}]", _kind(section, studies)
        claim = _claim(_section(section, where, _keys(kind)), where, kind)
        _check(claim, where, studies, check_sizes)
        made.append(Statement(claim.text, [claim]))
    return made


def _kind(section: Any, studies: Mapping[str, Study]) -> _Kind:
    """The kind of claim that a section has: of models, unless it names a study of data sets."""
    name = section.get("study") if isinstance(section, dict) else None
    of_data = isinstance(name, str) and name in studies and studies[name].datasets
    return DataClaim if of_data else ModelClaim


def _keys(kind: _Kind) -> list[str]:
    """The keys of a claim."""
    return [field.name for field in fields(kind) if field.init]


def _check(claim: Claim, where: str, studies: Mapping[str, Study], check_sizes: bool) -> None:
    """Refuse a claim that no result could decide."""
    demand_name(f"{where}.study", "no study", claim.study, studies)
    for key, why in claim.flaws(studies[claim.study], check_sizes):
        raise KeyedError(f"{where}.{key}", why)


def _statement(section: Any, where: str, studies: Mapping[str, Study]) -> Statement:
    """One statement of a list, its keys and their types checked."""
    kind = _kind(section, studies)
    shared = _section(section, where, [*_keys(kind), *_WORDS, "lines"])
    refuse("text" not in shared, f"{where}.text", "this key is missing")
    for key in ("text", *_WORDS):
        text = shared.get(key, "")
        fault = sentence({"type": "string_type"}, text)
        refuse(not isinstance(text, str), f"{where}.{key}", fault)
    words = {key: shared.pop(key, "") for key in _WORDS}
    if "lines" not in shared:
        whole = _claim(shared, where, kind)
        return Statement(whole.text, whole.lines(), **words)
    lines, made = shared.pop("lines"), []
    text = "each line needs a section [[statements.lines]]"
    refuse(not isinstance(lines, list) or not lines, f"{where}.lines", text)
    for index, line in enumerate(lines):
        inner = f"{where}.lines[{index}]"
        made.append(_claim(shared | _section(line, inner, _keys(kind)), inner, kind))
    return Statement(shared["text"], made, **words)


def _section(section: Any, where: str, keys: Collection[str]) -> dict[str, Any]:
    """A copy of one section of a list, its keys checked."""
    if not isinstance(section, dict):
        name, _, _ = where.rpartition("[")
        raise KeyedError(where, f"{json.dumps(section)} is not a [[{name}]] section")
    for key in section:
        if key not in keys:
            raise KeyedError(f"{where}.{key}", f"unknown key{suggestion(key, keys)}")
    return dict(section)


def _claim(section: dict[str, Any], where: str, kind: _Kind) -> Claim:
    """One claim, the types of its values checked."""
    try:
        return _adapter(kind).validate_json(json.dumps(section), strict=True)
    except ValidationError as error:
        key, message = explain(error)
        raise KeyedError(f"{where}.{key}", message) from error


@cache
def _adapter(kind: _Kind) -> TypeAdapter[ModelClaim | DataClaim]:
    return TypeAdapter(kind)
