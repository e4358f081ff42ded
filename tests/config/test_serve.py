"""``manage.py serve`` as a user starts it."""

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.installations import Install, Installation
from tests.servers import children, free_port

pytestmark = [pytest.mark.slow, pytest.mark.either]


Serve = Callable[[int], subprocess.Popen[str]]


@pytest.fixture
def place(install: Install, request: pytest.FixtureRequest) -> Installation:
    """The parameter says whether the tables are there; they usually are."""
    return install("served", migrated=getattr(request, "param", True))


@pytest.fixture
def serve(place: Installation) -> Serve:
    """Starts servers."""
    return lambda port, *options: place.start("manage.py", "serve", *options, PORT=str(port))


def answer(port: int) -> int:
    """The status of the login page, waiting for the server to be there."""
    limit = time.monotonic() + 60
    while True:
        try:
            with urllib.request.urlopen(
                f"http://localhost:{port}/accounts/login/", timeout=60
            ) as r:
                return int(r.status)
        except ConnectionError:
            pass
        except urllib.error.URLError as error:
            if not isinstance(error.reason, ConnectionError):
                raise
        assert time.monotonic() < limit, "the server did not come up"
        time.sleep(0.05)


def descendants(pid: int) -> list[int]:
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                stat = (folder / "stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
    found = [pid]
    for each in found:
        found += [child for child, parent in parents.items() if parent == each]
    return found[1:]


def is_there(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def stop(process: subprocess.Popen[str], number: int, least: int = 3) -> None:
    """Stop the server and check that nothing is left."""
    children = descendants(process.pid)
    assert len(children) >= least, "web server, its worker process, background worker"
    process.send_signal(number)
    assert process.wait(timeout=60) == 0
    assert not any(map(is_there, children))


@pytest.mark.parametrize("place", [False], indirect=True, ids=["empty"])
def test_the_first_start_prepares_everything_and_the_next_is_cheap(
    serve: Serve, place: Installation
) -> None:
    port = free_port()
    process = serve(port)
    assert answer(port) == 200
    stop(process, signal.SIGTERM)
    said = place.log.read_text()
    assert f"http://localhost:{port}/" in said
    assert "The static files were collected." in said
    assert "The database was brought up to date." in said
    assert "Traceback" not in said
    assert (place.folder / "planjury.sqlite3").exists() != bool(place.database_url)

    before = os.times()
    process = serve(port)
    assert answer(port) == 200
    stop(process, signal.SIGINT)
    said = place.log.read_text().removeprefix(said)
    after = os.times()
    assert "collected" not in said
    assert "brought up to date" not in said
    spent = after.children_user + after.children_system - before.children_user
    assert spent - before.children_system < 5, "seconds of processor time for a start and a stop"


def test_a_web_server_that_is_told_to_end_answers_whoever_has_connected(
    serve: Serve, place: Installation
) -> None:
    port = free_port()
    process = serve(port, "--web-only")
    assert answer(port) == 200
    (server,) = children(process.pid)
    (worker,) = children(server)
    form = (
        b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 6\r\n"
        b"Connection: close\r\n\r\n"
    )
    where = ("localhost", port)
    with socket.create_connection(where, 60) as slow, socket.socket() as waiting:
        slow.sendall(form + b"abc")
        assert answer(port) == 200  # so the server has accepted the slow one, too
        os.kill(worker, signal.SIGSTOP)
        # A thread that has not got to that yet would take the next signal first.
        wait_until(lambda: is_stopped(worker))
        waiting.settimeout(60)
        waiting.connect(slow.getpeername())
        waiting.sendall(form + b"abcdef")
        process.send_signal(signal.SIGTERM)
        wait_until(lambda: is_pending(worker, signal.SIGTERM))
        os.kill(worker, signal.SIGCONT)
        assert waiting.recv(12) == b"HTTP/1.1 403", "without the cookie of the form"

        # The port is closed while the slow request is still out, and that is finished.
        wait_until(lambda: is_refused(slow.getpeername()))
        slow.sendall(b"def")
        assert slow.recv(12) == b"HTTP/1.1 403"
    assert process.wait(timeout=60) == 0


def wait_until(what: Callable[[], bool]) -> None:
    limit = time.monotonic() + 60
    while not what():
        assert time.monotonic() < limit
        time.sleep(0.05)


def is_refused(address: tuple[str, int]) -> bool:
    try:
        socket.create_connection(address, 60).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:
        # The kernel resets what it had queued at the instant the port was closed.
        return False
    return False


def is_stopped(pid: int) -> bool:
    """Whether all threads of a process stand still."""
    stats = [task.joinpath("stat").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    return {stat.rpartition(")")[2].split()[0] for stat in stats} == {"T"}


def is_pending(pid: int, number: int) -> bool:
    """Return whether a signal waits for a process that is stopped."""
    lines = dict(
        line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
    )
    return bool(int(lines["ShdPnd"], 16) >> (number - 1) & 1)


def test_a_second_server_on_the_same_data_is_told_of_the_first(
    serve: Serve, place: Installation
) -> None:
    first = serve(port := free_port())
    assert answer(port) == 200
    second = serve(free_port())
    assert second.wait(timeout=60) == 1
    assert f"Another server uses the data in {place.folder}." in place.log.read_text()
    first.kill()
    first.wait(timeout=60)
    serve(port := free_port())  # the lock of a killed one is free at once
    assert answer(port) == 200


def test_a_lock_that_cannot_be_written_is_named(serve: Serve, place: Installation) -> None:
    (place.folder / "serve.lock").mkdir()
    assert serve(free_port()).wait(timeout=60) == 1
    said = place.log.read_text()
    assert f"Cannot write {place.folder / 'serve.lock'}: Is a directory." in said
    assert "Traceback" not in said


def test_a_killed_child_comes_back_and_a_killed_server_leaves_nothing(serve: Serve) -> None:
    port = free_port()
    process = serve(port)
    assert answer(port) == 200
    children = descendants(process.pid)
    for child in children:
        os.kill(child, signal.SIGKILL)
    time.sleep(1)
    assert answer(port) == 200
    children = descendants(process.pid)
    process.kill()
    process.wait()
    limit = time.monotonic() + 60
    while any(map(is_there, children)):
        assert time.monotonic() < limit, "children outlived the server"
        time.sleep(0.05)


def test_a_busy_port_is_named(serve: Serve, place: Installation) -> None:
    with socket.create_server(("127.0.0.1", 0)) as busy:
        port = busy.getsockname()[1]
        process = serve(port)
        assert process.wait(timeout=60) == 1
    said = place.log.read_text()
    assert f"Cannot listen on 127.0.0.1 port {port}: Address already in use." in said
