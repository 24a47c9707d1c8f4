"""Pages by touch: values stay, choices are in the address, nothing is wider than the window."""

from __future__ import annotations

from contextlib import contextmanager
from urllib.parse import parse_qs, urlsplit

import pytest

from simstudy import make_study, run_study
from simstudy.analysis.claims.verdict import check_statements
from simstudy.report.pages.home import write_home
from simstudy.report.pages.page import report_page
from simstudy.study.claims import ModelClaim, Statement
from simstudy.study.lists import Reading
from simstudy.workflow.compare import compare_studies
from simstudy.workflow.lists import variants_page
from tests.report.test_browser import STUDY, axe
from tests.report.test_data_page import LEARNERS, run

pytestmark = pytest.mark.xdist_group("browser")  # its pages are made once

PHONE = {"width": 390, "height": 844}
SMALLEST = 11  # pixels of letters in figures
MEASURE = "log loss"
UNFOLD = "document.querySelectorAll('details').forEach((part) => { part.open = true; })"


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    directory = tmp_path_factory.mktemp("touch")
    study = make_study(STUDY | {"measures": {"also": ["log_loss", "accuracy"]}})
    models = run_study(study, directory / "models", jobs=1, report=False)
    names = [f"set{number}" for number in range(22)]
    scheme = "[resampling]\nfolds = 2\n"
    sets = run(directory, scheme + LEARNERS, names)
    claim = ModelClaim("models", "NB is near nothing", "near", ["NB"], [40], value=[0.0], margin=1)
    other = run_study(make_study(STUDY | {"seed": 5}), directory / "other", jobs=1, report=False)
    both = {"models": models, "other": other}
    verdicts = check_statements([Statement(claim.text, [claim])], both)
    variants = [Reading(label=label, override={"seed": label}) for label in both]
    pages = {
        "models": report_page(models),
        "sets": report_page(sets),
        "compared": compare_studies([*both.values()], [*both], verdicts),
        "mixed": compare_studies([models, sets], ["models", "sets"]),
        "varied": variants_page(variants, [*both.values()]),
    }
    for name, page in pages.items():
        (directory / f"{name}.html").write_text(page, encoding="utf-8")
    files = {name: (directory / f"{name}.html").as_uri() for name in pages}
    return files | {"home": write_home(directory).as_uri()}


@pytest.fixture(params=["models", "sets"])
def address(request, addresses):
    return addresses[request.param]


@pytest.fixture(params=["compared", "mixed", "varied", "home"])
def several(request, browser, addresses):
    """A page of several studies on a phone."""
    with on_phone(browser, addresses[request.param]) as page:
        yield page


@pytest.fixture
def phone(browser, address):
    with on_phone(browser, address) as page:
        yield page


@contextmanager
def on_phone(browser, address):
    """A page on a phone, of which no script may fail."""
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page, heard = context.new_page(), []
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(address)
    page.wait_for_function("!document.querySelector('[data-view]:empty')")  # which are unpacked
    page.evaluate(UNFOLD)
    yield page
    context.close()
    assert heard == []


def state(page):
    """What is chosen: the measure, and the learners that are not shown."""
    measure = page.locator("#measure").evaluate("(e) => e.selectedOptions[0].text")
    boxes = page.locator("input[name=learner]:not(:checked)")
    return measure, boxes.evaluate_all("(all) => all.map((e) => e.parentNode.textContent.trim())")


def in_address(page):
    """The same, as the address has it."""
    query = parse_qs(urlsplit(page.url).query)
    return query.get("measure"), query.get("hide")


def test_the_values_of_a_tapped_mark_stay_until_the_next_tap(phone):
    marks = phone.locator("svg .pt >> visible=true")
    tip, told = phone.locator("#tip"), []
    for place in (0, 1):
        mark = marks.nth(place)
        mark.scroll_into_view_if_needed()
        box = mark.bounding_box()
        phone.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        assert tip.is_visible()
        told.append(tip.text_content())
        assert told[-1] == mark.evaluate("(mark) => mark.dataset.tip")
        before = tip.bounding_box()["y"]
        phone.evaluate("scrollBy(0, 40)")
        phone.wait_for_function(
            "(y) => document.getElementById('tip').getBoundingClientRect().y !== y", arg=before
        )
        assert tip.is_visible()
    assert told[0] != told[1]
    phone.locator("h1").tap()
    assert tip.is_hidden()
    marks.first.tap(force=True)
    assert tip.is_visible()
    phone.keyboard.press("Escape")
    assert tip.is_hidden()


