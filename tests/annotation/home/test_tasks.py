"""The cards of the home page: what, how long, how far, and in which order."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from annotation.home.tasks import TaskCard, about_time, task_cards
from annotation.live.lists import waiting_rows
from annotation.live.play.services import note_end
from annotation.models import Assignment, LivePlan, LiveSession, Participant, Study
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.selectors import describe_questions
from annotation.studies.selectors import studies_of
from annotation.studies.setup import add_member
from tests.annotation.live_sessions import begin, make_live_session, make_live_study, say
from tests.annotation.rows import make_person, make_study

pytestmark = pytest.mark.django_db


def cards_of(user: User) -> list[TaskCard]:
    return task_cards(user, studies_of(user), waiting_rows(user))


def submit(study: Study, user: User, *, items: int, milliseconds: int) -> None:
    """Count items as submitted, in so much active time in all."""
    Participant.objects.filter(study=study, user=user).update(
        submitted=items, active_ms=milliseconds
    )
    for row in study.assignments.filter(annotator=user)[:items]:
        row.state = Assignment.State.SUBMITTED
        row.save()


def test_new_task_says_what_it_is_how_long_it_takes_and_how_far_it_is(
    study: Study, ann: User
) -> None:
    (card,) = cards_of(ann)
    assert (card.title, card.button, card.words) == (study.name, "Begin", "0 of 2 items")
    assert card.what == "10 questions on each trajectory"
    # Four sentences to read and ten answers of 12 seconds, twice.
    assert card.time == "about 5 min"
    assert card.first == ""
    Study.objects.update(consent_version=1, trains=True, background="about_annotators@1")
    assert cards_of(ann)[0].first == "First: consent, questions about you, training"


def test_time_left_follows_ones_own_pace(study: Study, ann: User) -> None:
    Participant.objects.filter(study=study, user=ann).update(assigned=20)
    submit(study, ann, items=4, milliseconds=4 * 90_000)
    (card,) = cards_of(ann)
    # 16 items of 90 seconds.
    assert (card.time, card.button, card.words) == (
        "about 25 min left", "Continue", "4 of 20 items",
    )  # fmt: skip


def test_task_that_cannot_be_done_says_why_and_has_no_button(study: Study, ann: User) -> None:
    Study.objects.update(status=Study.Status.PAUSED)
    (card,) = cards_of(ann)
    assert (card.note, card.button, card.time) == ("This study is paused", "", "")


def test_finished_task_is_listed_apart(study: Study, ann: User) -> None:
    submit(study, ann, items=2, milliseconds=60_000)
    client = Client()
    client.force_login(ann)
    page = client.get("/").content.decode()
    assert page.index("Finished") < page.index(study.name)
    assert "Continue" not in page and "Begin" not in page


@pytest.fixture
def both(ann: User, bob: User, manager: User) -> Study:
    """Items for ann and bob, and a session that waits for ann."""
    make_live_session(make_live_study(by=manager), [ann])
    return make_study(annotators=[ann, bob], manager=manager)


def test_session_that_waits_for_somebody_comes_first(both: Study, ann: User, bob: User) -> None:
    first, second = cards_of(ann)
    assert (first.title, first.badge, first.button) == ("Live", "Ready to start", "Begin")
    assert second.title == both.name
    assert [card.title for card in cards_of(bob)] == [both.name]


def test_session_says_how_long_it_takes(ann: User, manager: User) -> None:
    plan = make_live_study(by=manager)
    session = make_live_session(plan, [ann])
    assert [card.time for card in cards_of(ann)] == ["about 10 min a session"]
    LivePlan.objects.update(session_minutes=8)
    assert [card.time for card in cards_of(ann)] == ["at most 8 min a session"]
    played = make_live_session(plan, [ann])
    LiveSession.objects.filter(pk=played.pk).update(
        state=LiveSession.State.ENDED, started_at=timezone.now() - timedelta(minutes=4),
        ended_at=timezone.now(),
    )  # fmt: skip
    (card,) = cards_of(ann)
    assert card.time in ("about 4 min a session", "about 5 min a session")
    assert card.key == f"session-{session.pk}"


def test_home_costs_few_queries(both: Study, ann: User, django_assert_max_num_queries: Any) -> None:
    client = Client()
    client.force_login(ann)
    client.get("/")
    with django_assert_max_num_queries(27):  # one for branches of what is hidden from her
        client.get("/")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("filter_check@1", "Keep or remove, for each candidate condition"),
        ("violation_check@1", "2 questions on each turn"),
    ],
)
def test_questions_are_described_in_one_line(name: str, words: str) -> None:
    assert describe_questions(load_questionnaire(name)) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (20, "about a minute"),
        (61, "about 2 min"),
        (23 * 60, "about 25 min"),
        (100 * 60, "about 1.7 hours"),
    ],
)
def test_durations_are_rounded_for_reading(seconds: float, words: str) -> None:
    assert about_time(seconds) == words


def test_stranger_has_no_cards() -> None:
    assert cards_of(make_person("new")) == []


def test_questions_after_a_session_say_how_long_they_take(ann: User, manager: User) -> None:
    plan = make_live_study(by=manager, settings={"asks": True})
    add_member(study=plan, user=ann, role="annotator", by=manager)
    session = make_live_session(plan, [ann], max_turns=1)
    begin(session)
    say(session, "That is not possible here.")
    assert note_end(session=session)
    (card,) = cards_of(ann)
    assert card.what == "Rate the sessions you played"
    assert card.time.startswith("about ")
