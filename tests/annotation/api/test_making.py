"""Studies and sessions made through the API, their progress and status."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.models import LiveSession, Membership, Study
from annotation.plans.plan_files import plan_document
from tests.annotation.live_sessions import sample_dataset
from tests.annotation.rows import make_person, make_runs, plan_for
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = pytest.mark.either


@pytest.fixture
def researcher_user(db: None) -> User:
    return make_person("rita", "view_results", "start_runs")


@pytest.fixture
def maker(researcher_user: User) -> Caller:
    """The program of somebody who may make studies."""
    return Caller(bearer(researcher_user))


@pytest.fixture
def plan(ann: User, bob: User) -> dict[str, Any]:
    return plan_document(plan_for(make_runs(), [ann, bob], name="Pilot", seed=7))


def test_a_plan_becomes_a_study(maker: Caller, plan: dict[str, Any], researcher_user: User) -> None:
    preview = maker.post("/studies/plan", {"plan": plan}).json()
    assert (preview["items"], preview["loads"]) == (4, {"Annotator 1": 2, "Annotator 2": 2})
    assert not Study.objects.exists()
    key = {"Idempotency-Key": "one"}
    made, again = (maker.post("/studies", {"plan": plan}, **key) for _ in range(2))
    assert (made.status_code, made.json()) == (201, again.json())
    body = made.json()
    assert (body["status"], body["roles"], body["stored"]) == ("open", ["manager"], True)
    assert body["plan"]["sha256"] == preview["sha256"]
    study = Study.objects.get()
    assert study.created_by == researcher_user
    told = maker.get(f"/studies/{study.pk}/progress").json()
    assert (told["wanted"], told["submitted"], told["open"]) == (4, 0, 4)
    assert [row["username"] for row in told["annotators"]] == ["ann", "bob"]
    exported = maker.get(f"/studies/{study.pk}/export", format="plan")
    assert b"name: Pilot" in b"".join(exported.streaming_content)


def test_a_draft_is_opened_paused_and_closed(maker: Caller, plan: dict[str, Any]) -> None:
    pk = maker.post("/studies", {"plan": plan, "draft": True}).json()["id"]
    for status in ("open", "paused", "open", "closed", "archived"):
        answer = maker.post(f"/studies/{pk}/status", {"status": status, "reason": "As planned."})
        assert (answer.status_code, answer.json()["status"]) == (200, status)
    refused = maker.post(f"/studies/{pk}/status", {"status": "draft"})
    assert (refused.status_code, refused.json()["error"]["field"]) == (422, "status")
    assert Study.objects.get().status == "archived"


def test_what_is_wrong_with_a_plan_is_told_by_field(maker: Caller, plan: dict[str, Any]) -> None:
    wrong = {**plan, "raters": "two", "colour": "red"}
    error = maker.post("/studies", {"plan": wrong}).json()["error"]
    assert error["field"] == "plan.raters"
    assert "raters: expected a whole number" in error["message"]
    assert "colour: expected a field among name, " in error["message"]
    nobody = {**plan, "annotators": ["ann", "nobody"]}
    assert maker.post("/studies", {"plan": nobody}).status_code == 422
    assert not Study.objects.exists()


def test_closed_runs_are_no_source(plan: dict[str, Any], ann: User, maker: Caller) -> None:
    maker.post("/studies", {"plan": plan})
    ann.user_permissions.set(User.objects.get(username="rita").user_permissions.all())
    blind = Caller(bearer(ann))
    answer = blind.post("/studies/plan", {"plan": {**plan, "name": "Mine"}})
    assert answer.status_code == 422
    assert "zebra" not in answer.content.decode().lower()


def test_progress_is_for_those_who_look_on(study: Study, ann: User, manager: User) -> None:
    path = f"/studies/{study.pk}/progress"
    assert Caller(bearer(ann)).get(path).status_code == 403
    assert Caller(bearer(manager)).get(path).status_code == 200
    status = {"status": "closed"}
    watcher = make_person("olga")
    Membership.objects.create(study=study, user=watcher, role="observer")
    assert Caller(bearer(watcher)).post(f"/studies/{study.pk}/status", status).status_code == 403


DESIGN = {
    "name": "Users of two agents", "mode": "simulator", "level": "high",
    "agents": ["explorer", "forgetful"], "sample": 2, "players": ["ann", "bob"], "each": 2,
    "order": "latin", "seed": 7,
}  # fmt: skip


def test_a_design_becomes_sessions(maker: Caller, ann: User, bob: User) -> None:
    body = {"sessions": {**DESIGN, "dataset": str(sample_dataset().pk)}}
    preview = maker.post("/sessions/plan", body).json()
    assert (preview["sessions"], set(preview["rows"])) == (4, {"ann", "bob"})
    assert not LiveSession.objects.exists()
    made = maker.post("/sessions", body).json()
    assert len(made["sessions"]) == 4
    rows = maker.get(f"/studies/{made['study']}/sessions", state="gathering").json()["items"]
    assert [row["id"] for row in rows] == made["sessions"]
    assert {row["agent"] for row in rows} == {"Explorer", "Forgetful"}
    assert rows[0]["places"][0]["player"] == "ann"
    mine = Caller(bearer(ann)).get(f"/sessions/{made['sessions'][0]}").json()
    assert (mine["agent"], mine["task"], mine["trajectory"]) == (None, None, None)
    assert (mine["state"], mine["places"][0]["player"]) == ("gathering", None)
    assert Caller(bearer(make_person("eve"))).get(f"/sessions/{mine['id']}").status_code == 404
    assert Caller(bearer(ann)).get(f"/studies/{made['study']}/sessions").status_code == 403


def test_what_is_wrong_with_a_design_is_told(maker: Caller, ann: User, bob: User) -> None:
    wrong = {**DESIGN, "dataset": str(sample_dataset().pk), "each": 0, "colour": "red"}
    error = maker.post("/sessions", {"sessions": wrong}).json()["error"]
    assert error["field"] == "sessions"
    assert "each:" in error["message"] and "colour: there is no such field" in error["message"]
    assert maker.post("/sessions", {"sessions": {"dataset": "none"}}).status_code == 422
    assert not LiveSession.objects.exists()
