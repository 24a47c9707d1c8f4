"""The report page in a real browser: it stays at home, answers its controls and can be read."""

from __future__ import annotations

import pytest

from simstudy import make_study, run_study
from simstudy.analysis.claims.verdict import check_statements
from simstudy.report.pages.page import report_page
from simstudy.study.claims import ModelClaim, Statement
from simstudy.workflow.compare import compare_studies

axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="axe-playwright-python is not installed"
)
pytestmark = pytest.mark.xdist_group("browser")  # its pages are made once

LABELS = ["NB", "<img src=x onerror=alert(1)>", "long " * 20]
STUDY = {
    "name": "tiny",
    "title": "Tiny & sound",
    "models": 5,
    "family": {"name": "tan", "variables": [3, 4], "values": [2, 3]},
    "data": {"train_sizes": [10, 40, 160], "test_size": "exact"},
    "measures": {"also": ["regret", "representation", "estimation"]},
    "learners": [
        {"name": "naive_bayes", "label": label, "alpha": 0.5 * (index + 1)}
        for index, label in enumerate(LABELS)
    ],
}


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    directory = tmp_path_factory.mktemp("page")
    results = run_study(make_study(STUDY), directory / "out", jobs=1, report=False)
    file = directory / "report.html"
    file.write_text(report_page(results), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def wide(tmp_path_factory):
    """The page of a study of many sizes."""
    directory = tmp_path_factory.mktemp("wide")
    sizes = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000]
    learners = [
        {"name": "naive_bayes", "label": label, "alpha": alpha}
        for label, alpha in (("Naive Bayes, smoothed", 0.5), ("NB", 1.0), ("Laplace", 2.0))
    ]
    small = {"data": {"train_sizes": sizes, "test_size": 50}, "learners": learners, "measures": {}}
    results = run_study(make_study(STUDY | small), directory / "out", jobs=1, report=False)
    file = directory / "report.html"
    file.write_text(report_page(results), encoding="utf-8")
    return file.as_uri()


def shown(tab, selector):
    """How many of the elements can be seen."""
    script = (
        "(s) => [...document.querySelectorAll(s)].filter(e => e.getClientRects().length).length"
    )
    return tab.evaluate(script, selector)


def test_hiding_a_learner_hides_it_everywhere(tab):
    every = "#curves svg [data-l], #cost svg [data-l], .panel[data-l], tr[data-l], .key [data-l]"
    before = shown(tab, every)
    assert shown(tab, '[data-l~="1"]') > 10
    tab.locator('input[name=learner][value="1"]').uncheck()
    assert shown(tab, '[data-l~="1"]') == 0
    assert shown(tab, '[data-l~="0"]') > 10
    tab.locator('input[name=learner][value="1"]').check()
    assert shown(tab, every) == before


def test_another_measure_shows_its_own_figures(tab):
    visible = "#curves .of-measure:not([hidden])"
    assert tab.locator(visible).count() == 1
    first = tab.locator(f"{visible} .wide svg .name >> visible=true").text_content()
    tab.locator("#measure").select_option("1")
    assert tab.locator(visible).get_attribute("data-measure") == "1"
    assert tab.locator(f"{visible} .wide svg .name >> visible=true").text_content() != first
    for section in ("findings", "differences", "anova", "pairs", "models", "precision"):
        part = tab.locator(f"#{section} .of-measure:not([hidden])")
        assert part.get_attribute("data-measure") == "1"


def test_the_question_and_the_finding_follow_the_measure(tab):
    assert "by information reward" in tab.locator(".finding h2 >> visible=true").text_content()
    tab.locator("#measure").select_option("1")
    assert "by regret" in tab.locator(".finding h2 >> visible=true").text_content()
    assert ", by regret, " in tab.locator(".question >> visible=true").text_content()
    assert tab.locator(".finding p >> visible=true").count() == 1


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_the_first_screen_has_the_finding_and_the_curves(tab, width, height):
    tab.set_viewport_size({"width": width, "height": height})
    box = tab.locator(".finding p >> visible=true").bounding_box()
    figure = tab.locator("#curves svg[role=img] >> visible=true").bounding_box()
    assert box["y"] + box["height"] < height
    assert figure["y"] < height - 100
    if width > 1000:
        assert figure["y"] + figure["height"] < height
        assert figure["x"] > box["x"] + box["width"]


