"""Pages of runs made elsewhere: what there is, and in words what there is not."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from analysis.urls import PAGES
from benchmarks.models import Run, Task, Trajectory
from benchmarks.services.imports import import_trajectories
from tests.benchmarks.importers import samples


@pytest.fixture
def imported(db: None, tmp_path: Path) -> Run:
    """Two tasks of tau-bench, twice each."""
    path = samples.write(tmp_path / "gpt-9-bags.json", samples.tau_bench())
    return import_trajectories(path=path, format="tau-bench", name="Bags").runs[0]


def text_of(client: Client, name: str, *args: Any, **query: Any) -> str:
    response = client.get(reverse(f"benchmarks:{name}", args=args), query)
    assert response.status_code == 200
    return response.content.decode()


def test_the_run_tells_reward_ending_and_turns(researcher: Client, imported: Run) -> None:
    page = text_of(researcher, "run", imported.pk)
    for words in ("Reward", "Full reward", "100.0 %", "User was done", "4 of 4", "Made elsewhere"):
        assert words in page, words
    assert "rubric scores are not known here" in page
    assert "gpt-9-bags.json" in page and imported.checksum in page


def test_the_list_tells_rewards(researcher: Client, imported: Run) -> None:
    page = text_of(researcher, "trajectory_list", run=imported.pk)
    assert page.count("reward 1<") == 4
    assert "made elsewhere: no judge looked for violations" in page
    assert "User was done" in page


def test_a_trajectory_shows_messages_calls_and_what_was_hidden(
    researcher: Client, imported: Run
) -> None:
    found = Trajectory.objects.order_by("pk")[0]
    page = text_of(researcher, "trajectory", found.pk)
    for words in (
        "Be brief.", "Where is my bag?", "calls look_up", "&quot;a&quot;: 1", "in Oslo", "In Oslo.",
        "Hidden from the agent", "You lost a bag.", "Reward 1.", "Reward info",
    ):  # fmt: skip
        assert words in page, words
    assert "Last plan, turn" not in page


def test_what_the_user_did_alone_is_marked(researcher: Client, tmp_path: Path) -> None:
    import_trajectories(path=samples.write_sample(tmp_path, "tau2"), format="tau2")
    page = text_of(researcher, "trajectory", Trajectory.objects.get().pk)
    assert page.count("hidden from the agent</span>") == 2
    assert "calls toggle for the user" in page


def test_the_dataset_cannot_be_run(researcher: Client, imported: Run) -> None:
    page = text_of(researcher, "dataset", imported.dataset_id)
    assert "Start runs on it" not in page
    assert "nothing can be run on them here" in page
    assert "Bags" not in text_of(researcher, "run_new")


def test_a_task_shows_what_was_hidden(researcher: Client, imported: Run) -> None:
    page = text_of(researcher, "task", Task.objects.order_by("pk")[0].pk)
    assert "You lost a bag." in page
    assert "Nothing is hidden here" not in page


def test_other_pages_stand(researcher: Client, imported: Run) -> None:
    ids = list(Trajectory.objects.values_list("pk", flat=True)[:2])
    assert "In Oslo." in text_of(researcher, "compare", t=ids)
    assert "gpt-9-bags" in text_of(researcher, "agent_list")
    assert "Bags" in text_of(researcher, "run_list")
    assert "Nothing is stored" in text_of(researcher, "trajectory_exchanges", ids[0])


@pytest.mark.parametrize("name", PAGES)
def test_analysis_says_what_is_missing(admin: Client, imported: Run, name: str) -> None:
    response = admin.get(reverse(f"analysis:{name}"), {"dataset": imported.dataset_id})
    assert response.status_code == 200
    page = response.content.decode()
    if name in ("leaderboard", "rubric", "decline", "dispersion"):
        assert "Not known of trajectories made elsewhere" in page
        assert "scores of judges" in page


def test_queries_do_not_grow(
    researcher: Client, imported: Run, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(20):
        text_of(researcher, "trajectory", Trajectory.objects.order_by("pk")[0].pk)
    with django_assert_max_num_queries(20):
        text_of(researcher, "run", imported.pk)
