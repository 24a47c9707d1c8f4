"""No page of data sets contradicts itself or the scores; see test_agreement."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simstudy.analysis.datasets.across_datasets import OverSets
from simstudy.analysis.datasets.findings import DataFindings
from simstudy.report.charts.data import by_dataset
from simstudy.report.charts.spec import Marks
from simstudy.report.pages.page import report_page
from simstudy.report.prose.numbers import number
from simstudy.report.terminal import make_console, print_summary
from tests.report.agreement import brief, studies
from tests.report.agreement.data_page import DataPage, data_terminal
from tests.report.agreement.running import Faults, Runner, also, collected, mutate, of
from tests.report.agreement.sets import reversal_fault, truth_of

pytestmark = pytest.mark.xdist_group("data_agreement")  # the studies are run once


@pytest.fixture(scope="session")
def ran(tmp_path_factory):
    return Runner(tmp_path_factory.mktemp("data_agreement"))


def page_faults(directory: Path, text: str = "") -> Faults:
    """Return what the scores contradict on a report; that of the directory if none is given."""
    page = DataPage(text or (directory / "report.html").read_text(encoding="utf-8"))
    said = page.said()
    truths = {at: truth_of(directory, at) for at in said}
    found = collected((one, truths[at].fault(one)) for at in said for one in said[at])
    wrong = [reversal_fault(truths[0], truths[1], text) for text in page.reversals]
    return found | ({"reversals": [("reversal", one) for one in wrong]} if any(wrong) else {})


def terminal_faults(directory: Path, printed: str) -> Faults:
    truth = truth_of(directory)
    said = data_terminal(printed, truth.learners)
    return collected((one, truth.fault(one)) for one in said)


@pytest.mark.parametrize("name", studies.DATA_STUDIES)
def test_the_page_says_what_the_scores_say(ran, name):
    directory, _ = ran(name)
    assert page_faults(directory) == {}


@pytest.mark.parametrize("name", studies.DATA_STUDIES)
def test_the_terminal_says_what_the_scores_say(ran, name):
    directory, printed = ran(name)
    assert terminal_faults(directory, printed) == {}


@pytest.mark.parametrize("name", studies.DATA_STUDIES)
def test_every_part_of_a_page_and_of_the_terminal_is_read(ran, name):
    directory, printed = ran(name)
    parts, lines = {"finding", "statements", "winners"}, {"finding", "statements"}
    if name != "set":
        parts |= {"chart", "standings", "over", "diagram", "drawn diagram"}
        lines.add("standings")
    for own in DataPage((directory / "report.html").read_text(encoding="utf-8")).said().values():
        assert parts <= {one.where for one in own}
    said = data_terminal(printed, truth_of(directory).learners)
    assert {f"terminal {part}" for part in lines} <= {one.where for one in said}


@pytest.mark.slow
@pytest.mark.parametrize("name", studies.DATA_STUDIES)
def test_some_decisions_hang_on_the_adjustment(ran, name):
    directory, _ = ran(name)
    own, other = (truth_of(directory, 0, adjust) for adjust in (True, False))
    assert any(own.winner_on(*key) != other.winner_on(*key) for key in own.p)
    if name == "sets":
        assert any(own.winner_over(*pair) != other.winner_over(*pair) for pair in own.pairs())
        assert any(own.winner_over(*pair) for pair in own.pairs())
        assert any(own.dissents("Nemenyi").values())


def beaten_in_brief(results: Any, monkeypatch: pytest.MonkeyPatch, learners: list[str]) -> Any:
    """Who beats whom over the data sets, as the line of a run says."""
    line = r"(?m)^Over (\d+) data sets (.*) \(Wilcoxon's signed rank test, .* m = (\d+) pairs?"
    ((sets, text, m),) = re.findall(line, in_brief(results, monkeypatch))
    return int(sets), brief.won(text, learners), int(m)


@pytest.mark.parametrize("name", ["sets", "halves"])
def test_a_run_says_in_brief_what_the_scores_say(ran, monkeypatch, name):
    directory, _ = ran(name)
    truth = truth_of(directory)
    expected = {
        (winner, *({*pair} - {winner}))
        for pair in truth.pairs()
        if (winner := truth.winner_over(*pair))
    }
    said = beaten_in_brief(ran.results(name), monkeypatch, truth.learners)
    assert said == (len(truth.datasets), expected, len(truth.pairs()))
    assert expected or name != "sets"


def test_a_brief_that_decides_otherwise_is_found(ran, monkeypatch):
    directory, _ = ran("sets")
    learners = truth_of(directory).learners
    before = beaten_in_brief(ran.results("sets"), monkeypatch, learners)
    mutate(monkeypatch, f"{PAGE}.who_beats_whom", lambda real: lambda won, *rest: real([], *rest))
    assert beaten_in_brief(ran.results("sets"), monkeypatch, learners) != before


def test_a_run_on_a_single_set_prints_its_means(ran, monkeypatch):
    _, _ = ran("set")
    printed = in_brief(ran.results("set"), monkeypatch)
    assert "Over " not in printed
    findings = ran.results("set").data_findings()
    for label in findings.learners:  # a row each
        mean = number(findings.means[label].iloc[0])
        assert re.search(rf"(?m)^{re.escape(label)} {{2,}}{re.escape(mean)}(?!\d)", printed)


def test_marks_of_three_learners_on_a_data_set_do_not_hide_each_other(ran):
    findings = ran.results("halves").data_findings("accuracy")
    findings = replace(findings, scores=findings.scores.assign(accuracy=0.75))
    chart = by_dataset(findings)
    marks = [layer for layer in chart.layers if isinstance(layer, Marks) and layer.tips]
    for row in range(3):
        assert len({mark.y[row] for mark in marks}) == len(marks) == 3


def in_brief(results: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "2000")
    console = make_console()
    with console.capture() as printed:
        print_summary(results, console)
    return printed.get()


# One place at a time is changed


def unadjusted(findings: DataFindings) -> DataFindings:
    return replace(findings, adjustment="none")


def upside_down(findings: DataFindings) -> DataFindings:
    info = findings.info
    return replace(findings, info=replace(info, greater_is_better=not info.greater_is_better))


def of_less(real: Callable[..., Any]) -> Callable[..., Any]:
    """Leave the last mark out, unless all learners have theirs."""

    def marks(self: Any, names: Any, x: Any, y: Any) -> Any:
        last = len(x) if len(x) == len(self.learners) else -1
        return real(self, [*names][:last], x[:last], y[:last])

    return marks


def level(found: OverSets) -> OverSets:
    """Nobody is better than another."""
    pairs = tuple(replace(pair, winner="", loser="") for pair in found.pairs)
    return replace(found, pairs=pairs)


def by_nemenyi(real: property) -> property:
    """Join what Nemenyi's test does not separate."""

    def groups(found: OverSets) -> tuple[tuple[str, ...], ...]:
        apart = [found.apart(pair) >= found.nemenyi.critical_difference for pair in found.pairs]
        near = [pair for pair, far in zip(found.pairs, apart, strict=True) if not far]
        order = sorted(found.learners, key=found.ranks.__getitem__)
        return tuple(tuple(sorted((pair.first, pair.second), key=order.index)) for pair in near)

    return property(groups)


