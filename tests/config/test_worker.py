"""Real workers on the embedded broker, and what is left when one is killed."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from celery import Celery
from django.conf import settings

pytestmark = pytest.mark.slow


@pytest.fixture
def start_worker(tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """Starts workers whose data folder is ``tmp_path``."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        environment = os.environ | {
            "PLANJURY_DATA_DIR": str(tmp_path),
            "DJANGO_SETTINGS_MODULE": "config.settings.local",
            "PYTHONPATH": str(settings.BASE_DIR),
            "DATABASE_URL": "",
            "PLANJURY_BROKER_URL": "",
        }
        probe = Path(__file__).with_name("worker_probe.py")
        started.append(subprocess.Popen([sys.executable, str(probe)], env=environment))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


@pytest.fixture
def ring(tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Puts the probe's task into the queue."""
    app = Celery("probe", broker="fsq://", set_as_current=False)
    app.conf.broker_transport_options = {"folder": str(tmp_path / "broker")}
    app.conf.task_ignore_result = True
    yield lambda: app.send_task("probe.mark", args=[str(tmp_path)])
    app.close()


def count(path: Path) -> int:
    return len(path.read_text()) if path.exists() else 0


def wait_for(what: Callable[[], object]) -> None:
    limit = time.monotonic() + 60
    while not what():
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.05)


def messages(folder: Path) -> int:
    return len(list((folder / "broker").rglob("*.msg")))


def test_a_killed_worker_loses_nothing(start_worker, ring, tmp_path: Path) -> None:
    (tmp_path / "hang").touch()
    ring()
    first = start_worker()
    wait_for(lambda: count(tmp_path / "began") == 1)
    assert messages(tmp_path) == 1
    first.kill()
    first.wait()
    (tmp_path / "hang").unlink()
    start_worker()
    wait_for(lambda: count(tmp_path / "done") == 1)
    wait_for(lambda: messages(tmp_path) == 0)
    assert count(tmp_path / "began") == 2


def test_a_worker_told_to_stop_ends_its_task_first(start_worker, ring, tmp_path: Path) -> None:
    (tmp_path / "hang").touch()
    ring()
    worker = start_worker()
    wait_for(lambda: count(tmp_path / "began") == 1)
    worker.terminate()
    time.sleep(0.3)
    assert worker.poll() is None
    (tmp_path / "hang").unlink()
    assert worker.wait(timeout=60) == 0
    assert count(tmp_path / "done") == 1
    assert messages(tmp_path) == 0
