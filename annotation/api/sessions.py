"""Live sessions in the API: making a study of sessions, and where sessions stand."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal

from django.contrib.auth.models import User
from django.http import Http404, HttpRequest
from django.urls import reverse
from ninja import Query, Router, Schema, Status
from pydantic import Field

from annotation.access import fetch_overseen_study, person
from annotation.live.access import fetch_session
from annotation.live.lists import SessionRow, live_plan, session_rows
from annotation.live.setup.files import read_live_document
from annotation.live.setup.services import create_sessions, draw_design
from annotation.models import Duel, LiveSession
from annotation.ratings.duel_votes import CastVote, votes_of
from benchmarks.access import START, allow, visibility
from benchmarks.api.errors import refusals
from benchmarks.api.repeats import DESCRIPTION, Answer, once
from benchmarks.api.requests import Paged, PageOut, Strict, one_page
from benchmarks.roles.services import ensure_scripted_agents

SessionState = Literal["gathering", "running", "paused", "ended", "cancelled"]


class PlaceOut(Schema):
    """A place in a session; `player` and `stand_in` are for those who run the study."""

    number: int
    title: str
    taken: bool
    player: str | None
    stand_in: str | None
    ready_at: datetime | None
    last_seen_at: datetime | None


class SessionOut(Schema):
    """A live session; what players must not know is null for them."""

    id: int
    study: int
    number: int
    practice: bool
    state: SessionState
    standing: Literal["gathering", "asked", "background", "stuck", "paused", "over"]
    waits_for: str = Field(description="What it waits for, in words.")
    your_turn: bool
    turn_of: list[str] = Field(description="Titles of the places that have to reply.")
    places: list[PlaceOut]
    agent: str | None
    task: str | None
    trajectory: int | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    url: str = Field(description="The session in a browser.")


class NewSessions(Strict):
    """A design, as in the file that `manage.py create_sessions` takes."""

    sessions: dict[str, Any] = Field(
        description="Fields of docs/live-sessions.md: `dataset`, `mode`, `agents`, `players`, …"
    )


class SessionPlanOut(Schema):
    """The planned sessions: agent (if it is no person) and task, in the order of play."""

    sessions: int
    rows: dict[str, list[str]] = Field(description="Sessions of each player or group.")
    warnings: list[str]
    method: str
    seed: int
    sha256: str = Field(description="Fingerprint of the balance certificate.")


class MadeSessions(Schema):
    """A study of sessions that was made."""

    study: int
    sessions: list[int]
    url: str


class DuelVoteOut(Schema):
    """A vote in a duel."""

    turn: int = Field(description="The turn that it is about; 0: the end.")
    choice: Literal["left", "tie", "both_bad", "right"]
    by: str
    at: datetime
    counts: bool = Field(
        description="Whether it says something about these two agents: at the end both sides have "
        "to have ended by themselves."
    )


class DuelOut(Schema):
    """A blind duel: two sessions of one player, side by side."""

    id: int
    left: int = Field(description="The session at the left.")
    right: int
    task: str | None
    left_agent: str | None
    right_agent: str | None
    votes: list[DuelVoteOut]


class SessionQuery(Paged):
    """The filters of a study's sessions."""

    state: SessionState | None = None


router = Router(tags=["Sessions"])


@router.post("/sessions/plan", response={200: SessionPlanOut, **refusals(400, 413)})
def preview_sessions(request: HttpRequest, wanted: NewSessions) -> dict[str, Any]:
    """Return who would play what. Nothing is stored."""
    allow(request, START)
    ensure_scripted_agents()
    form = read_live_document(wanted.sessions, seen=visibility(request))
    design, seed = form.design(), form.wish().seed
    drawn = draw_design(design=design, seed=seed)
    names = design.met_names("name")
    return {
        "sessions": drawn.sessions,
        "rows": {
            name: [
                f"{design.tasks[task].external_id}{f' with {names[agent]}' if names[agent] else ''}"
                for agent, task in pairs
            ]
            for name, pairs in drawn.rows
        },
        "warnings": list(drawn.certificate.warnings),
        "method": drawn.certificate.method,
        "seed": seed,
        "sha256": drawn.certificate.sha256,
    }


