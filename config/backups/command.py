"""What both commands share: whatever goes wrong is one line."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from django.core.management.base import CommandError
from django.db import Error

from config.backups.errors import BackupError, Interrupted
from config.backups.interrupts import interruptible


@contextmanager
def one_line_errors(outcome: str) -> Iterator[None]:
    """Turn what can go wrong within the block into one line that ends with ``outcome``."""
    try:
        with interruptible():
            yield
    except BackupError as error:
        problem = str(error)
    except Interrupted:
        problem = "Interrupted."
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        problem = f"{error.filename}: {reason}." if error.filename else f"{reason}."
    except (Error, sqlite3.Error, psycopg.Error) as error:
        problem = f"The database says: {str(error).rstrip('.?!')}."
    else:
        return
    raise CommandError(f"{' '.join(problem.split())} {outcome}")
