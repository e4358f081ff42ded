"""The step of a study that an annotator is at, and the next one."""

from django.contrib.auth.models import User

from annotation.assignments.preconditions import INFORMATION, AnnotatorStep, standstill, step_before
from annotation.assignments.selectors import first_open, has_free_item
from annotation.consent.selectors import has_read_information
from annotation.models import Assignment, LivePlan, Participant, Study
from annotation.steps.next_session import find_free_place, has_played, next_session

State, Part = Assignment.State, Assignment.Part
Standing, Training, Status = Participant.State, Participant.Training, Study.Status


def next_step(study: Study, participant: Participant, *, looking: bool = True) -> AnnotatorStep:
    """Return what this person does next. Reads only; taking an item of a pool is another matter.

    Whoever is about to take one need not be ``looking`` for it: for them a pool is never empty.
    """
    user = participant.user
    standing = standstill(study, participant)
    if standing is not None:
        return standing
    if participant.break_since is not None:
        return AnnotatorStep("break", "You are taking a break")
    if not has_read_information(study, user):
        return INFORMATION
    first = step_before(study, participant, Part.MAIN)
    if first is not None:
        return _with_position(first, study, user)
    if study.dealing == Study.Dealing.POOL and not looking:
        return AnnotatorStep("item")
    position = first_open(study, user, Part.MAIN)
    if position is not None:
        return AnnotatorStep("item", position=position)
    if study.dealing == Study.Dealing.POOL:
        more = not participant.has_enough and has_free_item(study, user)
        return AnnotatorStep("item" if more else "done")
    live = _live_step(study, user)
    if live is not None:
        return live
    return AnnotatorStep("done") if participant.assigned else UNASSIGNED


def _live_step(study: Study, user: User) -> AnnotatorStep | None:
    """Return the next session to play; None in a study that is not one of sessions."""
    plan = LivePlan.objects.filter(study=study).first() if study.is_live else None
    if plan is None:
        return None
    session = next_session(plan, user)
    if session is not None:
        return AnnotatorStep(
            "session", session=session.place.session_id, instructs=session.instructs
        )
    if find_free_place(plan, user) is not None:
        return AnnotatorStep("seat")
    return PLAYED if has_played(plan, user) else NO_SESSION


def _with_position(step: AnnotatorStep, study: Study, user: User) -> AnnotatorStep:
    parts = {"background": Part.BACKGROUND, "training": Part.TRAINING}
    if step.name not in parts:
        return step
    position = first_open(study, user, parts[step.name])
    if step.name == "background" and position is None:
        return UNASKED
    return AnnotatorStep(step.name, step.title, step.text, step.reason, step.code, position)


UNASSIGNED = AnnotatorStep(
    "waiting",
    title="No items for you yet",
    text="You are an annotator of this study, but no items are assigned to you yet. They appear "
    "here when a manager assigns them.",
    reason="no items are assigned to you yet",
)
NO_SESSION = AnnotatorStep(
    "waiting",
    title="No session yet",
    text="You have no place in a session, and no place is free. A new place appears here and on "
    "your home page. If you expected one, ask a manager of the study.",
    reason="you have no place in a session of this study",
)
PLAYED = AnnotatorStep(
    "waiting",
    title="All your sessions are finished",
    text="You have nothing left to do here. Thank you for taking part.",
    reason="your sessions of this study are finished",
)
NO_FREE_PLACE = AnnotatorStep(
    "waiting",
    title="No free place left",
    text="Somebody else has just taken the last free place. New places appear here.",
    reason="all places of this study are taken",
)
UNASKED = AnnotatorStep(
    "waiting",
    title="Something is missing",
    text="This study asks you about yourself first, but these questions were not assigned to you. "
    "Tell a manager of the study.",
    reason="the questions about yourself were not assigned to you",
)
