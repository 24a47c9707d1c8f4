"""The `simstudy` command: its verbs, its streams and its exit codes."""

from __future__ import annotations

import contextlib
import gc
import logging
import os
import sys
from typing import Annotated

import typer

import simstudy
from simstudy.cli import catalogue, data, report, run
from simstudy.engine.workers.child import ONE_THREAD
from simstudy.errors import SimstudyError
from simstudy.texts import on_one_line

app = typer.Typer(
    help="Simulation studies of probabilistic classifiers on synthetic Bayesian networks.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)
_COLLECTED = 200_000  # objects made between two collections of garbage
_INTERRUPTED, _READER_GONE = 130, 141  # as in shells, after SIGINT and SIGPIPE


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"simstudy {simstudy.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Options before the verb."""


_PANELS = {
    "Your own data": (data.advise, data.compare_learners),
    "Studies": (run.run, catalogue.studies, catalogue.new, catalogue.show),
    "Reference": (catalogue.list_, catalogue.schema, data.data),
    "Results": report.VERBS,
    "Design and scale": (run.plan, run.vary, run.cell, run.merge),
}
for _panel, _verbs in _PANELS.items():
    for _verb in _verbs:
        app.command(_verb.__name__.rstrip("_").replace("_", "-"), rich_help_panel=_panel)(_verb)


def main() -> None:
    """Entry point of the `simstudy` command."""
    run_app(app)


def run_app(application: typer.Typer) -> None:
    """Run a command; user-correctable errors are reported in one sentence, with exit code 2."""
    _repair_streams()
    os.environ.update(ONE_THREAD)  # before numpy is imported
    gc.set_threshold(_COLLECTED)  # the usual 700 cost imports and pages an eighth of their time
    # The summary reports what an analysis leaves out; the log is for programs.
    logging.getLogger("simstudy").addHandler(logging.NullHandler())
    try:
        code = application(standalone_mode=False)
        sys.stdout.flush()  # here, where an error is reported
    except SimstudyError as error:
        _report(str(error))
        code = error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        code = _INTERRUPTED
    except MemoryError:
        code = _report("there is not enough memory")
    except (BrokenPipeError, SystemExit) as error:
        # Whoever read the output has enough, as head does; typer itself ends with code 1 then.
        if not isinstance(error.__context__ or error, BrokenPipeError):
            raise
        code = _READER_GONE
        _discard_output()
    except OSError as error:  # e.g. a full disk
        code = _report(f"the operating system reports: {error}")
        _discard_output()
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        code = _report(error.format_message())  # an invalid option, from typer
    if code == _INTERRUPTED:
        _report("interrupted")
    gc.freeze()  # at the end Python would look through all objects for garbage once more
    sys.exit(code if isinstance(code, int) else 0)


def _discard_output() -> None:
    """Print what is left to the null device: it would fail again at the end."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def _repair_streams() -> None:
    """Let any character be printed, and open closed streams on the null device.

    Otherwise the number of a closed stream would be given to a file of the study.
    """
    streams = {"stdin": sys.stdin, "stdout": sys.stdout, "stderr": sys.stderr}
    for number, (name, stream) in enumerate(streams.items()):
        try:
            os.fstat(number)
        except OSError:
            # Opens as the lowest free number, this one; child processes inherit it.
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if stream is None:
            mode = "w" if number else "r"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
        elif name != "stdin" and hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def _report(message: str) -> int:
    if message:
        print(f"simstudy: {on_one_line(message)}", file=sys.stderr)
    return 2
