"""SQLite lets one transaction write at a time; here the others stand in a queue.

SQLite itself has them look again after 1, 2, 5, … and at last 100 ms, so that whoever has waited
longest looks least often, and on a slow disk some of dozens wait for seconds. Here the threads of a
process wait for a lock, which is handed on when it is free, and only the first of them looks
whether another process writes, every millisecond (docs/decisions/writers-on-sqlite.md).
"""

import os
import sqlite3
import threading
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base
from django.db.backends.utils import debug_transaction

from config.private_files import create_private

_LOOK_AGAIN = 0.001
_queues: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
# A child has none of the threads that held a lock, and would wait for them for ever.
os.register_at_fork(after_in_child=_queues.clear)


_Wrapper: Any = base.DatabaseWrapper  # its typed stubs leave out what is overridden here


class DatabaseWrapper(_Wrapper):  # type: ignore[misc]
    """A connection whose transactions wait for each other in turn, ``timeout`` seconds at most."""

    _held: "threading.Lock | None" = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the file; a new one is readable by its owner alone, and so is what is beside it."""
        if not self.is_in_memory_db():
            create_private(Path(conn_params["database"]))
        return super().get_new_connection(conn_params)

    @property
    def _patience(self) -> float:
        """Return the seconds that a transaction or statement waits for another process."""
        return float(self.settings_dict["OPTIONS"].get("timeout", 5.0))

    def _start_transaction_under_autocommit(self) -> None:
        if self.is_in_memory_db():
            super()._start_transaction_under_autocommit()
            return
        patience = self._patience
        until = time.monotonic() + patience
        queue = _queues[str(self.settings_dict["NAME"])]
        # Before and after the queue, as each statement lets another thread compute first.
        self._set_busy_timeout(0)
        try:
            if not queue.acquire(timeout=patience):
                raise OperationalError("database is locked")
            self._held = queue
            self._begin(until)
        except BaseException:
            self._leave()
            self._set_busy_timeout(patience)
            raise

    def _set_busy_timeout(self, seconds: float) -> None:
        self.connection.execute(f"PRAGMA busy_timeout = {seconds * 1000:.0f}")

    def _begin(self, until: float) -> None:
        begin = f"BEGIN {self.transaction_mode or ''}"
        with debug_transaction(self, begin), self.wrap_database_errors:
            while True:
                try:
                    self.connection.execute(begin)
                    return
                except sqlite3.OperationalError as error:
                    if "locked" not in str(error) or time.monotonic() > until:
                        raise
                time.sleep(_LOOK_AGAIN)

    def _leave(self) -> bool:
        """Let the next one in; return False where this one is not in."""
        held, self._held = self._held, None
        if held is None:
            return False
        held.release()
        return True

    def _commit(self) -> None:
        super()._commit()
        if self._leave():  # not where it failed: it is rolled back then, or closed
            self._set_busy_timeout(self._patience)

    def _rollback(self) -> None:
        try:
            super()._rollback()
        finally:
            if self._leave():
                self._set_busy_timeout(self._patience)

    def _close(self) -> None:
        try:
            super()._close()
        finally:
            self._leave()
