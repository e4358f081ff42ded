"""Tests of suggestions by scripts or models beside a person: asked once, deciding nothing."""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.live.control.services import let_stand_in
from annotation.live.setup.sessions import make_session
from annotation.models import LiveSession
from benchmarks.asks.suggestion_selectors import suggestion_on
from benchmarks.core.answerers import Answer, Scripted
from benchmarks.core.system import ScriptedPolicy
from benchmarks.endpoints.services import create_endpoint, endpoints_in
from benchmarks.models import Agent, Exchange, OpenAsk, Run, Suggestion, Task, Trajectory
from benchmarks.models.role_assignments import all_assignments, suggesting_assignments
from benchmarks.roles.cautions import run_caution
from benchmarks.roles.selectors import run_roles
from benchmarks.roles.services import assign_person
from benchmarks.runs import suggestions
from benchmarks.runs.suggestions import make_suggestions
from benchmarks.runs.worker import carry_trajectory, claim_trajectory
from benchmarks.systems.adaplanbench.system import SYSTEM
from benchmarks.visibility import Visibility
from devtools.fake_endpoint.server import FakeServer
from tests.annotation.live_sessions import (
    AGENT,
    asked,
    begin,
    carry,
    make_live_session,
    make_live_study,
    sample_dataset,
    say,
)

pytestmark = pytest.mark.django_db
NONE = '{"violated": [], "reasons": {}}'
PRICED = {"price_in": 1.0, "price_out": 2.0, "parameters": {"max_tokens": 400}}


@pytest.fixture
def session(ann: User) -> LiveSession:
    """A session in which ann judges and speaks for the user."""
    return make_live_session(make_live_study(mode="judge_and_simulator"), [ann])


def session_with(player: User, roles: dict[str, Sequence[str]]) -> LiveSession:
    return make_session(
        study=make_live_study(mode="judge_and_simulator"),
        agent=Agent.objects.get(name=AGENT),
        task=Task.objects.filter(dataset=sample_dataset()).order_by("pk")[0],
        level="high",
        roles=roles,
        players=[player],
        by=None,
    )


def rows(session: LiveSession) -> list[Suggestion]:
    return list(
        Suggestion.objects.filter(trajectory=session.trajectory).order_by("step", "slot", "attempt")
    )


def broken(monkeypatch: pytest.MonkeyPatch, rule: Callable[..., Any]) -> None:
    """The scripted world judge answers by this rule."""
    known = SYSTEM.scripted["world-facts"]
    policy = ScriptedPolicy(
        known.name, known.role, known.title, known.version,
        lambda task, parameters: Scripted("scripted-world-judge", known.version, rule),
    )  # fmt: skip
    monkeypatch.setitem(SYSTEM.scripted, "world-facts", policy)


