"""Statements whose SQL is made once, for what is asked and written at every click.

Django builds the SQL of a statement anew whenever it is run, which takes many times longer than the
database takes to find a row by its key. A prepared statement is built by the ORM too, when a thread
first needs it, with a mark in the place of each value; afterwards the values alone are put in.
docs/decisions/prepared-statements.md tells what that buys and where it may be used.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import local
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet
from django.db.models.query import (
    FlatValuesListIterable,
    ModelIterable,
    ValuesListIterable,
    get_related_populators,
)
from django.db.models.sql import InsertQuery, UpdateQuery
from django.db.transaction import TransactionManagementError, mark_for_rollback_on_error

R = TypeVar("R")
M = TypeVar("M", bound=Model)
Value = int | str | datetime | UUID
Rows = Iterable[Sequence[Any]]
# No constant of a query, and small enough for every column: the ORM asks nothing of PostgreSQL that
# a column cannot hold.
_FIRST_MARK = 31_507
_FIRST_DAY = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass
class _Built:
    """A statement as one connection has it; ``places`` are the values' names by place in its SQL.

    ``read`` makes of the database's rows what the statement is to give.
    """

    connection: Any
    sql: str
    params: tuple[Any, ...]
    places: tuple[tuple[int, str], ...]
    read: Callable[[Rows], list[Any]]
    locks: bool = False

    def run(self, cursor: Any, values: Mapping[str, Value | None]) -> None:
        """Execute the statement with these values."""
        params = list(self.params)
        for place, name in self.places:
            value = _adapted(self.connection, values[name])
            params[place] = type(params[place])(value) if type(value) is int else value
        cursor.execute(self.sql, params)


class _Statement(ABC):
    """What is built once in each thread. The kinds of its values are known beforehand."""

    def __init__(self, kinds: Mapping[str, type[Value]]) -> None:
        self._marks = {name: _mark(kind, name, n) for n, (name, kind) in enumerate(kinds.items())}
        self._here = local()

    def _built(self) -> _Built:
        connection = connections[DEFAULT_DB_ALIAS]
        built: _Built | None = getattr(self._here, "built", None)
        if built is None or built.connection is not connection:
            built = self._here.built = self._make(connection)
        return built

    @abstractmethod
    def _make(self, connection: Any) -> _Built: ...

    def _places(self, connection: Any, params: Sequence[Any]) -> tuple[tuple[int, str], ...]:
        names = {_adapted(connection, mark): name for name, mark in self._marks.items()}
        places = tuple(
            (n, names[p]) for n, p in enumerate(params) if not isinstance(p, list) and p in names
        )
        missing = set(self._marks) - {name for _, name in places}
        if missing:
            raise ValueError(f"values that are not in the query: {', '.join(sorted(missing))}")
        return places


class Prepared(_Statement, Generic[R]):
    """A query by values of which only the kind (one of ``Value``) is known beforehand.

    ``build`` makes the query from arguments of these names. They may decide of nothing but values:
    a condition that is there for some of them only would be there for all, or for none.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, R]], **kinds: type[Value]) -> None:
        super().__init__(kinds)
        self._build = build

    def all(self, **values: Value) -> list[R]:
        """The rows of the query for these values."""
        built = self._built()
        if built.locks and built.connection.get_autocommit():
            raise TransactionManagementError("rows are locked within a transaction alone")
        with built.connection.cursor() as cursor:
            built.run(cursor, values)
            return built.read(cursor.fetchall())

    def first(self, **values: Value) -> R | None:
        """The first of them; the query should be limited to it."""
        rows = self.all(**values)
        return rows[0] if rows else None

    def _make(self, connection: Any) -> _Built:
        rows = self._build(**self._marks)
        compiler = rows.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        places = self._places(connection, params)
        locks = rows.query.select_for_update
        return _Built(connection, sql, tuple(params), places, _reader(rows, compiler), locks)


class PreparedUpdate(_Statement):
    """A change of rows; ``build`` gives the rows and the new values of their fields.

    Values may be None where the field may.
    """

    def __init__(
        self,
        build: Callable[..., tuple[QuerySet[Any], Mapping[str, Any]]],
        **kinds: type[Value],
    ) -> None:
        super().__init__(kinds)
        self._build = build

    def run(self, **values: Value | None) -> int:
        """Change the rows; says how many there were."""
        built = self._built()
        with (
            mark_for_rollback_on_error(using=DEFAULT_DB_ALIAS),
            built.connection.cursor() as cursor,
        ):
            built.run(cursor, values)
            return int(cursor.rowcount)

    def _make(self, connection: Any) -> _Built:
        rows, changes = self._build(**self._marks)
        query: Any = rows.query.chain(UpdateQuery)
        query.add_update_values(changes)
        sql, params = query.get_compiler(connection=connection).as_sql()
        return _Built(connection, sql, tuple(params), self._places(connection, params), list)


