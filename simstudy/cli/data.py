"""The verbs about one's own data: data, advise and compare-learners."""

from __future__ import annotations

import contextlib
import shutil
import textwrap
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Exit, Option

from simstudy.cli.report import written
from simstudy.cli.run import (
    Details,
    Jobs,
    Overwrite,
    Quiet,
    print_results,
    report_failures,
    stoppable,
)
from simstudy.engine.workers.child import available_processors, spare_children
from simstudy.errors import SOME_FAILED, SimstudyError
from simstudy.texts import counted, echo, on_one_line, shortened
from simstudy.workflow.progress import Progress, busy, watched

if TYPE_CHECKING:
    from simstudy.advice.facts import Advice
    from simstudy.data.files.assembly import RowsRead
    from simstudy.data.sample import Sample

_MAX_WIDTH, _MIN_WIDTH = 80, 40
_MAX_NAME = 24  # a longer name has a line of its own
_MAX_ERROR = 300  # letters
_MAX_VALUES = 60  # of a variable, that are printed
_FITTERS = ("auto", "camml", "tan", "kdb", "bootstrap")
_LISTED = ", ".join(_FITTERS)
_DOING = {
    "table": "1 of 2: cross-validating learners on the table",
    "simulated": "2 of 2: fitting networks to the table, and learners to rows drawn from them",
}
_Names = list[str] | None
_Text = str | None
_Number = int | None
_Numbers = list[int] | None
DataFile = Annotated[
    Path,
    Argument(
        metavar="FILE",
        help="A file: .csv, .tsv, .txt, .arff or .parquet; or a name: openml:31, openml:credit-g, "
        "sklearn:breast_cancer, uci:iris.",
    ),
]
Target = Annotated[
    _Text,
    Option(help="The column to predict; by default that which the data set declares, or the last."),
]
Ignore = Annotated[_Names, Option(help="A column to leave out; repeatable.")]
Keep = Annotated[
    _Names,
    Option(help="A column to keep although it looks like an identifier or a leak; repeatable."),
]
Nominal = Annotated[_Names, Option(help="A column of labels; repeatable.")]
Numeric = Annotated[_Names, Option(help="A column of numbers; repeatable.")]
Groups = Annotated[_Text, Option(help="A column with the group of each row.")]
Missing = Annotated[
    _Names,
    Option(
        help="A marker of missing values; repeatable. Default: '' and ?; among numbers also NA, "
        "nan, null, - and the like."
    ),
]


def data(
    file: DataFile,
    target: Target = None,
    ignore: Ignore = None,
    nominal: Nominal = None,
    numeric: Numeric = None,
    groups: Groups = None,
    keep: Keep = None,
    missing: Missing = None,
    separator: Annotated[_Text, Option(help="Separator of values (default: detected).")] = None,
    encoding: Annotated[_Text, Option(help="Encoding of the text (default: detected).")] = None,
    get: Annotated[bool, Option("--get", help="Store it, too, as an ARFF file.")] = False,
    out: Annotated[Path | None, written("With --get: the file (default: <name>.arff).")] = None,
) -> None:
    """Describe a data set: its variables, missing values, classes and anything odd."""
    from simstudy.data.files.assembly import ReadOptions
    from simstudy.data.files.read import data_text, read_data_set

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
    if out is not None and not get:
        raise SimstudyError("--out names the file that --get stores; it has no meaning without it")
    with busy(f"reading {file}"):
        table = read_data_set(file, reading, describe=True)
        if get:
            place = out or Path(f"{table.name}.arff")
            _store(place, data_text(file, reading))
        odd = _odd(table)
    lines = [*_heading(table), "", *_variables(table.sample)]
    lines += [] if table.refusal else ["", *_classes(table.sample)]
    lines += ["", "Warnings:"] * bool(odd)
    for text in odd:
        lines += _wrapped(text, "  - ", "    ")
    if get:
        lines += ["", *_wrapped(f"Stored as {place}.")]
    for line in lines:
        echo(line)


