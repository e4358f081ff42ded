"""Assign items to annotators and change the state of assignments.

Every change is one transaction together with its counters and its event. An item may be assigned to
as many people as ``wanted`` says. A conditional update of ``given`` claims one of these places, so
that two requests can never take the last one, on SQLite or PostgreSQL; a check constraint of the
database guards it, too.

Code that locks several rows locks them in this order, to avoid deadlocks: the study, the
participant, the assignment, the item.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotation.assignments.gold import draw_gold
from annotation.assignments.preconditions import standstill, step_before
from annotation.assignments.selectors import (
    first_open,
    free_items,
    not_taken_back,
    played_trajectory_ids,
    taken_back,
    unassigned_items,
)
from annotation.audit_log.events import record_event
from annotation.errors import NoAssignment, Refused
from annotation.models import Assignment, Item, Participant, Study, StudyEvent
from annotation.models.statements import find_own_assignment
from benchmarks.asks.players import trajectories_played_by
from benchmarks.models.statements import find_row, read_row

State, Part, Use = Assignment.State, Assignment.Part, Item.Use
Kind = StudyEvent.Kind
# How often an item may be assigned that everybody gets, such as a training item.
EVERYBODY = 1_000_000
HOLDS = {State.OPEN, State.SUBMITTED}
EVENTS = {
    State.SUBMITTED: Kind.SUBMITTED,
    State.SKIPPED: Kind.SKIPPED,
    State.OPEN: Kind.REOPENED,
    State.RETURNED: Kind.RETURNED,
    State.VOIDED: Kind.VOIDED,
}
COUNTERS = {
    State.SUBMITTED: "submitted",
    State.SKIPPED: "skipped",
    State.RETURNED: "returned",
    State.VOIDED: "returned",
}
# What a click or a submission reads of the study, the item and the person.
STUDY_COLUMNS = (
    "questionnaire", "background", "dealing", "lease_minutes", "trains", "consent_version",
    "gold_feedback", "status", "closes_at", "settings",
)  # fmt: skip
ITEM_COLUMNS = ("use", "asked", "subjects")
PARTICIPANT_COLUMNS = (
    "study_id", "state", "training", "consent_version", "told_background", "unblinded_at",
    "last_seen_at",
)  # fmt: skip
# A request returns at most this many expired assignments of a study.
MOST_EXPIRED = 100


def lock_study(study: Study) -> None:
    """Lock a study against other changes of the whole study until the transaction ends.

    Rows that refer to it may still be added. Otherwise somebody who claims an item and holds a lock
    of their own would wait for this lock, and this transaction for theirs.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)


def find_participant(*, study: int, user: User, only: Sequence[str] = ()) -> Participant | None:
    """Return this person's participant row, locked until the transaction ends; None without one.

    Code that changes anything about an item takes this lock first.
    """
    participant = find_row(Participant, only=only, locked=True, study_id=study, user_id=user.pk)
    if participant is not None:
        participant.user = user
    return participant


def lock_participant(*, study: Study | int, user: User) -> Participant:
    """Return this person's locked participant row, or refuse if they have none."""
    participant = find_participant(study=study if isinstance(study, int) else study.pk, user=user)
    if participant is None:
        raise Refused("not_yours", "you are not an annotator of this study")
    if isinstance(study, Study):
        participant.study = study
    return participant


def lock_assignment(assignment: Assignment) -> Assignment:
    """Return the current assignment with study and item, locked until the transaction ends.

    One that is only named, by its position in its annotator's list, is looked up there; raises
    ``NoAssignment`` where nothing is in that position, or they are no annotator.
    """
    if assignment.pk:
        locked = find_row(Assignment, locked=True, id=assignment.pk)
    else:
        locked = find_own_assignment(
            study=assignment.study_id, user=assignment.annotator_id, part=assignment.part,
            position=assignment.position, locked=True,
        )  # fmt: skip
    if locked is None:
        raise NoAssignment
    locked.study = read_row(Study, locked.study_id, only=STUDY_COLUMNS)
    locked.item = read_row(Item, locked.item_id, only=ITEM_COLUMNS)
    return locked


def refuse_unless_working(study: Study, participant: Participant, part: str = Part.MAIN) -> None:
    """Refuse if the study, or this person in it, cannot take answers to this part now."""
    step = standstill(study, participant) or step_before(study, participant, part)
    if step is not None:
        raise Refused(step.code, step.reason)


# --- Assignments ----------------------------------------------------------------------------------


