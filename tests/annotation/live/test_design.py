"""Studies of sessions from a design: named players, and whoever joins by link."""

import re
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from annotation.errors import Refused
from annotation.joining.invitations import accept_invite
from annotation.live.play.services import take_free_place
from annotation.live.setup.services import DesignRequest, SessionRequest, create_sessions
from annotation.models import LivePlace, LivePlan, LiveSession, Study
from annotation.people.invitations import digest_of, make_invite
from annotation.steps.next_session import next_session
from annotation.steps.selectors import next_step
from annotation.studies.setup import add_member
from benchmarks.datasets.services import save_dataset
from benchmarks.models import Agent, Profile
from benchmarks.systems.sda_planner.dataset.sample_house import sample_tasks
from tests.annotation.live_sessions import AGENT, sample_dataset
from tests.annotation.rows import make_person

pytestmark = [pytest.mark.django_db, pytest.mark.either]


def create(by: User, rows: list[list[User]] | int, **options: object) -> Study:
    dataset = sample_dataset()
    design = DesignRequest(
        agents=list(Agent.objects.filter(name__in=[AGENT, "explorer"]).order_by("name")),
        tasks=list(dataset.tasks.order_by("pk")[:2]),
        rows=rows,
        each=2,
        order="latin",
    )
    wish = SessionRequest(name="Drawn", dataset=dataset, mode="simulator", level="high", seed=5)
    return create_sessions(wish=SessionRequest(**{**vars(wish), **options}), design=design, by=by)


def played(study: Study, user: User) -> list[LiveSession]:
    places = LivePlace.objects.filter(session__study=study, player=user).order_by("order")
    return [place.session for place in places.select_related("session")]


def join(study: Study, user: User) -> str:
    add_member(study=study, user=user, role="annotator")
    return next_step(study, study.participants.get(user=user)).name


def test_one_link_lets_everybody_in_while_places_are_free(
    manager: User, ann: User, bob: User
) -> None:
    study = create(manager, 2)
    link = {"study": study, "role": "annotator", "label": "class", "days": 7, "by": manager}
    digest = digest_of(make_invite(shared=True, **link))
    for user in (ann, ann, bob):
        assert accept_invite(digest=digest, user=user) == study
    assert [len(played(study, user)) for user in (ann, bob)] == [2, 2]
    late = make_person("late")
    with pytest.raises(Refused, match="every place is taken"):
        accept_invite(digest=digest, user=late)
    assert not study.memberships.filter(user=late).exists()
    # A study whose players are named has no place for whoever comes.
    named = create(manager, [[ann], [bob]])
    with pytest.raises(Refused, match="without named players"):
        make_invite(shared=True, **{**link, "study": named})


def test_a_manager_gets_the_link_for_everybody_and_a_stranger_joins_by_it(manager: User) -> None:
    study = create(manager, 2)
    client, stranger = Client(), Client()
    client.force_login(manager)
    sessions = client.get(f"/studies/{study.pk}/sessions/").content.decode()
    assert "Make one link for everybody" in sessions
    page = client.post(f"/studies/{study.pk}/invites/", {"shared": "1"}).content.decode()
    (token,) = set(re.findall(r"/join/([\w-]{40,})/", page))
    for browser, words in ((client, "for everybody who got it"), (stranger, "Create account")):
        assert words in browser.get(f"/join/{token}/", follow=True).content.decode()
    account = {"username": "new", "password1": "secret-enough", "password2": "secret-enough"}
    assert stranger.post("/join/", account).status_code == 302
    assert len(played(study, User.objects.get(username="new"))) == 2


def test_named_players_have_their_sessions_in_order(manager: User, ann: User, bob: User) -> None:
    study = create(manager, [[ann], [bob]])
    assert LiveSession.objects.filter(study=study).count() == 4
    for user in (ann, bob):
        mine = played(study, user)
        # Both agents at one task, whose order the square turns round.
        assert len({row.trajectory.run.agent_id for row in mine}) == 2
        assert len({row.trajectory.task_id for row in mine}) == 1
        coming = next_session(study.live, user)
        assert coming is not None and coming.place.session == mine[0]
    firsts = {played(study, user)[0].trajectory.run.agent_id for user in (ann, bob)}
    assert len(firsts) == 2
    kept = LivePlan.objects.get(study=study).settings
    assert kept["players"] == "named" and kept["seed"] == 5 and kept["design"]["order"] == "latin"


def test_who_joins_takes_a_whole_row(manager: User, ann: User, bob: User) -> None:
    study = create(manager, 2)
    assert [join(study, user) for user in (ann, bob)] == ["seat", "seat"]
    mine = take_free_place(study=study, user=ann)
    assert [place.session.number for place in mine] == [1, 2]
    assert take_free_place(study=study, user=ann) == []
    take_free_place(study=study, user=bob)
    assert [row.number for row in played(study, bob)] == [3, 4]
    eve = make_person("eve")
    assert join(study, eve) == "waiting" and take_free_place(study=study, user=eve) == []


