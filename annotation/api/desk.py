"""One's own assignments in the API: read an item, answer its questions, submit it.

Everything is authorised and stored as on the annotation desk: only one's own items, nothing that
tells which agent made them, and every edit is kept.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from ninja import Query, Router, Schema
from pydantic import Field

from annotation.access import StudyAccess, fetch_annotator
from annotation.api.errors import STATUS
from annotation.assignments.presence import open_assignment
from annotation.assignments.services import next_position
from annotation.desk.selectors import DeskPage, Reading, load_desk
from annotation.desk.services import reopen_assignment, skip_assignment, submit_assignment
from annotation.desk.trajectories import Dialogue
from annotation.desk.views import MOST_EDITS, MOST_MILLISECONDS, desk_url
from annotation.errors import Refused
from annotation.models import Aspect, Assignment, Participant, RatingEdit, Study
from annotation.questionnaires.decisions import DECISIONS, decision_mark, mark_text
from annotation.ratings.services import EditRequest, StoredEdit, record_edits
from annotation.steps.access import fetch_assignment, name_assignment
from annotation.steps.selectors import next_step
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.requests import Paged, PageOut, Strict, one_page

Part, State = Assignment.Part, Assignment.State
PartName = Literal["main", "training", "background"]
Text = Annotated[str, Field(max_length=20_000)]
# Left out: the trajectory's own numbers, which may tell which agent made it.
SMALLEST, LARGEST = -(2**15), 2**15 - 1


class AssignmentOut(Schema):
    """One of your assignments."""

    part: PartName
    position: int = Field(description="Its place among your items of this part, from 1.")
    state: Literal["open", "submitted", "skipped", "returned", "voided"]
    skip_reason: str
    opened_at: datetime | None
    submitted_at: datetime | None
    active_ms: int
    url: str = Field(description="The item on the annotation desk.")


class AnswerOptionOut(Schema):
    """An answer to choose: `value` of a choice or point, or the key of a condition to mark."""

    value: int | str
    label: str


class AnswerOut(Schema):
    """The current answer in a place; `version` counts its edits."""

    value: int | None
    chosen: list[Any] | None
    text: str
    version: int


class QuestionOut(Schema):
    """A question about the item, or about the part of it that `subject` names."""

    question: str
    subject: str
    title: str
    definition: str
    scale: Literal["points", "choice", "marks", "spans", "text"]
    options: list[AnswerOptionOut] = Field(description="Empty where the answer is text.")
    most: int = Field(description="Largest point, or most characters of a text.")
    required: bool
    asked: bool = Field(description="False while its `condition` is not met: leave it out then.")
    condition: str = Field(description="The answer to another question under which it is asked.")
    answer: AnswerOut | None


class OwnEditOut(Schema):
    """An edit that you made; an undo names the edit that it takes back."""

    id: UUID
    question: str
    subject: str
    aspect: Literal["answer", "comment", "flag", "evidence"]
    value: int | None
    chosen: list[Any] | None
    text: str
    undoes: UUID | None
    edited_at: datetime


class FindingOut(Schema):
    """A condition that judges found violated in a turn."""

    kind: str
    text: str
    mark: str


class ItemTurnOut(Schema):
    """A turn as the desk shows it; `findings` is null where they are not shown."""

    index: int
    is_final: bool
    text: str
    steps: list[str]
    feedback: str
    findings: list[FindingOut] | None


class ItemMessageOut(Schema):
    """A message of an imported dialogue."""

    speaker: str
    text: str
    calls: list[str]


class ItemDialogueTurnOut(Schema):
    """A turn: what the agent did from one message of its user to the next."""

    index: int
    messages: list[ItemMessageOut]


class StatementOut(Schema):
    """A hidden condition, or a candidate for one."""

    key: str
    kind: str
    text: str


class SideOut(Schema):
    """One of two trajectories side by side."""

    name: str
    turns: list[ItemTurnOut]
    dialogue: list[ItemDialogueTurnOut]


class ItemOut(Schema):
    """The item to read; what the questionnaire does not show is empty."""

    task: str
    sides: list[SideOut] = Field(description="Of two trajectories: A, then B, with their turns.")
    turns: list[ItemTurnOut]
    opening: list[ItemMessageOut]
    dialogue: list[ItemDialogueTurnOut]
    hidden: dict[str, str] = Field(description="What was hidden from the agent of a dialogue.")
    conditions: list[StatementOut]
    candidates: list[StatementOut]
    reference: list[str]


class AssignmentDetail(AssignmentOut):
    """An assignment with its item, its questions, and every edit of your answers."""

    item: ItemOut
    questions: list[QuestionOut]
    edits: list[OwnEditOut]


class StepOut(Schema):
    """The next step for you in a study."""

    step: Literal[
        "information", "consent", "background", "training", "item", "session", "seat", "break",
        "done", "waiting",
    ]  # fmt: skip
    title: str
    text: str
    part: PartName | None = Field(description="With `position`, the assignment that comes next.")
    position: int | None
    url: str = Field(description="Where to go on in a browser; consent is given only there.")


class EditIn(Strict):
    """An answer or remark, or an `undoes` that takes one back.

    Scores and choices are a `value`, marks are `chosen`, words are `text`. The same `id` sent again
    stores nothing twice. `seen` is the version of the answer that you saw; an answer that was
    changed elsewhere since is still replaced, and named in the result.
    """

    id: UUID
    question: str = Field("", max_length=60)
    subject: str = Field("", max_length=80)
    aspect: Literal["answer", "comment", "flag", "evidence"] = "answer"
    value: int | None = Field(None, ge=SMALLEST, le=LARGEST)
    chosen: list[Any] | None = Field(None, max_length=500)
    text: Text = ""
    undoes: UUID | None = None
    seen: int | None = Field(None, ge=0, le=2**31)


class EditsIn(Strict):
    """Edits in the order in which they were made, and the time at work so far."""

    edits: list[EditIn] = Field(min_length=1, max_length=MOST_EDITS)
    active_ms: int = Field(0, ge=0, lt=MOST_MILLISECONDS)


class StoredOut(Schema):
    """An edit that is stored, and the answer as it stands."""

    id: UUID
    question: str
    subject: str
    aspect: str
    value: int | None
    chosen: list[Any] | None
    text: str
    version: int
    repeated: bool = Field(description="It had been stored before.")
    overtook: Any = Field(description="An answer from elsewhere that it replaced unseen, or null.")


class StoredEditsOut(Schema):
    """All edits of a request: they are stored together or not at all."""

    edits: list[StoredOut]


class SubmitIn(Strict):
    """Time at work on the item so far."""

    active_ms: int = Field(0, ge=0, lt=MOST_MILLISECONDS)


class SkipIn(Strict):
    """The reason for which the item is skipped."""

    reason: str = Field(min_length=1, max_length=1000)


class AssignmentQuery(Paged):
    """The filters of your assignments."""

    part: PartName = "main"
    state: Literal["open", "submitted", "skipped", "returned", "voided"] | None = None


router = Router(tags=["Ratings"])
ONE = "/{int:study_id}/assignments/{item_part}/{int:position}"
WRITES = refusals(400, 404, 409, 413)


@router.get("/{int:study_id}/assignments", response={200: PageOut[AssignmentOut], **refusals(404)})
def list_own_assignments(
    request: HttpRequest, study_id: int, query: Query[AssignmentQuery]
) -> dict[str, Any]:
    """List your own assignments in a study, oldest first."""
    access, _ = fetch_annotator(request, study_id)
    rows = Assignment.objects.filter(study=access.study, annotator=access.user, part=query.part)
    if query.state is not None:
        rows = rows.filter(state=query.state)
    page, following = one_page(request, rows, query.limit)
    return {"items": [_row(row) for row in page.rows], "next": following}


@router.post("/{int:study_id}/next", response={200: StepOut, **WRITES})
def go_to_next_step(request: HttpRequest, study_id: int) -> dict[str, Any]:
    """Return what comes next for you; in a study whose items are taken one by one, take one.

    Information, consent, breaks and sessions are for a browser.
    """
    access, participant = fetch_annotator(request, study_id)
    step = next_step(access.study, participant, looking=False)
    part: str | None = step.name if step.name in ("background", "training") else None
    position = step.position
    name = step.name
    if name == "item":
        part, position = Part.MAIN, next_position(study=access.study, user=access.user)
        name = "item" if position is not None else "done"
    return {
        "step": name,
        "title": step.title,
        "text": step.text,
        "part": part if position is not None else None,
        "position": position,
        "url": reverse("annotation:next_item", args=[study_id]),
    }


@router.get(ONE, response={200: AssignmentDetail, **refusals(404, 409)})
def get_own_assignment(
    request: HttpRequest, study_id: int, item_part: PartName, position: int
) -> dict[str, Any]:
    """Return one of your assignments that you have opened: item, questions, answers and edits."""
    access, item = fetch_assignment(request, study_id, position, item_part)
    if item.opened_at is None:
        raise Refused("not_open", "you have not opened this item; POST to …/open first")
    return _detail(access, item)


@router.post(f"{ONE}/open", response={200: AssignmentDetail, **WRITES})
def open_own_assignment(
    request: HttpRequest, study_id: int, item_part: PartName, position: int
) -> dict[str, Any]:
    """Open an assignment as the desk does: from then on it keeps its position."""
    access, item = fetch_assignment(request, study_id, position, item_part)
    if item.opened_at is None:
        if access.study.status != Study.Status.OPEN or item.state != State.OPEN:
            raise Refused("closed", "nothing is opened here now: the study or the item is closed")
        number = access.participant.number if access.participant is not None else 1
        if not open_assignment(assignment=item, number=number):
            raise Refused("gone", "another item is in this position by now; ask for the next one")
    return _detail(access, item)


@router.post(f"{ONE}/ratings", response={200: StoredEditsOut, **WRITES})
def rate_own_assignment(
    request: HttpRequest, study_id: int, item_part: PartName, position: int, wanted: EditsIn
) -> dict[str, Any]:
    """Store answers and remarks: all of a request or none. Earlier answers are kept as edits."""
    user, item = name_assignment(request, study_id, position, item_part)
    with transaction.atomic():
        outcomes = record_edits(
            assignment=item,
            by=user,
            edits=[_edit(row) for row in wanted.edits],
            active_ms=wanted.active_ms,
        )
        for number, outcome in enumerate(outcomes):
            if isinstance(outcome, Refused):
                words = f"{outcome.reason[:1].upper()}{outcome.reason[1:]}."
                status = STATUS.get(outcome.code, 409)
                raise ApiError(status, words, f"edits.{number}", outcome.code)
    return {"edits": [_stored(row) for row in outcomes if isinstance(row, StoredEdit)]}


@router.post(f"{ONE}/submit", response={200: AssignmentOut, **WRITES})
def submit_own_assignment(
    request: HttpRequest, study_id: int, item_part: PartName, position: int, wanted: SubmitIn
) -> dict[str, Any]:
    """Submit an assignment whose required questions are all answered.

    Where the study shows turns one by one, this shows the next one, and the assignment stays open.
    """
    user, item = name_assignment(request, study_id, position, item_part)
    return _row(submit_assignment(assignment=item, by=user, active_ms=wanted.active_ms))


@router.post(f"{ONE}/skip", response={200: AssignmentOut, **WRITES})
def skip_own_assignment(
    request: HttpRequest, study_id: int, item_part: PartName, position: int, wanted: SkipIn
) -> dict[str, Any]:
    """Leave an item out, and say why; answers so far are kept."""
    user, item = name_assignment(request, study_id, position, item_part)
    return _row(skip_assignment(assignment=item, by=user, reason=wanted.reason))


@router.post(f"{ONE}/reopen", response={200: AssignmentOut, **WRITES})
def reopen_own_assignment(
    request: HttpRequest, study_id: int, item_part: PartName, position: int
) -> dict[str, Any]:
    """Take a submitted or skipped item up again, while the study is open."""
    user, item = name_assignment(request, study_id, position, item_part)
    return _row(reopen_assignment(assignment=item, by=user))


# --- JSON values ----------------------------------------------------------------------------------


def _row(item: Assignment) -> dict[str, Any]:
    names = ("part", "position", "state", "skip_reason", "opened_at", "submitted_at", "active_ms")
    return {**{name: getattr(item, name) for name in names}, "url": desk_url(item)}


def _detail(access: StudyAccess, item: Assignment) -> dict[str, Any]:
    participant: Participant | None = access.participant
    page = load_desk(item, participant=participant, locked=False)
    edits = RatingEdit.objects.filter(assignment=item).select_related("undoes").order_by("pk")
    return {
        **_row(item),
        "item": {
            **_item(page.reading),
            "sides": [
                {"name": name, "turns": _turns(side), "dialogue": _dialogue(side)}
                for name, side in page.sides
            ],
        },
        "questions": [_question(page, row) for row in page.form.rows],
        "edits": [
            {
                "id": edit.client_id,
                "question": edit.question,
                "subject": edit.subject,
                "aspect": edit.aspect,
                "value": edit.value,
                "chosen": edit.chosen,
                "text": edit.text,
                "undoes": edit.undoes.client_id if edit.undoes is not None else None,
                "edited_at": edit.edited_at,
            }
            for edit in edits
        ],
    }


def _question(page: DeskPage, row: Any) -> dict[str, Any]:
    question, scale = row.question, row.question.scale
    options = [{"value": value, "label": scale.label(value)} for value in scale.values]
    if scale.kind == "marks":
        marks = page.form.marks.get(question.key, ())
        options = [{"value": mark.value, "label": mark.label} for mark in marks]
        if scale.each:
            texts = {mark.value: mark.label for mark in marks}
            stored = [decision_mark(key, decision) for key in texts for decision in DECISIONS]
            options = [{"value": m, "label": mark_text(scale, m, texts)} for m in stored]
    elif scale.kind == "spans":
        options = [{"value": key, "label": name} for key, name in scale.labels.items()]
    elif scale.kind == "points":
        for option in options:
            option["label"] = question.anchors.get(option["value"], option["label"])
    answer = row.answer
    return {
        "question": question.key,
        "subject": row.slot.subject,
        "title": row.title,
        "definition": question.definition,
        "scale": scale.kind,
        "options": options,
        "most": scale.most,
        "required": row.required,
        "asked": not row.unmet,
        "condition": row.when,
        "answer": {
            "value": answer.value,
            "chosen": list(answer.chosen) if answer.chosen is not None else None,
            "text": answer.text,
            "version": answer.version,
        }
        if answer.version
        else None,
    }


def _item(reading: Reading) -> dict[str, Any]:
    dialogue: Dialogue | None = reading.dialogue
    return {
        "task": reading.query,
        "turns": _turns(reading),
        "opening": _messages(dialogue.opening) if dialogue is not None else [],
        "dialogue": _dialogue(reading),
        "hidden": {fact.name: fact.text for fact in (dialogue.kept if dialogue else ())},
        "conditions": _statements(reading.conditions),
        "candidates": _statements(reading.candidates),
        "reference": list(reading.reference),
    }


def _turns(reading: Reading) -> list[dict[str, Any]]:
    return [
        {
            "index": turn.index,
            "is_final": turn.is_final,
            "text": turn.text or "\n".join(turn.steps),
            "steps": list(turn.steps),
            "feedback": turn.feedback,
            "findings": None
            if turn.findings is None
            else [{"kind": f.kind, "text": f.text, "mark": f.word} for f in turn.findings],
        }
        for turn in reading.turns
    ]


def _dialogue(reading: Reading) -> list[dict[str, Any]]:
    return [
        {"index": turn.index, "messages": _messages(turn.messages)}
        for turn in (reading.dialogue.turns if reading.dialogue is not None else ())
    ]


def _messages(messages: Sequence[Any]) -> list[dict[str, Any]]:
    return [
        {
            "speaker": message.title,
            "text": message.text,
            "calls": [f"{call.name} {call.preview}".strip() for call in message.calls],
        }
        for message in messages
    ]


def _statements(rows: Sequence[Any]) -> list[Mapping[str, str]]:
    return [{"key": row.key, "kind": row.word, "text": row.text} for row in rows]


def _edit(given: EditIn) -> EditRequest:
    return EditRequest(
        client_id=given.id,
        question=given.question,
        subject=given.subject,
        aspect=Aspect(given.aspect),
        value=given.value,
        chosen=given.chosen,
        text=given.text,
        undoes=given.undoes,
        seen=given.seen,
    )


def _stored(edit: StoredEdit) -> dict[str, Any]:
    return {
        "id": edit.client_id,
        "question": edit.question,
        "subject": edit.subject,
        "aspect": edit.aspect,
        "value": edit.value,
        "chosen": edit.chosen,
        "text": edit.text,
        "version": edit.version,
        "repeated": edit.repeated,
        "overtook": edit.overtook,
    }
