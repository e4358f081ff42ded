"""A run is verified from its page; its prompts can be read."""

import pytest
from django.test import Client
from django.urls import reverse

from benchmarks.jobs.services import perform
from benchmarks.models import Job, JudgeScore, Run
from tests.factories.benchmarks import play, save_sample_dataset, start_sample_runs


@pytest.fixture
def run(db: None) -> Run:
    """One short trajectory, carried to its end."""
    settings = {"max_turns": 1, "rubric_judges": 1}
    (run,) = start_sample_runs("explorer", dataset=save_sample_dataset(1), settings=settings)
    play(run)
    return run


def test_a_run_is_verified_from_its_page(run: Run, researcher: Client, reader: Client) -> None:
    address = reverse("benchmarks:run_verification", args=[run.pk])
    assert address in researcher.get(reverse("benchmarks:run", args=[run.pk])).content.decode()
    assert "Not verified yet" in reader.get(address).content.decode()
    assert reader.post(address).status_code == 403
    assert researcher.post(address).status_code == 302
    again = researcher.post(address, follow=True).content.decode()
    assert "is being verified already" in again
    assert "Waiting for a worker" in again
    job = Job.objects.get()
    part = {"HTTP_HX_REQUEST": "true"}
    assert reader.get(f"{address}?v=queued-0", **part).status_code == 204
    perform(job_id=job.pk, owner="test")
    assert reader.get(address, **part).headers["HX-Refresh"] == "true"
    page = reader.get(address).content.decode()
    assert "1 the same" in page
    assert "for researcher" in page
    assert "Verify again" not in page


def test_the_page_says_where_something_differs(run: Run, researcher: Client) -> None:
    JudgeScore.objects.filter(run=run).update(reason="<b>no score</b>")
    address = reverse("benchmarks:run_verification", args=[run.pk])
    researcher.post(address)
    perform(job_id=Job.objects.get().pk, owner="test")
    page = researcher.get(address).content.decode()
    assert "1 differ" in page
    assert "turn 1, score 1" in page
    assert "&lt;b&gt;no score" in page
    assert "Verify again" in page


def test_an_imported_run_has_nothing_to_derive(run: Run, researcher: Client) -> None:
    Run.objects.update(kind=Run.Kind.IMPORTED)
    page = researcher.post(
        reverse("benchmarks:run_verification", args=[run.pk]), follow=True
    ).content.decode()
    assert "Nothing to recompute" in page
    assert not Job.objects.exists()


def test_prompts_are_read_by_version(run: Run, reader: Client, stranger: Client) -> None:
    page = reader.get(reverse("benchmarks:run", args=[run.pk])).content.decode()
    assert "As recorded when the run was made" in page
    address = reverse("benchmarks:prompts", args=["adaplanbench", "1"])
    assert address in page
    found = reader.get(address).content.decode()
    assert "$constraints" in found
    assert run.pins["prompt_files"]["agent.v1.txt"] in found
    assert stranger.get(address).status_code == 403
    for nowhere in (["adaplanbench", "99"], ["external", "1"], ["none", "1"]):
        assert reader.get(reverse("benchmarks:prompts", args=nowhere)).status_code == 404
    files = {**run.pins["prompt_files"], "agent.v1.txt": "0" * 32}
    Run.objects.update(pins={**run.pins, "prompt_files": files})
    page = reader.get(reverse("benchmarks:run", args=[run.pk])).content.decode()
    assert page.count("another text now") == 1
