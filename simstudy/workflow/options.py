"""Options of a run."""

from __future__ import annotations

from typing import TypedDict


class RunOptions(TypedDict, total=False):
    """Options of a run; scores do not depend on the number of jobs or the cluster."""

    jobs: int | None  # worker processes; one per processor if None
    cluster: str | None  # the address of a Dask scheduler, or "local" to start one
    overwrite: bool  # replace existing results
    report: bool  # write tables and figures, not only scores; the default
    fail_fast: bool  # raise an error at the first cell that fails
    retry: bool  # rerun the cells that failed before
    refine: bool | None  # add sizes around crossings; None: as in the study or its results


def check_options(options: RunOptions) -> None:
    """Refuse an option that no run has."""
    for name in options:
        if name not in RunOptions.__annotations__:
            names = ", ".join(RunOptions.__annotations__)
            raise TypeError(f"unexpected keyword argument '{name}'; known: {names}")
