"""Candidates on the pages of tasks and datasets, and to whom they are closed."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from benchmarks import visibility as blinding
from benchmarks.api.tokens import create_token
from benchmarks.construction.candidates import save_candidates
from benchmarks.models import Candidate, Task
from benchmarks.systems.adaplanbench.demo import load_demo_tasks
from benchmarks.systems.adaplanbench.demo_datasets import demo_candidates
from tests.factories.benchmarks import TaskFactory, TrajectoryFactory, save_sample_dataset

HOSTILE = "</textarea><script>alert('x')</script>\" onmouseover=\"y"


@pytest.fixture
def task(db: None) -> Task:
    dataset = save_sample_dataset(2)
    save_candidates(dataset=dataset, rows=demo_candidates(load_demo_tasks()[:2]))
    return dataset.tasks.order_by("pk")[0]


def page(client: Client, task: Task, name: str = "task") -> str:
    key = task.pk if name == "task" else task.dataset_id
    return client.get(reverse(f"benchmarks:{name}", args=[key])).content.decode()


@contextmanager
def closed_to(name: str, task: Task, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A study as an app above would have one: the task is closed to one person."""
    with monkeypatch.context() as patch:
        patch.setattr(blinding, "_rules", [])
        blinding.blinding_rule(
            lambda user: blinding.ClosedRows(tasks=[task.pk] if user.username == name else [])
        )
        yield


def test_kept_and_removed_with_reason_and_round(researcher: Client, task: Task) -> None:
    text = page(researcher, task)
    assert "10 kept, 7 removed (41.2 % of 17). Checker: scripted." in text
    removed = Candidate.objects.filter(task=task, decision="removed")
    assert all(row.text in text and row.reason in text for row in removed)
    assert "Round 2" in text
    assert "truth" not in text


def test_the_share_removed_of_a_dataset(researcher: Client, task: Task) -> None:
    """The first two tasks have 10 and 12 constraints, and 7 and 8 that were removed."""
    text = page(researcher, task, "dataset")
    assert "40.5 %</strong> (15 of n = 37 decided)" in text


def test_without_candidates_nothing_is_said_of_them(researcher: Client) -> None:
    task = TaskFactory()
    assert "Candidate constraints" not in page(researcher, task) + page(researcher, task, "dataset")


def test_undecided_ones_and_other_deciders(researcher: Client) -> None:
    task = TaskFactory()
    row = {"task": task, "kind": "user"}
    Candidate.objects.create(**row, key="u1", text=HOSTILE)
    assert "Proposed for this task: 1. Nothing was decided" in page(researcher, task)
    assert "Nothing was decided about the candidates." in page(researcher, task, "dataset")
    for n, name in enumerate(("first", HOSTILE), 2):
        Candidate.objects.create(
            **row, key=f"u{n}", text=f"No {n}.", decision="kept", decided_by=name, reason=HOSTILE
        )
    text = page(researcher, task)
    assert "2 kept, 0 removed (0.0 % of 2), 1 undecided" in text
    assert "Round not known · first" in text
    assert "<script>alert" not in text and 'onmouseover="y' not in text


def test_decisions_do_not_reach_those_to_whom_a_task_is_closed(
    researcher: Client, reader: Client, task: Task, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor the constraints: what was kept is the profile."""
    played = TrajectoryFactory(task=task, run__dataset=task.dataset, profile=task.profiles.first())
    other = task.dataset.tasks.exclude(pk=task.pk).get()
    _, token = create_token(user=User.objects.get(username="researcher"), name="t")
    api = {"Authorization": f"Bearer {token}"}
    with closed_to("researcher", task, monkeypatch):
        address = reverse("benchmarks:task", args=[task.pk])
        assert researcher.get(address).status_code == 404
        assert "while you annotate blind" in page(researcher, task)
        trajectory = reverse("analysis:trajectory", args=[played.pk])
        assert researcher.get(trajectory).status_code == 404
        assert reader.get(trajectory).status_code == 200
        assert not researcher.get(reverse("analysis:trajectory_list")).context["page"].rows
        assert "Candidate constraints" not in page(researcher, task, "dataset")
        assert "Candidate constraints" in page(researcher, other)
        assert "Candidate constraints" in page(reader, task) + page(reader, task, "dataset")
        assert Client().get(f"/api/v1/tasks/{task.pk}", headers=api).status_code == 404
        assert Client().get(f"/api/v1/tasks/{other.pk}", headers=api).status_code == 200
    assert "Candidate constraints" in page(researcher, task)
