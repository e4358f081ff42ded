"""The state of a session in words for its players: whose turn, since when, and deadlines.

The texts name no person and no model.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db.models import Q

from annotation.live.play.session_state import SessionState
from annotation.models import LiveEvent, LivePlace, LivePlan, LiveSession
from benchmarks.core.registry import find_system, system_of
from benchmarks.models import Exchange, Trajectory
from benchmarks.roles.judge_fit import unread_judges
from benchmarks.trajectories.selectors import trajectory_end


@dataclass(frozen=True)
class SessionDeadline:
    """A moment at which something happens by itself: ``words`` say what."""

    until: datetime
    words: str


@dataclass(frozen=True)
class Headline:
    """The line that says whose turn it is, in words for whoever looks. ``since`` is when it
    began to be.
    """

    title: str
    text: str = ""
    since: datetime | None = None
    tone: str = "info"
    waits: bool = False


def headline(state: SessionState, *, watched: bool = False) -> Headline:
    """Return whose turn it is, for a player, or for somebody who watches the session."""
    turn, place = state.turn, state.place
    match turn.standing:
        case "over":
            what = "Practice round" if state.session.practice else "Session"
            return Headline(f"{what} over", ended_text(state, watched=watched), tone="idle")
        case "gathering":
            return _gathering(state)
        case "paused":
            return Headline("Paused", _paused_by(state), turn.since, "warn")
        case "stuck":
            next_step = (
                "A manager can continue the session under Control."
                if watched
                else "The study’s manager can see this and continue the session. Your messages are "
                "stored; you don’t need to send anything again."
            )
            who = _at_work(state, watched=watched)[0]
            return Headline("No response", f"{who} did not respond. {next_step}", turn.since, "bad")
        case "background":
            who, since = _at_work(state, watched=watched)
            if state.session.study.blinded and not watched and who not in (_AGENT, _OTHERS):
                # As if a person were asked.
                title = who.removeprefix("The ").capitalize()
                return Headline(f"{title}’s turn", "", since or turn.since, waits=True)
            does = "is working" if who == _OTHERS else "is writing"
            return Headline(f"{who} {does}", "", since or turn.since, waits=True)
    if state.own:
        many = len(state.own)
        title = "Your turn" if many == 1 else f"Your turn: {many} replies"
        return Headline(title, "", min(ask.opened_at for ask in state.own), "ok")
    titles = " and ".join(each.title for each in turn.places if each is not place)
    if any(each.player_id is None and not each.stand_in for each in turn.places):
        waits = f"Nobody plays the {titles.lower()} right now. The session waits for a replacement."
        return Headline(f"No {titles.lower()}", waits, turn.since, "warn")
    away = f"{titles} has left the page. The session waits." if state.away else ""
    return Headline(f"{titles}’s turn", away, turn.since, waits=True)


def writing_words(state: SessionState) -> str:
    """Return who is writing just now, for a player; empty where nobody is known to."""
    if state.turn.standing == "background":
        who = _at_work(state)[0]
        return f"{who} is {'working' if who == _OTHERS else 'writing'}"
    if not state.typing:
        return ""
    verb = "is" if len(state.typing) == 1 else "are"
    return f"The {' and the '.join(place.title.lower() for place in state.typing)} {verb} writing"


_AGENT, _OTHERS = "The agent", "The other side"


def _at_work(state: SessionState, *, watched: bool = False) -> tuple[str, datetime | None]:
    """Return who was called last and has not replied, as players may know it; those who have
    ``watched`` read which role it is.
    """
    S = Exchange.State
    calls = Exchange.objects.filter(
        trajectory=state.session.trajectory_id, state__in=[S.SENT, S.FAILED]
    )
    last = calls.order_by("-step", "-slot", "-attempt").values_list("role", "sent_at").first()
    place = state.place
    if last is None:
        # A script answers at once; what comes after the reply to an agent is its plan.
        own_agent = place is not None and "agent" in place.roles
        return (_OTHERS if own_agent else _AGENT), None
    role, sent = last
    current = state.turn.standing == "stuck" or _is_new(state, sent)
    if watched:
        titles = {one.name: one.title for one in find_system(state.plan.system).roles}
        return f"The {titles.get(role, role).lower()}", sent if current else None
    return _speaker(state, role), sent if current else None


def _speaker(state: SessionState, role: str) -> str:
    """Return who writes in a role; whoever fills a place is called as its player would be."""
    title = next((each.title for each in state.access.places if role in each.roles), "")
    return f"The {title.lower()}" if title else _AGENT if role == "agent" else _OTHERS


def _is_new(state: SessionState, since: datetime) -> bool:
    """Return whether a call belongs to the current ask, and not to an attempt before the last
    reply.
    """
    return state.turn.since is None or since >= state.turn.since


def _gathering(state: SessionState) -> Headline:
    missing = [place for place in state.turn.places if place is not state.place]
    ready = state.place is not None and state.place.ready_at is not None
    if not ready:
        return Headline("Not started", tone="info")
    titles = " and ".join(place.title.lower() for place in missing)
    return Headline(f"Waiting for the {titles}" if titles else "Starting", waits=True)


def _paused_by(state: SessionState) -> str:
    rows = state.session.events.filter(kind=LiveEvent.Kind.PAUSED).order_by("-pk")
    by, reason = rows.values_list("by", "reason").first() or (None, "")
    if state.place is not None and by == state.place.player_id:
        who = "You paused the session"
    else:
        title = next((place.title for place in state.access.places if place.player_id == by), "")
        who = f"The {title.lower()} paused" if title and by else "The study’s manager paused"
        who = f"{who} the session"
    because = f": {reason.rstrip('.')}" if reason else ""
    return f"{who}{because}. Time limits stop until it is resumed."


def newest_note(state: SessionState) -> str:
    """Return the newest note to whoever plays here, or that the session was rolled back."""
    place = state.place
    if place is None or not place.notes or state.over:
        return ""
    Kind = LiveEvent.Kind
    private = Q(kind=Kind.NOTE, place=place, about=place.player_id)
    rows = state.session.events.filter(private | Q(kind=Kind.ROLLED_BACK)).order_by("-pk")
    event = rows.only("kind", "reason", "detail").first()
    if event is None or event.kind == Kind.NOTE:
        return event.reason if event is not None else ""
    because = f": {event.reason.rstrip('.')}" if event.reason else ""
    back = f"The study’s manager took the session back to turn {event.detail.get('turn')}{because}."
    return f"{back} Later messages don’t count any more."


def ended_text(state: SessionState, *, watched: bool = False) -> str:
    """Return how it ended, for whoever played: in the system's words, or why it was given up.

    Those who have ``watched`` see the results, so they read the ending as the results state it.
    """
    trajectory = state.trajectory
    if trajectory.status == Trajectory.Status.DONE:
        ending = trajectory.termination
        unread = ending == "valid_plan" and _was_unread(trajectory)
        if watched and not unread:
            return trajectory_end(trajectory).sentence
        words = find_system(state.plan.system).people.end_message(
            ending, trajectory.payload, unread=unread
        )
        return words or "The session is complete."
    rows = state.session.events.filter(kind=LiveEvent.Kind.CANCELLED).order_by("-pk")
    event = rows.only("by", "reason", "detail").first()
    if event is not None and event.by_id is not None:
        read = event.reason and event.detail.get("players_read")
        because = f": “{event.reason.rstrip('.')}”" if read else ""
        return f"A manager of the study ended the session{because}. All messages are stored."
    because = f": {event.reason}" if event is not None and event.reason else ""
    return f"The session was ended early{because}. All messages are stored."


def why_removed(session: LiveSession, user: User) -> str:
    """Return why somebody does not play in a session any more, for themselves."""
    Kind = LiveEvent.Kind
    here = Q(kind__in=(Kind.LEFT, Kind.STAND_IN), about=user)
    taken = Q(kind=Kind.TAKEN_OVER, detail__from=user.pk)
    event = session.events.filter(here | taken).order_by("-pk").first()
    if event is None:
        return ""
    if event.by_id == user.pk:
        return "You left the session."
    if event.by_id is None:
        return f"You were removed: {event.reason}."
    did = "took over your place" if event.kind == Kind.TAKEN_OVER else "removed you"
    because = f": “{event.reason.rstrip('.')}”." if event.reason else ". No reason was given."
    return f"A manager of the study {did}{because}"


def _was_unread(trajectory: Trajectory) -> bool:
    """Return whether a judging script could not read the last plan, and let it pass."""
    row = Trajectory.objects.select_related("run__dataset").get(pk=trajectory.pk)
    system = system_of(row.run.dataset.system)
    return system is not None and bool(
        unread_judges(system, {**row.run.roles, **row.role_changes}, deciding=True)
    )


_THEN = {
    LivePlan.Leaving.WAIT: "the session waits",
    LivePlan.Leaving.HAND_OVER: "another person may take the place",
    LivePlan.Leaving.STAND_IN: "a script or model continues",
    LivePlan.Leaving.CANCEL: "the session ends",
}


def session_deadlines(state: SessionState) -> Sequence[SessionDeadline]:
    """Return what runs out if nobody does anything; nothing runs in a pause, or before it began."""
    if state.turn.standing not in ("asked", "background", "stuck"):
        return []
    deadlines = []
    plan, turn = state.plan, state.turn
    own = _THEN[LivePlan.Leaving(plan.leaving)]
    # In a blinded study nobody learns whether a person or a program fills the other place.
    replaces = plan.leaving in (LivePlan.Leaving.HAND_OVER, LivePlan.Leaving.STAND_IN)
    others = "the session continues" if state.session.study.blinded and replaces else own
    for place in turn.places if turn.standing == "asked" else ():
        if place.player_id is None:
            continue
        opened = turn.asked_since(place)
        mine = place is state.place
        then = own if mine else others
        if plan.reply_seconds:
            who = "for your reply" if mine else f"for the {place.title.lower()}’s reply"
            until = opened + timedelta(seconds=plan.reply_seconds)
            deadlines.append(SessionDeadline(until, f"{who}; then {then}"))
        if place in state.away:
            until = max(place.last_seen_at or opened, opened) + timedelta(seconds=plan.away_seconds)
            deadlines.append(
                SessionDeadline(until, f"for the {place.title.lower()} to return; then {then}")
            )
    if state.session.ends_by is not None:
        deadlines.append(SessionDeadline(state.session.ends_by, "until the session ends"))
    return deadlines


def leaving_text(plan: LivePlan) -> str:
    """Return what happens when a player leaves for good."""
    return _THEN[LivePlan.Leaving(plan.leaving)] if plan.leaving != LivePlan.Leaving.WAIT else (
        "another person may take the place"
    )  # fmt: skip


@dataclass(frozen=True)
class PlayerStatus:
    """A place as other players see it: no names, only whether somebody is there."""

    title: str
    own: bool
    state: str
    tone: str


def player_statuses(state: SessionState) -> list[PlayerStatus]:
    """Return who is there, and before a session starts who is ready.

    In a blinded study a script or model looks like a person at their page.
    """
    return [
        PlayerStatus(place.title, place is state.place, *_presence(state, place))
        for place in state.access.places
    ]


def _presence(state: SessionState, place: LivePlace) -> tuple[str, str]:
    """Return whether somebody is there, in words, and the tone of the badge."""
    begins = state.turn.standing == "gathering"
    if place.stand_in:
        if state.session.study.blinded:  # nobody learns who or what the other side is
            return ("ready" if begins else "here"), "ok"
        return "script or model", "aside"
    if place.player_id is None:
        return "nobody yet" if begins else "nobody", "idle"
    here = place.pk in state.present
    if not begins:
        return ("here", "ok") if here else ("away", "idle")
    if not here:
        return ("ready, but away" if place.ready_at is not None else "not here"), "warn"
    return ("ready", "ok") if place.ready_at is not None else ("here, not ready", "warn")
