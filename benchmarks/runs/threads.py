"""Threads of a process that may be told to end while they work."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class ProcessEnds(Exception):
    """The process is on its way out, and nothing new is begun in it."""


class Threads(ThreadPoolExecutor):
    """Threads that say ``ProcessEnds`` to new work once the interpreter is shutting down.

    What is under way then is finished, so whoever does it has to tell this from an error.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        try:
            return super().submit(fn, *args, **kwargs)
        except RuntimeError as error:
            if "shutdown" not in str(error):
                raise
            raise ProcessEnds(str(error)) from None
