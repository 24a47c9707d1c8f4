"""The page that holds studies side by side shows what they share, and says what they do not."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser

import pandas as pd
import pytest

from simstudy import SimstudyError, make_study, run_study
from simstudy.analysis.claims.verdict import check_statements
from simstudy.report.charts import curves
from simstudy.report.charts.spec import Span
from simstudy.report.prose.claims import MAX_CHIPS, chips, numbers
from simstudy.study.claims import ModelClaim, Statement
from simstudy.study.lists import Reading
from simstudy.workflow.compare import (
    changes,
    common_measure,
    compare_studies,
    not_comparable,
    same_models,
)
from tests.report.packed import files, unpacked

NB = {"name": "naive_bayes", "label": "NB"}
PRIOR = {"name": "prior", "label": "prior"}
TAN = {"name": "tan", "label": "TAN"}
STUDY = {
    "name": "first",
    "title": "The first study",
    "seed": 3,
    "models": 4,
    "family": {"name": "naive_bayes", "variables": [3, 4]},
    "data": {"train_sizes": [20, 200], "test_size": 60},
    "learners": [NB, TAN, PRIOR],
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Run a small study, the usual one with changes."""
    root, made = tmp_path_factory.mktemp("compare"), {}

    def run(**given):
        key = repr(sorted(given.items()))
        if key not in made:
            place = root / str(len(made))
            made[key] = run_study(make_study(STUDY | given), place, jobs=1, report=False)
        return made[key]

    return run


def text(page):
    """What a reader sees, without styles and scripts."""
    body = re.sub(r"(?s)<(style|script).*?</\1>", " ", unpacked(page))
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def opening(page):
    """What a reader sees first: the finding and the curves."""
    return text(re.search(r'(?s)<section id="curves".*?</section>', page)[0])


def judged(results, *claims, **words):
    """The verdict on one statement, by the results of the study "first"."""
    statement = Statement(words.pop("text", claims[0].text), list(claims), **words)
    return check_statements([statement], {"first": results})


def test_the_page_is_one_file_of_well_formed_html(run):
    page = compare_studies([run(), run(name="second", seed=4)])
    assert not re.search(r"""(src|href)=["'](https?:|//|[\w.]+/)""", page)
    assert "@import" not in page
    open_tags = []
    names = []

    class Parser(HTMLParser):
        def handle_starttag(self, tag, attributes):
            names.extend(value for key, value in attributes if key == "id")
            if tag not in ("meta", "input", "br"):
                open_tags.append(tag)

        def handle_endtag(self, tag):
            assert open_tags.pop() == tag

    Parser().feed(page)
    assert open_tags == []
    assert len({*names}) == len(names)


def test_all_studies_are_drawn_on_the_same_scale(run):
    # The first study's rewards are far smaller: no axis may be its own.
    small = {"name": "naive_bayes", "variables": [3, 3], "concentration": 20.0}
    page = compare_studies([run(name="second", family=small), run()])
    figures = re.findall(r'(?s)<svg viewBox="0 0 330 325".*?</svg>', page)
    assert len(figures) == 2
    ticks = [re.findall(r"<text.*?</text>", figure) for figure in figures]
    assert len(ticks[0]) > 4
    assert ticks[0] == ticks[1]
    places = [float(y) for figure in figures for y in re.findall(r'data-y="([^"]+)"', figure)]
    assert len(places) > 4
    assert 8 <= min(places) < max(places) <= 325 - 42  # within the frame


