"""The statements and claims of a list of studies, checked before anything runs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from pydantic import TypeAdapter, ValidationError

from simstudy.errors import suggestion
from simstudy.study.claims import FIRST_AGAINST, PAIRS, Claim, Statement
from simstudy.study.data_claims import DataClaim
from simstudy.study.data_statements import check_data_claim
from simstudy.study.explain import KeyedError, explain, sentence
from simstudy.study.study import Study

_KINDS: dict[bool, tuple[type[Claim] | type[DataClaim], Any]] = {
    False: (Claim, TypeAdapter(Claim)),  # of models
    True: (DataClaim, TypeAdapter(DataClaim)),  # of data sets
}
_WORDS = ("short", "note")  # further keys of a statement


def read_statements(
    statements: Iterable[Any], claims: Iterable[Any], studies: list[Study], check_sizes: bool
) -> list[Statement]:
    """The statements of a list file: its ``[[statements]]``, then its ``[[claims]]``.

    A statement has the keys of a claim, which its ``lines`` share and may change; without lines,
    it has one claim per size. A claim is a statement of one line. Claims about studies of data sets
    have keys of their own; see `DataClaim`. Raises `KeyedError` for an unknown key, an invalid
    value, or a claim that no result could decide.
    """
    known = {study.name: study for study in studies}
    found = []
    for index, given in enumerate(statements):
        where = f"statements[{index}]"
        statement = _statement(given, where, known)
        lines: Sequence[Claim | DataClaim] = statement.lines
        for line, claim in enumerate(lines):
            inner = f"{where}.lines[{line}]" if "lines" in given else where
            _check(claim, inner, known, check_sizes)
        found.append(statement)
    for index, given in enumerate(claims):
        where, of_data = f"claims[{index}]", _of_data(given, known)
        claim = _claim(_section(given, where, _keys(of_data)), where, of_data)
        _check(claim, where, known, check_sizes)
        found.append(_made(claim.text, [claim]))
    return found


def _of_data(given: Any, studies: Mapping[str, Study]) -> bool:
    """Whether a section is about a study of data sets."""
    name = given.get("study") if isinstance(given, dict) else None
    return isinstance(name, str) and name in studies and bool(studies[name].datasets)


def _keys(of_data: bool) -> list[str]:
    """The keys of a claim."""
    return [field.name for field in fields(_KINDS[of_data][0])]


def _made(text: str, lines: Sequence[Claim | DataClaim], **words: str) -> Statement:
    return Statement(text, [*lines], **words)  # type: ignore[arg-type]


def _check(
    claim: Claim | DataClaim, where: str, studies: Mapping[str, Study], check_sizes: bool
) -> None:
    """Refuse a claim that no result could decide."""
    if claim.study not in studies:
        raise KeyedError(
            f"{where}.study", f"no study '{claim.study}'{suggestion(claim.study, studies)}"
        )
    if isinstance(claim, DataClaim):
        check_data_claim(claim, where, studies[claim.study])
    else:
        _check_claim(claim, where, studies, check_sizes)


def _statement(given: Any, where: str, studies: Mapping[str, Study]) -> Statement:
    """One statement of a list, its keys and their types checked."""
    of_data = _of_data(given, studies)
    keys = _keys(of_data)
    own = _section(given, where, [*keys, *_WORDS, "lines"])
    if "text" not in own:
        raise KeyedError(f"{where}.text", "this key is missing")
    for key in ("text", *_WORDS):
        if not isinstance(own.get(key, ""), str):
            raise KeyedError(f"{where}.{key}", sentence({"type": "string_type"}, own[key]))
    words = {key: own.pop(key, "") for key in _WORDS}
    if "lines" not in own:
        whole = _claim(own, where, of_data)
        if isinstance(whole, DataClaim):
            return _made(whole.text, [whole], **words)
        return _made(whole.text, [_at(whole, size) for size in whole.sizes] or [whole], **words)
    lines, made = own.pop("lines"), []
    if not isinstance(lines, list) or not lines:
        raise KeyedError(f"{where}.lines", "each line needs a section [[statements.lines]]")
    for index, line in enumerate(lines):
        inner = f"{where}.lines[{index}]"
        made.append(_claim(own | _section(line, inner, keys), inner, of_data))
    return _made(own["text"], made, **words)


def _at(claim: Claim, size: int) -> Claim:
    """The claim of a statement at one of its sizes."""
    name = f"{claim.id}.{size}" if claim.id else ""
    return replace(claim, sizes=[size], text=f"{size:,} rows", id=name)


def _section(given: Any, where: str, known: Collection[str]) -> dict[str, Any]:
    """A copy of one section of a list, its keys checked."""
    if not isinstance(given, dict):
        one, _, _ = where.rpartition("[")
        raise KeyedError(where, f"{json.dumps(given)} is not a section of its own, [[{one}]]")
    for key in given:
        if key not in known:
            raise KeyedError(f"{where}.{key}", f"unknown key{suggestion(key, known)}")
    return dict(given)


def _claim(given: dict[str, Any], where: str, of_data: bool) -> Claim | DataClaim:
    """One claim, the types of its values checked."""
    try:
        made: Claim | DataClaim = _KINDS[of_data][1].validate_json(json.dumps(given), strict=True)
        return made
    except ValidationError as error:
        key, message = explain(error, lambda _: _keys(of_data))
        raise KeyedError(f"{where}.{key}", message) from error


def _check_claim(claim: Claim, where: str, studies: Mapping[str, Study], check_sizes: bool) -> None:
    """Refuse a claim about models that no result could decide."""
    study = studies[claim.study]
    measures = [claim.measure] if claim.measure else []
    for key, kind, names, known in (
        ("learners", "learner", claim.learners, study.labels),
        ("against", "learner", claim.against or [], study.labels),
        ("measure", "measure", measures, study.measures.labels),
    ):
        for name in names:
            if name not in known:
                text = f"the study '{study.name}' has no {kind} '{name}'{suggestion(name, known)}"
                raise KeyedError(f"{where}.{key}", text)
    for size in claim.sizes:
        if check_sizes and size not in study.data.train_sizes:
            sizes = ", ".join(map(str, study.data.train_sizes))
            text = f"the study '{study.name}' has no size {size}; it has {sizes}"
            raise KeyedError(f"{where}.sizes", text)
    _check_shape(claim, where)


def _check_shape(claim: Claim, where: str) -> None:
    """Refuse a claim that lacks what its relation needs, or has what it does not use."""
    relation = f'"{claim.relation}"'
    for key in ("learners", "sizes"):
        if not getattr(claim, key):
            raise KeyedError(f"{where}.{key}", "at least 1 is needed")
    numbers = len(claim.value or [])
    wanted = 0 if claim.relation in PAIRS else 2 if claim.relation == "between" else 1
    if numbers != wanted:
        text = f"{relation} needs {wanted or 'no'} number{'s' * (wanted != 1)}, not {numbers}"
        raise KeyedError(f"{where}.value", text)
    if claim.relation == "between" and claim.value and claim.value[0] >= claim.value[1]:
        low, high = claim.value
        text = f"{relation} needs the lower number first; {low:g} is not below {high:g}"
        raise KeyedError(f"{where}.value", text)
    if claim.relation in FIRST_AGAINST and not claim.against:
        raise KeyedError(f"{where}.against", f"{relation} needs learners to compare with")
    if claim.relation not in PAIRS and claim.against:
        raise KeyedError(f"{where}.against", f"{relation} concerns a mean, not two learners")
    if claim.relation in PAIRS and not any(first != second for first, second in claim.pairs()):
        raise KeyedError(f"{where}.learners", f"{relation} needs two learners")
    if claim.relation in PAIRS and any(first == second for first, second in claim.pairs()):
        raise KeyedError(f"{where}.against", "a learner is compared with itself")
    if claim.relation in ("level", "near") and not claim.margin > 0:
        raise KeyedError(f"{where}.margin", f"{relation} needs a margin above 0")
    if claim.margin < 0:
        raise KeyedError(f"{where}.margin", f"{claim.margin} is not allowed; it must be at least 0")
