"""The state of a session in words for its players: whose turn, since when, and deadlines.

The texts name no person and no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from annotation.live.play.session_state import QUIET, SessionState
from annotation.models import LiveEvent, LivePlace, LivePlan
from benchmarks.core.registry import find_system
from benchmarks.models import Exchange, Trajectory
from benchmarks.roles.judge_fit import unread_judges
from benchmarks.roles.selectors import system_of


@dataclass(frozen=True)
class SessionDeadline:
    """A moment at which something happens by itself: ``words`` say what."""

    until: datetime
    words: str


@dataclass(frozen=True)
class Headline:
    """Whose turn it is, in words for whoever looks. ``since`` is when it began to be."""

    title: str
    text: str = ""
    since: datetime | None = None
    tone: str = "info"
    waits: bool = False


def headline(table: SessionState) -> Headline:
    """Return whose turn it is, for a player."""
    turn, place = table.turn, table.place
    match turn.standing:
        case "over":
            what = "practice round" if table.session.practice else "session"
            return Headline(f"The {what} is over", ended_text(table), tone="idle")
        case "gathering":
            return _gathering(table)
        case "paused":
            return Headline("The session is paused", _paused_by(table), turn.since, "warn")
        case "stuck":
            return Headline(
                f"{_at_work(table)[0]} could not be reached",
                "Whoever runs the study has been told. What you said is stored; nothing has to be "
                "sent again, and the session goes on from here.",
                turn.since,
                "bad",
            )
        case "background":
            who, since = _at_work(table)
            does = "is writing" if who == _AGENT else "is at work"
            return Headline(f"{who} {does}", "", since or turn.since, waits=True)
    if table.own:
        many = len(table.own)
        title = "It is your turn" if many == 1 else f"It is your turn: {many} replies are asked"
        return Headline(title, "", min(ask.opened_at for ask in table.own), "ok")
    titles = " and ".join(each.title for each in turn.places if each is not place)
    away = f"{titles} is not at the page at the moment." if table.away else ""
    if any(each.player_id is None and not each.stand_in for each in turn.places):
        away = "Nobody has that place at the moment."
    return Headline(f"It is the turn of: {titles}", away, turn.since, waits=True)


_AGENT = "The agent"


def _at_work(table: SessionState) -> tuple[str, datetime | None]:
    """Return who was called last and has not replied, as players may know it."""
    S = Exchange.State
    calls = Exchange.objects.filter(
        trajectory=table.session.trajectory_id, state__in=[S.SENT, S.FAILED]
    )
    last = calls.order_by("-step", "-slot", "-attempt").values_list("role", "sent_at").first()
    place = table.place
    if last is None:
        # A script answers at once; what comes after the reply to an agent is its plan.
        own_agent = place is not None and "agent" in place.roles
        return ("The other side" if own_agent else _AGENT), None
    role, sent = last
    current = table.turn.standing == "stuck" or _is_new(table, sent)
    return (_AGENT if role == "agent" else "The other side"), sent if current else None


def _is_new(table: SessionState, since: datetime) -> bool:
    """Whether a call belongs to what goes on now, and not to an attempt before the last reply."""
    return table.turn.since is None or since >= table.turn.since


def _gathering(table: SessionState) -> Headline:
    missing = [place for place in table.turn.places if place is not table.place]
    ready = table.place is not None and table.place.ready_at is not None
    if not ready:
        return Headline("The session begins when everybody is ready", tone="info")
    titles = ", ".join(place.title for place in missing)
    return Headline("You are ready", f"Still missing: {titles}." if titles else "", waits=True)


def _paused_by(table: SessionState) -> str:
    rows = table.session.events.filter(kind=LiveEvent.Kind.PAUSED).order_by("-pk")
    by = rows.values_list("by", flat=True).first()
    if table.place is not None and by == table.place.player_id:
        who = "You paused it"
    else:
        title = next((place.title for place in table.access.places if place.player_id == by), "")
        who = f"{title} paused it" if title and by else "Whoever runs the study paused it"
    return f"{who}. Nothing is lost, and no time limit runs until it is resumed."


def ended_text(table: SessionState) -> str:
    """Return how it ended, for whoever played: in the system's words, or why it was given up."""
    trajectory = table.trajectory
    if trajectory.status == Trajectory.Status.DONE:
        ending = trajectory.termination
        unread = ending == "valid_plan" and _was_unread(trajectory)
        words = find_system(table.plan.system).people.end_message(ending, unread=unread)
        return words or "It came to its end."
    rows = table.session.events.filter(kind=LiveEvent.Kind.CANCELLED).order_by("-pk")
    event = rows.only("by", "reason").first()
    # What people in charge give as a reason is for their record.
    because = f": {event.reason}" if event and event.by_id is None and event.reason else ""
    return f"It was ended before its time{because}. What was said is stored."


