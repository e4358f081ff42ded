"""Prepared queries find what the ORM finds, each time with the values of that time."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection, transaction
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext

from benchmarks.models import Dataset, Task
from benchmarks.prepared import Prepared
from tests.factories.benchmarks import DatasetFactory, TaskFactory
from tests.threads import in_threads

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 5, 3, 12, tzinfo=UTC)

OF_DATASET = Prepared(
    lambda dataset, prompt: (
        Task.objects.filter(dataset=dataset, prompt=prompt)
        .select_related("dataset")
        .order_by("-external_id")
    ),
    dataset=int,
    prompt=str,
)
IDS = Prepared(
    lambda dataset: (
        Task.objects.filter(dataset=dataset).order_by("pk").values_list("pk", flat=True)
    ),
    dataset=int,
)
LOCKED = Prepared(
    lambda pk: Dataset.objects.select_for_update(no_key=True).filter(pk=pk)[:1], pk=int
)


def test_rows_are_those_of_the_values_given_now() -> None:
    first, second = TaskFactory(payload={"a": [1, 2]}), TaskFactory(prompt="Why?")
    third = TaskFactory(dataset=first.dataset, prompt=first.prompt)
    with CaptureQueriesContext(connection) as asked:
        found = OF_DATASET.all(dataset=first.dataset_id, prompt=first.prompt)
        assert found == [third, first]
        assert (found[1].payload, found[1].dataset.name) == ({"a": [1, 2]}, first.dataset.name)
        assert OF_DATASET.all(dataset=second.dataset_id, prompt="Why?") == [second]
        assert OF_DATASET.all(dataset=second.dataset_id, prompt="\x02prompt\x03") == []
        assert OF_DATASET.first(dataset=0, prompt="Why?") is None
        assert IDS.all(dataset=first.dataset_id) == [first.pk, third.pk]
    assert len(asked) == 5


def test_rows_are_read_anew() -> None:
    task = TaskFactory()
    assert OF_DATASET.all(dataset=task.dataset_id, prompt=task.prompt) == [task]
    task.delete()
    assert OF_DATASET.all(dataset=task.dataset_id, prompt=task.prompt) == []


def test_a_value_that_is_no_part_of_the_query_is_an_error() -> None:
    with pytest.raises(ValueError, match="not in the query"):
        Prepared(lambda pk, other: Task.objects.filter(pk=pk), pk=int, other=int).all(pk=1, other=2)


@pytest.mark.django_db(transaction=True)
def test_locks_need_a_transaction() -> None:
    dataset = TaskFactory().dataset
    with pytest.raises(TransactionManagementError):
        LOCKED.first(pk=dataset.pk)
    with transaction.atomic():
        assert LOCKED.first(pk=dataset.pk) == dataset


@pytest.mark.django_db(transaction=True)
def test_each_thread_has_its_own() -> None:
    tasks = [TaskFactory() for _ in range(4)]

    def ask(number: int) -> None:
        for _ in range(20):
            assert IDS.all(dataset=tasks[number].dataset_id) == [tasks[number].pk]

    in_threads(ask, len(tasks))


def test_moments_are_given_as_the_database_takes_them() -> None:
    """Ids of edits, which are UUIDs, are looked up at every save."""
    later, earlier = DatasetFactory(), DatasetFactory()
    Dataset.objects.filter(pk=earlier.pk).update(created_at=NOON)
    Dataset.objects.filter(pk=later.pk).update(created_at=NOON + timedelta(microseconds=2))
    since = Prepared(
        lambda moment: Dataset.objects.filter(created_at__gte=moment).order_by("created_at"),
        moment=datetime,
    )
    assert since.all(moment=NOON) == [earlier, later]
    assert since.all(moment=NOON + timedelta(microseconds=1)) == [later]
    assert since.all(moment=NOON + timedelta(days=1)) == []
