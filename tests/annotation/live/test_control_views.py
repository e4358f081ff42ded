"""The monitor of sessions, and what those in charge can do: who may, what it says, what it does."""

import csv
import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.db.models import F
from django.test import Client
from django.urls import reverse

from annotation.annotator_quality.checks import study_signs
from annotation.live.control.services import end_session, free_place, let_stand_in
from annotation.live.play.services import be_ready, pause_session
from annotation.models import LiveSession
from annotation.studies.setup import add_member
from benchmarks.models import Run, Trajectory
from tests.annotation.live_sessions import begin, carry, make_live_session, make_live_study, say
from tests.annotation.rows import make_person

pytestmark = [pytest.mark.django_db, pytest.mark.either]
MONITOR = "/sessions/monitor/"


@pytest.fixture
def session(ann: User, manager: User) -> LiveSession:
    """A session in which ann is asked, of a study that mia manages."""
    session = make_live_session(make_live_study(by=manager), [ann])
    begin(session)
    return session


@pytest.fixture
def as_manager(manager: User) -> Client:
    client = Client()
    client.force_login(manager)
    return client


def steer(client: Client, session: LiveSession, **fields: object) -> int:
    """The status of what was answered."""
    reply = client.post(reverse("annotation:session_control", args=[session.pk]), fields)
    return reply.status_code


def test_the_monitor_says_whose_turn_it_is(session: LiveSession, as_manager: Client) -> None:
    page = as_manager.get(MONITOR).content.decode()
    assert "<strong>ann</strong>: their turn" in page and "Coin flipper" in page
    version = as_manager.get(MONITOR, headers={"HX-Request": "true"}).context["version"]
    again = as_manager.get(MONITOR, {"v": version}, headers={"HX-Request": "true"})
    assert again.status_code == 204


def test_a_session_without_its_player_stands_first(
    session: LiveSession, ann: User, as_manager: Client
) -> None:
    later = make_live_session(session.study, [ann])
    begin(later)
    free_place(place=later.places.get(), by=None)
    rows = as_manager.get(MONITOR).context["rows"]
    assert [row.session for row in rows] == [later, session]
    assert [row.words for row in rows] == ["a player is missing", "waiting for a reply"]
    page = as_manager.get(reverse("annotation:session_control", args=[later.pk]))
    assert "waits for a player here" in page.content.decode()
    let_stand_in(place=later.places.get(), by=None)
    assert [row.standing for row in as_manager.get(MONITOR).context["rows"]] == [
        "asked",
        "background",
    ]


@pytest.mark.parametrize("count", [1, 6])
def test_many_sessions_take_as_many_queries_as_one(
    count: int,
    ann: User,
    manager: User,
    as_manager: Client,
    django_assert_max_num_queries: Callable[..., object],
) -> None:
    study = make_live_study(by=manager)
    for _ in range(count):
        make_live_session(study, [ann])
    as_manager.get(MONITOR)
    with django_assert_max_num_queries(14):  # type: ignore[attr-defined]
        assert as_manager.get(MONITOR).status_code == 200


def test_players_see_no_monitor_and_strangers_no_session(session: LiveSession, ann: User) -> None:
    client = Client()
    client.force_login(ann)
    assert client.get(MONITOR).status_code == 403
    assert steer(client, session, do="end") == 404
    client.force_login(make_person("stranger"))
    assert steer(client, session, do="end") == 404
    observer = make_person("observer")
    add_member(study=session.study, user=observer, role="observer")
    client.force_login(observer)
    assert steer(client, session, do="end") == 403
    assert client.get(MONITOR).status_code == 200
    session.refresh_from_db()
    assert session.state == LiveSession.State.RUNNING


def test_whoever_plays_blind_does_not_see_the_agent_there(
    session: LiveSession, manager: User, as_manager: Client
) -> None:
    add_member(study=session.study, user=manager, role="annotator")
    mine = make_live_session(session.study, [manager])
    page = as_manager.get(MONITOR).content.decode()
    assert "Coin flipper" not in page
    for pk in (session.pk, mine.pk):
        page = as_manager.get(reverse("annotation:session_control", args=[pk])).content.decode()
        assert "Coin flipper" not in page and "coin-flipper" not in page


