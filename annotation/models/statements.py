"""Find an item of somebody's list, with SQL as in `benchmarks.models.statements`."""

from annotation.models import Assignment, Membership
from benchmarks.models.statements import row_lock

_OWN_ASSIGNMENT = f"""
    SELECT a.* FROM {Assignment._meta.db_table} a
    WHERE a.study_id = %s AND a.annotator_id = %s AND a.part = %s AND a.position = %s
    AND EXISTS (
        SELECT 1 FROM {Membership._meta.db_table} m
        WHERE m.study_id = a.study_id AND m.user_id = a.annotator_id AND m.role = %s
    )
"""


def find_own_assignment(
    *, study: int, user: int, part: str, position: int, locked: bool = False
) -> Assignment | None:
    """Find what somebody has at a position, as long as they are an annotator of the study.

    ``locked``: until the transaction ends.
    """
    values = [study, user, str(part), position, str(Membership.Role.ANNOTATOR)]
    return next(iter(Assignment.objects.raw(_OWN_ASSIGNMENT + row_lock(locked), values)), None)
