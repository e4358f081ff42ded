"""The web server's threads: those that answer requests, and those that send what was answered."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.core.signals import request_finished

from config.processes import answer_on_threads
from tests.servers import ROOT


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """Take away what closes the connections of a web server: tests keep theirs."""
    yield
    request_finished.disconnect(dispatch_uid="connections of sending threads")


def test_so_many_requests_are_answered_at_once_and_streams_go_on_beside_them() -> None:
    answering, most, names = 0, 0, set[str]()
    lock, go_on = threading.Lock(), threading.Event()

    def app(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        nonlocal answering, most
        with lock:
            answering += 1
            most = max(most, answering)
            names.add(threading.current_thread().name)
        time.sleep(0.02)
        with lock:
            answering -= 1
        return stream() if environ["stream"] else [b"answered"]

    def stream() -> Iterator[bytes]:
        assert go_on.wait(30)
        yield threading.current_thread().name.encode()

    answer = answer_on_threads(app, 3)

    def ask(streamed: bool) -> bytes:
        return b"".join(answer({"stream": streamed}, lambda *about: None))

    with ThreadPoolExecutor(24, thread_name_prefix="send") as senders:
        streams = [senders.submit(ask, True) for _ in range(8)]
        others = [senders.submit(ask, False) for _ in range(16)]
        assert [each.result(30) for each in others] == 16 * [b"answered"]
        go_on.set()
        assert all(each.result(30).startswith(b"send") for each in streams)
    assert most == 3
    assert len(names) == 3


def test_what_the_application_raises_reaches_the_server() -> None:
    def app(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        raise OSError("the client went away")

    with pytest.raises(OSError, match="went away"):
        answer_on_threads(app, 1)({}, lambda *about: None)


def test_addresses_are_read_before_the_processes_fork() -> None:
    """Else the first page of each process takes as long again."""
    program = (
        "import django, socket, sys; django.setup(); from config.processes import WebServer; "
        "WebServer(socket.create_server(('127.0.0.1', 0))).load(); "
        "sys.exit('config.urls' not in sys.modules)"
    )
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings.test"}
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, env=environment, check=True)
