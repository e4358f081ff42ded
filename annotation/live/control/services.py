"""Replace players during a session, and end a session early."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.errors import Refused
from annotation.live.events import (
    is_paused_by_player,
    lock_open_session,
    record_live_event,
)
from annotation.live.play.services import pause_session, resume_session
from annotation.live.setup.services import label_study
from annotation.models import LiveDraft, LiveEvent, LivePlace, LiveSession, Study
from benchmarks.core.errors import CoreError
from benchmarks.core.registry import get_system
from benchmarks.models import Agent, Exchange, Run, Trajectory
from benchmarks.roles.judge_fit import unread_judges
from benchmarks.roles.services import assign_by_name, assign_person
from benchmarks.runs.reserved import (
    cancel_trajectory,
    reassign_agent,
    reassign_roles,
    withdraw_from,
)
from benchmarks.runs.services import retry_trajectory
from benchmarks.trajectories.exchanges import turn_steps

Kind, State = LiveEvent.Kind, LiveSession.State


def free_place(*, place: LivePlace, by: User | None, reason: str = "") -> None:
    """Take the place from its player, so that somebody else can sit down there."""
    with transaction.atomic():
        session = lock_open_session(place.session_id)
        place.refresh_from_db()
        if place.player_id is None:
            return
        record_live_event(session=session, kind=Kind.LEFT, by=by, place=place, reason=reason)
        place.player = place.joined_at = place.ready_at = place.last_seen_at = None
        place.save(update_fields=["player", "joined_at", "ready_at", "last_seen_at"])


def take_over(*, place: LivePlace, user: User, reason: str = "") -> None:
    """Take over a place from whoever (or whatever) fills it, and play on from here."""
    with transaction.atomic():
        session = lock_open_session(place.session_id)
        place.refresh_from_db()
        if place.player_id == user.pk:
            return
        if session.places.filter(player=user).exists():
            raise Refused("conflict", "you have another place in this session")
        detail = {"from": place.player_id, "stand_in": place.stand_in}
        if place.stand_in:
            _change_roles(session, place.roles, None)
        place.player, place.stand_in = user, ""
        place.joined_at = place.ready_at = place.last_seen_at = timezone.now()
        place.save(update_fields=["player", "stand_in", "joined_at", "ready_at", "last_seen_at"])
        record_live_event(
            session=session, kind=Kind.TAKEN_OVER, by=user, place=place, reason=reason,
            detail=detail,
        )  # fmt: skip


def give_back(*, place: LivePlace, by: User, reason: str = "") -> None:
    """Give a place that somebody took over back to the player who had it before."""
    with transaction.atomic():
        session = lock_open_session(place.session_id)
        place.refresh_from_db()
        previous = previous_player(place)
        if previous is None:
            raise Refused("conflict", "nobody had this place before who could have it back")
        if session.places.filter(player=previous).exists():
            raise Refused("conflict", "the player has another place in this session")
        now = timezone.now()
        place.player_id, place.joined_at, place.ready_at = previous, now, now
        place.last_seen_at = None
        place.save(update_fields=["player", "joined_at", "ready_at", "last_seen_at"])
        record_live_event(session=session, kind=Kind.GIVEN_BACK, by=by, place=place, reason=reason)


def previous_player(place: LivePlace) -> int | None:
    """Return the id of the player from whom whoever fills a place now took it over."""
    kinds = (Kind.TAKEN_OVER, Kind.GIVEN_BACK, Kind.JOINED, Kind.LEFT, Kind.STAND_IN)
    last = LiveEvent.objects.filter(place=place, kind__in=kinds).order_by("-pk").first()
    if last is None or last.kind != Kind.TAKEN_OVER or last.by_id != place.player_id:
        return None
    previous: int | None = last.detail.get("from")
    return previous


def write_note(*, place: LivePlace, by: User, text: str) -> None:
    """Write to one player; the note is an event, and no other player sees it."""
    with transaction.atomic():
        session = lock_open_session(place.session_id)
        place.refresh_from_db()
        if not text.strip():
            raise Refused("invalid", "write a note first")
        if place.player_id is None:
            raise Refused("conflict", "nobody plays here who could read a note")
        place.notes += 1
        place.save(update_fields=["notes"])
        record_live_event(session=session, kind=Kind.NOTE, by=by, place=place, reason=text.strip())


def let_stand_in(
    *, place: LivePlace, by: User | None, stand_in: str = "", reason: str = ""
) -> None:
    """Let a script or model fill the place from here on.

    ``stand_in`` names it as runs do; the system's own choice for the role where it is empty.
    """
    with transaction.atomic():
        session = lock_open_session(place.session_id)
        place.refresh_from_db()
        before = place.player_id
        named = _change_roles(session, place.roles, stand_in)
        _refuse_unread(session)
        place.player, place.stand_in = None, ", ".join(dict.fromkeys(named))
        place.ready_at = None
        place.save(update_fields=["player", "stand_in", "ready_at"])
        record_live_event(
            session=session, kind=Kind.STAND_IN, by=by, place=place, about=before, reason=reason,
            detail={"stand_in": place.stand_in},
        )  # fmt: skip


def _change_roles(session: LiveSession, roles: Sequence[str], name: str | None) -> list[str]:
    """Give roles to scripts or models by name, or to people where that is None; at once.

    Returns who fills them now, by name.
    """
    trajectory = Trajectory.objects.select_related("run__dataset").get(pk=session.trajectory_id)
    system = get_system(trajectory.run.dataset.system)
    names = {role: _names(trajectory.run, role, name) for role in roles}
    try:
        fillers = {
            role: [
                assign_person() if each == "human" else assign_by_name(system, role, each)
                for each in wanted
            ]
            for role, wanted in names.items()
        }
        reassign_roles(trajectory=trajectory, roles=fillers)
    except CoreError as error:
        raise Refused("conflict", str(error)) from error
    _label(session)
    return [wanted[0] for wanted in names.values() if wanted]


def _roles_now(trajectory: Trajectory) -> dict[str, Any]:
    """Return who fills each role from here on."""
    return {**trajectory.run.roles, **trajectory.role_changes}


def _refuse_unread(session: LiveSession) -> None:
    """Refuse a change after which no judge could read the agent's plans; practice counts nowhere.

    Within the transaction of the change, which is taken back then.
    """
    if session.practice:
        return
    trajectory = Trajectory.objects.select_related("run__dataset").get(pk=session.trajectory_id)
    system = get_system(trajectory.run.dataset.system)
    for misfit in unread_judges(system, _roles_now(trajectory), deciding=True):
        judge = misfit.role.title.lower()
        raise Refused("invalid", f"scripts cannot read free plans: a person must be {judge}")


def _label(session: LiveSession) -> None:
    """Say on the study's banner at once who has taken over."""
    if not session.practice:
        label_study(Study.objects.get(pk=session.study_id))


