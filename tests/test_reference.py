"""The reference in studies/README.md names what the code accepts, with the code's defaults."""

from __future__ import annotations

import dataclasses
import re
import tomllib
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from simstudy.cli.app import app
from simstudy.components.registry import CHANGES, ESTIMATORS, FAMILIES, LEARNERS, REGISTRIES, TESTS
from simstudy.sources.families.base import Family
from simstudy.study import lists, sections
from simstudy.study.claims import ModelClaim, Relation, Statement
from simstudy.study.content import StudyFile
from simstudy.study.lists import Collection, is_collection, load_collection
from simstudy.study.search import SearchSection
from simstudy.study.study import Study, load_study

ROOT = Path(__file__).parents[1]
DOCUMENTS = [
    ROOT / name
    for name in (
        *(
            "README.md",
            "ARCHITECTURE.md",
            "CONTRIBUTING.md",
            "studies/README.md",
            "notebooks/README.md",
        ),
        "benchmarks/README.md",
    )
]
REFERENCE = (ROOT / "studies" / "README.md").read_text(encoding="utf-8")
PGMPY = [f"pgmpy:{name}" for name in ("HillClimbSearch", "GES", "PC", "TreeSearch")]
REQUIRED = object()
each_document = pytest.mark.parametrize(
    "document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT))
)
Row = dict[str, str]


def headings(text: str) -> list[str]:
    """The headings of a document, without code blocks, where # starts a comment."""
    return re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.M)


def section(heading: str) -> str:
    """The text below a heading, up to the next one."""
    (text,) = re.findall(rf"^#+ {re.escape(heading)}$(.*?)(?=^#+ |\Z)", REFERENCE, re.M | re.S)
    return text


def tables(heading: str) -> list[list[Row]]:
    """The tables below a heading, as rows by column."""
    found = []
    for block in re.findall(r"(?:^\|.*\|$\n?)+", section(heading), re.M):
        header, _, *rows = (
            [cell.strip() for cell in line[1:-1].split("|")] for line in block.splitlines()
        )
        found.append([dict(zip(header, row, strict=True)) for row in rows])
    return found


def keyed(rows: list[Row], column: str = "key") -> dict[str, Row]:
    named = {row[column].strip("`"): row for row in rows}
    assert len(named) == len(rows)
    return named


class Key(typing.NamedTuple):
    """A key that the code accepts."""

    default: Any  # REQUIRED if it has none
    type: Any


def keys_of(of: type[Any]) -> dict[str, Key]:
    """The keys of a section, or the parameters of a dataclass."""
    hints = typing.get_type_hints(of)
    if issubclass(of, BaseModel):
        fields = of.model_fields.items()
        return {
            name: Key(REQUIRED if field.is_required() else field.default, hints[name])
            for name, field in fields
        }
    found = {}
    for field in dataclasses.fields(of):
        if field.init:
            missing = field.default is dataclasses.MISSING
            found[field.name] = Key(REQUIRED if missing else field.default, hints[field.name])
    return found


def options(type_: Any) -> Iterator[Any]:
    """The values that a type lists."""
    if typing.get_origin(type_) is typing.Literal:
        yield from typing.get_args(type_)
    else:
        for part in typing.get_args(type_):
            yield from options(part)


def check_table(rows: Mapping[str, Row], keys: Mapping[str, Key]) -> None:
    assert rows.keys() == keys.keys()
    for name, key in keys.items():
        row = rows[name]
        stated = row["default"]
        if key.default is REQUIRED:
            assert stated == "required", name
        elif key.default is None:
            assert stated == "none", name
        elif isinstance(key.default, BaseModel):
            assert stated == "", name
        else:
            value = tomllib.loads(f"value = {stated.strip('`')}")["value"]
            plain = [*key.default] if isinstance(key.default, tuple) else key.default
            assert value == plain, name
            assert isinstance(value, bool) == isinstance(plain, bool), name
        for option in options(key.type):
            assert f'`"{option}"`' in row["allowed values"], (name, option)