class TestMaking:
    def test_the_same_ask_is_put_to_whoever_suggests(self, session: LiveSession) -> None:
        begin(session)
        open_ = {(ask.step, ask.slot): ask for ask in asked(session)}
        found = rows(session)
        assert [row.role for row in found] == ["world_judge", "user_judge"]
        for row in found:
            ask = open_[row.step, row.slot]
            assert (row.ask_digest, row.seed, row.role) == (ask.ask_digest, ask.seed, ask.role)
            assert row.state == "answered" and set(row.value) == {"violated", "reasons"}
            assert row.answerer.kind == "scripted"
        assert any(row.value["violated"] for row in found)

    def test_it_decides_nothing(self, session: LiveSession) -> None:
        begin(session)
        assert any(row.value["violated"] for row in rows(session))
        say(session, NONE)
        say(session, NONE)
        assert session.trajectory.status == Trajectory.Status.DONE
        assert session.trajectory.termination == "valid_plan"
        kinds = Exchange.objects.filter(trajectory=session.trajectory, role__endswith="r_judge")
        assert not kinds.exclude(answerer__kind="human").exists()

    def test_each_is_made_once_and_one_for_each_verdict(self, session: LiveSession) -> None:
        begin(session)
        made = [(row.pk, row.sent_at) for row in rows(session)]
        # Nothing new is asked before both have been answered.
        key = asked(session)[0].expect["params"]["keys"][0]
        say(session, json.dumps({"violated": [key]}))
        assert [(row.pk, row.sent_at) for row in rows(session)] == made
        say(session, NONE)
        assert [ask.role for ask in asked(session)] == ["simulator"]
        say(session, "Not like that.")
        turns = session.trajectory.turn_count
        assert len(rows(session)) == 2 * (turns + 1)

    def test_sessions_without_judges_among_their_people_have_none(self, ann: User) -> None:
        session = make_live_session(make_live_study(), [ann])
        begin(session)
        assert asked(session) and not rows(session)

    def test_nothing_is_suggested_while_a_script_stands_in(self, session: LiveSession) -> None:
        begin(session)
        place = session.places.get()
        let_stand_in(place=place, by=None)
        carry(session)
        assert session.trajectory.status == Trajectory.Status.DONE
        assert len(rows(session)) == 2

    def test_whoever_takes_over_again_gets_suggestions_again(self, ann: User, bob: User) -> None:
        run = {"world_judge": [assign_person({"kind": "scripted", "policy": "x"})]}
        assert set(suggesting_assignments(run, {})) == {("world_judge", 0)}
        assert not suggesting_assignments(run, {"world_judge": [{"kind": "scripted"}]})
        assert suggesting_assignments(run, {"world_judge": [assign_person()]})


