"""A page that stands for itself, printed to PDF by a Chromium that is installed beside us.

The browser reads one local file. It gets a folder of its own, which is deleted; it is told to reach
no host, and is killed with all its processes when it takes too long.
"""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import BoundedSemaphore

SECONDS = 20
# How long one figure waits for another: each takes a second or two, and some 200 MB.
PATIENCE = 10
_turn = BoundedSemaphore(1)
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-sync",
    "--disable-component-update",
    "--disable-background-networking",
    "--disable-default-apps",
    "--disable-breakpad",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pdf-header-footer",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=127.0.0.1:9",
    "--virtual-time-budget=5000",
)


class NotPrinted(Exception):
    """There is no PDF; the message says why, for the person who asked."""


def print_to_pdf(page: str, *, chromium: str, seconds: float = SECONDS) -> bytes:
    """The page as PDF. Raises ``NotPrinted`` where that fails or takes too long."""
    if not _turn.acquire(timeout=PATIENCE):
        raise NotPrinted("Other figures are being printed. Try again in a few seconds.")
    try:
        with TemporaryDirectory(prefix="planjury-pdf-", ignore_cleanup_errors=True) as folder:
            return _print(page, Path(folder), chromium, seconds)
    finally:
        _turn.release()


def _print(page: str, folder: Path, chromium: str, seconds: float) -> bytes:
    source, target = folder / "figure.html", folder / "figure.pdf"
    source.write_text(page, encoding="utf-8")
    # Chromium refuses to start as root within its sandbox; the page's own policy stays.
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    command = [
        chromium,
        *FLAGS,
        *root,
        f"--user-data-dir={folder / 'profile'}",
        f"--print-to-pdf={target}",
        source.as_uri(),
    ]
    home = {"HOME": str(folder), "TMPDIR": str(folder), "PATH": os.environ.get("PATH", "")}
    try:
        browser = subprocess.Popen(
            command,
            env=home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise NotPrinted(f"Chromium could not be started: {error.strerror}.") from error
    try:
        browser.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise NotPrinted(f"Chromium did not print the figure within {seconds:g} s.") from None
    finally:
        _end(browser)
    if not target.exists():
        raise NotPrinted("Chromium ended without printing the figure.")
    return target.read_bytes()


def _end(browser: "subprocess.Popen[bytes]") -> None:
    """End the browser and whatever it started."""
    with suppress(ProcessLookupError):
        os.killpg(browser.pid, signal.SIGKILL)
    browser.wait()
