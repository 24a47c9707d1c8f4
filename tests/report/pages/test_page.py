"""The report page says what the results hold, of any study, and nothing breaks out of it."""

from __future__ import annotations

import io
import itertools
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from simstudy import SimstudyError, make_study, run_study
from simstudy.engine.plan import make_plan
from simstudy.engine.task import Task
from simstudy.experiments.learners.page import LearnersPage
from simstudy.experiments.page import Section
from simstudy.report.charts import spread, svg
from simstudy.report.pages.page import report_page, view
from simstudy.report.prose.captions import curves as curve_caption
from simstudy.report.tables.findings import means, thresholds
from tests.report.packed import files, unpacked

HOSTILE = ["<script>alert(1)</script>", "\"a\" & 'b' </title>", "long " * 30, "unbroken" * 20]


def study(labels, sizes=(10, 40), models=4, test=40, also=(), **more):
    """A tiny study of Naive Bayes under many names, and the truth if it is judged exactly."""
    learners = [
        {"name": "naive_bayes", "label": label, "alpha": 0.25 * (index + 1)}
        for index, label in enumerate(labels)
    ]
    content = {
        "name": "tiny",
        "title": "Tiny <b>& sound</b>",
        "models": models,
        "family": {"name": "tan", "variables": [3, 4], "values": [2, 3]},
        "data": {"train_sizes": list(sizes), "test_size": test},
        "measures": {"also": list(also)},
        "learners": learners,
    }
    return make_study({**content, **more})


def run(asked, place):
    return run_study(asked, place, jobs=1, report=False)


@pytest.fixture(scope="module")
def exact(tmp_path_factory):
    """A study with regret and its parts, and the truth among its learners."""
    asked = study(["NB", "smooth"], test="exact", also=["regret", "representation", "estimation"])
    content = asked.as_dict()
    content["learners"].append({"name": "truth", "label": "truth"})
    return run(make_study(content), tmp_path_factory.mktemp("exact") / "out")


@pytest.fixture(scope="module")
def page(exact):
    return report_page(exact)


class Reader(HTMLParser):
    """What a browser would find: ids, pictures and whether they have words."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.pictures, self.tags = [], [], []
        self.feed(unpacked(text))
        self.close()

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.append(tag)
        if "id" in found:
            self.ids.append(found["id"])
        if tag == "svg" and found.get("role") == "img":
            self.pictures.append(found["aria-labelledby"].split())


def test_the_page_is_the_same_each_time(exact, page):
    assert report_page(exact) == page


def test_the_page_needs_nothing_from_elsewhere(page):
    assert not re.search(r"""(src|href)\s*=\s*["'](?!#)""", page)
    assert not re.search(r"@import|url\(|https?://", page)


def test_every_picture_has_words_and_every_id_is_its_own(page):
    reader = Reader(page)
    assert len(reader.ids) == len(set(reader.ids))
    assert reader.pictures
    for names in reader.pictures:
        assert len(names) == 2
        assert {*names} <= {*reader.ids}
    assert not re.search(r"<(title|desc)[^>]*></", page)


def test_every_section_of_a_simulation_study_is_there(page):
    heads = re.findall(r"<h[23][^>]*>(.*?)</h", page)
    for head in (
        "Aims",
        "Data-generating mechanism",
        "Estimands",
        "Methods",
        "Performance measures",
        "Findings in detail",
        "Differences between learners",
        "What regret is made of",
        "Analysis of variance",
        "Who beats whom",
        "Cost",
        "Precision",
        "Reproduce",
    ):
        assert head in heads


def test_the_finding_and_the_curves_come_first_then_details_then_the_design(page):
    sections = re.findall(r'<section id="(\w+)"', page)
    assert sections == [
        *("curves", "findings", "differences", "regret", "anova", "pairs", "models"),
        *("design", "precision", "cost", "methods", "reproduce"),  # nothing failed
    ]
    opening = re.search(r'(?s)<section id="curves".*?</section>', page)[0]
    assert opening.index("On these models") < opening.index("<svg")


def test_of_many_sizes_changes_of_the_lead_come_before_the_distances(tmp_path):
    content = study(["NB", "TAN"], (4, 8, 16, 64, 640, 5000), 40, "exact").as_dict()
    content["family"] |= {"variables": [5, 5], "values": [3, 4]}
    content["learners"] = [{"name": name} for name in ("naive_bayes", "tan")]
    content["analysis"] = {"adjustment": "none"}
    results = run(make_study(content), tmp_path / "out")
    findings = results.findings()
    assert any(course.changes for course in findings.courses)
    opening = re.search(r'(?s)<section id="curves".*?</section>', report_page(results))[0]
    assert opening.index("Who overtakes whom") < opening.index("behind the best mean")


