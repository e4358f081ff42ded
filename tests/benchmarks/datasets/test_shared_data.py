"""Tests of data that all tasks of a dataset share: stored once, read once, given to episodes."""

import json

import pytest
from django.core.management import CommandError, call_command

from benchmarks import mappers
from benchmarks.datasets.files import import_dataset
from benchmarks.mappers import core_task
from benchmarks.models import Dataset, SharedData, Task
from benchmarks.systems.planbench_xl import world
from benchmarks.systems.planbench_xl.world.build import build
from tests.factories.benchmarks import TaskFactory

pytestmark = pytest.mark.django_db
FOLDER = world.DATA


def test_a_folder_is_imported_once(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        call_command("import_planbench_xl", str(FOLDER), name="Small world", domain=world.DOMAIN)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("Small world 1: 15 tasks. ")
    assert second == "already imported as Small world 1, nothing added"
    assert (Dataset.objects.count(), Task.objects.count(), SharedData.objects.count()) == (1, 15, 1)


def test_odd_entries_are_named_and_the_folder_is_imported(
    tmp_path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = build()
    for number in (2, 5):
        task = content["tasks"][number]
        task["input_datatypes"] = [*task["input_datatypes"], "nickname"]
    for name, value in content.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")

    call_command("import_planbench_xl", str(tmp_path), name="Odd", domain=world.DOMAIN)

    said = capsys.readouterr()
    assert said.out.startswith("Odd 1: 15 tasks. ")
    first, second = said.err.splitlines()
    assert first.startswith("warning: tasks.json, entry 2 (") and "'nickname'" in first
    assert second.startswith("warning: tasks.json, entry 5 (") and "'nickname'" in second


def test_a_folder_of_something_else_is_refused(tmp_path) -> None:
    with pytest.raises(CommandError, match=r"nothing imported:\n.*expected a file datatypes.json"):
        call_command("import_planbench_xl", str(tmp_path))
    assert not Dataset.objects.exists()


def test_every_episode_gets_it(django_assert_num_queries) -> None:
    dataset = import_dataset(
        system="planbench_xl", paths=[FOLDER], name="Small world", options={"domain": world.DOMAIN}
    ).saved.dataset
    mappers._content.cache_clear()
    tasks = list(Task.objects.select_related("dataset"))
    with django_assert_num_queries(1):
        given = [core_task(task, None) for task in tasks]
    assert all(task.shared is given[0].shared for task in given)
    assert given[0].shared["checksum"] == dataset.checksum
    loaded = {task.id: task for task in world.load_world().tasks}
    assert {task.id: dict(task.payload) for task in given} == {
        key: dict(task.payload) for key, task in loaded.items()
    }


def test_a_dataset_without_any_costs_no_query(django_assert_num_queries) -> None:
    task = TaskFactory()
    with django_assert_num_queries(0):
        assert core_task(task, None).shared == {}
