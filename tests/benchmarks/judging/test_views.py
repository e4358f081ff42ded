"""Pages of judges: who judged, one tried on a turn, and re-judging stored trajectories."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from benchmarks.endpoints.services import create_endpoint
from benchmarks.jobs.services import perform
from benchmarks.models import Endpoint, Job, JudgeScore, Judging, Run
from benchmarks.runs import selectors as runs
from devtools.fake_endpoint.server import FakeServer
from tests.factories.benchmarks import RunFactory, play

pytestmark = pytest.mark.django_db
NEW, LIST, TRY = "/judges/anew/", "/judges/", "/judges/try/"


def text(response: Any) -> str:
    words = re.sub(r"<[^>]+>", " ", response.content.decode())
    return " ".join(words.replace("&#x27;", "'").split())


def answers(client: Client, chosen: str) -> dict[str, Any]:
    """Return what the form sends as it first stands, with what it chooses."""
    page = client.get(f"{NEW}?{chosen}")
    form = page.context["form"]
    given = {name: form[name].value() for name in form.fields if form[name].value() is not None}
    expected = page.context["scope"].trajectories
    return {**given, **dict(page.context["choice"]), "name": "Second look", "expected": expected}


def test_a_run_is_judged_anew_from_its_page(
    played: Run, researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_runs", lambda pks: None)
    assert f'href="{NEW}?run={played.pk}"' in researcher.get(f"/runs/{played.pk}/").content.decode()
    sent = answers(researcher, f"run={played.pk}")
    sent |= {"role_rubric_judge_2": "", "role_rubric_judge_3": "", "set_turns": "last"}
    assert "at most 3 times about 3 turns of 3 trajectories" in text(researcher.get(NEW, sent))

    made = researcher.post(NEW, sent)

    anew = Run.objects.get(kind=Run.Kind.JUDGING)
    assert made["Location"] == f"/runs/{anew.pk}/"
    assert anew.settings["rubric_judges"] == 1
    play(anew)
    page = text(researcher.get(f"/runs/{anew.pk}/"))
    assert "Second look" in page
    assert f"These judges score stored turns of run {played.pk}, Explorer" in page
    assert "Demo data" in page
    # Beside each figure stands the one under the run's own judges.
    own = {figure.name: figure.value for figure in runs.original_figures(anew)}
    assert own == {
        figure.name: figure.value
        for figure in runs.run_figures("adaplanbench", runs.run_metrics(played))
    }
    assert page.count("before: ") == len(own)
    assert "before: " not in text(researcher.get(f"/runs/{played.pk}/"))
    assert "Second look" in text(researcher.get(LIST))
    first = anew.trajectories.order_by("pk")[0]
    moved = researcher.get(f"/trajectories/{first.pk}/")
    assert moved["Location"] == f"/trajectories/{first.pk}/exchanges/"
    assert f"trajectory {first.judged_id}" in text(researcher.get(moved["Location"]))

    # Nothing of it counts before somebody lets it.
    judging = Judging.objects.get(made_by=anew)
    before = text(researcher.get(f"/runs/{played.pk}/"))
    assert "Make default" in before
    assert "are those of the judging" not in before
    researcher.post(f"/runs/{played.pk}/judging/", {"judging": judging.pk})
    assert "use the judging “Second look”" in text(researcher.get(f"/runs/{played.pk}/"))
    other = RunFactory()
    assert researcher.post(f"/runs/{other.pk}/judging/", {"judging": judging.pk}).status_code == 404


def test_what_a_list_shows_is_chosen(played: Run, researcher: Client) -> None:
    for query, wanted in (
        ("", played.trajectories.count()),
        ("&max_turns=1", played.trajectories.filter(turn_count=1).count()),
    ):
        listed = urlencode({"list": f"run={played.pk}{query}"})
        assert researcher.get(f"{NEW}?{listed}").context["scope"].trajectories == wanted
    assert "Nothing to re-judge" in text(researcher.get(NEW))


def test_what_does_not_hold_is_refused_with_the_form(played: Run, researcher: Client) -> None:
    sent = answers(researcher, f"run={played.pk}")
    for wrong, words in (
        ({"name": ""}, "Enter a name"),
        ({"expected": 2}, "There are 3 of them now"),
        ({"set_replicates": "9"}, "Expected at most 5"),
        ({"role_rubric_judge_1": "human", "set_calls": "per_dimension"}, "where people judge"),
    ):
        refused = researcher.post(NEW, sent | wrong)
        assert (refused.status_code, words in text(refused)) == (422, True), (wrong, text(refused))
    assert not Run.objects.filter(kind=Run.Kind.JUDGING).exists()


def test_a_script_is_tried_at_once_and_a_model_by_a_worker(
    played: Run, researcher: Client, server: FakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.jobs.wake_up.wake_for_job", lambda job_id: None)
    create_endpoint(
        name="fake", title="Fake", base_url=server.base_url, model="fake", timeout=5.0,
        simulated=True,
    )  # fmt: skip
    first = played.trajectories.order_by("pk")[0]
    before = JudgeScore.objects.count()
    sent = {"trajectory": first.pk, "turn": 1, "set_anchors": "descending"}

    tried = researcher.post(TRY, sent | {"judge": "rubric_judge/judge-strict"}, follow=True)
    told = text(tried)
    assert "Strict judge on turn 1" in told
    assert "Reply as received" in told and "Read as" in told
    assert "5: " in told and told.index("5: ") < told.index("3: ") < told.index("1: ")

    awaited = researcher.post(TRY, sent | {"judge": "rubric_judge/endpoint:fake"}, follow=True)
    assert "A worker is asking" in text(awaited)
    job = Job.objects.latest("pk")
    perform(job_id=job.pk, owner="test")
    page = text(researcher.get(f"{TRY}{job.pk}/"))
    assert "Read as" in page and "simulated" in page

    Endpoint.objects.update(simulated=False)
    researcher.post(TRY, sent | {"judge": "rubric_judge/endpoint:fake"})
    assert "endpoint on this machine" in text(
        researcher.get(f"{TRY}{Job.objects.latest('pk').pk}/")
    )

    wrong = researcher.post(TRY, sent | {"turn": 77, "judge": "rubric_judge/judge-strict"})
    assert wrong.status_code == 422
    assert JudgeScore.objects.count() == before


@pytest.mark.parametrize("wrong", ["abc", "0", "-1", "99999", "9" * 40])
def test_a_number_that_is_no_trajectory_s_is_told_on_the_page(
    researcher: Client, wrong: str
) -> None:
    refused = researcher.get(TRY, {"trajectory": wrong})
    assert refused.status_code == 404
    assert f"There is no trajectory {wrong[:30]}" in text(refused)
    assert researcher.get(TRY).status_code == 200
