"""A process that carries the newest run as far as it goes, for test_kill_worker.py.

With a number it kills itself in place of the statement to the database that comes after so many.
"""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import django

django.setup()

from django.db import connection  # noqa: E402

from benchmarks.jobs.threads import owner_name  # noqa: E402
from benchmarks.models import Run  # noqa: E402  (needs the settings)
from benchmarks.runs.worker import work_on_run  # noqa: E402


class Lifetime:
    """A wrapper of statements that lets so many through."""

    def __init__(self, statements: int) -> None:
        self.left = statements

    def __call__(self, execute: Callable[..., Any], *call: Any) -> Any:
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self.left -= 1
        return execute(*call)


if __name__ == "__main__":
    run_id = Run.objects.latest("pk").pk
    # No number: it lives to the end.
    with connection.execute_wrapper(Lifetime(int(sys.argv[1]) if sys.argv[1:] else -1)):
        work_on_run(run_id=run_id, owner=owner_name())
