"""Ending in good order when asked to: nothing half made is left, and the word given is true."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from config.backups.errors import Interrupted

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


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
        raise Interrupted

    before = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def point_of_no_return() -> None:
    """From here to the end of the block the work is nearly done, and stopping comes too late."""
    if _here():
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
