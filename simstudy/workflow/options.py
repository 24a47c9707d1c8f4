"""How a study is run, whatever the study."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict


@dataclass(frozen=True)
class RunOptions:
    """How a study is run; its scores are the same for any number of jobs and any cluster.

    Attributes
    ----------
    jobs : int, optional
        Worker processes; all processors if left out.
    cluster : str, optional
        The address of a Dask scheduler whose workers do the work, or "local" to start one here.
    overwrite : bool
        Replace whatever results are there.
    report : bool
        Whether to write tables and figures beside the scores.
    fail_fast : bool
        Raise an error at the first cell that fails, instead of noting it and going on.
    retry : bool
        Run the cells again that failed in an earlier run.
    refine : bool, optional
        Whether to add sizes around crossings, for the thresholds alone; if left out, as the study
        says, and where results were refined before.
    """

    jobs: int | None = None
    cluster: str | None = None
    overwrite: bool = False
    report: bool = True
    fail_fast: bool = False
    retry: bool = False
    refine: bool | None = None


class Options(TypedDict, total=False):
    """The fields of `RunOptions` as keywords."""

    jobs: int | None
    cluster: str | None
    overwrite: bool
    report: bool
    fail_fast: bool
    retry: bool
    refine: bool | None
