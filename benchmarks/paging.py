"""Pages of a list by key: the next page begins after the last row seen, however long the list."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db.models import Model, QuerySet
from django.http import QueryDict

M = TypeVar("M", bound=Model)
CAP = 1000
FARTHEST = 10**9  # no list is longer, and no database takes an endless number


@dataclass(frozen=True)
class RowPage(Generic[M]):
    """Rows with the addresses of the neighbouring pages, empty where there is none."""

    rows: Sequence[M]
    previous_url: str
    next_url: str


def as_id(text: str) -> int | None:
    """Return a key from an address; None for anything that cannot be one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def page_by_id(
    rows: QuerySet[M], params: QueryDict, *, size: int, newest: bool = True, key: str = "pk"
) -> RowPage[M]:
    """Return one page of ``rows`` by id, newest or oldest first, as ``after`` or ``before`` ask
    for.

    ``key`` names another whole number by which the rows are ordered. One query; a further row than
    is shown tells whether the list goes on.
    """
    after, before = as_id(params.get("after", "")), as_id(params.get("before", ""))
    backwards = before is not None
    falling = newest != backwards
    anchor = before if backwards else after
    if anchor is not None:
        rows = rows.filter(**{f"{key}__{'lt' if falling else 'gt'}": anchor})
    page_rows = list(rows.order_by(f"-{key}" if falling else key)[: size + 1])
    more, page_rows = len(page_rows) > size, page_rows[:size]
    if backwards:
        page_rows.reverse()
    has_previous = more if backwards else anchor is not None
    has_next = bool(page_rows) if backwards else more
    return RowPage(
        page_rows,
        _with(params, "before", getattr(page_rows[0], key)) if page_rows and has_previous else "",
        _with(params, "after", getattr(page_rows[-1], key)) if page_rows and has_next else "",
    )


def page_by_number(rows: QuerySet[M], params: QueryDict, *, size: int) -> RowPage[M]:
    """Return one page of ``rows`` in their own order, as the number ``page`` asks for."""
    number = max(1, as_id(params.get("page", "")) or 1)
    begin = min((number - 1) * size, FARTHEST)
    page_rows = list(rows[begin : begin + size + 1])
    return RowPage(
        page_rows[:size],
        _with(params, "page", number - 1) if number > 1 else "",
        _with(params, "page", number + 1) if len(page_rows) > size else "",
    )


def _with(params: QueryDict, name: str, key: int) -> str:
    """Return the same address with this key in place of the ones it had."""
    changed = params.copy()
    for old in ("after", "before", "page"):
        changed.pop(old, None)
    changed[name] = str(key)
    return "?" + changed.urlencode()


def count_up_to(rows: QuerySet[M], one: str, many: str, cap: int = CAP) -> str:
    """Return how many rows, in words; beyond the cap nobody counts."""
    count = rows.order_by()[: cap + 1].count()
    number = f"more than {cap:,}" if count > cap else f"{count:,}"
    return f"{number} {one if count == 1 else many}"
