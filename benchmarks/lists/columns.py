"""Columns of lists: what a list can show, what a person chose, and the whole list as CSV."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from benchmarks.models import ListColumns
from benchmarks.tables import csv_lines

M = TypeVar("M", bound=Model)
# The lists whose columns can be chosen; their views and templates have the same names.
LISTS = frozenset({
    "agents", "annotators", "datasets", "endpoints", "experiments", "items", "judges", "papers",
    "rejudgings", "runs", "sessions", "studies", "tables", "tasks", "trajectories",
})  # fmt: skip
CHUNK = 500
# Of all systems that a list of trajectories may show.
MOST_KEPT = 500
CSV = "csv"


@dataclass(frozen=True)
class ListColumn:
    """A column of a list.

    ``fields`` are its columns in the CSV file, each with the path of its value in a row, such as
    ``run.agent.name``, or a function that reads it.
    ``usual``: shown until a person chooses otherwise. ``fixed``: always shown.
    """

    key: str
    title: str
    fields: Mapping[str, str | Callable[[Any], Any]]
    usual: bool = True
    fixed: bool = False


@dataclass(frozen=True)
class ColumnChoice:
    """The columns of a list for one person: ``hidden`` are the keys that the page leaves out."""

    list: str
    offered: Sequence[tuple[ListColumn, bool]]
    here: str
    csv_url: str

    @property
    def hidden(self) -> frozenset[str]:
        return frozenset(column.key for column, shown in self.offered if not shown)


def column_choice(
    request: HttpRequest,
    name: str,
    columns: Sequence[ListColumn],
    *,
    with_csv: bool = True,
    file_format: str = CSV,
) -> ColumnChoice:
    """Return which of the columns the person who asks wants to see; one query.

    A page with two lists asks for the file of the second by a ``file_format`` of its own.
    """
    stored = ListColumns.objects.filter(user_id=request.user.pk or 0, list=name)
    chosen = stored.values_list("shown", flat=True).first() or {}
    offered = [
        (column, bool(chosen.get(column.key, column.usual)))
        for column in columns
        if not column.fixed
    ]
    params = request.GET.copy()
    here = f"{request.path}?{params.urlencode()}" if params else request.path
    for place in ("after", "before", "page"):
        params.pop(place, None)
    params["format"] = file_format
    csv_url = f"{request.path}?{params.urlencode()}" if with_csv else ""
    return ColumnChoice(name, offered, here, csv_url)


def choose_columns(*, user_id: int, name: str, shown: Mapping[str, bool]) -> None:
    """Keep which columns a person sees; those that the page did not offer stay as they were."""
    row, _ = ListColumns.objects.get_or_create(user_id=user_id, list=name)
    row.shown = dict(list({**row.shown, **shown}.items())[-MOST_KEPT:])
    row.save(update_fields=["shown"])


def wants_csv(request: HttpRequest) -> bool:
    """Return whether the list is asked for as a file."""
    return request.GET.get("format") == CSV


def list_csv(
    name: str, columns: Iterable[ListColumn], rows: Iterable[Any]
) -> StreamingHttpResponse:
    """Send all rows of a list with all its columns, whichever of them the page shows."""
    fields = {key: value for column in columns for key, value in column.fields.items()}

    def lines() -> Iterator[Iterable[Any]]:
        yield fields
        for row in rows:
            yield [_value(row, path) for path in fields.values()]

    response = StreamingHttpResponse(csv_lines(lines()), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    return response


def _value(row: Any, path: str | Callable[[Any], Any]) -> Any:
    if not isinstance(path, str):
        return path(row)
    for name in path.split("."):
        row = row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)
    return row


def every_row(rows: QuerySet[M]) -> Iterator[list[M]]:
    """Yield all rows of a list in its order, some at a time, for what is computed per page."""
    ids = list(rows.values_list("pk", flat=True))
    for start in range(0, len(ids), CHUNK):
        by_id = rows.in_bulk(ids[start : start + CHUNK])
        yield [by_id[pk] for pk in ids[start : start + CHUNK] if pk in by_id]
