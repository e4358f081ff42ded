"""The documentation in a browser, under the product's own security policy."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from pytest_django import Settings

from tests.docs_site import built_site
from tests.functional.axe import looks, violations

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def docs(live_server: Any, settings: Settings, quiet: Page) -> Page:
    settings.DOCS_SITE = built_site()
    quiet.goto(f"{live_server.url}/docs/")
    return quiet


def test_search_leads_to_a_section_by_keys_alone(docs: Page) -> None:
    docs.wait_for_load_state("networkidle")
    docs.keyboard.press("Control+k")
    docs.keyboard.type("rejudge")
    expect(docs.get_by_text(re.compile(r"\d+ results?$"))).to_be_visible()
    docs.keyboard.press("Enter")
    docs.wait_for_url(re.compile(r"/docs/.+"))
    expect(docs.locator("article h1")).to_be_visible()


def test_the_theme_that_a_reader_chooses_is_kept(docs: Page) -> None:
    docs.get_by_title("Use the light theme").click()
    docs.get_by_title("Use the dark theme").click()
    expect(docs.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    docs.get_by_role("link", name="Glossary").first.click()
    expect(docs.get_by_role("heading", level=1, name="Glossary")).to_be_visible()
    expect(docs.locator("body")).to_have_attribute("data-md-color-scheme", "slate")


def test_the_theme_is_the_one_of_the_product(docs: Page) -> None:
    body = docs.locator("body")
    docs.evaluate("localStorage.setItem('theme', 'dark')")
    docs.reload()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    docs.evaluate("localStorage.setItem('theme', 'light')")
    docs.reload()
    expect(body).to_have_attribute("data-md-color-scheme", "default")

    docs.get_by_title("Use the dark theme").click()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    assert docs.evaluate("localStorage.getItem('theme')") == "dark"
    docs.get_by_title("Use the theme of the system").click()
    expect(docs.get_by_title("Use the light theme")).to_be_visible()
    assert docs.evaluate("localStorage.getItem('theme')") is None


@pytest.mark.parametrize("path", ["", "statistics/", "commands/analysis/", "api-reference/"])
def test_pages_have_no_serious_violation_and_do_not_scroll_sideways(docs: Page, path: str) -> None:
    docs.goto(docs.url + path)
    for look in looks(docs):
        assert not violations(docs, serious=True), look