def test_pairs_that_are_never_tested_have_no_panel(tmp_path):
    results = run(study(["A", "B", "C"]), tmp_path / "out")
    scores = results.scores
    scores.loc[scores["learner"] == "A", results.measures] = -np.inf
    titles = [panel.title for panel in view(results, 0)["differences"]]
    assert titles == ["C vs B"]
    wide = view(results, 0)["opening"].wide  # labels stand beside the other lines
    assert re.findall(r">([ABC])</text>", wide)[-2:] in (["B", "C"], ["C", "B"])


def test_a_figure_and_tables_are_added_without_a_template(exact, monkeypatch):
    findings, real = exact.findings(), LearnersPage.own_sections
    panels = svg.panels(spread.models(findings), "added")
    content = {"panels": panels, "caption": "Dots & medians."}
    table = replace(means(findings), name="added", title="Added means")
    added = [
        Section("dots", "Dots of models", content, "figure"),
        Section("sums", "Added tables", [table], "tables", "Tables"),
    ]
    monkeypatch.setattr(LearnersPage, "own_sections", lambda *given: [*real(*given), *added])
    page = report_page(exact)
    for name, entry, heading in (
        ("dots", "Dots of models", "Dots of models"),
        ("sums", "Tables", "Added tables"),
    ):
        assert f'<li><a href="#{name}">{entry}</a></li>' in page
        assert re.search(rf'<section id="{name}">\s*<h2>{heading}</h2>', page)
    shown = re.search(r'(?s)<section id="dots">.*?</section>', page)[0]
    assert shown.count("<svg") == len(panels)
    assert "Dots &amp; medians." in shown
    assert files(page)["added.csv"] == table.csv


def test_every_measure_has_its_own_question_finding_and_statements(exact):
    for index, name in enumerate(exact.measures):
        shown, findings = view(exact, index), exact.findings(name)
        scores = exact.scores[exact.scores["size"] == exact.doses[-1]]
        means_of = scores.groupby("learner")[name].mean()
        best = means_of.idxmax() if findings.info.greater_is_better else means_of.idxmin()
        assert best in shown["finding"]
        assert f"by {findings.info.label}, after" in shown["question"]
        assert any(f"mean {findings.info.label}" in said for said in shown["reading"])
    page = report_page(exact)
    parts = re.findall(r'<p class="question of-measure" data-measure="(\d)"( hidden)?>', page)
    assert parts == [(str(i), " hidden" * bool(i)) for i in range(len(exact.measures))]


def test_what_holds_for_all_captions_is_said_once(exact):
    shown = view(exact, 0)
    captions = [shown["opening"].caption, *shown["difference_notes"], *shown["pair_notes"]]
    captions += [table.caption for table in (shown["means"], shown["thresholds"])]
    together = " ".join([*shown["reading"], *captions, *shown["statements"]])
    assert together.count("t intervals between models") == 1
    assert together.count("aired t tests over") == 1
    assert together.count("Bonferroni-adjusted for m = 6 cells") == 1
    assert together.count("m = 6 tests, all pairs at all sizes") == 1
    assert together.count("does not prove") == 1
    assert not any("over 4 models" in caption for caption in captions)
    # A figure or a table that stands alone says it itself.
    findings = exact.findings()
    for caption in (curve_caption(findings), means(findings).caption):
        assert "95% t intervals between models, Bonferroni-adjusted for m = 6 cells" in caption
        assert "over 4 models" in caption


def test_numbers_have_their_units(exact):
    shown = view(exact, 0)
    assert all(table.title.endswith("differences in nats") for table in shown["pairs"])
    assert "(nats)" in shown["means"].title
    assert shown["precision"][1].heads[0].text == "for a standard error of (nats)"
    assert re.search(r"information reward \(nats\)\s+after training", report_page(exact))


def test_the_files_hold_the_numbers_of_the_analysis(exact, page):
    found = files(page)
    means = pd.read_csv(io.StringIO(found["means_information_reward.csv"]))
    np.testing.assert_allclose(means["mean"], exact.intervals()["mean"], rtol=1e-10)
    assert {"anova_regret.csv", "thresholds_information_reward.csv", "seconds.csv"} <= {*found}