@router.post(
    "/sessions", response={201: MadeSessions, **refusals(400, 409, 413)}, openapi_extra=DESCRIPTION
)
def create_study_of_sessions(request: HttpRequest, wanted: NewSessions) -> Status[Any]:
    """Make a study with all sessions of a design, all or none, and become its manager."""
    allow(request, START)

    def act() -> Answer:
        ensure_scripted_agents()
        form = read_live_document(wanted.sessions, seen=visibility(request))
        study = create_sessions(wish=form.wish(), design=form.design(), by=person(request))
        sessions = LiveSession.objects.filter(study=study, practice=False).order_by("number")
        return 201, {
            "study": study.pk,
            "sessions": list(sessions.values_list("pk", flat=True)),
            "url": reverse("annotation:study_sessions", args=[study.pk]),
        }

    return once(request, act, content=wanted.model_dump_json())


@router.get(
    "/studies/{int:study_id}/sessions", response={200: PageOut[SessionOut], **refusals(404)}
)
def list_sessions(
    request: HttpRequest, study_id: int, query: Query[SessionQuery]
) -> dict[str, Any]:
    """List the sessions of a study, for those who run it or look on; practice rounds are left
    out.
    """
    access = fetch_overseen_study(request, study_id)
    if live_plan(access.study) is None:
        raise Http404
    rows = LiveSession.objects.filter(study=access.study, practice=False)
    if query.state is not None:
        rows = rows.filter(state=query.state)
    page, following = one_page(request, rows.prefetch_related("study"), query.limit)
    named = () if access.blind else (study_id,)
    listed = session_rows(page.rows, reader=access.user, named=named)
    return {"items": [_row(row, oversees=not access.blind) for row in listed], "next": following}


@router.get("/studies/{int:study_id}/duels", response={200: PageOut[DuelOut], **refusals(404)})
def list_duels(request: HttpRequest, study_id: int, query: Query[Paged]) -> dict[str, Any]:
    """List the duels of a study with their votes, for those who run it or look on."""
    access = fetch_overseen_study(request, study_id)
    if live_plan(access.study) is None:
        raise Http404
    votes: dict[int, list[CastVote]] = {}
    for cast in votes_of(study_id):
        votes.setdefault(cast.duel, []).append(cast)
    names = User.objects.in_bulk({row.by for rows in votes.values() for row in rows})
    about = ("trajectory__task", "trajectory__run__agent")
    rows = Duel.objects.filter(left__study=study_id).select_related(
        *(f"{side}__{name}" for side in ("left", "right") for name in about)
    )
    page, following = one_page(request, rows, query.limit)
    items = [
        {
            "id": duel.pk,
            "left": duel.left_id,
            "right": duel.right_id,
            "task": None if access.blind else duel.left.trajectory.task.external_id,
            "left_agent": None if access.blind else duel.left.trajectory.run.agent.name,
            "right_agent": None if access.blind else duel.right.trajectory.run.agent.name,
            "votes": [
                {
                    "turn": row.turn, "choice": row.choice, "by": names[row.by].get_username(),
                    "at": row.at, "counts": row.counts,
                }
                for row in votes.get(duel.pk, ())
            ],
        }
        for duel in page.rows
    ]  # fmt: skip
    return {"items": items, "next": following}


@router.get("/sessions/{int:session_id}", response={200: SessionOut, **refusals(404)})
def get_session(request: HttpRequest, session_id: int) -> dict[str, Any]:
    """Return where a session stands, for its players and those who run its study."""
    access = fetch_session(request, session_id)
    named = (access.session.study_id,) if access.oversees else ()
    (row,) = session_rows([access.session], reader=access.user, named=named)
    return _row(row, oversees=access.oversees)


def _row(row: SessionRow, *, oversees: bool) -> dict[str, Any]:
    session = row.session
    names = ("number", "practice", "state", "created_at", "started_at", "ended_at")
    return {
        "id": session.pk,
        "study": session.study_id,
        **{name: getattr(session, name) for name in names},
        "standing": row.turn.standing,
        "waits_for": row.words,
        "your_turn": row.asked,
        "turn_of": [place.title for place in row.turn.places],
        "places": _places(row.places, oversees),
        "agent": row.agent or None if oversees else None,
        "task": row.task or None if oversees else None,
        "trajectory": session.trajectory_id if oversees else None,
        "url": reverse("annotation:session", args=[session.pk]),
    }


def _places(places: Sequence[Any], oversees: bool) -> list[dict[str, Any]]:
    return [
        {
            "number": place.number,
            "title": place.title,
            "taken": place.player_id is not None or bool(place.stand_in),
            "player": place.player.get_username() if oversees and place.player_id else None,
            "stand_in": place.stand_in or None if oversees else None,
            "ready_at": place.ready_at,
            "last_seen_at": place.last_seen_at if oversees else None,
        }
        for place in places
    ]
