"""The step of a study that an annotator is at, and the next one."""

from dataclasses import dataclass
from typing import Literal

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.assignments.selectors import has_free_item
from annotation.live.next_session import (
    NextSession,
    find_free_place,
    has_played,
    next_session,
)
from annotation.models import Assignment, LivePlan, Participant, Study
from annotation.texts.selectors import has_read_information

State, Part = Assignment.State, Assignment.Part
Standing, Training, Status = Participant.State, Participant.Training, Study.Status
StepName = Literal[
    "information", "consent", "background", "training", "item", "session", "seat", "break",
    "done", "waiting",
]  # fmt: skip


@dataclass(frozen=True)
class AnnotatorStep:
    """The next step for somebody.

    ``code`` and ``reason`` are what a refusal of anything later says: *paused* may be tried again
    with the same answers, *closed* may not. ``title`` and ``text`` are for a page of its own.
    ``position`` is that of an item at hand, within its part; ``session`` is the one to be played
    next. At a ``assignment`` a session is free to be taken.
    """

    name: StepName
    title: str = ""
    text: str = ""
    reason: str = ""
    code: Literal["paused", "closed"] = "paused"
    position: int | None = None
    session: NextSession | None = None


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
        return AnnotatorStep("session", session=session)
    if find_free_place(plan, user) is not None:
        return AnnotatorStep("seat")
    return PLAYED if has_played(plan, user) else NO_SESSION


def step_before(study: Study, participant: Participant, part: str) -> AnnotatorStep | None:
    """Return what has to be done before anything of this part is answered; asks the database
    nothing.
    """
    if participant.consent_version < study.consent_version:
        return CONSENT
    if part == Part.BACKGROUND:
        return None
    if study.background and not participant.told_background:
        return BACKGROUND
    if part == Part.MAIN and study.trains and participant.training != Training.PASSED:
        return FAILED if participant.training == Training.FAILED else TRAINING
    return None


def standstill(study: Study, participant: Participant) -> AnnotatorStep | None:
    """Return why nobody, or not this person, works in the study now; None where they may."""
    if participant.state in Participant.GONE:
        return LEFT
    if study.status != Status.OPEN:
        return STATUS[Status(study.status)]
    if study.closes_at is not None and study.closes_at <= timezone.now():
        return ENDED
    return PAUSED if participant.state == Standing.PAUSED else None


def first_open(study: Study, user: User, part: str, *, after: int = 0) -> int | None:
    """Return the position of the next open item of a part after ``after``, else of the first."""
    rows = Assignment.objects.filter(study=study, annotator=user, part=part, state=State.OPEN)
    positions = rows.order_by("position").values_list("position", flat=True)
    found = positions.filter(position__gt=after).first() if after else None
    return found if found is not None else positions.first()


def _with_position(step: AnnotatorStep, study: Study, user: User) -> AnnotatorStep:
    parts = {"background": Part.BACKGROUND, "training": Part.TRAINING}
    if step.name not in parts:
        return step
    position = first_open(study, user, parts[step.name])
    if step.name == "background" and position is None:
        return UNASKED
    return AnnotatorStep(step.name, step.title, step.text, step.reason, step.code, position)


INFORMATION = AnnotatorStep(
    "information",
    title="Information",
    reason="read the information about the study first; your answers are kept",
)
CONSENT = AnnotatorStep(
    "consent",
    title="Consent",
    reason="answer the consent text of the study first; your answers are kept",
)
BACKGROUND = AnnotatorStep(
    "background",
    title="About you",
    reason="answer the questions about yourself first; your answers are kept",
)
TRAINING = AnnotatorStep(
    "training",
    title="Training",
    reason="finish the training first; your answers are kept",
)
FAILED = AnnotatorStep(
    "waiting",
    title="The training has ended",
    text="Your answers differed from the expected ones more often than this study allows. A "
    "manager can see this and let you continue. You do not need to do anything now.",
    reason="the training was not passed; a manager can let you continue",
)
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
PAUSED = AnnotatorStep(
    "waiting",
    title="A manager has paused your work",
    text="Your answers are saved. You can continue when a manager resumes your work.",
    reason="a manager has paused your work in this study",
)
LEFT = AnnotatorStep(
    "waiting",
    title="You have left this study",
    text="You no longer take part in this study. You have nothing left to do here.",
    reason="you no longer take part in this study",
    code="closed",
)
ENDED = AnnotatorStep(
    "waiting",
    title="This study has ended",
    text="Its last day has passed, so you can no longer answer. Your submitted items count. "
    "Thank you.",
    reason="the study has ended: you can no longer answer",
    code="closed",
)
CLOSED = AnnotatorStep(
    "waiting",
    title="This study is closed",
    text="You can no longer answer. Your submitted items count. Thank you.",
    reason="the study is closed: you can no longer answer",
    code="closed",
)
STATUS = {
    Status.DRAFT: AnnotatorStep(
        "waiting",
        title="This study has not started",
        text="It is still being prepared. You can start here when it opens.",
        reason="the study has not been opened yet",
        code="closed",
    ),
    Status.PAUSED: AnnotatorStep(
        "waiting",
        title="This study is paused",
        text="Nobody can answer at the moment. Your answers are saved. You can continue when the "
        "study is resumed.",
        reason="the study is paused; your answers are kept in this browser",
    ),
    Status.CLOSED: CLOSED,
    Status.ARCHIVED: CLOSED,
}
