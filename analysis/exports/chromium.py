"""A page that stands for itself, printed or read by a Chromium that is installed beside us.

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

# Jobs alone print: a busy machine may take its time.
SECONDS = 120
# How long one figure waits for another: each takes a second or two, and some 200 MB.
PATIENCE = 300
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
    """An error: there is no PDF; the message says why, for the person who asked."""


def print_to_pdf(page: str, *, chromium: str, seconds: float = SECONDS) -> bytes:
    """Return the page as PDF. Raises ``NotPrinted`` where that fails or takes too long."""
    return _opened(page, "figure.pdf", "--print-to-pdf={}", chromium, seconds)


def read_drawn(page: str, *, chromium: str, seconds: float = SECONDS) -> str:
    """Return the page as its scripts have left it, as HTML. Raises ``NotPrinted`` likewise."""
    return _opened(page, "said", "--dump-dom", chromium, seconds).decode()


def _opened(page: str, name: str, flag: str, chromium: str, seconds: float) -> bytes:
    if not _turn.acquire(timeout=PATIENCE):
        raise NotPrinted("Other figures are being printed. Try again in a few seconds.")
    try:
        with TemporaryDirectory(prefix="planjury-pdf-", ignore_cleanup_errors=True) as folder:
            target = Path(folder) / name
            _open(page, Path(folder), flag.format(target), chromium, seconds)
            content = target.read_bytes() if target.exists() else b""
    finally:
        _turn.release()
    if not content:
        raise NotPrinted("Chromium ended without printing the figure.")
    return content


def _open(page: str, folder: Path, flag: str, chromium: str, seconds: float) -> None:
    """Have the browser do with the page what the flag says; what it says itself is ``output``."""
    source = folder / "figure.html"
    source.write_text(page, encoding="utf-8")
    # Chromium refuses to start as root within its sandbox; the page's own policy stays.
    root = ["--no-sandbox"] if os.geteuid() == 0 else []
    profile = f"--user-data-dir={folder / 'profile'}"
    command = [chromium, *FLAGS, *root, profile, flag, source.as_uri()]
    home = {"HOME": str(folder), "TMPDIR": str(folder), "PATH": os.environ.get("PATH", "")}
    with (folder / "said").open("wb") as output:
        try:
            browser = subprocess.Popen(
                command,
                env=home,
                stdin=subprocess.DEVNULL,
                stdout=output,
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


def _end(browser: "subprocess.Popen[bytes]") -> None:
    """End the browser and whatever it started."""
    with suppress(ProcessLookupError):
        os.killpg(browser.pid, signal.SIGKILL)
    browser.wait()