def test_bars_run_from_the_best_mean_by_the_intervals_of_the_paired_tests(run):
    results = run(models=12)
    findings = results.findings()
    (chart,) = curves.studies(
        {"first": findings},
        dict(zip(results.learners, results.study.names, strict=True)),
        results.learners,
    )
    spans = [layer for layer in chart.layers if isinstance(layer, Span)]
    means = {(mean.learner, mean.size): mean.mean for mean in findings.means}
    drawn = 0
    for span, label in zip(spans, results.learners, strict=True):
        for at, low, high in zip(findings.standings, span.low, span.high, strict=True):
            if at.leader == label:
                assert math.isnan(high - low)
                continue
            (behind,) = (pair for pair in at.against if pair.second == label)
            base = means[at.leader, at.size]
            assert (low, high) == pytest.approx((base - behind.high, base - behind.low))
            assert (high < base) == (behind.verdict == "ahead")
            drawn += 1
    assert drawn == 4
    flat = [layer.y[0] for layer in chart.layers if getattr(layer, "kind", "") == "thin"]
    assert flat == [means[at.leader, at.size] for at in findings.standings]


def test_studies_of_the_same_models_are_compared_in_pairs(run):
    first, again = run(), run(name="again", learners=[NB, {**TAN, "search": "superparent"}, PRIOR])
    other = run(name="other", seed=4)
    assert same_models(first, again)
    assert not same_models(first, other)
    assert not same_models(first, run(name="tan", family={"name": "tan", "variables": [3, 4]}))
    table = changes({"first": first, "again": again, "other": other})
    learned = table[table["learner"] != "prior"]  # which earns 0 in any model
    tests = learned.groupby(["first", "second"], sort=False)["test"].agg(set).to_dict()
    assert tests["first", "again"] <= {"identical", "paired"}
    assert tests["first", "other"] == {"Welch"}
    alike = table[(table["second"] == "again") & (table["learner"] != "TAN")]
    assert (alike["test"] == "identical").all()
    said = text(compare_studies([first, again]))
    assert "4 are identical" in said
    assert (
        "The label TAN does not mean the same in all studies: tan (alpha = 0.5, search = cmi"
        in said
    )


def test_what_is_not_common_is_said_and_the_rest_compared(run):
    second = run(name="second", seed=4, learners=[NB, PRIOR], data={"train_sizes": [200, 600]})
    page = text(compare_studies([run(), second]))
    assert "first has learners that not all studies have: TAN." in page
    assert "first has sizes that not all studies have: 20." in page
    assert "second has sizes that not all studies have: 600." in page
    assert "test sizes of the studies differ: 60 in first and 1000 in second" in page
    assert "Of 2 comparisons of a learner's mean at one size between two studies," in page
    assert "m = 2 comparisons" in page
    assert "families of the models differ" not in page


def test_nothing_in_common_leaves_nothing_to_compare_but_a_page(run):
    second = run(name="second", learners=[{**NB, "label": "other"}])
    page = text(compare_studies([run(), second]))
    assert "The studies share no cell: no learner at the same size." in page


def test_other_conventions_are_warned_of(run):
    second = run(name="second", seed=2004, measures={"prior": "uniform"})
    page = text(compare_studies([run(seed=2004), second]))
    assert (
        "Rewards are not comparable: their prior differs between studies (train in first and "
        "uniform in second)" in page
    )
    assert "measures.prior train uniform" in page
    assert "seed 2004 2004 models 4 4" in page
    assert page.count("Not compared: the prior (train in first, uniform in second) differs") == 2
    assert "Monte-Carlo error" not in page
    assert "both axes are the same for all studies" in page


def test_numbers_in_other_units_are_neither_tested_nor_drawn_on_one_scale(run):
    first, second = run(), run(name="second", measures={"base": 2})
    with pytest.raises(
        SimstudyError, match=r"Not compared: the base \(e in first, 2.0 in second\)"
    ):
        changes({"first": first, "second": second})
    page = compare_studies([first, second])
    said = text(page)
    assert "information reward (nats in first and bits in second)" in said
    assert "first (nats)" in said  # both have one title
    assert "second (bits)" in said
    assert "both axes are the same" not in said
    assert "Not compared: the base (e in first, 2.0 in second) differs" in opening(page)
    assert "between_studies.csv" not in page
    figures = re.findall(r'(?s)<svg viewBox="0 0 330 325".*?</svg>', page)
    heights = [re.findall(r'data-y="([^"]+)"', figure) for figure in figures]
    assert heights[0] == heights[1]  # the same numbers in two units, each on its own scale
    ticks = [re.findall(r'text-anchor="end">([^<]+)<', figure) for figure in figures]
    assert ticks[0] != ticks[1]