def silent(real: Callable[..., Any]) -> Callable[..., list[str]]:
    return lambda *rest: []


PAGE, PROSE = "simstudy.experiments.learners.data_page", "simstudy.report.prose"
ON_PAGES = [
    ("sets", f"{PAGE}.data_finding", of(unadjusted), {"finding"}),
    ("set", f"{PAGE}.data_finding", of(unadjusted), {"finding"}),
    ("sets", f"{PROSE}.finding._over_all_sets", of(level), {"finding"}),
    ("sets", f"{PAGE}.prose.data_statements", of(unadjusted), {"statements"}),
    ("sets", f"{PROSE}.data_statements.dissent_sentences", silent, {"statements"}),
    ("halves", f"{PAGE}.build.standings", of(unadjusted), {"standings"}),
    ("halves", f"{PAGE}.build.winners", of(unadjusted), {"winners"}),
    ("halves", f"{PAGE}.charts.by_dataset", of(upside_down), {"chart"}),
    ("sets", f"{PAGE}.charts.by_dataset", of(upside_down), {"chart"}),
    ("sets", "simstudy.report.charts.ranks._Diagram.marks", of_less, {"drawn diagram"}),
    ("sets", f"{PAGE}.build.pairs", of(level), {"over", "statements"}),
    (
        "sets",
        "simstudy.analysis.datasets.across_datasets.OverSets.groups",
        by_nemenyi,
        {"diagram", "drawn diagram"},
    ),
    ("halves", f"{PAGE}.prose.data_statements", also("NB is better than TAN."), {"page"}),
]
IN_TERMINALS = [
    ("data_finding", of(unadjusted), {"terminal finding"}),
    ("prose.data_statements", of(unadjusted), {"terminal statements"}),
    ("build.standings", of(unadjusted), {"terminal standings"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "target", "change", "places"), ON_PAGES)
def test_a_page_that_decides_otherwise_in_one_place_is_found(
    ran, monkeypatch, name, target, change, places
):
    directory, _ = ran(name)
    mutate(monkeypatch, target, change)
    assert {*page_faults(directory, report_page(ran.results(name)))} == places


@pytest.mark.slow
@pytest.mark.parametrize(("target", "change", "places"), IN_TERMINALS)
def test_a_terminal_that_decides_otherwise_in_one_place_is_found(
    ran, monkeypatch, target, change, places
):
    directory, _ = ran("halves")
    mutate(monkeypatch, f"{PAGE}.{target}", change)
    monkeypatch.setenv("COLUMNS", "2000")
    console = make_console()
    with console.capture() as printed:
        print_summary(ran.results("halves"), console, details=True)
    assert {*terminal_faults(directory, printed.get())} == places
