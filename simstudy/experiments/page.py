"""What the page of an experiment says and shows, and the files that belong to it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, TypeAlias, TypeVar

from markupsafe import Markup

if TYPE_CHECKING:
    import pandas as pd

    from simstudy.analysis.models.findings import Absent, Findings
    from simstudy.analysis.models.standings import Standing
    from simstudy.measures.base import MeasureInfo
    from simstudy.report.charts.layout import Maker
    from simstudy.report.charts.spec import Chart
    from simstudy.report.tables.table import Table
    from simstudy.results.read.open import Results
    from simstudy.study.study import Study
    from simstudy.workflow.progress import Progress

Passage: TypeAlias = "tuple[str, Sequence[str]]"  # sentences, and the references they need
F = TypeVar("F", bound="Findings", contravariant=True)
R = TypeVar("R", bound="Results", contravariant=True)


class Opening(NamedTuple):
    """The figure beside the finding: for wide and for narrow screens, with its caption."""

    wide: Markup
    narrow: Markup
    caption: str
    key: str = ""  # the class of the element that has the key of the treatments; empty for none
    chips: tuple[tuple[str, str], ...] = ()  # the classes and meanings of other colours
    name: str = ""  # on the button that shows it, if there are several
    more: tuple[Opening, ...] = ()  # shown in its place by their buttons


class Section(NamedTuple):
    """A section of a page.

    Attributes
    ----------
    name : str
        Its anchor.
    heading : str
        Its heading.
    content : object
        What is written besides the views of the measures.
    macro : str
        The macro of ``report/templates/sections.html`` that writes it, if its name is another one.
        ``"tables"`` writes a list of tables, ``"figure"`` panels and their caption.
    entry : str
        Its name in the contents, if that is not the heading.
    folded : bool
        Whether only its heading is shown at first.
    """

    name: str
    heading: str
    content: object = None
    macro: str = ""
    entry: str = ""
    folded: bool = False


class Overall(NamedTuple):
    """The mean of each treatment by one measure."""

    means: Mapping[str, float]
    best: str | None  # the treatment of the best mean
    where: str  # over what the means are
    standings: Sequence[Standing] = ()  # by size, or over data sets, if treatments are compared
    tests: str = ""  # by which


class Goal(NamedTuple):
    """What a study is planned for, and how its pilot is run."""

    mcse: float | None  # the Monte-Carlo standard error of means
    difference: float | None  # to be detected
    power: float  # to detect it
    models: int  # of the pilot
    jobs: int | None
    progress: Progress | None


class TerminalLine(NamedTuple):
    """A line for the terminal; further ones are indented by its lead."""

    text: str
    style: str = ""
    lead: str = ""


class Page(Protocol[F, R]):
    """The sentences, figures, tables and files of one experiment.

    Attributes
    ----------
    opening_name : str
        The anchor of the opening.
    extra : str
        The name of a style sheet and a script that only this page has; empty for none.
    needs : tuple of str
        Sentences on what a study needs beside its file.
    joined : bool
        Whether studies are compared on one scale, curve beside curve.
    rerun_figures : tuple of str
        The figures for which cells are run again.
    failed_by : tuple of str
        Heads of `failed` by which failed cells are counted.
    """

    opening_name: ClassVar[str] = "curves"
    extra: ClassVar[str] = ""
    needs: ClassVar[tuple[str, ...]] = ()
    joined: ClassVar[bool] = False
    rerun_figures: ClassVar[tuple[str, ...]] = ()
    failed_by: ClassVar[tuple[str, ...]] = ()

    # What is said

    def question(self, study: Study, findings: F) -> str:
        """Return the question in one sentence."""

    def design(self, study: Study) -> str:
        """Return what was run, in one line."""

    def facts(self, study: Study) -> list[tuple[int, str]]:
        """Return numbers and what they count, for the head of the page."""

    def finding(self, results: R, findings: F) -> str:
        """Return the sentences that open a page."""

    def statements(self, results: R, findings: F) -> list[str]:
        """Return the findings in detail."""

    def aims(self, study: Study) -> str:
        """Return what the study is for: "To compare …"."""

    def estimands(self, study: Study, info: MeasureInfo) -> str:
        """Return what is estimated."""

    def mechanism(self, results: R) -> Iterator[Passage]:
        """Return where the data come from and how they are prepared."""

    def analysis(self, results: R) -> Iterator[Passage]:
        """Return sentences on means, intervals and tests."""

    def consequence(self, study: Study) -> str:
        """Return what failed cells mean for the analysis."""

    def results(self, results: R) -> list[str]:
        """Return what was found by the primary measure, with the key numbers."""
        findings: Any = results.findings()
        return [self.finding(results, findings), *self.statements(results, findings)]

    # The page

    def shown(self, results: R) -> list[int]:
        """Return the places of the scores that the page has views of."""
        return [*range(len(results.measures))]

    def opening(self, results: R, findings: F, index: int) -> Opening:
        """Return the figure beside the finding by a measure."""

    def thumbnail(self, results: R, findings: F) -> Chart:
        """Return the chart that is the small picture of a study on the page of all studies."""

    def view(self, results: R, findings: F, index: int) -> dict[str, object]:
        """Return what the sections show by one measure."""

    def sections(self, results: R) -> list[Section]:
        """Return the sections in their order, without the last one, on how to run it again."""

    def failed(self, results: R, failure: Mapping[Hashable, Any]) -> dict[str, str]:
        """Return which cell failed, by the heads of a table."""

    # Files and the terminal

    def figures(self, results: R) -> dict[str, Maker]:
        """Return the figures for print by the names of their files."""

    def kept_figures(self, results: R) -> dict[str, Maker]:
        """Return the figures that a study leaves beside its scores."""
        return {}

    def files(self, results: R) -> dict[str, pd.DataFrame]:
        """Return the tables that a study leaves beside its scores, by file."""

    def tables(self, results: R) -> dict[str, Table | Absent]:
        """Return the tables for papers by name."""

    def made(self, study: Study) -> str:
        """Return how numbers were made, at the end of the captions of tables."""
        return f"{self.design(study)}."

    def means(self, results: R) -> list[Table]:
        """Return the means of the primary measure."""

    def summary(self, results: R) -> Iterator[Table | TerminalLine]:
        """Return what a terminal shows: means and who beats whom, in a few lines."""

    def details(self, results: R) -> Iterator[Table | TerminalLine]:
        """Return what it shows on demand: all means, and all that the tests say."""

    def plan(self, study: Study, goal: Goal) -> list[str]:
        """Run a pilot of some models, or of the first splits, and say what the study will take."""

    def gaps(self, results: R) -> list[str]:
        """Return what is missing besides failed cells, for the terminal."""
        return []

    # Comparisons of studies

    def overall(self, results: R, measure: str) -> Overall:
        """Return the mean of each treatment by a measure."""
