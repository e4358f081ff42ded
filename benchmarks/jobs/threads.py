"""Thread pools, and how the work of a process comes to its end.

A process that is told to end makes the calls that are under way, stores what they bring, and begins
nothing new: whoever would claim, ask or start a thread gets ``ProcessEnds`` and puts its work down.
"""

import os
import socket
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

# A thread gives up the interpreter at each statement to the database, and waits this long for it
# while others compute. At Python's 5 ms, who has the turn to write holds up all other writers:
# 32 trajectories at 0.2 s a call then made 82 calls a second, with this 134; at 0.2 ms, 128. In the
# web server a reply of a live session, of some thirty statements, would wait at each of them while
# another page is made.
SWITCH_SECONDS = 0.001

_ending = threading.Event()


# All pools of the process, so that it can wait for what they do.
_pools: "weakref.WeakSet[Threads]" = weakref.WeakSet()


def process_name() -> str:
    """Return the name with which the owner of each of this process's leases begins."""
    return f"{socket.gethostname()[-32:]}:{os.getpid()}"


def owner_name() -> str:
    """Return the owner name for a lease: host, process and thread."""
    # Cut to fit the column, also after a job has added its prefix.
    return f"{process_name()}:{threading.get_ident()}"


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

    def __init__(self, most: int, *, thread_name_prefix: str = "") -> None:
        super().__init__(most, thread_name_prefix=thread_name_prefix)
        _pools.add(self)

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        self.check()
        try:
            # The work belongs to the request that its caller works for.
            return super().submit(copy_context().run, partial(fn, *args, **kwargs))
        except RuntimeError as error:
            if "shutdown" not in str(error):
                raise
            raise ProcessEnds(str(error)) from None

    def check(self) -> None:
        """Raise ``ProcessEnds`` if this pool takes nothing more."""
        check_ending()


class CallThreads(Threads):
    """A pool for calls that the log holds as sent: they are made even if the process is ending."""

    def check(self) -> None:
        """Take every call."""


def wait_for_work() -> None:
    """Wait until all pools of the process have done what they began.

    Calls come last, because work in other pools makes them.
    """
    for pool in sorted(_pools, key=lambda pool: isinstance(pool, CallThreads)):
        pool.shutdown(wait=True)
