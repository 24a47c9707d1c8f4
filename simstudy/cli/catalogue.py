"""The verbs about what there is to run: studies, new, list, show, schema."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from simstudy.cli.run import StudyFile
from simstudy.errors import SimstudyError
from simstudy.texts import echo

if TYPE_CHECKING:
    from simstudy.components.describe import Description

_Paths = list[Path] | None
_STARTER = Path(__file__).parents[1] / "study" / "starter.toml"
_USE = {
    "family": '[family] with name = "{}"',
    "change": '[[changes]] with name = "{}"',
    "learner": '[[learners]] with name = "{}"',
    "estimator": 'compare = "estimators" and [[estimators]] with name = "{}"',
    "test": 'compare = "tests" and [[tests]] with name = "{}"',
    "measure": '[measures] with primary = "{0}", or also = ["{0}"]',
}
_SETTINGS = ("prior", "base", "reward")  # keys of [measures] that a measure may need


def studies() -> None:
    """List the built-in studies; simstudy run NAME runs one."""
    from simstudy.study.files import builtin_studies, summary

    _print_table({name: summary(file) for name, file in builtin_studies().items()})
    echo("simstudy run NAME runs one of them.")


def new(file: Annotated[Path, Argument(metavar="FILE", help="The study file to write.")]) -> None:
    """Write a commented study file to start from."""
    from simstudy.results.store.atomic_files import write_text

    if file.suffix != ".toml":
        file = file.with_name(f"{file.name}.toml") if file.name else file / "study.toml"
    if os.path.lexists(file):
        raise SimstudyError(f"{file} already exists; choose another name or remove it first")
    name = re.sub(r"[^A-Za-z0-9_.-]+", "-", file.stem).lstrip("_.-") or "study"
    lines = _STARTER.read_text(encoding="utf-8").splitlines(keepends=True)
    place = next(place for place, line in enumerate(lines) if line.startswith("name = "))
    _, sign, comment = lines[place].partition("#")
    lines[place] = f'name = "{name}"'.ljust(32) + f" {sign}{comment}"
    write_text(file, "".join(lines))
    echo(f"{file} is a study that runs as it is: simstudy run {shlex.quote(str(file))}")


def show(study: StudyFile) -> None:
    """Print a study as it will be run, every default filled in."""
    from simstudy.results.read.open import recorded_toml
    from simstudy.study.study import load_study

    text = recorded_toml(study)  # a study in results is shown without executing plugins
    echo((load_study(study).to_toml() if text is None else text).removesuffix("\n"))


def list_(
    name: Annotated[str | None, Argument(help="The name of a component to describe.")] = None,
    plugin: Annotated[_Paths, Option(help="A plugin file to execute first; repeatable.")] = None,
) -> None:
    """List the families, changes, learners and measures, or describe one."""
    from simstudy.components.describe import find_components
    from simstudy.components.plugins import load_plugin
    from simstudy.components.registry import REGISTRIES, first_line

    for file in plugin or []:
        load_plugin(Path(os.path.realpath(file)))
    if name is not None:
        for description in find_components(name):
            for line in _lines(description):
                echo(line)
        return
    for registry in REGISTRIES:
        echo(f"{registry.plural}:")
        _print_table({name: first_line(registry, name) for name in registry.names()}, "  ")
        if registry.by_path_help:
            echo(f"  and {registry.by_path_help}")
    echo("simstudy list NAME describes one of them.")


def schema(
    lists: Annotated[bool, Option("--list", help="The schema of a list of studies.")] = False,
) -> None:
    """Print the JSON Schema of a study file, for completion and checks in editors."""
    import json

    from simstudy.study.json_schema import list_schema, study_schema

    echo(json.dumps(list_schema() if lists else study_schema(), indent=2, ensure_ascii=False))


def _print_table(rows: dict[str, str], indent: str = "") -> None:
    """Print names with a line each."""
    width = max(map(len, rows), default=0) + 2
    for name, text in rows.items():
        echo(f"{indent}{name:<{width}}{text}")


def _lines(description: Description) -> list[str]:
    """A description as lines of text."""
    lines = [f"{description.name} ({description.kind})", *_wrapped(description.summary, 2)]
    for paragraph in description.text:
        lines += ["", *_wrapped(paragraph, 2)]
    lines += ["", *(f"  {line}" for line in _facts(description))]
    if description.parameters:
        lines += ["", "  parameters"]
    for parameter in description.parameters:
        default = f" = {parameter.default_text}" if parameter.default_text else ""
        kind = parameter.type
        if parameter.context:
            setting = parameter.name in _SETTINGS
            kind = f"set by measures.{parameter.name}" if setting else "from the model or data set"
        lines.append(f"    {parameter.name}{default}" + f"  ({kind})" * bool(kind))
        lines += _wrapped(parameter.meaning, 8)
    for title, paragraphs in (("notes", description.notes), ("papers", description.references)):
        lines += ["", f"  {title}"] if paragraphs else []
        for paragraph in paragraphs:
            lines += _wrapped(paragraph, 4)
    return [*lines, ""]


def _facts(description: Description) -> list[str]:
    """How a component is used; for a measure, its direction and unit."""
    facts = [f"in a study: {_USE[description.kind].format(description.name)}"]
    if (info := description.info) is None:
        return facts
    unit = f"{info.unit} (bits with measures.base = 2)" if info.unit == "nats" else info.unit
    return [
        *facts,
        f"{'higher' if info.greater_is_better else 'lower'} is better",
        f"unit: {unit or 'none'}" + f"; 0: {info.zero}" * bool(info.zero),
        'exact with data.test_size = "exact"'
        if description.exact
        else "no exact value; test rows only",
        f"probabilities are {'first' if info.logarithmic else 'not'} clipped (measures.cutoff)",
    ]


def _wrapped(text: str, indent: int) -> list[str]:
    width = max(min(shutil.get_terminal_size().columns, 100), 40)
    return [" " * indent + line for line in textwrap.wrap(text, width - indent)]
