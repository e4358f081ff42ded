"""Backup and restore under a running server, under ``kill -9``, and between databases."""

import http.cookiejar
import re
import shutil
import signal
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from django.conf import settings

from tests.forks import Fork
from tests.installations import Install, Installation
from tests.servers import free_port

pytestmark = pytest.mark.slow

TASKS, FEW = 12, 3
PREPARE = """
from tests.factories.benchmarks import make_user, save_sample_dataset
save_sample_dataset({})
make_user("researcher", ["view_results", "start_runs"])
"""
FILL = "from tests.config.backup_rows import fill_every_table; fill_every_table()"
DIGEST = (
    "from tests.config.backup_rows import digest_of_everything; "
    "open({!r}, 'w').write(digest_of_everything())"
)
RUN = ["run_benchmark", "Sample", "--agent", "forgetful", "--level", "high", "--seed", "3"]
DONE = "select count(*) from benchmarks_trajectory where status = 'done'"
# What a run comes to, whenever and in however many attempts it came about.
OUTCOMES = """
select task.external_id, t.status, t.termination, t.turn_count, t.seed
from benchmarks_trajectory t join benchmarks_task task on task.id = t.task_id order by 1"""
SCORES = """
select task.external_id, s.turn_index, s.seat, s.dimension, s.value
from benchmarks_judgescore s join benchmarks_trajectory t on t.id = s.trajectory_id
join benchmarks_task task on task.id = t.task_id order by 1, 2, 3, 4"""


def manage(place: Installation, *arguments: str) -> str:
    """Run a command to its end; what it said."""
    before = len(place.log.read_text()) if place.log.exists() else 0
    code = place.fork("manage.py", *arguments).wait()
    said = place.log.read_text()[before:]
    assert code == 0, said
    return said


def shell(place: Installation, code: str) -> None:
    manage(place, "shell", "-v0", "-c", code)


def digest(place: Installation) -> str:
    path = place.folder / "digest"
    shell(place, DIGEST.format(str(path)))
    return path.read_text()


def wait_until(true: Callable[[], bool], what: str, seconds: float = 60) -> None:
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit, f"{what}: not within {seconds} s"
        time.sleep(0.05)


def begin_restore(place: Installation, backup: Path) -> Fork:
    """Start a restore and return when it has begun to work."""
    folder = place.folder / "restoring"
    shutil.rmtree(folder, ignore_errors=True)  # of one that was killed
    process = place.fork("manage.py", "restore", str(backup), "--replace", "--no-safety-copy")
    # A quick one may be over before anybody looks.
    wait_until(lambda: folder.exists() or process.poll() is not None, "the beginning")
    return process


class Browser:
    """A small client that can sign in and read pages."""

    def __init__(self, port: int) -> None:
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(jar)
        self._base = f"http://localhost:{port}"

    def read(self, path: str, **form: str) -> str:
        data = urllib.parse.urlencode(form).encode() if form else None
        with self._opener.open(self._base + path, data, timeout=60) as response:
            return str(response.read().decode())

    def sign_in(self, name: str, password: str) -> None:
        page = self.read("/accounts/login/")
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert token
        self.read("/accounts/login/", csrfmiddlewaretoken=token[1], login=name, password=password)

    def is_there(self) -> bool:
        try:
            return bool(self.read("/accounts/login/"))
        except OSError:
            return False


@pytest.mark.either
def test_the_old_state_comes_back_under_a_running_server(install: Install, tmp_path: Path) -> None:
    """Backed up half-way through a run, restored when it is done: pages, worker and run go on."""
    place, backup = install("live"), tmp_path / "b.zip"
    shell(place, PREPARE.format(TASKS))
    port = free_port()
    server = place.start("manage.py", "serve", PORT=str(port))
    browser = Browser(port)
    wait_until(browser.is_there, "the server")
    browser.sign_in("researcher", "not a secret")
    manage(place, *RUN)
    wait_until(lambda: place.read(DONE)[0][0] >= 3, "some trajectories")
    manage(place, "backup", str(backup))
    wait_until(lambda: place.read("select status from benchmarks_run") == [("done",)], "the run")
    expected = {query: place.read(query) for query in (OUTCOMES, SCORES)}
    place.change("update benchmarks_dataset set name = 'Renamed later'")
    assert "Renamed later" in browser.read("/datasets/")

    manage(place, "restore", str(backup), "--replace")
    page = browser.read("/datasets/")
    assert "Renamed later" not in page
    assert "Sample" in page, "still signed in: the session was in the backup"
    assert place.read("select count(*) from benchmarks_trajectory") == [(TASKS,)]
    wait_until(lambda: place.read("select status from benchmarks_run") == [("done",)], "the rest")
    for query, rows in expected.items():
        assert place.read(query) == rows
    assert server.poll() is None
    said = place.log.read_text()
    assert "Traceback" not in said, said


def test_a_kill_at_any_moment_leaves_the_old_or_the_new(install: Install, tmp_path: Path) -> None:
    place, backup = install("killed"), tmp_path / "b.zip"
    shell(place, PREPARE.format(FEW))
    shell(place, FILL)
    manage(place, "backup", str(backup))
    new = digest(place)
    begun = time.monotonic()
    assert begin_restore(place, backup).wait() == 0
    lasts = time.monotonic() - begun
    assert digest(place) == new

    place.change("update benchmarks_dataset set notes = 'old'")
    old = digest(place)
    for share in (0.2, 0.5, 0.8):
        process = begin_restore(place, backup)
        time.sleep(share * lasts)
        process.send_signal(signal.SIGKILL)
        if process.wait() != -signal.SIGKILL:
            break  # it was over, as all that follow would be
        found = digest(place)
        assert found in (old, new)
        if found == new:
            break
    manage(place, "restore", str(backup), "--replace", "--no-safety-copy")
    assert digest(place) == new
    assert not (place.folder / "restoring").exists(), "what the killed ones left is gone"
    if not place.database_url:
        assert place.read("pragma integrity_check") == [("ok",)]
        assert place.read("pragma foreign_key_check") == []


def test_from_sqlite_to_postgresql_and_back(
    install: Install, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if not settings.TEST_DATABASE_URL:
        pytest.skip("needs a PostgreSQL (make test-postgres)")
    one, two = Installation(tmp_path / "one", ""), install("two", migrated=False)
    three = Installation(tmp_path / "three", "")
    for place in (one, three):
        place.folder.mkdir()
        request.addfinalizer(place.remove)
    manage(one, "migrate", "-v0")
    shell(one, PREPARE.format(FEW))
    shell(one, FILL)
    manage(one, "backup", str(tmp_path / "1.zip"))
    manage(two, "restore", str(tmp_path / "1.zip"))
    manage(two, "backup", str(tmp_path / "2.zip"), "--as-sqlite")
    manage(three, "restore", str(tmp_path / "2.zip"))
    assert digest(one) == digest(two) == digest(three)
    with pytest.raises(AssertionError, match="holds data that would be lost"):
        manage(three, "restore", str(tmp_path / "1.zip"))
