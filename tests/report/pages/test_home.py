"""The page of all studies in a directory: what each card says, and what it survives."""

from __future__ import annotations

import html
import json
import os
import re
import shutil
from pathlib import Path

import pytest

from simstudy import SimstudyError, load_study, run_study
from simstudy.report.pages import home
from simstudy.results.store.folder import Folder

HOSTILE = 'x "<script>alert(1)<script>'


@pytest.fixture
def results(write_study, tmp_path, monkeypatch):
    """The results of a study, in a directory ``results``."""
    monkeypatch.chdir(tmp_path)
    return run_study(load_study(write_study()), jobs=1)


def cards(directory=Path("results")):
    """The text of each card by its heading."""
    page = (directory / "index.html").read_text(encoding="utf-8")
    found = re.findall(r'(?s)<li class="card.*?</li>', page)
    assert len(found) == page.count('<li class="card')
    texts = {html.unescape(re.search(r"(?s)<h2>(.*?)</h2>", card)[1]): card for card in found}
    return {re.sub("<[^>]*>", "", name): html.unescape(text) for name, text in texts.items()}


def manifest(name, **changes):
    """Change the manifest of a study."""
    path = Path("results") / name / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes), encoding="utf-8")


def test_a_run_writes_its_card_with_its_finding_numbers_date_and_picture(results):
    os.utime("results/small/scores.parquet", (0, 86400 * 364))  # 31 December 1970
    home.write_home(Path("results"))
    (card,) = cards().values()
    assert results.study.page.finding(results, results.findings()) in card
    assert "A small study" in card
    assert "4 models · 31 Dec 1970" in card
    assert "no failures" in card
    assert 'href="small/report.html"' in card
    assert 'src="small/card.svg"' in card
    assert 'data-learner="["NB", "TAN"]"' in card
    assert 'data-family="["tan"]"' in card
    picture = Path("results/small/card.svg").read_text(encoding="utf-8")
    assert picture.count('class="line"') == len(results.learners)
    assert 'class="axes"' not in picture


def test_the_same_state_gives_the_same_bytes(results):
    page = Path("results/index.html")
    once = page.read_bytes()
    home.write_home(Path("results"))
    assert page.read_bytes() == once


def test_only_results_below_a_directory_of_that_name_are_listed(results, tmp_path):
    run_study(results.study, tmp_path / "elsewhere" / "small", jobs=1)
    assert not [*(tmp_path / "elsewhere").glob("index.html")]
    run_study(results.study, "results/list/small", jobs=1)
    Path("results/list/compare.html").write_text("", encoding="utf-8")
    assert home.update_home(Path("results/list/small")) == []
    assert {*cards()} == {"small", "list/small"}
    assert 'href="list/compare.html"' in cards()["list/small"]


@pytest.mark.parametrize(
    "text",
    ["<html>mine</html>", "x" * 5000 + home.MARK, '<meta name="generator" content="simstudy 1">'],
)
def test_the_page_of_someone_else_is_left_alone_and_the_run_goes_on(results, text):
    page = Path("results/index.html")
    page.write_text(text, encoding="utf-8")
    with pytest.raises(SimstudyError, match="left alone"):
        home.write_home(Path("results"))
    again = run_study(results.study, "results/small", jobs=1)
    assert "left alone" in again.note
    assert page.read_text(encoding="utf-8") == text


def test_studies_that_cannot_be_read_have_a_card_that_says_so(results):
    for name in ("cut", "version", "wrong", "lost", "running", "bare", HOSTILE):
        shutil.copytree("results/small", Path("results") / name)
    Path("results/cut/manifest.json").write_bytes(b'{"schema": 1, "sta')
    manifest("version", schema=99)
    manifest("wrong", conditions={"family": []})
    manifest("running", status="running", report=[])
    manifest("bare", report=[])
    manifest("lost", failures=3, cells=16)
    manifest(HOSTILE, card={"title": HOSTILE, "finding": HOSTILE, "over": HOSTILE})
    assert home.update_home(Path("results/small")) == []
    shown = cards()
    assert len(shown) == 8
    assert "damaged" in shown["cut"]
    assert "damaged" in shown["wrong"]
    assert "another version" in shown["version"]
    assert "Not finished" in shown["running"]
    assert "No report" in shown["bare"]
    assert "3 of 16 cells failed" in shown["lost"]
    for name in ("cut", "wrong", "version", "running", "bare"):
        assert "no failures" not in shown[name]
        assert 'class="card unfinished"' in shown[name]
    page = Path("results/index.html").read_text(encoding="utf-8")
    assert page.count("<script") == 1


def test_nothing_but_manifests_is_read(results, monkeypatch):
    for path in Path("results/small").iterdir():
        if path.name not in ("manifest.json", "scores.parquet", "report.html", "card.svg"):
            path.unlink()
    (Path("results/small") / "scores.parquet").write_bytes(b"")
    (Path("results/small") / "study.toml").write_text('plugins = ["harm.py"]', encoding="utf-8")
    monkeypatch.setattr(Folder, "manifest", None)
    home.write_home(Path("results"))
    assert "no failures" in cards()["small"]


def test_a_page_that_cannot_be_written_is_a_note(results):
    Path("results/index.html").unlink()
    Path("results/index.html").mkdir()
    (note,) = home.update_home(Path("results/small"))
    assert "index.html" in note
