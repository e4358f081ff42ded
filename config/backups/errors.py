"""Errors of backups, as one line for whoever typed the command."""

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management.base import CommandError
from django.db import Error

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class BackupError(Exception):
    """A backup cannot be made or restored; nothing was changed."""


@contextmanager
def report_errors(outcome: str) -> Iterator[None]:
    """Turn what can go wrong within the block into one line that ends with ``outcome``.

    Afterwards the process heeds signals as it did before, even where the block ignored them.
    """
    before = {number: signal.signal(number, signal.default_int_handler) for number in _STOP_SIGNALS}
    try:
        yield
        return
    except BackupError as error:
        problem = str(error)
    except KeyboardInterrupt:
        problem = "Interrupted."
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        problem = f"{error.filename}: {reason}." if error.filename else f"{reason}."
    except (Error, sqlite3.Error) as error:
        problem = f"The database says: {str(error).rstrip('.?!')}."
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    raise CommandError(f"{' '.join(problem.split())} {outcome}")


def ignore_interrupts() -> None:
    """Let the last step run to its end: from here on, stopping comes too late."""
    for number in _STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