def test_paths_in_the_architecture_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:[a-z_0-9]+/)+[a-z_0-9]+\.py)`", text)
    assert len(paths) > 30
    places = [[ROOT / path, ROOT / "simstudy" / path] for path in paths]
    assert [
        str(first) for first, second in places if not first.exists() and not second.exists()
    ] == []


@pytest.mark.parametrize(
    ("heading", "of"),
    [
        ("Top level", StudyFile),
        ("`[data]`", sections.Data),
        ("`[[learners]]`", sections.LearnerSection),
        ("`[learners.search]`", SearchSection),
        ("`[measures]`", sections.MeasuresSection),
        ("`[analysis]`", sections.Analysis),
        ("`[thresholds]`", sections.Thresholds),
        ("`[limits]`", sections.Limits),
        ("`[[datasets]]`", sections.DataSetSection),
        ("`[resampling]`", sections.ResamplingSection),
        ("`[preparation]`", sections.PreparationSection),
        ("Keys of a list", lists.ListFile),
        ("Printed values", lists.PublishedSection),
    ],
)
def test_the_keys_of_a_section_are_in_the_reference(heading, of):
    (rows,) = tables(heading)
    check_table(keyed(rows), keys_of(of))


def test_the_keys_of_families_are_in_the_reference():
    (rows,) = tables("`[family]`")
    accepted = keys_of(sections.NamedSection) | keys_of(Family)
    for name in FAMILIES._builtin:
        accepted |= keys_of(FAMILIES.get(name))
    check_table(keyed(rows), accepted)


def test_the_priors_are_in_the_reference():
    (rows,) = tables("`[measures]`")
    for prior in sections.PRIORS:
        assert f'`"{prior}"`' in keyed(rows)["prior"]["allowed values"]


@pytest.mark.parametrize("name", [*LEARNERS._builtin, *PGMPY])
def test_the_parameters_of_learners_are_in_the_reference(name):
    (rows,) = tables("Parameters of learners")
    own = [row for row in rows if row["learner"] == f"`{name}`"]
    check_table(keyed(own), keys_of(LEARNERS.get(name)))


@pytest.mark.parametrize(
    ("registry", "name"),
    [(registry, name) for registry in (ESTIMATORS, TESTS) for name in registry._builtin],
)
def test_the_parameters_of_estimators_and_tests_are_in_the_reference(registry, name):
    (rows,) = tables(f"Parameters of {registry.plural}")
    own = [row for row in rows if row[registry.kind] == f"`{name}`"]
    check_table(keyed(own), keys_of(registry.get(name)))


@pytest.mark.parametrize("name", CHANGES._builtin)
def test_the_parameters_of_changes_are_in_the_reference(name):
    (rows,) = tables("`[[changes]]`")
    own = [row for row in rows if row["change"] == f"`{name}`"]
    check_table(keyed(own), keys_of(CHANGES.get(name)))


def test_learners_without_parameters_are_named():
    without = [name for name in LEARNERS._builtin if not keys_of(LEARNERS.get(name))]
    assert all(f"`{name}`" in section("Parameters of learners") for name in without)


def test_the_keys_of_statements_and_claims_are_in_the_reference():
    claim, statement = tables("Keys of a statement and of a claim")
    check_table(keyed(claim), keys_of(ModelClaim))
    words = keys_of(Statement)
    further = {"short": words["short"], "note": words["note"], "lines": Key(None, list[ModelClaim])}
    check_table(keyed(statement), further)


def test_every_relation_has_its_verdict_in_the_reference():
    (rows,) = tables("How verdicts are reached")
    stated = {name for row in rows for name in re.findall(r"`([^`]*)`", row["relation"])}
    assert stated == {*typing.get_args(Relation)}


def test_the_keys_of_readings_are_in_the_reference():
    file, reading = tables("Readings")
    check_table(keyed(file), keys_of(lists.ReadingsFile))
    check_table(keyed(reading), keys_of(lists.ReadingSection))


def test_everything_built_in_is_in_the_reference():
    for registry in REGISTRIES:
        heading = {"measures": "Measures and conventions"}.get(registry.plural, registry.plural)
        (rows,) = tables(heading.capitalize())
        first = " ".join(next(iter(row.values())) for row in rows)
        named = {*re.findall(r"`([^`]*)`", first)}
        assert {*registry._builtin} <= named, registry.kind


def verbs() -> set[str]:
    """The verbs in the reference."""
    (rows,) = tables("Commands")
    return {row["command"].strip("`").split()[0] for row in rows}


def test_every_verb_is_in_the_reference():
    assert {command.name for command in app.registered_commands} == verbs()


@each_document
def test_commands_have_verbs_of_the_reference(document):
    text = document.read_text(encoding="utf-8")
    code = "\n".join(re.findall(r"```sh\n(.*?)```", text, re.S) + re.findall(r"`([^`\n]+)`", text))
    assert {*re.findall(r"(?:^|')simstudy ([a-z]+)", code, re.M)} <= verbs()


def cells(study: Study) -> int:
    return study.problems * len(study.doses) * len(study.labels)


def all_cells(collection: Collection) -> int:
    whole = sum(map(cells, collection.studies))
    return whole + sum(map(all_cells, collection.readings))


@pytest.mark.slow
def test_every_built_in_study_is_in_the_reference_with_its_cells():
    rows, *_ = tables("Built-in studies")
    stated = {
        name: int(row["cells"].replace(",", "")) for name, row in keyed(rows, "study").items()
    }
    counted = {
        path.stem: all_cells(load_collection(path))
        if is_collection(path)
        else cells(load_study(path))
        for path in (ROOT / "studies").glob("*.toml")
    }
    assert stated == counted


def anchor(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@each_document
def test_links_lead_somewhere(document):
    text = document.read_text(encoding="utf-8")
    for link in re.findall(r"(?:\]\(|src=\")([^)\"\s]+)[)\"]", text):
        if link.startswith("http"):
            continue
        file, _, place = link.partition("#")
        target = (document.parent / file) if file else document
        assert target.exists(), link
        if place:
            assert place in map(anchor, headings(target.read_text(encoding="utf-8"))), link


def test_the_readme_is_short_and_opens_with_the_notebooks_and_the_commands():
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 340
    first = [line for line in lines if line.startswith("## ")][:2]
    assert first == ["## Notebooks", "## Two commands"]
    notebooks = [path.name for path in sorted((ROOT / "notebooks").glob("*.ipynb"))]
    named = [name for name in notebooks if any(name in line for line in lines[:60])]
    assert named == notebooks
