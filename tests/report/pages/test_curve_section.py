"""Curves and decisions on pages: what the browser computes is what Python computes."""

from __future__ import annotations

import math
import re
import shutil

import numpy as np
import pytest

from simstudy import load_study, make_study, open_results, run_study
from simstudy.analysis.decision_curves import decide, mean_curve, operating_points
from simstudy.report.charts.decisions import decision_makers
from simstudy.report.charts.mpl import STYLES
from simstudy.report.files import write_figures
from simstudy.report.pages import curve_section
from simstudy.report.pages.curve_section import MAX_BYTES, data_curve_sections
from simstudy.report.prose.decisions import caption
from simstudy.results.read.curves import ranked

LABELS = ["NB", "<img src=x onerror=alert(1)>"]
STUDY = {
    "name": "tiny",
    "models": 3,
    "keep_answers": True,
    "family": {"name": "tan", "variables": [4, 4], "values": [2, 3]},
    "data": {"train_sizes": [10, 160], "test_size": "exact"},
    "learners": [
        {"name": name, "label": label}
        for name, label in zip(["naive_bayes", "tan"], LABELS, strict=True)
    ],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return run_study(make_study(STUDY), tmp_path_factory.mktemp("page") / "out", jobs=1)


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    directory = tmp_path_factory.mktemp("data")
    rows = [f"{i % 3},{'xy'[i * i % 7 > 2]},{'ab'[(i + i // 7) % 5 > 2]}" for i in range(60)]
    (directory / "table.csv").write_text("u,v,class\n" + "\n".join(rows), encoding="utf-8")
    text = 'name = "sets"\nkeep_answers = true\n[[datasets]]\npath = "table.csv"\n'
    text += '[resampling]\nfolds = 2\nrepeats = 2\n[[learners]]\nname = "naive_bayes"\n'
    (directory / "study.toml").write_text(text, encoding="utf-8")
    return run_study(load_study(directory / "study.toml"), directory / "out", jobs=1)


@pytest.fixture
def address(results):
    return (results.directory / "report.html").resolve().as_uri()


def rows_of(tab) -> list[list[str]]:
    return [
        [cell.strip() for cell in row.split("\t")]
        for row in tab.locator("#decisions .decided tbody").inner_text().strip().split("\n")
    ]


def expected(rankings, prior, missed, false) -> tuple[str, float]:
    points = operating_points(rankings)
    found = decide(points, prior, missed, false)
    if math.isinf(found.threshold):
        return "none", found.cost
    last = found.threshold == points.threshold[-1]
    return "all" if last else f"{found.threshold:.4g}", found.cost


def test_the_page_says_that_folds_are_pooled_where_tables_average_them(data, results):
    said = (
        "The test rows of all folds of a repeat are ranked together; tables have means over folds"
    )
    assert said in (data.directory / "report.html").read_text(encoding="utf-8")
    assert said not in (results.directory / "report.html").read_text(encoding="utf-8")
    assert said in caption(data.curves("roc"))
    assert said not in caption(data.curves("roc", over="folds"))


class TestBrowser:
    pytestmark = pytest.mark.xdist_group("browser")

    @pytest.mark.parametrize(
        ("choice", "size", "costs"),
        [("rarest", 160, (0.3, 1, 1)), ("0", 10, (0.5, 5, 1)), ("1", 160, (0.1, 1, 20)),
         ("1", 10, (0.9, 3, 0))],
    )  # fmt: skip
    def test_decisions_are_those_of_python(self, tab, results, choice, size, costs):
        tab.locator("#decisions [data-choice=class]").select_option(choice)
        tab.locator("#decisions [data-choice=size]").select_option(str(size))
        for what, value in zip(("prior", "missed", "false"), costs, strict=True):
            tab.locator(f"#decisions [data-cost={what}]").fill(str(value))
        answers, one = ranked(results), None if choice == "rarest" else int(choice)
        each = [*answers.rankings(size, one).values(), answers.truth(one)]
        shown = rows_of(tab)
        assert [row[0] for row in shown[:3]] == [*LABELS, "truth"]
        for row, own in zip(shown, each, strict=False):
            threshold, cost = expected(own, *costs)
            assert row[1] == threshold
            assert float(row[2]) == pytest.approx(cost, abs=6e-5 + 2e-6 * sum(costs))
        never, always = costs[0] * costs[1], (1 - costs[0]) * costs[2]
        assert [float(row[2]) for row in shown[3:]] == pytest.approx([never, always], abs=6e-5)

    def test_right_decisions_may_cost_or_gain(self, tab, results):
        prior, missed, false, hit, rejected = 0.4, 3, 2, -1, 0.5
        for what, value in {
            "prior": prior, "missed": missed, "false": false, "hit": hit, "rejected": rejected
        }.items():  # fmt: skip
            tab.locator(f"#decisions [data-cost={what}]").fill(str(value))
        answers = ranked(results)
        each = [*answers.rankings(160, None).values(), answers.truth(None)]
        shown = rows_of(tab)
        for row, own in zip(shown, each, strict=False):
            found = decide(operating_points(own), prior, missed, false, hit, rejected)
            assert float(row[2].replace("−", "-")) == pytest.approx(found.cost, abs=8e-5)
            # Of no rows: 0.4·3 + 0.6·0.5; of all: 0.4·(−1) + 0.6·2.
            assert (found.never, found.always) == pytest.approx((1.5, 0.8))
        assert [row[2] for row in shown[-2:]] == ["1.5000", "0.8000"]
        tab.locator("#decisions [data-cost=hit]").fill("4")
        assert "not cost less" in tab.locator("#decisions [data-costs]").text_content()

    @pytest.mark.parametrize("kind", ["roc", "precision_recall", "lift", "cost", "reliability"])
    def test_curves_of_another_choice_are_those_of_python(self, tab, results, kind):
        tab.locator("#decisions [data-choice=kind]").select_option(kind)
        tab.locator("#decisions [data-choice=class]").select_option("1")
        tab.locator("#decisions [data-choice=size]").select_option("10")
        part = tab.locator(f"#decisions .of-kind[data-kind={kind}]")
        assert part.is_visible()
        frame = part.locator("[data-frame]").get_attribute("data-frame")
        left, right, bottom, top, high, _ = map(float, frame.split())
        line = part.locator('g[data-l="1"] path.line').get_attribute("d")
        points = np.array([[float(n) for n in pair.split()] for pair in re.split("[ML]", line)[1:]])
        points = points[1:] if kind == "roc" else points  # from no row on
        found = mean_curve(kind, ranked(results).rankings(10, 1)[LABELS[1]])
        every = 1 if kind == "reliability" else 2
        x, y = found.x[::every], found.y[::every]
        x, y = x[np.isfinite(y)], y[np.isfinite(y)]
        np.testing.assert_allclose(points[:, 0], left + x * (right - left), atol=0.15)
        np.testing.assert_allclose(points[:, 1], bottom - y / high * (bottom - top), atol=0.2)

    def test_profit_is_that_of_python(self, tab, results):
        tab.locator("#decisions [data-choice=kind]").select_option("profit")
        tab.locator("#decisions [data-choice=class]").select_option("1")
        for what, value in (("prior", 0.25), ("benefit", 4), ("acting", 0.5)):
            tab.locator(f"#decisions [data-cost={what}]").fill(str(value))
        part = tab.locator("#decisions .of-kind[data-kind=profit]")
        answers = ranked(results)
        each = [*answers.rankings(160, 1).values(), answers.truth(1)]
        shown = [row[3:] for row in rows_of(tab)]
        assert shown[-2:] == [["0.00", "0"], ["1.00", "0.5000"]]  # of no rows and of all
        for (share, best), own in zip(shown[:-2], each, strict=True):
            found = mean_curve("lift", own)
            profit = 4 * 0.25 * found.y[::2] - 0.5 * found.x[::2]
            assert float(best) == pytest.approx(profit.max(), abs=3e-4)
            at = round(float(share) * 50)
            assert profit[at] == pytest.approx(profit.max(), abs=5e-4)
        ends = re.findall(r"[\d.]+", part.locator("path.zero").get_attribute("d"))
        line = re.findall(r"[\d.]+", part.locator('g[data-l="0"] path.line').get_attribute("d"))
        assert line[:2] + line[-2:] == ends  # of no rows and of all rows, as at random

    def test_cost_of_acting_follows_the_prior_until_it_is_set(self, tab):
        acting = tab.locator("#decisions [data-cost=acting]")
        tab.locator("#decisions [data-cost=prior]").fill("0.25")
        assert acting.input_value() == "0.25"
        assert "at random earns 0" in tab.locator("#decisions [data-profit]").last.text_content()
        acting.fill("0.5")
        tab.locator("#decisions [data-cost=prior]").fill("0.3")
        assert acting.input_value() == "0.5"
        assert "at random" not in tab.locator("#decisions [data-profit]").last.text_content()
        acting.fill("-1")
        assert "not be negative" in tab.locator("#decisions [data-profit]").last.text_content()

    def test_script_changes_nothing_of_the_default_profit(self, tab, results):
        section = curve_section.curve_section(results)
        assert rows_of(tab) == [[label, *cells] for label, _, cells in section.decisions]
        assert tab.locator("#decisions [data-profit]").last.text_content() == section.profit

    def test_impossible_costs_are_named(self, tab):
        tab.locator("#decisions [data-cost=prior]").fill("1.5")
        assert "from 0 to 1" in tab.locator("#decisions [data-costs]").text_content()
        assert {row[2] for row in rows_of(tab)} == {"–"}

    def test_the_keys_are_enough(self, tab):
        tab.locator("#decisions [data-choice=kind]").focus()
        tab.keyboard.press("ArrowDown")
        assert tab.locator("#decisions .of-kind[data-kind=precision_recall]").is_visible()
        tab.locator("#decisions [data-cost=missed]").focus()
        before = rows_of(tab)
        tab.keyboard.press("ArrowUp")
        assert rows_of(tab) != before

    def test_on_paper_all_kinds_and_the_table_are_shown(self, tab):
        tab.emulate_media(media="print")
        assert tab.locator("#decisions .of-kind >> visible=true").count() == 6
        assert tab.locator("#decisions .decided").is_visible()
        assert not tab.locator("#decisions .choices").is_visible()

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_nothing_serious_keeps_anyone_from_reading(self, tab, scheme):
        axe = pytest.importorskip("axe_playwright_python.sync_playwright")
        tab.emulate_media(color_scheme=scheme)
        found = axe.Axe().run(tab, context="#decisions").response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []

    def test_it_is_no_wider_than_a_phone(self, tab):
        tab.set_viewport_size({"width": 360, "height": 740})
        assert tab.evaluate("document.documentElement.scrollWidth") <= 360

    def test_data_sets_have_a_page(self, browser, data):
        page = browser.new_page()
        page.goto((data.directory / "report.html").resolve().as_uri())
        page.locator("[data-choice=class]").select_option("0")
        assert "class a" in page.locator(".chosen-now").text_content()
        assert page.locator("#decisions0 .of-kind >> visible=true").count() == 1
        page.close()


def test_default_decisions_are_those_of_equal_costs(results):
    section = curve_section.curve_section(results)
    answers = ranked(results)
    each = [*answers.rankings(160, None).values(), answers.truth(None)]
    for (_, _, cells), rankings in zip(section.decisions, each, strict=False):
        threshold, cost = expected(rankings, float(section.prior), 1, 1)
        assert cells[0] == threshold
        assert float(cells[1]) == pytest.approx(cost, abs=6e-5)


def test_page_says_why_there_are_no_curves(results, tmp_path):
    place = tmp_path / "copy"
    shutil.copytree(results.directory, place)
    (place / "answers.parquet").unlink()
    section = curve_section.curve_section(open_results(place))
    assert "missing or damaged" in section.note


def test_ranking_at_random_has_no_share_to_act_on(tmp_path):
    study = STUDY | {"learners": [{"name": "prior"}], "models": 4}
    results = run_study(make_study(study), tmp_path / "out", jobs=1, report=False)
    section = curve_section.curve_section(results)
    assert section.decisions[0][2][2:] == ("0.00", "0")


def test_no_more_data_sets_than_there_is_room_for(data, monkeypatch):
    parts = [
        part | {"dataset": name} for name in ("table", "other") for part in data.manifest["parts"]
    ]
    (whole,) = data_curve_sections(data)
    monkeypatch.setitem(data.manifest, "parts", parts)
    monkeypatch.setattr(curve_section, "MAX_BYTES", whole.bytes)
    first, rest = data_curve_sections(data)
    assert first.pictures
    assert "first 1 of 2 data sets" in rest.note


def test_numbers_of_many_learners_and_classes_are_few(tmp_path):
    many = [{"name": "naive_bayes", "label": f"NB{i}", "alpha": 0.1 * (i + 1)} for i in range(16)]
    wide = {"family": {"name": "tan", "variables": [3, 3], "values": [7, 7]}, "learners": many}
    wide |= {"models": 2, "data": {"train_sizes": [10, 40, 160], "test_size": "exact"}}
    results = run_study(make_study(STUDY | wide), tmp_path / "out", jobs=1, report=False)
    section = curve_section.curve_section(results)
    drawn = sum(len(picture) for _, _, picture, _ in section.pictures)
    assert len(section.numbers) + drawn < 1.1 * MAX_BYTES
    assert section.sizes[-1][0] == "160"
    assert section.classes[0][0] == "rarest"


@pytest.mark.slow
@pytest.mark.parametrize("style", ["paper", "talk"])
def test_figures_have_the_curves(data, tmp_path, style):
    written, skipped = write_figures(data, tmp_path, "svg", style)
    names = [path.name for path in written]
    kinds = ["roc", "precision_recall", "lift", "cost", "reliability_positive", "profit"]
    assert names == ["means.svg", *(f"{kind}.svg" for kind in kinds), "captions.md"]
    assert "acting on random rows earns 0" in " ".join(written[-1].read_text("utf-8").split())
    assert all(line.split(":")[0] in ("ranks", "posterior") for line in skipped)


@pytest.mark.slow
def test_panels_of_profit_have_one_axis_that_holds_the_truth(results):
    printed = decision_makers(results)["profit"](results, STYLES["paper"])
    charts = printed.panels.charts
    assert len({(chart.y.low, chart.y.high) for chart in charts}) == 1
    heights = [y for chart in charts for line in chart.labelled for y in line.y]
    assert charts[0].y.low < min(heights)
    assert max(heights) < charts[0].y.high
