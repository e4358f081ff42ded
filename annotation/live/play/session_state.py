"""The state of a session as one of its players sees it: whose turn it is, and what to show.

`annotation.live.play.status` puts it into words. Every open page polls about once a second, so
`read_poll` takes two small queries; whatever else a page needs is read once its token has changed.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import blake2s
from typing import Any, Protocol

from django.utils import timezone

from annotation.live.access import SessionAccess
from annotation.live.duels.selectors import is_held
from annotation.live.events import pause_belongs_to
from annotation.live.play.presence import Presence, read_presence
from annotation.live.turns import SessionTurn, turn_of
from annotation.models import LivePlace, LivePlan, LiveSession
from benchmarks.models import OpenAsk, Suggestion, Trajectory
from benchmarks.runs.reserved import is_replied_to

# After how many seconds a page asks again: while something is under way, and while nothing is.
# Pages say whose turn it is and who is there within two seconds.
SOON, LATER = 1.0, 1.5
# After how many seconds without a worker a player is told that they can still edit their reply.
EDIT_SECONDS = 3
# More asks than wait at once, and the last one that was answered.
NEWEST = 16


_S = Trajectory.Status
# Suggestions on what a player is asked: step, slot and state of each.
Suggested = Sequence[tuple[int, int, str]]


class PolledPlace(Protocol):
    """The fields of a `LivePlace` that polls need."""

    pk: Any
    player_id: Any
    roles: Any
    stand_in: Any
    notes: Any
    ready_at: Any
    last_seen_at: Any


class PolledAsk(Protocol):
    """The fields of an `OpenAsk` that polls need."""

    pk: Any
    step: Any
    slot: Any
    role: Any
    answered_at: Any


def session_token(
    *,
    state: str,
    status: str,
    places: Sequence[PolledPlace],
    asks: Sequence[PolledAsk],
    own: PolledPlace | None,
    suggested: Suggested,
    presence: Presence,
) -> str:
    """Return a text that changes whenever the page of a player (``own``) has to.

    ``asks`` are the newest of the trajectory, the latest first, and ``status`` is the trajectory's.
    """
    here = {*presence.here, *([own.pk] if own is not None else [])}
    typing = {*presence.typing} - {own.pk if own is not None else None}
    mine = [ask for ask in asks if own is None or ask.role in own.roles]
    parts = (
        str(state),
        # While somebody works on it, it is the same to players whether a worker has it yet.
        str(status) if status not in (_S.PENDING, _S.RUNNING, _S.WAITING) else "",
        [ask.pk for ask in _waiting(status, asks)],
        [ask.pk for ask in mine if ask.answered_at is not None][:1],
        _lies_untouched(status, asks),
        suggested,
        own.notes if own is not None else 0,
        [(row.pk, row.player_id, row.ready_at is not None, row.stand_in) for row in places],
        sorted(here),
        sorted(typing),
    )
    return blake2s(repr(parts).encode(), digest_size=8).hexdigest()


def _lies_untouched(status: str, asks: Sequence[PolledAsk]) -> bool:
    """Return whether no worker has taken up the newest reply for some seconds."""
    times = [ask.answered_at for ask in asks if ask.answered_at is not None]
    until = timezone.now() - timedelta(seconds=EDIT_SECONDS)
    return status == _S.PENDING and bool(times) and max(times) < until


def _waiting(status: str, asks: Sequence[Any]) -> list[Any]:
    """Return the asks that people have to answer, in the order of the protocol."""
    if status != _S.WAITING:
        return []
    return [ask for ask in reversed(asks) if ask.answered_at is None]


@dataclass(frozen=True)
class SessionPoll:
    """The rows of a poll: the player's place, and the token to compare with their page's."""

    place: PolledPlace
    token: str
    over: bool


def read_poll(session: int, user: int) -> SessionPoll | None:
    """Return what a poll of this user compares; None where they have no place in the session."""
    rows = LivePlace.objects.filter(session=session).order_by("number")
    places: tuple[Any, ...] = tuple(
        rows.values_list(
            "pk", "player_id", "roles", "stand_in", "notes", "ready_at", "last_seen_at",
            "session__state", "session__trajectory_id", "session__trajectory__status",
            "session__study__live__shows_suggestions",
            named=True,
        )
    )  # fmt: skip
    own = next((row for row in places if row.player_id == user), None)
    if own is None:
        return None
    state, status = own.session__state, own.session__trajectory__status
    newest = OpenAsk.objects.filter(trajectory=own.session__trajectory_id)
    columns = ("pk", "step", "slot", "role", "answered_at")
    latest = newest.order_by("-step", "-slot").values_list(*columns, named=True)
    asks: tuple[Any, ...] = tuple(latest[:NEWEST])
    mine = [ask for ask in _waiting(status, asks) if ask.role in own.roles]
    shows = own.session__study__live__shows_suggestions
    token = session_token(
        state=state,
        status=status,
        places=places,
        asks=asks,
        own=own,
        suggested=_suggested(own.session__trajectory_id, mine) if shows else (),
        presence=read_presence(places, timezone.now()),
    )
    return SessionPoll(own, token, state in LiveSession.OVER or status in (_S.DONE, _S.CANCELLED))


@dataclass(frozen=True)
class SessionState:
    """A session as it stands. ``own`` is what the place of whoever looks is asked, and ``newest``
    are the newest asks of all, the latest first.

    ``suggested`` are the suggestions on it that they may see. ``held``: it is a side of a duel
    whose newest reply is not shown to its player before the other agent has replied.
    """

    access: SessionAccess
    trajectory: Trajectory
    turn: SessionTurn
    own: tuple[OpenAsk, ...]
    newest: tuple[OpenAsk, ...]
    suggested: Suggested = ()
    held: bool = False
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
    def presence(self) -> Presence:
        """Return who is at their page, and who is typing."""
        return read_presence(self.access.places, self.now)

    @cached_property
    def present(self) -> Collection[int]:
        """Whose players are at their page: the ids of the places, with that of whoever looks."""
        return {*self.presence.here, *([self.place.pk] if self.place is not None else [])}

    @cached_property
    def typing(self) -> tuple[LivePlace, ...]:
        """The players who are asked and are typing, but for whoever looks."""
        asked = self.turn.places if self.turn.standing == "asked" else ()
        return tuple(p for p in asked if p is not self.place and p.pk in self.presence.typing)

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
        """Changes whenever the page has to, as `read_poll` finds it."""
        return session_token(
            state=self.session.state,
            status=self.trajectory.status,
            places=self.access.places,
            asks=self.newest,
            own=self.place,
            suggested=self.suggested,
            presence=self.presence,
        )

    @cached_property
    def resumes(self) -> bool:
        """Return whether whoever looks plays here and may end the pause of the session."""
        paused = self.session.state == LiveSession.State.PAUSED
        if not paused or self.place is None:
            return False
        return self.access.manages or pause_belongs_to(self.session, self.place)

    @cached_property
    def may_edit(self) -> bool:
        """Return whether whoever looks may take their last reply back, as far as is known."""
        place = self.place
        answered = [ask for ask in self.newest if ask.answered_at is not None]
        if place is None or self.own or self.session.state != LiveSession.State.RUNNING:
            return False
        if not answered or (last := answered[0]).role not in place.roles:
            return False
        untouched = _lies_untouched(self.trajectory.status, self.newest)
        if self.turn.standing != "asked" and not untouched:
            return False
        others = [row.seen_at for row in self.access.places if row.pk != place.pk and row.player_id]
        if any(at and last.answered_at and at >= last.answered_at for at in others):
            return False
        return not is_replied_to(self.trajectory.pk, last.step, self.plan.system)

    @property
    def acts(self) -> str:
        """Changes whenever the page offers something else to do about the session."""
        shown = f"{self.session.state}{'-own' * self.resumes}{'-asked' * bool(self.own)}"
        return shown + "-over" * self.over

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
    newest = tuple(rows[:NEWEST])
    answered = [ask.answered_at for ask in newest if ask.answered_at is not None]
    trajectory.last_answered = max(answered, default=None)  # type: ignore[attr-defined]
    waiting = _waiting(trajectory.status, newest)
    turn = turn_of(session, trajectory, waiting, list(access.places))
    held = access.place is not None and session.study.has_duels and is_held(session.pk)
    if held:
        turn = SessionTurn("background", turn.since)
    own = turn.asks_of(access.place) if access.place is not None else ()
    shows = access.place is not None and session.study.live.shows_suggestions
    mine = [ask for ask in waiting if access.place and ask.role in access.place.roles]
    suggested = _suggested(trajectory.pk, mine) if shows else ()
    return SessionState(access, trajectory, turn, own, newest, suggested, held)


def _suggested(trajectory: int, own: Sequence[PolledAsk]) -> Suggested:
    """Return the suggestions on what a player is asked."""
    if not own:
        return ()
    asks = {(ask.step, ask.slot) for ask in own}
    rows = Suggestion.objects.filter(trajectory=trajectory).order_by("-step", "-slot", "-attempt")
    newest: dict[tuple[int, int], tuple[int, int, str]] = {}
    for row in rows.values_list("step", "slot", "state")[:NEWEST]:
        newest.setdefault(row[:2], row)
    return tuple(row for place, row in newest.items() if place in asks)
