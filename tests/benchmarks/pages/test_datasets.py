"""Datasets, tasks and agents."""

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from benchmarks.jobs.services import perform
from benchmarks.models import Dataset, Job, Run, Upload
from benchmarks.pages import datasets as datasets
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.systems.adaplanbench.dataset import ROUND
from tests.factories.benchmarks import (
    AgentFactory,
    ConstraintFactory,
    DatasetFactory,
    ProfileFactory,
    RunFactory,
    TaskFactory,
    save_sample_dataset,
)
from tests.visitors import without_tokens

HOSTILE = "</textarea><script>alert('x')</script>\" onmouseover=\"y"


def test_the_list_says_what_to_do_when_it_is_empty(researcher: Client) -> None:
    page = researcher.get(reverse("benchmarks:dataset_list")).content.decode()
    assert "No datasets yet" in page
    assert "import_dataset" in page


def test_a_line_names_source_and_sizes(researcher: Client, played: Run) -> None:
    page = researcher.get(reverse("benchmarks:dataset_list")).content.decode()
    assert "Sample" in page
    assert "Written for the tests" in page
    assert f"/runs/?dataset={played.dataset_id}" in page


def test_the_sizes_of_levels(researcher: Client) -> None:
    """Two profiles at one level hold 1 and 3 world constraints, 2 in the mean, and 1 and 0 user."""
    dataset = DatasetFactory()
    for worlds, users in ((1, 1), (3, 0)):
        profile = ProfileFactory(task=TaskFactory(dataset=dataset), level="mid", rank=2)
        ConstraintFactory.create_batch(worlds, profile=profile)
        ConstraintFactory.create_batch(users, profile=profile, kind="user")
    sizes = researcher.get(reverse("benchmarks:dataset", args=[dataset.pk])).context["sizes"]
    assert sizes.kinds == ("World", "User")
    (row,) = sizes.rows
    assert (row.level, row.profiles, row.means, row.total) == ("mid", 2, (2.0, 0.5), 2.5)


def test_tasks_are_paged_and_found_by_words(
    researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "TASKS", 2)
    dataset = DatasetFactory()
    for n in range(5):
        TaskFactory(dataset=dataset, external_id=f"t{n}", prompt=f"How do I {'dry' * (n == 3)} it?")
    url = reverse("benchmarks:dataset", args=[dataset.pk])
    seen = []
    address = url
    for _ in range(3):
        page = researcher.get(address).context["tasks"]
        seen += [task.external_id for task in page.rows]
        address = url + page.next_url
    assert seen == ["t0", "t1", "t2", "t3", "t4"]
    assert page.next_url == ""
    back = researcher.get(url + page.previous_url).context["tasks"]
    assert [task.external_id for task in back.rows] == ["t2", "t3"]
    found = researcher.get(url, {"q": "DRY"}).context["tasks"]
    assert [task.external_id for task in found.rows] == ["t3"]
    assert "No task matches" in researcher.get(url, {"q": "zeppelin"}).content.decode()


def test_the_search_as_a_fragment_is_the_same_table(researcher: Client) -> None:
    dataset = save_sample_dataset()
    url = reverse("benchmarks:dataset", args=[dataset.pk])
    part = researcher.get(url, {"q": "costume"}, headers={"HX-Request": "true"}).content.decode()
    assert part.strip().startswith('<div id="task-rows">') or 'id="task-rows"' in part[:200]
    assert "<html" not in part
    page = researcher.get(url, {"q": "costume"}).content.decode()
    assert without_tokens(part.strip()) in without_tokens(page)


def test_constraints_grow_from_level_to_level(researcher: Client) -> None:
    task = save_sample_dataset(1).tasks.get()
    levels = researcher.get(reverse("benchmarks:task", args=[task.pk])).context["levels"]
    assert [level.level for level in levels] == ["low", "mid", "high"]
    assert levels[0].added == levels[0].size
    for before, level in zip(levels, levels[1:], strict=False):
        assert level.size == before.size + level.added
    assert [kind for kind, _ in levels[0].kinds] == ["World", "User"]


def test_known_plans_tell_author_verdict_and_quality(researcher: Client) -> None:
    plan = {"key": "p1", "steps": ["Fetch it."], "tools": ["a rope"], "author": "Prolific",
            "verdict": "efficient", "quality": {"safety": 4}}  # fmt: skip
    task = TaskFactory(payload={"plans": [plan], "reference": "p1"})
    page = researcher.get(reverse("benchmarks:task", args=[task.pk])).content.decode()
    for words in ("Fetch it.", "a rope", "Prolific", "people: efficient", "safety 4", "reference"):
        assert words in page


def test_a_task_without_constraints_and_plans_says_so(researcher: Client) -> None:
    task = TaskFactory(dataset__system="external")
    page = researcher.get(reverse("benchmarks:task", args=[task.pk])).content.decode()
    assert "No hidden constraints" in page
    assert "Known plans" not in page


def test_agents_by_kind_with_their_runs(researcher: Client, played: Run) -> None:
    AgentFactory(title="Llama at home", kind="endpoint")
    page = researcher.get(reverse("benchmarks:agent_list"))
    runs = {agent.name: agent.run_count for agent in page.context["agents"]}
    assert runs["explorer"] == 1
    assert runs["forgetful"] == 0
    assert "Llama at home" in page.content.decode()
    assert "Even-handed judge" in page.content.decode()


