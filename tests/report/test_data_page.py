"""The page, files, tables and figures of studies of data sets, and what they say."""

from __future__ import annotations

import re
import tomllib
from html import unescape

import numpy as np
import pandas as pd
import pytest

from simstudy import SimstudyError, load_study, open_results, run_study
from simstudy.report.files import write_figures, write_tables
from simstudy.report.pages.page import report_page
from simstudy.report.prose.data_statements import data_statements, dissent_sentences
from simstudy.report.prose.finding import data_finding
from simstudy.report.prose.phrases import listed
from simstudy.report.terminal import make_console, print_summary
from simstudy.study.files import study_path, without
from simstudy.workflow.compare import compare_studies
from tests.report.packed import unpacked

pytestmark = pytest.mark.xdist_group("browser")  # the studies are run once

HEAD = 'name = "sets"\ntitle = "Small & sound"\nseed = 3\n'
LEARNERS = """
[[learners]]
name = "naive_bayes"
label = "NB"
[[learners]]
name = "prior"
label = "<img src=x onerror=alert(1)>"
[[learners]]
name = "one_r"
label = "1R"
[[learners]]
name = "naive_bayes"
label = "twin"
[measures]
primary = "accuracy"
also = ["information_reward", "log_loss"]
"""
TESTS_NAMED = {
    "Nemenyi": "Nemenyi's test",
    "sign test": "The sign test",
    "Bayesian signed rank": "The Bayesian signed rank test",
}
PLUGIN = """
from dataclasses import dataclass
from simstudy import Learner, register_learner
from simstudy.learners import NaiveBayes

@register_learner("picky")
@dataclass(frozen=True)
class Picky(Learner):
    def fit(self, sample, rng=None):
        if len(sample) % 2:
            raise RuntimeError("an odd number of rows")
        return NaiveBayes().fit(sample, rng)
"""