def test_two_people_share_a_row(manager: User, ann: User, bob: User) -> None:
    study = create(manager, 1, mode="two_people", level="high")
    for user in (ann, bob):
        join(study, user)
        take_free_place(study=study, user=user)
    assert played(study, ann) == played(study, bob)
    titles = LivePlace.objects.filter(player=bob).values_list("title", flat=True)
    assert set(titles) == {"User"}


def test_what_cannot_be_drawn_leaves_nothing(manager: User, ann: User) -> None:
    with pytest.raises(Refused, match="nobody twice"):
        create(manager, [[ann], [ann]])
    assert not Study.objects.exists()


FILE = """
name: From a file
dataset: {dataset}
mode: simulator
level: high
agents: [{agent}, explorer]
sample: 2
players: {players}
each: 2
order: latin
practises: true
blinded: {blinded}
settings: {{max_turns: 3}}
roles: {{rubric_judge: judge-lenient}}
seed: 5
"""


def test_a_file_makes_what_the_page_makes(
    manager: User, ann: User, bob: User, tmp_path: Path
) -> None:
    dataset = sample_dataset()
    path, said = tmp_path / "sessions.yaml", StringIO()
    given = {"dataset": dataset.name, "agent": AGENT}

    def make(*options: str, players: str, blinded: object = False) -> None:
        path.write_text(FILE.format(**given, players=players, blinded=blinded))
        call_command("create_sessions", path, "--manager", manager.username, *options, stdout=said)

    make("--dry-run", players="[ann, bob]")
    assert not Study.objects.exists() and f" with {AGENT}" in said.getvalue()
    make(players="[ann, bob]")
    study = Study.objects.get()
    plan = study.live
    assert (study.name, study.blinded, plan.practises) == ("From a file", False, True)
    assert [len(played(study, user)) for user in (ann, bob)] == [2, 2]
    run = played(study, ann)[0].trajectory.run
    assert run.settings["max_turns"] == 3
    assert {row["policy"] for row in run.roles["rubric_judge"]} == {"judge-lenient"}
    for wrong, word in (("[ann, nobody-such]", "nobody-such"), ("all", "players")):
        with pytest.raises(CommandError, match=word):
            make(players=wrong)
    assert Study.objects.count() == 1


PLANNERS = """
name: Planners
dataset: Small house
mode: planner
players: [ann]
each: 1
sample: 1
agents: []
"""


def test_a_mode_is_named_by_its_title_as_the_docs_do(
    manager: User, ann: User, tmp_path: Path
) -> None:
    tasks = sample_tasks()
    save_dataset(
        system="sda_planner", name="Small house", version="", source="tests", licence="",
        checksum="house", tasks=[(task, ()) for task in tasks], shared=tasks[0].shared,
    )  # fmt: skip
    path = tmp_path / "sessions.yaml"
    path.write_text(PLANNERS.replace("agents: []\n", ""))
    call_command("create_sessions", path, "--manager", manager.username, stdout=StringIO())
    assert Study.objects.get().live.mode == "agent"
    path.write_text(PLANNERS.replace("mode: planner", "mode: planer"))
    with pytest.raises(CommandError, match="a mode of play is one of agent, not planer"):
        call_command("create_sessions", path, "--manager", manager.username, stdout=StringIO())


def test_nobody_is_asked_for_a_level_where_there_is_one(
    manager: User, ann: User, tmp_path: Path
) -> None:
    """The form shows no field, and a file may leave it out; of two levels one is chosen."""
    dataset = sample_dataset()
    path = tmp_path / "sessions.yaml"
    given = {"dataset": dataset.name, "agent": AGENT, "players": "[ann]", "blinded": False}
    text = FILE.format(**given).replace("level: high\n", "")
    text = text.replace("each: 2", "each: 1").replace("sample: 2", "sample: 1")
    path.write_text(text)

    def make() -> None:
        call_command("create_sessions", path, "--manager", manager.username, stdout=StringIO())

    Profile.objects.filter(task__dataset=dataset).exclude(level="high").delete()
    make()
    assert played(Study.objects.get(), ann)[0].trajectory.run.level == "high"
    client = Client()
    client.force_login(manager)
    page = client.get(reverse("annotation:session_new"), {"dataset": dataset.pk})
    assert 'name="level"' not in page.content.decode()
    task = dataset.tasks.order_by("pk")[0]
    Profile.objects.create(task=task, level="low", rank=0)
    with pytest.raises(CommandError, match="level"):
        make()
