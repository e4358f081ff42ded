"""Thread pools, and how the work of a process comes to its end.

A process that is told to end makes the calls that are under way, stores what they bring, and begins
nothing new: whoever would claim, ask or start a thread gets ``ProcessEnds`` and puts its work down.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_ending = threading.Event()


class ProcessEnds(Exception):
    """Raised because the process is shutting down and takes no new work."""


def end_work() -> None:
    """Let nothing new begin in this process."""
    _ending.set()


def check_ending() -> None:
    """Raise ``ProcessEnds`` if the process is shutting down."""
    if _ending.is_set():
        raise ProcessEnds("the process takes no new work")


class Threads(ThreadPoolExecutor):
    """A pool that raises ``ProcessEnds`` for new work once the process is shutting down.

    Work under way is still finished, so its caller has to tell a shutdown from an error.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        check_ending()
        try:
            return super().submit(fn, *args, **kwargs)
        except RuntimeError as error:
            if "shutdown" not in str(error):
                raise
            raise ProcessEnds(str(error)) from None