class TestTrouble:
    def test_a_kill_in_between_leaves_it_to_the_next_worker(self, session: LiveSession) -> None:
        begin(session)
        first = rows(session)[0]
        long_ago = first.sent_at - timedelta(hours=1)
        Suggestion.objects.filter(pk=first.pk).update(
            state="sent", text="", value=None, sent_at=long_ago
        )
        Suggestion.objects.filter(pk=rows(session)[1].pk).delete()
        Trajectory.objects.filter(pk=session.trajectory_id).update(status="pending")
        carry(session)
        assert [(row.state, row.attempt, bool(row.text)) for row in rows(session)] == [
            ("lost", 1, False),
            ("answered", 2, True),
            ("answered", 1, True),
        ]
        shown = suggestion_on(asked(session)[0])
        assert shown is not None and shown["value"] is not None

    @pytest.mark.parametrize(
        ("answer", "state", "reason"),
        [
            (Answer("What?"), "unreadable", "JSON"),
            (Answer('{"violated": ["w-nothing"]}'), "unreadable", "no key"),
            (Answer("", declined="tired: no answer"), "declined", "tired"),
        ],
    )
    def test_why_there_is_none_is_stored(
        self, session: LiveSession, monkeypatch: pytest.MonkeyPatch,
        answer: Answer, state: str, reason: str,
    ) -> None:  # fmt: skip
        broken(monkeypatch, lambda ask, seed: answer)
        begin(session)
        world = rows(session)[0]
        assert (world.state, world.value) == (state, None) and reason in world.reason
        assert len(asked(session)) == 2

    def test_a_bug_in_a_script_stops_nobody(
        self, session: LiveSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def rule(ask: object, seed: int) -> Answer:
            raise KeyError("bug")

        broken(monkeypatch, rule)
        begin(session)
        world, user = rows(session)
        assert (world.state, world.reason) == ("failed", "unexpected KeyError")
        assert user.state == "answered"
        assert session.trajectory.status == Trajectory.Status.WAITING

    def test_whoever_is_asked_waits_for_none_of_them_and_each_is_asked_for_once(
        self, session: LiveSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen: list[tuple[str, int]] = []

        def rule(ask: object, seed: int) -> Answer:
            # Another worker comes while this one waits for its answer.
            again = make_suggestions(pk=session.trajectory_id, executor=ThreadPoolExecutor(1))
            status = Trajectory.objects.values_list("status", flat=True)
            seen.append((status.get(pk=session.trajectory_id), again))
            return Answer(NONE)

        broken(monkeypatch, rule)
        begin(session)
        assert seen == [("waiting", 0)]
        assert [row.state for row in rows(session)] == ["answered"] * 2

    def test_what_was_cancelled_gets_none(self, session: LiveSession) -> None:
        begin(session)
        Suggestion.objects.all().delete()
        Trajectory.objects.filter(pk=session.trajectory_id).update(status="cancelled")
        make_suggestions(pk=session.trajectory_id, executor=ThreadPoolExecutor(1))
        assert not Suggestion.objects.exists()

    def test_a_worker_that_lost_the_trajectory_asks_nothing(self, session: LiveSession) -> None:
        begin(session)
        Suggestion.objects.all().delete()
        Trajectory.objects.filter(pk=session.trajectory_id).update(status="pending")
        run = session.trajectory.run
        Run.objects.filter(pk=run.pk).update(status="running")
        assert claim_trajectory(run_id=run.pk, owner="other") == session.trajectory_id
        carry_trajectory(pk=session.trajectory_id, owner="late")
        assert not Suggestion.objects.exists()


class TestAtAnEndpoint:
    @pytest.fixture
    def server(self) -> Iterator[FakeServer]:
        with FakeServer() as server:
            yield server

    @pytest.fixture
    def session(self, ann: User, server: FakeServer) -> LiveSession:
        sample_dataset()
        create_endpoint(name="fake", title="Fake", base_url=server.base_url, model="fake", **PRICED)
        return session_with(ann, {"world_judge": ["endpoint:fake"]})

    def test_it_counts_against_the_cap_like_any_call(self, session: LiveSession) -> None:
        begin(session)
        world, user = rows(session)
        assert world.state == "answered" and world.cost and user.cost is None
        run = Run.objects.get(pk=session.trajectory.run_id)
        assert (run.currency, run.committed) == ("USD", pytest.approx(world.cost))

    def test_without_money_nothing_is_asked_and_people_play_on(self, session: LiveSession) -> None:
        Run.objects.filter(pk=session.trajectory.run_id).update(cost_cap=1e-9)
        begin(session)
        world, user = rows(session)
        assert (world.state, world.tokens_in) == ("failed", None)
        assert "cap" in world.reason and user.state == "answered"
        assert len(asked(session)) == 2
        run = Run.objects.get(pk=session.trajectory.run_id)
        assert (run.status, run.committed) == (Run.Status.WAITING, 0)

    def test_one_that_takes_too_long_is_given_up_and_counts_as_spent(
        self, session: LiveSession, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(suggestions, "MOST_SECONDS", 0.0)
        begin(session)
        world = rows(session)[0]
        assert (world.state, world.value) == ("lost", None)
        assert "no answer within" in world.reason
        run = Run.objects.get(pk=session.trajectory.run_id)
        assert run.committed > 0

    def test_pages_and_blinding_know_of_it(self, session: LiveSession) -> None:
        run = session.trajectory.run
        assert [row.name for row in endpoints_in(run.roles)] == ["fake"]
        assert {row.get("endpoint") for row in all_assignments(run.roles)} >= {"fake"}
        titles = {role.title: role.assignments for role in run_roles(run)}
        assert [(f.title, f.label) for f in titles["World judge"]] == [
            ("A person", "person"),
            ("Fake, suggests only", "endpoint on this machine"),
        ]
        assert ("Scripted user judge, suggests only", "scripted") in [
            (f.title, f.label) for f in titles["User judge"]
        ]
        caution = run_caution(run)
        assert caution is not None
        assert "Endpoint on this machine" in caution.title
        assert "Scripted suggestions" in caution.title
        assert Visibility(closed=[run.pk]).endpoints == {"fake"}


def test_the_context_of_an_ask_is_all_that_is_needed(session: LiveSession) -> None:
    """The ask is rebuilt from its row; its digest shows that it is the same one."""
    begin(session)
    for row in OpenAsk.objects.filter(trajectory=session.trajectory):
        assert suggestions._core_ask(row).digest == row.ask_digest
