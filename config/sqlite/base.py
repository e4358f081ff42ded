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

from django.db.backends.sqlite3 import base

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


class _Connection(sqlite3.Connection):
    """A connection that begins a transaction when it is its turn, ``patience`` seconds at most."""

    queue: threading.Lock
    patience = 5.0
    _is_in = False

    def begin(self, statement: Callable[[], T]) -> T:
        """Wait in the queue of this process, then for other processes, and begin."""
        until = time.monotonic() + self.patience
        if not self.queue.acquire(timeout=self.patience):
            raise sqlite3.OperationalError("database is locked")
        self._is_in = True
        try:
            return _look_until(until, statement)
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        """Let the next one in, if this one is in."""
        if self._is_in:
            self._is_in = False
            self.queue.release()

    def commit(self) -> None:
        super().commit()
        self._leave()  # not where it failed: it is rolled back then, or closed

    def rollback(self) -> None:
        try:
            super().rollback()
        finally:
            self._leave()

    def close(self) -> None:
        try:
            super().close()
        finally:
            self._leave()


class _Cursor(base.SQLiteCursorWrapper):
    """A cursor that looks again itself, as its connection has SQLite wait for nothing."""

    connection: _Connection

    def execute(self, query: str, params: Any = None) -> Any:
        return self._carry_out(query, lambda: super(_Cursor, self).execute(query, params))

    def executemany(self, query: str, param_list: Iterable[Any]) -> Any:
        rows = list(param_list)  # they may be needed once more
        return self._carry_out(query, lambda: super(_Cursor, self).executemany(query, rows))

    def _carry_out(self, query: str, statement: Callable[[], Any]) -> Any:
        if self.connection.in_transaction:  # which no other process can be in the way of
            return statement()
        if query.startswith("BEGIN"):
            return self.connection.begin(statement)
        return _look_until(time.monotonic() + self.connection.patience, statement)


class DatabaseWrapper(_Wrapper):  # type: ignore[misc]
    """Django's backend, with such connections to files; ``timeout`` is their patience."""

    def get_connection_params(self) -> dict[str, Any]:
        """Return what a connection is opened with."""
        params: dict[str, Any] = super().get_connection_params()
        return params if self.is_in_memory_db() else {**params, "factory": _Connection}

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the file; a new one is readable by its owner alone, and so is what is beside it."""
        if self.is_in_memory_db():
            return super().get_new_connection(conn_params)
        create_private(Path(conn_params["database"]))
        opened = super().get_new_connection(conn_params)
        opened.execute("PRAGMA busy_timeout = 0")
        opened.queue = _queues[str(self.settings_dict["NAME"])]
        opened.patience = float(self.settings_dict["OPTIONS"].get("timeout", 5.0))
        return opened

    def create_cursor(self, name: str | None = None) -> Any:
        """Return a cursor of such a connection, or of one to memory Django's own."""
        if self.is_in_memory_db():
            return super().create_cursor(name)
        return self.connection.cursor(factory=_Cursor)
