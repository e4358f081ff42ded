"""Running SQL that has been built already, without having it looked at anew each time.

Django's cursor rewrites the marks of every statement for SQLite, as it cannot know them; in one of
forty columns that takes longer than finding the row. Here they are rewritten once, and the driver
is asked directly.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from django.db.backends.sqlite3.base import SQLiteCursorWrapper

R = TypeVar("R")
SQLITE = "sqlite"


class Sql:
    """A statement as Django writes it (``text``), and as the driver takes it (``own``)."""

    __slots__ = ("own", "text")

    def __init__(self, text: str, vendor: str) -> None:
        self.text = text
        self.own = text
        if vendor == SQLITE:
            self.own = SQLiteCursorWrapper.convert_query(None, text)  # type: ignore[arg-type]


def execute(
    connection: Any,
    sql: Sql,
    params: Sequence[Any],
    read: Callable[[Any], R],
    *,
    many: bool = False,
) -> R:
    """Run a statement; returns what ``read`` takes from its cursor. ``many``: once for each row."""
    # Whoever listens (tests that count statements, DEBUG) is told by Django's cursor alone.
    if connection.vendor != SQLITE or connection.execute_wrappers or connection.queries_logged:
        with connection.cursor() as cursor:
            (cursor.executemany if many else cursor.execute)(sql.text, params)
            return read(cursor)
    connection.ensure_connection()
    connection.validate_thread_sharing()
    connection.validate_no_broken_transaction()
    driver = connection.connection
    with connection.wrap_database_errors:
        cursor = (driver.executemany if many else driver.execute)(sql.own, params)
        try:
            return read(cursor)
        finally:
            cursor.close()