def test_the_study_can_be_taken_from_the_page(exact, page):
    import html
    import tomllib

    shown = re.search(r"<h3>study.toml</h3>.*?<code>(.*?)</code>", page, re.DOTALL)[1]
    assert tomllib.loads(html.unescape(shown)) == exact.settings


def test_the_ceiling_is_what_the_truth_earns_and_limits_what_unlimited_data_would(exact):
    findings = exact.findings("information_reward")
    means = exact.scores.pivot_table(
        index="learner", columns="size", values="information_reward"
    ).loc["truth"]
    assert findings.ceiling == pytest.approx(means.tolist())
    assert findings.limits["truth"] == pytest.approx(means.tolist())
    split = exact.scores.groupby(["learner", "size"])["representation"].mean()
    gaps = np.array(findings.ceiling) - findings.limits["NB"]
    np.testing.assert_allclose(gaps, split["NB"], atol=1e-12)
    assert exact.findings("regret").ceiling == ()
    assert view(exact, 0)["opening"].key == "curve-key narrow-only"


def test_a_model_is_drawn_again_as_in_the_run(exact):
    plan = make_plan(make_study(exact.settings))
    for index in range(2):
        assert exact.model(index).to_json() == Task(plan, index)._truth.model.to_json()
    with pytest.raises(SimstudyError, match="no model 4 here; models are 0 to 3"):
        exact.model(4)


def test_a_mixture_says_that_one_component_is_shown(tmp_path):
    content = study(["NB"]).as_dict()
    content["family"]["name"] = "aode"
    text = report_page(run(make_study(content), tmp_path / "out"))
    assert "mixture of networks" in text
    assert re.search(r"component 1 of \d, weight 0\.\d", text)


def test_hostile_labels_are_shown_and_not_obeyed(tmp_path):
    results = run(study(HOSTILE, also=["log_loss"]), tmp_path / "out")
    text = report_page(results)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    reader = Reader(text)
    assert text.count("<script") == 2  # the packed parts and the page's own
    assert reader.tags.count("script") == 1  # none in the packed parts
    assert reader.tags.count("b") == 7  # of the facts alone, none of the title
    assert {*files(text)} >= {"means_log_loss.csv"}
    table = results._repr_html_()
    assert "<script" not in table
    assert "&lt;b&gt;" in table
    assert f"{results.intervals()['mean'].iloc[0]:.2f}".lstrip("-") in table


@pytest.mark.parametrize(
    ("number", "sizes"),
    [
        (1, [10]),
        (1, [10, 20]),
        (2, [10]),
        (16, [9, 99]),
        pytest.param(30, [*range(5, 65, 5)], marks=pytest.mark.slow),
    ],
)
def test_few_or_many_learners_and_sizes(tmp_path, number, sizes):
    labels = [f"L{index}" for index in range(number)]
    text = report_page(run(study(labels, sizes, models=3), tmp_path / "out"))
    assert text.count('name="learner"') == number
    assert ("nats behind the best mean" in text) == (number > 1)
    assert (">Ranks</button>" in text) == (number > 7)
    if number > 15:
        assert f"15 of {number * (number - 1) // 2} pairs are shown" in text
        assert "only the best mean is compared with the others" in text
        assert "Intervals are omitted for more than 6 learners" in text


def test_the_leader_of_many_is_that_of_the_means_and_stretches_inside_are_shown(tmp_path):
    labels = [f"L{index}" for index in range(9)]
    results = run(study(labels, [9, 99, 999]), tmp_path / "out")
    scores = results.scores
    rng = np.random.default_rng(0)
    # Over the models that both have L8 is far ahead, but its means are lower: it has hard models.
    values = rng.normal(scale=0.01, size=len(scores)) + np.where(scores["model"] == 0, -3.0, 1.0)
    values += np.where(scores["learner"] == "L8", 0.3, 0.0)
    # L1 is ahead of L0 at the middle size alone.
    values += np.where((scores["learner"] == "L1") & (scores["size"] == 99), 0.2, 0.0)
    scores["information_reward"] = values
    lost = (scores["learner"] == "L8") & (scores["model"] > 1)
    lost |= (scores["learner"] != "L8") & (scores["model"] == 1)
    scores.loc[lost, "information_reward"] = np.nan
    shown = view(results, 0)
    means = results.intervals()
    for size, table in zip(results.sizes, shown["pairs"], strict=True):
        at_size = means[means["size"] == size].set_index("learner")["mean"]
        assert table.heads[1].text == f"{at_size.idxmax()}, best mean"
        assert at_size.idxmax() != "L8"
    findings = results.findings()
    (course,) = [c for c in findings.courses if (c.first, c.second) == ("L0", "L1")]
    assert (course.first_ahead, course.second_ahead) == ((), (99,))
    (cells,) = thresholds(findings, [course]).rows
    assert [cell.text for cell in cells] == ["L1", "L0", "none", "–", "–", "99", "–", "3"]
    note = shown["difference_notes"][0]
    assert "Band: the 95% intervals of the paired tests; where it excludes 0" in note
    assert "m = 108 tests, all pairs at all sizes" in shown["reading"][1]


