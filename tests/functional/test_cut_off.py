"""An annotator whose network is cut and whose server is killed, again and again, mid-form.

A real server process with a database of its own, and a real browser. Two minutes without a network
pass on the browser's own clock, which is put forward; with ``PLANJURY_TEST_REAL_TIME=1`` they are
waited for, and the test takes some three minutes instead of seconds.
"""

import json
import os
import re
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.functional.breaking_server import BREAK, DESK, POSTED
from tests.functional.test_annotation_loop import chosen, state
from tests.installations import Install, Installation
from tests.servers import Server, free_port, kill_whole, wait_until_answered

pytestmark = [pytest.mark.browser, pytest.mark.slow]

REAL_TIME = os.environ.get("PLANJURY_TEST_REAL_TIME") == "1"
SOON = 60_000  # milliseconds
EDITS = """
select question, aspect, value, text, undoes_id is not null, client_id
from annotation_ratingedit order by id"""
STANDING = "select question, aspect, value, text from annotation_rating"
SUBMITTED = "select count(*) from annotation_studyevent where kind = 'submitted'"


@dataclass
class Site:
    """A server that comes and goes, at one address."""

    place: Installation
    port: int = field(default_factory=free_port)
    server: Server | None = None

    def start(self) -> None:
        command = "-m", "tests.functional.breaking_server"
        process = self.place.start(*command, PORT=str(self.port))
        self.server = Server(process, self.port)
        wait_until_answered(self.server)

    def kill(self) -> None:
        """All of it, at once."""
        assert self.server is not None
        kill_whole(self.server.process)

    def kill_web(self) -> None:
        """Kill the web server; the product's supervisor starts it again."""
        assert self.server is not None
        os.killpg(self.server.web[0], signal.SIGKILL)

    def break_next_reply(self) -> None:
        """Let the server carry out the next request, and die before it replies."""
        (self.place.folder / BREAK).touch()

    def broke(self) -> bool:
        return not (self.place.folder / BREAK).exists()

    def posted(self) -> tuple[Counter[str], int]:
        """Return how often each edit came to the server, by id, and how often the submission."""
        lines = (self.place.folder / POSTED).read_text().splitlines()
        found = [json.loads(line) for line in lines]
        sent = [json.loads(body) for path, body in found if path.endswith("/answers/")]
        ids = [edit["id"].replace("-", "") for message in sent for edit in message["edits"]]
        return Counter(ids), sum(path.endswith("/submit/") for path, _ in found)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Nobody else can write: what is being saved waits in the server."""
        path = self.place.folder / "planjury.sqlite3"
        with closing(sqlite3.connect(path, timeout=20, isolation_level=None)) as database:
            database.execute("begin immediate")
            yield
            database.execute("rollback")


@pytest.fixture
def site(install: Install) -> Site:
    site = Site(install("cut"))
    site.start()
    return site


@pytest.fixture
def context(site: Site, browser: Browser) -> Iterator[BrowserContext]:
    """Ann's browser; she is signed in."""
    url = f"http://localhost:{site.port}"
    with browser.new_context(base_url=url, service_workers="allow") as context:
        if not REAL_TIME:
            context.clock.install()
        session = json.loads((site.place.folder / DESK).read_text())["session"]
        context.add_cookies([{"name": "sessionid", "value": session, "url": url}])
        yield context


def pass_time(page: Page, seconds: int, *, step: int = 5) -> None:
    """Time goes by: what waits in the page comes due, and has a moment to be done."""
    if REAL_TIME:
        page.wait_for_timeout(seconds * 1000)
        return
    for _ in range(0, seconds, step):
        page.clock.fast_forward(step * 1000)
        page.wait_for_timeout(20)


def until(true: Callable[[], bool], what: str) -> None:
    limit = time.monotonic() + SOON / 1000
    while not true():
        assert time.monotonic() < limit, what
        time.sleep(0.02)


def saved(page: Page) -> None:
    """Everything is on the server; the page's next tries are waited for."""
    shown = page.locator(".desk-bar .save-state")

    def tried() -> bool:
        pass_time(page, 2, step=1)
        return shown.inner_text() == "saved"

    until(tried, "not saved")


def answered(page: Page, text: str) -> None:
    """Return how much is answered, in a page that may just be loading."""
    expect(page.locator(".desk-submit [data-answered]")).to_have_text(text, timeout=SOON)