def test_a_point_tells_its_numbers_to_pointer_and_keys(tab):
    figure = tab.locator("#curves .of-measure:not([hidden]) .wide svg >> visible=true")
    point = figure.locator(".pt").first
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    tab.mouse.move(box["x"] + box["width"] / 2 + 2, box["y"] + box["height"] / 2)
    tip = tab.locator("#tip")
    assert tip.is_visible()
    assert tip.text_content().startswith("NB, 10 rows: ")
    figure.focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    assert "rows: " in tip.text_content()
    tab.keyboard.press("Escape")
    assert tip.is_hidden()


def emphasised(figure):
    """The learners that stand out in a figure; None if none fade."""
    script = "(f) => [...f.querySelectorAll('svg .on')].map((part) => part.dataset.l)"
    faded = figure.evaluate("(f) => f.classList.contains('picked')")
    return {*figure.evaluate(script)} if faded else None


def test_a_learner_pointed_at_stands_out_in_its_figure(tab):
    costs = tab.locator("#cost figure")
    assert emphasised(costs) is None
    costs.locator('.key [data-l="1"]').hover()
    assert emphasised(costs) == {"1"}
    assert costs.locator("svg .on").count() == 2  # in both panels
    other = costs.locator('svg [data-l="0"]').first
    tab.wait_for_timeout(300)
    assert float(other.evaluate("(part) => getComputedStyle(part).opacity")) < 0.5
    tab.mouse.move(1, 1)
    assert emphasised(costs) is None
    curves = tab.locator("#curves .of-measure:not([hidden]) figure").first
    curves.scroll_into_view_if_needed()
    marks = curves.locator(".wide svg .pt")
    start, end = (marks.nth(place).bounding_box() for place in (0, 1))
    x = (start["x"] + end["x"] + start["width"]) / 2
    y = (start["y"] + end["y"] + start["height"]) / 2
    tab.mouse.move(x, y)  # between two marks of the first learner
    assert emphasised(curves) == {"0"}


def test_the_keys_choose_a_learner_too(tab):
    figure = tab.locator("#curves .of-measure:not([hidden]) figure").first
    picture, tip = figure.locator(".wide svg"), tab.locator("#tip")
    picture.focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("ArrowRight")
    assert emphasised(figure) == {"0"}
    assert tip.text_content().startswith("NB, 40 rows: ")
    tab.keyboard.press("ArrowDown")
    assert emphasised(figure) in ({"1"}, {"2"})
    assert ", 40 rows: " in tip.text_content()
    tab.keyboard.press("Escape")
    assert emphasised(figure) is None
    tab.locator('input[name=learner][value="2"]').focus()
    assert emphasised(figure) == emphasised(tab.locator("#cost figure")) == {"2"}


def test_the_learning_curves_are_one_switch_away(tab):
    part = tab.locator("#curves .of-measure:not([hidden])")
    pictures, buttons = part.locator(".wide svg >> visible=true"), part.locator(".buttons button")
    assert pictures.locator("desc").text_content().startswith("Best: ")
    buttons.nth(1).focus()
    tab.keyboard.press("Enter")
    assert pictures.locator("desc").text_content().startswith("Mean information reward")
    pressed = [button.get_attribute("aria-pressed") for button in buttons.all()]
    assert pressed == ["false", "true"]
    tab.locator("#measure").select_option("1")
    tab.locator("#curves .of-measure:not([hidden]) .buttons button").nth(1).click()
    assert pictures.locator("desc").text_content().startswith("Mean regret")


def test_a_learner_is_pinned_and_unpinned_by_key_and_pointer(tab):
    figure = tab.locator("#curves .of-measure:not([hidden]) figure").first
    figure.locator(".wide svg").focus()
    tab.keyboard.press("ArrowRight")
    tab.keyboard.press("Enter")
    tab.keyboard.press("Escape")
    assert emphasised(figure) == {"0"}
    mark = figure.locator('.wide svg [data-l="2"] .pt').first
    mark.click()
    tab.mouse.move(1, 1)
    assert emphasised(figure) == {"2"}
    mark.click()
    tab.mouse.move(1, 1)
    assert emphasised(figure) is None


