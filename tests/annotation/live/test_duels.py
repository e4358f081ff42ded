"""Duels: two agents side by side, whose replies appear together, and the votes of their player."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.errors import Refused
from annotation.exports.scope import Pseudonyms, Scope
from annotation.exports.services import ExportRequest, export_stream
from annotation.live.control.services import retry_call
from annotation.live.duels.selectors import read_progress
from annotation.live.duels.services import vote
from annotation.live.duels.sides import Placement, is_swapped
from annotation.live.play.services import be_ready, take_place
from annotation.live.setup.services import add_duel
from annotation.models import Duel, DuelVote, LiveEvent, LivePlace, LivePlan, LiveSession, Study
from annotation.people.erasure import erase_person
from annotation.ratings.duel_votes import votes_of
from annotation.steps.next_session import next_session
from benchmarks.models import Agent, Task, Trajectory
from tests.annotation.live_sessions import (
    asked,
    carry,
    make_live_study,
    sample_dataset,
)
from tests.annotation.rows import make_person
from tests.benchmarks.api.conftest import Caller, bearer

pytestmark = [pytest.mark.django_db, pytest.mark.either]
AGENTS = ("coin-flipper", "forgetful")


def make_duel(player: User | None, *, agents: Any = AGENTS, mode: str = "simulator") -> Duel:
    dataset = sample_dataset()
    study = make_live_study(
        mode=mode,
        settings={
            "asks": False,
            "cast": {"dataset": dataset.pk, "level": "high", "settings": {}, "roles": {}},
        },
    )
    study.settings["duels"] = True
    study.save()
    return further_duel(study.live, player, agents=agents)


def further_duel(
    plan: LivePlan, player: User | None, *, agents: Any = AGENTS, task: Task | None = None
) -> Duel:
    task = task or Task.objects.filter(dataset=sample_dataset()).order_by("pk").first()
    assert task is not None
    by = player or User.objects.get(username="mia")
    return add_duel(
        study=plan.study, plan=plan, agents=[Agent.objects.get(name=name) for name in agents],
        task=task, players={1: player} if player else {}, by=by,
    )  # fmt: skip


def enter(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def shown(client: Client, duel: Duel) -> str:
    """Return the page of the duel, wherever it leads."""
    return client.get(f"/sessions/{duel.left_id}/", follow=True).content.decode()


def ready(duel: Duel, player: User) -> None:
    for side in (duel.left, duel.right):
        be_ready(place=side.places.get(), user=player)


def test_neither_reply_is_shown_before_both_are_there(ann: User) -> None:
    duel, client = make_duel(ann), enter(ann)
    assert client.post(f"/sessions/{duel.right_id}/ready/").status_code == 302
    carry(duel.left)
    page = shown(client, duel)
    assert "Turn 1" not in page and "The agents are writing" not in page.split("<title>")[0]
    (ask,) = asked(duel.left)
    refused = client.post(f"/sessions/{duel.left_id}/reply/{ask.pk}/", {"text": "No ladder."})
    assert refused.status_code == 409 and "appear together" in refused.content.decode()
    carry(duel.right)
    page = shown(client, duel)
    assert "Turn 1" in page and "Your turn: left agent" in page
    assert 'id="line-left-2"' in page and 'id="line-right-2"' in page
    assert AGENTS[0] not in page.lower() and "Forgetful" not in page


def answer(client: Client, duel: Duel, text: str = "That breaks a rule.") -> None:
    """Reply to every side that asks, then let the agents reply."""
    for side in (duel.left, duel.right):
        for ask in asked(side):
            sent = client.post(f"/sessions/{side.pk}/reply/{ask.pk}/", {"text": text})
            assert sent.status_code == 302, sent.content.decode()[:2000]
    for side in (duel.left, duel.right):
        carry(side)


def start(duel: Duel, player: User) -> Client:
    ready(duel, player)
    carry(duel.left)
    carry(duel.right)
    return enter(player)


def cast(client: Client, duel: Duel, turn: int, choice: str) -> int:
    return client.post(f"/duels/{duel.pk}/vote/", {"turn": turn, "choice": choice}).status_code


def test_a_duel_goes_to_its_end_by_votes(ann: User) -> None:
    duel = make_duel(ann)
    client = start(duel, ann)
    voted = 0
    while not (progress := read_progress(duel)).over:
        if progress.compares:
            assert cast(client, duel, progress.turn, "left") == 302
            voted += 1
            assert "Your vote in turn" in shown(client, duel)
        assert cast(client, duel, 0, "left") == 409  # it is not over
        answer(client, duel)
    page = shown(client, duel)
    assert voted and "Which agent was better" in page and "Continue without a vote" in page
    assert cast(client, duel, 0, "both_bad") == 302
    assert cast(client, duel, 0, "both_bad") == 302, "the same vote sent twice is stored once"
    assert cast(client, duel, 0, "right") == 409
    page = shown(client, duel)
    assert "both bad" in page and "agents are not named" in page
    assert list(duel.votes.values_list("turn", "choice")) == [
        *((turn, "left") for turn in range(1, voted + 1)), (0, "both_bad"),
    ]  # fmt: skip


def test_votes_that_are_refused(ann: User, bob: User) -> None:
    duel = make_duel(ann)
    client = start(duel, ann)
    assert cast(client, duel, 2, "left") == 409, "a turn that is not shown yet"
    assert cast(client, duel, 1, "best") == 422
    assert client.post(f"/duels/{duel.pk}/vote/", {"turn": "x", "choice": "tie"}).status_code == 422
    assert cast(enter(bob), duel, 1, "left") == 404, "somebody else"
    assert cast(Client(), duel, 1, "left") == 302 and not duel.votes.exists(), "signed out"
    assert cast(enter(User.objects.get(username="mia")), duel, 1, "left") == 404, (
        "a manager who does not play"
    )
    assert cast(client, duel, 1, "tie") == 302
    answer(client, duel)
    assert cast(client, duel, 1, "left") == 409, "the turn before"
    with pytest.raises(TypeError):
        DuelVote.objects.update(choice="left")
    assert client.post("/duels/99999/vote/", {"turn": 1, "choice": "tie"}).status_code == 404
    assert enter(bob).get(f"/duels/{duel.pk}/state/").status_code == 404


@pytest.mark.parametrize("promised", ["words", "scores"])
def test_votes_of_an_erased_person_go_where_scores_go(ann: User, promised: str) -> None:
    duel = make_duel(ann)
    client = start(duel, ann)
    cast(client, duel, 1, "left")
    Study.objects.update(settings={**duel.left.study.settings, "erasure": promised})
    root = User.objects.create_superuser("root")
    erase_person(user=ann, by=root, typed="ann", reason="asked")
    assert DuelVote.objects.count() == (promised == "words")


def test_the_page_asks_what_is_new(ann: User) -> None:
    duel = make_duel(ann)
    client = start(duel, ann)
    page = shown(client, duel)
    polled = page.split(f'hx-get="/duels/{duel.pk}/state/')[1].split('"')[0].replace("&amp;", "&")
    url = f"/duels/{duel.pk}/state/{polled}"
    assert client.get(url).status_code == 204
    assert cast(client, duel, 1, "right") == 302
    assert "Your vote in turn 1" in client.get(url).content.decode()


def test_sides_are_a_latin_square() -> None:
    placed: list[Placement] = []
    players, tasks = ["a", "b", "c", "d"], [f"t{n}" for n in range(20)]
    for player in players:
        for task in tasks:
            given: dict[str, Any] = {"pair": ("x", "y"), "player": player, "task": task}
            placed.append(Placement(**given, swapped=is_swapped(**given, earlier=placed, seed=3)))
    for names, of in ((players, lambda row: row.player), (tasks, lambda row: row.task)):
        for name in names:
            cells = [row.swapped for row in placed if of(row) == name]
            assert sum(cells) * 2 == len(cells), name
    again = is_swapped(pair=("x", "y"), player="a", task="t0", earlier=[], seed=3)
    assert again == placed[0].swapped
    seeds = {
        is_swapped(pair=("x", "y"), player="a", task="t0", earlier=[], seed=n) for n in range(9)
    }
    assert seeds == {True, False}


def fail(duel: Duel, side: str) -> None:
    """Let the call to the agent of a side fail for good."""
    trajectory = getattr(duel, side).trajectory
    Trajectory.objects.filter(pk=trajectory.pk).update(
        status=Trajectory.Status.FAILED, problem="the endpoint is gone"
    )


def test_one_agent_fails_and_the_other_goes_on(ann: User) -> None:
    duel = make_duel(ann)
    client = start(duel, ann)
    assert cast(client, duel, 1, "right") == 302
    answer_left_only_then_fail(client, duel)
    page = shown(client, duel)
    assert "did not respond" in page and "other side does not wait" in page
    assert "Which reply is better?" not in page, "there is nothing to compare"
    while not read_progress(duel).over:
        answer(client, duel)
    page = shown(client, duel)
    assert "Which agent was better" in page and 'id="session-pause"' not in page
    assert next_session(duel.left.study.live, ann) is not None, "the failed side waits for a retry"
    assert cast(client, duel, 0, "right") == 302
    ended_properly(duel, ann)
    assert [vote.counts for vote in votes_of(duel.left.study_id)] == [True, False]


def ended_properly(duel: Duel, player: User) -> None:
    """The failed side at the left is over with what was said, and holds nothing up."""
    assert "the agent did not respond" in shown(enter(player), duel)
    sides = [LiveSession.objects.get(pk=pk) for pk in (duel.left_id, duel.right_id)]
    status = Trajectory.Status
    assert [side.trajectory.status for side in sides] == [status.CANCELLED, status.DONE]
    assert all(side.state in LiveSession.OVER for side in sides)
    assert next_session(duel.left.study.live, player) is None
    with pytest.raises(Refused):
        retry_call(session=sides[0], by=User.objects.get(username="mia"))


def test_a_failed_side_is_tried_again_until_the_player_goes_on(ann: User) -> None:
    duel = make_duel(ann)
    client = start(duel, ann)
    assert client.post(f"/duels/{duel.pk}/close/").status_code == 409, "both go on"
    answer_left_only_then_fail(client, duel)
    assert not read_progress(duel).going[duel.left_id]
    retry_call(session=duel.left, by=User.objects.get(username="mia"))
    assert read_progress(duel).going[duel.left_id]
    fail(duel, "left")
    while not read_progress(duel).over:
        answer(client, duel)
    assert enter(User.objects.get(username="mia")).post(
        f"/duels/{duel.pk}/close/"
    ).status_code == 404, "who does not play"  # fmt: skip
    for _ in range(2):
        assert client.post(f"/duels/{duel.pk}/close/").status_code == 302
        ended_properly(duel, ann)
    assert LiveEvent.objects.filter(kind=LiveEvent.Kind.CANCELLED).count() == 1


def answer_left_only_then_fail(client: Client, duel: Duel) -> None:
    (ask,) = asked(duel.left)
    client.post(f"/sessions/{duel.left_id}/reply/{ask.pk}/", {"text": "That breaks a rule."})
    fail(duel, "left")


def test_an_agent_that_never_replied_leaves_nothing_to_compare(ann: User) -> None:
    duel = make_duel(ann)
    ready(duel, ann)
    fail(duel, "left")
    carry(duel.right)
    client = enter(ann)
    assert "Turn 1" in shown(client, duel), "the other side goes on"
    assert cast(client, duel, 1, "right") == 409
    while not read_progress(duel).over:
        answer(client, duel)
    assert "nothing to compare" in shown(client, duel)
    assert cast(client, duel, 0, "right") == 409
    assert client.post(f"/duels/{duel.pk}/close/").status_code == 302
    ended_properly(duel, ann)


def test_who_takes_or_leaves_one_side_takes_or_leaves_both(ann: User) -> None:
    duel = make_duel(None)
    take_place(place=duel.right.places.get(), user=ann)
    assert duel.left.places.get().player == ann
    client = start(duel, ann)
    assert client.post(f"/sessions/{duel.left_id}/leave/").status_code == 302
    assert not LivePlace.objects.filter(player=ann).exists()
    assert client.get(f"/sessions/{duel.right_id}/").status_code == 200  # says that they left


def test_a_duel_keeps_its_agents_and_turns(ann: User) -> None:
    duel = make_duel(ann)
    start(duel, ann)
    manager = enter(User.objects.get(username="mia"))
    for act in ({"do": "roll_back", "step": 0}, {"do": "take_over", "place": 1}):
        refused = manager.post(f"/sessions/{duel.left_id}/control/", act)
        assert refused.status_code == 409 and "both sides of a duel" in refused.content.decode()


def test_the_list_shows_one_row_of_a_duel(ann: User) -> None:
    duel = make_duel(ann)
    start(duel, ann)
    page = enter(ann).get("/sessions/").content.decode()
    assert page.count(f"duel {duel.pk}") == 2, "one card: its heading and its button"  # sr-only
    page = enter(User.objects.get(username="mia")).get("/sessions/").content.decode()
    assert f"left in duel {duel.pk}" in page and f"right in duel {duel.pk}" in page


def fields(path: str, client: Client, **more: Any) -> dict[str, Any]:
    """Return what the form of a page sends as it is first shown, with some of it changed."""
    form = client.get(path, {"mode": more.get("mode", "simulator")}).context["form"]
    first = {name: form[name].initial for name in form.fields}
    given = {name: value for name, value in first.items() if value not in (None, False)}
    dataset = form.dataset.pk
    return {**given, "dataset": dataset, "mode": "simulator", "level": "high", **more}


def test_a_duel_is_made_in_the_form_of_a_session(db: None) -> None:
    sample_dataset()
    researcher = make_person("rita", "view_results", "start_runs")
    client = enter(researcher)
    task = Task.objects.order_by("pk").first()
    assert task is not None
    given = fields("/sessions/new/", client, agent="coin-flipper", task=task.pk, mine="1")
    for refused in ({"second": "coin-flipper"}, {"second": "forgetful", "reply_seconds": "60"},
                    {"second": "forgetful", "leaving": "stand_in"}):  # fmt: skip
        assert client.post("/sessions/new/", {**given, **refused}).status_code == 422
    assert not Duel.objects.exists() and not Study.objects.exists()
    made = client.post("/sessions/new/", {**given, "second": "forgetful"})
    assert made.status_code == 200, made.content.decode()
    duel = Duel.objects.get()
    assert duel.left.study.has_duels and {
        side.trajectory.run.agent.name for side in (duel.left, duel.right)
    } == {"coin-flipper", "forgetful"}
    assert duel.left.trajectory.task == duel.right.trajectory.task == task
    assert duel.left.trajectory.seed == duel.right.trajectory.seed
    assert LivePlace.objects.filter(player=researcher).count() == 2


def test_votes_are_exported_and_in_the_api(ann: User) -> None:
    duel = make_duel(ann)
    start(duel, ann)
    vote(duel=duel, turn=1, choice="right", by=ann)
    study, mia = duel.left.study, User.objects.get(username="mia")
    wish = ExportRequest(Scope(study))
    lines = "".join(map(str, export_stream(wish=wish, format="votes", by=mia))).splitlines()
    assert lines[0].startswith("duel,task,turn,choice,rater") and len(lines) == 2
    agents = [side.trajectory.run.agent.name for side in (duel.left, duel.right)]
    rater = Pseudonyms(study).rater(ann.pk)
    assert f",1,right,{rater},0,{','.join(agents)}," in lines[1]
    with pytest.raises(Refused, match="no duels"):
        plain = make_live_study(by=mia)
        list(export_stream(wish=ExportRequest(Scope(plain)), format="votes", by=mia))
    (item,) = Caller(bearer(mia)).get(f"/studies/{study.pk}/duels").json()["items"]
    assert (item["left_agent"], item["right_agent"]) == tuple(agents)
    assert [(cast["turn"], cast["choice"], cast["by"]) for cast in item["votes"]] == [
        (1, "right", "ann")
    ]
