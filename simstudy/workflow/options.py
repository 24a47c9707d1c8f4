"""Options of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict


@dataclass(frozen=True)
class RunOptions:
    """Options of a run; scores do not depend on the number of jobs or the cluster."""

    jobs: int | None = None  # worker processes; one per processor if None
    cluster: str | None = None  # the address of a Dask scheduler, or "local" to start one
    overwrite: bool = False  # replace existing results
    report: bool = True  # write tables and figures, not only scores
    fail_fast: bool = False  # raise an error at the first cell that fails
    retry: bool = False  # rerun the cells that failed before
    refine: bool | None = None  # add sizes around crossings; None: as in the study or its results


class Options(TypedDict, total=False):
    """The fields of `RunOptions` as keywords."""

    jobs: int | None
    cluster: str | None
    overwrite: bool
    report: bool
    fail_fast: bool
    retry: bool
    refine: bool | None