def test_conventions_that_a_measure_does_not_rest_on_do_not_keep_it_from_being_compared(run):
    one = run(measures={"primary": "accuracy"})
    other = run(name="second", measures={"primary": "accuracy", "base": 2, "cutoff": "none"})
    assert not_comparable({"a": one, "b": other}, "accuracy") == ""
    assert set(changes({"a": one, "b": other})["test"]) == {"identical"}
    loss = {"primary": "log_loss"}
    one, other = run(measures=loss), run(name="second", measures={**loss, "prior": "uniform"})
    assert not_comparable({"a": one, "b": other}, "log_loss") == ""
    other = run(name="second", measures={**loss, "cutoff": "none", "base": 2})
    said = not_comparable({"a": one, "b": other, "c": one}, "log_loss")
    assert said == (
        "Not compared: the base (e in a and c, 2.0 in b) and the cutoff (mml in a and c, none in "
        "b) differ, so values of log loss are not comparable between the studies."
    )


def test_statements_and_designs_can_be_taken_from_the_page(run):
    given = {"study": "first", "relation": "beats", "learners": ["NB", "TAN"], "sizes": [20, 200]}
    claim = ModelClaim(
        text="Both beat nothing", against=["prior"], source="p. 3", id="one", **given
    )
    page = compare_studies([run()], ["first"], judged(run(), claim))
    tables = {name: pd.read_csv(io.StringIO(text)) for name, text in files(page).items()}
    lines = tables["statements.csv"]
    assert (lines["study"] == "first").all()
    assert lines["size"].tolist() == [20, 20, 200, 200]
    assert lines["first"].tolist() == ["NB", "TAN"] * 2
    pairs = run().pairwise().set_index(["size", "first", "second"])["difference"]
    expected = [pairs[size, label, "prior"] for size in (20, 200) for label in ("NB", "TAN")]
    assert lines["estimate"].tolist() == pytest.approx(expected)
    assert tables["designs.csv"].columns.tolist() == ["setting", "first"]
    for name in ("statements.csv", "designs.csv"):
        assert f'data-file="{name}"' in page
    assert page.count("<table") == page.count('class="copy"') == 2


def test_a_measure_that_all_have_is_shown(run):
    second = run(name="second", measures={"primary": "accuracy", "also": ["information_reward"]})
    assert common_measure([run(), second]) == "information_reward"
    alone = run(name="third", measures={"primary": "accuracy"})
    with pytest.raises(SimstudyError, match="no measure in common"):
        compare_studies([run(), alone])


def test_statements_stand_with_their_verdicts_and_numbers(run):
    claim = ModelClaim("first", "NB is <better> than nothing", "beats", ["NB"], [20], ["prior"])
    verdicts = judged(run(), claim, note="A note on it.")
    page = compare_studies(
        [run()], ["first"], verdicts, title="Claims", citation="A & B (2004)", note="On <all>."
    )
    assert "NB is &lt;better&gt; than nothing" in page
    said = text(page)
    assert "A & B (2004)" in said
    assert "A note on it." in said
    assert "On <all>." in said
    assert "Of 1 statement about these studies" in said
    assert f"1 is {verdicts[0].verdict}" in said
    assert ("Not reproduced: NB is" in said) == (verdicts[0].verdict == "not reproduced")
    assert numbers(verdicts[0].lines[0].checks[0], "nats") in said
    assert "4 models, m = 6" in said
    assert "Not decided does not mean that more models would decide it" in said
    assert "Readings" not in said


