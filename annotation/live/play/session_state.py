"""The state of a session as one of its players sees it: whose turn it is, and what to show.

`annotation.live.play.status` puts it into words. Every open page calls `read_session_state` about
once a second, so it takes few queries and reads nothing long.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from hashlib import blake2s

from django.utils import timezone

from annotation.live.access import SessionAccess
from annotation.live.play.presence import places_present
from annotation.live.turns import SessionTurn, turn_of
from annotation.models import LivePlace, LivePlan, LiveSession
from benchmarks.models import OpenAsk, Suggestion, Trajectory

# After how many seconds a page asks again: while something is under way, and while nothing is.
# Pages say whose turn it is and who is there within two seconds.
SOON, LATER = 1.0, 1.5
# More asks than wait at once, and the last one that was answered.
NEWEST = 16


@dataclass(frozen=True)
class SessionState:
    """A session as it stands. ``own`` is what the place of whoever looks is asked.

    ``suggested`` are the suggestions on it that they may see, each by step, slot and state.
    """

    access: SessionAccess
    trajectory: Trajectory
    turn: SessionTurn
    own: tuple[OpenAsk, ...]
    heard: tuple[int, ...]
    suggested: tuple[tuple[int, int, str], ...] = ()
    now: datetime = field(default_factory=timezone.now)

    @property
    def session(self) -> LiveSession:
        return self.access.session

    @property
    def place(self) -> LivePlace | None:
        return self.access.place

    @property
    def plan(self) -> LivePlan:
        plan: LivePlan = self.session.study.live
        return plan

    @cached_property
    def present(self) -> Collection[int]:
        """Whose players are at their page: the ids of the places, with that of whoever looks."""
        here = places_present(self.access.places, self.now)
        return {*here, *([self.place.pk] if self.place is not None else [])}

    @cached_property
    def away(self) -> tuple[LivePlace, ...]:
        """The players who are asked, and are not at their page."""
        if self.turn.standing != "asked":
            return ()
        others = [place for place in self.turn.places if place is not self.place]
        return tuple(
            place
            for place in others
            if place.player_id is not None and place.pk not in self.present
        )

    @cached_property
    def token(self) -> str:
        """Changes whenever the page has to."""
        players = [
            (place.pk, place.player_id, place.ready_at is not None, place.stand_in)
            for place in self.access.places
        ]
        parts = (
            self.session.state,
            self.turn.standing,
            # While somebody works on it, it is the same to players whether a worker has it yet.
            self.trajectory.status if self.over else "",
            [ask.pk for ask in self.turn.asks],
            self.heard,
            self.suggested,
            players,
            sorted(self.present),
        )
        return blake2s(repr(parts).encode(), digest_size=8).hexdigest()

    @property
    def over(self) -> bool:
        return self.turn.standing == "over"

    @property
    def every(self) -> str:
        """The interval after which a page asks again; empty where nothing will change."""
        if self.over:
            return ""
        mine = self.turn.standing == "asked" and bool(self.own)
        rests = mine or self.turn.standing in ("paused", "gathering")
        return f"{LATER if rests else SOON:g}s"


def read_session_state(access: SessionAccess) -> SessionState:
    """Return the session as it is now."""
    session = access.session
    trajectory = session.trajectory
    asks = OpenAsk.objects.filter(trajectory=trajectory).order_by("-step", "-slot")
    rows = asks.only("trajectory", "step", "slot", "role", "seat", "opened_at", "answered_at")
    rows = rows[:NEWEST]
    waiting = [ask for ask in reversed(list(rows)) if ask.answered_at is None]
    if trajectory.status != Trajectory.Status.WAITING:
        waiting = []
    answered = [ask.answered_at for ask in rows if ask.answered_at is not None]
    trajectory.last_answered = max(answered, default=None)  # type: ignore[attr-defined]
    turn = turn_of(session, trajectory, waiting, list(access.places))
    own = turn.asks_of(access.place) if access.place is not None else ()
    newest = [ask for ask in rows if access.place is None or ask.role in access.place.roles]
    heard = tuple(ask.pk for ask in newest if ask.answered_at is not None)[:1]
    return SessionState(access, trajectory, turn, own, heard, _suggested(session, own))


def _suggested(session: LiveSession, own: tuple[OpenAsk, ...]) -> tuple[tuple[int, int, str], ...]:
    """Return suggestions on what a player is asked, where the study shows them."""
    if not own or not session.study.live.shows_suggestions:
        return ()
    asks = {(ask.step, ask.slot) for ask in own}
    rows = Suggestion.objects.filter(trajectory=session.trajectory_id).order_by("-step", "-slot")
    newest = rows.values_list("step", "slot", "state")[:NEWEST]
    return tuple(row for row in newest if row[:2] in asks)
