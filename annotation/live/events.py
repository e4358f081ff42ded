"""Record the events of a session, and take the lock under which it changes."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from annotation.errors import Refused
from annotation.models import LiveEvent, LivePlace, LiveSession
from benchmarks.models import Exchange, Trajectory

_ENDS = (LiveEvent.Kind.ENDED, LiveEvent.Kind.CANCELLED)


def lock_session(pk: int) -> LiveSession:
    """Return a session as it is now; nobody else changes it until the transaction ends."""
    return LiveSession.objects.select_for_update(no_key=True).get(pk=pk)


def lock_open_session(pk: int) -> LiveSession:
    """Return the same, refused where the session is over."""
    session = lock_session(pk)
    if session.state in LiveSession.OVER:
        word = session.get_state_display().lower()
        raise Refused("closed", f"this session has {word} and can’t be changed")
    return session


def record_live_event(
    *,
    session: LiveSession,
    kind: str,
    by: User | None,
    place: LivePlace | None = None,
    about: int | None = None,
    reason: str = "",
    detail: Mapping[str, Any] | None = None,
) -> LiveEvent:
    """Add one line to a session's record, in the transaction of what it tells of.

    ``about`` is the id of the person whom it concerns: of a place that is its player.
    """
    if about is None and place is not None:
        about = place.player_id
    return LiveEvent.objects.create(
        session=session,
        kind=kind,
        place=place,
        about_id=about,
        turn=_turn(session, kind),
        reason=reason,
        detail=dict(detail or {}),
        by=by,
    )


def is_paused_by_player(session: LiveSession) -> bool:
    """Return whether the pause of a session was made from a place in it, and not by a manager."""
    events = session.events.filter(kind=LiveEvent.Kind.PAUSED).order_by("-pk")
    return events.values_list("place", flat=True).first() is not None


def pause_belongs_to(session: LiveSession, place: LivePlace) -> bool:
    """Return whether the player of a place may end the pause of a session.

    A pause belongs to the place from which it was made, whoever plays there now; a manager's
    belongs to no place. Where a program plays there now, or nobody, every player may end it.
    """
    events = (
        session.events.filter(kind=LiveEvent.Kind.PAUSED).select_related("place").order_by("-pk")
    )
    last = events.first()
    owner = last.place if last is not None else None
    if owner is None:
        # Up to 0.5 a pause was recorded without its place.
        return last is not None and last.by_id == place.player_id
    return owner.pk == place.pk or owner.player_id is None


def _turn(session: LiveSession, kind: str) -> int:
    """Return the turn under way; at an end the last one in which anything was said."""
    rows = Trajectory.objects.filter(pk=session.trajectory_id)
    done = rows.values_list("turn_count", flat=True).first() or 0
    if kind in _ENDS and not _begun(session.trajectory_id, done):
        return max(done, 1)
    return done + 1


def _begun(trajectory: int, done: int) -> bool:
    """Return whether the agent has replied since the last complete turn."""
    replies = Exchange.objects.filter(
        trajectory=trajectory, role="agent", state=Exchange.State.ANSWERED
    )
    return replies.order_by("step")[done : done + 1].exists()
