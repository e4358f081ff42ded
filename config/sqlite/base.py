"""SQLite lets one transaction write at a time; here the others stand in a queue.

SQLite itself has them look again after 1, 2, 5, … and at last 100 ms, so that whoever has waited
longest looks least often, and on a slow disk some of dozens wait for seconds. Here the threads of a
process wait for a lock, which is handed on when it is free, and only the first of them looks
whether another process writes, every millisecond (docs/decisions/writers-on-sqlite.md). A statement
outside a transaction looks as often, without a lock.
"""

import os
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from django.db import OperationalError
from django.db.backends.sqlite3 import base
from django.db.backends.utils import debug_transaction

from config.private_files import create_private

_LOOK_AGAIN = 0.001
_queues: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
# A child has none of the threads that held a lock, and would wait for them for ever.
os.register_at_fork(after_in_child=_queues.clear)


_Wrapper: Any = base.DatabaseWrapper  # its typed stubs leave out what is overridden here
T = TypeVar("T")


def _look_until(until: float, statement: Callable[[], T]) -> T:
    """Carry out a statement as soon as no other process is in its way, until ``until`` at most."""
    while True:
        try:
            return statement()
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > until:
                raise
        time.sleep(_LOOK_AGAIN)


class _Cursor(base.SQLiteCursorWrapper):
    """A cursor that looks again itself, as its connection has SQLite wait for nothing."""

    patience = 0.0

    def execute(self, query: str, params: Any = None) -> Any:
        return self._carry_out(lambda: super(_Cursor, self).execute(query, params))

    def executemany(self, query: str, param_list: Iterable[Any]) -> Any:
        rows = list(param_list)  # they may be needed once more
        return self._carry_out(lambda: super(_Cursor, self).executemany(query, rows))

    def _carry_out(self, statement: Callable[[], Any]) -> Any:
        if self.connection.in_transaction:  # which no other process can be in the way of
            return statement()
        return _look_until(time.monotonic() + self.patience, statement)


class DatabaseWrapper(_Wrapper):  # type: ignore[misc]
    """A connection whose transactions wait for each other in turn, ``timeout`` seconds at most."""

    _held: "threading.Lock | None" = None

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the file; a new one is readable by its owner alone, and so is what is beside it."""
        if not self.is_in_memory_db():
            create_private(Path(conn_params["database"]))
        opened = super().get_new_connection(conn_params)
        if not self.is_in_memory_db():
            opened.execute("PRAGMA busy_timeout = 0")
        return opened

    def create_cursor(self, name: str | None = None) -> Any:
        if self.is_in_memory_db():
            return super().create_cursor(name)
        cursor = self.connection.cursor(factory=_Cursor)
        cursor.patience = self._patience
        return cursor

    @property
    def _patience(self) -> float:
        """Return the seconds that a transaction or statement waits for another process."""
        return float(self.settings_dict["OPTIONS"].get("timeout", 5.0))

    def _start_transaction_under_autocommit(self) -> None:
        if self.is_in_memory_db():
            super()._start_transaction_under_autocommit()
            return
        until = time.monotonic() + self._patience
        queue = _queues[str(self.settings_dict["NAME"])]
        if not queue.acquire(timeout=self._patience):
            raise OperationalError("database is locked")
        self._held = queue
        begin = f"BEGIN {self.transaction_mode or ''}"
        try:
            with debug_transaction(self, begin), self.wrap_database_errors:
                _look_until(until, lambda: self.connection.execute(begin))
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        """Let the next one in, if this one is in."""
        held, self._held = self._held, None
        if held is not None:
            held.release()

    def _commit(self) -> None:
        super()._commit()
        self._leave()  # not where it failed: it is rolled back then, or closed

    def _rollback(self) -> None:
        try:
            super()._rollback()
        finally:
            self._leave()

    def _close(self) -> None:
        try:
            super()._close()
        finally:
            self._leave()