_written = local()


def add_row(row: M) -> M:
    """Store a new row and give it its key, as ``row.save()`` does; no signal is sent."""
    if not row._state.adding:
        raise ValueError("the row is stored already")
    with _write(row, (), _insert) as cursor:
        (row.pk,) = cursor.fetchone()
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    return row


def change_row(row: Model, *fields: str) -> None:
    """Store these fields of a row that is there, as ``row.save(update_fields=fields)`` does."""
    with _write(row, fields, _update):
        pass


@contextmanager
def _write(
    row: Model, names: tuple[str, ...], make: Callable[..., tuple[Any, str, list[Any]]]
) -> Iterator[Any]:
    """The cursor after a statement that writes fields of a row."""
    connection = connections[DEFAULT_DB_ALIAS]
    kept: dict[Any, tuple[Any, str, list[Any]]] = _written.__dict__
    key = type(row), names
    found = kept.get(key)
    if found is None or found[0] is not connection:
        found = kept[key] = make(connection, row, names)
    _, sql, fields = found
    adding = row._state.adding
    params = [field.get_db_prep_save(field.pre_save(row, adding), connection) for field in fields]
    with mark_for_rollback_on_error(using=DEFAULT_DB_ALIAS), connection.cursor() as cursor:
        cursor.execute(sql, params)
        yield cursor


def _update(connection: Any, row: Model, names: tuple[str, ...]) -> tuple[Any, str, list[Any]]:
    """The SQL that changes fields of a row of this model, and these fields with the key."""
    meta, quoted = row._meta, connection.ops.quote_name
    fields: list[Any] = [meta.get_field(name) for name in names]
    changes = ", ".join(f"{quoted(field.column)} = %s" for field in fields)
    sql = f"UPDATE {quoted(meta.db_table)} SET {changes} WHERE {quoted(meta.pk.column)} = %s"  # noqa: S608
    return connection, sql, [*fields, meta.pk]


def _insert(connection: Any, row: Model, names: tuple[str, ...]) -> tuple[Any, str, list[Any]]:
    """The SQL that adds a row of this model, whose key the database makes, and its fields."""
    meta = row._meta
    fields = [field for field in meta.concrete_fields if field is not meta.pk]
    query = InsertQuery(type(row))
    query.insert_values(fields, [row])
    compiler = query.get_compiler(connection=connection)
    compiler.returning_fields = [meta.pk]
    ((sql, params),) = compiler.as_sql()
    assert len(params) == len(fields)
    return connection, sql, fields


def _reader(rows: Any, compiler: Any) -> Callable[[Rows], list[Any]]:
    """What makes objects of a query's rows, as its query set would."""
    if compiler.has_extra_select or rows._prefetch_related_lookups:
        raise ValueError("columns or rows beside those asked for are not read here")
    converters = compiler.get_converters([column for column, *_ in compiler.select])
    make = _maker(rows, compiler)

    def read(found: Rows) -> list[Any]:
        return make(compiler.apply_converters(found, converters) if converters else found)

    return read


def _maker(rows: QuerySet[Any, Any], compiler: Any) -> Callable[[Rows], list[Any]]:
    match rows._iterable_class:
        case iterable if iterable is FlatValuesListIterable:
            return lambda found: [row[0] for row in found]
        case iterable if iterable is ValuesListIterable:
            return lambda found: [tuple(row) for row in found]
        case iterable if iterable is ModelIterable and not compiler.annotation_col_map:
            info = compiler.klass_info
            model, places = info["model"], info["select_fields"]
            own = slice(places[0], places[-1] + 1)
            names = [column[0].target.attname for column in compiler.select[own]]
            related = get_related_populators(info, compiler.select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]

            def objects(found: Rows) -> list[Any]:
                made = []
                for row in found:
                    one = model.from_db(DEFAULT_DB_ALIAS, names, row[own])
                    for populator in related:
                        populator.populate(row, one)
                    made.append(one)
                return made

            return objects
        case other:
            raise ValueError(f"rows as {other.__name__} are not made here")


def _mark(kind: type[Value], name: str, place: int) -> Value:
    """A value of this kind that is in no query."""
    if kind is int:
        return _FIRST_MARK + place
    if kind is datetime:
        return _FIRST_DAY + timedelta(days=place)
    return UUID(int=place + 1) if kind is UUID else f"\x02{name}\x03"


def _adapted(connection: Any, value: Value | None) -> Any:
    """A value as the database's driver takes it."""
    if isinstance(value, datetime):
        return connection.ops.adapt_datetimefield_value(value)
    if isinstance(value, UUID):
        return value if connection.features.has_native_uuid_field else value.hex
    return value
