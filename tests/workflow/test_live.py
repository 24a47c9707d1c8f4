"""The provisional page of a run that takes long."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from simstudy import load_study, run_study
from simstudy.analysis.models.running import RunningMeans
from simstudy.report.pages.live import MARK, live_page
from simstudy.report.prose.numbers import number
from simstudy.workflow import live


@pytest.fixture
def pages(tmp_path, monkeypatch):
    """The page in the directory of results after each model, with what had been finished."""
    monkeypatch.setattr(live, "FIRST", 0.0)
    monkeypatch.setattr(live, "EVERY", 0.0)
    seen = []
    passed_on = live.LivePage.__call__

    def call(self, step):
        passed_on(self, step)
        page = tmp_path / "out" / "report.html"
        seen.append((step, page.read_text(encoding="utf-8") if page.exists() else ""))

    monkeypatch.setattr(live.LivePage, "__call__", call)
    return seen


def test_means_so_far_are_shown_and_marked_until_the_report_replaces_them(
    write_study, tmp_path, pages
):
    results = run_study(load_study(write_study()), tmp_path / "out", jobs=1)
    assert len(pages) == 4
    finished = []
    for step, page in pages[:-1]:
        finished += step.finished
        assert MARK in page
        assert "running, provisional" in page
        assert f'<progress value="{step.models}" max="4">' in page
        for label in results.learners:
            for size in results.sizes:
                scores = [c.values[0] for c in finished if (c.learner, c.size) == (label, size)]
                after = " ±" if len(scores) > 1 else "</td>"
                assert f'<td class="n">{number(np.mean(scores))}{after}' in page
    assert 'class="provisional"' in pages[1][1]
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert MARK not in report
    assert "provisional" not in results.note


def test_intervals_so_far_are_those_of_a_report(write_study, tmp_path, monkeypatch):
    means = []
    init = live.LivePage.__init__

    def keep(self, *arguments):
        init(self, *arguments)
        means.append(self._means)

    monkeypatch.setattr(live.LivePage, "__init__", keep)
    results = run_study(load_study(write_study()), tmp_path / "out", jobs=1)
    for row in results.intervals().itertuples():
        expected = (row.mean, row.lower, row.upper)
        assert means[0].interval(row.learner, row.size) == pytest.approx(expected, rel=1e-9)
    assert all(map(math.isnan, means[0].interval("NB", 99)))


def test_without_a_report_and_in_quick_runs_there_is_no_page(write_study, tmp_path, pages):
    run_study(load_study(write_study()), tmp_path / "out", jobs=1, report=False)
    assert pages == []
    assert not (tmp_path / "out" / "report.html").exists()


def test_a_run_of_less_than_two_minutes_writes_only_its_report(
    write_study, tmp_path, pages, monkeypatch
):
    monkeypatch.setattr(live, "FIRST", 120.0)
    run_study(load_study(write_study()), tmp_path / "out", jobs=1)
    assert [page for _, page in pages] == [""] * 4


def test_an_error_in_the_page_is_noted_and_the_run_goes_on(
    write_study, tmp_path, pages, monkeypatch
):
    monkeypatch.setattr("simstudy.report.pages.live.live_page", None)
    results = run_study(load_study(write_study()), tmp_path / "out", jobs=1)
    assert results.note.count("provisional page") == 1
    assert MARK not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_the_page_of_a_stopped_run_goes_when_it_ends_without_a_report(write_study, tmp_path, pages):
    study = load_study(write_study())

    def stop(step):
        if step.models == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(study, tmp_path / "out", jobs=1, progress=stop)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert (manifest["status"], manifest["report"]) == ("running", ["report.html"])
    assert MARK in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    run_study(study, tmp_path / "out", jobs=1, report=False)
    assert not (tmp_path / "out" / "report.html").exists()


def test_what_has_no_mean_yet_has_a_dash_and_no_line(write_study):
    study = load_study(write_study())
    means, first = RunningMeans(0.95, 4), study.labels[0]
    done = SimpleNamespace(models=0, all_models=4, cells=0, all_cells=16)
    page = live_page(study, "reward", means, done, "")
    assert page.count('<td class="n">–</td>') == len(study.labels) * len(study.doses)
    assert "±" not in page.partition('<p class="small"')[0]
    assert "<svg" not in page
    for dose in study.doses:
        means.add(first, dose, 0.1)
    page = live_page(study, "reward", means, done, "")
    assert page.count('<td class="n">0.1000</td>') == len(study.doses)
    assert page.count("<svg") == page.count('class="line"') == 2  # for wide and narrow screens


def test_the_page_does_not_import_matplotlib():
    code = "import sys, simstudy.report.pages.live; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
