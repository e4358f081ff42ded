"""A model's reply is seen while it is written, by the players alone, and is stored whole."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from annotation.live.control.services import let_stand_in, retry_call
from annotation.live.play import writing
from annotation.live.setup.sessions import make_session
from annotation.models import LiveSession
from benchmarks.endpoints.services import create_endpoint
from benchmarks.llm import transport
from benchmarks.markdown import draw_markdown
from benchmarks.models import Agent, Exchange, Task
from benchmarks.runs import growing
from devtools.fake_endpoint.models import MODELS
from devtools.fake_endpoint.server import FakeServer
from tests.annotation.live_sessions import (
    asked,
    begin,
    carry,
    make_live_study,
    sample_dataset,
    say,
)
from tests.annotation.rows import make_person

pytestmark = pytest.mark.django_db
Look = Callable[[], Any]


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        yield server


def session_with(
    server: FakeServer,
    model: str,
    *players: User,
    mode: str = "simulator",
    agent: str = "writer",
    timeout: float = 20,
) -> LiveSession:
    dataset = sample_dataset()
    create_endpoint(
        name="writer", title="Writer", base_url=server.base_url, model=model, timeout=timeout
    )
    judges = dict.fromkeys(("world_judge", "user_judge"), ["endpoint:writer"])
    people = mode.startswith("two")
    return make_session(
        study=make_live_study(mode=mode),
        agent=None if people else Agent.objects.get(name=agent),
        task=Task.objects.filter(dataset=dataset).order_by("pk")[0],
        level="high",
        roles={} if people else judges,
        players=players,
        by=None,
    )


def look(session: LiveSession, user: User) -> Any:
    """What the page of a player is sent at once: a status, or the text as HTML."""
    client = Client()
    client.force_login(user)
    answer = client.get(f"/sessions/{session.pk}/writing/")
    if answer.status_code != 200:
        return answer.status_code
    first = next(iter(answer.streaming_content))
    answer._iterator.close()  # as the test client closes it: the database's connection stays
    return json.loads(first.removeprefix(b"data: "))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str, Any]]:
    """What is kept of a reply while it grows: role, text, and what ``seen.look()`` then gives."""
    kept: list[tuple[str, str, Any]] = []
    keep = growing._keep

    def note(trajectory: int, writer: str, role: str, text: str) -> None:
        keep(trajectory, writer, role, text)
        kept.append((role, text, [each() for each in LOOKS]))

    monkeypatch.setattr(growing, "_keep", note)
    monkeypatch.setattr("benchmarks.llm.streaming.PAUSE", 0.0)
    LOOKS.clear()
    return kept


LOOKS: list[Look] = []
WHY = {"cut": "cut off", "creeps": "no complete reply", "drip": "no complete reply",
       "flood": "longer than 100000 bytes"}  # fmt: skip


def enter(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_player_sees_a_plan_grow_and_the_log_has_it_whole(
    ann: User, server: FakeServer, seen: list[tuple[str, str, Any]]
) -> None:
    session = session_with(server, "writes", ann)
    LOOKS.append(lambda: look(session, ann))
    begin(session)
    plan = Exchange.objects.get(trajectory=session.trajectory, role="agent")
    texts = [text for _, text, _ in seen]
    assert {role for role, _, _ in seen} == {"agent"}  # judges are for programs to read
    assert texts[0] == "" and len(texts) > 10 and texts[-1] == plan.text.strip()
    pages = [looks[0] for _, _, looks in seen]
    assert pages[0] == "" and pages == [draw_markdown(text) for text in texts]
    assert asked(session) and look(session, ann) == ""  # it is forgotten


def test_nobody_else_sees_it(
    ann: User, server: FakeServer, seen: list[tuple[str, str, Any]]
) -> None:
    session = session_with(server, "fake", ann)
    LOOKS.append(
        lambda: look(session, make_person("bob") if not seen else User.objects.get(username="bob"))
    )
    begin(session)
    assert {looks[0] for _, _, looks in seen} == {404}


def test_a_model_in_the_place_of_a_blinded_player_looks_like_a_person(
    ann: User, server: FakeServer, seen: list[tuple[str, str, Any]]
) -> None:
    bob = make_person("bob")
    session = session_with(server, "fake", ann, bob, mode="two_people")
    begin(session)
    place = session.places.get(title="User")
    say(session, "1. Mop the floor")
    LOOKS.append(lambda: look(session, ann))
    let_stand_in(place=place, by=None, stand_in="endpoint:writer")
    begin(session)
    assert "simulator" in {role for role, _, _ in seen}
    assert {looks[0] for _, _, looks in seen} == {""}


@pytest.mark.parametrize("model", ["cut-twice", "no-streams"])
def test_nothing_half_written_is_stored(
    ann: User, server: FakeServer, seen: list[tuple[str, str, Any]], model: str
) -> None:
    session = session_with(server, model, ann)
    begin(session)
    rows = Exchange.objects.filter(trajectory=session.trajectory, role="agent").order_by("attempt")
    states = [(row.state, bool(row.text)) for row in rows]
    lost = [(Exchange.State.LOST, False)] * (2 if model == "cut-twice" else 0)
    assert states == [*lost, (Exchange.State.ANSWERED, True)]
    assert [text for _, text, _ in seen].count("") == len(states)


@pytest.mark.parametrize("model", ["cut", "creeps", "drip", "flood"])
def test_a_stream_that_never_ends_well_leaves_a_clear_state(
    ann: User,
    server: FakeServer,
    seen: list[tuple[str, str, Any]],
    model: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Cut in the middle each time, a character a minute, a byte now and then, and gigabytes."""
    monkeypatch.setattr(transport, "LONGEST_REPLY", 100_000)
    session = session_with(server, model, ann, timeout=1)
    manager = User.objects.get(username="mia")
    begin(session)
    shown = enter(ann).get(f"/sessions/{session.pk}/").content.decode()
    assert "No response" in shown and "did not respond" in shown and "is writing" not in shown
    watched = enter(manager).get(f"/sessions/{session.pk}/watch/").content.decode()
    assert WHY[model] in watched and "is writing" not in watched
    assert not Exchange.objects.filter(trajectory=session.trajectory, state="answered").exists()
    assert look(session, ann) == ""
    # Once the endpoint works, a retry goes on from there, and nothing of before is left.
    monkeypatch.setitem(MODELS, model, MODELS["fake"])
    retry_call(session=session, by=manager)
    carry(session)
    plan = Exchange.objects.get(trajectory=session.trajectory, role="agent", state="answered")
    shown = enter(ann).get(f"/sessions/{session.pk}/").content.decode()
    assert plan.text and "No response" not in shown and "did not respond" not in shown


def test_a_stream_follows_a_text_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "LOOK_SECONDS", 0.0)
    texts = iter(["", "", "1. Go", "1. Go", "1. Go on", ""])
    events = writing.stream_writing(lambda: next(texts))
    assert events is not None
    lines = [event.decode().strip() for event in events]
    drawn = [json.loads(line.removeprefix("data: ")) for line in lines[:-1]]
    assert drawn == ["", *(draw_markdown(text) for text in ("1. Go", "1. Go on"))]
    assert lines[-1].startswith("event: end")


def test_more_streams_than_threads_are_refused(ann: User, server: FakeServer) -> None:
    session = session_with(server, "fake", ann)
    held = [writing.stream_writing(lambda: "") for _ in range(settings.STREAM_THREADS)]
    for events in held:
        assert events is not None
        next(events)
    assert look(session, ann) == 503
    for events in held:
        assert events is not None
        events.close()  # type: ignore[attr-defined]
    assert look(session, ann) == ""
