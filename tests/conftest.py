"""Fixtures for every test: no network beyond this machine, repeatable chance, the browser."""

import gc
import os
import re
import shutil
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
import pytest
from django.conf import settings
from django.core.cache import caches
from django.core.cache.backends.db import DatabaseCache
from django.core.management.commands import flush

from analysis.exports import figure_page, report_file
from analysis.reports import deferred_files
from analysis.reports.deferred_reports import (
    DeferredReport,
    ReportRequest,
    find_deferred,
    request_deferred,
)
from benchmarks.jobs.services import perform
from benchmarks.llm.connections import close_connections
from tests import databases
from tests.installations import Install, Installation

# The browser's driver keeps an event loop running in the tests' own thread, which Django would take
# for asynchronous code at the first query.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

# Where bytecode is not kept, each of the many processes that tests start compiles the product anew:
# half of what starting one costs. Test modules, too, are rewritten once and not in every process.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# The same examples in each run: a failure that comes and goes is of no use.
hypothesis.settings.register_profile("planjury", derandomize=True, deadline=None)
hypothesis.settings.load_profile("planjury")

# A shell that starts the tests in the background has them ignore interrupts, and so would every
# process that they start and then interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Without a window a browser takes two thirds of the processor time; one with a window does, too.
_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, _BROWSERS)), None)
_LOOPBACK = ("127.", "::1", "localhost")
# The fixtures through which a test comes to the database or the queue.
_SERVICES = {"db", "transactional_db", "django_db_setup", "install"}
# Folders of tests of pages, and of what pages are made of.
_PAGES = {"views", "reports", "figures", "api"}
_ONE_ENGINE = re.compile(
    r"^pytestmark = (?:\[[^\]]*|[^\n\[]*)\bmark\.(?:either|embedded|browser)\b", re.MULTILINE
)
_DATABASE = re.compile(r"\b(?:django_db\w*|transactional_db|db|install)\b")


class NetworkBlocked(RuntimeError):
    """A test tried to reach another machine."""


def _refuse_other_machines(address: Any) -> None:
    # Addresses of files (AF_UNIX) are strings or bytes.
    if isinstance(address, tuple) and not str(address[0]).startswith(_LOOPBACK):
        raise NetworkBlocked(f"Tests may not connect to {address[0]}.")


@pytest.fixture(autouse=True, scope="session")
def _only_this_machine() -> Iterator[None]:
    """Refuse connections to other machines."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def guarded_connect(self: socket.socket, address: Any) -> None:
        _refuse_other_machines(address)
        connect(self, address)

    def guarded_connect_ex(self: socket.socket, address: Any) -> int:
        _refuse_other_machines(address)
        return connect_ex(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", guarded_connect)
        patch.setattr(socket.socket, "connect_ex", guarded_connect_ex)
        yield


@pytest.fixture(autouse=True, scope="session")
def _close_connections() -> Iterator[None]:
    """Close the connections to endpoints that tests have left open: a process keeps them."""
    yield
    close_connections()


@pytest.fixture(autouse=True, scope="session")
def _jobs_keep_their_leases() -> Iterator[None]:
    """A job's lease is not renewed on a connection of its own, which does not see what a test has
    not committed: a job that takes longer than the pause would take itself for cancelled."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmarks.jobs.services.BEAT_SECONDS", 3600.0)
        yield


@pytest.fixture(autouse=True, scope="session")
def _files_are_written_where_they_are_requested() -> Iterator[None]:
    """No worker runs beside a test: the job of a file ends before the request is answered."""

    def request(*, wanted: ReportRequest, person: Any) -> DeferredReport:
        state = request_deferred(wanted=wanted, person=person)
        if state.job is not None:
            perform(job_id=state.job.pk, owner="tests")
        return find_deferred(wanted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deferred_files, "request_deferred", request)
        yield


@pytest.fixture(autouse=True)
def _empty_cache() -> None:
    """No test sees what another one cached, or pays for how often another one signed in.

    What is cached in the database goes with the test's rows.
    """
    for cache in caches.all():
        if not isinstance(cache, DatabaseCache):
            cache.clear()