def test_tables_are_copied_and_downloaded(tab):
    part = tab.locator("#findings .of-measure:not([hidden]) .table")
    with tab.expect_download() as download:
        part.locator("button.download").click()
    assert download.value.suggested_filename == "means_information_reward.csv"
    text = download.value.path().read_text(encoding="utf-8")
    assert text.startswith("learner,size,n,mean,")
    assert len(text.splitlines()) == 10
    part.locator("button.copy").click()
    assert part.locator("button.copy").text_content() in ("Copied", "Failed")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_keeps_anyone_from_reading(tab, scheme):
    tab.emulate_media(color_scheme=scheme)
    tab.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    found = axe.Axe().run(tab).response["violations"]
    bad = [
        (rule["id"], rule["nodes"][0]["html"][:200])
        for rule in found
        if rule["impact"] in ("serious", "critical") or rule["id"] == "heading-order"
    ]
    assert bad == []


@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_no_wider_than_its_window(tab, width):
    tab.set_viewport_size({"width": width, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert shown(tab, "#curves .wide svg" if width > 640 else "#curves .narrow svg") == 1
    assert shown(tab, "#curves .narrow svg" if width > 640 else "#curves .wide svg") == 0


def test_on_paper_it_is_light_and_without_controls(tab):
    tab.emulate_media(media="print", color_scheme="dark")
    assert shown(tab, ".controls, nav, .buttons") == 0
    ground = "getComputedStyle(document.body).backgroundColor"
    assert tab.evaluate(ground) == "rgb(255, 255, 255)"
    kept = "getComputedStyle(document.querySelector('.chip.estimation')).printColorAdjust"
    assert tab.evaluate(kept) == "exact"


def test_on_paper_it_has_margins_and_the_chosen_measure_alone(tab, tmp_path):
    tab.locator("#measure").select_option("1")
    tab.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
    assert tab.evaluate("[...document.querySelectorAll('details')].every(part => part.open)")
    tab.emulate_media(media="print")
    assert shown(tab, '.of-measure[data-measure="0"]') == 0
    assert shown(tab, '.of-measure[data-measure="1"]') > 5
    pages = "[...document.styleSheets].flatMap(s => [...s.cssRules]).filter(r => r.type === 6)"
    margin = tab.evaluate(f"{pages}.map(rule => rule.style.marginRight)")
    assert margin == ["15mm"]


def widest(tab):
    """How far the widest table reaches on paper, with nothing folded away."""
    tab.set_viewport_size({"width": 718, "height": 1000})
    tab.emulate_media(media="print")
    for script in (
        "details').forEach(e => { e.open = true",
        ".of-measure').forEach(e => { e.hidden = false",
    ):
        tab.evaluate(f"document.querySelectorAll('{script}; }})")
    edges = "[...document.querySelectorAll('table')].map(e => e.getBoundingClientRect().right)"
    return max(tab.evaluate(edges))


@pytest.mark.slow
def test_on_paper_no_table_is_wider_than_the_page(tab, browser, wide):
    assert widest(tab) <= 718
    other = browser.new_page()
    other.goto(wide)
    assert widest(other) <= 718
    other.close()


@pytest.mark.slow
def test_studies_side_by_side_answer_their_controls_and_fit_the_paper(browser, tmp_path):
    claim = ModelClaim(
        "a", "NB is near nothing", "near", ["NB"], [10, 40, 160], value=[0.0], margin=1
    )
    small = STUDY | {"measures": {}, "data": {"train_sizes": [10, 40, 160], "test_size": 50}}
    results = run_study(make_study(small), tmp_path / "out", jobs=1, report=False)
    verdicts = check_statements([Statement(claim.text, [claim])], {"a": results})
    text = compare_studies([results, results], ["a", "b"], verdicts)
    (tmp_path / "compare.html").write_text(text, encoding="utf-8")
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    heard = []
    tab.on("pageerror", lambda error: heard.append(str(error)))
    tab.goto((tmp_path / "compare.html").as_uri())
    assert tab.locator("#measure").count() == 0
    tab.locator("#designs summary").click()  # of more rows than are shown unfolded
    for section in ("statements", "changes", "designs"):
        assert tab.locator(f"#{section} .table button.copy").is_visible()
    tab.locator('input[name=learner][value="1"]').uncheck()
    assert shown(tab, '[data-l~="1"]') == 0
    assert shown(tab, '[data-l~="0"]') > 3
    assert widest(tab) <= 718
    tab.close()
    assert heard == []


def test_without_scripts_the_primary_measure_is_shown(browser, address):
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(address)
    assert tab.locator("#curves .of-measure:not([hidden])").count() == 1
    assert tab.locator(".controls").is_hidden()
    assert tab.locator("#curves .wide svg .pt title").first.text_content().startswith("NB, 10 rows")
    context.close()