def claim_next_item(*, study: Study, user: User) -> Assignment | None:
    """Return this person's open item, or claim the next one of the pool; None if nothing is left,
    or they judged as many as they are to judge.

    Nobody gets an item twice, or a trajectory in which they played. An item that they had begun
    when their lease expired comes back to them with their answers, unless somebody else claimed it
    meanwhile. An item that a manager took from them does not.
    """
    pool = study.dealing == Study.Dealing.POOL
    if pool:
        return_expired_assignments(study=study)
    with transaction.atomic():
        participant = lock_participant(study=study, user=user)
        refuse_unless_working(study, participant)
        at_hand = _open_assignment(study, user) if participant.has_open_item else None
        if at_hand is not None or not pool:
            return at_hand
        if participant.has_enough:
            return None
        begun = _reclaim_returned_item(study, user, participant)
        if begun is not None:
            return begun
        gold = draw_gold(study, user, participant)
        if gold is not None and _claim_slot(gold.pk):
            item: Item | None = gold
        else:
            item = _claim_free_item(study, user, participant)
        if item is None:
            return None
        assignment = _add_assignment(study, user, participant, item, until=lease_end(study))
        record_event(study=study, kind=Kind.LEASED, by=user, assignment=assignment)
        return assignment


def next_position(*, study: Study, user: User, after: int = 0) -> int | None:
    """Return the position of this person's next item; None if nothing is left.

    In a pool the item is claimed now. In a list it is the open one after the position ``after``, or
    else the first. Raises ``Refused`` where nobody, or not they, may claim an item now.
    """
    if study.dealing == Study.Dealing.POOL:
        assignment = claim_next_item(study=study, user=user)
        return assignment.position if assignment is not None else None
    return first_open(study, user, Part.MAIN, after=after)


def assign_item(
    *, study: Study, item: Item, to: User, by: User | None, reason: str = ""
) -> Assignment:
    """Assign an item to a person if it has a free place.

    Somebody who had returned the item, for any reason, gets it back with their answers.
    """
    with transaction.atomic():
        participant = lock_participant(study=study, user=to)
        if participant.state not in (Participant.State.ACTIVE, Participant.State.PAUSED):
            raise Refused("invalid", "this person no longer takes part in the study")
        rows = Assignment.objects.select_for_update(of=("self",), no_key=True)
        had = rows.select_related("study").filter(item=item, annotator=to).first()
        if had is not None and had.state != State.RETURNED:
            word = had.get_state_display().lower()
            raise Refused("conflict", f"this person has this item already: it is {word}")
        played = trajectories_played_by(to)
        if item.trajectory_ids and played.filter(pk__in=item.trajectory_ids).exists():
            raise Refused("conflict", "this person played in this trajectory")
        if had is not None:
            change_assignment_state(had, State.OPEN, by=by, reason=reason, kind=Kind.ASSIGNED)
            return had
        if not _claim_slot(item.pk):
            raise Refused("conflict", "all places of this item are taken")
        until = lease_end(study) if study.dealing == Study.Dealing.POOL else None
        assignment = _add_assignment(study, to, participant, item, until=until)
        record_event(
            study=study, kind=Kind.ASSIGNED, by=by, assignment=assignment, reason=reason,
            detail={"items": 1},
        )  # fmt: skip
        return assignment


def change_assignment_state(
    assignment: Assignment, state: str, *, by: User | None, reason: str = "", kind: str = ""
) -> None:
    """Change the state of a locked assignment, with its counters and its event.

    An item that a manager took from its annotator can be reopened only by ``ASSIGNED``, which means
    that a manager assigned it again on purpose.
    """
    before = State(assignment.state)
    holds, held = state in HOLDS, before in HOLDS
    done = int(state == State.SUBMITTED) - int(before == State.SUBMITTED)
    if before == State.RETURNED and kind != Kind.ASSIGNED and was_taken_back(assignment):
        raise Refused("gone", "a manager has taken this item back; they can give it to you again")
    if before == State.VOIDED and kind != Kind.VOIDED:
        raise Refused("gone", "a manager has voided this submission; it cannot be answered again")
    if holds and not held and not _claim_slot(assignment.item_id):
        raise Refused("gone", "somebody else has taken this item meanwhile")
    given = -1 if held and not holds else 0
    counts = {name: F(name) + n for name, n in (("done", done), ("given", given)) if n}
    if counts:
        Item.objects.filter(pk=assignment.item_id).update(**counts)
    now = timezone.now()
    assignment.state = state
    assignment.skip_reason = reason if state == State.SKIPPED else ""
    if State.VOIDED not in (state, before):  # a voided submission keeps its time
        assignment.submitted_at = now if state == State.SUBMITTED else None
    leased = state == State.OPEN and assignment.study.dealing == Study.Dealing.POOL
    assignment.leased_until = lease_end(assignment.study) if leased else None
    assignment.save(
        update_fields=["state", "skip_reason", "submitted_at", "leased_until", "pattern"]
    )
    if assignment.part == Part.MAIN:
        more = Counter({"active_ms": done * assignment.active_ms})
        for counted, name in COUNTERS.items():
            more[name] += int(state == counted) - int(before == counted)
        Participant.objects.filter(study=assignment.study_id, user=assignment.annotator_id).update(
            **{name: F(name) + count for name, count in more.items() if count}
        )
    record_event(
        study=assignment.study_id, kind=kind or EVENTS[State(state)], by=by,
        assignment=assignment, reason=reason,
    )  # fmt: skip