def _names(run: Run, role: str, name: str | None) -> list[str]:
    """Return the answerers of a role by name, one for each of its seats."""
    system = get_system(run.dataset.system)
    count = len(system.seats(role, run.settings)) if role != "agent" else 1
    if name is None:
        return ["human"] * count
    wanted = [name] if name else usual_names(run, role)
    if not wanted:
        title = next(each.title for each in system.roles if each.name == role)
        raise Refused("invalid", f"nothing but a person can be {title.lower()} here")
    return [wanted[place % len(wanted)] for place in range(count)]


def usual_names(run: Run, role: str) -> list[str]:
    """Return who fills a role where a run says nothing: the dataset's choice, then the system's."""
    system = get_system(run.dataset.system)
    spec = next(each for each in system.roles if each.name == role)
    return list(run.dataset.roles.get(role) or spec.default)


def give_to_agent(*, session: LiveSession, agent: Agent, by: User, reason: str = "") -> None:
    """Let another agent go on from here, for instance after calls to the first one failed."""
    with transaction.atomic():
        session = lock_open_session(session.pk)
        trajectory = Trajectory.objects.select_related("run__dataset").get(pk=session.trajectory_id)
        before = unread_judges(get_system(trajectory.run.dataset.system), _roles_now(trajectory))
        try:
            reassign_agent(trajectory=trajectory, agent=agent)
        except CoreError as error:
            raise Refused("conflict", str(error)) from error
        if not before:
            _refuse_unread(session)
        _label(session)
        record_live_event(
            session=session, kind=Kind.AGENT, by=by, reason=reason, detail={"agent": agent.name}
        )


