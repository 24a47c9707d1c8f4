"""``python -m simstudy.run STUDY.toml``, the same as ``simstudy run STUDY.toml``."""

from __future__ import annotations

import typer

from simstudy.cli.app import run_app
from simstudy.cli.run import run

if __name__ == "__main__":
    single = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    single.command()(run)
    run_app(single)