def _was_unread(trajectory: Trajectory) -> bool:
    """Whether a script judged that could not read the last plan, which it let pass."""
    row = Trajectory.objects.select_related("run__dataset").get(pk=trajectory.pk)
    system = system_of(row.run.dataset.system)
    return system is not None and bool(
        unread_judges(system, {**row.run.roles, **row.role_changes}, deciding=True)
    )


_THEN = {
    LivePlan.Leaving.WAIT: "it is noted, and the session waits",
    LivePlan.Leaving.HAND_OVER: "another person may take the place",
    LivePlan.Leaving.STAND_IN: "a script or model goes on in that place",
    LivePlan.Leaving.CANCEL: "the session ends",
}


def session_deadlines(table: SessionState) -> Sequence[SessionDeadline]:
    """Return what runs out if nobody does anything; nothing runs in a pause, or before it began."""
    if table.turn.standing not in ("asked", "background", "stuck"):
        return []
    found = []
    plan, turn = table.plan, table.turn
    then = _THEN[LivePlan.Leaving(plan.leaving)]
    for place in turn.places if turn.standing == "asked" else ():
        if place.player_id is None:
            continue
        opened = min(ask.opened_at for ask in turn.asks_of(place))
        mine = place is table.place
        if plan.reply_seconds:
            who = "for your reply" if mine else f"for the reply of: {place.title}"
            until = opened + timedelta(seconds=plan.reply_seconds)
            found.append(SessionDeadline(until, f"{who}; then {then}"))
        if place in table.away:
            until = max(place.last_seen_at or opened, opened) + timedelta(seconds=plan.away_seconds)
            found.append(SessionDeadline(until, f"for {place.title} to come back; then {then}"))
    if table.session.ends_by is not None:
        found.append(SessionDeadline(table.session.ends_by, "until the session ends"))
    return found


def leaving_text(plan: LivePlan) -> str:
    """Return what happens when a player leaves for good."""
    return _THEN[LivePlan.Leaving(plan.leaving)] if plan.leaving != LivePlan.Leaving.WAIT else (
        "another person may take the place"
    )  # fmt: skip


@dataclass(frozen=True)
class PlayerStatus:
    """A place as others at the table see it: no names, only whether somebody is there."""

    title: str
    own: bool
    state: str
    tone: str


def player_statuses(table: SessionState) -> list[PlayerStatus]:
    """Return who is there and who is ready."""
    return [_seat(place, place is table.place) for place in table.access.places]


def _seat(place: LivePlace, own: bool) -> PlayerStatus:
    if place.stand_in:
        return PlayerStatus(place.title, own, "filled by a script or model", "aside")
    if place.player_id is None:
        return PlayerStatus(place.title, own, "nobody yet", "idle")
    if place.ready_at is not None:
        return PlayerStatus(place.title, own, "ready", "ok")
    there = place.last_seen_at is not None and timezone.now() - place.last_seen_at < QUIET
    return PlayerStatus(
        place.title, own, "here, not ready yet" if there else "not here yet", "warn"
    )
