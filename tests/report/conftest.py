"""A real browser, for tests of pages; they are skipped where there is none."""

from __future__ import annotations

import shutil

import pytest


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    known = map(shutil.which, ("chromium", "chromium-browser", "chrome"))
    chromium = next(filter(None, known), None)
    if chromium is None:
        pytest.skip("there is no Chromium on this machine")
    with sync_api.sync_playwright() as playwright:
        one = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield one
        one.close()


@pytest.fixture
def tab(browser, address):
    """A page that must neither complain nor ask for anything but itself."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    heard, asked = [], []
    page.on("console", lambda message: heard.append(message.text))
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address)
    yield page
    page.close()
    assert heard == []
    assert [url for url in asked if not url.startswith("blob:")] == [address]
