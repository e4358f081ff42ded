"""Queries whose SQL is made once, for what is asked at every click.

Django builds the SQL of a query anew whenever it is run, which takes many times longer than the
database takes to find a row by its key. A prepared query is built by the ORM too, when a thread
first needs it, with a mark in the place of each value; afterwards the values alone are put in.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import local
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import QuerySet
from django.db.transaction import TransactionManagementError

R = TypeVar("R")
Value = int | str | datetime | UUID
# Larger than any constant in a query, and still an integer to every column.
_FIRST_MARK = 2_000_000_000
_FIRST_DAY = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass
class _Built:
    """A query as one connection has it; ``places`` are the values' names by place in its SQL."""

    connection: Any
    rows: Any
    compiler: Any
    sql: str
    params: tuple[Any, ...]
    places: tuple[tuple[int, str], ...]


class Prepared(Generic[R]):
    """A query by values of which only the kind (one of ``Value``) is known beforehand.

    ``build`` makes the query from arguments of these names. They may decide of nothing but values:
    a condition that is there for some of them only would be there for all, or for none.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, R]], **kinds: type[Value]) -> None:
        self._build = build
        self._marks = {name: _mark(kind, name, n) for n, (name, kind) in enumerate(kinds.items())}
        self._here = local()

    def all(self, **values: Value) -> list[R]:
        """The rows of the query for these values."""
        connection = connections[DEFAULT_DB_ALIAS]
        built: _Built | None = getattr(self._here, "built", None)
        if built is None or built.connection is not connection:
            built = self._here.built = self._make(connection)
        if built.rows.query.select_for_update and connection.get_autocommit():
            raise TransactionManagementError("rows are locked within a transaction alone")
        params = list(built.params)
        for place, name in built.places:
            value = _adapted(connection, values[name])
            params[place] = type(params[place])(value) if type(value) is int else value
        built.compiler.as_sql = lambda *_, **__: (built.sql, tuple(params))
        # The query set itself is never run: that would keep its rows.
        found: list[R] = list(built.rows._iterable_class(built.rows))
        return found

    def first(self, **values: Value) -> R | None:
        """The first of them; the query should be limited to it."""
        rows = self.all(**values)
        return rows[0] if rows else None

    def _make(self, connection: Any) -> _Built:
        rows = self._build(**self._marks)
        compiler = rows.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        names = {_adapted(connection, mark): name for name, mark in self._marks.items()}
        places = tuple((n, names[p]) for n, p in enumerate(params) if p in names)
        missing = set(self._marks) - {name for _, name in places}
        if missing:
            raise ValueError(f"values that are not in the query: {', '.join(sorted(missing))}")
        found = compiler.get_converters([column for column, *_ in compiler.select])
        compiler.get_converters = lambda _: found
        rows.query.get_compiler = lambda *_, **__: compiler  # type: ignore[method-assign]
        return _Built(connection, rows, compiler, sql, tuple(params), places)


def _mark(kind: type[Value], name: str, place: int) -> Value:
    """A value of this kind that is in no query."""
    if kind is int:
        return _FIRST_MARK + place
    if kind is datetime:
        return _FIRST_DAY + timedelta(days=place)
    return UUID(int=place + 1) if kind is UUID else f"\x02{name}\x03"


def _adapted(connection: Any, value: Value) -> Any:
    """A value as the database's driver takes it."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, UUID):
        return value if connection.features.has_native_uuid_field else value.hex
    return value
