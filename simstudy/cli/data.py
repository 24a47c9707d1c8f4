"""The verb about data files: data."""

from __future__ import annotations

import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from simstudy.texts import counted, echo, on_one_line

if TYPE_CHECKING:
    from simstudy.data.assembly import RowsRead
    from simstudy.data.sample import Sample

_MAX_WIDTH, _MIN_WIDTH = 80, 40
_MAX_NAME = 24  # a longer name has a line of its own
_MAX_VALUES = 60  # of a variable, that are printed
_Names = list[str] | None
Missing = Annotated[
    _Names,
    Option(
        help="What stands for a missing value; repeatable. Default: '' and ?; NA, nan, null, - and "
        "the like among numbers."
    ),
]


def data(
    file: Annotated[
        Path, Argument(metavar="FILE", help="A file: .csv, .tsv, .txt, .arff or .parquet.")
    ],
    target: Annotated[
        str | None, Option(help="The column to predict; by default the last one.")
    ] = None,
    ignore: Annotated[_Names, Option(help="A column to leave out; repeatable.")] = None,
    nominal: Annotated[_Names, Option(help="A column of labels; repeatable.")] = None,
    numeric: Annotated[_Names, Option(help="A column of numbers; repeatable.")] = None,
    groups: Annotated[
        str | None, Option(help="A column that says which rows belong together.")
    ] = None,
    keep: Annotated[
        _Names,
        Option(help="A column to keep though it looks like an identifier or a leak; repeatable."),
    ] = None,
    missing: Missing = None,
    separator: Annotated[
        str | None, Option(help="What separates values; found if not given.")
    ] = None,
    encoding: Annotated[
        str | None, Option(help="The encoding of the text; found if not given.")
    ] = None,
) -> None:
    """Describe a data file: its variables, missing values, classes and anything odd."""
    from simstudy.data.assembly import ReadOptions
    from simstudy.data.files import read_data_set
    from simstudy.data.oddities import oddities, rare_classes
    from simstudy.workflow.progress import busy

    reading = ReadOptions(
        target,
        nominal or (),
        numeric or (),
        ignore or (),
        missing_values=missing,
        groups=groups,
        separator="\t" if separator == r"\t" else separator,
        encoding=encoding,
        keep=keep or (),
    )
    with busy(f"reading {file}"):
        table = read_data_set(file, reading, describe=True)
        odd = oddities(table)
        odd += [table.refusal] if table.refusal else rare_classes(table.sample)
    lines = [*_heading(table), "", *_variables(table.sample)]
    lines += [] if table.refusal else ["", *_classes(table.sample)]
    if odd:
        lines += ["", "Odd:"]
        for text in odd:
            lines += _wrapped(text, "  - ", "    ")
    for line in lines:
        echo(line)


def _wrapped(text: str, first: str = "", later: str = "") -> list[str]:
    width = max(min(shutil.get_terminal_size().columns, _MAX_WIDTH), _MIN_WIDTH)
    return textwrap.wrap(
        on_one_line(text), width, initial_indent=first, subsequent_indent=later
    ) or [first.rstrip()]


def _heading(table: RowsRead) -> list[str]:
    import numpy as np

    sample, schema = table.sample, table.sample.schema
    gaps = int(np.isnan(sample.values).sum())
    attributes, numeric = len(schema.attributes), len(schema.numeric)
    kinds = f"{numeric:,} numeric, {attributes - numeric:,} nominal"
    text = (
        f"{table.source}: {counted(len(sample), 'row')}, {counted(attributes, 'attribute')} "
        f"({kinds}), {counted(gaps, 'missing value') if gaps else 'no missing values'}; "
    )
    classes = f"target '{schema.target.name}' of {schema.target.card} classes"
    text += f"'{schema.target.name}' would be refused as a target" if table.refusal else classes
    if sample.groups is not None:
        text += f"; {counted(len(np.unique(sample.groups)), 'group')} of rows"
    return _wrapped(text)


def _variables(sample: Sample) -> list[str]:
    """A line or more for each variable: name, kind, missing values, values or range."""
    import numpy as np

    variables = sample.schema.variables
    gaps = np.isnan(sample.values).sum(axis=0)
    longest = max((len(on_one_line(variable.name)) for variable in variables), default=0)
    width = min(max(longest, len("variable")), _MAX_NAME)
    digits = max(len(f"{gaps.max():,}"), len("missing"))
    lines = [f"{'variable':<{width}}  kind     {'missing':>{digits}}  values"]
    for place, variable in enumerate(variables):
        numbers = sample.values[:, place][~np.isnan(sample.values[:, place])]
        if variable.values is None:
            text = f"{numbers.min():.10g} to {numbers.max():.10g}" if len(numbers) else "none"
        else:
            more = len(variable.values) - _MAX_VALUES
            values = map(_label, variable.values[:_MAX_VALUES])
            text = f"{len(variable.values)}: {', '.join(values)}" if variable.values else "none"
            text += f", and {more:,} more" if more > 0 else ""
        name, kind = on_one_line(variable.name), variable.kind
        if len(name) > width:
            lines += _wrapped(name)
            name = ""
        start = f"{name:<{width}}  {kind}  {gaps[place]:>{digits},}  "
        lines += _wrapped(text, start, " " * (width + 4))
    return lines


def _label(value: str) -> str:
    """A value in a list, quoted where it could not be seen to be one."""
    return f"'{value}'" if "," in value or not value.strip() else value


def _classes(sample: Sample) -> list[str]:
    """A line for each class, with its rows."""
    labels = [on_one_line(_label(label)) for label in sample.schema.target.values or ()]
    width = min(max(map(len, ["class", *labels])), _MAX_NAME)
    lines = [f"{'class':<{width}}  {'rows':>8}"]
    for label, count in zip(labels, sample.class_counts, strict=True):
        share = f"{count:>8,.0f}  {count / len(sample):6.1%}"
        if len(label) > width:
            lines += _wrapped(label)
            label = ""
        lines.append(f"{label:<{width}}  {share}")
    return lines