def test_each_study_has_its_verdicts_and_a_row_that_opens_its_page(run):
    results, second = run(models=12), run(models=12, name="second", seed=4)
    claims = [
        ModelClaim("first", "NB beats nothing", "beats", ["NB"], [200], ["prior"]),
        ModelClaim("first", "NB beats it", "beats", ["NB"], [200], ["prior"]),
        ModelClaim("second", "Nothing beats any", "beats", ["prior"], [20, 200], ["NB", "TAN"]),
    ]
    found = {"first": results, "second": second}
    statements = [Statement(claim.text, [claim]) for claim in claims]
    statements[0] = replace(statements[0], short="NB first")
    verdicts = check_statements(statements, found)
    (second.directory / "report.html").touch()
    page = compare_studies([*found.values()], [*found], verdicts, of_list=True)
    (second.directory / "report.html").unlink()
    chips = [text(chips) for chips in re.findall(r'(?s)<p class="chips">.*?</p>', page)]
    assert chips == [
        "✓ NB first (reproduced) ✓ NB beats it (reproduced)",
        "✗ Nothing beats any (not reproduced)",
    ]
    assert {*re.findall(r'<a href="(\w+/report.html)"', page)} == {
        f"{second.directory.name}/report.html"
    }
    alone = compare_studies([*found.values()], [*found], verdicts)
    assert "report.html" not in alone


def test_of_many_statements_those_that_failed_are_named_and_the_rest_counted(run):
    results = run(models=12)
    good = ModelClaim("first", "NB beats nothing", "beats", ["NB"], [200], ["prior"])
    bad = replace(good, text="Nothing beats NB", learners=["prior"], against=["NB"])
    statements = [Statement(f"{number}", [good]) for number in range(MAX_CHIPS + 1)]
    verdicts = check_statements([*statements, Statement("no", [bad])], {"first": results})
    short = [short for _, _, short, _ in chips(verdicts, "first")]
    assert short == ["✗ no", *(f"✓ {number}" for number in range(MAX_CHIPS - 1)), "✓ 2 more"]
    assert chips(verdicts, "second") == []


def test_one_study_alone_has_no_grid_of_winners(run):
    claim = ModelClaim("first", "NB beats nothing", "beats", ["NB"], [200], ["prior"])
    assert 'class="spot"' not in compare_studies([run()], ["first"], judged(run(), claim))
    assert 'class="spot"' in compare_studies([run(), run(seed=9)])


def test_statements_of_all_studies_are_one_table_with_where_verdict_and_numbers(run):
    results, second = run(models=12), run(models=12, name="second", seed=4)
    claims = [
        ModelClaim("first", "NB beats nothing", "beats", ["NB"], [200], ["prior"]),
        ModelClaim("second", "Nothing beats any", "beats", ["prior"], [20, 200], ["NB", "TAN"]),
    ]
    found = {"first": results, "second": second}
    verdicts = check_statements([Statement(claim.text, [claim]) for claim in claims], found)
    page = compare_studies([*found.values()], [*found], verdicts)
    (table,) = re.findall(r'(?s)<div class="statements">.*?</table>', page)
    rows = [text(row) for row in re.findall(r"(?s)<tr.*?</tr>", table)]
    assert rows[0] == "statement where verdict numbers"
    assert rows[1].startswith(f"NB beats nothing first 200 rows {verdicts[0].verdict} NB over")
    assert "nats [" in rows[1]
    assert rows[2].startswith("Nothing beats any second 20 and 200 rows not reproduced of 4 inter")
    # Of several intervals the first that decides is not folded away.
    short = re.search(r"(?s)<summary>(.*?)</summary>", table.split("Nothing beats any")[1])[1]
    deciding = next(c for c in verdicts[1].lines[0].checks if c.verdict == "not reproduced")
    assert numbers(deciding, "nats") in short
    start = page.index("Of 2 statements about these studies")
    assert start < page.index("<svg viewBox=", start) < page.index('<section id="statements"')
    assert page.index('<section id="statements"') < page.index('<section id="designs"')


