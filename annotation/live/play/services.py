"""Play a session: join it, get ready, reply, pause, and answer questions afterwards."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.assignments.dealing import assign_items
from annotation.assignments.preconditions import INFORMATION, standstill, step_before
from annotation.assignments.services import lock_study
from annotation.consent.selectors import has_read_information
from annotation.errors import Refused
from annotation.live.duels.selectors import find_duel, is_held, other_side
from annotation.live.events import lock_open_session, pause_belongs_to, record_live_event
from annotation.live.play.drafts import keep_sent
from annotation.live.play.reply_panel import answered_by
from annotation.live.setup.services import label_study
from annotation.models import (
    Assignment,
    Item,
    LiveEvent,
    LivePlace,
    LivePlan,
    LiveSession,
    Membership,
    Participant,
    Study,
)
from annotation.steps.next_session import find_free_place
from annotation.studies.setup import NewItem, add_items, add_member
from benchmarks.asks.players import player_name
from benchmarks.asks.selectors import joins, offered_text
from benchmarks.asks.services import answer_open_ask
from benchmarks.core.errors import CoreError, UnreadableReply
from benchmarks.core.plans import word_distance
from benchmarks.core.ports.people import Hint
from benchmarks.models import CallColumns, Exchange, OpenAsk, Trajectory
from benchmarks.runs.reserved import release_trajectory, withdraw_replies

Kind, State = LiveEvent.Kind, LiveSession.State
# How exactly it is known when a player was there: one write in so long, and none in between.
EVERY = timedelta(seconds=5)


def take_place(*, place: LivePlace, user: User) -> LivePlace:
    """Take a free place; of two people who want it one gets it. Taking one's own place again is
    fine. Whoever takes a side of a duel takes both.
    """
    with transaction.atomic():
        session = lock_open_session(place.session_id)
        place.refresh_from_db()
        if place.player_id == user.pk:
            return place
        if place.player_id is not None or place.stand_in:
            raise Refused("conflict", "this place is taken")
        if LivePlace.objects.filter(session=session, player=user).exists():
            raise Refused("conflict", "you have another place in this session")
        place.player, place.joined_at = user, timezone.now()
        place.save(update_fields=["player", "joined_at"])
        record_live_event(session=session, kind=Kind.JOINED, by=user, place=place)
        if session.study.has_duels and (duel := find_duel(session.pk)) is not None:
            other = other_side(duel, session.pk)
            if other.state not in LiveSession.OVER:
                take_place(place=other.places.get(number=place.number), user=user)
    return place


def be_ready(*, place: LivePlace, user: User) -> None:
    """Say that one is there and has read what there is to read; the last one starts the session."""
    with transaction.atomic():
        session = lock_open_session(place.session_id)
        place = _own(place, user)
        if place.ready_at is None:
            _refuse_unless_informed(session, user)
            now = timezone.now()
            place.ready_at = place.last_seen_at = now
            place.joined_at = place.joined_at or now
            place.save(update_fields=["ready_at", "last_seen_at", "joined_at"])
            record_live_event(session=session, kind=Kind.READY, by=user, place=place)
        _begin_when_all_are_there(session)


def _refuse_unless_informed(session: LiveSession, user: User) -> None:
    """Refuse who has not read and agreed to what comes first, or where the study stands still."""
    participant = Participant.objects.filter(study=session.study_id, user=user).first()
    if participant is None:
        return  # a manager who sits in
    step = standstill(session.study, participant)
    if step is None and not has_read_information(session.study, user):
        step = INFORMATION
    step = step or step_before(session.study, participant, Assignment.Part.MAIN)
    if step is not None:
        raise Refused(step.code, step.reason)


def _begin_when_all_are_there(session: LiveSession) -> None:
    if session.state != State.GATHERING:
        return
    if session.places.filter(ready_at=None, stand_in="").exists():
        return
    minutes = LivePlan.objects.values_list("session_minutes", flat=True).get(study=session.study_id)
    session.state, session.started_at = State.RUNNING, timezone.now()
    if minutes:
        session.ends_by = session.started_at + timedelta(minutes=minutes)
    session.save(update_fields=["state", "started_at", "ends_by"])
    record_live_event(session=session, kind=Kind.STARTED, by=None)
    release_trajectory(trajectory=_trajectory(session))


def reply_to(
    *,
    place: LivePlace,
    user: User,
    ask: OpenAsk,
    text: str,
    fields: Mapping[str, str] | None = None,
    overridden: Sequence[Hint] = (),
) -> CallColumns:
    """Store a player's reply to an ask of their place; the session goes on from there.

    ``fields`` are those of the form that made the text. ``overridden`` are the hints in spite of
    which it is sent; each is recorded. The same words sent twice (a second click, a browser that
    tries again) are stored once and taken as sent. Raises ``UnreadableReply`` where it cannot be
    read and ``Refused`` where it is too late, not this
    person's to say, or the session is paused; none of these changes anything.
    """
    duels = place.session.study.has_duels
    with transaction.atomic():
        session = lock_open_session(place.session_id)
        place = _own(place, user)
        if ask.trajectory_id != session.trajectory_id or ask.role not in place.roles:
            raise Refused("not_yours", "this reply belongs to another player")
        if session.state == State.PAUSED:
            raise Refused("paused", "the session is paused. Send again when it continues")
        if session.state == State.GATHERING:
            raise Refused("paused", "the session has not started")
        if duels and is_held(session.pk):
            raise Refused("paused", "the other agent has not replied. Both replies appear together")
        try:
            exchange = answer_open_ask(ask=ask, by=user, text=text, seated=True)
        except UnreadableReply:
            raise
        except CoreError as error:
            stored = _stored_reply(ask, user, text)
            if stored is None:
                raise Refused("conflict", str(error)) from error
            return stored
        for hint in overridden:
            record_live_event(
                session=session,
                kind=Kind.OVERRIDDEN,
                by=user,
                place=place,
                detail={
                    "code": hint.code,
                    "about": hint.about,
                    "words": hint.words,
                    "step": ask.step,
                    "slot": ask.slot,
                },
            )
        if offered := offered_text(ask):
            record_live_event(
                session=session,
                kind=Kind.OFFERED,
                by=user,
                place=place,
                detail={
                    "distance": word_distance(offered, text),
                    "step": ask.step,
                    "slot": ask.slot,
                },
            )
        keep_sent(ask=ask, user=user, fields={"text": text} if fields is None else fields)
    return exchange


def take_back(*, place: LivePlace, user: User) -> None:
    """Withdraw a player's last reply, so that they can edit it and send it again.

    Replies that one form holds are withdrawn together, all or none. Refused once another player has
    seen it, or a script or model replies to it.
    """
    with transaction.atomic():
        session = lock_open_session(place.session_id)
        place = _own(place, user)
        if session.state != State.RUNNING:
            raise Refused("paused", "the session is not running. Edit your message when it is")
        asks = OpenAsk.objects.filter(trajectory=session.trajectory_id, role__in=place.roles)
        ask = asks.exclude(answered_at=None).order_by("-step", "-slot").first()
        if ask is None or not answered_by(ask, user):
            raise Refused("conflict", "you have sent no message that could be edited")
        together = [ask]
        if joins(ask):
            same = asks.filter(step=ask.step, expect__kind=ask.expect["kind"])
            together = [row for row in same.exclude(answered_at=None) if answered_by(row, user)]
        others = session.places.exclude(pk=place.pk).exclude(player=None)
        first = min(row.answered_at for row in together if row.answered_at is not None)
        if others.filter(seen_at__gte=first).exists():
            raise Refused("conflict", "the other side has seen your message, so it stays")
        try:
            withdraw_replies(asks=together)
        except CoreError as error:
            raise Refused("conflict", str(error)) from error
        for row in together:
            record_live_event(
                session=session, kind=Kind.TAKEN_BACK, by=user, place=place,
                detail={"step": row.step, "slot": row.slot},
            )  # fmt: skip


def note_seen(*, place: LivePlace, asks: Sequence[OpenAsk]) -> None:
    """Note that a player sees what the others have replied to ``asks``: it can’t be edited now."""
    times = [ask.answered_at for ask in asks if ask.role not in place.roles]
    newest = max((at for at in times if at is not None), default=None)
    if newest is not None and (place.seen_at is None or place.seen_at < newest):
        with transaction.atomic():  # one statement, but it waits in the queue of config/sqlite
            LivePlace.objects.filter(pk=place.pk).update(seen_at=timezone.now())


def _stored_reply(ask: OpenAsk, user: User, text: str) -> Exchange | None:
    """Return the stored reply where this person has sent these very words to this ask."""
    replies = Exchange.objects.filter(
        trajectory=ask.trajectory_id,
        step=ask.step,
        slot=ask.slot,
        state=Exchange.State.ANSWERED,
        answerer__kind="human",
        answerer__name=player_name(user),
    )
    last = replies.order_by("-attempt").first()
    return last if last is not None and last.text == text else None


def pause_session(*, session: LiveSession, by: User, reason: str = "") -> None:
    """Pause a session: nobody replies until it is resumed; a reply under way is still stored.

    Players read the ``reason``.
    """
    with transaction.atomic():
        session = lock_open_session(session.pk)
        if session.state == State.PAUSED:
            return
        if session.state != State.RUNNING:
            raise Refused("conflict", "only a session that has started can be paused")
        session.state, session.paused_at = State.PAUSED, timezone.now()
        session.save(update_fields=["state", "paused_at"])
        place = session.places.filter(player=by).first()
        record_live_event(session=session, kind=Kind.PAUSED, by=by, place=place, reason=reason)


def resume_session(*, session: LiveSession, by: User, manages: bool) -> None:
    """Resume a session; a pause counts against no limit. Resuming twice is harmless.

    A player ends the pause that belongs to them, and no other; whoever ``manages`` ends any.
    """
    with transaction.atomic():
        session = lock_open_session(session.pk)
        if session.state == State.RUNNING:
            return
        if session.state != State.PAUSED or session.paused_at is None:
            raise Refused("conflict", "this session is not paused")
        place = session.places.filter(player=by).first()
        if not manages and (place is None or not pause_belongs_to(session, place)):
            raise Refused("not_yours", "only who paused the session or its manager can resume it")
        now = timezone.now()
        if session.ends_by is not None:
            session.ends_by += now - session.paused_at
        session.state, session.paused_at = State.RUNNING, None
        session.save(update_fields=["state", "paused_at", "ends_by"])
        session.places.exclude(player=None).update(last_seen_at=now)
        record_live_event(session=session, kind=Kind.RESUMED, by=by)


def note_player(*, place: int, last_seen_at: datetime | None) -> None:
    """Keep that a player is there, unless that was kept a moment ago (``last_seen_at``)."""
    now = timezone.now()
    if last_seen_at is not None and now - last_seen_at < EVERY:
        return
    with transaction.atomic():  # one statement, but it waits in the queue of config/sqlite
        LivePlace.objects.filter(pk=place).update(last_seen_at=now)


def note_end(*, session: LiveSession) -> bool:
    """Keep that a session has ended, once its trajectory has; True where that is new.

    Its players are asked about it in the same transaction, so once however often this is called.
    """
    S = Trajectory.Status
    status = Trajectory.objects.values_list("status", flat=True).get(pk=session.trajectory_id)
    ends = {S.DONE: (State.ENDED, Kind.ENDED), S.CANCELLED: (State.CANCELLED, Kind.CANCELLED)}
    if status not in ends or session.state in LiveSession.OVER:
        return False
    with transaction.atomic():
        rows = LiveSession.objects.filter(pk=session.pk).exclude(state__in=LiveSession.OVER)
        state, kind = ends[S(status)]
        if not rows.update(state=state, ended_at=timezone.now()):
            return False
        session.refresh_from_db()
        detail = {}
        if state == State.ENDED and (unasked := ask_players(session=session)):
            detail = {"not_asked": unasked}
        record_live_event(session=session, kind=kind, by=None, detail=detail)
    return True


def _own(place: LivePlace, user: User) -> LivePlace:
    """Return the place as it is now, refused where it is not this person's any more."""
    fresh = LivePlace.objects.filter(pk=place.pk).first()
    if fresh is None or fresh.player_id != user.pk:
        raise Refused("not_yours", "you no longer play in this session")
    return fresh


