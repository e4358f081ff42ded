"""Read rows as the database returns them, where converting them costs more than finding them."""

from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import QuerySet


def plain_rows(rows: QuerySet[Any, Any]) -> list[tuple[Any, ...]]:
    """The values that ``values_list`` names, without the ORM's conversions.

    For numbers and texts: both engines give them as Python has them. Aggregates of numbers too.
    """
    try:
        sql, params = rows.query.sql_with_params()
    except EmptyResultSet:
        return []
    with connections[rows.db].cursor() as cursor:
        cursor.execute(sql, params)
        return list(cursor.fetchall())
