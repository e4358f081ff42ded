"""The page of a player: what it shows, what it takes, and what a poll brings."""

import json
import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from annotation.live.control.services import (
    end_session,
    free_place,
    let_stand_in,
    take_over,
)
from annotation.live.events import record_live_event
from annotation.live.play.dialogue import DialogueLine
from annotation.live.play.services import be_ready, pause_session, take_place
from annotation.live.setup.sessions import make_session
from annotation.models import LiveDraft, LiveEvent, LivePlan, LiveSession, Study
from benchmarks.datasets.files import save_task_file
from benchmarks.models import Agent, Exchange, Trajectory
from benchmarks.roles.services import ensure_scripted_agents
from benchmarks.systems.acpbench_hard.samples import sample_file
from tests.annotation.live_sessions import (
    asked,
    begin,
    carry,
    make_live_session,
    make_live_study,
    say,
)
from tests.annotation.rows import make_person

pytestmark = [pytest.mark.django_db, pytest.mark.either]


@pytest.fixture
def session(ann: User) -> LiveSession:
    """A session in which ann is the user."""
    return make_live_session(make_live_study(), [ann])


def enter(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def at(session: LiveSession, path: str = "") -> str:
    return f"/sessions/{session.pk}/{path}"


def page(client: Client, session: LiveSession, query: str = "") -> str:
    return client.get(at(session) + query).content.decode()


def polled(client: Client, session: LiveSession, text: str) -> Any:
    """Return what the poll of a page answers."""
    found = re.search(r'hx-get="([^"]+state/[^"]+)"', text)
    assert found, "the page does not poll"
    return client.get(found[1].replace("&amp;", "&"), headers={"HX-Request": "true"})


def reply(client: Client, session: LiveSession, **fields: str) -> Any:
    ask = asked(session)[0]
    return client.post(at(session, f"reply/{ask.pk}/"), fields)


def feedback(text: str, **more: str) -> dict[str, str]:
    return {"text": text, **more}


def test_from_the_lobby_to_the_first_turn(session: LiveSession, ann: User) -> None:
    client = enter(ann)
    lobby = page(client, session)
    assert "I am ready" in lobby and "Players" in lobby
    assert polled(client, session, lobby).status_code == 204
    assert client.post(at(session, "ready/")).status_code == 302
    after = polled(client, session, lobby)
    assert after["HX-Retarget"] == "#session"
    carry(session)
    shown = page(client, session)
    assert "Your turn" in shown
    assert 'id="line-1"' in shown and escape(session.trajectory.task.prompt) in shown


def test_the_lobby_says_what_one_does_in_ones_own_place(ann: User) -> None:
    judged = make_live_session(make_live_study(mode="judge"), [ann])
    lobby = page(enter(ann), judged)
    assert "Mark what a plan breaks, and score it." in lobby and "The player" not in lobby


def test_why_a_manager_ended_is_read_unless_it_was_for_the_record(
    session: LiveSession, ann: User
) -> None:
    begin(session)
    rae = make_person("rae")
    end_session(session=session, by=rae, reason="The hour is <up>.")
    ended = "A manager of the study ended the session"
    assert f"{ended}: “The hour is &lt;up&gt;”. All" in page(enter(ann), session)
    # As it was kept up to 0.15, for the record alone.
    record_live_event(session=session, kind="cancelled", by=rae, reason="The hour is <up>.")
    assert f"{ended}. All" in page(enter(ann), session)


def test_what_is_sent_is_said_once(session: LiveSession, ann: User) -> None:
    begin(session)
    client = enter(ann)
    given = feedback("No ladder, please. " * 3)
    (ask,) = asked(session)
    url = at(session, f"reply/{ask.pk}/")
    assert [client.post(url, given).status_code for _ in range(2)] == [302, 302]
    shown = page(client, session)
    assert shown.count("No ladder, please.") == 3 and "talk-line own" in shown
    assert "is writing" in shown or "is working" in shown
    assert Exchange.objects.filter(role="simulator").count() == 1


def show_hints(session: LiveSession) -> None:
    plan = session.study.live
    plan.settings["hints"] = True
    plan.save()


def all_hints(client: Client, session: LiveSession, text: str) -> str:
    """Return what the button says that sends a reply in spite of its hints."""
    answer = reply(client, session, **feedback(text))
    assert answer.status_code == 422
    found = re.search(r'name="override" value="([^"]+)"', answer.content.decode())
    assert found
    return found[1].replace("&quot;", '"')


def test_hints_are_shown_and_can_be_overridden(session: LiveSession, ann: User) -> None:
    begin(session)
    show_hints(session)
    client = enter(ann)
    answer = reply(client, session, **feedback("Try again."))
    shown = answer.content.decode()
    assert answer.status_code == 422 and "Send anyway" in shown
    assert f'form="reply-{asked(session)[0].pk}"' in shown
    assert f'id="reply-{asked(session)[0].pk}"' in shown and "Try again." in shown
    assert not Exchange.objects.filter(role="simulator").exists()
    known = all_hints(client, session, "Try again.")
    assert reply(client, session, **feedback("Try again.", override=known)).status_code == 302
    events = session.events.filter(kind=LiveEvent.Kind.OVERRIDDEN)
    assert events.count() == len(json.loads(known))
    assert reply_text(session) == "Try again."


def reply_text(session: LiveSession) -> str:
    return Exchange.objects.get(trajectory=session.trajectory, role="simulator").text


@pytest.mark.parametrize("override", ["", "[", "{}", "[[1]]", '[["x","y"]]', "7"])
def test_an_override_of_other_hints_sends_nothing(
    session: LiveSession, ann: User, override: str
) -> None:
    begin(session)
    show_hints(session)
    answer = reply(enter(ann), session, **feedback("Try again.", override=override))
    assert answer.status_code == 422
    assert asked(session)


def test_an_empty_reply_is_refused(session: LiveSession, ann: User) -> None:
    begin(session)
    answer = reply(enter(ann), session, text="  ")
    assert answer.status_code == 422 and "Not sent" in answer.content.decode()


def test_too_late_keeps_what_was_typed(session: LiveSession, ann: User) -> None:
    begin(session)
    client = enter(ann)
    old = page(client, session)
    (ask,) = asked(session)
    say(session, "Said in the first tab.")
    # No hint comes before it, and no mark at what is missing: there is nothing to mend any more.
    known = client.post(at(session, f"reply/{ask.pk}/"), feedback("From the second tab."))
    assert known.status_code == 409
    shown = known.content.decode()
    assert "From the second tab." in shown and "the first answer stands" in shown
    empty = client.post(at(session, f"reply/{ask.pk}/"), feedback("  "))
    assert empty.status_code == 409 and "no longer needed" in empty.content.decode()
    brought = polled(client, session, old).content.decode()
    assert "Your reply was already sent." in brought
    (last,) = asked(session)
    end_session(session=session, by=None)
    late = client.post(at(session, f"reply/{last.pk}/"), feedback("After the end."))
    assert late.status_code == 409 and "After the end." in late.content.decode()
    assert not Exchange.objects.filter(text="After the end.").exists()


def test_a_poll_leaves_the_form_alone(session: LiveSession, ann: User) -> None:
    begin(session)
    client = enter(ann)
    shown = page(client, session)
    assert polled(client, session, shown).status_code == 204
    pause_session(session=session, by=ann)
    brought = polled(client, session, shown)
    text = brought.content.decode()
    assert "You paused the session" in text and 'id="session-desk"' not in text
    answer = reply(client, session, **feedback("While it is paused."))
    if answer.status_code != 422:
        assert answer.status_code == 409
    assert "While it is paused." in answer.content.decode()


def test_what_is_typed_is_kept_and_comes_back(session: LiveSession, ann: User) -> None:
    begin(session)
    client = enter(ann)
    (ask,) = asked(session)
    url = at(session, f"draft/{ask.pk}/")

    def keep(text: str, version: object) -> Any:
        body = {"fields": {"text": text}, "version": version}
        return client.post(url, body, content_type="application/json")

    assert keep("Half a sent", 0).json() == {"version": 1}
    assert "Half a sent" in page(enter(ann), session)
    assert keep("Half a sentence", 1).json() == {"version": 2}
    # Sent again without having heard of it, and from a tab that has not heard of it either.
    assert keep("Half a sentence", 1).json() == {"version": 2}
    refused = keep("From another tab", 1)
    assert refused.status_code == 409
    assert refused.json()["fields"] == {"text": "Half a sentence"}
    assert refused.json()["version"] == 2
    shown = page(client, session, f"?ask={ask.pk}&as=text")
    assert "Half a sentence" in shown and 'data-draft-version="2"' in shown
    for wrong in ("[]", '{"fields": 3}', '{"fields": {"text": 3}, "version": 1}', "nonsense"):
        assert client.post(url, wrong, content_type="application/json").status_code == 422
    for version in (None, "1", True, -1, 2**40):
        assert keep("Wrong", version).status_code == 422
    say(session, "It is said.")
    assert keep("Too late", 2).status_code == 200
    assert LiveDraft.objects.get().fields == {"text": "It is said."}  # in case it is edited


def test_others_find_nothing(session: LiveSession, ann: User, bob: User) -> None:
    begin(session)
    (ask,) = asked(session)
    elsewhere = make_live_session(session.study, [bob])
    begin(elsewhere)
    client = enter(bob)
    for path in ("", "state/", "watch/"):
        assert client.get(at(session, path)).status_code == 404
    for path in (f"reply/{ask.pk}/", f"draft/{ask.pk}/", "ready/", "pause/", "resume/", "leave/"):
        assert client.post(at(session, path), {"text": "Hello"}).status_code == 404
    # Nor is an ask of another session answered from one's own.
    for kind in ("reply", "draft"):
        answer = client.post(at(elsewhere, f"{kind}/{ask.pk}/"), {"text": "Hello"})
        assert answer.status_code == 404
    assert asked(session)


@pytest.mark.parametrize(
    ("speaker", "text", "folded", "preview"),
    [
        ("Instructions", f"You plan. {'Well. ' * 40}", True, f"You plan. {'Well. ' * 14}…"),
        ("Result of a call", 'Asked: {"a": 1}\nFound: 12\n[\n{"a": 2}\n]', True, "Found: 12"),
        ("You", '<call>\n{"name": "x"}\n</call>', True, "As it was sent"),
        ("You", '{\n"fit": true,\n"reason": ""\n}', True, "As it was sent"),
        ("You", "[sighs] No <ladder>, please.", False, ""),
        ("Agent", "1. Fill {the} jug.", False, ""),
    ],
)
def test_what_is_for_programs_is_folded(
    speaker: str, text: str, folded: bool, preview: str
) -> None:
    said = DialogueLine(1, speaker, text, 1)
    assert said.folded == folded
    assert not folded or said.preview == preview


def test_a_failed_call_is_told_without_its_reason(session: LiveSession, ann: User) -> None:
    begin(session)
    say(session, "Not like that.")
    Trajectory.objects.filter(pk=session.trajectory_id).update(
        status=Trajectory.Status.FAILED, problem="zebra-7b: connection refused"
    )
    shown = page(enter(ann), session)
    assert "did not respond" in shown and "Your messages are stored" in shown
    assert "zebra" not in shown
    watched = page(enter(User.objects.get(username="mia")), session, "watch/")
    assert "The agent did not respond. A manager can continue the session" in watched
    assert "zebra-7b: connection refused" in watched and "Your messages" not in watched


def test_the_end_is_told_in_the_systems_words(session: LiveSession, ann: User) -> None:
    begin(session)
    client = enter(ann)
    shown = page(client, session)
    while asked(session):
        say(session, f"Not like that, for reason {len(session.events.all())}.")
    brought = polled(client, session, shown)
    assert brought.status_code == 286
    assert "Session over" in page(client, session)
    session.refresh_from_db()
    assert session.state == LiveSession.State.ENDED
    assert "hx-get" not in page(client, session)


def test_limits_are_told_to_whoever_is_asked_and_whoever_waits(ann: User, bob: User) -> None:
    study = make_live_study(mode="two_people", reply_seconds=90, session_minutes=20)
    session = make_live_session(study, [ann, bob])
    begin(session)
    for user, words in ((ann, "for your reply"), (bob, "for the agent’s reply")):
        shown = page(enter(user), session)
        assert words in shown and "until the session ends" in shown
    assert "Your turn" in page(enter(ann), session)
    assert "Agent’s turn" in page(enter(bob), session)


@pytest.mark.parametrize("policy", LivePlan.Leaving.values)
def test_leaving_does_what_the_study_says(ann: User, policy: str) -> None:
    session = make_live_session(make_live_study(leaving=policy), [ann])
    begin(session)
    assert enter(ann).post(at(session, "leave/")).status_code == 302
    session.refresh_from_db()
    place = session.places.get()
    over = session.state == LiveSession.State.CANCELLED
    assert over == (policy == LivePlan.Leaving.CANCEL)
    assert (place.player is None) == (policy != LivePlan.Leaving.CANCEL)
    assert bool(place.stand_in) == (policy == LivePlan.Leaving.STAND_IN)


def test_a_stand_in_leaves_nothing_to_answer(session: LiveSession, ann: User) -> None:
    begin(session)
    client = enter(ann)
    let_stand_in(place=session.places.get(), by=None)
    shown = client.get(at(session, "state/")).content.decode()
    assert "You no longer play in this session" in shown and "<form" not in shown
    assert "You no longer play in this session" in page(client, session)
    assert client.post(at(session, "away/")).status_code == 204
    ask = session.trajectory.exchanges.count()  # of no one's: the place is what counts
    assert client.post(at(session, f"reply/{ask}/"), {"text": "Late."}).status_code == 409
    draft = {"fields": {"text": "Late."}, "version": 0}
    kept = client.post(at(session, f"draft/{ask}/"), draft, content_type="application/json")
    assert kept.status_code == 409 and "no longer play" in kept.json()["reason"]
    assert enter(make_person("stranger")).get(at(session, "state/")).status_code == 404


def test_a_closed_page_counts_no_more_although_its_last_poll_comes_later(
    ann: User, bob: User
) -> None:
    session = make_live_session(make_live_study(mode="two_people"), [ann, bob], agent="person")
    begin(session)

    def shown() -> str:
        players = page(enter(bob), session).partition('id="room-players"')[2]
        return players.partition("</ul>")[0]

    client = enter(ann)
    text = page(client, session)
    assert "away" not in shown()
    (leave,) = re.findall(r'data-leave="([^"]+)"', text)
    assert client.post(leave).status_code == 204
    assert "away" in shown()
    # A slow server handles the page's last question after that it was closed.
    polled(client, session, text)
    assert "away" in shown()
    # Another page of theirs counts at once, and closing the first one again changes nothing.
    other = page(client, session)
    assert "away" not in shown()
    client.post(leave)
    polled(client, session, other)
    assert "away" not in shown()


def test_who_is_removed_reads_why(session: LiveSession, ann: User) -> None:
    mia, (place,) = User.objects.get(username="mia"), session.places.all()
    begin(session)
    free_place(place=place, by=mia, reason="You were needed elsewhere.")
    assert "removed you: “You were needed elsewhere”." in page(enter(ann), session)
    take_place(place=place, user=ann)
    free_place(place=place, by=None, reason="no reply within 90 seconds")
    assert "You were removed: no reply within 90 seconds." in page(enter(ann), session)
    take_place(place=place, user=ann)
    take_over(place=place, user=mia)
    shown = enter(ann).get(at(session, "state/")).content.decode()
    assert "A manager of the study took over your place. No reason was given." in shown


@pytest.mark.parametrize("blinded", [True, False])
def test_blinding_decides_what_presence_says_of_a_stand_in(
    ann: User, bob: User, blinded: bool
) -> None:
    study = make_live_study(mode="two_people", reply_seconds=90, leaving="stand_in")
    Study.objects.filter(pk=study.pk).update(blinded=blinded)
    session = make_live_session(study, [ann, bob], agent="person")
    begin(session)
    assert ("then a script or model continues" in page(enter(bob), session)) != blinded
    let_stand_in(place=session.places.get(player=ann), by=None)
    shown = page(enter(bob), session)
    players = shown.partition('id="room-players"')[2].partition("</ul>")[0]
    assert ("script or model" in players) != blinded and "Agent" in players
    assert "away" not in players


def test_only_who_may_resume_is_offered_it(session: LiveSession, ann: User) -> None:
    begin(session)
    client = enter(ann)
    before = page(client, session)
    pause_session(session=session, by=User.objects.get(username="mia"))
    brought = polled(client, session, before).content.decode()
    assert "manager paused the session" in brought and "session-resume" not in brought
    refused = client.post(at(session, "resume/"))
    assert refused.status_code == 409
    assert "Only who paused the session or its manager" in refused.content.decode()
    session.refresh_from_db()
    assert session.state == LiveSession.State.PAUSED


def test_whoever_oversees_watches(session: LiveSession, ann: User) -> None:
    begin(session)
    say(session, "Not like that.")
    mia = enter(User.objects.get(username="mia"))
    assert mia.get(at(session)).status_code == 302
    shown = mia.get(at(session, "watch/")).content.decode()
    assert "Not like that." in shown and "Events" in shown and "coin" in shown.lower()
    found = re.search(r'hx-get="([^"]+watch/[^"]+)"', shown)
    assert found and asked(session) and "Turn 2, in progress" in shown
    url = found[1].replace("&amp;", "&")
    assert mia.get(url, headers={"HX-Request": "true"}).status_code == 204
    say(session, "Nor like that.")
    brought = mia.get(url, headers={"HX-Request": "true"}).content.decode()
    assert "Nor like that." in brought and "Not like that." not in brought
    # Whoever plays does not look behind the scene before the end.
    assert enter(ann).get(at(session, "watch/")).status_code == 302
    asked_itself = enter(ann).get(at(session, "watch/"), headers={"HX-Request": "true"})
    assert asked_itself["HX-Redirect"] == at(session)
    assert "coin-flipper" not in page(enter(ann), session).lower()


def test_only_who_watches_reads_whether_the_answer_was_right(ann: User) -> None:
    ensure_scripted_agents()
    dataset = save_task_file(system="acpbench_hard", file=sample_file(), name="Questions").dataset
    task = dataset.tasks.filter(external_id__startswith="app:").first()
    assert task is not None
    session = make_session(
        study=make_live_study(system="acpbench_hard", mode="agent"),
        agent=Agent.objects.get(name="person"), task=task, players=[ann], by=None,
    )  # fmt: skip
    begin(session)
    say(session, "\n".join(task.payload["answer"]))
    mia = enter(User.objects.get(username="mia"))
    own, watched = page(enter(ann), session), page(mia, session, "watch/")
    assert "Your answer is stored." in own and "The answer is right." not in own
    assert "The answer is right." in watched and "Your answer" not in watched


def test_ready_twice_is_ready_once(session: LiveSession, ann: User) -> None:
    be_ready(place=session.places.get(), user=ann)
    assert enter(ann).post(at(session, "ready/")).status_code == 302
    assert session.events.filter(kind="ready").count() == 1


@pytest.mark.parametrize("stage", ["lobby", "asked", "background", "paused", "stuck"])
def test_a_poll_that_finds_nothing_new_is_cheap(
    ann: User, stage: str, django_assert_num_queries: Any
) -> None:
    """Its token is the page's own in every state: else it would bring the page again, each time."""
    study = make_live_study(mode="judge_and_simulator", shows_suggestions=True)
    session = make_live_session(study, [ann])
    if stage != "lobby":
        begin(session)
    trajectory = Trajectory.objects.filter(pk=session.trajectory_id)
    if stage == "background":
        trajectory.update(status=Trajectory.Status.RUNNING)
    elif stage == "stuck":
        trajectory.update(status=Trajectory.Status.FAILED)
    elif stage == "paused":
        pause_session(session=session, by=ann)
    client = enter(ann)
    shown = page(client, session)
    polled(client, session, shown)
    suggestions = stage in ("asked", "paused")
    with django_assert_num_queries(4 + suggestions):
        assert polled(client, session, shown).status_code == 204
    if stage == "background":
        # Whether a worker has it yet is the same to players; whether it failed is not.
        trajectory.update(status=Trajectory.Status.PENDING)
        assert polled(client, session, shown).status_code == 204
        trajectory.update(status=Trajectory.Status.DECISION)
        assert "No response" in polled(client, session, shown).content.decode()


def test_messages_are_drawn_and_copied_as_they_were_sent(session: LiveSession, ann: User) -> None:
    begin(session)
    said = "Please **no ladder**:\n- <b>one</b>\n- two"
    say(session, said)
    shown = page(enter(ann), session)
    assert "<strong>no ladder</strong>" in shown and "<li>&lt;b&gt;one&lt;/b&gt;</li>" in shown
    (copied,) = re.findall(r'data-copy="(line-\d+-text)" aria-label="Copy message 3"', shown)
    assert f'<div id="{copied}" hidden>{escape(said)}</div>' in shown


def test_one_player_sees_that_the_other_is_typing(ann: User) -> None:
    bob = make_person("bob")
    session = make_live_session(make_live_study(mode="two_people"), [ann, bob])
    begin(session)
    (ask,) = asked(session)
    writer, reader = enter(ann), enter(bob)
    before = page(reader, session)
    assert "The agent is writing" not in before
    draft = {"fields": {"text": "1. Look"}, "version": 0}
    url = at(session, f"draft/{ask.pk}/")
    assert writer.post(url, json.dumps(draft), content_type="application/json").status_code == 200
    assert "The agent is writing" in polled(reader, session, before).content.decode()
    assert "The agent is writing" not in page(writer, session)
    empty = {"fields": {"text": " "}, "version": 1}
    assert writer.post(url, json.dumps(empty), content_type="application/json").status_code == 200
    assert "The agent is writing" not in page(reader, session)


def test_a_player_reads_what_they_may_say_and_what_is_seen_of_it(
    session: LiveSession, ann: User
) -> None:
    begin(session)
    says = "Tell the agent what its plan breaks. It sees your message, and not your list."
    assert says in page(enter(ann), session)


def test_in_a_blinded_study_a_model_takes_its_turn_like_a_person(ann: User) -> None:
    bob = make_person("bob")
    session = make_live_session(make_live_study(mode="two_people"), [ann, bob])
    begin(session)
    say(session, "1. Mop the floor")
    client = enter(ann)
    assert "User’s turn" in page(client, session)
    session.places.filter(title="User").update(player=None, stand_in="some model")
    trajectory = Trajectory.objects.filter(pk=session.trajectory_id)
    trajectory.update(status=Trajectory.Status.RUNNING)
    call = Exchange.objects.get(trajectory=session.trajectory_id, role="agent")
    call.pk, call.step, call.role, call.state = None, call.step + 1, "simulator", "sent"
    call.sent_at = timezone.now()
    call.save(force_insert=True)
    shown = page(client, session)
    assert "User’s turn" in shown and "some model" not in shown


def test_verdicts_of_one_kind_are_given_on_one_form(ann: User, bob: User) -> None:
    session = make_live_session(make_live_study(mode="two_people"), [ann, bob])
    begin(session)
    say(session, "1. Boil water in the kettle")
    client, (first, second) = enter(bob), asked(session)
    shown = page(client, session)
    assert shown.count("<form") == shown.count("</form") and "Send 2 verdicts" in shown
    assert 'name="none-world"' in shown and 'name="none-user"' in shown
    kind = first.context["kind"]
    url, joined = at(session, f"reply/{first.pk}/"), {"from_fields": "1", "joined": "1"}
    half = client.post(url, {**joined, f"none-{kind}": "1"})
    assert half.status_code == 422 and half.content.decode().count("or accept the plan") == 1
    assert len(asked(session)) == 2  # all of them, or none
    key = second.context["constraints"][0]["key"]
    sent = client.post(url, {**joined, f"none-{kind}": "1", f"violates-{key}": "1"})
    assert sent.status_code == 302 and not asked(session)
    rows = Exchange.objects.filter(trajectory=session.trajectory, answerer__kind="human", step=1)
    assert [row.value["violated"] for row in rows.order_by("slot")] == [[], [key]]
    again = client.post(url, {**joined, f"none-{kind}": "1", f"violates-{key}": "1"})
    assert again.status_code in (302, 409)
    assert rows.count() == 2
    # They are taken back as they were sent: both, with what was chosen.
    carry(session)
    assert client.post(at(session, "take-back/")).status_code == 302
    assert not rows.exists() and len(asked(session)) == 2
    shown = page(client, session)
    assert "Send 2 verdicts" in shown
    for name in (f"none-{kind}", f"violates-{key}"):
        assert re.search(rf'name="{name}"[^>]*checked|checked[^>]*name="{name}"', shown), name