def test_no_agents_yet(researcher: Client) -> None:
    assert "No agents yet" in researcher.get(reverse("benchmarks:agent_list")).content.decode()


class TestImport:
    URL = "/datasets/import/"

    def send(self, client: Client, data: Any, **more: str) -> Any:
        text = data if isinstance(data, str) else json.dumps(data)
        file = SimpleUploadedFile("queries.json", text.encode())
        sent = client.post(self.URL, {"file": file, "name": "Mine", **more})
        if sent.status_code == 302:
            perform(job_id=Job.objects.latest("pk").pk, owner="test")
            return client.get(sent.headers["Location"])
        return sent

    def queries(self, query: str = "How do I dry it?") -> dict[str, Any]:
        pool = {"tools": ["No rope."], "prefs": [], "metadata": {ROUND: 1}}
        return {"data": [{"query_id": "q1", "query": query, "ban_pool": [pool]}]}

    def test_a_sound_file_is_stored_and_shown(self, researcher: Client) -> None:
        page = self.send(researcher, self.queries(), licence="CC BY 4.0")
        dataset = Dataset.objects.get()
        assert f'href="/datasets/{dataset.pk}/"' in page.content.decode()
        assert (dataset.name, dataset.source, dataset.licence) == (
            "Mine", "queries.json", "CC BY 4.0",
        )  # fmt: skip
        assert "Imported Mine 1: 1 task." in page.content.decode()
        assert not Upload.objects.exists()
        again = self.send(researcher, self.queries())
        assert "nothing was added" in again.content.decode()
        assert Dataset.objects.count() == 1

    @pytest.mark.parametrize("text", ["[]", "{", '{"data": []}', '{"data": [{"query": 7}]}'])
    def test_a_faulty_file_changes_nothing(self, researcher: Client, text: str) -> None:
        assert "Nothing was imported: " in self.send(researcher, text).content.decode()
        assert not Dataset.objects.exists()

    def test_an_empty_file_is_refused_at_once(self, researcher: Client) -> None:
        assert self.send(researcher, "").status_code == 422
        assert not Job.objects.exists()

    def test_while_it_waits_the_page_asks_for_itself(self, researcher: Client) -> None:
        file = SimpleUploadedFile("queries.json", b"{}")
        sent = researcher.post(self.URL, {"file": file, "name": "Mine"})
        page = researcher.get(sent.headers["Location"]).content.decode()
        progress = f"{sent.headers['Location']}progress/"
        assert f'hx-get="{progress}?v=' in page and "Waiting for a worker" in page
        assert researcher.get(progress).status_code == 200
        perform(job_id=Job.objects.get().pk, owner="test")
        assert researcher.get(progress).headers["HX-Refresh"] == "true"

    def test_faults_are_listed_and_escaped(self, researcher: Client) -> None:
        bad = [{"query_id": HOSTILE, "query": "", "ban_pool": HOSTILE} for _ in range(15)]
        page = self.send(researcher, {"data": bad}).content.decode()
        assert "errors in the file" in page
        assert "These are the first 20." in page
        assert "<script>alert" not in page

    def test_without_a_file(self, researcher: Client) -> None:
        response = researcher.post(self.URL, {"name": ""})
        assert response.status_code == 422
        assert response.content.decode().count("This field is required.") == 2


def test_texts_are_escaped(researcher: Client) -> None:
    plan = {"key": HOSTILE, "steps": [HOSTILE], "author": HOSTILE, "verdict": HOSTILE}
    dataset = DatasetFactory(name=HOSTILE, source=HOSTILE, notes=HOSTILE)
    task = TaskFactory(
        dataset=dataset, external_id=HOSTILE, prompt=HOSTILE, category=HOSTILE,
        payload={"plans": [plan], "reference": HOSTILE},
    )  # fmt: skip
    ConstraintFactory(profile__task=task, text=HOSTILE, about=f"tool:{HOSTILE}")
    RunFactory(dataset=dataset, agent__title=HOSTILE, experiment__name=HOSTILE)
    pages = [
        reverse("benchmarks:dataset_list"),
        reverse("benchmarks:dataset", args=[dataset.pk]),
        reverse("benchmarks:dataset", args=[dataset.pk]) + "?q=%3Cscript%3E",
        reverse("benchmarks:task", args=[task.pk]),
        reverse("benchmarks:agent_list"),
        reverse("benchmarks:run_list"),
    ]
    for url in pages:
        page = researcher.get(url).content.decode()
        assert "<script>alert" not in page, url
        assert 'onmouseover="y' not in page, url


def test_queries_do_not_grow_with_rows(
    researcher: Client, django_assert_max_num_queries: Any
) -> None:
    ensure_scripted_agents()
    dataset = save_sample_dataset(12)
    RunFactory.create_batch(8, dataset=dataset)
    DatasetFactory.create_batch(8)
    task = dataset.tasks.first()
    assert task is not None
    for url in (
        reverse("benchmarks:dataset_list"),
        reverse("benchmarks:dataset", args=[dataset.pk]),
        reverse("benchmarks:task", args=[task.pk]),
        reverse("benchmarks:agent_list"),
    ):
        with django_assert_max_num_queries(18):  # usable tasks, columns
            researcher.get(url)