def test_what_is_not_reproduced_is_said_at_the_top(run):
    claim = ModelClaim("first", "Nothing is better than NB", "beats", ["prior"], [200], ["NB"])
    verdicts = judged(run(models=12), claim)
    assert verdicts[0].verdict == "not reproduced"
    said = text(compare_studies([run(models=12)], ["first"], verdicts))
    page = compare_studies([run(models=12)], ["first"], verdicts)
    assert "Not reproduced: Nothing is better than NB (The first study)." in opening(page)
    turned = ModelClaim("first", "NB is better", "beats", ["NB"], [200], ["prior"])
    verdicts = judged(run(models=12), turned, claim, text="Both")
    said = text(compare_studies([run(models=12)], ["first"], verdicts))
    assert (
        "Not reproduced: Both (The first study; contradicted: Nothing is better than NB)." in said
    )
    assert "NB is better : reproduced" in said


def test_where_no_number_is_as_printed_the_nearest_is_named(run):
    results = run(models=12)
    far = ModelClaim("first", "up to 3", "near", ["NB", "prior"], [200], value=[3.0], margin=0.1)
    other = ModelClaim("first", "NB is better", "beats", ["NB"], [200], ["prior"])
    verdicts = judged(results, replace(far, some=True), other, text="Both")
    said = text(compare_studies([results], ["first"], verdicts))
    means = {mean.learner: mean.mean for mean in results.findings().means if mean.size == 200}
    best = max(means, key=means.__getitem__)
    nearest = f"contradicted: up to 3; the nearest is the mean of {best} at 200 rows: "
    assert nearest in said
    found = re.search(rf"{re.escape(nearest)}([−+\d.]+)", said)
    assert found
    assert float(found[1].replace("−", "-")) == pytest.approx(means[best], abs=1e-4)


def test_readings_stand_beside_each_other_with_marks_and_words(run):
    claim = ModelClaim("first", "NB is better than nothing", "beats", ["NB"], [200], ["prior"])
    turned = replace(claim, learners=["prior"], against=["NB"])
    results = run(models=12)
    own, other = judged(results, claim, short="NB better"), judged(results, turned)
    readings = [
        (Reading(label="as <stated>"), own),
        (
            Reading(label="turned", id="t", override={"seed": 4}, note="A remark.", post_hoc=True),
            other,
        ),
    ]
    page = compare_studies([results], ["first"], own, readings=readings)
    said = text(page)
    assert (
        "Under 1 reading of the source, 1 of 1 statements are reproduced; under 1 more, chosen "
        "after results had been seen, 0. 0 statements have the same verdict under all."
    ) in said
    (table,) = re.findall(r'(?s)<div class="readings-table">.*?</table>', page)
    assert text(table).endswith(
        "statement 1 : as <stated> 2* : turned NB better The first study ✓ reproduced "
        "✗ not reproduced reproduced of 1 1 0"
    )
    assert table.count(" unlike") == 1
    assert "turned* (seed = 4) . Chosen after results had been seen" in said
    assert "A remark." in said
    lines = pd.read_csv(io.StringIO(files(page)["readings.csv"]))
    assert lines["verdict"].tolist() == ["reproduced", "not reproduced"]
    assert lines["post_hoc"].tolist() == [False, True]


def test_other_families_are_said_to_be_what_differs(run):
    second = run(name="second", family={"name": "tan", "variables": [3, 4]})
    said = text(compare_studies([run(), second]))
    assert "The families of the models differ: naive_bayes in first and tan in second" in said


def test_names_and_labels_are_escaped(run):
    odd = run(
        name="odd", title="<script>alert(1)</script>", learners=[{**NB, "label": "<b>&"}, PRIOR]
    )
    page = compare_studies([odd, run()], ["<i>", "plain"])
    for raw in ("<script>alert(1)", "<b>&", "<i>"):
        assert raw not in page


def test_names_are_told_apart_or_refused(run):
    page = text(compare_studies([run(), run(seed=9)]))
    assert "first (1)" in page
    assert "first (2)" in page
    for names in (["a"], ["a", "a"]):
        with pytest.raises(SimstudyError, match="2 studies need 2 different names"):
            compare_studies([run(), run(seed=9)], names)
    with pytest.raises(SimstudyError, match="no studies"):
        compare_studies([])
