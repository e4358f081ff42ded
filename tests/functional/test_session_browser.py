"""A long session in a browser: its map, jumps between errors, messages that come on demand."""

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from benchmarks.imports.services import import_trajectories
from tests.factories.benchmarks import make_user
from tests.functional.test_annotation_loop import sign_in

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
ERRORS = (40, 80)


@pytest.fixture
def long_session(tmp_path: Path) -> int:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "Go."}]
    for step in range(100):
        function = {"name": "Bash", "arguments": json.dumps({"command": f"run {step}"})}
        call = {"id": f"c{step}", "type": "function", "function": function}
        messages.append({"role": "assistant", "content": "", "tool_calls": [call]})
        text = "Error: no" if step in ERRORS else f"line {step}"
        messages.append({"role": "tool", "tool_call_id": f"c{step}", "content": text})
    path = tmp_path / "session.jsonl"
    path.write_text(json.dumps({"messages": messages, "model": "m"}))
    return import_trajectories(path=path).runs[0].trajectories.get().pk


def test_a_reader_moves_by_errors_the_slider_and_the_address(
    live_server: Any, page: Page, long_session: int
) -> None:
    make_user("ruth", ["view_results"])
    sign_in(page, live_server.url, "ruth")
    page.goto(f"{live_server.url}/trajectories/{long_session}/")
    where = page.locator("[data-session-map] output")
    # The result of step n is message 2n + 3.
    for number in (83, 163):
        page.keyboard.press("e")
        expect(where).to_have_text(f"Message {number} of 201: result, error")
        expect(page.locator(f"#m-{number}")).to_be_in_viewport()
    page.keyboard.press("e")
    expect(where).to_have_text("No error after this message")
    expect(where).to_have_attribute("aria-live", "polite")
    page.keyboard.press("Shift+E")
    expect(where).to_have_text("Message 83 of 201: result, error")
    page.get_by_role("slider", name="Message").press("ArrowRight")
    expect(where).to_have_text("Message 84 of 201: call")
    page.keyboard.press("e")  # also while the slider has the focus
    expect(where).to_have_text("Message 163 of 201: result, error")
    # The focus is at the message, so that keys go on from there and Tab leads into it.
    expect(page.locator("#m-163 .turn-note")).to_be_focused()
    fold = page.locator("#m-163 details")
    expect(fold).to_have_attribute("open", "")
    page.keyboard.press("o")
    expect(fold).not_to_have_attribute("open", "")
    page.keyboard.press("Tab")
    expect(fold.locator("summary")).to_be_focused()
    page.keyboard.press("j")
    expect(where).to_have_text("Message 164 of 201: call")
    expect(page.locator("#m-164 .turn-note")).to_be_focused()
    page.goto(f"{live_server.url}/trajectories/{long_session}/#m-150")
    expect(page.locator("#m-150")).to_be_in_viewport()
    # Whoever reads on hears the messages, and not the number of each one that comes into sight.
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight / 2)")
    expect(where).to_have_attribute("aria-live", "off")