def test_pause_resume_and_end(session: LiveSession, as_manager: Client) -> None:
    for deed, state in (("pause", "paused"), ("resume", "running"), ("end", "cancelled")):
        assert steer(as_manager, session, do=deed, reason="a test") == 302
        session.refresh_from_db()
        assert session.state == state
    assert steer(as_manager, session, do="pause") == 409
    assert session.events.get(kind="cancelled").reason == "a test"


def test_ready_arrived_and_never_came_are_told_apart(manager: User, as_manager: Client) -> None:
    study = make_live_study(by=manager, mode="two_people")
    people = [make_person(name) for name in ("ready", "arrived", "absent")]
    first = make_live_session(study, people[:2], agent="person")
    make_live_session(study, [people[2], None], agent="person")
    be_ready(place=first.places.get(player=people[0]), user=people[0])
    client = Client()
    client.force_login(people[1])
    client.get(reverse("annotation:session", args=[first.pk]))
    page = as_manager.get(MONITOR, {"study": study.pk})
    assert page.context["attendance"] == [
        ("ready", 1), ("arrived, not ready", 1), ("never came", 1), ("free", 1),
    ]  # fmt: skip
    words = re.sub(r"<[^>]+>", "", page.content.decode())
    for name, told in (("ready", "ready"), ("arrived", "arrived, not ready")):
        assert f"{name} {told}" in words
    assert "absent never came" in words and "1 free place" in words


def test_all_sessions_pause_resume_and_end_at_once(
    session: LiveSession, ann: User, as_manager: Client
) -> None:
    own = make_live_session(session.study, [ann])
    begin(own)
    waits = make_live_session(session.study, [ann])
    pause_session(session=own, by=ann)
    url = reverse("annotation:sessions_all", args=[session.study_id])

    def states(do: str) -> list[str]:
        assert as_manager.post(url, {"do": do, "reason": "the bell"}).status_code == 302
        rows = LiveSession.objects.filter(pk__in=[session.pk, own.pk, waits.pk]).order_by("pk")
        return list(rows.values_list("state", flat=True))

    assert states("pause") == ["paused", "paused", "gathering"]
    # A pause belongs to who made it: that of a player stays.
    assert states("resume") == ["running", "paused", "gathering"]
    assert states("explode") == ["running", "paused", "gathering"]
    assert states("end") == ["cancelled"] * 3
    assert own.events.get(kind="cancelled").reason == "the bell"


def test_a_session_without_a_reply_says_so_before_pay_and_in_analysis(
    session: LiveSession, ann: User, manager: User, as_manager: Client
) -> None:
    add_member(study=session.study, user=ann, role="annotator")
    spoken = make_live_session(session.study, [ann])
    begin(spoken)
    say(spoken, "Not like that.")
    for one in (session, spoken):
        end_session(session=one, by=manager)
    assert study_signs(session.study) == {ann.pk: [f"no reply in session {session.number}"]}
    sessions = as_manager.get(f"/studies/{session.study_id}/sessions/").content.decode()
    assert sessions.count("no reply from the user") == 1
    assert "1 sign" in as_manager.get(f"/studies/{session.study_id}/payment/").content.decode()
    manager.user_permissions.add(Permission.objects.get(codename="view_results"))
    for one, told in ((session, True), (spoken, False)):
        page = as_manager.get(f"/trajectories/{one.trajectory_id}/").content.decode()
        assert ("The user sent no reply in this session." in page) == told


def test_pages_of_analysis_count_the_sessions_without_a_reply(
    session: LiveSession, ann: User, manager: User, as_manager: Client
) -> None:
    manager.user_permissions.add(Permission.objects.get(codename="view_results"))
    spoken = make_live_session(session.study, [ann])
    begin(spoken)
    say(spoken, "Not like that.")
    both = [session.trajectory_id, spoken.trajectory_id]
    runs = Trajectory.objects.filter(pk__in=both).values_list("run", flat=True)
    page = f"/analysis/leaderboard/?runs={'&runs='.join(map(str, sorted(set(runs))))}"

    def told() -> list[str]:
        shown = as_manager.get(page).content.decode()
        return re.findall(r"A player sent no reply in [^.]*\. <a href=\"[^\"]*\"", shown)

    assert told() == []  # neither counts before it has ended
    Trajectory.objects.filter(pk__in=both).update(status="done", metrics={"accurate": 1.0})
    LiveSession.objects.update(state=LiveSession.State.ENDED)
    Run.objects.update(data_version=F("data_version") + 1, status="done")
    link = f"/trajectories/?ids={session.trajectory_id}"
    assert told() == [f'A player sent no reply in 1 of 2 sessions counted here. <a href="{link}"']


