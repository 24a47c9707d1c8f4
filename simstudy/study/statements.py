"""The statements and claims of a list of studies, checked before anything runs."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, TypeAlias

from pydantic import TypeAdapter, ValidationError

from simstudy.errors import suggestion
from simstudy.study.claims import Claim, DataClaim, ModelClaim, Statement
from simstudy.study.explain import KeyedError, explain, sentence
from simstudy.study.study import Study

Kind: TypeAlias = type[ModelClaim] | type[DataClaim]
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
        for line, claim in enumerate(statement.lines):
            inner = f"{where}.lines[{line}]" if "lines" in given else where
            _check(claim, inner, known, check_sizes)
        found.append(statement)
    for index, given in enumerate(claims):
        where, kind = f"claims[{index}]", _kind(given, known)
        claim = _claim(_section(given, where, _keys(kind)), where, kind)
        _check(claim, where, known, check_sizes)
        found.append(Statement(claim.text, [claim]))
    return found


def _kind(given: Any, studies: Mapping[str, Study]) -> Kind:
    """The kind of claim that a section has: of models, unless it names a study of data sets."""
    name = given.get("study") if isinstance(given, dict) else None
    of_data = isinstance(name, str) and name in studies and studies[name].datasets
    return DataClaim if of_data else ModelClaim


def _keys(kind: Kind) -> list[str]:
    """The keys of a claim."""
    return [field.name for field in fields(kind)]


def _check(claim: Claim, where: str, studies: Mapping[str, Study], check_sizes: bool) -> None:
    """Refuse a claim that no result could decide."""
    if claim.study not in studies:
        raise KeyedError(
            f"{where}.study", f"no study '{claim.study}'{suggestion(claim.study, studies)}"
        )
    for key, why in claim.flaws(studies[claim.study], check_sizes):
        raise KeyedError(f"{where}.{key}", why)


def _statement(given: Any, where: str, studies: Mapping[str, Study]) -> Statement:
    """One statement of a list, its keys and their types checked."""
    kind = _kind(given, studies)
    keys = _keys(kind)
    own = _section(given, where, [*keys, *_WORDS, "lines"])
    if "text" not in own:
        raise KeyedError(f"{where}.text", "this key is missing")
    for key in ("text", *_WORDS):
        if not isinstance(own.get(key, ""), str):
            raise KeyedError(f"{where}.{key}", sentence({"type": "string_type"}, own[key]))
    words = {key: own.pop(key, "") for key in _WORDS}
    if "lines" not in own:
        whole = _claim(own, where, kind)
        return Statement(whole.text, whole.lines(), **words)
    lines, made = own.pop("lines"), []
    if not isinstance(lines, list) or not lines:
        raise KeyedError(f"{where}.lines", "each line needs a section [[statements.lines]]")
    for index, line in enumerate(lines):
        inner = f"{where}.lines[{index}]"
        made.append(_claim(own | _section(line, inner, keys), inner, kind))
    return Statement(own["text"], made, **words)


def _section(given: Any, where: str, known: Collection[str]) -> dict[str, Any]:
    """A copy of one section of a list, its keys checked."""
    if not isinstance(given, dict):
        one, _, _ = where.rpartition("[")
        raise KeyedError(where, f"{json.dumps(given)} is not a section of its own, [[{one}]]")
    for key in given:
        if key not in known:
            raise KeyedError(f"{where}.{key}", f"unknown key{suggestion(key, known)}")
    return dict(given)


def _claim(given: dict[str, Any], where: str, kind: Kind) -> Claim:
    """One claim, the types of its values checked."""
    try:
        return _adapter(kind).validate_json(json.dumps(given), strict=True)
    except ValidationError as error:
        key, message = explain(error, lambda _: _keys(kind))
        raise KeyedError(f"{where}.{key}", message) from error


@cache
def _adapter(kind: Kind) -> TypeAdapter[ModelClaim | DataClaim]:
    return TypeAdapter(kind)