@pytest.fixture
def rng() -> np.random.Generator:
    """A seeded generator."""
    return np.random.default_rng(20240229)


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    django_db_modify_db_settings: None,
    django_db_blocker: Any,
    tmp_path_factory: pytest.TempPathFactory,
    worker_id: str,
) -> Iterator[None]:
    """The test database of this process."""
    folder = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        folder = folder.parent
    with (
        django_db_blocker.unblock(),
        databases.empty_database(folder),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(flush, "emit_post_migrate_signal", databases.rows_put_back())
        with django_db_blocker.block():
            yield


@pytest.fixture
def install(tmp_path: Path, django_db_setup: None) -> Iterator[Install]:
    """Makes installations of the product for processes of their own, by name."""
    made: list[Installation] = []

    def begin(name: str, *, migrated: bool = True) -> Installation:
        made.append(Installation.begin(tmp_path / name, migrated=migrated))
        return made[-1]

    yield begin
    for each in made:
        each.remove()


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Ignore modules with nothing to run on PostgreSQL: importing them takes long.

    Only what is plain from a module's text: all of it says that one engine is enough, or nothing in
    it asks for a database.
    """
    if not settings.TEST_DATABASE_URL or not collection_path.match("test_*.py"):
        return None
    text = collection_path.read_text(encoding="utf-8")
    if "mark.engines" in text:
        return None
    return (
        bool(
            _tests_pages(collection_path) or _ONE_ENGINE.search(text) or not _DATABASE.search(text)
        )
        or None
    )


def _tests_pages(path: Path) -> bool:
    """Say whether the file tests pages: by its folder, or by a name like ``test_views.py`` or
    ``test_pages.py``."""
    return bool(_PAGES & set(path.parts)) or path.stem.endswith(("views", "pages"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what uses database or queue on PostgreSQL; without a browser drop what needs one."""
    if settings.TEST_DATABASE_URL:
        there = [item for item in items if _uses_services(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(there)])
        items[:] = there
    # `make test-browser` looks nowhere else: collecting all tests takes longer than many of them.
    for item in items:
        if item.get_closest_marker("browser") and "functional" not in item.path.parts:
            raise pytest.UsageError(f"{item.nodeid} drives a browser: it belongs in functional/.")
    items[:] = _in_two_halves(items)
    if CHROMIUM:
        return
    skip = pytest.mark.skip(reason="no chromium on this machine (make test can install it)")
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(skip)


def pytest_collection_finish() -> None:
    """What is loaded by now stays: looking for garbage among it again and again takes seconds."""
    gc.freeze()


def _in_two_halves(items: list[pytest.Item]) -> list[pytest.Item]:
    """Each half begins with half of the long ones, so that none is left alone with one at the end.

    Two processes begin with half of the list each, and take from each other's end.
    """
    long = [item for item in items if _begins_early(item)]
    rest = [item for item in items if not _begins_early(item)]
    first, second = long[0::2], long[1::2]
    middle = max(0, len(items) // 2 - len(first))
    return [*first, *rest[:middle], *second, *rest[middle:]]


def _begins_early(item: pytest.Item) -> bool:
    # Not what commits: after it rows have other numbers, so pytest-django leaves it for the end.
    marker = item.get_closest_marker("django_db")
    commits = {"transactional_db", "live_server"} & set(getattr(item, "fixturenames", ()))
    commits = commits or (marker is not None and marker.kwargs.get("transaction"))
    return item.get_closest_marker("slow") is not None and not commits


def _uses_services(item: pytest.Item) -> bool:
    # What a page says is the same on every engine; that none fails on PostgreSQL is seen by the
    # walk through all of them.
    if any(map(item.get_closest_marker, ("embedded", "either"))):
        return False
    if _tests_pages(item.path) and not item.get_closest_marker("engines"):
        return False
    used = set(getattr(item, "fixturenames", ()))
    return bool(used & _SERVICES) or item.get_closest_marker("django_db") is not None


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    """Without service workers: what a test does to requests is then done to all of them."""
    return {**browser_context_args, "service_workers": "block"}


@pytest.fixture(scope="session")
def browser_type_launch_args() -> dict[str, Any]:
    """The system's chromium, so that none need be downloaded; it draws without a graphics card."""
    return {"executable_path": CHROMIUM, "args": ["--disable-gpu"]}


@pytest.fixture
def small_drawings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports in one file without the drawing library: a script of its size takes long to read."""
    for module in (report_file, figure_page):
        monkeypatch.setattr(module, "PLOTLY", "js/theme.js")
