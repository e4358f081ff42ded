"""SQL that is built already runs as Django would run it."""

from operator import methodcaller

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from benchmarks.executing import Sql, execute
from benchmarks.models import Dataset
from tests.factories.benchmarks import DatasetFactory

pytestmark = pytest.mark.django_db
ROWS = methodcaller("fetchall")
ONCE = "SELECT %s, '100 %%' WHERE 1 = %s"


def ask(text: str, *params: object) -> list[tuple[object, ...]]:
    return [tuple(row) for row in execute(connection, Sql(text, connection.vendor), params, ROWS)]


def test_marks_are_filled_and_signs_stay() -> None:
    for listens in (False, True):
        with CaptureQueriesContext(connection) if listens else transaction.atomic():
            assert ask(ONCE, "a %s b", 1) == [("a %s b", "100 %")]
            assert ask(ONCE, "a", 2) == []


def test_whoever_listens_is_told() -> None:
    with CaptureQueriesContext(connection) as asked:
        ask(ONCE, "a", 1)
    assert ["100 %" in query["sql"] for query in asked.captured_queries] == [True]
    heard: list[str] = []

    def hear(run, sql, params, many, context):  # type: ignore[no-untyped-def]
        heard.append(sql)
        return run(sql, params, many, context)

    with connection.execute_wrapper(hear):
        ask(ONCE, "a", 1)
    assert heard == [ONCE]


def test_errors_are_djangos_and_end_the_transaction() -> None:
    dataset = DatasetFactory()
    again = f"INSERT INTO {Dataset._meta.db_table} (id) VALUES (%s)"
    with pytest.raises(TransactionManagementError), transaction.atomic():
        with pytest.raises(IntegrityError):
            ask(again, dataset.pk)
        transaction.set_rollback(True)
        ask(ONCE, "a", 1)
    assert ask(ONCE, "a", 1) == [("a", "100 %")]