def compare_learners(
    data: Annotated[
        list[str], Argument(metavar="DATA...", help="Data files, or names such as uci:iris.")
    ],
    target: Target = None,
    learner: Annotated[
        _Names, Option(help="A learner, or a classifier by its path; repeatable.")
    ] = None,
    measure: Annotated[_Names, Option(help="A measure; repeatable, the primary one first.")] = None,
    folds: Annotated[_Number, Option(min=2, help="Folds of cross-validation.")] = None,
    repeats: Annotated[_Number, Option(min=1, help="Repeats of cross-validation.")] = None,
    ignore: Ignore = None,
    keep: Keep = None,
    nominal: Nominal = None,
    numeric: Numeric = None,
    groups: Groups = None,
    missing: Missing = None,
    out: Annotated[
        Path | None, written("Directory for results (default: one below results/).")
    ] = None,
    seed: Annotated[int, Option(min=0, help="Seed of splits and learners.")] = 1,
    jobs: Jobs = None,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
    details: Details = False,
) -> None:
    """Compare learners on your data: cross-validate, score, test and report."""
    workers = min(jobs or available_processors(), available_processors())
    with spare_children(workers if workers > 1 else 0):
        from simstudy.workflow.compare_data import (
            LEARNERS,
            ComparisonWarning,
            compare,
            failed_everywhere,
        )

        scheme = {"folds": folds, "repeats": repeats}
        stated = {key: value for key, value in scheme.items() if value is not None}
        keys: dict[str, object] = {"ignore": ignore, "keep": keep, "nominal": nominal}
        keys |= {"numeric": numeric, "groups": groups, "missing_values": missing}
        reading = {key: value for key, value in keys.items() if value}
        warnings.simplefilter("ignore", ComparisonWarning)  # printed below
        with watched(quiet) as progress, stoppable():
            results = compare(
                [{"path": path, **reading} for path in data],
                target,
                learner or LEARNERS,
                resampling={"scheme": "cv", **stated} if stated else None,
                measures=measure or None,
                out=out,
                seed=seed,
                progress=progress,
                jobs=jobs,
                overwrite=overwrite,
            )
        report_failures(results.manifest["failures"], results.directory, quiet)
        if not quiet:
            print_results(results, details=details)
        for text in failed_everywhere(results):
            echo(shortened(text, _MAX_ERROR), err=True)
    if results.manifest["failures"]:
        raise Exit(SOME_FAILED)


def _odd(table: RowsRead) -> list[str]:
    """What is odd about a table."""
    from simstudy.data.checks import oddities, rare_classes
    from simstudy.data.quick_check import quick_check
    from simstudy.engine.seeds import stream

    if table.refusal:
        return [*oddities(table), table.refusal]
    quick = quick_check(table.sample, table.keep, stream(0, "data", 0, "check"))
    return [*oddities(table), *rare_classes(table.sample), *quick]


def _store(place: Path, text: str) -> None:
    """Write a table to a file that does not have another content."""
    from simstudy.results.store.atomic_files import write_text

    if place.suffix != ".arff":
        raise SimstudyError(f"--out: {place} must end in .arff")
    if place.exists() and (not place.is_file() or place.read_bytes() != text.encode()):
        raise SimstudyError(f"{place} exists with other content; choose another --out")
    write_text(place, text)


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
    classes = f"target '{schema.target.name}' with {schema.target.card} classes"
    text += f"'{schema.target.name}' would be refused as a target" if table.refusal else classes
    if sample.groups is not None:
        text += f"; {counted(len(np.unique(sample.groups)), 'group')} of rows"
    return [*_wrapped(text), *(line for note in table.target_note for line in _wrapped(note))]


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
        long = len(label) > width
        lines += _wrapped(label) if long else []
        share = f"{count:>8,.0f}  {count / len(sample):6.1%}"
        lines.append(f"{'' if long else label:<{width}}  {share}")
    return lines


def advise(
    data: DataFile,
    target: Target = None,
    out: Annotated[
        Path | None, written("Directory for the page (default: results/advise-<name>).")
    ] = None,
    ignore: Ignore = None,
    keep: Keep = None,
    nominal: Nominal = None,
    missing: Missing = None,
    rows: Annotated[_Numbers, Option(help="A number of rows to predict for; repeatable.")] = None,
    fitter: Annotated[str, Option(help=f"What fits the simulated truths: {_LISTED}.")] = "auto",
    models: Annotated[int, Option(help="Number of simulated truths.")] = 40,
    seed: Annotated[int, Option(min=0, help="Seed of all random streams.")] = 1,
    jobs: Jobs = None,
    quiet: Quiet = False,
    overwrite: Overwrite = False,
) -> None:
    """Advise on a table: which learner does best, and what more rows would bring."""
    if fitter not in _FITTERS:
        raise SimstudyError(f"--fitter: '{fitter}' is unknown; choose one of {_LISTED}")

    @contextlib.contextmanager
    def watch(part: str) -> Iterator[Progress | None]:
        if part in _DOING and not quiet:
            echo(_DOING[part], err=True)
        with busy(f"reading {data}", quiet) if part == "reading" else watched(quiet) as progress:
            yield progress

    workers = jobs or available_processors()
    # Workers start while this process still imports modules.
    with stoppable(), spare_children(workers if workers > 1 else 0):
        from simstudy.advice.advise import advise as advise_on

        advice = advise_on(
            data,
            target,
            out,
            ignore=ignore or (),
            keep=keep or (),
            nominal=nominal or (),
            missing_values=missing,
            rows=rows or (),
            fitter=fitter,  # type: ignore[arg-type]
            models=models,
            seed=seed,
            jobs=jobs,
            overwrite=overwrite,
            watch=watch,
        )
    if not quiet:
        _print(advice)


def _print(advice: Advice) -> None:
    from simstudy.advice.page import gain_table, now_table
    from simstudy.advice.prose import left_out
    from simstudy.report.terminal import make_console, print_table

    console = make_console()
    for sentence in left_out(advice.about):
        console.print(f"Note: {sentence}", markup=False)
    print_table(now_table(advice), console)
    print_table(gain_table(advice), console)
    for sentence in advice.sentences:
        console.print(f"- {sentence}", markup=False)
    console.print(f"Page: {advice.page}", markup=False, soft_wrap=True)