def write_set(directory, name, rows, noise, seed):
    """Rows whose class follows from the first attributes but for noise."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 2, rows)
    seen = {
        f"x{i}": np.array(list("uv"))[np.where(rng.random(rows) < noise, 1 - kind, kind)]
        for i in range(3)
    }
    table = pd.DataFrame(seen).assign(kind=np.array(["a", "b"])[kind])
    table.to_csv(directory / f"{name}.csv", index=False)


def run(directory, text, sets, name="out"):
    for place, one in enumerate(sets):
        write_set(directory, one, 40 + place, 0.1 + 0.03 * place, place)
    files = "".join(f'[[datasets]]\npath = "{one}.csv"\n' for one in sets)
    (directory / f"{name}.toml").write_text(HEAD + files + text, encoding="utf-8")
    return run_study(load_study(directory / f"{name}.toml"), directory / name, jobs=1)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def many(place):
    sets = [f"set{number}" for number in range(7)]
    return run(place, '[resampling]\nscheme = "5x2cv"\n' + LEARNERS, sets, "many")


@pytest.fixture(scope="module")
def single(place):
    text = "[resampling]\nfolds = 3\nsizes = [0.5, 1.0]\n" + LEARNERS
    return run(place, "" + text, ["alone"], "single")


def text_of(page):
    """The words of a page."""
    body = re.sub(
        r"<(script|style)\b.*?</\1>", " ", unpacked(page).partition("<body>")[2], flags=re.DOTALL
    )
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", body)).split())


def test_a_run_leaves_a_page_and_tables(many):
    names = {path.name for path in many.directory.iterdir()}
    tables = {"means", "winners", "pairwise", "standings", "across", "correlations", "properties"}
    assert {f"{name}.csv" for name in tables} | {"report.html"} <= names
    across = pd.read_csv(many.directory / "across.csv")
    found = many.data_findings("log_loss").over_sets.table
    own = across[across["measure"] == "log_loss"]
    assert own["p_adjusted"].tolist() == pytest.approx(found["p_adjusted"].tolist(), nan_ok=True)
    assert pd.read_csv(many.directory / "properties.csv")["rows"].tolist() == [*range(40, 47)]


def test_the_page_says_who_wins_on_how_many_sets(many):
    page = (many.directory / "report.html").read_text(encoding="utf-8")
    assert page == report_page(open_results(many.directory))  # the same bytes
    words, findings = text_of(page), many.data_findings()
    first = findings.standings[0]
    assert f"{first.learner} has the best mean on {first.best} of 7 data sets" in words
    for dataset in findings.datasets:
        assert dataset in words
    assert "<img" not in page
    for section in ("findings", "datasets", "winners", "over", "measures", "properties", "design"):
        assert f'<section id="{section}"' in page
    assert 'id="learning"' not in page


def test_a_sentence_says_no_more_than_the_tests(many):
    for name in many.measures:
        findings = many.data_findings(name)
        found, text = findings.over_sets, data_finding(findings)
        beaten = re.search(r"Over 7 data sets (.*?)\. By", text).group(1)
        significant = {pair.winner for pair in found.pairs if pair.winner}
        if not significant:
            assert "no two learners differ significantly" in beaten
            continue
        leader, losers = re.match(
            r"(\S+) is significantly better than (.*?)(?:, and (?:does|worse).*)?$", beaten
        ).groups()
        assert leader == found.leader
        for loser in re.split(", | and ", losers):
            assert loser in found.beaten_by(leader)
        ahead = re.search("behind none, is (.*?)\\. Over", text)
        for count in re.findall(r"(\S+) on (\d+)", ahead.group(1)) if ahead else []:
            (one,) = [one for one in findings.standings if one.learner == count[0]]
            assert one.ahead == int(count[1])


def test_the_page_has_one_rule_over_data_sets(many):
    words = text_of((many.directory / "report.html").read_text(encoding="utf-8"))
    rule = (
        "Wilcoxon's signed rank test, exact, Holm-adjusted over m = 6 pairs of learners, α = 0.05"
    )
    assert f"Tests over data sets: {rule}." in words
    assert "Holm-adjusted over m = 42 pairs on all data sets" in words
    assert "Critical-difference" not in words
    for name in many.measures:
        findings = many.data_findings(name)
        unit = " nats" if findings.info.unit == "nats" else ""
        width = "0.0069" if unit else "0.01"
        assert f"equivalent: within ±{width}{unit}" in words
        found = findings.over_sets
        assert found.friedman.method == "exact"
        for sentence in dissent_sentences(found, findings.info):
            assert sentence in words
        assert {one.test for one in found.dissents} <= {
            test
            for test, name in TESTS_NAMED.items()
            if any(name in one for one in data_statements(findings, 0, 1))
        }


def test_few_data_sets_have_no_posterior_and_no_finding(place):
    results = run(place, "[resampling]\nfolds = 2\n" + LEARNERS, ["set0", "set1", "set2"], "few")
    words = text_of((results.directory / "report.html").read_text(encoding="utf-8"))
    assert (
        "Over 3 data sets no two learners differ significantly; with so few, no difference could"
        in words
    )
    assert "no pair has a posterior (fewer than 6 data sets)" in words
    assert "with probability" not in words
    assert "P(first)" not in words
    figures = results.data_findings().over_sets.table
    assert figures[["p_first_better", "p_rope", "p_second_better"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("stated", "used"),
    [("", "holm"), ("bonferroni", "bonferroni"), ("bonferroni_all", "bonferroni"),
     ("holm", "holm"), ("none", "none")],
)  # fmt: skip
def test_the_adjustment_is_holms_unless_another_is_stated(many, place, stated, used):
    text = f'[analysis]\nadjustment = "{stated}"\n' if stated else ""
    content = (place / "many.toml").read_text(encoding="utf-8") + text
    (place / "adjusted.toml").write_text(content, encoding="utf-8")
    study = load_study(place / "adjusted.toml")
    assert study.analysis.adjustment == (stated or "holm")
    results = open_results(many.directory)
    results.study = study
    assert results.data_findings().winners.adjustment == used
    assert results.data_findings().over_sets.adjustment == used
    assert (
        results.winners().m
        == results.pairwise_datasets()["m"].iloc[0]
        == (1 if used == "none" else 42)
    )


def test_the_page_does_not_contradict_its_number_of_data_sets(many, place):
    content = (place / "many.toml").read_text(encoding="utf-8")
    content = content.replace("Small & sound", "On 7 data sets")
    (place / "titled.toml").write_text(content, encoding="utf-8")
    assert load_study(place / "titled.toml").heading == "On 7 data sets"
    cut = without(tomllib.loads(content), ["set2", "set5"])
    study = load_study(place / "titled.toml", content=cut)
    results = run_study(study, place / "cut", jobs=1)
    page = (results.directory / "report.html").read_text(encoding="utf-8")
    assert "<h1>On 7 data sets: 5 data sets here</h1>" in page
    for name in ("uci2001", "uci2002", "uci2004", "huang_ling2007", "recalibration"):
        title = tomllib.loads(study_path(name).read_text(encoding="utf-8"))["title"]
        assert not re.search(r"\d+ data sets|(four|five) learners", title, re.IGNORECASE)


def test_a_measure_of_one_learner_names_no_winner(place):
    text = '[[learners]]\nname = "naive_bayes"\nlabel = "NB"\n[[learners]]\nname = "camml"\n'
    text += '[measures]\nalso = ["message_length"]\n'
    results = run(place, "[resampling]\nfolds = 2\n" + text, ["set0", "set1"], "messages")
    assert results.data_findings("message_length").with_means == ["camml"]
    words = text_of((results.directory / "report.html").read_text(encoding="utf-8"))
    assert "camml is the only learner with a mean message length: theory and data." in words
    assert "cannot be compared: on no data set do two learners have a mean by both" in words
    assert "name the same winner" not in words
    assert "By message length" not in words


def test_equal_learners_are_tied_and_not_tested(many):
    findings = many.data_findings()
    pairs = findings.winners.pairs
    twins = pairs[(pairs["first"] == "NB") & (pairs["second"] == "twin")]
    assert twins["reason"].eq("all differences are 0").all()
    assert f"shared on {findings.tied}" in data_finding(findings)
    assert any("cannot be computed" in one for one in data_statements(findings, 0, 1))


def test_one_data_set_has_no_part_over_sets(single):
    page = (single.directory / "report.html").read_text(encoding="utf-8")
    assert 'id="over"' not in page
    assert 'id="learning"' in page
    words = text_of(page)
    assert "On alone" in words
    assert "after 50% training rows" in words
    assert not (single.directory / "across.csv").exists()


def test_one_learner_is_described_without_tests(place):
    text = '[[learners]]\nname = "naive_bayes"\nlabel = "NB"\n'
    results = run(place, "[resampling]\nfolds = 2\n" + text, ["set0", "set1"], "lonely")
    words = text_of((results.directory / "report.html").read_text(encoding="utf-8"))
    assert "NB, the only learner, has a mean information reward of" in words
    assert "Winners and losers" not in words
    assert not (results.directory / "winners.csv").exists()
    assert write_tables(results, place / "lonely_tables", "csv")


def test_failed_cells_are_named_and_cost_their_means(place):
    (place / "picky.py").write_text(PLUGIN, encoding="utf-8")
    text = '[[learners]]\nname = "picky"\npreparation = { missing = "mode" }\n'
    text += '[[learners]]\nname = "naive_bayes"\nlabel = "NB"\n'
    study = 'plugins = ["picky.py"]\n'
    sets = ["set0", "set1", "set2", "set3"]  # 40 to 43 rows: some halves are odd
    files = "".join(f'[[datasets]]\npath = "{one}.csv"\n' for one in sets)
    content = HEAD + study + files + "[resampling]\nfolds = 2\n" + text
    for number, one in enumerate(sets):
        write_set(place, one, 40 + number, 0.1, number)
    (place / "failing.toml").write_text(content, encoding="utf-8")
    results = run_study(load_study(place / "failing.toml"), place / "failing", jobs=1)
    assert results.manifest["failures"] > 0
    findings = results.data_findings()
    lost = findings.table["picky"].isna()
    assert lost.any()
    assert not lost.all()
    for name in findings.table.index[lost]:
        assert findings.best[name] == ("NB",)
    words = text_of((results.directory / "report.html").read_text(encoding="utf-8"))
    assert "an odd number of rows" in words
    assert findings.incomplete == [*findings.table.index[lost]]
    assert f"on {listed(findings.incomplete, 3)} not every learner has a mean" in words
    assert f"{results.manifest['failures']} of {results.manifest['cells']} cells failed" in words


def test_a_learner_without_any_mean_is_named_in_the_headline(place):
    (place / "broken.py").write_text(PLUGIN.replace("% 2", ">= 0").replace("picky", "broken"))
    write_set(place, "set0", 40, 0.1, 0)
    text = HEAD + 'plugins = ["broken.py"]\n[[datasets]]\npath = "set0.csv"\n[[learners]]\n'
    text += 'name = "broken"\n' + LEARNERS
    (place / "broken.toml").write_text(text, encoding="utf-8")
    results = run_study(load_study(place / "broken.toml"), place / "broken", jobs=1)
    before, _, after = data_finding(results.data_findings()).partition("; broken has none.")
    assert "have the best mean accuracy" in before
    assert "broken" not in before + after


@pytest.mark.slow
def test_tables_and_figures_are_written(many, single, tmp_path):
    names = {path.name for path in write_tables(many, tmp_path / "tables", "markdown")}
    assert {"means.md", "winners.md", "across_log_loss.md", "tests.md", "properties.md"} <= names
    captions = (tmp_path / "tables" / "captions.md").read_text(encoding="utf-8")
    assert "Holm-adjusted over m = 6 pairs of learners" in captions
    assert "Holm-adjusted over m = 42 pairs on all data sets" in captions
    written, _ = write_figures(many, tmp_path / "figures", "svg")
    names = {path.name for path in written}
    assert {"ranks.svg", "posterior.svg", "means.svg"} <= names
    assert "measures_accuracy_information_reward.svg" in names
    written, skipped = write_figures(single, tmp_path / "single", "svg")
    assert "learning_curves.svg" in {path.name for path in written}
    assert any(line.startswith("ranks: ") for line in skipped)


def test_the_terminal_says_the_same(many, capsys):
    print_summary(many, make_console(), details=True)
    words = " ".join(capsys.readouterr().out.split())
    assert data_finding(many.data_findings()) in words
    assert "name different winners on" in words or "name the same winner" in words


def test_studies_of_models_and_of_data_sets_are_compared(many, single, place):
    study = 'name = "drawn"\nmodels = 3\n[family]\nname = "tan"\n[data]\ntrain_sizes = [20]\n'
    study += 'test_size = 50\n[measures]\nprimary = "accuracy"\n'
    study += '[[learners]]\nname = "naive_bayes"\nlabel = "NB"\n[[learners]]\nname = "prior"\n'
    (place / "drawn.toml").write_text(study, encoding="utf-8")
    drawn = run_study(load_study(place / "drawn.toml"), place / "drawn", jobs=1, report=False)
    page = compare_studies([drawn, many, single], ["drawn", "many", "single"])
    words = text_of(page)
    assert data_finding(many.data_findings()) in words
    assert "On these models" in words
    mean = float(many.data_findings().means["NB"].mean())
    assert f"{mean:.4f}" in words
    assert "Not measured in drawn" in words
    tips = {*re.findall(r"<title>(\w+), ([\w ]+): (\w+), ", page)}
    leader = drawn.findings().standings[0].leader
    assert tips == {
        ("drawn", "20 rows", leader),
        ("many", "over all data sets", many.data_findings().over_sets.leader),
    }
    assert "The learner of the best mean" in words
    assert "Over data sets: the learner that loses to the fewest, likewise. By " in words
    with pytest.raises(SimstudyError, match="variants"):
        compare_studies([many, single], ["one", "other"], variants=True)


@pytest.fixture
def address(many):
    return (many.directory / "report.html").resolve().as_uri()


def test_columns_sort_by_a_click(tab):
    table = ".of-measure:not([hidden]) .sortable.heat table"
    rows = f"[...document.querySelectorAll('{table} tbody tr')]"
    script = f"() => {rows}.map(row => row.cells[1].innerText)"
    head = tab.locator(f"{table} thead th").nth(1)
    head.locator("button").click()
    values = [float(one.replace("−", "-")) for one in tab.evaluate(script)]
    assert values == sorted(values, reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    head.locator("button").click()
    assert [float(one.replace("−", "-")) for one in tab.evaluate(script)] == values[::-1]


def test_the_finding_follows_the_measure(tab):
    tab.locator("#measure").select_option("1")
    assert "information reward" in tab.locator(".finding h2 >> visible=true").text_content()
    visible = tab.locator("#winners .of-measure:not([hidden])")
    assert visible.get_attribute("data-measure") == "1"


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_first_screen_answers(tab, width, height):
    tab.set_viewport_size({"width": width, "height": height})
    box = tab.locator(".finding p >> visible=true").first.bounding_box()
    assert box["y"] + box["height"] < height
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_nothing_stands_in_the_way_of_readers(tab):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        found = axe.Axe().run(tab).response["violations"]
        assert [(one["id"], [n["target"] for n in one["nodes"]]) for one in found] == []


def test_scores_are_drawn_against_time(many, single):
    seconds = many.seconds()
    assert [*seconds] == many.treatments
    assert min(seconds.values()) > 0
    text = text_of((many.directory / "report.html").read_text(encoding="utf-8"))
    assert "accuracy against time" in text
    assert "Joined: the Pareto front" in text
    sizes = [single.seconds(size=size)["NB"] for size in single.sizes]
    assert sizes[0] != sizes[1]  # of other cells
    with pytest.raises(SimstudyError, match="no training size 7"):
        single.data_findings(size=7)


def test_a_learner_on_its_own_is_not_drawn_against_time(place):
    text = '[resampling]\nfolds = 2\n[[learners]]\nname = "prior"\n'
    alone = run(place, text, ["own"], "unrivalled")
    assert "against time" not in text_of(report_page(alone))


def test_a_notebook_shows_the_finding_and_draws_the_means(many, single):
    shown = many._repr_html_()
    assert "Over 7 data sets" in shown
    assert shown.count("<table>") == 1
    assert [text.get_text() for text in single.plot_means("accuracy").get_yticklabels()][-1:] == [
        "twin"
    ]
    assert len(many.plot_means().get_yticklabels()) == 7
