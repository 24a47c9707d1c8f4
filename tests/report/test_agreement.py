"""No page contradicts itself or the scores: what it says of pairs is read and computed again.

The mutations below change one place at a time, so that the reader must find a contradiction.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy import open_results
from simstudy.analysis.models import findings as analysis
from simstudy.analysis.models.findings import ModelFindings
from simstudy.analysis.tests.pairwise import pairwise
from simstudy.report.pages.page import report_page
from simstudy.report.terminal import make_console, print_summary
from simstudy.study.lists import load_collection
from simstudy.workflow.lists import page as list_page
from tests.report.agreement import brief, studies
from tests.report.agreement.compare import Comparison
from tests.report.agreement.page import Page, terminal
from tests.report.agreement.running import Faults, Runner, also, collected, mutate, of
from tests.report.agreement.said import Said
from tests.report.agreement.truth import between_fault, truth_of

pytestmark = pytest.mark.xdist_group("agreement")  # the studies are run once
ADJUSTMENTS = ("bonferroni_all", "bonferroni", "holm", "none")


@pytest.fixture(scope="session")
def ran(tmp_path_factory):
    return Runner(tmp_path_factory.mktemp("agreement"))


def page_faults(directory: Path, text: str = "") -> Faults:
    """Return what the scores contradict on a report; that of the directory if none is given."""
    said = Page(text, truth_of(directory).sizes).said() if text else stored(directory)
    truths = {at: truth_of(directory, at) for at in said}
    return collected([(one, truths[at].fault(one)) for at in said for one in said[at]])


@cache
def stored(directory: Path) -> dict[int, list[Said]]:
    """Read the report of a directory once."""
    text = (directory / "report.html").read_text(encoding="utf-8")
    return Page(text, truth_of(directory).sizes).said()


def terminal_faults(directory: Path, printed: str) -> Faults:
    truth = truth_of(directory)
    said = terminal(printed, truth.learners, truth.sizes)
    return collected([(one, truth.fault(one)) for one in said])


def list_faults(directory: Path, text: str = "") -> Faults:
    text = text or (directory / "compare.html").read_text(encoding="utf-8")
    truths = {name: truth_of(directory / name) for name in studies.LISTED}
    designs = {name: (truth.learners, truth.sizes) for name, truth in truths.items()}
    pairs = []
    for name, said in Comparison(text, designs).said():
        truth = truths[name]
        if said.kind == "between":
            other = truths[said.whom]
            wrong = between_fault(truth, other, truth.seed == other.seed, said)
        else:
            wrong = truth.fault(said)
        pairs.append((said, wrong))
    return collected(pairs)


@pytest.mark.parametrize("name", studies.STUDIES)
def test_the_page_says_what_the_scores_say(ran, name):
    directory, _ = ran(name)
    assert page_faults(directory) == {}


@pytest.mark.parametrize("name", studies.STUDIES)
def test_the_terminal_says_what_the_scores_say(ran, name):
    directory, printed = ran(name)
    assert terminal_faults(directory, printed) == {}
    if name in ("measures", "estimators", "tests"):
        assert "One learner overtakes" not in printed


def test_the_page_of_a_list_says_what_the_scores_say(ran):
    directory, printed = ran("list")
    assert list_faults(directory) == {}
    said = re.search(r"Of \d+ statements about these studies, .*", printed)
    assert said
    assert said[0] in (directory / "compare.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", studies.STUDIES)
def test_every_part_of_a_page_and_of_the_terminal_is_read(ran, name):
    directory, printed = ran(name)
    parts = {"finding", "statements", "marks", "method", "bands", "thresholds", "pairs"}
    for own in stored(directory).values():
        # Of type I errors, of which fewer are no merit, nothing is said but in the tables.
        ranked = parts - ({"statements"} if name in ("tests", "once") else set())
        assert ranked <= {one.where for one in own}
        assert [one.kind for one in own if one.where == "method"] == ["family", "tests"]
    truth = truth_of(directory)
    lines = {one.where for one in terminal(printed, truth.learners, truth.sizes)}
    assert {f"terminal {part}" for part in ("finding", "marks", "pairs", "courses")} <= lines


def decisions(directory: Path, place: int, adjustment: str = "") -> dict[Any, str]:
    truth = truth_of(directory, place, adjustment)
    return {key: truth.verdict(*key[1:], key[0]) for key in truth.p}


@pytest.mark.slow
@pytest.mark.parametrize("name", studies.STUDIES)
def test_some_decisions_hang_on_the_adjustment(ran, name):
    """Otherwise no test here could see one."""
    directory, _ = ran(name)
    columns = len(stored(directory))
    own = [decisions(directory, place) for place in range(columns)]
    turned = {
        adjustment
        for adjustment in ADJUSTMENTS
        for place in range(columns)
        if decisions(directory, place, adjustment) != own[place]
    }
    assert turned
    shown = {verdict for each in own for verdict in each.values()}
    assert "level" in shown
    assert name == "two" or shown & {"ahead", "behind"}


def in_brief(results: Any, monkeypatch: pytest.MonkeyPatch, width: int = 2000) -> str:
    """What a run prints without details."""
    monkeypatch.setenv("COLUMNS", str(width))
    console = make_console()
    with console.capture() as printed:
        print_summary(results, console)
    return printed.get()


def beaten_faults(directory: Path, printed: str) -> list[str]:
    """Where the lines on who beats whom differ from the scores."""
    truth, wrong = truth_of(directory), []
    for size, text in brief.lines(printed):
        if len(truth.learners) > 5:
            best, beats, level = brief.leader(text, truth.learners)
            near = truth.rivals(best, size, "level") | truth.rivals(best, size, "identical")
            facts = (best in truth.best(size), beats, near if level is None else level)
            expected = (True, len(truth.rivals(best, size, "ahead")), near)
        else:
            pairs = permutations(truth.learners, 2)
            facts = brief.won(text, truth.learners)
            expected = {pair for pair in pairs if truth.verdict(*pair, size) == "ahead"}
        wrong += [f"{size}: {text}"] * (facts != expected)
    return wrong


def rate_faults(directory: Path, printed: str) -> list[str]:
    """Where the rates of rejection of tests differ from the scores."""
    scores, wrong = pd.read_parquet(directory / "scores.parquet"), []
    nulls = [column for column in scores if column.startswith("type_1")]
    power = next(column for column in scores if column.startswith("power"))
    heads = re.search(r"(?m)^test((?: +[\d,]+)+) *$", printed)
    assert heads
    for (test, size), rows in scores.groupby(["learner", "size"]):
        line = re.search(rf"(?m)^{re.escape(test)} {{2,}}(.*)$", printed)
        assert line
        cells = dict(zip(heads[1].split(), re.split(r"†? {2,}", line[1]), strict=True))
        means = rows[nulls].mean().max(), rows[power].mean()
        text = cells[f"{size:,}"].rstrip("† ")
        shown = [float(part) for part in text.split(" / ")]
        wrong += [f"{test}, {size}: {text}"] * (not np.allclose(shown, means, rtol=0, atol=6e-4))
    return wrong


@pytest.mark.parametrize("name", studies.STUDIES)
def test_a_run_says_in_brief_what_the_scores_say(ran, monkeypatch, name):
    directory, _ = ran(name)
    truth, printed = truth_of(directory), in_brief(ran.results(name), monkeypatch)
    assert beaten_faults(directory, printed) == []
    shown = brief.means(printed, truth.learners)
    assert {size for _, size in shown} >= {truth.sizes[0], truth.sizes[-1]}
    if "Type I error / " in printed:
        assert rate_faults(directory, printed) == []
        return
    assert {name for at in truth.sizes for name in truth.best(at)} & {name for name, _ in shown}
    for key, text in shown.items():
        name, size = key
        if text in ("–", "∞", "−∞"):
            continue
        decimals = len(text.partition(".")[2])
        mean = truth.sign * truth.means[size, name]
        assert float(text.replace("−", "-").replace(",", "")) == pytest.approx(
            mean, abs=0.5001 * 10.0**-decimals
        )


@pytest.mark.parametrize(("name", "change"), [("close", "unadjusted"), ("five", "by_pairs")])
def test_a_brief_that_decides_otherwise_is_found(ran, monkeypatch, name, change):
    directory, _ = ran(name)
    mutate(monkeypatch, "simstudy.experiments.models_page.beaten", of(globals()[change]))
    assert beaten_faults(directory, in_brief(ran.results(name), monkeypatch))


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("name", studies.STUDIES)
def test_no_number_of_a_brief_is_broken(ran, monkeypatch, name, width):
    printed = in_brief(ran.results(name), monkeypatch, width)
    whole = in_brief(ran.results(name), monkeypatch)
    assert max(map(len, printed.splitlines())) <= width
    assert width < 80 or len(printed.splitlines()) <= 24
    numbers = re.compile(r"[+−]?\d[\d,.]*")
    assert {*numbers.findall(whole)} == {*numbers.findall(printed)}


# One place at a time is changed


def unadjusted(findings: ModelFindings) -> ModelFindings:
    return replace(findings, design=replace(findings.design, adjustment="none"))


def by_pairs(findings: ModelFindings) -> ModelFindings:
    return replace(findings, design=replace(findings.design, adjustment="bonferroni"))


def confident(findings: ModelFindings) -> ModelFindings:
    return replace(findings, design=replace(findings.design, confidence=0.8))


def upside_down(findings: ModelFindings) -> ModelFindings:
    info = findings.info
    return replace(findings, info=replace(info, greater_is_better=not info.greater_is_better))


def complete(findings: ModelFindings) -> ModelFindings:
    scores = findings.scores
    lost = scores["model"][scores[findings.measure].isna()]
    return replace(findings, scores=scores[~scores["model"].isin(lost)])


def own_sizes(findings: ModelFindings) -> ModelFindings:
    return replace(findings, added=findings.added.iloc[:0])


def shrunk(real: Callable[..., str]) -> Callable[..., str]:
    """Draw a band nearer to its middle than its numbers are."""

    def band(low: Any, high: Any) -> str:
        both = [(a, b, (a[1] + b[1]) / 2) for a, b in zip(low, high, strict=True)]
        inner = [[(x, y + 0.4 * (m - y)) for (x, y), m in side] for side in _sides(both)]
        return real(*inner)

    return band


def _sides(both: Any) -> list[Any]:
    return [[(a, m) for a, _, m in both], [(b, m) for _, b, m in both]]


def thresholds_by(change: Callable[[ModelFindings], ModelFindings]) -> Callable[..., Any]:
    return lambda real: lambda findings, shown, alone: real(change(findings), None, alone)


def thresholds_of(change: Callable[[ModelFindings], ModelFindings]) -> Callable[..., Any]:
    return lambda real: lambda findings, index: real(change(findings), index)


def turned(real: Callable[[Any], str]) -> Callable[[Any], str]:
    """Name the learner that is overtaken first."""
    return lambda change: real(replace(change, ahead=change.behind, behind=change.ahead))


def overall_by(change: Callable[[ModelFindings], ModelFindings]) -> Callable[..., Any]:
    return lambda real: (
        lambda page, results, measure: real(page, results, measure)._replace(
            standings=change(results.findings(measure)).standings
        )
    )


def bare(real: Callable[..., Any]) -> Callable[..., Any]:
    """Leave the last learner that is not separated from the leader without a stripe."""
    return lambda column, row, rivals: real(column, row, rivals[:-1])


def forest_by(change: Callable[[ModelFindings], ModelFindings]) -> Callable[..., Any]:
    """Draw differences from a leader by changed tests."""

    def by(real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda findings, standing, *rest: real(
            findings,
            next(at for at in change(findings).standings if at.size == standing.size),
            *rest,
        )

    return by


def one_more(real: Callable[[str, int], str]) -> Callable[[str, int], str]:
    return lambda adjustment, m: real(adjustment, m + 1)


def single(real: Callable[..., Any]) -> Callable[..., Any]:
    """Leave intervals of coverages unadjusted."""
    return lambda counts, n, confidence, m: real(counts, n, confidence)


def worse(real: Callable[..., str]) -> Callable[..., str]:
    """Name only the last of those that are worse, or count one more."""

    def changed(*rest: Any) -> str:
        text = re.sub("only .*(?:, | and )(?=[^,]* (?:is|are) )", "only ", real(*rest))
        return re.sub(r"\d+(?= of \d+ others)", lambda number: str(int(number[0]) + 1), text)

    return changed


def all_kept(real: property) -> property:
    return property(lambda results: [*dict.fromkeys(cell.test for cell in results.rejections)])


def to_the_last(real: Callable[..., Any]) -> Callable[..., Any]:
    """Compare measures with the last of them."""

    def needed(*rest: Any) -> Any:
        table = real(*rest)
        return table.assign(note=table["note"].tolist()[::-1])

    return needed


CHARTS, TABLES = "simstudy.report.charts", "simstudy.report.tables.findings"
PAGE, KINDS = "simstudy.experiments.models_page", "simstudy.experiments"
ON_PAGES = [
    ("close", f"{PAGE}.finding", of(unadjusted), {"finding"}),
    ("many", f"{PAGE}.finding", of(by_pairs), {"finding"}),
    ("close", f"{PAGE}.statements", of(unadjusted), {"statements"}),
    ("failing", f"{PAGE}.statements", of(by_pairs), {"statements"}),
    ("five", f"{TABLES}._marks", of(by_pairs), {"marks"}),
    ("estimators", f"{TABLES}._marks", of(confident), {"marks"}),
    ("close", f"{TABLES}.pairs", of(unadjusted), {"pairs"}),
    ("measures", f"{TABLES}.pairs", of(unadjusted), {"pairs"}),
    ("failing", f"{TABLES}.pairs", of(complete), {"pairs"}),
    ("three", f"{TABLES}.pairs", of(upside_down), {"pairs"}),
    ("five", f"{TABLES}.pairs", of(by_pairs), {"pairs"}),
    ("close", f"{CHARTS}.pairs.difference", of(unadjusted), {"bands", "drawn bands"}),
    ("three", f"{CHARTS}.pairs.difference", of(confident), {"bands", "drawn bands"}),
    ("close", f"{CHARTS}.distance.places", of(unadjusted), {"distances", "drawn distances"}),
    ("two", f"{CHARTS}.distance.places", of(upside_down), {"distances"}),
    ("many", f"{CHARTS}.distance._strip", of(unadjusted), {"strip"}),
    ("many", f"{CHARTS}.distance.forest", forest_by(unadjusted), {"forest"}),
    ("two", f"{CHARTS}.svg.band", shrunk, {"drawn bands"}),
    ("close", f"{PAGE}._timeline", thresholds_of(own_sizes), {"timeline"}),
    ("close", f"{PAGE}._timeline", thresholds_of(unadjusted), {"timeline"}),
    ("close", f"{CHARTS}.pairs.overtaking", turned, {"timeline"}),
    ("close", f"{TABLES}.thresholds", thresholds_by(own_sizes), {"thresholds"}),
    ("three", f"{TABLES}.thresholds", thresholds_by(unadjusted), {"thresholds"}),
    ("three", "simstudy.report.prose.statements.adjusted_for", one_more, {"method"}),
    ("many", "simstudy.report.prose.finding._worse", worse, {"finding"}),
    (
        "estimators",
        f"{KINDS}.estimators.results.clopper_pearson",
        single,
        {"finding", "statements"},
    ),
    ("tests", f"{KINDS}.tests.results.TestResults.keeping", all_kept, {"finding"}),
    ("measures", f"{KINDS}.measures.results.rows_needed", to_the_last, {"finding"}),
    ("two", f"{PAGE}.statements", also("TAN is far ahead of NB."), {"statements"}),
    ("two", "simstudy.report.prose.captions.pairs", also("TAN beats NB."), {"page"}),
]
IN_TERMINALS = [
    ("close", "finding", of(unadjusted), {"terminal finding"}),
    ("three", "verdicts", of(unadjusted), {"terminal pairs"}),
    ("close", "pairwise.course_sentences", of(unadjusted), {"terminal courses"}),
    ("five", "build.means", of(by_pairs), {"terminal marks", "terminal method"}),
]
ON_LISTS = [
    (f"{PAGE}.finding", of(by_pairs), {"findings"}),
    (f"{PAGE}.statements", of(by_pairs), {"statements"}),
    ("simstudy.report.charts.curves._against_leaders", of(unadjusted), {"leads"}),
    (f"{PAGE}.ModelsPage.overall", overall_by(unadjusted), {"grid"}),
    ("simstudy.report.charts.winners._stripes", bare, {"grid"}),
]


def seen(found: Faults, places: set[str]) -> None:
    """Require contradictions in these places alone, and not of printed numbers only."""
    assert {*found} == places
    assert {kind for each in found.values() for kind, _ in each} - {"numbers"}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target", "change", "places"), ON_PAGES)
def test_a_page_that_decides_otherwise_in_one_place_is_found(
    ran, monkeypatch, name, target, change, places
):
    directory, _ = ran(name)
    mutate(monkeypatch, target, change)
    seen(page_faults(directory, report_page(open_results(directory))), places)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target", "change", "places"), IN_TERMINALS)
def test_a_terminal_that_decides_otherwise_in_one_place_is_found(
    ran, monkeypatch, name, target, change, places
):
    directory, _ = ran(name)
    mutate(monkeypatch, f"{PAGE}.{target}", change)
    monkeypatch.setenv("COLUMNS", "2000")
    console = make_console()
    with console.capture() as printed:
        print_summary(ran.results(name), console, details=True)
    seen(terminal_faults(directory, printed.get()), places)


@pytest.mark.slow
@pytest.mark.parametrize(("target", "change", "places"), ON_LISTS)
def test_a_page_of_a_list_that_decides_otherwise_in_one_place_is_found(
    ran, monkeypatch, target, change, places
):
    directory, _ = ran("list")
    mutate(monkeypatch, target, change)
    results = [open_results(directory / name) for name in studies.LISTED]
    text = list_page(load_collection(ran.directory / "list.toml"), results)
    seen(list_faults(directory, text), places)


def test_claims_by_other_tests_than_the_study_s_are_found(ran, monkeypatch):
    directory, _ = ran("list")
    real = analysis.ModelFindings.pairs_at
    monkeypatch.setattr(ModelFindings, "pairs_at", lambda self, size: real(unadjusted(self), size))
    results = [open_results(directory / name) for name in studies.LISTED]
    text = list_page(load_collection(ran.directory / "list.toml"), results)
    assert "claims" in list_faults(directory, text)


def test_thresholds_with_tests_of_their_own_are_found(ran, monkeypatch):
    directory, _ = ran("close")
    real = analysis.courses

    def alone(table, tests=None, **options):
        return real(table, **options, adjustment="none")

    monkeypatch.setattr(analysis, "courses", alone)
    found = page_faults(directory, report_page(open_results(directory)))
    assert {*found} == {"thresholds", "statements", "timeline"}


def test_a_family_without_the_added_sizes_is_found(ran, monkeypatch):
    directory, _ = ran("close")

    def narrow(self):
        options = {"confidence": self.design.confidence, "adjustment": self.design.adjustment}
        return pairwise(self.scores, value=self.measure, **options)

    monkeypatch.setattr(ModelFindings, "pairwise", property(narrow))
    found = page_faults(directory, report_page(open_results(directory)))
    assert {"method", "pairs", "statements"} <= {*found}
    assert ("family", "m is {21}, not 12") in found["method"]