def test_a_learner_without_any_score_and_infinite_ones_are_said(tmp_path):
    results = run(study(["A", "B", "C"], also=["accuracy"]), tmp_path / "out")
    scores = results.scores
    scores.loc[scores["learner"] == "A", results.measures] = np.nan
    scores.loc[(scores["learner"] == "B") & (scores["size"] == 10), results.measures] = -np.inf
    scores.loc[scores["model"] == 2, ["status", *results.measures]] = "error", np.nan, np.nan
    failed = scores[scores["status"] == "error"][["model", "size", "learner", "status"]]
    results.__dict__["failures"] = failed.assign(error="ValueError: <i>bad</i>\n luck")
    results.manifest |= {"failures": len(failed), "warnings": {"A: UserWarning: <i>": 3}}
    text = report_page(results)
    assert "Not drawn, as the mean is infinite or missing: A at 10 rows (–)" in text
    assert "B at 10 rows (−∞)" in text
    assert "6 of 24 cells failed" in text
    assert "ValueError: &lt;i&gt;bad&lt;/i&gt; luck" in text
    assert "in 3 cells, A: UserWarning: &lt;i&gt;" in text
    assert "simstudy failures out" in text
    assert "not analysed" in text
    assert "No ANOVA" in text
    assert "<i>" not in text


def test_models_that_the_manifest_lacks_leave_a_sentence(exact, monkeypatch):
    assert "The first 3 of" in report_page(exact)
    monkeypatch.setitem(exact.manifest, "networks", {})
    assert "None is shown: the manifest has no models" in report_page(exact)


def test_what_a_thing_is_comes_from_its_own_words(exact):
    assert "tree over the attributes" in exact.about("family", "tan")
    assert exact.about("measure", "nonsense") == ""


@pytest.mark.slow
def test_the_page_of_a_whole_study_is_small(tmp_path):
    from pathlib import Path

    from simstudy import load_study

    file = Path(__file__).parents[3] / "studies" / "tan.toml"
    results = run_study(load_study(file), tmp_path / "out", report=False)
    assert len(report_page(results).encode()) < 3e6


def test_standard_errors_are_those_of_the_means_shown_when_cells_failed(tmp_path):
    results = run(study(["A", "B", "C"], models=9), tmp_path / "out")
    scores, name = results.scores, results.measures[0]
    lost = (scores["model"] < 4) & (scores["learner"] == "A") & (scores["size"] == 10)
    scores.loc[lost, [name]] = np.nan
    shown, found = results.intervals(), results.precision()
    means = found[found["kind"] == "mean"]
    assert means["first"].tolist() == shown["learner"].tolist()
    assert means["n"].tolist() == shown["n"].tolist() == [5] * 6
    np.testing.assert_allclose(means["estimate"], shown["mean"], rtol=1e-12)
    np.testing.assert_allclose(means["mcse"], shown["se"], rtol=1e-12)
    both = found[(found["first"] == "B") & (found["second"] == "C")]
    assert both["n"].tolist() == [9, 9]
    text = report_page(results)
    assert "Means are over the 5 of 9 models without a failed cell (left_out.csv); " in text
    said = "differences are over the models that both learners have, 5 to 9 of 9. The file has n of"
    assert said in text
    # With one complete model left, both go by what each cell has.
    scores.loc[(scores["model"] < 8) & (scores["learner"] == "B"), [name]] = np.nan
    results._findings.clear()
    shown, found = results.intervals(), results.precision()
    means = found[found["kind"] == "mean"]
    np.testing.assert_allclose(means["mcse"], shown["se"], rtol=1e-12)
    assert means["n"].tolist() == shown["n"].tolist() == [5, 9, 1, 1, 9, 9]


def test_of_all_models_precision_says_no_number_of_them(page):
    assert "differences, over the models that both" not in page


def test_titles_of_tables_follow_those_of_sections(page):
    levels = [int(level) for level in re.findall(r"<h(\d)", page)]
    assert levels[0] == 1
    assert all(level <= before + 1 for before, level in itertools.pairwise(levels))