def test_places_change_hands(session: LiveSession, as_manager: Client, manager: User) -> None:
    assert steer(as_manager, session, do="free", place=1) == 302
    assert session.places.get().player is None
    url = reverse("annotation:session_control", args=[session.pk])
    taken = as_manager.post(url, {"do": "take_over", "place": 1})
    assert taken.headers["Location"] == reverse("annotation:session", args=[session.pk])
    assert session.places.get().player == manager
    assert steer(as_manager, session, do="stand_in", place=1) == 302
    carry(session)
    assert session.trajectory.status == Trajectory.Status.DONE


def test_a_failed_call_is_tried_again_or_given_to_another_agent(
    session: LiveSession, as_manager: Client, ann: User
) -> None:
    url = reverse("annotation:session_control", args=[session.pk])
    assert "Sessions that need you" not in as_manager.get("/").content.decode()
    fail = {"status": Trajectory.Status.FAILED, "problem": "the endpoint is down"}
    session.trajectory.open_asks.all().delete()
    Trajectory.objects.update(**fail)
    page = as_manager.get(url).content.decode()
    assert "the endpoint is down" in page and "Retry call" in page
    # Those in charge are told at home, nobody else.
    home = as_manager.get("/").content.decode()
    assert "Sessions that need you" in home and url in home
    player = Client()
    player.force_login(ann)
    assert url not in player.get("/").content.decode()
    assert steer(as_manager, session, do="retry") == 302
    carry(session)
    assert session.trajectory.status == Trajectory.Status.WAITING
    session.trajectory.open_asks.all().delete()
    Trajectory.objects.update(**fail)
    other = next(
        value
        for value, label in as_manager.get(url).context["form"].fields["agent"].choices
        if label == "Explorer"
    )
    assert steer(as_manager, session, do="agent", agent=other) == 302
    carry(session)
    # From then on pages name who goes on.
    assert as_manager.get(url).context["agent"] == "Explorer"
    assert as_manager.get(MONITOR).context["rows"][0].agent == "Explorer"
    say(session, "Not like that.")
    agents = session.trajectory.exchanges.filter(role="agent").order_by("step")
    names = [row.answerer.name for row in agents]
    assert names[0] == "coin-flipper" and names[-1] == "explorer"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "do:"),
        ({"do": "explode"}, "do:"),
        ({"do": "free"}, "choose one of the places"),
        ({"do": "free", "place": "9"}, "choose one of the places"),
        ({"do": "agent"}, "choose an agent"),
        ({"do": "agent", "agent": "0"}, "agent:"),
    ],
)
def test_what_cannot_be_done_is_said_and_changes_nothing(
    session: LiveSession, as_manager: Client, fields: dict[str, str], words: str
) -> None:
    before = session.events.count()
    reply = as_manager.post(reverse("annotation:session_control", args=[session.pk]), fields)
    assert reply.status_code == 422 and words in reply.content.decode()
    assert session.events.count() == before


def test_a_private_note_is_read_by_one_player_and_recorded(ann: User, manager: User) -> None:
    bob = make_person("bob")
    session = make_live_session(make_live_study(mode="two_people", by=manager), [ann, bob])
    begin(session)
    reader, other, writer = Client(), Client(), Client()
    for client, user in ((reader, ann), (other, bob), (writer, manager)):
        client.force_login(user)
    before = reader.get(f"/sessions/{session.pk}/").content.decode()
    poll = html.unescape(re.findall(r'hx-get="([^"]+/state/[^"]+)"', before)[0])
    given = {"do": "note", "place": 1, "reason": "Please <b>be</b> brief."}
    assert writer.post(f"/sessions/{session.pk}/control/", given).status_code == 302
    said = "Please &lt;b&gt;be&lt;/b&gt; brief."
    assert said in reader.get(poll, headers={"HX-Request": "true"}).content.decode()
    assert said not in other.get(f"/sessions/{session.pk}/").content.decode()
    event = session.events.get(kind="note")
    assert (event.by, event.about, event.reason) == (manager, ann, "Please <b>be</b> brief.")
    watched = writer.get(f"/sessions/{session.pk}/watch/").content.decode()
    assert "mia wrote to ann (Agent)." in watched
    for wrong in ({"reason": " "}, {"place": 9}):
        answer = writer.post(f"/sessions/{session.pk}/control/", {**given, **wrong})
        assert answer.status_code == 422
    assert session.events.filter(kind="note").count() == 1
    assert reader.post(f"/sessions/{session.pk}/control/", given).status_code in (403, 404)