def test_nothing_is_lost_and_nothing_doubled(site: Site, context: BrowserContext) -> None:
    study = json.loads((site.place.folder / DESK).read_text())["study"]
    here = f"/studies/{study}/annotate/1/"
    page = context.new_page()
    page.goto(here)
    until(lambda: bool(page.evaluate("navigator.serviceWorker.controller !== null")), "no worker")
    press = page.keyboard.press
    press("4")
    press("3")
    state(page).to_have_text("saved")

    # The network is away for two minutes. She answers, takes back, comments, flags, and reloads.
    context.set_offline(True)
    press("5")
    press("2")
    press("u")
    press("1")
    press("!")
    page.keyboard.insert_text("The plan stops half-way.")
    press("Escape")
    press("Shift+C")
    page.keyboard.insert_text("Read twice.")
    press("Escape")
    state(page).to_have_text("offline (6)")
    pass_time(page, 60)
    state(page).to_have_text("offline (6)")
    answered(page, "4 of 10")
    page.reload()
    expect(page.get_by_role("heading", name="No connection to PlanJury")).to_be_visible()
    expect(page.locator("main")).to_contain_text("This device is offline.")
    expect(page.locator("main")).to_contain_text("6 answers are not sent yet, but saved")
    pass_time(page, 60)
    expect(page.locator("main")).to_contain_text("6 answers are not sent yet, but saved")
    context.set_offline(False)
    # The page goes on by itself, and what was said stands in it.
    answered(page, "4 of 10")
    saved(page)
    assert [chosen(page, name) for name in ("feasibility", "physical_plausibility")] == ["5", "1"]

    # The server is killed mid-form, and stays away; she answers on, and closes the tab.
    site.kill()
    press("2")
    state(page).to_have_text("1 waiting")
    pass_time(page, 10)
    press("3")
    state(page).to_have_text("2 waiting")
    page.close()
    page = context.new_page()
    press = page.keyboard.press
    page.goto(here)
    expect(page.locator("main")).to_contain_text("The server does not answer.")
    expect(page.locator("main")).to_contain_text("2 answers are not sent yet, but saved")
    site.start()
    pass_time(page, 5)
    answered(page, "6 of 10")
    saved(page)

    # Killed while a save is on its way, before anything of it is stored.
    with site.writing():
        before = site.posted()[0].total()
        press("4")
        until(lambda: site.posted()[0].total() > before, "the answer has not come to the server")
        # "saving", and after three seconds that it is slow.
        state(page).to_have_text(re.compile("saving|waiting"))
        site.kill_web()
    saved(page)

    # Killed when the save is stored and its acknowledgement is not given.
    site.break_next_reply()
    press("5")
    until(site.broke, "the server has not died")
    saved(page)

    # The last answers without a network; the tab is closed and opened again before it is back.
    context.set_offline(True)
    press("1")
    press("2")
    state(page).to_have_text("offline (2)")
    page.close()
    page = context.new_page()
    press = page.keyboard.press
    page.goto(here)
    expect(page.locator("main")).to_contain_text("2 answers are not sent yet, but saved")
    context.set_offline(False)
    answered(page, "10 of 10")
    saved(page)

    # The submission is done, the server dies before it says so, and it is asked for again.
    site.break_next_reply()
    press("Enter")
    until(site.broke, "the server has not died")
    pass_time(page, 2, step=1)
    page.wait_for_url("**/annotate/2/", timeout=SOON)

    compare(site)


def compare(site: Site) -> None:
    """Check that the stored edits are those that were given: each once, under the browser's id."""
    rows: list[Any] = site.place.read(EDITS)
    given = [
        ("feedback_reasonable", "answer", 4, "", 0),
        ("feedback_clear", "answer", 3, "", 0),
        ("feasibility", "answer", 5, "", 0),
        ("physical_plausibility", "answer", 2, "", 0),
        ("physical_plausibility", "answer", None, "", 1),
        ("physical_plausibility", "answer", 1, "", 0),
        ("logical_ordering", "flag", 1, "The plan stops half-way.", 0),
        ("", "comment", None, "Read twice.", 0),
        ("logical_ordering", "answer", 2, "", 0),
        ("effectiveness", "answer", 3, "", 0),
        ("concreteness", "answer", 4, "", 0),
        ("safety", "answer", 5, "", 0),
        ("consequence_awareness", "answer", 1, "", 0),
        ("autonomy", "answer", 2, "", 0),
    ]
    assert [tuple(row[:5]) for row in rows] == given
    edits, submissions = site.posted()
    assert {row[5] for row in rows} == set(edits)
    # These two and the submission came twice at least, because the server died over them.
    assert {"concreteness", "safety"} <= {row[0] for row in rows if edits[row[5]] > 1}
    assert submissions >= 2
    standing = {(row[0], row[1]): row[2:] for row in site.place.read(STANDING)}
    last = {(question, aspect): (value, text) for question, aspect, value, text, _ in given}
    assert standing == last
    assert site.place.read(SUBMITTED) == [(1,)]
