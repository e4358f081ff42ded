"""Tests of plans that a judge cannot read: a person decides, or the session is refused."""

import pytest
from django.contrib.auth.models import User
from django.test import RequestFactory

from annotation.errors import Refused
from annotation.live.access import fetch_session
from annotation.live.control.services import give_to_agent, let_stand_in
from annotation.live.play.dialogue import load_session_dialogue
from annotation.live.play.services import note_end
from annotation.live.play.session_state import SessionState, read_session_state
from annotation.live.play.status import ended_text
from annotation.live.setup.services import SessionRequest, create_session
from annotation.live.setup.sessions import make_session
from annotation.models import LivePlan, LiveSession, Study
from benchmarks.endpoints.services import create_endpoint
from benchmarks.models import Agent, Task
from benchmarks.roles.services import PERSON
from tests.annotation.live_sessions import (
    AGENT,
    asked,
    begin,
    make_live_session,
    make_live_study,
    sample_dataset,
    say,
)

pytestmark = [pytest.mark.django_db, pytest.mark.either]
OWN = "1. Whistle a tune."
ENDPOINT = {"base_url": "http://127.0.0.1:9/v1", "model": "m", "parameters": {"max_tokens": 100}}


def create(by: User, mode: str, agent: str = AGENT, **roles: list[str]) -> LiveSession:
    dataset = sample_dataset()
    task = Task.objects.filter(dataset=dataset).order_by("pk").first()
    assert task is not None
    wish = SessionRequest(name="Talks", dataset=dataset, mode=mode, level="high", roles=roles)
    return create_session(wish=wish, agent=Agent.objects.get(name=agent), task=task, by=by)


def table_of(session: LiveSession, number: int = 1) -> SessionState:
    """The session as the player of a place sees it now."""
    request = RequestFactory().get("/")
    request.user = session.places.get(number=number).player
    return read_session_state(fetch_session(request, session.pk))


def lines(session: LiveSession, number: int = 1) -> list[str]:
    table = table_of(session, number)
    assert table.place is not None
    return [
        line.text for line in load_session_dialogue(table.place, "adaplanbench", over=table.over)
    ]


@pytest.mark.parametrize("mode", ["agent", "two_people_judged"])
def test_nobody_plans_for_a_script_that_cannot_read_it(manager: User, mode: str) -> None:
    with pytest.raises(Refused, match="model as world judge: scripts cannot read free plans"):
        create(manager, mode)
    with pytest.raises(Refused, match="has no words for"):
        create(manager, mode, world_judge=["lexicon-world"], user_judge=["lexicon-user"])
    assert not Study.objects.exists() and not LivePlan.objects.exists()
    create_endpoint(name="judge", title="Judge", **ENDPOINT)
    made = create(manager, mode, world_judge=["endpoint:judge"], user_judge=["endpoint:judge"])
    assert made.state == LiveSession.State.GATHERING


def test_a_model_is_no_agent_for_scripted_judges_either(manager: User) -> None:
    sample_dataset()
    create_endpoint(name="planner", title="Planner", **ENDPOINT)
    with pytest.raises(Refused, match="scripts cannot read free plans"):
        create(manager, "simulator", agent="planner")
    create(manager, "judge_and_simulator", agent="planner")
    session = create(manager, "simulator")
    with pytest.raises(Refused, match="a person must be world judge"):
        give_to_agent(session=session, agent=Agent.objects.get(name="planner"), by=manager)
    session.trajectory.refresh_from_db()
    assert not session.trajectory.role_changes


def test_of_two_people_the_user_decides_and_both_see_every_plan(ann: User, bob: User) -> None:
    """A plan that the scripts cannot read counted as valid, and bob had seen nothing."""
    session = make_live_session(make_live_study(mode="two_people"), [ann, bob], agent=PERSON)
    begin(session)
    prompt = session.trajectory.task.prompt
    assert lines(session, 1) == lines(session, 2) == [prompt]
    say(session, OWN)
    assert [ask.role for ask in asked(session)] == ["world_judge", "user_judge"]
    assert lines(session, 1) == lines(session, 2) == [prompt, OWN]
    for _ in range(2):
        say(session, '{"violated": []}')
    assert session.trajectory.termination == "valid_plan"
    assert lines(session, 1) == lines(session, 2) == [prompt, OWN]


def test_the_plan_that_ends_a_session_is_shown_to_who_played_the_user(ann: User) -> None:
    session = make_live_session(make_live_study(), [ann], agent="careful-tracker")
    begin(session)
    while asked(session):
        say(session, "Not like that.")
    note_end(session=session)
    last = session.trajectory.turns.order_by("-index").first()
    assert session.trajectory.termination == "valid_plan" and last is not None
    assert lines(session)[-1] == last.text
    assert ended_text(table_of(session)) == "The last plan respects every condition."


def test_a_script_that_could_not_read_the_plan_does_not_vouch_for_it(ann: User) -> None:
    """As in practice rounds, and in sessions that were made before this was refused."""
    study = make_live_study(mode="agent")
    task = Task.objects.filter(dataset=sample_dataset()).order_by("pk").first()
    session = make_session(study=study, agent=None, task=task, level="high", players=[ann], by=None)
    begin(session)
    say(session, OWN)
    words = ended_text(table_of(session))
    assert "undecided" in words and "respects every condition." not in words.split("Whether")[0]


def test_no_script_decides_in_place_of_the_user_who_left(ann: User, bob: User) -> None:
    session = make_live_session(make_live_study(mode="two_people"), [ann, bob], agent=PERSON)
    begin(session)
    with pytest.raises(Refused, match="a person must be world judge") as refusal:
        let_stand_in(place=session.places.get(number=2), by=None)
    assert refusal.value.code == "invalid"  # so that its policy waits for a person
    assert session.places.get(number=2).player == bob
