"""Sessions in progress, as their managers see them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet

from annotation.access import OVERSEERS
from annotation.live.turns import SessionTurn, whose_turns
from annotation.models import LivePlace, LiveSession, Membership
from benchmarks.models import Agent, Trajectory
from benchmarks.visibility import Visibility

MOST = 200
# What stands in a row, by where the session stands; in this order where rows are sorted by it.
WORDS: Mapping[str, str] = {
    "stuck": "a call failed",
    "vacant": "a player is missing",
    "asked": "waiting for a reply",
    "background": "a reply is being written",
    "paused": "paused",
    "gathering": "waiting for players",
    "over": "over",
}
# Whether somebody came to a place of a session that has not begun; in this order in sentences.
ATTENDANCE: Mapping[str, str] = {
    "ready": "ready",
    "arrived": "arrived, not ready",
    "absent": "never came",
    "free": "free",
}
# Somebody in charge has to do something.
NEEDING = ("stuck", "vacant")
TONES: Mapping[str, str] = {
    "gathering": "idle",
    "vacant": "warn",
    "asked": "info",
    "background": "info",
    "stuck": "bad",
    "paused": "warn",
    "over": "idle",
}


@dataclass(frozen=True)
class MonitorPlace:
    """A place and who fills it; ``asked``: it is their turn."""

    place: LivePlace
    asked: bool

    @property
    def vacant(self) -> bool:
        """Return whether neither a person nor a program fills it."""
        return self.place.player_id is None and not self.place.stand_in

    @property
    def who(self) -> str:
        if self.place.player is not None:
            return self.place.player.get_username()
        return f"{self.place.stand_in} (script or model)" if self.place.stand_in else "nobody"

    @property
    def attendance(self) -> str:
        """Return a key of ``ATTENDANCE``; empty where a program fills the place."""
        if self.vacant:
            return "free"
        if self.place.player_id is None:
            return ""
        if self.place.ready_at is not None:
            return "ready"
        return "arrived" if self.place.last_seen_at is not None else "absent"

    @property
    def attendance_words(self) -> str:
        return ATTENDANCE.get(self.attendance, "")


def standing_of(turn: SessionTurn, places: Sequence[MonitorPlace]) -> str:
    """Return the state of a session as a key of ``WORDS``."""
    missing = any(place.asked and place.vacant for place in places)
    return "vacant" if missing else turn.standing


@dataclass(frozen=True)
class MonitorRow:
    """One session: where it stands, and its places."""

    session: LiveSession
    turn: SessionTurn
    places: Sequence[MonitorPlace]

    @property
    def standing(self) -> str:
        """The key of ``WORDS`` for the state of the session, and whether a player is missing."""
        return standing_of(self.turn, self.places)

    @property
    def words(self) -> str:
        return WORDS[self.standing]

    @property
    def tone(self) -> str:
        return TONES[self.standing]

    @property
    def agent(self) -> str:
        return agent_now(self.session.trajectory)

    @property
    def at_work(self) -> bool:
        return self.turn.standing == "background"

    @property
    def mark(self) -> str:
        """A mark that changes whenever something changes that the row shows."""
        seen = [
            f"{monitored.place.last_seen_at:%H%M%S}"
            for monitored in self.places
            if _seen(monitored)
        ]
        who = [
            f"{monitored.place.player_id or monitored.place.stand_in}{monitored.attendance}"
            for monitored in self.places
        ]
        turns = self.session.trajectory.turn_count
        return "-".join(map(str, [self.session.pk, self.turn.standing, turns, *who, *seen]))


def _seen(monitored: MonitorPlace) -> bool:
    return monitored.place.last_seen_at is not None


def agent_now(trajectory: Trajectory) -> str:
    """Return who is the agent by now: the run's, or whoever took over."""
    for filler in trajectory.role_changes.get("agent", ()):
        if "title" in filler:
            return str(filler["title"])
        titles = Agent.objects.filter(policy=filler.get("policy", "")).values_list("title")
        return next((title for (title,) in titles[:1]), trajectory.run.agent.title)
    return trajectory.run.agent.title


def overseen_sessions(user: User, seen: Visibility) -> QuerySet[LiveSession]:
    """Return the sessions of studies that this person oversees, without those in which they play
    blind.
    """
    rows = LiveSession.objects.filter(trajectory__run__removed_at=None)
    rows = rows.exclude(trajectory__run__in=seen.closed)
    if not user.is_superuser:
        mine = user.memberships.filter(role__in=OVERSEERS).order_by().values("study")
        rows = rows.filter(study__in=mine)
    return rows


def monitor_rows(user: User, seen: Visibility, study: int | None = None) -> list[MonitorRow]:
    """Return sessions that are not over, those that need somebody first, then the longest wait."""
    rows = overseen_sessions(user, seen).exclude(state__in=LiveSession.OVER)
    return _rows(rows if study is None else rows.filter(study=study))


def needing_rows(user: User, seen: Visibility) -> list[MonitorRow]:
    """Return the sessions that wait for somebody in charge: one query, and no more where there are
    none.
    """
    free = LivePlace.objects.filter(session=OuterRef("pk"), player=None, stand_in="").order_by()
    failed = Q(trajectory__status__in=[Trajectory.Status.FAILED, Trajectory.Status.DECISION])
    rows = overseen_sessions(user, seen).filter(failed | Exists(free))
    rows = rows.filter(state=LiveSession.State.RUNNING)
    if not user.is_superuser:
        mine = user.memberships.filter(role=Membership.Role.MANAGER).order_by()
        rows = rows.filter(study__in=mine.values("study"))
    return [row for row in _rows(rows) if row.standing in NEEDING]


def _rows(rows: QuerySet[LiveSession]) -> list[MonitorRow]:
    trajectories = Trajectory.objects.select_related("run__agent", "task").defer(
        "run__settings", "run__roles", "task__payload", "metrics", "undefined", "payload"
    )
    rows = rows.select_related("study").prefetch_related(
        Prefetch("trajectory", queryset=trajectories),
        Prefetch("places", queryset=LivePlace.objects.select_related("player")),
    )
    sessions = list(rows.order_by("-pk")[:MOST])
    turns = whose_turns(sessions)
    under_way = [
        MonitorRow(session, turn, _places_of(session, turn))
        for session in sessions
        if (turn := turns[session.pk]).standing != "over"
    ]
    order = list(WORDS)
    return sorted(
        under_way,
        key=lambda row: (
            order.index(row.standing),
            row.turn.since or row.session.created_at,
            row.session.pk,
        ),
    )


def attendance_counts(rows: Sequence[MonitorRow]) -> list[tuple[str, int]]:
    """Return how many places of sessions that have not begun are in each state of attendance."""
    waiting = [row for row in rows if row.turn.standing == "gathering"]
    counts = Counter(monitored.attendance for row in waiting for monitored in row.places)
    return [(words, counts[key]) for key, words in ATTENDANCE.items()] if waiting else []


def _places_of(session: LiveSession, turn: SessionTurn) -> list[MonitorPlace]:
    asked = {place.pk for place in turn.places} if turn.standing == "asked" else set()
    return [MonitorPlace(place, place.pk in asked) for place in session.places.all()]