def roll_back(*, session: LiveSession, step: int, by: User, reason: str = "") -> int:
    """Let a session go on from before a step; return how many replies were withdrawn.

    They are kept, marked as withdrawn, and this event says by whom. Players read the ``reason``.
    """
    with transaction.atomic():
        session = lock_open_session(session.pk)
        trajectory = Trajectory.objects.select_related("run").get(pk=session.trajectory_id)
        before = rollback_points(trajectory)
        point = next((each for each in before if each.step == step), None)
        if point is None:
            raise Refused("conflict", "this message was withdrawn or never sent; choose another")
        try:
            withdrawn = withdraw_from(trajectory=trajectory, step=step)
        except CoreError as error:
            raise Refused("conflict", str(error)) from error
        # Forms would be filled with what was withdrawn, or with what belongs to another ask.
        LiveDraft.objects.filter(trajectory=trajectory, step__gte=step).delete()
        session.places.update(notes=F("notes") + 1)
        record_live_event(
            session=session, kind=Kind.ROLLED_BACK, by=by, reason=reason,
            detail={"step": step, "turn": point.turn, "withdrawn": withdrawn},
        )  # fmt: skip
    return withdrawn


@dataclass(frozen=True)
class RollbackPoint:
    """A message before which a session can go on again: its step, and who said what there."""

    step: int
    turn: int
    words: str


def rollback_points(trajectory: Trajectory) -> list[RollbackPoint]:
    """Return the messages of a session before which it can go on again, the newest first."""
    titles = {role.name: role.title for role in get_system(trajectory.run.dataset.system).roles}
    starts = [each.first for each in turn_steps(trajectory)]
    rows = Exchange.objects.filter(trajectory=trajectory).order_by("step", "-slot", "-attempt")
    said = {row.step: row for row in rows.only("step", "role", "text")}
    return [
        RollbackPoint(
            step,
            turn := max(1, sum(first <= step for first in starts)),
            f"Turn {turn}, {titles.get(row.role, row.role).lower()}{_quoted(row.text)}",
        )
        for step, row in reversed(said.items())
    ]


def _quoted(text: str) -> str:
    """Return the beginning of a message; nothing of what is for programs to read."""
    words = "" if text.lstrip().startswith("{") else shorten(text, 60, placeholder=" …")
    return f": {words}" if words else ""


def retry_call(*, session: LiveSession, by: User) -> None:
    """Try a call again that failed."""
    with transaction.atomic():
        session = lock_open_session(session.pk)
        trajectory = Trajectory.objects.select_related("run").get(pk=session.trajectory_id)
        try:
            retry_trajectory(trajectory=trajectory)
        except CoreError as error:
            raise Refused("conflict", str(error)) from error
        record_live_event(session=session, kind=Kind.RETRIED, by=by)


def pause_all(*, study: Study, by: User) -> int:
    """Pause the sessions of a study that are running; how many."""
    return _for_each(study, {State.RUNNING}, lambda session: pause_session(session=session, by=by))


def resume_all(*, study: Study, by: User) -> int:
    """Resume the sessions of a study that managers paused; how many. Players end their pauses."""

    def resume(session: LiveSession) -> None:
        if is_paused_by_player(session):
            raise Refused("not_yours", "a player paused this session")
        resume_session(session=session, by=by, manages=True)

    return _for_each(study, {State.PAUSED}, resume)


def end_all(*, study: Study, by: User, reason: str = "") -> int:
    """End all sessions of a study that are not over, begun or not; how many."""
    open_ = {State.GATHERING, State.RUNNING, State.PAUSED}
    return _for_each(
        study, open_, lambda session: end_session(session=session, by=by, reason=reason)
    )


def _for_each(study: Study, states: Collection[str], change: Callable[[LiveSession], None]) -> int:
    """Change each session in one of these states, one by one: players go on in the others."""
    changed = 0
    for session in LiveSession.objects.filter(study=study, state__in=states).order_by("pk"):
        try:
            change(session)
        except Refused:  # it has changed meanwhile, or is not ours to change
            continue
        changed += 1
    return changed


def end_session(*, session: LiveSession, by: User | None, reason: str = "") -> None:
    """End a session where it stands; what was said stays. Harmless where it is over.

    Players read the ``reason``, which the event keeps: up to 0.15 it was for the record alone.
    """
    with transaction.atomic():
        try:
            session = lock_open_session(session.pk)
        except Refused:
            return
        detail = {"players_read": True}
        record_live_event(session=session, kind=Kind.CANCELLED, by=by, reason=reason, detail=detail)
        LiveSession.objects.filter(pk=session.pk).update(
            state=LiveSession.State.CANCELLED, ended_at=timezone.now()
        )
        trajectory = Trajectory.objects.get(pk=session.trajectory_id)
        cancel_trajectory(trajectory=trajectory)