def test_what_is_chosen_is_in_the_address_by_its_name(phone, address):
    assert urlsplit(phone.url).query == ""
    phone.locator("#measure").select_option(label=MEASURE)
    assert in_address(phone) == ([MEASURE], None)
    labels = phone.locator("input[name=learner]").evaluate_all(
        "(all) => all.map((box) => box.parentNode.textContent.trim())"
    )
    note = phone.locator("#hidden-note")
    assert note.text_content() == ""
    phone.locator("button.only").nth(1).tap()
    hidden = [label for label in labels if label != labels[1]]
    assert state(phone) == (MEASURE, hidden)
    assert in_address(phone) == ([MEASURE], hidden)
    assert all(label in note.text_content() for label in hidden)
    assert f"all {len(labels)} learners" in note.text_content()
    shared = phone.context.new_page()
    shared.goto(phone.url)
    assert state(shared) == (MEASURE, hidden)
    assert shared.locator('[data-l="0"] >> visible=true').count() == 0
    shared.close()
    phone.go_back()
    assert state(phone) == (MEASURE, [])
    phone.go_back()
    assert state(phone)[0] != MEASURE
    phone.go_forward()
    assert state(phone) == (MEASURE, [])
    phone.locator("button.only").nth(0).tap()
    phone.locator("button.only.all").tap()
    assert state(phone) == (MEASURE, [])
    assert note.text_content() == ""


def test_names_that_are_not_known_are_ignored(phone, address):
    first = state(phone)
    phone.goto(f"{address}?measure=nonsense&hide=nobody&hide=1&x=1#findings")
    assert state(phone) == first
    phone.goto(f"{address}?measure=log+loss&hide=NB&hide=nobody")
    assert state(phone) == (MEASURE, ["NB"])


@pytest.mark.parametrize("width", [390, 1100, 1400])
def test_nothing_is_wider_than_the_window_and_figures_can_be_read(phone, width):
    phone.set_viewport_size(PHONE | {"width": width})
    assert phone.evaluate("document.documentElement.scrollWidth") <= width
    sizes = phone.evaluate(
        """() => [...document.querySelectorAll("svg text")]
        .filter((text) => text.getClientRects().length && text.textContent.trim())
        .map((text) => parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a)"""
    )
    assert len(sizes) > 10
    assert min(sizes) > SMALLEST - 0.05


def test_nothing_serious_keeps_anyone_from_reading(phone):
    phone.locator("button.only").nth(1).tap()
    violations = axe.Axe().run(phone).response["violations"]
    serious = [rule["id"] for rule in violations if rule["impact"] in ("serious", "critical")]
    assert serious == []
    phone.locator("button.only").nth(0).focus()
    phone.keyboard.press("Tab")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert phone.evaluate(outline) == "solid"


def test_tables_of_many_rows_are_folded(browser, addresses):
    page = browser.new_page()
    page.goto(addresses["sets"])
    long = "[...document.querySelectorAll('table')].filter((table) => table.rows.length > 21)"
    closed = f"{long}.filter((table) => table.closest('details:not([open])')).length"
    page.wait_for_function(f"{long}.length > 10")  # parts are unpacked after the page is loaded
    assert page.evaluate(closed) == page.evaluate(f"{long}.length")
    page.locator("#datasets summary").first.click()
    assert page.evaluate(closed) == page.evaluate(f"{long}.length") - 1
    assert page.locator("#datasets details[open] tbody tr").count() == 22
    page.close()


@pytest.mark.parametrize("width", [390, 1100, 1400])
def test_pages_of_several_studies_are_no_wider_than_the_window(several, width):
    several.set_viewport_size(PHONE | {"width": width})
    assert several.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_keeps_anyone_from_reading_several_studies(several, scheme):
    several.emulate_media(color_scheme=scheme)
    violations = axe.Axe().run(several).response["violations"]
    bad = [
        (rule["id"], rule["nodes"][0]["html"][:200])
        for rule in violations
        if rule["impact"] in ("serious", "critical") or rule["id"] == "heading-order"
    ]
    assert bad == []


def test_a_comparison_keeps_tapped_values_and_has_its_state_in_the_address(browser, addresses):
    with on_phone(browser, addresses["compared"]) as page:
        for kind, words in ((".panel", "NB, 10 rows: "), (".winners", "models, 10 rows: ")):
            mark = page.locator(f"{kind} svg .pt >> visible=true").first
            mark.scroll_into_view_if_needed()
            box = mark.bounding_box()
            page.touchscreen.tap(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
            assert page.locator("#tip").is_visible()
            assert page.locator("#tip").text_content().startswith(words)
        page.locator("button.only").nth(0).tap()
        shared = page.context.new_page()
        shared.goto(page.url)
        boxes = shared.locator("input[name=learner]").all()
        assert [box.is_checked() for box in boxes] == [True, False, False]
        assert shared.locator('.panel [data-l="1"] >> visible=true').count() == 0


def test_cards_are_chosen_by_learner(browser, addresses):
    with on_phone(browser, addresses["home"]) as page:
        assert page.locator(".card >> visible=true").count() == 3
        page.locator("select[name=learner]").select_option("1R")
        assert page.locator(".card h2 >> visible=true").all_text_contents() == ["out"]
