"""Pages by touch: values stay, choices are in the address, nothing is wider than the window."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from simstudy import make_study, run_study
from simstudy.report.pages.page import report_page
from tests.report.test_browser import STUDY, axe
from tests.report.test_data_page import LEARNERS, run

pytestmark = pytest.mark.xdist_group("browser")  # its pages are made once

PHONE = {"width": 390, "height": 844}
SMALLEST = 11  # pixels of letters in figures
MEASURE = "log loss"


@pytest.fixture(scope="module")
def addresses(tmp_path_factory):
    directory = tmp_path_factory.mktemp("touch")
    study = make_study(STUDY | {"measures": {"also": ["log_loss", "accuracy"]}})
    models = run_study(study, directory / "models", jobs=1, report=False)
    names = [f"set{number}" for number in range(22)]
    scheme = "[resampling]\nfolds = 2\n"
    sets = run(directory, scheme + LEARNERS, names)
    files = {}
    for kind, results in (("models", models), ("sets", sets)):
        file = directory / f"{kind}.html"
        file.write_text(report_page(results), encoding="utf-8")
        files[kind] = file.as_uri()
    return files


@pytest.fixture(params=["models", "sets"])
def address(request, addresses):
    return addresses[request.param]


@pytest.fixture
def phone(browser, address):
    """A page on a phone, of which no script may fail."""
    context = browser.new_context(viewport=PHONE, has_touch=True, is_mobile=True)
    page, heard = context.new_page(), []
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.goto(address)
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
    phone.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
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
    phone.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
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
    assert page.evaluate(closed) == page.evaluate(f"{long}.length") > 3
    page.locator("#datasets summary").first.click()
    assert page.evaluate(closed) == page.evaluate(f"{long}.length") - 1
    assert page.locator("#datasets details[open] tbody tr").count() == 22
    page.close()
