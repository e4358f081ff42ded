"""A bell between processes of one machine: who waits for something need not look all the time.

A named pipe: ringing writes a byte, waiting reads what is there. A ring while nobody waits is kept
for who waits next, and a ring that is lost costs no more than the time that they would wait anyway.
"""

import os
import select
import time
from contextlib import suppress
from pathlib import Path

# How long those wait at most, in seconds, where the file system has no pipes.
_LOOK_AGAIN = 0.02
_RINGS = 4096


class Bell:
    """One process's end of a bell."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._heard: int | None = None
        with suppress(OSError):  # it is there, or there can be none
            os.mkfifo(path, 0o600)

    def ring(self) -> None:
        """Wake whoever waits."""
        with suppress(OSError):  # nobody has ever listened, or it has rung thousands of times
            pipe = os.open(self._path, os.O_WRONLY | os.O_NONBLOCK)
            try:
                os.write(pipe, b".")
            finally:
                os.close(pipe)

    def wait(self, seconds: float) -> None:
        """Return at the next ring, at once where it has rung since, or after ``seconds``."""
        if self._heard is None:
            try:
                # Open for writing as well, else the pipe would end whenever a ringer has left.
                self._heard = os.open(self._path, os.O_RDWR | os.O_NONBLOCK)
            except OSError:
                time.sleep(min(seconds, _LOOK_AGAIN))
                return
        ready = select.poll()  # select() knows no descriptors beyond 1,023
        ready.register(self._heard, select.POLLIN)
        if ready.poll(1000 * seconds):
            with suppress(BlockingIOError):  # another process was quicker to read
                os.read(self._heard, _RINGS)

    def close(self) -> None:
        if self._heard is not None:
            os.close(self._heard)
            self._heard = None
