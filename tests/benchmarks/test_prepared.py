"""Prepared queries find what the ORM finds, each time with the values of that time."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import F
from django.db.transaction import TransactionManagementError
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from benchmarks.models import Dataset, Job, Task, Trajectory
from benchmarks.prepared import Prepared, PreparedUpdate, add_row, add_rows, change_row
from tests.factories.benchmarks import DatasetFactory, TaskFactory, TrajectoryFactory
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


def test_small_columns_are_asked_too() -> None:
    first, second = TrajectoryFactory(attempt=1), TrajectoryFactory(attempt=2)
    tried = Prepared(
        lambda attempt: Trajectory.objects.filter(attempt=attempt).order_by("pk"), attempt=int
    )
    assert (tried.all(attempt=1), tried.all(attempt=2)) == ([first], [second])


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


FURTHER = PreparedUpdate(
    lambda pk, by, until, words: (
        Job.objects.filter(pk=pk, done__lt=100),
        {"done": F("done") + by, "lease_until": until, "message": words},
    ),
    pk=int,
    by=int,
    until=datetime,
    words=str,
)


def make_job(**fields: Any) -> Job:
    return add_row(Job(kind="trial", title="A trial", payload={"a": ["ä", None]}, **fields))


def test_a_row_is_stored_as_save_would() -> None:
    before = timezone.now()
    with CaptureQueriesContext(connection) as asked:
        job, other = make_job(lease_until=NOON), make_job()
    assert len(asked) == 2
    assert (job.pk, other.pk) == tuple(Job.objects.order_by("pk").values_list("pk", flat=True))
    stored = Job.objects.get(pk=job.pk)
    saved = Job.objects.create(kind="trial", title="A trial", payload={"a": ["ä", None]})
    differ = {"id", "created_at", "lease_until"}
    for field in Job._meta.concrete_fields:
        value = getattr(stored, field.attname)
        assert value == getattr(job, field.attname), field.name
        if field.name not in differ:
            assert value == getattr(saved, field.attname), field.name
    assert stored.lease_until == NOON
    assert before <= stored.created_at <= timezone.now()


def test_a_stored_row_is_not_added_again() -> None:
    job = make_job()
    job.message = "changed"
    with pytest.raises(ValueError, match="stored already"):
        add_row(job)
    job.save()
    assert Job.objects.get().message == "changed"


def test_many_rows_are_stored_at_once() -> None:
    payloads = [{"n": n, "ä": [None]} for n in range(30)]
    add_rows([])
    add_rows([Job(kind="trial", title=f"{p['n']}", payload=p) for p in payloads])
    add_rows([Job(kind="trial", title="one more", lease_until=NOON)])
    stored = list(Job.objects.order_by("pk"))
    assert [job.payload for job in stored[:-1]] == payloads
    assert (stored[-1].title, stored[-1].lease_until) == ("one more", NOON)


def test_rows_that_are_there_are_left_out_where_that_is_wanted() -> None:
    dataset = DatasetFactory(name="first")
    fields = {f.attname: getattr(dataset, f.attname) for f in Dataset._meta.concrete_fields[1:]}
    rows = [Dataset(**fields), Dataset(**{**fields, "name": "other", "checksum": "else"})]
    with pytest.raises(IntegrityError), transaction.atomic():
        add_rows(rows)
    add_rows(rows, ignore_conflicts=True)
    assert set(Dataset.objects.values_list("name", flat=True)) == {"first", "other"}


def test_a_row_is_changed_where_it_still_is_as_expected() -> None:
    job = make_job(done=3, message="new")
    changed = Job(pk=job.pk, done=4, payload=[1], lease_until=None)
    assert not change_row(changed, "done", "payload", message="old")
    assert not change_row(Job(pk=job.pk + 1, done=4), "done", message="new")
    assert change_row(changed, "done", "payload", message="new")
    assert change_row(Job(pk=job.pk, message="newer"), "message")
    job.refresh_from_db()
    assert (job.done, job.payload, job.message) == (4, [1], "newer")


def test_what_one_thread_has_built_serves_another() -> None:
    """On its own connection: rows of one are found by the other once they are committed."""
    made = make_job(done=7)
    statement = Prepared(lambda pk: Job.objects.filter(pk=pk), pk=int)
    assert [job.done for job in statement.all(pk=made.pk)] == [7]
    built = dict(statement._made)

    def elsewhere() -> object:
        try:
            return statement._made == built and statement.all(pk=-1)
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(elsewhere).result() == []
    assert statement._made == built


def test_rows_are_changed_by_the_values_given_now() -> None:
    job, other = make_job(done=3), make_job(done=4)
    assert FURTHER.run(pk=job.pk, by=2, until=NOON, words="on its way") == 1
    assert FURTHER.run(pk=job.pk, by=-1, until=None, words="") == 1
    assert FURTHER.run(pk=other.pk, by=99, until=NOON, words="nearly") == 1
    assert FURTHER.run(pk=other.pk, by=1, until=None, words="too late") == 0
    found = Job.objects.order_by("pk").values_list("done", "lease_until", "message")
    assert list(found) == [(4, None, ""), (103, NOON, "nearly")]


def test_what_the_database_refuses_ends_the_transaction() -> None:
    dataset = DatasetFactory()
    again = Dataset(**{field.attname: getattr(dataset, field.attname) for field in
                       Dataset._meta.concrete_fields if field.name != "id"})  # fmt: skip
    with pytest.raises(IntegrityError), transaction.atomic():
        add_row(again)
    assert Dataset.objects.get() == dataset


def test_rows_that_need_more_than_one_query_are_refused() -> None:
    with pytest.raises(ValueError, match="not read here"):
        Prepared(lambda pk: Task.objects.filter(pk=pk).prefetch_related("dataset"), pk=int).all(
            pk=1
        )
    with pytest.raises(ValueError, match="not made here"):
        Prepared(lambda pk: Task.objects.filter(pk=pk).values("pk"), pk=int).all(pk=1)
