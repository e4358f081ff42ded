"""Apply the rules for players who leave or take too long.

The supervising process calls this every few seconds. Only players whose turn it is can be away; a
pause stops all clocks.
"""

import logging
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.errors import Refused
from annotation.live.control.services import end_session, free_place, let_stand_in
from annotation.live.events import lock_open_session, record_live_event
from annotation.live.play.services import note_end
from annotation.live.turns import SessionTurn, whose_turns
from annotation.models import LiveEvent, LivePlace, LivePlan, LiveSession

logger = logging.getLogger(__name__)

Kind, Leaving, State = LiveEvent.Kind, LivePlan.Leaving, LiveSession.State


def sweep_sessions() -> int:
    """Note endings, end what is out of time, and apply the leaving policy; how many changed."""
    rows = LiveSession.objects.filter(state__in=[State.GATHERING, State.RUNNING, State.PAUSED])
    sessions = list(rows.select_related("study__live").order_by("pk"))
    changed = 0
    turns = whose_turns(sessions)
    away = _known_away([session.pk for session in sessions])
    now = timezone.now()
    for session in sessions:
        try:
            changed += _look_after(session, turns[session.pk], away, now)
        except Refused as refused:  # somebody was quicker, or a worker is at it: next time
            logger.info("Session %s stays as it is: %s", session.pk, refused.reason)
    return changed


def _look_after(
    session: LiveSession, turn: SessionTurn, away: Mapping[int, str], now: datetime
) -> bool:
    if turn.standing == "over":
        return note_end(session=session)
    if session.state != State.RUNNING:
        return False
    if session.ends_by is not None and session.ends_by <= now:
        end_session(session=session, by=None, reason="the time for the session was up")
        return True
    plan = session.study.live
    changed = False
    for place in turn.places:
        opened = turn.asked_since(place)
        reason = _overdue(plan, place, opened, now)
        known = away.get(place.pk) == Kind.AWAY
        if reason and not (known and plan.leaving == Leaving.WAIT):
            _apply(plan.leaving, session, place, reason, known)
            changed = True
        elif known and not reason:
            _note(session, place, Kind.RETURNED, "")
            changed = True
    return changed


def _overdue(plan: LivePlan, place: LivePlace, opened: datetime, now: datetime) -> str:
    """Return why a place's policy is due, in words; empty where it is not.

    Somebody who was asked a moment ago is given the whole time, however long ago they were seen.
    """
    if place.player_id is None:
        return ""
    waited = now - opened
    if plan.reply_seconds and waited > timedelta(seconds=plan.reply_seconds):
        return f"no reply within {plan.reply_seconds} seconds"
    limit = timedelta(seconds=plan.away_seconds)
    seen = max(place.last_seen_at or opened, opened)
    return f"not seen for {plan.away_seconds} seconds" if now - seen > limit else ""


def _apply(policy: str, session: LiveSession, place: LivePlace, reason: str, known: bool) -> None:
    if policy == Leaving.CANCEL:
        end_session(session=session, by=None, reason=f"{place.title}: {reason}")
    elif policy == Leaving.HAND_OVER:
        free_place(place=place, by=None, reason=reason)
    elif policy == Leaving.STAND_IN:
        try:
            let_stand_in(place=place, by=None, reason=reason)
        except Refused as refused:
            if refused.code != "invalid":
                raise
            # Nothing but a person can fill the place: so it is waited for.
            if not known:
                _note(session, place, Kind.AWAY, f"{reason}; {refused.reason}")
    else:
        _note(session, place, Kind.AWAY, reason)


def leave_place(*, place: LivePlace, user: User) -> None:
    """Leave a session for good: as the policy says, except that a place is left free to wait."""
    with transaction.atomic():
        session = lock_open_session(place.session_id)
        place.refresh_from_db()
        if place.player_id != user.pk:
            raise Refused("not_yours", "you no longer play in this session")
        policy = LivePlan.objects.values_list("leaving", flat=True).get(study=session.study_id)
        reason = "left by themselves"
        if session.state != State.GATHERING and policy == Leaving.CANCEL:
            end_session(session=session, by=None, reason=f"{place.title}: {reason}")
            return
        if session.state != State.GATHERING and policy == Leaving.STAND_IN:
            try:
                let_stand_in(place=place, by=user, reason=reason)
            except Refused as refused:
                if refused.code != "invalid":
                    raise
            else:
                return
        free_place(place=place, by=user, reason=reason)


def _note(session: LiveSession, place: LivePlace, kind: str, reason: str) -> None:
    with transaction.atomic():
        session = lock_open_session(session.pk)
        record_live_event(session=session, kind=kind, by=None, place=place, reason=reason)


def _known_away(sessions: list[int]) -> dict[int, str]:
    """Return by place whether its player was last noted as away or as back."""
    rows = LiveEvent.objects.filter(
        session__in=sessions, kind__in=[Kind.AWAY, Kind.RETURNED, Kind.JOINED, Kind.TAKEN_OVER]
    )
    return dict(rows.order_by("id").values_list("place", "kind"))