def _trajectory(session: LiveSession) -> Trajectory:
    return Trajectory.objects.select_related("run__dataset").get(pk=session.trajectory_id)


def take_free_place(*, study: Study, user: User) -> list[LivePlace]:
    """Take what is free for this person; nothing where somebody was quicker or nothing is left.

    Where players are not named, that is the same place in all sessions of a row of the plan.
    """
    with transaction.atomic():
        # One after the other, so that two people do not take half a row each.
        plan = LivePlan.objects.select_for_update(no_key=True).get(study=study)
        first = find_free_place(plan, user)
        if first is None:
            return []
        return [take_place(place=place, user=user) for place in _row_of(plan, first)]


def _row_of(plan: LivePlan, first: LivePlace) -> list[LivePlace]:
    """Return the free places that go with this one, in the order in which they are played."""
    rows: list[list[int]] = plan.settings.get("rows", [])
    numbers = next((row for row in rows if first.session.number in row), [first.session.number])
    places = LivePlace.objects.filter(
        session__study=plan.study_id,
        session__number__in=numbers,
        number=first.number,
        player=None,
        stand_in="",
    )
    return list(places.exclude(session__state__in=LiveSession.OVER).order_by("session__number"))


def take_own_place(*, place: LivePlace, user: User) -> LivePlace:
    """Take a place of a study that one runs, as its player."""
    with transaction.atomic():
        taken = take_place(place=place, user=user)
        study = Study.objects.get(pk=place.session.study_id)
        add_member(study=study, user=user, role=Membership.Role.ANNOTATOR, by=user)
    return taken


