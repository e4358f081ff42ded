"""Keeps child processes running: starts them, restarts those that die, stops them all.

Children are forks, so that the work of importing Django is done once. Each leads a session of its
own: Ctrl-C reaches the supervisor alone, and whatever a child started dies with it.
"""

import ctypes
import logging
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import connection
from multiprocessing.context import ForkProcess
from types import FrameType

logger = logging.getLogger(__name__)

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
FIRST_DELAY_SECONDS = 0.5
LONGEST_DELAY_SECONDS = 30.0
# A child that ran this long was well; its next death starts again at the first delay.
WELL_AFTER_SECONDS = 60.0
# Beyond what a child takes to end by itself.
GRACE_SECONDS = 10.0
_PR_SET_PDEATHSIG = 1


@dataclass
class Child:
    """A process to keep running."""

    name: str
    target: Callable[[], None]
    # Seconds that it may take to end what it has begun, asked when it is told to.
    drain: Callable[[], float] = lambda: 0.0
    process: ForkProcess | None = None
    started: float = 0.0
    restart_due: float = 0.0
    delay: float = FIRST_DELAY_SECONDS
    # When it is killed if it has not ended by then.
    limit: float = 0.0


@dataclass
class Supervisor:
    """Runs the children until it is told to stop, and calls ``every`` now and then.

    ``stopping`` is called before the children are told to end.
    """

    children: Sequence[Child]
    every: Callable[[], None]
    interval: float
    grace: float = GRACE_SECONDS
    stopping: Callable[[], None] = lambda: None
    _signals: list[int] = field(default_factory=list)

    def run(self, started: Callable[[], None] = lambda: None) -> None:
        """Start all, call ``started`` once, and return when all have stopped."""
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)
        previous = {number: signal.signal(number, self._note) for number in STOP_SIGNALS}
        try:
            for child in self.children:
                self._start(child)
            started()
            self._watch(reader)
        finally:
            self._stop(reader)
            signal.set_wakeup_fd(-1)
            for number, handler in previous.items():
                signal.signal(number, handler)
            os.close(reader)
            os.close(writer)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._signals.append(number)

    def _watch(self, reader: int) -> None:
        due = time.monotonic()
        while not self._signals:
            if time.monotonic() >= due:
                self.every()
                due = time.monotonic() + self.interval
            self._wait(reader, until=min([due, *self._restarts_due()]))
            for child in self.children:
                self._look_after(child)

    def _restarts_due(self) -> list[float]:
        return [child.restart_due for child in self.children if child.process is None]

    def _wait(self, reader: int, *, until: float) -> None:
        """Sleep until a child ends, a signal comes, or it is time."""
        running = [child.process.sentinel for child in self.children if child.process]
        ready = connection.wait([reader, *running], max(0.0, until - time.monotonic()))
        if reader in ready:
            os.read(reader, 4096)

    def _look_after(self, child: Child) -> None:
        now = time.monotonic()
        if child.process is None:
            if now >= child.restart_due:
                self._start(child)
        elif _has_ended(child.process):
            code = _bury(child.process)
            if now - child.started > WELL_AFTER_SECONDS:
                child.delay = FIRST_DELAY_SECONDS
            logger.warning(
                "The %s ended (%s); starting it again in %.1f s.", child.name, code, child.delay
            )
            child.process = None
            child.restart_due = now + child.delay
            child.delay = min(2 * child.delay, LONGEST_DELAY_SECONDS)

    def _start(self, child: Child) -> None:
        # With the signals held back, none can reach the child before it has its own handlers.
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        try:
            child.process = ForkProcess(target=_enter, args=(child.target, os.getpid()))
            child.process.name = child.name
            child.process.start()
            child.started = time.monotonic()
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)

    def _stop(self, reader: int) -> None:
        """Ask the children to end; when the time is over, or at a second signal, end them."""
        self.stopping()
        for process in self._running():
            with suppress(ProcessLookupError):
                os.kill(process.pid or 0, signal.SIGTERM)
        signals = len(self._signals)
        began = time.monotonic()
        for child in self.children:
            child.limit = began + child.drain() + self.grace
        while len(self._signals) == signals and (
            ending := [
                child for child in self.children if child.process and not _has_ended(child.process)
            ]
        ):
            self._wait(reader, until=min(child.limit for child in ending))
            for child in self.children:
                if child.process and (_has_ended(child.process) or time.monotonic() > child.limit):
                    _bury(child.process)
                    child.process = None
        for child in self.children:
            if child.process:
                _bury(child.process)
                child.process = None

    def _running(self) -> list[ForkProcess]:
        return [child.process for child in self.children if child.process]


def _enter(target: Callable[[], None], parent: int) -> None:
    """Run the first steps of a child."""
    os.setsid()
    signal.set_wakeup_fd(-1)
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    _die_with_parent(parent)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
    target()


def _die_with_parent(parent: int) -> None:
    """Get SIGTERM when the supervisor dies, so that even its ``kill -9`` leaves nothing behind."""
    with suppress(OSError, AttributeError):  # Linux only
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def _has_ended(process: ForkProcess) -> bool:
    return bool(connection.wait([process.sentinel], timeout=0))


def _bury(process: ForkProcess) -> int | None:
    """Kill what is left of a child's session, and only then let go of its process id."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid or 0, signal.SIGKILL)
    process.join()
    return process.exitcode
