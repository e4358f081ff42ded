"""Making sessions on pages, and coming into one with nothing but a link."""

import re

import pytest
from django.forms import ChoiceField
from django.test import Client
from django.urls import reverse

from annotation.live import lists
from annotation.models import LivePlace, LivePlan, LiveSession, Study
from benchmarks.core.registry import find_system
from benchmarks.models import Run
from tests.annotation.live_sessions import AGENT, sample_dataset

pytestmark = [pytest.mark.django_db, pytest.mark.either]
PASSWORD = "Unwieldy-77x"


def fields(client: Client, url: str, **given: object) -> dict[str, object]:
    """Return what a page's form would send as it stands, with some fields filled in."""
    form = client.get(url, {"mode": given.get("mode", "simulator")}).context["form"]
    found = {}
    for name, field in form.fields.items():
        value = form[name].value()
        if value is None and isinstance(field, ChoiceField) and field.required:
            value = next(iter(field.choices))[0]  # as a browser does
        if value not in (None, False, ""):
            found[name] = value
    return {**found, "dataset": form.dataset.pk, "level": "high", **given}


def make(client: Client, **given: object) -> str:
    """Make a session; the link to its first free place."""
    sample_dataset()
    url = reverse("annotation:session_new")
    page = client.post(url, fields(client, url, agent=AGENT, **given))
    assert page.status_code == 200, page.context["form"].errors
    found = re.search(r"http://testserver(/join/[^<]+)", page.content.decode())
    return found[1] if found else ""


def join(link: str, name: str = "newcomer") -> tuple[Client, str]:
    """Come by a link with a new account; who it is, and what is shown then."""
    client = Client()
    client.get(link)
    given = {"username": name, "password1": PASSWORD, "password2": PASSWORD}
    page = client.post(reverse("annotation:join"), given, follow=True)
    return client, page.content.decode()


def test_from_a_link_to_the_session(researcher: Client) -> None:
    link = make(
        researcher, practises="on", name="Talks", information="It takes ten minutes.",
        consent="I agree.",
    )  # fmt: skip
    player, page = join(link)
    study = Study.objects.get()
    assert "It takes ten minutes." in page
    text = {"version": 1}
    page = player.post(reverse("annotation:information", args=[study.pk]), text, follow=True)
    assert "I agree." in page.content.decode()
    session = LiveSession.objects.get()
    told = reverse("annotation:session_instructions", args=[session.pk])
    consent = player.get(reverse("annotation:consent", args=[study.pk])).content.decode()
    assert "you cannot play in sessions" in consent and "items" not in consent.split("<main")[1]
    # Nothing of the session is shown before they agreed.
    assert player.get(told).status_code == 302
    agree = {**text, "answer": "agree"}
    page = player.post(reverse("annotation:consent", args=[study.pk]), agree, follow=True)
    words = page.content.decode()
    assert page.redirect_chain[-1][0] == told and "Keep private" in words
    assert session.trajectory.run.agent.title not in words
    assert player.post(told).status_code == 302
    practice = LiveSession.objects.get(practice=True)
    assert practice.places.get().player == session.places.get().player
    home = player.get(reverse("annotation:home")).content.decode()
    # The round under way alone: the session comes after it.
    assert "Talks: practice round" in home and home.count("Ready to start") == 1


def test_the_link_is_shown_once(researcher: Client, reader: Client) -> None:
    link = make(researcher)
    study = Study.objects.get()
    page = reverse("annotation:study_sessions", args=[study.pk])
    assert link.split("/")[2] not in researcher.get(page).content.decode()
    place = LivePlace.objects.get()
    again = reverse("annotation:session_links", args=[place.session_id])
    assert "/join/" in researcher.post(again, {"place": 1}).content.decode()
    assert researcher.post(again, {"place": 7}).status_code == 404
    assert reader.post(again, {"place": 1}).status_code == 404
    player, _ = join(link)
    assert researcher.post(again, {"place": 1}).status_code == 409
    assert player.post(again, {"place": 1}).status_code == 403
    assert player.get(page).status_code == 403


def test_a_manager_adds_a_session(researcher: Client) -> None:
    make(researcher)
    study = Study.objects.get()
    url = reverse("annotation:study_sessions", args=[study.pk])
    assert researcher.post(url, {"agent": "nobody"}).status_code == 422
    task = sample_dataset().tasks.order_by("-pk")[0]
    page = researcher.post(url, {"agent": "explorer", "task": task.pk})
    assert "/join/" in page.content.decode()
    added = LiveSession.objects.get(number=2)
    assert added.trajectory.task == task and added.trajectory.run.level == "high"
    assert added.trajectory.run.agent.name == "explorer"


def test_sessions_of_a_study_are_a_file_and_lose_columns(
    researcher: Client, stranger: Client
) -> None:
    make(researcher)
    study = Study.objects.get()
    url = reverse("annotation:study_sessions", args=[study.pk])
    text = b"".join(researcher.get(url, {"format": "csv"}).streaming_content).decode()
    head, row = text.splitlines()
    assert head == "session,state,places,agent,task,since"
    assert row.startswith("1,") and ": free" in row
    assert stranger.get(url, {"format": "csv"}).status_code in (403, 404)
    columns = reverse("benchmarks:list_columns", args=["sessions"])
    offered = ["state", "places", "agent", "task", "since"]
    for hidden in ([], ["task"], ["state", "places"], offered):
        shown = [key for key in offered if key not in hidden]
        researcher.post(columns, {"offered": offered, "column": shown, "next": url})
        head, body = researcher.get(url).content.decode().split("<thead>")[1].split("</thead>")
        # The last column has the buttons.
        assert head.count("<th ") == len(shown) + 2 == body.split("</tr>")[0].count("<td") + 1


