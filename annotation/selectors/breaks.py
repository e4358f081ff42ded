"""How long somebody has worked since they last rested."""

from datetime import datetime, timedelta

from annotation.models import Assignment, Participant, Study

# A pause of this length between two items is a break, whether or not it was announced.
REST = timedelta(minutes=5)
MOST = 60


def worked_since_break(
    study: Study, participant: Participant, *, now: datetime, since: datetime | None = None
) -> timedelta:
    """Active time at submitted items since the last break, as far as it can be told.

    ``since`` is when an announced break ended; a longer gap is a break as well.
    """
    rows = Assignment.objects.filter(
        study=study,
        annotator=participant.user_id,
        part=Assignment.Part.MAIN,
        state=Assignment.State.SUBMITTED,
    )
    worked = timedelta()
    begun = now
    latest = rows.order_by("-position").values_list("opened_at", "submitted_at", "active_ms")
    for opened, submitted, active_ms in latest[:MOST]:
        if opened is None or submitted is None or begun - submitted >= REST:
            break
        if since is not None and submitted <= since:
            break
        worked += timedelta(milliseconds=active_ms)
        begun = opened
    return worked


def is_break_due(
    study: Study, participant: Participant, *, now: datetime, since: datetime | None = None
) -> bool:
    """Whether a break should be suggested: quietly, for nobody has to take one."""
    due = timedelta(minutes=study.break_minutes)
    return bool(due) and worked_since_break(study, participant, now=now, since=since) >= due
