"""The product's server as people start it, in processes of its own, and what its processes cost."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def free_port() -> int:
    """A port for a server that is started later, or stopped and started again.

    It is none of those that the system gives to connections (from 32768 on), so that no browser or
    other test gets it before the server has it.
    """
    while True:
        port = 10_000 + secrets.randbelow(20_000)
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@dataclass
class Server:
    """A running one."""

    process: "subprocess.Popen[Any]"
    port: int

    @property
    def web(self) -> list[int]:
        """The processes that answer requests: gunicorn's arbiter and its workers."""
        for pid in children(self.process.pid):
            if workers := children(pid):
                return [pid, *workers]
        return []

    def cpu(self) -> float:
        """Seconds of processor time that the web server has used."""
        return sum(cpu_of(pid) for pid in self.web)


@contextmanager
def serving(*command: str, **environment: str) -> Iterator[Server]:
    """``manage.py serve``, or another command, on the environment's database and broker."""
    port = free_port()
    variables = os.environ | {"PORT": str(port), "PLANJURY_DEMO": "0", "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        [sys.executable, *(command or ("manage.py", "serve"))],
        cwd=ROOT,
        env=variables | environment,
    )
    try:
        yield Server(process, port)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(120)


def wait_until_answered(server: Server, *, seconds: float = 240) -> None:
    """Wait until the server takes connections."""
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        assert server.process.poll() is None, "the server has ended"
        with suppress(OSError), socket.create_connection(("127.0.0.1", server.port), timeout=1):
            if server.web:
                return
        time.sleep(0.05)
    raise AssertionError("the server does not answer")


def kill_whole(process: "subprocess.Popen[Any]") -> None:
    """``kill -9`` of a server or worker and, as at a power cut, of its children."""
    below = children(process.pid)
    process.kill()
    for pid in below:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
    process.wait()


def children(pid: int) -> list[int]:
    """The children of a process; none where it is gone."""
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in text.split()]


def cpu_of(pid: int) -> float:
    """Seconds of processor time of a process's threads, as the scheduler counts them: exact to the
    nanosecond, where ``/proc/PID/stat`` counts in hundredths of a second."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(OSError):
            total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e9
