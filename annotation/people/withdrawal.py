"""Leave a study, be readmitted, and give up a role.

What a person answered before they left stays stored; selectors leave it out by the person's state.
"""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.assignments.bulk_changes import return_assignments
from annotation.assignments.selectors import LEFT
from annotation.assignments.services import change_assignment_state, lock_participant, lock_study
from annotation.audit_log.events import checked_reason, record_event
from annotation.errors import Refused
from annotation.models import Assignment, Membership, Participant, Study, StudyEvent
from annotation.steps.withdrawals import SHOWN
from annotation.studies.setup import add_member, deal_for_all
from annotation.submissions.services import refill_assignments, withdraw_refill

Role, Kind = Membership.Role, StudyEvent.Kind
PState, AState = Participant.State, Assignment.State


def remove_member(
    *, study: Study, user: User, role: str, by: User | None, reason: str = ""
) -> None:
    """Take a role from a person; taking it twice is harmless.

    An annotator leaves by `withdraw_annotator`, which returns their items. The last manager stays.
    """
    if role == Role.ANNOTATOR:
        withdraw_annotator(study=study, user=user, by=by, reason=reason)
        return
    with transaction.atomic():
        lock_study(study)
        others = study.memberships.filter(role=Role.MANAGER).exclude(user=user)
        if role == Role.MANAGER and not others.exists():
            raise Refused("invalid", "a study keeps at least one manager; name another one first")
        _take_role(study, user, role, by, reason)


def withdraw_annotator(
    *, study: Study, user: User, by: User | None, reason: str = "", refill: bool = False
) -> None:
    """Let an annotator leave, of their own accord or by a manager who says why.

    Open items go back to the pool, or wait to be given to somebody else. With ``refill`` others
    judge what this person has submitted, too. Again it does nothing. The person reads a manager's
    reason (`annotation.steps.withdrawals`), which the record marks as *shown*.
    """
    reason = checked_reason(reason, why="" if by == user else "this person is withdrawn")
    with transaction.atomic():
        lock_study(study)
        person = lock_participant(study=study, user=user)
        if person.state in Participant.GONE:
            return
        before = person.state
        assignments = study.assignments.filter(annotator=user)
        returned = return_assignments(study=study, assignments=assignments, by=by, reason=LEFT)
        Participant.objects.filter(pk=person.pk).update(state=PState.WITHDRAWN, break_since=None)
        _take_role(study, user, Role.ANNOTATOR, by, "")
        record_event(
            study=study, kind=Kind.WITHDRAWN, by=by, about=user, reason=reason,
            detail={"before": before, "after": PState.WITHDRAWN, "returned": returned}
            | ({} if by == user else {SHOWN: True}),
        )  # fmt: skip
        if refill:
            refill_assignments(study=study, user=user, by=by, reason=reason)


def restore_annotator(*, study: Study, user: User, by: User, reason: str) -> None:
    """Take back an annotator who was withdrawn; their answers count again.

    Items that they had open when they left come back to them, as far as nobody has them now. Seats
    that were opened for others in their place are closed, unless somebody has taken them.
    """
    reason = checked_reason(reason, why="this person comes back")
    with transaction.atomic():
        lock_study(study)
        person = lock_participant(study=study, user=user)
        if person.state == PState.ERASED:
            raise Refused("invalid", "this person was erased and cannot come back")
        if person.state != PState.WITHDRAWN:
            return
        Participant.objects.filter(pk=person.pk).update(state=PState.ACTIVE)
        withdraw_refill(study=study, user=user, by=by)
        add_member(study=study, user=user, role=Role.ANNOTATOR, by=by)
        taken = 0
        rows = study.assignments.select_for_update(of=("self",), no_key=True)
        rows = rows.filter(annotator=user, state=AState.RETURNED).select_related("study")
        for assignment in rows.order_by("pk"):
            left = assignment.events.filter(kind=Kind.RETURNED).order_by("-pk").first()
            if left is None or left.reason != LEFT:
                continue
            try:
                change_assignment_state(assignment, AState.OPEN, by=by)
            except Refused:
                continue  # somebody else has it
            taken += 1
        if person.training == Participant.Training.NONE:
            deal_for_all(study=study, user=user)  # what was added while they were away
        record_event(
            study=study, kind=Kind.WITHDRAWN, by=by, about=user, reason=reason,
            detail={"before": PState.WITHDRAWN, "after": PState.ACTIVE, "reopened": taken},
        )  # fmt: skip


def _take_role(study: Study, user: User, role: str, by: User | None, reason: str) -> None:
    if Membership.objects.filter(study=study, user=user, role=role).delete()[0]:
        record_event(
            study=study, kind=Kind.ROLE, by=by, about=user, reason=reason, detail={"taken": role}
        )
