"""Starting, restarting and stopping child processes."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from config import supervisor as module
from config.supervisor import Child, Supervisor

pytestmark = pytest.mark.slow


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Return where children write their process ids."""
    return tmp_path / "trace"


def note(trace: Path) -> None:
    with trace.open("a") as file:
        file.write(f"{os.getpid()}\n")


def pids(trace: Path) -> list[int]:
    return [int(line) for line in trace.read_text().splitlines()] if trace.exists() else []


def runs(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def wait_for(what: Callable[[], object]) -> None:
    limit = time.monotonic() + 60
    while not what():
        assert time.monotonic() < limit, "waited in vain"
        time.sleep(0.01)


def supervise(target: Callable[[], None], meanwhile: Callable[[], None], **options: object) -> None:
    """Run a supervisor here, in the main thread, and ``meanwhile`` in another; then stop it."""
    failures: list[BaseException] = []

    def act() -> None:
        try:
            meanwhile()
        except BaseException as error:
            failures.append(error)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=act)
    settings = {"every": lambda: None, "interval": 60.0, **options}
    Supervisor(children=[Child("child", target)], **settings).run(started=thread.start)
    thread.join()
    if failures:
        raise failures[0]


def test_a_child_that_dies_is_started_again(trace: Path) -> None:
    def target() -> None:
        note(trace)
        time.sleep(60)

    def meanwhile() -> None:
        wait_for(lambda: pids(trace))
        os.kill(pids(trace)[0], signal.SIGKILL)
        wait_for(lambda: len(pids(trace)) == 2)

    supervise(target, meanwhile)
    first, second = pids(trace)
    assert first != second
    assert not runs(second)


def test_the_pause_grows_while_a_child_keeps_dying(trace: Path) -> None:
    child = Child("child", lambda: note(trace), delay=0.05)
    watcher = Supervisor(children=[child], every=lambda: None, interval=60)
    thread = threading.Thread(
        target=lambda: (wait_for(lambda: len(pids(trace)) >= 4), os.kill(os.getpid(), 15))
    )
    watcher.run(started=thread.start)
    thread.join()
    assert child.delay >= 0.05 * 2**3
    assert child.delay <= module.LONGEST_DELAY_SECONDS


def test_a_child_that_will_not_end_is_killed_in_time(trace: Path) -> None:
    def target() -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        note(trace)
        time.sleep(60)

    began = time.monotonic()
    supervise(target, lambda: wait_for(lambda: pids(trace)), grace=0.3)
    assert time.monotonic() - began < 30
    assert not runs(pids(trace)[0])


def test_a_child_is_given_the_time_that_its_work_takes(trace: Path) -> None:
    def end(*_: object) -> None:
        time.sleep(0.6)
        note(trace)
        raise SystemExit(0)

    def target() -> None:
        signal.signal(signal.SIGTERM, end)
        note(trace)
        time.sleep(60)

    told: list[int] = []
    child = Child("child", target, lambda: 30.0)
    supervisor = Supervisor(
        [child], every=lambda: None, interval=60.0, grace=0.1, stopping=lambda: told.append(1)
    )

    def stop() -> None:
        wait_for(lambda: pids(trace))
        os.kill(os.getpid(), signal.SIGTERM)

    supervisor.run(started=threading.Thread(target=stop).start)
    assert len(pids(trace)) == 2, "it was killed before it had ended"
    assert told == [1]


def test_what_a_child_started_ends_with_it(trace: Path) -> None:
    def target() -> None:
        program = f"import os, time; open({str(trace)!r}, 'a').write(f'{{os.getpid()}}\\n'); "
        subprocess.Popen([sys.executable, "-c", program + "time.sleep(60)"])
        time.sleep(60)

    supervise(target, lambda: wait_for(lambda: pids(trace)))
    wait_for(lambda: not runs(pids(trace)[0]))


def test_the_errand_is_run_again_and_again() -> None:
    calls: list[float] = []
    supervise(
        lambda: time.sleep(60),
        lambda: wait_for(lambda: len(calls) >= 3),
        every=lambda: calls.append(time.monotonic()),
        interval=0.05,
    )
    assert calls[1] - calls[0] >= 0.05


def test_the_old_signal_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    supervise(lambda: time.sleep(60), lambda: None)
    assert signal.getsignal(signal.SIGTERM) is before