def ask_players(*, session: LiveSession) -> str:
    """Give each player of an ended session the study's questions about it.

    Those who hold a place at the end and take part in the study as annotators; they are no
    independent raters, so these items have a use of their own (`Item.Use.PLAYED`). Harmless where
    it was done. Returns why nobody was asked, empty where somebody was.
    """
    plan = LivePlan.objects.get(study=session.study_id)
    if session.practice:
        return "a practice round"
    study = Study.objects.get(pk=session.study_id)
    with transaction.atomic():
        lock_study(study)
        label_study(study)  # another agent may have gone on
        if not plan.settings.get("asks", True):
            return "this study asks nothing afterwards"
        people = Participant.objects.filter(study=study, user__live_places__session=session)
        users = list(
            people.exclude(state__in=Participant.GONE)
            .order_by("user__live_places__number")
            .values_list("user", flat=True)
        )
        if not users:
            return "nobody played to the end"
        if Item.objects.filter(study=study, trajectory=session.trajectory_id).exists():
            return ""
        asked = NewItem(trajectory=session.trajectory_id, wanted=len(users), use=Item.Use.PLAYED)
        try:
            with transaction.atomic():
                items = add_items(study=study, items=[asked])
        except Refused as refused:  # a session without a single turn, say
            return refused.reason
        assign_items(study=study, items=items, dealt={user: [0] for user in users}, by=None)
    return ""
