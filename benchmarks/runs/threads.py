"""Thread pools that report when the process is shutting down."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class ProcessEnds(Exception):
    """Raised because the process is shutting down and takes no new work."""


class Threads(ThreadPoolExecutor):
    """A pool that raises ``ProcessEnds`` for new work once the interpreter is shutting down.

    Work under way is still finished, so its caller has to tell a shutdown from an error.
    """

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        try:
            return super().submit(fn, *args, **kwargs)
        except RuntimeError as error:
            if "shutdown" not in str(error):
                raise
            raise ProcessEnds(str(error)) from None
