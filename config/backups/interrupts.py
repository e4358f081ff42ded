"""Ending in good order when asked to: nothing half made is left, and the word given is true."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from config.backups.errors import Interrupted

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


# A little later, in seconds.
_AGAIN = 0.01


def _swallows(frame: FrameType | None) -> bool:
    """Whether this is within a finaliser, where Python reports an exception and goes on."""
    while frame is not None:
        code = frame.f_code
        if code.co_name == "__del__" or code.co_filename.endswith(("weakref.py", "_weakrefset.py")):
            return True
        frame = frame.f_back
    return False


def _here() -> bool:
    """Only a process's first thread gets signals."""
    return threading.current_thread() is threading.main_thread()


@contextmanager
def interruptible() -> Iterator[None]:
    """Within the block a wish to stop raises ``Interrupted``."""
    if not _here():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if _swallows(frame):
            signal.setitimer(signal.ITIMER_REAL, _AGAIN)
            return
        raise Interrupted

    before = {number: signal.signal(number, stop) for number in (*_SIGNALS, signal.SIGALRM)}
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in before.items():
            signal.signal(number, handler)


def point_of_no_return() -> None:
    """From here to the end of the block the work is nearly done, and stopping comes too late."""
    if _here():
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