def test_players_read_why_a_manager_paused(ann: User, manager: User) -> None:
    session = make_live_session(make_live_study(by=manager), [ann])
    begin(session)
    writer, player = Client(), Client()
    writer.force_login(manager)
    player.force_login(ann)
    writer.post(f"/sessions/{session.pk}/control/", {"do": "pause", "reason": "Lunch"})
    shown = player.get(f"/sessions/{session.pk}/").content.decode()
    assert "The study’s manager paused the session: Lunch. Time limits stop" in shown


def test_a_place_that_was_taken_over_is_given_back(ann: User, manager: User) -> None:
    session = make_live_session(make_live_study(by=manager), [ann])
    begin(session)
    writer, player = Client(), Client()
    writer.force_login(manager)
    player.force_login(ann)
    control = f"/sessions/{session.pk}/control/"
    back = {"do": "give_back", "place": 1, "reason": "All yours"}
    assert writer.post(control, back).status_code == 409  # nobody took it over
    writer.post(control, {"do": "take_over", "place": 1, "reason": "To help"})
    assert "You no longer play" in player.get(f"/sessions/{session.pk}/").content.decode()
    left = player.get(f"/sessions/{session.pk}/state/?left=1")
    assert (left.status_code, left.content) == (204, b"")
    assert "Give the place back" in writer.get(control).content.decode()
    assert writer.post(control, back).status_code == 302
    told = player.get(f"/sessions/{session.pk}/state/?left=1")
    assert told.status_code == 286 and "You have your place again" in told.content.decode()
    assert session.places.get().player == ann
    assert "Your turn" in player.get(f"/sessions/{session.pk}/").content.decode()
    assert writer.post(control, back).status_code == 409
    event = session.events.get(kind="given_back")
    assert (event.by, event.about, event.reason) == (manager, ann, "All yours")
    # Whoever is out when it ends stops asking; strangers learn nothing.
    writer.post(control, {"do": "free", "place": 1})
    writer.post(control, {"do": "end"})
    assert player.get(f"/sessions/{session.pk}/state/?left=1").status_code == 286
    player.force_login(make_person("zoe"))
    assert player.get(f"/sessions/{session.pk}/state/?left=1").status_code == 404


def test_how_far_a_reply_is_from_the_offered_draft_is_kept_and_shown(
    session: LiveSession, ann: User, as_manager: Client
) -> None:
    player = Client()
    player.force_login(ann)
    page = player.get(f"/sessions/{session.pk}/").content.decode()
    offered = html.unescape(re.findall(r'data-fill-text="([^"]+)"', page)[0])
    assert re.search(r'<textarea[^>]* name="text"[^>]*></textarea>', page)  # the box is empty
    say(session, offered.replace(offered.split()[-1], "else"))
    say(session, "Something of my own")
    kept = [row.detail["distance"] for row in session.events.filter(kind="offered")]
    assert kept[0] == pytest.approx(1 / len(offered.split())) and kept[1] == 1
    shown = as_manager.get(f"/sessions/{session.pk}/watch/").content.decode()
    assert "100 % of the words differ from the offered draft." in shown
    # The list of sessions has the mean, and none where no draft was offered.
    other = make_live_session(session.study, [ann])
    url = f"/studies/{session.study_id}/sessions/"
    listed = as_manager.get(url).content.decode()
    assert "Draft edited" in listed and f'<td class="num">{50 * sum(kept):.0f} %</td>' in listed
    assert "no draft was offered" in listed
    answer: Any = as_manager.get(url, {"format": "csv"})
    rows = list(csv.DictReader(b"".join(answer.streaming_content).decode().splitlines()))
    by_number = {row["session"]: row["draft distance"] for row in rows}
    assert float(by_number[str(session.number)]) == pytest.approx(sum(kept) / 2, abs=0.01)
    assert by_number[str(other.number)] == ""
