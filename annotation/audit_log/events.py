"""Add events to the record of a study."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User

from annotation.errors import Refused
from annotation.models import Assignment, Study, StudyEvent

LONGEST_REASON = 1000


def record_event(
    *,
    study: Study | int,
    kind: str,
    by: User | None,
    assignment: Assignment | None = None,
    about: User | int | None = None,
    reason: str = "",
    detail: Mapping[str, Any] | None = None,
) -> StudyEvent:
    """Add one line to a study's record, in the transaction of what it tells of.

    ``about`` is the person whom it concerns; of an assignment that is its annotator.
    """
    if about is None and assignment is not None:
        about = assignment.annotator_id
    return StudyEvent.objects.create(
        study_id=study if isinstance(study, int) else study.pk,
        kind=kind,
        by=by,
        assignment=assignment,
        about_id=about.pk if isinstance(about, User) else about,
        reason=reason,
        detail=dict(detail or {}),
    )


def checked_reason(reason: str, *, why: str = "") -> str:
    """Return a reason as it is kept; ``why`` asks for one, in words, where none was given."""
    reason = reason.strip()
    if why and not reason:
        raise Refused("invalid", f"say in a few words why {why}")
    if len(reason) > LONGEST_REASON:
        raise Refused("invalid", f"a reason has at most {LONGEST_REASON:,} characters")
    return reason
