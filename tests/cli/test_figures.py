"""`simstudy figures`."""

from __future__ import annotations

import re
from functools import cache

import pytest

pytestmark = [pytest.mark.xdist_group("cli_out"), pytest.mark.slow]  # its results are made once

NAMES = (
    *("learning_curves", "learning_curves_accuracy", "differences"),
    *("scores", "ranks", "reliability"),
)
STARTS = {"pdf": b"%PDF-", "svg": b"<?xml", "png": b"\x89PNG"}
STYLES = {"pdf": "paper", "svg": "talk", "png": "paper"}


@pytest.fixture(scope="module")
def drawn(place, run_simstudy, tmp_path_factory):
    """Draw in a format, once: the directory of the figures, and what the command printed."""
    root = tmp_path_factory.mktemp("figures")

    @cache
    def draw(format):
        out = root / format
        options = ("--format", format, "--style", STYLES[format]) if format != "pdf" else ()
        done = run_simstudy(place, "figures", "out", *options, "--out", out)
        assert done.returncode == 0, done.stderr
        return out, done

    return draw


@pytest.mark.parametrize("format", ["pdf", "svg", pytest.param("png", marks=pytest.mark.slow)])
def test_every_figure_is_a_file_that_is_printed_and_has_a_caption(drawn, format):
    out, done = drawn(format)
    figures = [f"{name}.{format}" for name in NAMES]
    assert done.stdout.split() == [str(out / name) for name in (*figures, "captions.md")]
    assert {path.name for path in out.iterdir()} == {*figures, "captions.md"}
    for name in figures:
        assert (out / name).read_bytes().startswith(STARTS[format])
    captions = (out / "captions.md").read_text(encoding="utf-8")
    assert all(name in captions for name in figures)


def test_what_the_study_has_not_measured_or_found_is_named(drawn):
    out, done = drawn("pdf")
    captions = (out / "captions.md").read_text(encoding="utf-8").replace("\\", "")
    assert len(done.stderr.splitlines()) == 3
    for measure in ("regret", "kl_divergence", "No change of the lead is established"):
        assert measure in done.stderr
        assert measure in captions


def test_figures_are_as_wide_as_columns_of_a_paper_or_a_slide(drawn):
    for name in NAMES:
        page = (drawn("pdf")[0] / f"{name}.pdf").read_bytes()
        width = float(re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ", page)[1]) / 72
        assert 3.3 <= width <= 7.05
        slide = (drawn("svg")[0] / f"{name}.svg").read_text(encoding="utf-8")
        sides = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', slide).groups()
        assert [float(side) / 72 for side in sides] == pytest.approx([10, 5.6], abs=0.01)


def test_learners_are_named_in_the_figure(drawn, results):
    text = (drawn("svg")[0] / "learning_curves.svg").read_text(encoding="utf-8")
    for learner in results.learners:
        assert f"<!-- {learner} -->" in text


def test_drawn_again_beside_the_results_the_bytes_are_the_same(drawn, simstudy, copy):
    assert simstudy("figures", "out", "--format", "svg", "--style", "talk").returncode == 0
    once = {path.name: path.read_bytes() for path in drawn("svg")[0].iterdir()}
    assert {path.name: path.read_bytes() for path in (copy / "figures").iterdir()} == once


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("out", "--format", "gif"), ("gif", *STARTS)),
        (("out", "--style", "poster"), ("poster", "paper", "talk")),
        (("nowhere",), ("nowhere",)),
    ],
)
def test_wrong_input_is_refused(simstudy, copy, refused, tmp_path, arguments, words):
    before = {*tmp_path.rglob("*")}
    refused(simstudy("figures", *arguments), *words)
    assert {*tmp_path.rglob("*")} == before
