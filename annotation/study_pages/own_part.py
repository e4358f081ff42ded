"""An annotator's half of a study's page: their steps and progress."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from django.urls import reverse

from annotation.assignments.preconditions import AnnotatorStep, StepName
from annotation.consent.selectors import text_version
from annotation.models import Assignment, Participant, Study, StudyText
from annotation.questionnaires import load_questionnaire
from annotation.questionnaires.selectors import describe_questions
from annotation.recruiting.selectors import recruit_of
from annotation.steps.selectors import next_step
from annotation.studies.selectors import ItemCounts

Part, Kind = Assignment.Part, StudyText.Kind
ORDER: tuple[StepName, ...] = ("information", "consent", "background", "training", "item")
# What the main button says, where it has something to lead to.
BUTTONS: dict[str, str] = {
    "information": "Read the information",
    "consent": "Read and answer the consent",
    "background": "Answer the questions about you",
    "training": "Continue the training",
    "item": "Begin",
    "session": "Go to your session",
    "seat": "Take a free place",
    "break": "End break",
}


class StepRow(NamedTuple):
    """One step on the way. ``url`` is where it can be read or gone on with; empty if nowhere."""

    name: str
    title: str
    state: Literal["done", "now", "later"]
    detail: str = ""
    url: str = ""


class OwnPart(NamedTuple):
    """Everything that a study's page tells one of its annotators.

    ``pooled``: items are taken from a pool. How many are free there is not told: whoever counts
    along would see which of their items are gold. ``recruited``: they get a completion code.
    ``what`` says in one line what the person does.
    """

    participant: Participant
    what: str
    step: AnnotatorStep
    rows: Sequence[StepRow]
    counts: ItemCounts
    items: Sequence[Assignment]
    pooled: bool
    recruited: bool = False

    @property
    def before(self) -> bool:
        """Return whether something comes before the first item."""
        return self.step.name in ORDER[:-1] and not self.counts.ended

    @property
    def button(self) -> str:
        """The words of the main button; empty where there is nothing to press."""
        if self.pooled and self.step.position is not None and self.step.name == "item":
            return f"Continue with item {self.step.position}"
        if self.step.name == "item" and self.counts.ended:
            return "Next item"
        return BUTTONS.get(self.step.name, "")


def load_own_part(study: Study, participant: Participant) -> OwnPart:
    """Return an annotator's half of the page."""
    step = next_step(study, participant)
    held = participant.assigned - participant.returned
    counts = ItemCounts(held, participant.submitted, participant.skipped)
    items = participant.user.assignments.filter(study=study, part=Part.MAIN).order_by("position")
    return OwnPart(
        participant=participant,
        what=_what(study),
        step=step,
        rows=_rows(study, participant, step, counts),
        counts=counts,
        items=list(items.only("position", "state", "skip_reason", "study")),
        pooled=study.dealing == Study.Dealing.POOL,
        recruited=recruit_of(study, participant.user) is not None,
    )


def _what(study: Study) -> str:
    if study.settings.get("live"):
        return "Live sessions"
    return describe_questions(load_questionnaire(study.questionnaire))


def _rows(
    study: Study, participant: Participant, step: AnnotatorStep, counts: ItemCounts
) -> list[StepRow]:
    """Return the steps that this study has; none where it has items alone."""
    there = {
        "information": bool(text_version(study, Kind.INFORMATION)),
        "consent": bool(text_version(study, Kind.CONSENT)),
        "background": bool(study.background),
        "training": study.trains,
    }
    if not any(there.values()):
        return []
    passed = participant.training == Participant.Training.PASSED
    agreed = bool(study.consent_version) and participant.consent_version >= study.consent_version
    reached = _reached(step)
    done = {
        "information": reached > 0 or agreed,
        "consent": agreed,
        "background": participant.told_background,
        "training": passed,
        "item": step.name == "done",
    }
    place = {"pk": study.pk}
    urls = {
        "information": reverse("annotation:information", kwargs=place),
        "consent": reverse("annotation:consent", kwargs=place),
        "training": reverse("annotation:training", kwargs=place),
    }
    titles = {
        "information": "Information about the study",
        "consent": "Consent",
        "background": "Questions about you",
        "training": "Training",
        "item": "Items",
    }
    left = f"{counts.submitted} submitted" if counts.ended else ""
    details = {
        "consent": "agreed" if agreed else "",
        "training": "passed" if passed else "with feedback on each answer",
        "item": left,
    }
    return [
        StepRow(
            name,
            titles[name],
            "done" if done[name] else "now" if name == step.name else "later",
            details.get(name, ""),
            urls.get(name, "") if done[name] else "",
        )
        for name in ORDER
        if there.get(name, True)
    ]


def _reached(step: AnnotatorStep) -> int:
    """Return how far on the way this is; beyond it where nothing can be said."""
    return ORDER.index(step.name) if step.name in ORDER else 0
