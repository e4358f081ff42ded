"""Statements whose SQL is made once, for what is asked and written at every click.

Django builds the SQL of a statement anew whenever it is run, which takes many times longer than the
database takes to find a row by its key. A prepared statement is built by the ORM too, when it is
first needed, with a mark in the place of each value; afterwards the values alone are put in.
docs/decisions/prepared-statements.md tells what that buys and where it may be used.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import attrgetter, methodcaller
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model, QuerySet
from django.db.models.constants import OnConflict
from django.db.models.query import (
    FlatValuesListIterable,
    ModelIterable,
    ValuesListIterable,
    get_related_populators,
)
from django.db.models.sql import InsertQuery, UpdateQuery
from django.db.transaction import TransactionManagementError, mark_for_rollback_on_error

from benchmarks.executing import Sql, execute

R = TypeVar("R")
M = TypeVar("M", bound=Model)
Value = int | str | datetime | UUID
Rows = Iterable[Sequence[Any]]
_ALL, _ONE, _COUNT = methodcaller("fetchall"), methodcaller("fetchone"), attrgetter("rowcount")
# No constant of a query, and small enough for every column: the ORM asks nothing of PostgreSQL that
# a column cannot hold.
_FIRST_MARK = 31_507
_FIRST_DAY = datetime(9000, 1, 1, tzinfo=UTC)


@dataclass
class _Built:
    """A statement for one kind of database; ``places`` are the values' names by place in its SQL.

    ``read`` makes of a connection's rows what the statement is to give.
    """

    sql: Sql
    params: tuple[Any, ...]
    places: tuple[tuple[int, str], ...]
    read: Callable[[Any, Rows], list[Any]]
    locks: bool = False

    def filled(self, connection: Any, values: Mapping[str, Value | None]) -> list[Any]:
        """The statement's parameters with these values."""
        params = list(self.params)
        for place, name in self.places:
            value = _adapted(connection, values[name])
            params[place] = type(params[place])(value) if type(value) is int else value
        return params


class _Statement(ABC):
    """What is built once for all threads. The kinds of its values are known beforehand."""

    def __init__(self, kinds: Mapping[str, type[Value]]) -> None:
        self._marks = {name: _mark(kind, name, n) for n, (name, kind) in enumerate(kinds.items())}
        self._made: dict[str, _Built] = {}

    def _built(self, connection: Any) -> _Built:
        built = self._made.get(connection.vendor)
        if built is None:
            # Two threads may build it at once; what they build is the same.
            built = self._made[connection.vendor] = self._make(connection)
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
        connection = connections[DEFAULT_DB_ALIAS]
        built = self._built(connection)
        if built.locks and connection.get_autocommit():
            raise TransactionManagementError("rows are locked within a transaction alone")
        rows = execute(connection, built.sql, built.filled(connection, values), _ALL)
        return built.read(connection, rows)

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
        sql = Sql(sql, connection.vendor)
        return _Built(sql, tuple(params), places, _reader(rows, compiler), locks)


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
        connection = connections[DEFAULT_DB_ALIAS]
        built = self._built(connection)
        return int(_write(connection, built.sql, built.filled(connection, values), _COUNT))

    def _make(self, connection: Any) -> _Built:
        rows, changes = self._build(**self._marks)
        query: Any = rows.query.chain(UpdateQuery)
        query.add_update_values(changes)
        sql, params = query.get_compiler(connection=connection).as_sql()
        places = self._places(connection, params)
        return _Built(Sql(sql, connection.vendor), tuple(params), places, _no_rows)


# The SQL of a statement, and the fields whose values it takes.
_Made = tuple[str, list[Any]]
_Kept = tuple[Sql, list[Any]]
_written: dict[Any, _Kept] = {}


def add_row(row: M) -> M:
    """Store a new row and give it its key, as ``row.save()`` does; no signal is sent."""
    if not row._state.adding:
        raise ValueError("the row is stored already")
    connection = connections[DEFAULT_DB_ALIAS]
    sql, fields = _kept(connection, type(row), "add", lambda: _insert(connection, row, key=True))
    (row.pk,) = _write(connection, sql, _values(connection, fields, row), _ONE)
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS
    return row


