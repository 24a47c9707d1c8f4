"""The results of a study: what it wrote, the analyses of it, and figures."""

from __future__ import annotations

from pathlib import Path

from simstudy.results.plots import Plots


def open_results(directory: str | Path) -> Results:
    """Open the results that a study wrote."""
    return Results(Path(directory))


class Results(Plots):
    """What a study found.

    Attributes
    ----------
    directory : Path
        Where the files are.
    study : Study
        The study as it was run; nothing that it names is looked up or executed.
    settings : dict
        The same as a dictionary, section by section.
    manifest : dict
        What made the results: versions, seed, fingerprint, seconds.
    reused : bool
        Whether they were there already when the study was run.
    note : str
        What else should be known of how they were made; mostly empty.
    """

    def _repr_html_(self) -> str:
        """What a notebook shows: the design and the means."""
        from simstudy.report.tables.html import notebook_summary

        return notebook_summary(self)
