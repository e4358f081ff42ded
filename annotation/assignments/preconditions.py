"""What somebody has to do, and what has to hold, before their answers to a study are taken."""

from dataclasses import dataclass
from typing import Literal

from django.utils import timezone

from annotation.models import Assignment, Participant, Study

Part, Status = Assignment.Part, Study.Status
Standing, Training = Participant.State, Participant.Training

StepName = Literal[
    "information", "consent", "background", "training", "item", "session", "seat", "break",
    "done", "waiting",
]  # fmt: skip


@dataclass(frozen=True)
class AnnotatorStep:
    """The next step for somebody.

    ``code`` and ``reason`` are what a refusal of anything later says: *paused* may be tried again
    with the same answers, *closed* may not. ``title`` and ``text`` are for a page of its own.
    ``position`` is that of an item at hand, within its part; ``session`` is the id of the
    one to be played next, whose instructions come first where it ``instructs``. At a ``seat`` a
    place in a session is free to be taken.
    """

    name: StepName
    title: str = ""
    text: str = ""
    reason: str = ""
    code: Literal["paused", "closed"] = "paused"
    position: int | None = None
    session: int | None = None
    instructs: bool = False


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
