"""A session as its managers see it: every turn, the players, and what happened."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.live.play.session_state import SessionState
from annotation.models import LiveEvent, LivePlace
from benchmarks.core.registry import get_system
from benchmarks.models import Exchange, Trajectory
from benchmarks.trajectories.turns import TurnView, turn_views

Kind = LiveEvent.Kind


@dataclass(frozen=True)
class EventRow:
    """One event in words. ``who`` did it or was concerned."""

    turn: int
    at: datetime
    words: str
    reason: str


@dataclass(frozen=True)
class WatchedPlace:
    """A place with who fills it, and in what state they are."""

    place: LivePlace
    who: str
    asked: bool
    roles: str


def watched_trajectory(state: SessionState) -> Trajectory:
    """Return the trajectory with all that cards of turns need."""
    rows = Trajectory.objects.select_related("run__dataset", "run__agent", "task", "profile")
    return rows.get(pk=state.session.trajectory_id)


def watched_turns(trajectory: Trajectory, *, after: int = 0) -> list[TurnView]:
    """Return the turns after the one with this number."""
    indexes = trajectory.turns.filter(index__gt=after).values_list("index", flat=True)
    only = set(indexes)
    return turn_views([trajectory], only=only)[trajectory.pk] if only else []


@dataclass(frozen=True)
class PartialReply:
    """A reply of the turn that is not complete yet: by which role, and its text."""

    role: str
    text: str

    @property
    def verdict(self) -> bool:
        """Return whether it is for a program to read: words come as they are."""
        return self.text.lstrip().startswith("{")


def open_turn(trajectory: Trajectory) -> list[PartialReply]:
    """Return what was replied since the last complete turn, whoever it was that replied."""
    rows = trajectory.exchanges.filter(state=Exchange.State.ANSWERED).order_by("step", "slot")
    plans = rows.filter(role="agent").values_list("step", flat=True)
    begun = list(plans[trajectory.turn_count : trajectory.turn_count + 1])
    if not begun or trajectory.status == Trajectory.Status.DONE:
        return []
    titles = _role_titles(trajectory.run.dataset.system)
    replies = rows.filter(step__gte=begun[0]).values_list("role", "seat", "text")
    return [
        PartialReply(f"{titles.get(role, role)} {seat}".strip(), text)
        for role, seat, text in replies
    ]


def _role_titles(system: str) -> dict[str, str]:
    return {role.name: role.title for role in get_system(system).roles}


def place_rows(state: SessionState, system: str) -> list[WatchedPlace]:
    """Return who sits where now."""
    titles = _role_titles(system)
    rows = LivePlace.objects.filter(session=state.session).select_related("player")
    asked = {place.pk for place in state.turn.places if state.turn.standing == "asked"}
    return [
        WatchedPlace(
            place,
            f"{place.stand_in} (no person)"
            if place.stand_in
            else place.player.get_username()
            if place.player
            else "nobody",
            place.pk in asked,
            ", ".join(titles.get(role, role) for role in place.roles),
        )
        for place in rows.order_by("number")
    ]


def event_rows(state: SessionState) -> Sequence[EventRow]:
    """Return the events of a session, the newest first."""
    rows = state.session.events.select_related("place", "about", "by").order_by("-pk")
    return [EventRow(row.turn, row.at, _words(row), row.reason) for row in rows]


def _words(event: LiveEvent) -> str:
    about = event.about.get_username() if event.about else "somebody"
    by = event.by.get_username() if event.by else "the system"
    place = event.place.title if event.place else ""
    detail = event.detail
    match event.kind:
        case Kind.MADE:
            return f"{by} made the session."
        case Kind.JOINED:
            return f"{about} took the place {place}."
        case Kind.READY:
            return f"{about} ({place}) is ready."
        case Kind.STARTED:
            return "The session started."
        case Kind.PAUSED:
            return f"{by} paused the session."
        case Kind.RESUMED:
            return f"{by} resumed the session."
        case Kind.AWAY:
            return f"{about} ({place}) is away."
        case Kind.RETURNED:
            return f"{about} ({place}) is back."
        case Kind.LEFT:
            removed = event.by is not None and event.by_id != event.about_id
            return f"{by} removed {about} from the place {place}." if removed else (
                f"{about} left the place {place}."
            )  # fmt: skip
        case Kind.STAND_IN:
            return f"{detail.get('stand_in', 'A script or model')} now plays {place}."
        case Kind.TAKEN_OVER:
            return f"{by} took over the place {place}."
        case Kind.GIVEN_BACK:
            return f"{by} gave the place {place} back to {about}."
        case Kind.NOTE:
            return f"{by} wrote to {about} ({place})."
        case Kind.AGENT:
            return f"{by} replaced the agent: {detail.get('agent', '')}."
        case Kind.RETRIED:
            return f"{by} retried a failed call."
        case Kind.ROLLED_BACK:
            count = detail.get("withdrawn", 0)
            withdrew = f"{count} repl{'y was' if count == 1 else 'ies were'} withdrawn"
            return f"{by} rolled the session back to turn {detail.get('turn', '')}; {withdrew}."
        case Kind.TAKEN_BACK:
            return f"{about} ({place}) took a reply back to edit it."
        case Kind.OVERRIDDEN:
            return f"{about} ({place}) sent a reply despite a hint: {detail.get('words', '')}"
        case Kind.OFFERED:
            share = f"{round(100 * detail.get('distance', 0))} %"
            return f"{about} ({place}) replied; {share} of the words differ from the offered draft."
        case Kind.CANCELLED:
            return f"{by} ended the session."
        case Kind.ENDED:
            return "The session ended."
    return LiveEvent.Kind(event.kind).label
