"""Make the pictures of README and docs anew: ``make screenshots`` opens the demo in a browser.

The demo ships as data, so the same pages show the same numbers. It is served from a temporary
folder by ``manage.py demo``; arguments name the pictures to make, without any all are made.
"""

import base64
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "docs" / "images"
WINDOW = {"width": 1440, "height": 960}
# As WebP a picture takes 40 to 80 kB.
SCALE, QUALITY = 1.25, 75
WAIT_MS = 180_000


class Picture(NamedTuple):
    """A page of the demo, who opens it, and what is done there before it is taken."""

    name: str
    person: str
    path: str
    prepare: Callable[[Page], None] | None = None


def answer_two_questions(page: Page) -> None:
    """Confirm the guidelines of the first study and answer two questions by keys."""
    page.get_by_role("link", name=re.compile("Begin.*Ten questions", re.DOTALL)).click()
    page.get_by_role("button", name="I have read this").click()
    page.wait_for_url("**/annotate/**")
    page.wait_for_load_state("networkidle")  # before that no script hears the keys
    for answered in (1, 2):
        page.keyboard.press("4")
        page.get_by_text(f"{answered} of 10 answered").wait_for()


def open_first_trajectory(page: Page) -> None:
    """Open the first trajectory of a list."""
    page.locator("tbody a[href^='/trajectories/']").first.click()
    page.locator("h2", has_text="Turn by turn").wait_for()


def wait_for_figure(page: Page) -> None:
    """Wait until the report is computed and its figure drawn."""
    page.locator("svg.main-svg").first.wait_for(timeout=WAIT_MS)


PICTURES = (
    Picture("desk", "annotator", "/", answer_two_questions),
    Picture(
        "trajectory", "researcher", "/trajectories/?run=6&order=longest", open_first_trajectory
    ),
    Picture("leaderboard", "researcher", "/analysis/leaderboard/", wait_for_figure),
    Picture("agreement", "researcher", "/analysis/agreement/", wait_for_figure),
    Picture("decline", "researcher", "/analysis/decline/", wait_for_figure),
    Picture("run", "researcher", "/runs/3/"),
    Picture("study", "manager", "/studies/1/"),
)


def main() -> None:
    """Take all pictures, or those that are named."""
    wanted = [one for one in PICTURES if not sys.argv[1:] or one.name in sys.argv[1:]]
    with demo() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        for person in sorted({one.person for one in wanted}):
            page = sign_in(browser, address, person)
            for one in (one for one in wanted if one.person == person):
                take(page, address, one)


def take(page: Page, address: str, picture: Picture) -> None:
    """Open a page and store its picture."""
    page.goto(address + picture.path)
    if picture.prepare:
        picture.prepare(page)
    page.wait_for_load_state("networkidle")
    page.mouse.move(0, 0)
    # Playwright's own call writes PNG, which takes three times the room.
    session = page.context.new_cdp_session(page)
    taken = session.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    target = IMAGES / f"{picture.name}.webp"
    target.write_bytes(base64.b64decode(taken["data"]))
    print(f"{target.relative_to(ROOT)}: {target.stat().st_size:,} bytes")


def sign_in(browser: Browser, address: str, person: str) -> Page:
    """Return a window in which an account of the demo is signed in."""
    context = browser.new_context(
        viewport=WINDOW, device_scale_factor=SCALE, color_scheme="light", reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{address}/accounts/login/")
    page.fill("[name=login]", person)
    page.fill("[name=password]", "planjury-demo")
    page.keyboard.press("Enter")
    page.wait_for_url(f"{address}/")
    return page


def chromium() -> str:
    """Return the path of the installed browser."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    sys.exit("Pictures need a browser: install chromium.")


@contextmanager
def demo() -> Iterator[str]:
    """Serve the demo from a temporary folder while pictures are taken; yields its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"http://localhost:{port}"
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [sys.executable, "manage.py", "demo"],
            cwd=ROOT,
            env=os.environ | {"PORT": str(port), "TMPDIR": folder},
            stdout=subprocess.DEVNULL,
        )
        try:
            while not is_up(address):
                if server.poll() is not None:
                    sys.exit("The demo has ended before it was up.")
                time.sleep(0.5)
            yield address
        finally:
            server.terminate()
            server.wait()


def is_up(address: str) -> bool:
    """Say whether a server answers."""
    try:
        with urllib.request.urlopen(f"{address}/accounts/login/", timeout=60):
            return True
    except OSError:
        return False


if __name__ == "__main__":
    main()
