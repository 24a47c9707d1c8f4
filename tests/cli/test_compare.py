"""`simstudy compare`."""

from __future__ import annotations

import io

import pandas as pd
import pytest

from simstudy import compare_studies, open_results
from tests.report.packed import files

pytestmark = pytest.mark.xdist_group("cli_out")  # its results are made once


@pytest.fixture(scope="module")
def other(place, run_simstudy, tmp_path_factory):
    """The results of the same study with another name and seed."""
    root = tmp_path_factory.mktemp("other")
    text = (place / "small.toml").read_text().replace('"small"', '"other"')
    (root / "other.toml").write_text(text)
    options = ("--seed", 8, "--jobs", 1, "--no-report", "--quiet", "--out", "there")
    assert run_simstudy(root, "run", "other.toml", *options).returncode == 0
    return root / "there"


def test_the_page_holds_the_means_of_both_studies(simstudy, place, other, results, tmp_path):
    done = simstudy("compare", place / "out", other, "--out", "new/page.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert "new/page.html" in done.stdout
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["page.html"]
    page = (tmp_path / "new" / "page.html").read_text(encoding="utf-8")
    for name in ("small", "other", *results.learners):
        assert name in page
    found = pd.read_csv(io.StringIO(files(page)["between_studies.csv"]))
    assert {*found["first"]} == {"small"}
    assert {*found["second"]} == {"other"}
    found = found.set_index(["learner", "size"])
    means = [
        each.intervals().set_index(["learner", "size"])["mean"]
        for each in (results, open_results(other))
    ]
    for column, expected in (
        ("mean_first", means[0]),
        ("mean_second", means[1]),
        ("difference", means[1] - means[0]),
    ):
        pd.testing.assert_series_equal(
            found[column], expected.loc[found.index], check_names=False, rtol=1e-9
        )
    assert len(found) == len(means[0])
    assert page == compare_studies([results, open_results(other)])


def test_a_wrong_directory_is_refused(simstudy, place, refused, tmp_path):
    refused(simstudy("compare", place / "out", "nowhere"), "nowhere")
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_one_result_or_one_twice_is_refused(simstudy, place, refused, tmp_path):
    for given in ([place / "out"], [place / "out", place / "out" / "."]):
        refused(simstudy("compare", *given), "at least two different results", str(place / "out"))
    assert not list(tmp_path.iterdir())