def was_taken_back(assignment: Assignment) -> bool:
    """Say whether a manager took this item from its annotator, who then cannot reclaim it."""
    if assignment.state == State.VOIDED:
        return True
    if assignment.state != State.RETURNED:
        return False
    return taken_back(Assignment.objects.filter(pk=assignment.pk)).exists()


def return_expired_assignments(*, study: Study) -> int:
    """Return the assignments whose lease expired to the pool; say how many."""
    now = timezone.now()
    count = 0
    expired = Assignment.objects.filter(study=study, state=State.OPEN, leased_until__lt=now)
    expired = expired.order_by("leased_until")
    for pk, annotator in expired.values_list("pk", "annotator")[:MOST_EXPIRED]:
        with transaction.atomic():
            # Lock in the usual order: first the participant, then the assignment.
            Participant.objects.select_for_update(no_key=True).get(study=study, user=annotator)
            rows = Assignment.objects.select_for_update(of=("self",), no_key=True)
            late = rows.filter(study=study, state=State.OPEN, leased_until__lt=now)
            assignment = late.filter(pk=pk).first()
            if assignment is None:
                continue
            assignment.study = study
            change_assignment_state(assignment, State.RETURNED, by=None, reason="the lease ran out")
            count += 1
    return count


def renew_lease(assignment: Assignment) -> None:
    """Renew a lease once half of it has passed, so that not every request writes."""
    if assignment.leased_until is None:
        return
    length = timedelta(minutes=assignment.study.lease_minutes)
    if assignment.leased_until - timezone.now() < length / 2:
        assignment.leased_until = lease_end(assignment.study)
        assignment.save(update_fields=["leased_until"])


def lease_end(study: Study) -> datetime:
    """Return when a lease that starts now expires."""
    return timezone.now() + timedelta(minutes=study.lease_minutes)


def _open_assignment(study: Study, user: User) -> Assignment | None:
    mine = Assignment.objects.filter(study=study, annotator=user, part=Part.MAIN)
    assignment = mine.filter(state=State.OPEN).order_by("position").first()
    if assignment is not None:
        assignment.study, assignment.annotator = study, user
    return assignment


def _reclaim_returned_item(study: Study, user: User, participant: Participant) -> Assignment | None:
    """Reopen their first returned assignment that may come back to them, if its item is free."""
    if not participant.returned:
        return None
    mine = Assignment.objects.select_for_update(of=("self",), no_key=True).select_related("item")
    mine = mine.filter(study=study, annotator=user, part=Part.MAIN, state=State.RETURNED)
    mine = not_taken_back(mine.filter(item__given__lt=F("item__wanted")))
    assignment = mine.order_by("position").first()
    if assignment is None:
        return None
    assignment.study, assignment.annotator = study, user
    try:
        change_assignment_state(assignment, State.OPEN, by=user, kind=Kind.LEASED)
    except Refused:
        return None  # somebody else was quicker
    return assignment


def _claim_free_item(study: Study, user: User, participant: Participant) -> Item | None:
    """Claim the first free item behind the cursor, or else any before it.

    Items that somebody else is just claiming (locked rows) are skipped at first. If nothing else is
    left, the query waits for them.
    """
    played = played_trajectory_ids(user)
    if not played:
        # An item's lists of questions and parts are long, and read with the desk.
        ahead = unassigned_items(study.pk, user.pk).only("trajectory", "rank")
        ahead = ahead.filter(rank__gt=participant.cursor)
        locked = ahead.select_for_update(of=("self",), no_key=True, skip_locked=True)
        item = locked.order_by("rank").first()
        if item is not None and _claim_slot(item.pk):
            participant.cursor = item.rank
            return item
    rows = free_items(study, user, played).order_by("rank")
    passing = rows.select_for_update(of=("self",), no_key=True, skip_locked=True)
    for candidates in (passing.filter(rank__gt=participant.cursor), rows):
        while (item := candidates.first()) is not None:
            if _claim_slot(item.pk):
                participant.cursor = item.rank
                return item
    return None


def _claim_slot(item: int) -> bool:
    rows = Item.objects.filter(pk=item, given__lt=F("wanted"))
    return bool(rows.update(given=F("given") + 1))


def _add_assignment(
    study: Study, user: User, participant: Participant, item: Item, *, until: datetime | None
) -> Assignment:
    participant.assigned += 1
    participant.save(update_fields=["assigned", "cursor"])
    return Assignment.objects.create(
        study=study, item=item, annotator=user, trajectory_id=item.trajectory_id,
        position=participant.assigned, leased_until=until,
    )  # fmt: skip