def add_rows(rows: Sequence[Model], *, ignore_conflicts: bool = False) -> None:
    """Store new rows of one model, which are given no keys; no signal is sent.

    ``ignore_conflicts``: rows that clash with what is stored are left out.
    """
    if not rows:
        return
    one, conflict = rows[0], OnConflict.IGNORE if ignore_conflicts else None
    connection = connections[DEFAULT_DB_ALIAS]
    sql, fields = _kept(connection, type(one), conflict, lambda: _insert(connection, one, conflict))
    _write(connection, sql, [_values(connection, fields, row) for row in rows], _COUNT, many=True)


def change_row(row: Model, *fields: str, **still: Any) -> bool:
    """Store these fields of a row that is there, as ``row.save(update_fields=fields)`` does.

    ``still``: only where the stored row has these values, none of them None. Says whether it was
    there.
    """
    names, connection = (*fields, *still), connections[DEFAULT_DB_ALIAS]
    sql, found = _kept(
        connection, type(row), (fields, *still), lambda: _update(connection, row, fields, still)
    )
    params = _values(connection, found[: len(fields)], row)
    pairs = zip(found[len(fields) : len(names)], still.values(), strict=True)
    kept = [field.get_db_prep_save(value, connection) for field, value in pairs]
    params += [*kept, found[-1].get_db_prep_save(row.pk, connection)]
    return bool(_write(connection, sql, params, _COUNT))


def _kept(connection: Any, model: type[Model], what: Any, make: Callable[[], _Made]) -> _Kept:
    """A statement that writes rows of a model, built when it is first needed."""
    key = connection.vendor, model, what
    found = _written.get(key)
    if found is None:
        sql, fields = make()
        found = _written[key] = Sql(sql, connection.vendor), fields
    return found


def _write(
    connection: Any,
    sql: Sql,
    params: Sequence[Any],
    read: Callable[[Any], Any],
    *,
    many: bool = False,
) -> Any:
    with mark_for_rollback_on_error(using=DEFAULT_DB_ALIAS):
        return execute(connection, sql, params, read, many=many)


def _values(connection: Any, fields: Sequence[Any], row: Model) -> list[Any]:
    adding = row._state.adding
    return [field.get_db_prep_save(field.pre_save(row, adding), connection) for field in fields]


def _update(connection: Any, row: Model, names: Sequence[str], still: Iterable[str]) -> _Made:
    """The SQL that changes fields of a row; these fields, those that must be so still, the key."""
    meta, quoted = row._meta, connection.ops.quote_name
    changed: list[Any] = [meta.get_field(name) for name in names]
    conditions: list[Any] = [*(meta.get_field(name) for name in still), meta.pk]
    changes = ", ".join(f"{quoted(field.column)} = %s" for field in changed)
    where = " AND ".join(f"{quoted(field.column)} = %s" for field in conditions)
    sql = f"UPDATE {quoted(meta.db_table)} SET {changes} WHERE {where}"  # noqa: S608
    return sql, [*changed, *conditions]


def _insert(
    connection: Any, row: Model, conflict: OnConflict | None = None, *, key: bool = False
) -> _Made:
    """The SQL that adds a row of this model, and its fields; ``key``: tells the key it is given."""
    meta = row._meta
    fields = [field for field in meta.concrete_fields if field is not meta.auto_field]
    query = InsertQuery(type(row), on_conflict=conflict)
    query.insert_values(fields, [row])
    compiler = query.get_compiler(connection=connection)
    if key:
        compiler.returning_fields = [meta.pk]
    ((sql, params),) = compiler.as_sql()
    assert len(params) == len(fields)
    return sql, fields


def _no_rows(connection: Any, found: Rows) -> list[Any]:
    return []


def _reader(rows: Any, compiler: Any) -> Callable[[Any, Rows], list[Any]]:
    """What makes objects of a query's rows, as its query set would."""
    if compiler.has_extra_select or rows._prefetch_related_lookups:
        raise ValueError("columns or rows beside those asked for are not read here")
    converters = compiler.get_converters([column for column, *_ in compiler.select])
    make = _maker(rows, compiler)

    def read(connection: Any, found: Rows) -> list[Any]:
        return make(_converted(connection, found, converters) if converters else found)

    return read


def _converted(connection: Any, found: Rows, converters: Mapping[int, Any]) -> Rows:
    """Rows with their values as Python has them (``SQLCompiler.apply_converters``)."""
    rows = [list(row) for row in found]
    for place, (convert, expression) in converters.items():
        for row in rows:
            for each in convert:
                row[place] = each(row[place], expression, connection)
    return rows


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