def test_the_list_begins_with_sessions_in_progress(
    researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(researcher)
    study = Study.objects.get()
    url = reverse("annotation:study_sessions", args=[study.pk])
    for _ in range(2):
        researcher.post(url, {"agent": "explorer", "task": sample_dataset().tasks.all()[0].pk})
    study.sessions.filter(number=3).update(state=LiveSession.State.RUNNING)
    monkeypatch.setattr(lists, "MOST_OF_STUDY", 2)
    page = researcher.get(reverse("annotation:session_list"))
    (found,) = page.context["overseen"]
    assert [row.session.number for row in found.rows] == [3, 1]
    assert "2 of 3 sessions that are not over" in page.content.decode()
    monkeypatch.undo()
    page = researcher.get(reverse("annotation:session_list"))
    assert len(page.context["overseen"][0].rows) == 3
    assert "sessions that are not over" not in page.content.decode()


def test_the_list_names_the_studies_that_it_has_no_room_for(
    researcher: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(researcher)
    make(researcher)
    older, newer = Study.objects.order_by("pk")
    monkeypatch.setattr(lists, "MOST_STUDIES", 1)
    page = researcher.get(reverse("annotation:session_list"))
    (table,), (further,) = page.context["overseen"], page.context["further"]
    assert (table.study, further.study, further.open) == (newer, older, 1)
    words = page.content.decode()
    assert "1 more study" in words and "1 session that is not over" in words
    assert f'<a href="{reverse("annotation:study_sessions", args=[older.pk])}">' in words
    # What is over does not wait for anybody.
    older.sessions.update(state=LiveSession.State.ENDED)
    assert "more study" not in researcher.get(reverse("annotation:session_list")).content.decode()


def test_who_makes_it_may_play(researcher: Client) -> None:
    assert make(researcher, mine="1") == ""
    listed = researcher.get(reverse("annotation:session_list")).content.decode()
    assert "ready to start" in listed
    # Whoever plays blind is not told in the list of their own study either.
    assert Run.objects.get(pk=LiveSession.objects.get().trajectory.run_id).agent.title not in listed


def test_a_form_that_does_not_hold_makes_nothing(researcher: Client) -> None:
    sample_dataset()
    url = reverse("annotation:session_new")
    page = researcher.post(url, fields(researcher, url, agent="nobody", away_seconds=3))
    assert page.status_code == 422
    assert {"agent", "away_seconds"} <= set(page.context["form"].errors)
    assert not LivePlan.objects.exists()


def test_a_role_that_no_script_can_fill_is_shown_where_it_is_chosen(researcher: Client) -> None:
    sample_dataset()
    url, mode = reverse("annotation:session_new"), "two_people_judged"
    roles = re.compile(r'<details class="fold"( open)?>\s*<summary>Who fills the other roles')
    fresh = roles.search(researcher.get(url, {"mode": mode}).content.decode())
    assert fresh and not fresh[1]
    page = researcher.post(url, fields(researcher, url, mode=mode))
    refused = roles.search(page.content.decode())
    assert "Choose a language model as world judge" in page.content.decode()
    assert refused and refused[1]
    assert not LivePlan.objects.exists()


def test_nothing_waits_for_somebody_new(stranger: Client) -> None:
    page = stranger.get(reverse("annotation:session_list"))
    assert "No sessions" in page.content.decode()
    assert stranger.get(reverse("annotation:session_new")).status_code == 403


@pytest.mark.parametrize("mode", [mode.key for mode in find_system("adaplanbench").modes()])
def test_what_is_advised_and_offered_belongs_to_the_mode(researcher: Client, mode: str) -> None:
    sample_dataset()
    for name in ("annotation:session_new", "annotation:live_study_new"):
        page = researcher.get(reverse(name), {"mode": mode})
        advised = "Let a language model judge" in page.content.decode()
        assert advised == (mode in ("agent", "two_people_judged"))
        # Nobody is asked three times how good they find the same plan.
        judges = page.context["form"]["set_rubric_judges"].value()
        assert judges == ("1" if mode == "judge" else "3")


def test_a_study_is_looked_at_before_it_is_made(researcher: Client) -> None:
    sample_dataset()
    url = reverse("annotation:live_study_new")
    given = fields(
        researcher, url, agents=[AGENT, "explorer"], sample=2, players="pool", seats=2, each=2
    )
    page = researcher.post(url, given)
    assert page.status_code == 200 and not LiveSession.objects.exists()
    preview = page.context["preview"]
    assert preview.sessions == 4
    assert {table.title for table in preview.tables} >= {"Player × agent", "Agent × position"}
    # Other agents are another design, and it is shown first.
    other = {**given, "agents": [AGENT, "perfectionist"], "made": preview.mark}
    assert researcher.post(url, other).context["stale"]
    assert not LiveSession.objects.exists()
    made = researcher.post(url, {**given, "made": preview.mark})
    study = Study.objects.get()
    assert made.headers["Location"] == reverse("annotation:study_sessions", args=[study.pk])
    assert LiveSession.objects.filter(study=study).count() == 4
    shown = researcher.get(made.headers["Location"]).content.decode()
    assert "Make a link for one player" in shown and preview.certificate.sha256 in shown
    assert "raters" not in shown.split("<main")[1]
    people = reverse("annotation:study_people", args=[study.pk])
    assert "Annotators are the players" in researcher.get(people).content.decode()
    link = {"role": "annotator", "days": 7}
    page = researcher.post(reverse("annotation:invite_make", args=[study.pk]), link)
    found = re.search(r"http://testserver(/join/[^<]+)", page.content.decode())
    assert found
    invited = Client().get(found[1], follow=True).content.decode()
    assert "to sessions of" in invited and "annotator" not in invited
