"""Whose turn it is in sessions and since when, read from their trajectories."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.db.models import Max

from annotation.models import LivePlace, LiveSession
from benchmarks.models import OpenAsk, Trajectory

Standing = Literal["gathering", "asked", "background", "stuck", "paused", "over"]
_S = Trajectory.Status
# What is read of places, and of their players the name.
PLACE = (
    "session", "number", "title", "roles", "stand_in", "notes", "order", "joined_at", "ready_at",
    "seen_at", "last_seen_at", "player__username",
)  # fmt: skip


@dataclass(frozen=True)
class SessionTurn:
    """The state of a session: whose turn it is and since when.

    ``asked``: people at ``places`` have to reply to ``asks``. ``background``: a script or model is
    at work. ``stuck``: a call failed, and somebody in charge has to decide; ``problem`` says why,
    which may name the agent and is therefore not for players.
    """

    standing: Standing
    since: datetime | None
    places: tuple[LivePlace, ...] = ()
    asks: tuple[OpenAsk, ...] = ()
    problem: str = ""

    def asks_of(self, place: LivePlace) -> tuple[OpenAsk, ...]:
        """Return what this place is asked, in the order of the protocol."""
        return tuple(ask for ask in self.asks if ask.role in place.roles)

    def asked_since(self, place: LivePlace) -> datetime:
        """Return since when the player of a place that is asked has been asked.

        Whoever took the place later has the whole time for a reply.
        """
        opened = min(ask.opened_at for ask in self.asks_of(place))
        return max(opened, place.joined_at or opened)


def whose_turn(session: LiveSession) -> SessionTurn:
    """Return where one session stands; its trajectory is read anew."""
    return whose_turns([session])[session.pk]


def whose_turns(
    sessions: Iterable[LiveSession], places: Mapping[int, list[LivePlace]] | None = None
) -> Mapping[int, SessionTurn]:
    """Return the same for many, in two queries and one for their ``places`` where these are not at
    hand.

    What is asked is not read, only who is.
    """
    rows = {session.pk: session for session in sessions}
    if not rows:
        return {}
    trajectories = {
        row.pk: row
        for row in Trajectory.objects.filter(live_session__in=rows)
        .annotate(last_answered=Max("open_asks__answered_at"))
        .only("status", "problem", "started_at", "reserved")
        .order_by()
    }
    waiting = [pk for pk, row in trajectories.items() if row.status == _S.WAITING]
    asks: dict[int, list[OpenAsk]] = {}
    if waiting:
        open_ = OpenAsk.objects.filter(trajectory__in=waiting, answered_at=None)
        open_ = open_.defer("messages", "expect", "tools", "context")
        for ask in open_.order_by("step", "slot"):
            asks.setdefault(ask.trajectory_id, []).append(ask)
    places = places_of(rows.values()) if places is None else places
    return {
        pk: turn_of(
            session,
            trajectories[session.trajectory_id],
            asks.get(session.trajectory_id, []),
            places.get(pk, []),
        )
        for pk, session in rows.items()
    }


def places_of(sessions: Iterable[LiveSession]) -> dict[int, list[LivePlace]]:
    """Return the places of sessions with their players, by session, in one query."""
    places: dict[int, list[LivePlace]] = {}
    rows = LivePlace.objects.filter(session__in=list(sessions)).select_related("player")
    for place in rows.only(*PLACE).order_by("session", "number"):
        places.setdefault(place.session_id, []).append(place)
    return places


def turn_of(
    session: LiveSession, trajectory: Trajectory, asks: list[OpenAsk], places: list[LivePlace]
) -> SessionTurn:
    """Return where a session stands, from rows that are at hand.

    ``asks`` are those that wait; ``trajectory.last_answered`` is the time of the last reply.
    """
    if session.state in LiveSession.OVER or trajectory.status in (_S.DONE, _S.CANCELLED):
        return SessionTurn("over", session.ended_at)
    if session.state == LiveSession.State.GATHERING:
        missing = tuple(p for p in places if p.ready_at is None and not p.stand_in)
        return SessionTurn("gathering", session.created_at, missing)
    since = getattr(trajectory, "last_answered", None) or session.started_at
    asked = tuple(p for p in places if any(ask.role in p.roles for ask in asks))
    if session.state == LiveSession.State.PAUSED:
        return SessionTurn("paused", session.paused_at, asked, tuple(asks))
    if trajectory.status in (_S.FAILED, _S.DECISION):
        return SessionTurn("stuck", since, (), (), trajectory.problem)
    if asks:
        return SessionTurn("asked", min(ask.opened_at for ask in asks), asked, tuple(asks))
    return SessionTurn("background", since)
