"""Store which side of a duel its player prefers, and end what a failed agent left open."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import Refused
from annotation.live.control.services import end_session
from annotation.live.duels.selectors import read_progress
from annotation.live.events import lock_session
from annotation.models import Duel, DuelVote, LivePlace, LiveSession
from benchmarks.models import Trajectory

_S = Trajectory.Status


def vote(*, duel: Duel, turn: int, choice: str, by: User) -> DuelVote:
    """Store which side the player of a duel prefers in a turn, or at the end (``turn`` 0).

    The same vote sent twice is stored once. Refused where there is another one, where the turn is
    not the newest that is shown with two replies, or where a side still goes on (at the end). The
    vote at the end also ends a side whose agent failed.
    """
    if choice not in DuelVote.Choice.values:
        known = ", ".join(DuelVote.Choice.values)
        raise Refused("invalid", f"a vote is one of {known}, not {choice or 'empty'}")
    with transaction.atomic():
        _lock(duel)
        sides = (duel.left_id, duel.right_id)
        if not LivePlace.objects.filter(session__in=sides, player=by).exists():
            raise Refused("not_yours", "only the player of a duel votes in it")
        earlier = DuelVote.objects.filter(duel=duel, turn=turn).first()
        if earlier is not None:
            if (earlier.choice, earlier.by_id) == (choice, by.pk):
                return earlier
            chosen = earlier.get_choice_display()
            raise Refused("conflict", f"a vote is stored already ({chosen}) and can’t be changed")
        progress = read_progress(duel)
        if turn == 0:
            if not progress.over:
                raise Refused("conflict", "the duel is not over. Vote when both sides have ended")
            if min(progress.replies.values()) < 1:
                raise Refused("conflict", "one side never replied, so there is nothing to compare")
        elif turn != progress.turn or not progress.compares:
            raise Refused("conflict", f"turn {turn} is not the newest with replies of both agents")
        if turn == 0:
            _end_failed(duel)
        return DuelVote.objects.create(duel=duel, turn=turn, choice=choice, by=by)


def close(*, duel: Duel) -> None:
    """End a side whose agent failed, where the player of a duel goes on without a vote at the end.

    Refused while a side goes on. Harmless where both have ended.
    """
    with transaction.atomic():
        _lock(duel)
        if not read_progress(duel).over:
            raise Refused("conflict", "the duel is not over. Continue when both sides have ended")
        _end_failed(duel)


def _lock(duel: Duel) -> None:
    for side in sorted((duel.left_id, duel.right_id)):
        lock_session(side)


def _end_failed(duel: Duel) -> None:
    rows = LiveSession.objects.filter(pk__in=(duel.left_id, duel.right_id))
    for side in rows.filter(trajectory__status__in=(_S.FAILED, _S.DECISION)):
        end_session(session=side, by=None, reason="the agent did not respond")
