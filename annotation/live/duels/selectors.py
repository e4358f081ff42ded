"""Duels as far as they have come: which replies are there, and which are held back."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Q

from annotation.models import Duel, LiveSession
from benchmarks.models import Exchange, OpenAsk, Trajectory

_S = Trajectory.Status
# What does not go on by itself: it has ended, or a call failed and somebody in charge has to act.
_RESTS = (_S.DONE, _S.CANCELLED, _S.FAILED, _S.DECISION)


def find_duel(session: int) -> Duel | None:
    """Return the duel of which a session is a side; a practice round is none."""
    rows = Duel.objects.select_related("left", "right")
    return rows.filter(Q(left=session) | Q(right=session)).first()


def duels_of(sessions: Iterable[LiveSession]) -> dict[int, Duel]:
    """Return the duel of each session that is a side of one; no query where no study has any."""
    sides = [session.pk for session in sessions if session.study.has_duels]
    if not sides:
        return {}
    rows = Duel.objects.filter(Q(left__in=sides) | Q(right__in=sides)).order_by()
    return {side: duel for duel in rows for side in (duel.left_id, duel.right_id)}


def other_side(duel: Duel, session: int) -> LiveSession:
    """Return the session beside this one."""
    other: LiveSession = duel.right if duel.left_id == session else duel.left
    return other


@dataclass(frozen=True)
class DuelProgress:
    """How far the sides of a duel are, each by the id of its session.

    ``replies`` counts what an agent said to the player: all that it says until the player is asked,
    or until the end, is one reply. ``going``: the side goes on by itself, or waits for the player.
    """

    replies: Mapping[int, int]
    going: Mapping[int, bool]

    def is_held(self, session: int) -> bool:
        """Return whether a side waits to be shown until the other agent has replied, too.

        A side whose agent failed holds nothing back: the other one goes on alone.
        """
        return any(
            self.going[other] and self.replies[other] < self.replies[session]
            for other in self.replies
            if other != session
        )

    @property
    def turn(self) -> int:
        """The newest turn that is shown; 0 before the first."""
        return max(
            min(self.replies.values()) if self.is_held(session) else count
            for session, count in self.replies.items()
        )

    @property
    def compares(self) -> bool:
        """Return whether the newest turn has a reply of either agent."""
        return 0 < self.turn <= min(self.replies.values())

    @property
    def over(self) -> bool:
        """Return whether neither side goes on."""
        return not any(self.going.values())


def read_progress(duel: Duel) -> DuelProgress:
    """Return how far the sides of a duel are, in three queries."""
    sides = (duel.left_id, duel.right_id)
    rows = LiveSession.objects.filter(pk__in=sides).order_by()
    states: dict[int, tuple[str, int, str]] = {
        pk: (state, trajectory, status)
        for pk, state, trajectory, status in rows.values_list(
            "pk", "state", "trajectory", "trajectory__status"
        )
    }
    trajectories = [trajectory for _, trajectory, _ in states.values()]
    spoken: dict[int, list[int]] = {pk: [] for pk in trajectories}
    calls = Exchange.objects.filter(
        trajectory__in=trajectories, role="agent", state=Exchange.State.ANSWERED
    )
    for pk, step in calls.order_by("step").values_list("trajectory", "step").distinct():
        spoken[pk].append(step)
    heard: dict[int, set[int]] = {pk: set() for pk in trajectories}
    asks = OpenAsk.objects.filter(trajectory__in=trajectories).order_by()
    for pk, step in asks.values_list("trajectory", "step"):
        heard[pk].add(bisect_left(spoken[pk], step))
    for _, pk, status in states.values():
        if status == _S.DONE:
            heard[pk].add(len(spoken[pk]))
    return DuelProgress(
        {side: len(heard[pk] - {0}) for side, (_, pk, _) in states.items()},
        {
            side: status not in _RESTS and state not in LiveSession.OVER
            for side, (state, _, status) in states.items()
        },
    )


def is_held(session: int) -> bool:
    """Return whether a session is a side of a duel whose newest reply may not be shown yet."""
    duel = find_duel(session)
    return duel is not None and read_progress(duel).is_held(session)
