"""Make the demo that ships with the product: a finished one, with what its analysis pages show.

``make demo`` runs this. It starts ``manage.py serve`` on a new folder, waits until the demo and
every job have ended, opens each page of the analysis and its details until nothing is computed any
more, recomputes every run from its stored replies, and writes a backup that every engine restores.
"""

import http.cookiejar
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable
from html import unescape
from pathlib import Path

import zstandard

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 12_000_000
SETTLED = (
    "from benchmarks.models import Run; from config.shipped_demo import DATA_VERSION; "
    "Run.objects.update(data_version=DATA_VERSION)"
)
KEPT = "from django.core.cache import caches; caches['kept']"


class Visitor:
    """Somebody who is signed in and opens pages."""

    def __init__(self, base: str) -> None:
        self.base = base
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self.opener = urllib.request.build_opener(cookies)

    def open(self, path: str, data: dict[str, str] | None = None) -> str:
        """Return the body of a page; an address that is gone or refused is an empty page."""
        body = urllib.parse.urlencode(data).encode() if data else None
        request = urllib.request.Request(urllib.parse.urljoin(self.base, path), body)
        request.add_header("Referer", self.base)
        try:
            with self.opener.open(request, timeout=600) as reply:
                kind = reply.headers.get_content_type()
                return reply.read().decode() if kind == "text/html" else ""
        except urllib.error.HTTPError as error:
            if error.code >= 500:
                raise
            return ""

    def sign_in(self, name: str, password: str) -> None:
        """Sign in by the form."""
        form = self.open("/accounts/login/")
        self.open(
            "/accounts/login/",
            {"csrfmiddlewaretoken": token_of(form), "login": name, "password": password},
        )

    def settle(self, path: str) -> str:
        """Open a page, ask for its part that takes longer, and return what it shows in the end."""
        asked = False
        while True:
            page = self.open(path)
            if 'hx-trigger="every' in page:
                time.sleep(2)
                continue
            later = re.search(r'<form method="post" action="([^"]*/later/[^"]*)"', page)
            if later is None:
                return page
            if asked:
                sys.exit(f"A part of {path} cannot be computed.")
            asked = True
            self.open(unescape(later[1]), {"csrfmiddlewaretoken": token_of(page)})


def token_of(page: str) -> str:
    """Return the token that a form of the page is sent with."""
    (token,) = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[:1]
    return str(token)


def main() -> None:
    """Write the demo to the file named on the command line."""
    out = Path(sys.argv[1]).absolute()
    folder = Path(tempfile.mkdtemp(prefix="planjury-make-demo-"))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("PLANJURY_") and name != "DATABASE_URL"
    } | {"PLANJURY_DATA_DIR": str(folder), "PLANJURY_DEMO": "0", "PORT": str(port)}

    def manage(*command: str) -> str:
        run = [sys.executable, str(ROOT / "manage.py"), *command]
        return subprocess.run(run, env=environment, check=True, text=True, stdout=-1).stdout

    manage("migrate", "--verbosity", "0")
    manage("shell", "-c", "from annotation.demo.services import ensure_demo; ensure_demo()")
    server = subprocess.Popen([sys.executable, str(ROOT / "manage.py"), "serve"], env=environment)
    try:
        wait_for_jobs(manage, server)
        # What was computed while runs went on is about data that are gone.
        manage("shell", "-c", f"{SETTLED}; {KEPT}.clear()")
        visitor = Visitor(f"http://127.0.0.1:{port}/")
        visitor.sign_in("researcher", "planjury-demo")
        print(f"{open_analysis(visitor)} pages of the analysis were opened", flush=True)
        wait_for_jobs(manage, server)
    finally:
        server.terminate()
        server.wait()
    # An installation may be begun long after a release.
    manage(
        "shell",
        "-c",
        "from django.db import connection; "
        "connection.cursor().execute(\"UPDATE analysis_kept SET expires = '2100-01-01'\")",
    )
    print(manage("verify", "--all").splitlines()[-1])
    # The index of words is made again where it is missing.
    manage("shell", "-c", "from analysis.search.services import forget_index; forget_index()")
    backup = folder / "demo.zip"
    manage("backup", "--as-sqlite", str(backup))
    pack(backup, out)
    size = out.stat().st_size
    print(f"{out}: {size:,} bytes")
    if size > MOST_BYTES:
        sys.exit(f"The demo is larger than {MOST_BYTES:,} bytes.")


def pack(backup: Path, out: Path) -> None:
    """Compress a backup across its whole length: prompts repeat far apart."""
    stored = backup.with_name("stored.zip")
    with zipfile.ZipFile(backup) as source, zipfile.ZipFile(stored, "w") as target:
        for name in source.namelist():
            with source.open(name) as read, target.open(name, "w", force_zip64=True) as write:
                shutil.copyfileobj(read, write)
    wide = zstandard.ZstdCompressionParameters.from_level(19, window_log=27, enable_ldm=True)
    draft = out.with_suffix(".draft")
    with stored.open("rb") as read, draft.open("wb") as write:
        zstandard.ZstdCompressor(compression_params=wide).copy_stream(read, write)
    draft.replace(out)


def wait_for_jobs(manage: Callable[..., str], server: "subprocess.Popen[bytes]") -> None:
    """Wait until the demo is loaded and no job is left."""
    question = (
        "from benchmarks.models import Job\n"
        "demo = Job.objects.filter(kind='demo', status='done').exists()\n"
        "left = Job.objects.filter(status__in=['queued', 'running']).count()\n"
        "print('left', left if demo else left + 1)"
    )
    while True:
        time.sleep(5)
        if server.poll() is not None:
            sys.exit("The server has ended.")
        answer = manage("shell", "-c", question)
        if answer.split()[-1] == "0":
            return


def open_analysis(visitor: Visitor) -> int:
    """Open each page of the analysis for each dataset and study, with its details.

    Returns how many pages were opened.
    """
    opened: set[str] = set()
    waiting = ["/analysis/"]
    while waiting:
        path = waiting.pop(0)
        if path in opened:
            continue
        opened.add(path)
        page = visitor.settle(path)
        for address in re.findall(r'href="(/analysis/[^"#]*)', page):
            bare, _, query = unescape(address).partition("?")
            if bare.endswith("/"):  # not a file
                waiting.append(bare)
            if bare == path.partition("?")[0] and "details=open" in query:
                waiting.append(f"{bare}?{query}")
        if "?" not in path:
            for name, options in re.findall(
                r'<select name="(dataset|study)"[^>]*>(.*?)</select>', page, re.DOTALL
            ):
                values = re.findall(r'<option value="([^"]+)"', options)
                waiting += [f"{path}?{name}={value}" for value in values]
    return len(opened)


if __name__ == "__main__":
    main()
